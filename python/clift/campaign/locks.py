"""Claims on parts of a study's work, which end with the process that holds them.

They are locks on ranges of bytes of one file, of the kind that belongs to an open file
(`F_OFD_SETLK` of Linux): the kernel drops them when the process is gone, however it ended. On a
network file system they reach as far as its locks do.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import struct
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Self

# struct flock of Linux on 64 bits: type, whence, start, length, process.
_FLOCK = struct.Struct("hhqqi4x")
_BUSY = {errno.EAGAIN, errno.EACCES}


class Locks:
    """Locks on ranges of a file, shared or alone.

    Args:
        path: The file, which is made if it is missing; None for who only reads, and takes none.

    Example:
        >>> import pathlib, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> path = pathlib.Path(folder.name, "lock")
        >>> with Locks(path) as ours, Locks(path) as theirs:
        ...     ours.take(10, 5), theirs.take(14, 5), theirs.held(12, 1), theirs.take(15, 5)
        (True, False, (10, 15), True)
        >>> folder.cleanup()
    """

    def __init__(self, path: Path | None) -> None:
        self._handle = -1
        if path is None:
            return
        # A symbolic link could name any file of the user.
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        self._handle = os.open(path, flags, 0o666)
        if not stat.S_ISREG(os.fstat(self._handle).st_mode):
            os.close(self._handle)
            raise OSError(errno.EINVAL, "the lock is not a regular file", str(path))

    def take(self, start: int, length: int, shared: bool = False) -> bool:
        """Takes a range, or turns what is held of it into the other kind; False if others hold it.

        Args:
            start: First byte, which need not be there.
            length: Number of bytes, 1 or more.
            shared: Whether others may hold it as well, shared.
        """
        kind = fcntl.F_RDLCK if shared else fcntl.F_WRLCK
        try:
            self._call(fcntl.F_OFD_SETLK, kind, start, length)
        except OSError as error:
            if error.errno in _BUSY:
                return False
            raise
        return True

    def wait(
        self,
        start: int,
        length: int,
        shared: bool = False,
        tell: Callable[[list[int]], object] = lambda _holders: None,
    ) -> None:
        """Takes a range as soon as others release it; Ctrl-C ends the wait.

        Args:
            start: First byte.
            length: Number of bytes.
            shared: Whether others may hold it as well, shared.
            tell: Called once if the range is held, with the ids of the processes that hold it.
        """
        if self.take(start, length, shared):
            return
        holders = self.holders(start, length)
        if self.held(start, length) is not None:
            tell(holders)
        while not self.take(start, length, shared):
            time.sleep(0.05)

    def drop(self, start: int, length: int) -> None:
        """Lets a range go."""
        self._call(fcntl.F_OFD_SETLK, fcntl.F_UNLCK, start, length)

    def held(self, start: int, length: int) -> tuple[int, int] | None:
        """First and end byte of a lock of somebody else in a range; None if there is none."""
        answer = self._call(fcntl.F_OFD_GETLK, fcntl.F_WRLCK, start, length)
        kind, _, first, size, _ = _FLOCK.unpack(answer)
        return None if kind == fcntl.F_UNLCK else (first, first + size)

    def holders(self, start: int, length: int) -> list[int]:
        """Ids of the processes that hold a lock of others in a range, as far as `/proc` shows them.

        `F_OFD_GETLK` names no process, because such a lock belongs to an open file. Processes on
        other machines, and in Linux those of other users, are not found.
        """
        ours, found = os.fstat(self._handle), []
        own = Path("/proc", str(os.getpid()), "fd", str(self._handle))
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):  # another user's, or gone by now
                if any(
                    handle != own
                    and os.path.samestat(handle.stat(), ours)
                    and _overlaps(process / "fdinfo" / handle.name, start, start + length)
                    for handle in (process / "fd").iterdir()
                ):
                    found.append(int(process.name))
        return sorted(found)

    def _call(self, command: int, kind: int, start: int, length: int) -> bytes:
        asked = _FLOCK.pack(kind, os.SEEK_SET, start, length, 0)
        return fcntl.fcntl(self._handle, command, asked)

    def close(self) -> None:
        """Lets all go."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _overlaps(info: Path, start: int, end: int) -> bool:
    """Whether the locks in a file of `/proc/PID/fdinfo` include one in a range of bytes."""
    for line in info.read_text().splitlines():
        # "lock: 1: OFDLCK ADVISORY WRITE -1 08:01:42 FIRST LAST"; LAST may be "EOF".
        if line.startswith("lock:") and "OFDLCK" in line:
            first, last = line.split()[-2:]
            if int(first) < end and (last == "EOF" or start <= int(last)):
                return True
    return False
