"""`clift why`: what limited a run, and which event led to which."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from clift.cli.options import Picture, Seconds, changing
from clift.errors import ScenarioError
from clift.scenario import Scenario


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--at", type=Seconds(), metavar="TIME", help='Explain this instant, e.g. "132 s".')
@click.option(
    "--without",
    multiple=True,
    metavar="NAME",
    help="Also run without the erasures of burst:N, or without those that hit the packet of one of "
    "the costliest cuts, cut:N.",
)
@click.option(
    "--rank",
    type=click.IntRange(1, 100),
    metavar="N",
    help="Rank N bursts of erasures by the goodput that the run gains without each.",
)
@changing
@click.option("--json", "as_json", is_flag=True, help="JSON on stdout.")
@click.option("-o", "--output", type=Picture(), help="Draw the causes into this file.")
def why(
    path: Path,
    at: int | None,
    without: tuple[str, ...],
    rank: int | None,
    changes: dict[str, str],
    as_json: bool,
    output: Path | None,
) -> None:
    """Explain the goodput of a run of the scenario file PATH.

    The first run of the first cell is explained; --set selects another cell. The causes and the
    goodput add up to the capacity of the hop with the least capacity.
    """
    from clift.cli.study import stoppable
    from clift.diagnosis import tell
    from clift.diagnosis.replay import Edits, named, replay
    from clift.simulation import simulate

    scenario = first_run(Scenario.read(path, changes))
    with stoppable():
        run = simulate(scenario)
        found: dict[str, Any] = run.why(None if at is None else at / 1e9)
        if without:
            removed = {name: named(scenario, found, name) for name in without}
            edits = Edits([burst for bursts in removed.values() for burst in bursts])
            again = replay(scenario, edits)
            found["without"] = {
                "erasures": {
                    name: [{"burst": b.number, "at_s": b.at_s, "slots": b.slots} for b in bursts]
                    for name, bursts in removed.items()
                },
                "goodput_kbps": again.goodput_kbps,
                "completion_s": again.completion_s,
            }
        if rank is not None:
            found["bursts"] = tell.ranked(scenario, run, found, rank)
    if as_json:
        click.echo(json.dumps(found, indent=2))
    else:
        click.echo("\n".join(tell.told(found, run)))
    if output is not None:
        from clift.report.causes import draw

        draw(run, found).savefig(output)
        click.echo(f"wrote {output}", err=True)


def first_run(scenario: Scenario) -> Scenario:
    """The first run of the first cell of a scenario."""
    cell = next(iter(scenario.cells()), None)
    if cell is None:
        raise ScenarioError("the scenario has no cell")
    return cell.replications()[0]
