"""What the artefacts of one module share, kept until those of another are run.

Traces and runs of a paper take a gigabyte or more; all papers in one process need not have them all
at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Made = TypeVar("Made")

_FORGET: list[tuple[str, Callable[[], None]]] = []


def kept(make: Callable[Given, Made]) -> Callable[Given, Made]:
    """`functools.cache`, until `forget_all_but` is called for another module.

    Example:
        >>> made = []
        >>> @kept
        ... def trace(seed: int) -> int:
        ...     made.append(seed)
        ...     return seed
        >>> trace(1), trace(1), made
        (1, 1, [1])
        >>> forget_all_but("clift.papers.leo_artefacts")
        >>> trace(1), made
        (1, [1, 1])
    """
    cached = cache(make)
    _FORGET.append((make.__module__, cached.cache_clear))
    return cached  # type: ignore[return-value] # it takes what `make` takes


def forget_all_but(module: str) -> None:
    """Forgets what functions of other modules have made."""
    for own, forget in _FORGET:
        if own != module:
            forget()
