"""Files of a results folder: whole or not at all, and on the disk before anybody counts on them."""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

_PARTIAL = ".clift-{}.partial"


def write_file(path: Path, fill: Callable[[IO[bytes]], object], beside: Path | None = None) -> None:
    """Writes a file under another name, has it on the disk, and gives it its name.

    Whoever looks sees the old content or the new one, also after a power failure.

    Args:
        path: The file.
        fill: Writes the content.
        beside: The folder of the file under its other name, on the same file system; that of the
            file unless given.

    Raises:
        OSError: If it cannot be written; nothing is left then.

    Example:
        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "x")
        ...     write_file(path, lambda out: out.write(b"12"))
        ...     path.read_bytes(), len(list(path.parent.iterdir()))
        (b'12', 1)
    """
    folder = path.parent if beside is None else beside
    partial, handle = _partial(folder)
    try:
        with os.fdopen(handle, "wb") as out:
            fill(out)
            out.flush()
            os.fsync(out.fileno())
            partial.rename(path)
    except BaseException:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        raise
    sync(path.parent)


def _partial(folder: Path) -> tuple[Path, int]:
    """A file of a name that nobody has, locked for as long as it is open."""
    while True:
        path = folder / _PARTIAL.format(secrets.token_hex(8))
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        with suppress(OSError):  # not every file system has locks
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Whoever sweeps may have taken it between the two calls.
        if _is_at(handle, path):
            return path, handle
        os.close(handle)


def sweep(folder: Path) -> None:
    """Removes partial files of processes that have ended.

    The lock of a file ends with its process, so that a number which another process has by now
    says nothing.

    Example:
        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as name:
        ...     _ = pathlib.Path(name, ".clift-0123.partial").write_bytes(b"half")
        ...     sweep(pathlib.Path(name))
        ...     list(pathlib.Path(name).iterdir())
        []
    """
    for path in folder.glob(_PARTIAL.format("*")):
        with suppress(OSError):
            handle = os.open(path, os.O_RDWR | os.O_CLOEXEC)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()
            finally:
                os.close(handle)


def sync(folder: Path) -> None:
    """Has the names in a folder on the disk."""
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    except OSError:  # some network file systems have no such call for folders
        pass
    finally:
        os.close(handle)


def _is_at(handle: int, path: Path) -> bool:
    try:
        there, ours = path.stat(), os.fstat(handle)
    except OSError:
        return False
    return (there.st_ino, there.st_dev) == (ours.st_ino, ours.st_dev)


def said(error: OSError) -> Any:
    """Message of the operating system for an error."""
    return error.strerror or error
