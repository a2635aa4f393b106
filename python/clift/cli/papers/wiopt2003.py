"""`clift paper wiopt2003`: Al Fawal 2003, on hybrid FEC/ARQ-SR."""

from __future__ import annotations

import json
from pathlib import Path

import click

from clift.cli.options import Picture, Seconds, until_written


@click.command()
@click.option(
    "--figure",
    type=click.Choice(["3", "4", "5", "6", "7", "8"]),
    required=True,
    help="Number of the figure.",
)
@click.option(
    "-o",
    "--output",
    type=Picture(),
    help="PNG, PDF or SVG to write; default: named after paper and figure, in this folder.",
)
@click.option("--runs", type=click.IntRange(1), default=10, help="Runs per point.")
@click.option(
    "--duration",
    type=Seconds(1, 1e6),
    metavar="TIME",
    help="Simulated time of each run, in seconds or with a unit; default: the paper's 2000 s.",
)
@click.option(
    "--sack/--no-sack",
    default=None,
    help="TCP with SACK, or without, as in the paper; default: both.",
)
@click.option(
    "--seed", type=click.IntRange(0), default=1, help="Seed of the first run of each point."
)
@click.option("--json", "as_json", is_flag=True, help="JSON on stdout instead of the tables.")
def wiopt2003(
    figure: str,
    output: Path | None,
    runs: int,
    duration: int | None,
    sack: bool | None,
    seed: int,
    as_json: bool,
) -> None:
    """Figures 3 to 8: share of the link that carries TCP data under FEC, ARQ-SR and both.

    Ten connections or one over 2 Mbit/s, with 95 % intervals, beside the paper's statements.
    """
    from clift.papers import hybrid
    from clift.report.hybrid_figure import paper_figure
    from clift.report.hybrid_text import figure_json, figure_text
    from clift.report.trace_figure import save

    agents = [False, True] if sack is None else [sack]
    target = output or Path(f"{hybrid.PAPER}_figure{figure}.png")
    duration_s = None if duration is None else duration / 1e9
    with until_written():
        found = hybrid.figure(int(figure), runs, duration_s, agents, seed, progress=True)
        save(paper_figure(found), target)
    if as_json:
        click.echo(json.dumps({"figure": str(target), **figure_json(found)}))
        return
    click.echo(f"{figure_text(found)}\n\n{target}")
