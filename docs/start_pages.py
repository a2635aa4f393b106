"""Runs the commands of the start pages and writes what they print under them.

A page's `toml` blocks become files, named by their first line. In each `console` block the lines
`$ clift ...` and `$ python ...` run, in one folder per page; a `text` block between
`<!-- output -->` marks then gets what the block before it printed to stdout.
`python docs/start_pages.py` rewrites the pages; `--check` only compares them.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from clift.cli.main import run

ROOT = Path(__file__).parent.parent
PAGES = [*sorted((ROOT / "docs" / "start").glob("*.md")), ROOT / "docs" / "guides" / "advise.md"]
BLOCK = re.compile(
    r"```(?P<language>toml|console|python)\n(?P<text>.*?)```"
    r"|(?P<open><!-- output -->\n```text\n).*?(?P<close>```\n<!-- /output -->)",
    re.DOTALL,
)


def refreshed(page: Path, folder: Path) -> str:
    """Returns the page with the output of its commands, run in `folder`."""
    (folder / "examples").symlink_to(ROOT / "examples")
    printed = ""

    def block(match: re.Match[str]) -> str:
        nonlocal printed
        if match["open"]:
            return match["open"] + printed + match["close"]
        if match["language"] == "toml":
            name = match["text"].splitlines()[0].removeprefix("# ")
            (folder / name).write_text(match["text"])
        elif match["language"] == "python":
            printed = _python(["-c", match["text"]])
        else:
            lines = [line[2:] for line in match["text"].splitlines() if line.startswith("$ ")]
            printed = "".join(_printed(line) for line in lines)
        return match[0]

    with contextlib.chdir(folder):
        return BLOCK.sub(block, page.read_text())


def _printed(line: str) -> str:
    """Runs one line of a `console` block; returns its output. Other programs are left out."""
    program, *arguments = shlex.split(line, comments=True)
    if program == "python":
        script, _, target = line.removeprefix("python ").partition(" > ")
        output = _python(shlex.split(script))
        if target:
            Path(target).write_text(output)
        return "" if target else output
    if program != "clift":
        return ""
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        code = run(arguments)
    if code != 0:
        raise SystemExit(f"error: `{line}` ended with exit code {code}")
    return "\n".join(text.rstrip() for text in output.getvalue().splitlines()) + "\n"


def _python(arguments: list[str]) -> str:
    """Runs Python and returns its output."""
    command = [sys.executable, *arguments]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, env=environment
    ).stdout


def main() -> None:
    """Writes or checks the pages."""
    old = [page for page in PAGES if _changed(page)]
    if "--check" in sys.argv[1:] and old:
        names = ", ".join(str(page.relative_to(ROOT)) for page in old)
        raise SystemExit(f"error: {names} not up to date; run python docs/start_pages.py")


def _changed(page: Path) -> bool:
    """Writes the page unless `--check` is given; returns whether its output is another."""
    with tempfile.TemporaryDirectory() as folder:
        new = refreshed(page, Path(folder))
    changed = new != page.read_text()
    if "--check" not in sys.argv[1:]:
        page.write_text(new)
    return changed


if __name__ == "__main__":
    main()
