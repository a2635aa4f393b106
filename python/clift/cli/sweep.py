"""`clift sweep`: run a study into a results folder."""

from __future__ import annotations

import json
from pathlib import Path

import click

from clift.cli.options import Share, change, compared, show_as, shown
from clift.cli.study import StudyOptions, run_study, stoppable
from clift.scenario import Scenario


@click.command()
@click.argument("path", metavar="STUDY", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    help="Results folder; runs that it already holds are not repeated.",
)
@click.option("--seed", type=click.IntRange(0, 2**64 - 1), help="Seed, instead of the file's.")
@click.option("--runs", type=click.IntRange(1), help="Runs per cell, instead of the file's.")
@click.option(
    "--set", "sets", multiple=True, metavar="KEY=VALUE", help="Change a key, as `clift run` does."
)
@click.option(
    "--until-halfwidth",
    "until",
    type=Share(),
    metavar="SHARE",
    help="Stop a cell when half its 95 % interval is within this share of its mean, e.g. 2%; "
    "--runs is the maximum.",
)
@click.option(
    "--dry-run", is_flag=True, help="Print the missing runs and an estimate of their time."
)
@compared
@click.option("--scheduler", metavar="ADDRESS", help="Dask scheduler, e.g. tcp://host:8786.")
@click.option("--threads", type=click.IntRange(1), help="Parallel runs; default: all cores.")
@shown
@click.option("--no-plots", is_flag=True, help="Write tables only.")
@click.option(
    "--force",
    is_flag=True,
    help="Remove another study's runs from the folder, and overwrite files CLIFT did not write.",
)
@click.option("--quiet", is_flag=True, help="Show no progress bar.")
def sweep(
    path: Path,
    output: Path,
    seed: int | None,
    runs: int | None,
    sets: tuple[str, ...],
    until: float | None,
    margin: float,
    compare: tuple[str, ...],
    dry_run: bool,
    scheduler: str | None,
    threads: int | None,
    as_json: bool,
    as_csv: bool,
    brief: bool,
    no_plots: bool,
    force: bool,
    quiet: bool,
) -> None:
    """Run the missing runs of the scenario file STUDY, and print the results.

    The folder saves every batch of runs when it ends (after about 100 ms, later a hundredth of the
    elapsed time, at most 2 s). The same command continues an interrupted study. Several commands
    may work in one folder at a time, on one machine or on many that share it.
    """
    show = show_as(as_json, as_csv, brief)
    changes = dict(change(text) for text in sets)
    changes |= {} if seed is None else {"seed": str(seed)}
    changes |= {} if runs is None else {"runs": str(runs)}
    scenario = Scenario.read(path, changes)
    if dry_run:
        with stoppable():
            _foretell(scenario, output, threads, as_json)
        return
    plots = not no_plots
    wishes = StudyOptions(
        *(path.stem, output, threads, show, plots, quiet, force),
        until=until,
        scheduler=scheduler,
        margin=margin,
        compare=compare,
    )
    run_study(scenario, wishes)


def _foretell(scenario: Scenario, output: Path, threads: int | None, as_json: bool) -> None:
    from clift.campaign.forecast import forecast

    found = forecast(scenario, output, threads)
    if as_json:
        click.echo(json.dumps(found.as_dict(), indent=2))
        return
    for line in found.lines():
        click.echo(line)
