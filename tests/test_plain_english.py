"""Hard phrases do not return to pages, docstrings, messages, comments and names of tests."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGES = ("*.md", "*.rs", "*.py", "*.pyi", "docs/*.toml", "examples/*.toml")
# Each pattern with the plain form. Add a phrase once the last place with it is rewritten.
PHRASES = {
    r"what it is by\b": "key",
    r"no value for\b": "is not valid; give",
    r"as the paper prints it\b": "as printed in the paper",
    r"feels of it\b": "name the effect",
    r"is no good\b": "name the result",
    r"which is told\b": "which it prints",
    r"is told on stderr\b": "it prints to stderr",
    r"what to do about\b": "hint for",
    r"how far .{0,20} has come\b": "state of",
    r"a fault of ours\b": "an internal error",
    r"nothing can be told\b": "too few runs for a conclusion",
    r"what to call\b": "name of",
    r"is for more\b": "needs more",
    r"that there (can|is such)\b": "validates",
    r"there is no telling\b": "is not known yet",
    r"who is told\b": "the function that gets the line",
    r"from when on\b": "the time from which",
    r"how so many\b": "this many",
    r"what there is\b": "what exists",
    r"as often as it takes\b": "as often as needed",
    r"so long as\b": "while",
    r"(thereof|thereby|wherein|hitherto)\b": "name the noun",
    r"(were it not|had it not|be it)\b": "if",
    r"parameters that make no\b": "invalid parameters",
    r"text that is no\b": "text that is not",
    r"what is special about\b": "options of",
    r"is of note\b": "is recorded",
    r"of one's own\b": "custom",
    r"of (its|their|your) own(?= *([.,;:)\"]|$))": "its own before the noun",
    r"so many (?!as\b|that\b|lldus\b)": "this many",
    r"anew\b": "again",
    r"whatever\b": "any, every",
    r"(whoever|whichever is free|whichever are here)\b": "name the subject",
    r"there can be no\b": "is not valid",
    r"(is|are) no (number|scheme|such|value|evidence|reason|proof|code|preset|key)\b": "is not a",
    r"in the place of\b": "instead of",
    r"for want of\b": "for lack of",
    r"stands? in d\b": "is in d",
    r"nothing of\b": "no part of",
    r"(is|are|(?<!can't )be) told\b": "reported, printed, decided",
    r"goes on where\b": "continues",
    r"none of (it|its|their)\b": "no",
    r"(of|by) itself\b": "alone",
    r"is (not )?through\b": "is complete",
    r"comes? to (its|an) end\b": "ends",
    r"what came of\b": "result of",
    r"what (lies|waits|became|was waited|is (missing|left|not given|special))\b": "the noun first",
}


def joined(phrases: dict[str, str]) -> re.Pattern[str]:
    """Returns a pattern that finds any of the phrases in a text of small letters.

    To ignore the case would take three times as long.
    """
    return re.compile(rf"\b(?:{'|'.join(phrases)})")


def text_of(path: Path) -> list[str]:
    """Lines of a page; of Rust only docstrings, comments, strings and names of tests."""
    lines = path.read_text(encoding="utf-8").lower().splitlines()
    if path.suffix == ".rs":
        lines = [line if re.search(r'"|//|^\s*fn ', line) else "" for line in lines]
    # The words of a test's name are a sentence.
    return [
        re.sub(r"\b(?:def test|fn)(_?\w+)", lambda name: name[1].replace("_", " "), line)
        for line in lines
    ]


def test_hard_phrases_do_not_return() -> None:
    listed = subprocess.run(
        ["git", "ls-files", *PAGES], cwd=ROOT, capture_output=True, text=True, check=True
    )
    phrases = joined(PHRASES)
    found = [
        f"{name}:{number}: `{match[0]}`: write {plain}"
        for name in listed.stdout.splitlines()
        if name != "tests/test_plain_english.py"
        for number, line in enumerate(text_of(ROOT / name), 1)
        if (match := phrases.search(line))
        for phrase, plain in PHRASES.items()
        if re.fullmatch(phrase, match[0])
    ]
    assert not found, "\n".join(found)
