"""Numbers of things as people write them."""

from __future__ import annotations


def counted(number: int, one: str, more: str | None = None) -> str:
    """A number with what it counts, one of them or more.

    Args:
        number: How many.
        one: What one of them is called.
        more: What several are called; with an s unless given.

    Example:
        >>> counted(1, "run"), counted(0, "run"), counted(2, "entry", "entries")
        ('1 run', '0 runs', '2 entries')
    """
    return f"{number} {one if number == 1 else more or one + 's'}"
