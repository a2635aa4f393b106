"""Hook of MkDocs: links from pages to files of the repository outside docs/ become plain text."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent.resolve()
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)#\s]+)(#[^)\s]*)?\)")


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Returns the page with links out of docs/ replaced by their text."""
    folder = Path(page.file.abs_src_path).parent

    def shown(link: re.Match[str]) -> str:
        if "://" in link[2] or (folder / link[2]).resolve().is_relative_to(DOCS):
            return link[0]
        return link[1]

    return LINK.sub(shown, markdown)
