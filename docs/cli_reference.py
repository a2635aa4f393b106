"""Writes docs/reference/cli.md, every command with its options, from the command line itself.

`python docs/cli_reference.py` writes the page; `--check` only compares it.
"""

from __future__ import annotations

from collections.abc import Iterator

import click
from pages import ROOT, settle

from clift.cli.main import cli

PAGE = ROOT / "docs" / "reference" / "cli.md"


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


if __name__ == "__main__":
    settle({PAGE: page()})
