"""Texts of messages."""

from __future__ import annotations


def counted(number: int, one: str, more: str | None = None) -> str:
    """A number with a noun in the singular or plural.

    Args:
        number: The count.
        one: Singular noun.
        more: Plural noun; default: with an s.

    Example:
        >>> counted(1, "run"), counted(0, "run"), counted(2, "entry", "entries")
        ('1 run', '0 runs', '2 entries')
    """
    return f"{number} {one if number == 1 else more or one + 's'}"


def is_best(label: str) -> str:
    """That an alternative is best; `none is best` would say that there is no best.

    Example:
        >>> is_best("ARQ"), is_best("none with bbr")
        ('ARQ is best', '"none with bbr" is best')
    """
    name = f'"{label}"' if label.partition(" ")[0] == "none" else label
    return f"{name} is best"


def printable(text: str) -> str:
    r"""A text without characters that steer a terminal or turn the direction of writing.

    Example:
        >>> printable("x\u202e\x1b[2J \udcff.toml")
        'x\\u202e\\x1b[2J \\udcff.toml'
    """
    return "".join(
        one if one.isprintable() else one.encode("unicode_escape").decode() for one in text
    )
