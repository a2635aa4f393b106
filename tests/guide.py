"""The code blocks of the guides, and how a reader runs them."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

from clift.cli.main import run

GUIDES = Path(__file__).parent.parent / "docs" / "guides"


def blocks(guide: str, language: str) -> list[str]:
    text = (GUIDES / f"{guide}.md").read_text()
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


def commands(guide: str) -> list[str]:
    return [line[2:] for block in blocks(guide, "console") for line in block.splitlines()]


def run_commands(guide: str, least: int = 1) -> None:
    """Runs the commands of a guide, of which there are some."""
    assert len(commands(guide)) >= least
    for command in commands(guide):
        assert run(shlex.split(command)[1:]) == 0, command


def run_python(guide: str) -> None:
    for block in blocks(guide, "python"):
        subprocess.run([sys.executable, "-c", block], check=True, capture_output=True)
