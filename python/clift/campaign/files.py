"""Files of a results folder: whole or not at all, and on the disk before anybody counts on them."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader, BufferedWriter, FileIO
from pathlib import Path
from typing import IO, Any

from clift.errors import ScenarioError

# What changes files goes through `os` and `FileIO`, which tests replace: their n-th call fails.
_PARTIAL = ".clift-{}.partial"
# A folder with such a name was meant to be a file.
_OF_FILES = (".csv", ".html", ".json", ".md", ".parquet", ".pdf", ".png", ".svg", ".toml", ".txt")
# What fsync says of a folder on file systems that have no such call for folders.
_NO_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.EBADF)


def open_file(path: Path) -> BufferedReader:
    """Open a regular file to read. A FIFO would block, a device may have no end.

    Raises:
        OSError: If it is another kind of file, or not readable.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return os.fdopen(handle, "rb")


def read_file(path: Path) -> bytes:
    """Content of a regular file.

    Raises:
        OSError: If it is another kind of file, or not readable.
    """
    with open_file(path) as file:
        return file.read()


def sha256(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal digits.

    Raises:
        OSError: If it is not a regular file, or not readable.
    """
    with open_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def make_folder(path: Path) -> None:
    """Make a folder and those above it, and have their names on the disk.

    Raises:
        OSError: If one cannot be made.
    """
    if path.is_dir():
        return
    make_folder(path.parent)
    with suppress(FileExistsError):  # another process was faster
        os.mkdir(path)
    sync(path.parent)


def write_file(path: Path, fill: Callable[[IO[bytes]], object], beside: Path | None = None) -> None:
    """Writes a file under another name, has it on the disk, and gives it its name.

    A reader sees the old content or the new one, also after a power failure.

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
        with BufferedWriter(FileIO(handle, "wb")) as out:
            fill(out)
            out.flush()
            os.fsync(handle)
            os.rename(partial, path)
    except BaseException:
        with suppress(OSError):
            unlink(partial)
        raise
    sync(path.parent)


def _partial(folder: Path) -> tuple[Path, int]:
    """A file of a name that nobody has, locked for as long as it is open."""
    while True:
        path = folder / _PARTIAL.format(secrets.token_hex(8))
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        with suppress(OSError):  # not every file system has locks
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # A process that sweeps may have taken it between the two calls.
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
            handle = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                unlink(path)
            finally:
                os.close(handle)


@contextmanager
def results_in(folder: Path) -> Iterator[None]:
    """Errors of the system in the block say that no results can be in the folder.

    Raises:
        ScenarioError: Instead of an OSError.
    """
    check_folder(folder)
    try:
        yield
    except OSError as error:
        message = f"{folder}: cannot write results there: {said(error)}; choose another folder"
        raise ScenarioError(message) from None


def check_folder(folder: Path) -> None:
    """Checks that a name is not that of a file.

    Raises:
        ScenarioError: If it is.

    Example:
        >>> check_folder(Path("results/delay.png"))
        Traceback (most recent call last):
        clift.errors.ScenarioError: results/delay.png: results are written into a folder; give one
    """
    if not folder.is_dir() and (folder.exists() or folder.suffix.lower() in _OF_FILES):
        raise ScenarioError(f"{folder}: results are written into a folder; give one")


def unlink(path: Path) -> None:
    """Removes a file."""
    os.unlink(path)


def sync(folder: Path) -> None:
    """Has the names in a folder on the disk.

    Raises:
        OSError: If that fails.
    """
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in _NO_SYNC:
            raise
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
