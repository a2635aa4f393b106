"""`clift attack`: the erasures that hurt a run most."""

from __future__ import annotations

import json
from pathlib import Path

import click

from clift.cli.options import changing
from clift.errors import Interrupted
from clift.scenario import Scenario


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "--budget",
    type=click.IntRange(1, 1000),
    default=10,
    show_default=True,
    metavar="N",
    help="Most erasures to place.",
)
@click.option(
    "--runs",
    type=click.IntRange(20, 10**7),
    default=400,
    show_default=True,
    help="Most runs of the search.",
)
@changing
@click.option("--json", "as_json", is_flag=True, help="JSON on stdout.")
@click.option("--quiet", is_flag=True, help="Show no progress bar.")
def attack(
    path: Path, budget: int, runs: int, changes: dict[str, str], as_json: bool, quiet: bool
) -> None:
    """Place a few more erasures where they hurt the run of the scenario file PATH most.

    The erasures are slots of the first link. The search is greedy: a worse placement may exist. A
    tenth of the runs place as many erasures at random, for comparison. After Ctrl-C the command
    shows the worst placement so far.
    """
    from clift.cli.study import naming, stoppable
    from clift.diagnosis.attack import attack as search
    from clift.diagnosis.replay import first_run

    scenario = first_run(Scenario.read(path, changes))
    with naming(path), stoppable():
        found = search(scenario, budget, runs, progress=not quiet)
    click.echo(json.dumps(found.as_dict(), indent=2) if as_json else "\n".join(found.lines()))
    if not found.is_complete:
        raise Interrupted(f"stopped after {found.runs} of {runs} runs", [])
