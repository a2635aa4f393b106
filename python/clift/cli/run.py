"""`clift run`: run a scenario file."""

from __future__ import annotations

from pathlib import Path

import click

from clift.cli.options import change, compared, show_as, shown
from clift.cli.study import StudyOptions, is_capture, is_log, run_study
from clift.scenario import Scenario


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--seed", type=click.IntRange(0, 2**64 - 1), help="Seed, instead of the file's.")
@click.option("--runs", type=click.IntRange(1), help="Runs per cell, instead of the file's.")
@click.option(
    "--set",
    "sets",
    multiple=True,
    metavar="KEY=VALUE",
    help='Change a key, e.g. --set link.rtt="600 ms" or --set scheme=ARQ; a varied key is '
    "fixed. The name of an axis selects one of its points.",
)
@shown
@compared
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Folder for tables (Parquet), plots (PNG) and a record of the campaign.",
)
@click.option(
    "--capture",
    type=click.Path(path_type=Path),
    help="Write the first cell's first run as pcapng; --set selects another cell.",
)
@click.option(
    "--snap",
    type=click.IntRange(20, 65_535),
    default=80,
    show_default=True,
    metavar="BYTES",
    help="With --capture: bytes kept per packet.",
)
@click.option(
    "--qlog",
    type=click.Path(path_type=Path),
    help="Write the log of the sender of the first flow of that run, if it is QUIC, as qlog.",
)
@click.option("--threads", type=click.IntRange(1), help="Parallel runs; default: all cores.")
@click.option("--no-plots", is_flag=True, help="Write tables only.")
@click.option(
    "--force",
    is_flag=True,
    help="Remove another study's runs from the folder, and overwrite files CLIFT did not write.",
)
@click.option(
    "--explain", is_flag=True, help="Print every key in effect and its origin; run nothing."
)
@click.option("--quiet", is_flag=True, help="Show no progress bar.")
def run(
    path: Path,
    seed: int | None,
    runs: int | None,
    sets: tuple[str, ...],
    as_json: bool,
    as_csv: bool,
    brief: bool,
    margin: float,
    compare: tuple[str, ...],
    output: Path | None,
    capture: Path | None,
    snap: int,
    qlog: Path | None,
    threads: int | None,
    no_plots: bool,
    force: bool,
    explain: bool,
    quiet: bool,
) -> None:
    """Run the scenario file PATH and print the results.

    After Ctrl-C the command shows the finished runs and writes their tables, marked as incomplete.
    With -o each run is saved soon after its end, and the same command continues an interrupted
    study. A folder holds one study. CLIFT refuses a folder with another study's runs or with other
    files; --force replaces them.
    """
    changes = dict(change(text) for text in sets)
    changes |= {} if seed is None else {"seed": str(seed)}
    changes |= {} if runs is None else {"runs": str(runs)}
    scenario = Scenario.read(path, changes)
    if explain:
        for key, (value, of) in scenario.explain().items():
            click.echo(f"{key} = {value}  ({of})")
        return
    if capture is not None:
        is_capture(capture)
    if qlog is not None:
        is_log(qlog)
    show = show_as(as_json, as_csv, brief)
    plots = not no_plots
    wishes = StudyOptions(
        path.stem,
        output,
        threads,
        show,
        plots,
        quiet,
        force,
        capture=capture,
        snap=snap,
        qlog=qlog,
        margin=margin,
        compare=compare,
    )
    run_study(scenario, wishes)
