"""Handles Ctrl-C while the command `clift` is being imported.

The package imports this module first. In other processes it does nothing.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from types import FrameType


def stop(_number: int, _frame: FrameType | None) -> None:
    """End the process as the command does later: with one line and exit code 130."""
    os.write(2, b"stopped\n")
    os._exit(130)


def _is_command() -> bool:
    """True if the process is `clift` or `python -m clift`."""
    name = sys.argv[0].replace("\\", "/").rpartition("/")[2] if sys.argv[:1] else ""
    if name != "-m":
        return name in ("clift", "clift.exe")
    given = sys.orig_argv
    return "-m" in given and given[given.index("-m") + 1 :][:1] == ["clift"]


if _is_command() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    with suppress(ValueError):  # only the main thread may set a handler
        signal.signal(signal.SIGINT, stop)
