"""`clift schema`: the JSON Schema of scenario files."""

from __future__ import annotations

import click

import clift._clift as _clift


@click.command()
def schema() -> None:
    """Print the JSON Schema of scenario files, for editors."""
    click.echo(_clift.scenario_schema(), nl=False)
