"""`clift paper`: reproduce the tables and figures of the papers."""

from __future__ import annotations

import click

from clift.cli.papers.artefacts import list_papers, run_paper, show_paper
from clift.cli.papers.ijscn2014 import ijscn2014
from clift.cli.papers.tauran2017 import tauran2017
from clift.cli.papers.wiopt2003 import wiopt2003
from clift.papers import ALIASES


class Papers(click.Group):
    """The papers by their present or earlier names."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a paper, by its present or earlier name."""
        return super().get_command(ctx, ALIASES.get(cmd_name, cmd_name))


@click.group(cls=Papers)
def paper() -> None:
    """Reproduce the tables and figures of the papers.

    `list` lists the papers, `show` describes one, and `run` reproduces its tables and figures. The
    commands named after a paper have further options.
    """


for command in (list_papers, show_paper, run_paper, ijscn2014, tauran2017, wiopt2003):
    paper.add_command(command)
