"""What all tests need of the process that they run in."""

import signal

# A job started in the background of a script ignores Ctrl-C, and so would the commands under test.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
