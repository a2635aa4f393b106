"""Writes output files, each as a whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import clift._clift as _clift
from clift.errors import CliftError, ScenarioError


@contextmanager
def written(path: Path, kind: type[CliftError] = ScenarioError) -> Iterator[None]:
    """Turns an error of the operating system in the block into one that names the output."""
    try:
        yield
    except OSError as error:
        raise kind(f"{path}: cannot be written: {error.strerror or error}") from None


def write(path: Path, content: bytes, kind: type[CliftError] = ScenarioError) -> Path:
    """Write a file, as a whole or not at all, and return its path.

    Raises:
        ScenarioError: If writing fails; `kind` names another error.
    """
    with written(path, kind):
        _clift.replace_file(path, content)
    return path
