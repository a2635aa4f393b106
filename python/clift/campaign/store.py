"""The finished runs of a study in its results folder, which several processes may fill."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any, Self

import numpy as np
import pyarrow as pa

from clift._arrays import Flags, Floats
from clift._clift import __version__
from clift._words import counted
from clift.campaign import parts
from clift.campaign.files import (
    make_folder,
    read_file,
    results_in,
    said,
    sweep,
    sync,
    unlink,
    write_file,
)
from clift.campaign.identity import Files, cell_keys, file_hashes, study_key
from clift.campaign.locks import Locks
from clift.campaign.metrics import measured_by
from clift.campaign.parts import DamagedFileError, Row, Span
from clift.errors import ChangedFileError, ScenarioError
from clift.scenario import Scenario
from clift.simulation import Run, simulate

FOLDER = "store"
"""The folder in a results folder that holds finished runs."""
MOST_RUNS = 100_000_000
"""Most runs of a study: which are there is kept in memory, a byte a run."""

_LOG = logging.getLogger("clift")
_FORMAT = 2
_STUDY = "study.json"
_RUNS = "runs"
# What the bytes of the file of locks stand for: the study, its tables, and behind them its runs.
_OF_STUDY, _OF_TABLES, _OF_RUNS = 0, 1, 1 << 20
# How long a listing is good for where nobody else is seen to work.
_GOOD_FOR_S = 1.0


class Store:
    """The finished runs of one study. `open_store` makes it; `with` closes it.

    Attributes:
        folder: The results folder.
        study: The key of the study.
        keys: The keys of its cells, in order.
    """

    def __init__(
        self, folder: Path, keys: list[str], locks: Locks, inputs: Files | None = None
    ) -> None:
        self.folder = folder
        self.keys = keys
        self._inputs = inputs
        self.study = study_key(keys)
        self._runs = folder / FOLDER / _RUNS
        self._locks = locks
        self._guard = threading.Lock()
        self._names: set[str] = set()
        self._done: Flags = np.zeros(0, np.bool_)
        self._listed = 0.0

    @property
    def files(self) -> int:
        """Files of finished runs."""
        return len(_files_of(self._names, self.study))

    @property
    def done(self) -> Flags:
        """Whether each run is there, by its place; runs behind the end are not."""
        return self._done

    def list(self) -> None:
        """Looks which runs are there."""
        with self._guard:
            try:
                names = {path.name for path in self._runs.iterdir()}
            except FileNotFoundError:
                names = set()
            except OSError as error:
                raise ScenarioError(f"{self._runs}: {said(error)}; {_CURE}") from None
            if self._names - names:  # somebody has removed files: begin again
                self._names, self._done = set(), np.zeros(0, np.bool_)
            for name in names - self._names:
                self._count(name)
            self._listed = monotonic()

    def _count(self, name: str) -> None:
        self._names.add(name)
        for first, end in parts.spans_of(name, self.study) or ():
            if end > MOST_RUNS:
                continue
            if end > len(self._done):
                more = np.zeros(max(end, 2 * len(self._done)) - len(self._done), np.bool_)
                self._done = np.concatenate([self._done, more])
            self._done[first:end] = True

    def is_done(self, count: int) -> Flags:
        """Whether each of the first places has a run that is there."""
        found = np.zeros(count, np.bool_)
        there = self._done[:count]
        found[: len(there)] = there
        return found

    def claim(self, first: int, end: int) -> Span | None:
        """Takes places for this process; if somebody else has any, where those are.

        What is claimed may be done by now: `list` tells, if `is_fresh` does not.
        """
        if self._locks.take(_OF_RUNS + first, end - first):
            return None
        held = self._locks.held(_OF_RUNS + first, end - first)
        if held is None:  # let go between the two calls
            return (first, first + 1)
        return max(first, held[0] - _OF_RUNS), min(end, held[1] - _OF_RUNS)

    def let_go(self, first: int, end: int) -> None:
        """Others may take the places."""
        self._locks.drop(_OF_RUNS + first, end - first)

    def is_fresh(self) -> bool:
        """Whether the last listing holds, as nobody else works here and it is not old."""
        alone = self._locks.held(_OF_STUDY, 1) is None
        return alone and monotonic() - self._listed < _GOOD_FOR_S

    def check_inputs(self) -> None:
        """Looks whether the files that the study names are those in the keys of its cells.

        Runs read them when they need them, which may be hours after the keys were made.

        Raises:
            ChangedFileError: If one has changed, so that runs since the last look may be wrong.
        """
        changed = None if self._inputs is None else self._inputs.changed()
        if changed is not None:
            raise ChangedFileError(
                f"{changed}: changed or was removed while the study ran; its last runs are not "
                f"kept; put the file back and run it again, or {_CURE}"
            )

    def write(self, table: pa.Table) -> str:
        """Puts finished runs on the disk.

        Args:
            table: As `parts.table` makes it.

        Returns:
            The name of the file.

        Raises:
            OSError: If they cannot be written.
        """
        count = len(self.keys)
        places = table.column("run").to_numpy() * count + table.column("cell").to_numpy()
        content = parts.content(table, self.keys)
        name = parts.file_name(self.study, parts.spans(sorted(places.tolist())), content)
        write_file(self._runs / name, lambda out: out.write(content), beside=self.folder / FOLDER)
        with self._guard:
            self._count(name)
        return name

    def keep(self, rows: Sequence[Row], columns: Mapping[str, Floats] | None = None) -> str:
        """As `write`, of rows, and with an error that says what to do.

        Raises:
            ScenarioError: If they cannot be written.
        """
        try:
            return self.write(parts.table(rows, columns))
        except OSError as error:
            cure = "make room and run it again: what is there is kept"
            message = f"{self.folder}: cannot write finished runs: {said(error)}; {cure}"
            raise ScenarioError(message) from None

    def tables(self, but: Container[str] = ()) -> Iterator[tuple[str, pa.Table]]:
        """The finished runs, file by file; a run may be in two files, and is the same in both.

        Args:
            but: The names of files that are left out.
        """
        self.list()
        for name in _files_of(self._names, self.study):
            if name not in but:
                yield name, self.read(self._runs / name)

    def read(self, path: Path) -> pa.Table:
        """The runs of one file.

        Raises:
            ScenarioError: If it is damaged or cannot be read.
        """
        return parts.read(path, self.study, self.keys)

    def drop_damaged(self) -> None:
        """Removes damaged files, so that their runs are done again.

        Raises:
            OSError: If one cannot be removed.
            ScenarioError: If one cannot be read.
        """
        damaged = _damaged(self._runs, _files_of(self._names, self.study), parts.whole)
        for path, what in damaged.items():
            _LOG.warning("%s", what.replace("run the study again: it repeats", "repeating"))
            with suppress(FileNotFoundError):  # another process of the study was faster
                unlink(path)
        if damaged:
            sync(self._runs)
            self.list()

    def find(self, place: int) -> Mapping[str, float] | None:
        """What the run at a place measured; None if it is not there."""
        for name in sorted(self._names):
            spans = parts.spans_of(name, self.study) or ()
            if any(first <= place < end for first, end in spans):
                table = self.read(self._runs / name)
                run, cell = divmod(place, len(self.keys))
                own = (table["run"].to_numpy() == run) & (table["cell"].to_numpy() == cell)
                return next(parts.rows(table.filter(own))).values
        return None

    def repeat(self, first: Scenario, of_link: bool = True) -> Run | None:
        """Does the first run again, which has to come out as it did; None if it is not there.

        The version of CLIFT is part of what a run is known by; a build of another state of its
        source has the same.

        Args:
            first: The first cell.
            of_link: As of `measured_by`.

        Raises:
            ScenarioError: If it comes out otherwise.
        """
        if (found := self.find(0)) is None:
            return None
        run = simulate(first.replication(0))
        if measured_by(run, of_link) != found:
            raise ScenarioError(
                f"{self.folder}: its runs are of another build of CLIFT, and come out otherwise; "
                "choose another folder, or remove this one"
            )
        return run

    @contextmanager
    def deriving(self) -> Iterator[None]:
        """Keeps other processes from writing tables and plots in the block."""
        self._locks.wait(_OF_TABLES, 1, tell=_waiting(self.folder, "writes its tables and plots"))
        try:
            yield
        finally:
            self._locks.drop(_OF_TABLES, 1)

    def tell_of_others(self) -> None:
        """Says which processes have claimed the runs that are waited for."""
        _waiting(self.folder, "does the missing runs")(self._locks.holders(_OF_RUNS, MOST_RUNS))

    def close(self) -> None:
        """Lets the folder go."""
        self._locks.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_CURE = "choose another folder"


def _waiting(folder: Path, does: str) -> Callable[[list[int]], None]:
    """Logs for which processes this one waits, and what those do."""

    def tell(holders: list[int]) -> None:
        ids = " and ".join(map(str, holders))
        whom = f"process {ids}" if ids else "a process that this user cannot see"
        _LOG.warning("%s: waiting for %s, which %s", folder, whom, does)

    return tell


def open_store(folder: Path, scenario: Scenario, force: bool = False) -> Store:
    """Opens the folder of a study, or makes it.

    Runs that are there are kept, also those of a study that this one extends: by more runs, or
    by further cells.

    Args:
        folder: The results folder.
        scenario: The study.
        force: Whether runs of another study are removed, and files that are not ours overwritten.

    Raises:
        ScenarioError: If the folder cannot be written, it is new and the first run cannot be made,
            another study's process is at work in it, or, unless `force`, it holds runs of another
            study or files that are not ours.
    """
    inputs = Files(scenario)
    keys, hashes = cell_keys(scenario, inputs), file_hashes(scenario, inputs)
    inner = folder / FOLDER
    if not inner.exists():
        scenario.cells()[0].replication(0).setup()  # what cannot run leaves no folder
    with results_in(folder):
        make_folder(inner / _RUNS)
        locks = Locks(inner / "lock")
        store = Store(folder, keys, locks, inputs)
        try:
            _enter(store, locks, hashes, force)
            sweep(inner)
            sweep(folder)
            store.list()
            store.drop_damaged()
        except BaseException:
            store.close()
            raise
    return store


def read_store(folder: Path) -> Store | None:
    """The runs of the study that a folder holds; None if it holds none. Nothing is written.

    Raises:
        ScenarioError: If the folder is damaged.
    """
    study = _study(folder / FOLDER)
    if study is None:
        return None
    store = Store(folder, study["cells"], Locks(None))
    store.list()
    return store


def verify(folder: Path) -> tuple[int, dict[Path, str]]:
    """Checks the files of finished runs in a results folder of any study.

    Returns:
        How many files there are, and the damaged ones, each with what is wrong.
    """
    inner = folder / FOLDER
    found: dict[Path, str] = {}
    try:
        study = _study(inner)
    except ScenarioError as error:
        study, found = None, {inner / _STUDY: str(error)}
    if study is None:
        check: Callable[[Path], object] = parts.whole
    else:
        check = partial(parts.read, study=study["study"], keys=study["cells"])
    names = []
    for path in sorted((inner / _RUNS).glob(f"*{parts.SUFFIX}")):
        whose = path.name.partition(".")[0] if study is None else study["study"]
        if parts.spans_of(path.name, whose) is None:
            _LOG.warning("%s: not a file of this study; its content does not count", path)
        else:
            names.append(path.name)
    found |= _damaged(inner / _RUNS, names, check)
    return len(names) + (inner / _STUDY).exists(), found


def missing(folder: Path, runs: int) -> dict[Path, str]:
    """What lacks in a results folder whose other files are whole.

    Args:
        folder: The results folder.
        runs: How many runs its study has done.

    Returns:
        The folder of finished runs, or the name of the study, with what lacks.
    """
    store = read_store(folder)
    if store is None:
        return {folder / FOLDER / _STUDY: "is missing"}
    with store:
        lacking = runs - int(store.done.sum())
    return (
        {folder / FOLDER / _RUNS: f"lacks {counted(lacking, 'finished run')}"}
        if lacking > 0
        else {}
    )


def _files_of(names: Iterable[str], study: str) -> list[str]:
    """The names of files with runs of a study, in order."""
    return sorted(name for name in names if parts.spans_of(name, study) is not None)


def _damaged(runs: Path, names: Iterable[str], check: Callable[[Path], object]) -> dict[Path, str]:
    found = {}
    for name in names:
        try:
            check(runs / name)
        except DamagedFileError as error:
            found[runs / name] = str(error)
    return found


def _enter(store: Store, locks: Locks, hashes: dict[str, str], force: bool) -> None:
    """Makes the folder the study's, and holds it for as long as the process lives."""
    inner = store.folder / FOLDER
    while True:
        if locks.take(_OF_STUDY, 1):
            former = _former(store, inner)
            if former is None or former["study"] != store.study:
                _take_over(store, inner, former, hashes, force)
        # Another process of the study may have the folder as well; one of another may not.
        if not locks.take(_OF_STUDY, 1, shared=True):
            tell = _waiting(store.folder, "changes the study of this folder")
            locks.wait(_OF_STUDY, 1, shared=True, tell=tell)
        former = _study(inner)
        if former is not None and former["study"] == store.study:
            return
        if locks.held(_OF_STUDY, 1) is not None:
            raise ScenarioError(
                f"{store.folder}: another study is being run in this folder; {_CURE}, or wait"
            )
        locks.drop(_OF_STUDY, 1)


def _former(store: Store, inner: Path) -> dict[str, Any] | None:
    """The study of a folder; None if it is to be written because all runs are of this study."""
    try:
        return _study(inner)
    except ScenarioError:
        runs = (inner / _RUNS).iterdir()
        if all(parts.spans_of(path.name, store.study) is not None for path in runs):
            return None
        raise


def _study(inner: Path) -> dict[str, Any] | None:
    path = inner / _STUDY
    try:
        study: dict[str, Any] = json.loads(read_file(path))
        if study["format"] != _FORMAT or study["study"] != study_key(study["cells"]):
            raise ValueError
    except FileNotFoundError:
        return None
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        cure = f"{_CURE}, or remove {inner}"
        raise ScenarioError(f"{path}: not of this version of CLIFT, or damaged; {cure}") from None
    return study


def _take_over(
    store: Store,
    inner: Path,
    former: dict[str, Any] | None,
    hashes: dict[str, str],
    force: bool,
) -> None:
    """Keeps the runs of the former study that are this one's too, and writes this one's name."""
    runs = inner / _RUNS
    names = (
        [] if former is None else _files_of((path.name for path in runs.iterdir()), former["study"])
    )
    old = [runs / name for name in names]
    cells: dict[str, list[int]] = {}
    for cell, key in enumerate(store.keys):
        cells.setdefault(key, []).append(cell)
    if former is not None and not force:
        lost = _lost(former, old, cells)
        if lost:
            version = former.get("clift")
            of = f" (of CLIFT {version})" if version != __version__ else ""
            of += _swapped(former.get("files"), hashes)
            raise ScenarioError(
                f"{store.folder}: holds {counted(lost, 'run')} of another study{of}; {_CURE}, "
                f"or give --force to remove {'it' if lost == 1 else 'them'}"
            )
    for path in old:
        assert former is not None
        try:
            table = parts.read(path, former["study"], former["cells"])
        except DamagedFileError as error:  # its runs are done again
            _LOG.warning("%s", error)
            continue
        for kept in _carried(table, cells, len(store.keys)):
            store.write(kept)
    text = {
        "format": _FORMAT,
        "clift": __version__,
        "study": store.study,
        "cells": store.keys,
        "files": hashes,
    }
    content = json.dumps(text).encode()
    write_file(inner / _STUDY, lambda out: out.write(content))
    for path in old:
        with suppress(OSError):
            unlink(path)
    sync(runs)


def _swapped(former: Any, hashes: dict[str, str]) -> str:
    """Names the files that held something else when the folder's runs were done."""
    before = former if isinstance(former, dict) else {}
    found = [
        f"{name} has changed (SHA-256 {str(before[name])[:12]}..., now {now[:12]}...)"
        for name, now in hashes.items()
        if name in before and before[name] != now
    ]
    return f": {', '.join(found)}" if found else ""


def _lost(former: dict[str, Any], old: Sequence[Path], cells: dict[str, list[int]]) -> int:
    """How many runs of cells are there that the new study does not have."""
    keys = former["cells"]
    gone = np.array([key not in cells for key in keys], np.bool_)
    if not gone.any():
        return 0
    places: set[int] = set()
    for path in old:
        for first, end in parts.spans_of(path.name, former["study"]) or ():
            places.update(place for place in range(first, end) if gone[place % len(keys)])
    return len(places)


def _carried(table: pa.Table, cells: dict[str, list[int]], count: int) -> Iterator[pa.Table]:
    """Runs of cells that are in the new study too, with those cells' numbers."""
    keys = table.column("cell_key").to_pylist()
    plain = table.drop_columns(["cell_key"])
    for copy in range(max((len(cells.get(key, ())) for key in keys), default=0)):
        kept = [row for row, key in enumerate(keys) if len(cells.get(key, ())) > copy]
        numbers = pa.array([cells[keys[row]][copy] for row in kept], pa.int64())
        moved = plain.take(kept).set_column(0, "cell", numbers)
        moved = moved.sort_by([("run", "ascending"), ("cell", "ascending")])
        places = moved.column("run").to_numpy() * count + moved.column("cell").to_numpy()
        first = 0
        for group in parts.cut(places.tolist(), len(places)):
            rows = sum(end - begin for begin, end in group)
            yield moved.slice(first, rows)
            first += rows
