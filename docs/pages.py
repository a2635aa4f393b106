"""Shared by the scripts of the docs: tables in Markdown, and generated parts of pages.

A generated part stands between ``<!-- name -->``, which may say what makes it, and
``<!-- /name -->``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent


def markdown(head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """Formats a table.

    >>> print(markdown(["a", "b"], [["1", "2"]]))
    | a | b |
    |---|---|
    | 1 | 2 |
    """
    lines = [f"| {' | '.join(line)} |" for line in (head, *body)]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]])


def filled(text: str, parts: Mapping[str, str]) -> str:
    r"""A page with other generated parts.

    >>> filled("<!-- a: made by b -->\nold\n<!-- /a -->", {"a": "new\n"})
    '<!-- a: made by b -->\nnew\n<!-- /a -->'
    """
    for name, part in parts.items():
        pattern = re.compile(rf"(<!-- {name}(?:: .*?)? -->\n).*?(<!-- /{name} -->)", re.DOTALL)
        text, found = pattern.subn(lambda match, part=part: match[1] + part + match[2], text)  # type: ignore[misc]
        if not found:
            raise SystemExit(f"error: a page lacks the marks of the part {name}")
    return text


def put(page: Path, name: str, text: str) -> None:
    """Writes a generated part of a page."""
    page.write_text(filled(page.read_text(), {name: text}))


def settle(files: Mapping[Path, str]) -> None:
    """Writes generated files; with `--check` only says which are out of date."""
    stale = [path for path, text in files.items() if not path.exists() or path.read_text() != text]
    names = ", ".join(str(path.relative_to(ROOT)) for path in stale)
    if stale and "--check" in sys.argv[1:]:
        raise SystemExit(f"error: out of date: {names}; run make docs")
    for path in stale:
        path.write_text(files[path])
    if stale:
        print(f"{names} written")


def refresh(page: Path, parts: Mapping[str, str]) -> None:
    """Writes generated parts of a page; with `--check` only says if one is out of date."""
    settle({page: filled(page.read_text(), parts)})
