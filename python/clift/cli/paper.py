"""`clift paper`: what a paper prints, regenerated."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import numpy as np

from clift.cli.options import busy


@click.command()
@click.argument("paper", type=click.Choice(["ijscn2014", "leo2014"]))
@click.option("--figure", type=click.Choice(["5", "6"]), help="Which figure (ijscn2014).")
@click.option("--table", type=click.Choice(["1", "2"]), help="Which table (leo2014).")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="PNG to write; in the current folder, named after paper and figure, unless given.",
)
@click.option("--points", type=click.IntRange(0, 200), default=9, help="Points to simulate.")
@click.option(
    "--slots",
    type=click.IntRange(1),
    help="Slots simulated at each point for each scheme; the paper's 500 s unless given.",
)
@click.option("--seed", type=click.IntRange(0), default=1, help="Names the draws.")
@click.option("--seeds", type=click.IntRange(1), default=8, help="Runs of each cell of a table.")
@click.option(
    "--duration",
    type=click.FloatRange(1),
    metavar="SECONDS",
    help="Length of each run of a table; the paper's 600 s unless given.",
)
@click.option("--json", "as_json", is_flag=True, help="JSON on stdout instead of the table.")
def paper(
    paper: str,
    figure: str | None,
    table: str | None,
    output: Path | None,
    points: int,
    slots: int | None,
    seed: int,
    seeds: int,
    duration: float | None,
    as_json: bool,
) -> None:
    """Regenerate a figure or table of PAPER, in a plot beside what it prints.

    ijscn2014, figures 5 and 6: efficiency and recovery delay of FEC, ARQ and HARQ-II over a
    Gilbert-Elliott channel, by the closed form and by simulation.

    leo2014, tables 1 and 2: TCP over adaptive HARQ without and with a re-ordering buffer.
    """
    if paper == "ijscn2014":
        if figure is None:
            raise click.UsageError("ijscn2014: give --figure 5 or --figure 6")
        target = output or Path(f"{paper}_figure{figure}.png")
        _analytical(figure, target, points, slots, seed, as_json)
        return
    if table is None:
        raise click.UsageError("leo2014: give --table 1 or --table 2")
    _leo(int(table), output or Path(f"{paper}_table{table}.png"), seed, seeds, duration, as_json)


def _analytical(
    figure: str, target: Path, points: int, slots: int | None, seed: int, as_json: bool
) -> None:
    from clift.papers.analytical import curves, parameters
    from clift.report.model_figure import paper_figure
    from clift.report.model_text import checked
    from clift.report.trace_figure import save

    with busy(f"figure {figure}"):
        drawn = curves(int(figure), points=points, slots=slots, seed=seed)
    title = parameters("ijscn2014")["figure"][figure]["title"]
    save(paper_figure(f"ijscn2014, figure {figure}: {title}", drawn), target)
    if as_json:
        click.echo(json.dumps({"figure": str(target), "curves": [_json(c) for c in drawn]}))
        return
    for curve in drawn:
        for p, rows in curve.checks:
            click.echo(checked(f"{curve.scheme}, p = {p:.4f}", rows) + "\n")
    click.echo(target)


def _leo(
    table: int, target: Path, seed: int, seeds: int, duration_s: float | None, as_json: bool
) -> None:
    from clift.papers.leo import table_cells
    from clift.report.leo import leo_figure, leo_text
    from clift.report.trace_figure import save

    with busy(f"table {table}"):
        cells = table_cells([table], seeds, seed, duration_s=duration_s)
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
        click.echo(json.dumps({"figure": str(target), "table": table, "cells": rows}))
        return
    click.echo(leo_text(cells))
    click.echo(f"\n{target}")


def _json(curve: Any) -> dict[str, Any]:
    def plain(values: Any) -> list[float | None]:
        return [float(v) if np.isfinite(v) else None for v in np.ravel(values)]

    return {
        "scheme": curve.scheme,
        "alpha": curve.alpha,
        "beta": plain(curve.beta),
        "p": plain(curve.p),
        "model": {name: plain(values) for name, values in curve.model.values().items()},
        "simulated": [
            {
                "p": p,
                "metrics": {
                    row.metric: {
                        "model": plain(row.model)[0],
                        "simulated": plain(row.simulated)[0],
                        "within": plain(row.within)[0],
                        "verdict": row.verdict,
                    }
                    for row in rows
                },
            }
            for p, rows in curve.checks
        ],
    }
