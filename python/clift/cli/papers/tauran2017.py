"""`clift paper tauran2017`: adaptive HARQ and a re-ordering buffer (Tauran 2017)."""

from __future__ import annotations

import json
from pathlib import Path

import click

from clift.cli.options import Picture, Seconds, busy, until_written


@click.command()
@click.option("--table", type=click.Choice(["1", "2"]), required=True, help="Number of the table.")
@click.option(
    "-o",
    "--output",
    type=Picture(),
    help="PNG, PDF or SVG to write; default: named after paper and table, in this folder.",
)
@click.option("--runs", type=click.IntRange(1), default=8, help="Runs per cell.")
@click.option("--seed", type=click.IntRange(0), default=1, help="Seed of the first run.")
@click.option(
    "--duration",
    type=Seconds(1),
    metavar="TIME",
    help="Length of each run, in seconds or with a unit; default: the paper's 600 s.",
)
@click.option("--json", "as_json", is_flag=True, help="JSON on stdout instead of the table.")
def tauran2017(
    table: str,
    output: Path | None,
    runs: int,
    seed: int,
    duration: int | None,
    as_json: bool,
) -> None:
    """Tables 1 and 2: TCP over adaptive HARQ, without and with a re-ordering buffer."""
    from clift.papers.leo import table_cells
    from clift.report.leo import leo_figure, leo_text
    from clift.report.trace_figure import save

    target = output or Path(f"tauran2017_table{table}.png")
    duration_s = None if duration is None else duration / 1e9
    with until_written(), busy(f"table {table}"):
        cells = table_cells([int(table)], runs, seed, duration_s=duration_s)
        save(leo_figure(cells), target)
    if as_json:
        rows = [
            {
                "snr_db": cell.snr_db,
                "transport": cell.transport,
                "printed": cell.printed,
                "runs": cell.values,
                "mean": {name: cell.estimate(name).mean for name in cell.values},
                "half_width": {name: cell.estimate(name).half_width for name in cell.values},
            }
            for cell in cells
        ]
        click.echo(json.dumps({"figure": str(target), "table": int(table), "cells": rows}))
        return
    click.echo(leo_text(cells))
    click.echo(f"\n{target}")
