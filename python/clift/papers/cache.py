"""Caches traces and runs for the artefacts of one module.

The traces and runs of a paper take a gigabyte or more, so the cache holds one module's at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Made = TypeVar("Made")

_CLEAR: list[tuple[str, Callable[[], None]]] = []


def shared_cache(make: Callable[Given, Made]) -> Callable[Given, Made]:
    """`functools.cache` that `clear_other_caches` clears for all other modules.

    Example:
        >>> made = []
        >>> @shared_cache
        ... def trace(seed: int) -> int:
        ...     made.append(seed)
        ...     return seed
        >>> trace(1), trace(1), made
        (1, 1, [1])
        >>> clear_other_caches("clift.papers.leo_artefacts")
        >>> trace(1), made
        (1, [1, 1])
    """
    cached = cache(make)
    _CLEAR.append((make.__module__, cached.cache_clear))
    return cached  # type: ignore[return-value] # same parameters as `make`


def clear_other_caches(module: str) -> None:
    """Clear the caches of all other modules."""
    for own, clear in _CLEAR:
        if own != module:
            clear()
