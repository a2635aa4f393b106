"""`clift paper`: what a paper prints, regenerated."""

from __future__ import annotations

import click

from clift.cli.papers.ijscn2014 import ijscn2014
from clift.cli.papers.leo2014 import leo2014
from clift.cli.papers.wiopt2003 import wiopt2003


@click.group()
def paper() -> None:
    """Regenerate what a paper prints."""


for command in (ijscn2014, leo2014, wiopt2003):
    paper.add_command(command)
