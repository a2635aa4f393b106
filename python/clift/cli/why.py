"""`clift why`: what limited a run, and which event led to which."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from clift.cli.options import Picture, change, changing, seconds, writes
from clift.errors import ScenarioError
from clift.scenario import Scenario
from clift.simulation import simulate


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--at", type=seconds(), metavar="TIME", help='Explain this instant, e.g. "132 s".')
@click.option(
    "--without",
    multiple=True,
    metavar="NAME",
    help="Also run without this: burst:N, the erasures of a burst; erasures:N, those that hit the "
    "packet of cut N; cut:N, the cut of the window itself. Cuts are of the costliest ones.",
)
@click.option(
    "--from",
    "later",
    nargs=2,
    type=(seconds(), str),
    multiple=True,
    metavar="TIME KEY=VALUE",
    help="Also run with another value from this time on: transport.congestion, link.queue or, on a "
    "live link, scheme.",
)
@click.option(
    "--rank",
    type=click.IntRange(1, 100),
    metavar="N",
    help="Rank N bursts of erasures by the goodput that is gained without each.",
)
@click.option(
    "--draws",
    type=click.IntRange(0, 1000),
    default=20,
    show_default=True,
    metavar="N",
    help="Average gains over N other draws of the channel; with 0 the costs of cuts are estimates.",
)
@changing
@click.option("--json", "as_json", is_flag=True, help="JSON on stdout.")
@writes("Draw the causes into this file.", type=Picture())
def why(
    path: Path,
    at: int | None,
    without: tuple[str, ...],
    later: tuple[tuple[int, str], ...],
    rank: int | None,
    draws: int,
    changes: dict[str, str],
    as_json: bool,
    output: Path | None,
) -> None:
    """Explain the goodput of a run of the scenario file PATH.

    The first run of the first cell is explained; --set selects another cell. The causes and the
    goodput add up to the capacity of the hop with the least capacity, or of the hops that limit the
    paths of a flow.
    """
    from clift.cli.study import naming, stoppable
    from clift.diagnosis import tell
    from clift.diagnosis.replay import cost_kbps, first_run, measure, replayed

    study = Scenario.read(path, changes)
    scenario = first_run(study)
    if (count := len(study.cells())) > 1:
        cell = ", ".join(f"{axis} = {label}" for axis, label in scenario.labels.items())
        click.echo(f"explained: {cell}, the first of {count} cells; choose by --set", err=True)
    with naming(path), stoppable():
        run = simulate(scenario)
        ended = run.summary()["duration_s"]
        for option, time in [("--at", at), *(("--from", time) for time, _ in later)]:
            if time is not None and time > ended * 1e9:
                raise ScenarioError(
                    f"{path}, {option} {time / 1e9:g} s: the run ends at {ended:g} s; give an "
                    "earlier time"
                )
        found: dict[str, Any] = run.why(None if at is None else at / 1e9)
        measure(scenario, run, tell.chained(found), draws)
        found["costliest"].sort(key=cost_kbps, reverse=True)
        edits = None
        if without or later:
            others = [(at / 1e9, *_changed(path, changes, text)) for at, text in later]
            try:
                edits, found["replay"] = replayed(scenario, found, without, others, draws)
            except ScenarioError as error:
                told = str(error)
                option = ", --" if told.startswith(("from", "without")) else ": "
                raise ScenarioError(f"{path}{option}{told}") from None
        if rank is not None:
            found["bursts"] = tell.ranked(scenario, run, found, rank, draws)
    if as_json:
        click.echo(json.dumps(found, indent=2))
    else:
        click.echo("\n".join(tell.told(found, run)))
    if output is not None:
        from clift.report.causes import draw

        draw(run, found, edits).savefig(output)
        click.echo(f"wrote {output}", err=True)


def _changed(path: Path, changes: dict[str, str], text: str) -> tuple[str, str, Scenario]:
    """Key and value of `--from TIME KEY=VALUE`, and the run with them from its start."""
    from clift.diagnosis.replay import first_run

    key, value = change(text, "--from")
    try:
        return key, value, first_run(Scenario.read(path, {**changes, key: value}))
    except ScenarioError as error:
        told = str(error).replace(f", set {key} = {value}", f", --from {key}={value}")
        raise ScenarioError(told) from None
