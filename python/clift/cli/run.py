"""`clift run`: run a scenario file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from clift.cli.options import SHARE, changing, check_apart, compared, show_as, shown, snap, writes
from clift.cli.study import StudyOptions, check_output, naming, run_study, stoppable
from clift.errors import ScenarioError
from clift.report.network import edges, lines
from clift.scenario import Scenario


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--runs", type=click.IntRange(1), help="Runs per cell, instead of the file's.")
@changing
@shown
@compared
@writes(
    "Folder for tables (Parquet), plots (PNG) and a record of the campaign; runs that it "
    "already holds are not repeated.",
    force=True,
)
@click.option(
    "--until-halfwidth",
    "until",
    type=SHARE,
    metavar="SHARE",
    help="Stop a cell when half its 95 % interval is within this share of its mean, e.g. 2%; "
    "--runs is the maximum.",
)
@click.option(
    "--dry-run",
    is_flag=True,
    help="With -o: print the missing runs and an estimate of their time; run nothing.",
)
@click.option(
    "--scheduler", metavar="ADDRESS", help="With -o: Dask scheduler, e.g. tcp://host:8786."
)
@click.option(
    "--capture",
    type=click.Path(path_type=Path),
    help="Write the first cell's first run as pcapng; --set selects another cell.",
)
@snap
@click.option(
    "--qlog",
    type=click.Path(path_type=Path),
    help="Write the log of the sender of the first flow of that run, if it is QUIC, as qlog.",
)
@click.option(
    "--perfetto",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the packets, units and windows of that run for ui.perfetto.dev, as JSON.",
)
@click.option("--threads", type=click.IntRange(1), help="Parallel runs; default: all cores.")
@click.option("--no-plots", is_flag=True, help="Write tables only.")
@click.option(
    "--explain", is_flag=True, help="Print every key in effect and its origin; run nothing."
)
@click.option("--quiet", is_flag=True, help="Show no progress bar.")
def run(
    path: Path,
    changes: dict[str, str],
    runs: int | None,
    as_json: bool,
    as_csv: bool,
    brief: bool,
    no_plots: bool,
    dry_run: bool,
    explain: bool,
    **more: Any,
) -> None:
    """Run the scenario file PATH and print the results; `clift sweep` is the same command.

    After Ctrl-C the command shows the finished runs and writes their tables, marked as incomplete.
    With -o the folder saves every batch of runs when it ends (after about 100 ms, later a hundredth
    of the elapsed time, at most 2 s), and the same command continues an interrupted study. A folder
    holds one study. CLIFT refuses a folder with another study's runs, or with files of others whose
    names it needs; --force replaces both, and all other files stay. Several commands may work in
    one folder at a time, on one machine or on many that share it.
    """
    if runs is not None and "runs" in changes:
        raise click.UsageError("give --runs or --set runs, not both")
    changes |= {} if runs is None else {"runs": str(runs)}
    scenario = Scenario.read(path, changes)
    show = show_as(as_json, as_csv, brief)
    if explain:
        _explain(scenario, show)
        return
    wishes = StudyOptions(path.stem, show=show, plots=not no_plots, **more)
    needy = {"--dry-run": dry_run, "--scheduler": wishes.scheduler is not None}
    if wishes.output is None and (flag := next((one for one, on in needy.items() if on), None)):
        raise click.UsageError(f"{flag} needs -o FOLDER")
    check_apart([path], wishes.capture, wishes.qlog, wishes.perfetto)
    for file, suffixes, what in (
        (wishes.capture, (".pcapng",), "captures are written as pcapng"),
        (wishes.qlog, (".sqlog", ".qlog"), "logs of QUIC are written as qlog"),
        (wishes.perfetto, (".json",), "traces for Perfetto are JSON"),
    ):
        if file is not None:
            check_output(file, suffixes, what)
    if wishes.qlog is not None:
        _check_qlog(scenario)
    if dry_run and wishes.output is not None:
        with stoppable():
            _foretell(scenario, wishes.output, wishes.threads, show)
    else:
        with naming(path):
            run_study(scenario, wishes)


def _check_qlog(scenario: Scenario) -> None:
    """Raise if the first flow of the first cell writes no log, before anything runs."""
    config = scenario.config
    transport = config["flow"][0]["transport"] if config.get("flow") else config["transport"]
    if (protocol := transport["protocol"]) != "quic":
        raise ScenarioError(
            f"--qlog: the first flow is {protocol}, which writes no log; set transport.protocol = "
            '"quic", or use --capture or --perfetto'
        )


def _explain(scenario: Scenario, show: str) -> None:
    if show != "text":
        raise click.UsageError(f"--explain has no {show}; leave --{show} out")
    for key, (value, of) in scenario.explain().items():
        click.echo(f"{key} = {value}  ({of})")
    for line in lines(edges(scenario.config), scenario.routes()):
        click.echo(line)


def _foretell(scenario: Scenario, output: Path, threads: int | None, show: str) -> None:
    from clift.campaign.forecast import forecast

    if show not in ("text", "json"):
        raise click.UsageError(f"--dry-run has no {show}; leave --{show} out")
    found = forecast(scenario, output, threads)
    if show == "json":
        click.echo(json.dumps(found.as_dict(), indent=2))
        return
    for line in found.lines():
        click.echo(line)
