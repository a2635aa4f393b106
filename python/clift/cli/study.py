"""Run a campaign on the command line, show it and write its folder."""

from __future__ import annotations

import hashlib
import json
import shlex
import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import click
import numpy as np

from clift._bar import bar
from clift._parse import MARGIN
from clift._words import counted, printable
from clift.campaign import Results
from clift.campaign.caveats import AS_IT_SAYS, caveats, notes
from clift.campaign.conclusion import compared_axes
from clift.campaign.folder import made_of, note, refuse_foreign
from clift.campaign.record import TOLD_CELLS, as_dict, draw, write
from clift.campaign.runner import planned, run_campaign
from clift.campaign.store import Store, open_store
from clift.errors import (
    ChangedFileError,
    CliftError,
    Interrupted,
    ScenarioError,
    SimulationError,
)
from clift.report.text import report
from clift.scenario import Scenario


@dataclass(frozen=True, slots=True)
class StudyOptions:
    """Options of a campaign on the command line.

    Args:
        title: Title of the progress bar.
        output: Results folder, if any.
        threads: Parallel runs; all cores if None.
        show: `text`, `brief`, `json` or `csv`.
        plots: Whether to draw into the folder.
        quiet: Whether to hide the progress bar.
        force: Whether to remove another study's runs and overwrite files CLIFT did not write.
        until: Relative half-width of the interval at which a cell stops.
        scheduler: Address of a Dask scheduler that distributes the runs.
        capture: File for the first run as pcapng, if any.
        qlog: File for the log of its first flow's sender, if any.
        perfetto: File for the packets, units and windows of that run, if any.
        snap: Bytes kept per packet of a capture.
        margin: Share within which alternatives are called equal.
        compare: Axes to choose from.
    """

    title: str
    output: Path | None = None
    threads: int | None = None
    show: str = "text"
    plots: bool = True
    quiet: bool = False
    force: bool = False
    until: float | None = None
    scheduler: str | None = None
    capture: Path | None = None
    qlog: Path | None = None
    perfetto: Path | None = None
    snap: int = 80
    margin: float = MARGIN
    compare: tuple[str, ...] = ()


def run_study(scenario: Scenario, options: StudyOptions) -> None:
    """Run the missing runs of a campaign, print the results, and write its folder.

    Results are printed first, so that a folder that is not writable does not lose them.

    Raises:
        Interrupted: After Ctrl-C or SIGTERM, once finished runs are shown and written.
        CliftError: If a run or a file fails.
    """
    with stoppable():
        if options.output is None:
            _run_study(scenario, options, None)
            return
        with open_store(options.output, scenario, options.force) as store:
            if not options.force:
                refuse_foreign(options.output, options.plots)
            _run_study(scenario, options, store)


def _run_study(scenario: Scenario, options: StudyOptions, store: Store | None) -> None:
    from clift.campaign.comma import rows_text

    failure = None
    results = planned(scenario, scenario.cells())
    results.margin, results.compare = options.margin, options.compare
    compared_axes(results)
    wanted = 0 if options.quiet else results.wanted
    with bar(options.title, wanted) as watch, warnings.catch_warnings():
        # The notes of runs are printed below, without their place in the code.
        warnings.simplefilter("ignore", UserWarning)
        try:
            run_campaign(
                scenario, watch, options.threads, store, options.until, results, options.scheduler
            )
        except CliftError as error:
            failure = error
    if failure is not None and (not results.done or isinstance(failure, ChangedFileError)):
        raise failure
    if not results.done:
        raise Interrupted("stopped before a run had finished; nothing was written", [])
    record = as_dict(results, scenario, TOLD_CELLS)
    _tell_taken(record)
    tell_notes(scenario.overridden())
    tell_notes(further_notes(results, told=options.show in ("text", "brief")))
    if options.show == "csv":
        click.echo(rows_text(results, scenario), nl=False)
    elif options.show == "json":
        whole = record if len(results.cells) <= TOLD_CELLS else as_dict(results, scenario)
        click.echo(json.dumps(whole, indent=2))
    else:
        click.echo(report(results, brief=options.show == "brief"))
    missing = ""
    if store is not None:
        _tell_of_more(results, scenario, store, options)
        with store.deriving():
            was_stopped = failure is None and not results.is_complete
            missing = _fill(results, scenario, store, record, options, was_stopped)
    if failure is not None:
        raise failure
    if missing:
        raise Interrupted(missing, [])
    _watched(results, options)
    if not results.is_complete:
        raise Interrupted(f"stopped after {results.done} of {counted(results.wanted, 'run')}", [])


def _fill(
    results: Results,
    scenario: Scenario,
    store: Store,
    record: dict[str, Any],
    options: StudyOptions,
    was_stopped: bool,
) -> str:
    """Write the folder unless it is up to date; return a message if Ctrl-C left it incomplete.

    After an interrupted campaign, only the tables of runs and cells are written, without plots.
    """
    folder = store.folder
    # An interrupted user waits for the prompt; the next command writes the rest.
    plots = options.plots and not was_stopped
    told = [store.study, record, scenario.text, plots, caveats(results)]
    made = hashlib.sha256(json.dumps(told).encode()).hexdigest()
    if made_of(folder) == made:
        return ""
    files = write(results, scenario, folder, record, brief=was_stopped)
    missing = _written(folder, files, "tables")
    if plots and not missing:
        missing = _written(folder, draw(results, scenario, folder, options.force), "plots")
    if not missing:
        note(folder, [], made)
    return missing


def check_output(path: Path, suffixes: tuple[str, ...], what: str) -> None:
    """Raise if an output of the first run is not writable, before anything runs.

    Raises:
        ScenarioError: If the name has another suffix, or the folder does not exist.
    """
    if path.suffix.lower() not in suffixes:
        raise ScenarioError(f"{path}: {what}; give a name that ends in {suffixes[0]}")
    if not path.parent.is_dir():
        raise ScenarioError(f"{path}: folder {path.parent} does not exist")


def _watched(results: Results, options: StudyOptions) -> None:
    """Write the capture and the logs of the first run, and print which run it is."""
    cell = next((cell for cell in results.cells if cell.first is not None), None)
    if cell is None or cell.first is None:
        return
    point = ", ".join(f"{name} {value}" for name, value in cell.labels.items())
    told = f"run 1 of {point}" if point else "run 1"
    if options.capture is not None:
        packets = cell.first.capture(options.capture, options.snap)
        click.echo(f"wrote {options.capture}: {counted(packets, 'packet')}, {told}", err=True)
    if options.qlog is not None:
        written = cell.first.qlog(options.qlog)
        click.echo(f"wrote {options.qlog}: {written / 1e6:.1f} MB, {told}", err=True)
    if options.perfetto is not None:
        written = cell.first.perfetto(options.perfetto)
        click.echo(f"wrote {options.perfetto}: {counted(written, 'event')}, {told}", err=True)


def further_notes(results: Results, told: bool) -> list[str]:
    """Notes of the runs, each once, without the one that the report has `told`."""
    found = notes(results)
    unsaid = found[1:] if told else found  # the report has the first one
    return [one for one in unsaid if not one.endswith(AS_IT_SAYS)]


def _tell_taken(record: dict[str, Any]) -> None:
    """Print the defaults that were used because the file does not set them."""
    if record["taken"]:
        told = (f"{key} {one['value']} ({one['from']})" for key, one in record["taken"].items())
        click.echo(f"taken: {', '.join(told)}", err=True)


def tell_notes(notes: list[str]) -> None:
    """Print the notes of the runs, one per line."""
    for one in notes:
        click.echo(f"note: {one}", err=True)


def _tell_of_more(
    results: Results, scenario: Scenario, store: Store, options: StudyOptions
) -> None:
    """Print a note if the folder holds runs of the study that this command did not ask for."""
    if options.until is not None:  # --until fixes the number of runs of each cell
        return
    count = len(store.keys)
    there = np.flatnonzero(store.done)
    over = there[there // count >= results.asked()[there % count]]
    if not results.is_large:  # copies of the only run that a cell needs
        over = np.array([at for at in over if not results.cells[at % count].is_exact], np.int64)
    if not len(over):
        return
    runs = int(over.max()) // count + 1
    words = ["clift", "run", scenario.file]
    for key, value in scenario.changes.items():
        if key != "runs":
            words += ["--set", f"{key}={value}"]
    command = shlex.join([*words, "-o", str(store.folder), "--runs", str(runs)])
    click.echo(
        f"note: {store.folder} holds {counted(len(there), 'run')} of this study; its tables have "
        f"{results.done}; all: {command}",
        err=True,
    )


def _written(folder: Path, files: Iterator[Path], what: str) -> str:
    """Write files and name them on stderr; return a message if Ctrl-C left them incomplete."""
    names = []
    try:
        for written in files:
            names.append(written.name)
    except KeyboardInterrupt:
        return f"stopped while writing {what}: {folder} is incomplete"
    finally:
        if names:
            line = printable(f"wrote {what} into {folder}: {', '.join(names)}")
            click.echo(line, err=True)
    return ""


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Name the scenario file in the error of a run that cannot go on."""
    try:
        yield
    except SimulationError as error:
        raise SimulationError(f"{path}: {error}", error.runs) from error


@contextmanager
def stoppable() -> Iterator[None]:
    """Let SIGTERM, which batch systems and containers send, act as Ctrl-C."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    try:
        former = signal.signal(signal.SIGTERM, stop)
    except ValueError:  # only the main thread may set it
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, former)
