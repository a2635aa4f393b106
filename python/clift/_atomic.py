"""Files that are replaced whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Opens a file beside `path` and moves it there if the block ends well.

    A device or a pipe is written to directly, a link is followed, permissions are kept.

    Args:
        path: What to replace.

    Yields:
        The file to write to.

    Example:
        >>> import pathlib, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> path = pathlib.Path(folder.name, "x")
        >>> with replacing(path) as out:
        ...     _ = out.write(b"whole")
        >>> path.read_text(), len(list(path.parent.iterdir()))
        ('whole', 1)
        >>> folder.cleanup()
    """
    if path.exists() and not path.is_file():
        with path.open("wb") as out:
            yield out
        return
    target = path.resolve()
    partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        with partial.open("xb") as out:
            if target.exists():
                partial.chmod(target.stat().st_mode & 0o7777)
            yield out
        partial.replace(target)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
