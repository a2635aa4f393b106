"""Ctrl-C while the command `clift` is being imported, before anything of it runs.

The package imports this first. Where the process is not the command, nothing happens.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from types import FrameType


def stop(_number: int, _frame: FrameType | None) -> None:
    """Ends the process as the command does later: with a line and exit code 130."""
    os.write(2, b"stopped\n")
    os._exit(130)


def _is_command() -> bool:
    """Whether this is `clift` or `python -m clift`."""
    name = sys.argv[0].replace("\\", "/").rpartition("/")[2] if sys.argv[:1] else ""
    if name != "-m":
        return name in ("clift", "clift.exe")
    given = sys.orig_argv
    return "-m" in given and given[given.index("-m") + 1 :][:1] == ["clift"]


if _is_command() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    with suppress(ValueError):  # only the main thread may
        signal.signal(signal.SIGINT, stop)
