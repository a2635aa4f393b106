"""Phrases that are hard to read do not return to the pages, docstrings and messages."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGES = ("*.md", "*.rs", "python/clift/*.py", "docs/*.py", "docs/*.toml", "*.pyi")
# Each pattern with the plain form. Add a phrase once the last place with it is rewritten.
PHRASES = {
    r"\bwhat it is by\b": "key",
    r"\bno value for\b": "is not valid; give",
    r"\bas the paper prints it\b": "as printed in the paper",
    r"\bfeels of it\b": "name the effect",
    r"\bis no good\b": "name the result",
    r"\bwhich is told\b": "which it prints",
    r"\bis told on stderr\b": "it prints to stderr",
    r"\bwhat to do about\b": "hint for",
    r"\bhow far .{0,20} has come\b": "state of",
    r"\ba fault of ours\b": "an internal error",
    r"\bnothing can be told\b": "too few runs for a conclusion",
    r"\bwhat to call\b": "name of",
    r"\bis for more\b": "needs more",
}


def text_of(path: Path) -> list[str]:
    """Lines of a page; of Rust only docstrings, comments and lines with strings."""
    lines = path.read_text(encoding="utf-8").splitlines()
    if path.suffix != ".rs":
        return lines
    return [line if '"' in line or "//" in line else "" for line in lines]


def test_hard_phrases_do_not_return() -> None:
    listed = subprocess.run(
        ["git", "ls-files", *PAGES], cwd=ROOT, capture_output=True, text=True, check=True
    )
    found = [
        f"{name}:{number}: `{match[0]}`: write {plain}"
        for name in listed.stdout.splitlines()
        for number, line in enumerate(text_of(ROOT / name), 1)
        for phrase, plain in PHRASES.items()
        if (match := re.search(phrase, line, re.IGNORECASE))
    ]
    assert not found, "\n".join(found)
