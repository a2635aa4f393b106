"""What `clift run` and `clift sweep` share: running a campaign, showing it, filling its folder."""

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
from typing import TYPE_CHECKING, Any

import click

from clift._words import counted
from clift.errors import CliftError, Interrupted, ScenarioError
from clift.scenario import Scenario

if TYPE_CHECKING:
    from clift.campaign import Results
    from clift.campaign.store import Store


@dataclass(frozen=True, slots=True)
class Wishes:
    """How a campaign is to be run and shown.

    Args:
        title: What the bar says.
        output: The results folder, if there is to be one.
        threads: Runs at a time; all cores unless given.
        show: `text`, `json` or `csv`.
        plots: Whether to draw into the folder.
        quiet: Whether to show no bar.
        force: Whether another study's runs are removed, and files that are not ours overwritten.
        until: Half the interval over the mean at which a cell stops.
        scheduler: Address of a Dask scheduler that has the runs done.
        capture: Where the first run is written as pcapng, if it is to be.
        qlog: Where the sender of its first flow logs, if it is to.
        snap: Bytes kept of each packet of a capture.
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
    snap: int = 80


def conduct(scenario: Scenario, wishes: Wishes) -> None:
    """Runs what is missing of a campaign, prints what came out, and fills its folder.

    What is printed comes first, so that a folder that cannot be written costs no results.

    Raises:
        Interrupted: After Ctrl-C or SIGTERM, when what is done is shown and written.
        CliftError: If something cannot be run or written.
    """
    from clift.campaign.folder import refuse_foreign
    from clift.campaign.store import open_store

    with stoppable():
        if wishes.output is None:
            _conduct(scenario, wishes, None)
            return
        with open_store(wishes.output, scenario, wishes.force) as store:
            if not wishes.force:
                refuse_foreign(wishes.output, wishes.plots)
            _conduct(scenario, wishes, store)


def _conduct(scenario: Scenario, wishes: Wishes, store: Store | None) -> None:
    from clift._bar import bar
    from clift.campaign.comma import rows_text
    from clift.campaign.record import TOLD_CELLS, as_dict
    from clift.campaign.runner import planned, run_campaign
    from clift.report.text import report

    failure = None
    results = planned(scenario, scenario.cells())
    wanted = 0 if wishes.quiet else results.wanted
    with bar(wishes.title, wanted) as watch, warnings.catch_warnings():
        # What runs say of themselves is told below, without the place in the code.
        warnings.simplefilter("ignore", UserWarning)
        try:
            run_campaign(
                scenario, watch, wishes.threads, store, wishes.until, results, wishes.scheduler
            )
        except CliftError as error:
            failure = error
    if not results.done:
        if failure is not None:
            raise failure
        raise Interrupted("stopped before a run had finished; nothing was written", [])
    record = as_dict(results, scenario, TOLD_CELLS)
    _tell_taken(record)
    tell_notes(further_notes(results, told=wishes.show == "text"))
    if wishes.show == "csv":
        click.echo(rows_text(results, scenario), nl=False)
    else:
        is_json = wishes.show == "json"
        click.echo(_json(results, scenario, record) if is_json else report(results))
    missing = ""
    if store is not None:
        _tell_of_more(results, scenario, store, wishes)
        with store.deriving():
            was_stopped = failure is None and not results.is_complete
            missing = _fill(results, scenario, store, record, wishes, was_stopped)
    if failure is not None:
        raise failure
    if missing:
        raise Interrupted(missing, [])
    _watched(results, wishes)
    if not results.is_complete:
        raise Interrupted(f"stopped after {results.done} of {counted(results.wanted, 'run')}", [])


def _json(results: Results, scenario: Scenario, record: dict[str, Any]) -> str:
    from clift.campaign.record import TOLD_CELLS, as_dict

    whole = record if len(results.cells) <= TOLD_CELLS else as_dict(results, scenario)
    return json.dumps(whole, indent=2)


def _fill(
    results: Results,
    scenario: Scenario,
    store: Store,
    record: dict[str, Any],
    wishes: Wishes,
    was_stopped: bool,
) -> str:
    """Fills the folder, unless it holds the same already; says what is missing after Ctrl-C.

    There are no plots of runs that were stopped, and only the tables of runs and cells.
    """
    from clift.campaign.caveats import caveats
    from clift.campaign.folder import made_of, note
    from clift.campaign.record import draw, write

    folder = store.folder
    # Whoever stops a study wants an answer; the same command does the rest once the runs are there.
    plots = wishes.plots and not was_stopped
    told = [store.study, record, scenario.text, plots, caveats(results)]
    made = hashlib.sha256(json.dumps(told).encode()).hexdigest()
    if made_of(folder) == made:
        return ""
    files = write(results, scenario, folder, record, brief=was_stopped)
    missing = _written(folder, files, "tables")
    if plots and not missing:
        missing = _written(folder, draw(results, scenario, folder, wishes.force), "plots")
    if not missing:
        try:
            note(folder, [], made)
        except OSError as error:
            raise ScenarioError(f"{folder}: cannot write: {error.strerror or error}") from None
    return missing


def is_capture(path: Path) -> None:
    """Refuses a capture that cannot be written, before anything is run.

    Raises:
        ScenarioError: If its name does not end in .pcapng, or its folder is not there.
    """
    if path.suffix.lower() != ".pcapng":
        raise ScenarioError(
            f"{path}: captures are written as pcapng; give a name that ends in .pcapng"
        )
    if not path.parent.is_dir():
        raise ScenarioError(f"{path}: there is no folder {path.parent}")


def is_log(path: Path) -> None:
    """Refuses a qlog that cannot be written, before anything is run.

    Raises:
        ScenarioError: If its name is another one's, or its folder is not there.
    """
    from clift.simulation import is_qlog

    is_qlog(str(path))
    if not path.parent.is_dir():
        raise ScenarioError(f"{path}: there is no folder {path.parent}")


def _watched(results: Results, wishes: Wishes) -> None:
    """Writes what is to be seen of the first run that there is, and says which."""
    cell = next((cell for cell in results.cells if cell.first is not None), None)
    if cell is None or cell.first is None:
        return
    point = ", ".join(f"{name} {value}" for name, value in cell.labels.items())
    told = f"run 1 of {point}" if point else "run 1"
    if wishes.capture is not None:
        packets = cell.first.capture(wishes.capture, wishes.snap)
        click.echo(f"wrote {wishes.capture}: {counted(packets, 'packet')}, {told}", err=True)
    if wishes.qlog is not None:
        written = cell.first.qlog(wishes.qlog)
        click.echo(f"wrote {wishes.qlog}: {written / 1e6:.1f} MB, {told}", err=True)


def further_notes(results: Results, told: bool) -> list[str]:
    """What runs say of themselves, each once, without what the report has `told`."""
    from clift.campaign.caveats import AS_IT_SAYS, notes

    found = notes(results)
    unsaid = found[1:] if told else found  # the report has the first one
    return [note for note in unsaid if not note.endswith(AS_IT_SAYS)]


def _tell_taken(record: dict[str, Any]) -> None:
    """Says what was taken because the file does not say it."""
    if record["taken"]:
        told = (f"{key} {one['value']} ({one['from']})" for key, one in record["taken"].items())
        click.echo(f"taken: {', '.join(told)}", err=True)


def tell_notes(notes: list[str]) -> None:
    """Says what runs say of themselves, a line each."""
    for note in notes:
        click.echo(f"note: {note}", err=True)


def _tell_of_more(results: Results, scenario: Scenario, store: Store, wishes: Wishes) -> None:
    """Says where a folder holds runs that this command did not ask for: the tables lack them."""
    import numpy as np

    if wishes.until is not None:  # cells stop where they are sure enough, whatever is there
        return
    count = len(store.keys)
    there = np.flatnonzero(store.done)
    over = there[there // count >= results.asked()[there % count]]
    if not len(over):
        return
    runs = int(over.max()) // count + 1
    words = ["clift", "sweep", scenario.file]
    for key, value in scenario.changes.items():
        if key != "runs":
            words += ["--set", f"{key}={value}"]
    command = shlex.join([*words, "-o", str(store.folder), "--runs", str(runs)])
    click.echo(
        f"note: {store.folder} holds {counted(len(there), 'run')} of this study; its tables are of "
        f"{results.done} now; all: {command}",
        err=True,
    )


def _written(folder: Path, files: Iterator[Path], what: str) -> str:
    """Writes files and names each on stderr; what is missing after Ctrl-C."""
    try:
        for written in files:
            click.echo(f"wrote {written}", err=True)
    except KeyboardInterrupt:
        return f"stopped while {what} were written: {folder} lacks some"
    return ""


@contextmanager
def stoppable() -> Iterator[None]:
    """Has SIGTERM, which batch systems and containers send, do what Ctrl-C does."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    try:
        former = signal.signal(signal.SIGTERM, stop)
    except ValueError:  # only the main thread may
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, former)
