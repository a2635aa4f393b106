"""`clift paper ijscn2014`: Kuhn 2014, on 4G satellite links."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import numpy as np

from clift.cli.options import Picture, busy, until_written

PAPER = "ijscn2014"


@click.command()
@click.option("--figure", type=click.Choice(["5", "6"]), help="Number of the figure.")
@click.option(
    "--what-changed",
    is_flag=True,
    help="Instead of a figure: section 6's link in bad reception with ns-2's TCP (profile papers), "
    "with a Linux kernel's (profile linux), and with parts of the kernel's switched off.",
)
@click.option(
    "-o",
    "--output",
    type=Picture(),
    help="PNG, PDF or SVG to write; default: named after paper and figure, in this folder.",
)
@click.option(
    "--points", type=click.IntRange(0, 200), default=9, help="Number of points to simulate."
)
@click.option(
    "--slots",
    type=click.IntRange(1),
    help="Slots simulated per point and scheme; default: the paper's 500 s.",
)
@click.option(
    "--runs", type=click.IntRange(1), help="With --what-changed: runs per cell (default: 8 and 40)."
)
@click.option("--seed", type=click.IntRange(0), default=1, help="Seed of the random draws.")
@click.option("--json", "as_json", is_flag=True, help="JSON on stdout instead of the table.")
def ijscn2014(
    figure: str | None,
    what_changed: bool,
    output: Path | None,
    points: int,
    slots: int | None,
    runs: int | None,
    seed: int,
    as_json: bool,
) -> None:
    """Figures 5 and 6 by closed form and by simulation, or the effect of the TCP model.

    The figures show efficiency and recovery delay of FEC, ARQ and HARQ-II over a Gilbert-Elliott
    channel. --what-changed compares ns-2's TCP, on which the papers built, with a Linux kernel's.
    """
    if what_changed == (figure is not None):
        raise click.UsageError("give either --figure or --what-changed")
    if figure is None:
        _what_changed(output or Path(f"{PAPER}_what_changed.png"), runs, seed, as_json)
        return
    from clift.papers.analytical import curves
    from clift.papers.registry import parameters
    from clift.report.model_figure import paper_figure
    from clift.report.model_text import checked
    from clift.report.trace_figure import save

    target = output or Path(f"{PAPER}_figure{figure}.png")
    with until_written(), busy(f"figure {figure}"):
        drawn = curves(int(figure), points=points, slots=slots, seed=seed)
        title = parameters(PAPER)["figure"][figure]["title"]
        save(paper_figure(f"{PAPER}, figure {figure}: {title}", drawn), target)
    if as_json:
        click.echo(json.dumps({"figure": str(target), "curves": [_json(c) for c in drawn]}))
        return
    for curve in drawn:
        for p, rows in curve.checks:
            click.echo(checked(f"{curve.scheme}, p = {p:.4f}", rows) + "\n")
    click.echo(target)


def _what_changed(target: Path, runs: int | None, seed: int, as_json: bool) -> None:
    from clift._bar import bar
    from clift.papers.what_changed import STUDY, study, what_changed
    from clift.report.trace_figure import save
    from clift.report.what_changed import (
        what_changed_figure,
        what_changed_json,
        what_changed_text,
    )

    with until_written():
        campaign = study(seed, runs)
        with bar(STUDY, campaign.size) as watch:
            change = what_changed(campaign, watch)
        save(what_changed_figure(change), target)
    if as_json:
        what, why = change.sentences()
        found = {"figure": str(target), "cells": what_changed_json(change)}
        click.echo(json.dumps(found | {"what": what, "pages": change.pages(), "why": why}))
        return
    click.echo(what_changed_text(change))
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
