"""Writes docs/reference/cli.md, every command with its options, from the command line itself.

`python docs/cli_reference.py` writes the page; `--check` only compares it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from clift.cli.main import cli

PAGE = Path(__file__).parent / "reference" / "cli.md"


def commands(command: click.Command, context: click.Context) -> Iterator[click.Context]:
    """Yields the context of the command and of all commands below it."""
    yield context
    if isinstance(command, click.Group):
        for name in sorted(command.list_commands(context)):
            below = command.get_command(context, name)
            if below is not None and not below.hidden:
                yield from commands(below, click.Context(below, parent=context, info_name=name))


def page() -> str:
    """Returns the text of the page."""
    text = "# Command line\n\nGenerated from `clift --help` and the help of each command.\n"
    root = click.Context(cli, info_name="clift", **cli.context_settings)
    for context in commands(cli, root):
        context.terminal_width, context.max_content_width = 90, 90
        text += f"\n## {context.command_path}\n\n```text\n{context.get_help().rstrip()}\n```\n"
    return text


def main() -> int:
    """Writes (or, with `--check`, compares) the page; returns the exit code."""
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(page())
    elif not PAGE.exists() or PAGE.read_text() != page():
        print("docs/reference/cli.md is out of date; run python docs/cli_reference.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
