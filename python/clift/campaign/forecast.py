"""Missing runs of a study, and an estimate of their time."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from clift._words import counted
from clift.campaign.identity import cell_keys, study_key
from clift.campaign.plan import Plan
from clift.campaign.store import read_store
from clift.campaign.work import Worker
from clift.scenario import Scenario

# How long runs are tried for a forecast, and how long a batch is.
_TRIED_S, _BATCH_S = 1.0, 0.1
# Columns for the labels of an axis and its name.
_WIDTH = 80


@dataclass(frozen=True, slots=True)
class Forecast:
    """Missing runs of a study.

    Args:
        axes: What varies: names and labels.
        cells: Its cells.
        runs: Its runs.
        there: Runs that the folder has.
        missing: Runs that it has not.
        files: Files of finished batches in the folder.
        batches: Batches to come, about.
        seconds: How long the missing runs take, about.
        tried: Runs that were done to tell, and not kept.
        of_another: Whether the folder holds another study's runs.
    """

    axes: list[tuple[str, list[str]]]
    cells: int
    runs: int
    there: int
    missing: int
    files: int
    batches: int
    seconds: float
    tried: int
    of_another: bool

    def as_dict(self) -> dict[str, Any]:
        """Output of `clift run --dry-run --json`."""
        return asdict(self)

    def lines(self) -> list[str]:
        """The same as text."""
        told = [
            f"axis     {name}: {_listed(labels, _WIDTH - len(name))}" for name, labels in self.axes
        ]
        told += [
            f"cells    {self.cells}",
            f"runs     {self.runs}: {self.there} there, {self.missing} missing",
            f"batches  {self.files} there, about {self.batches} missing",
            f"time     about {_duration(self.seconds)} (from {counted(self.tried, 'run')} tried)",
        ]
        if self.of_another:
            told.append("it holds another study's runs: choose another folder, or give --force")
        return told


def forecast(scenario: Scenario, folder: Path, threads: int | None = None) -> Forecast:
    """Counts the finished runs of a study in a folder, and times some missing runs for a second.

    Args:
        scenario: The study.
        folder: The results folder, which need not be there.
        threads: How many runs at a time; all cores unless given.

    Raises:
        ScenarioError: If the scenario is wrong or the folder is damaged.
        SimulationError: If a run that is tried cannot go on.
    """
    cells = scenario.cells()
    store = read_store(folder)
    of_another = store is not None and store.study != study_key(cell_keys(scenario))
    ours = None if of_another else store
    sizes = scenario.sizes
    plan = Plan(sizes, ours)
    missing = plan.missing
    mean, tried = _pace(cells) if missing else (0.0, 0)
    count = threads or len(os.sched_getaffinity(0))
    seconds = missing * mean / min(count, max(1, missing))
    batches = min(missing, max(1, round(missing * mean / _BATCH_S))) if missing else 0
    wanted = sum(sizes)
    files = 0 if ours is None else ours.files
    if store is not None:
        store.close()
    known = (scenario.axes, len(cells), wanted, wanted - missing, missing)
    return Forecast(*known, files, batches, seconds, tried, of_another)


def _pace(cells: Sequence[Scenario]) -> tuple[float, int]:
    """Mean seconds of runs of cells that are far from one another."""
    worker = Worker(cells, threading.Event())
    begun, tried = monotonic(), 0
    stride = max(1, len(cells) // 20)
    for cell in range(0, len(cells), stride):
        batch = worker.run([(cell, cell + 1)])
        if batch.failure is not None:
            raise batch.failure
        tried += 1
        if monotonic() - begun > _TRIED_S:
            break
    return (monotonic() - begun) / tried, tried


def _listed(labels: list[str], room: int) -> str:
    """Labels in a line, of many the first ones and the last.

    Example:
        >>> _listed(["a", "b"], 40), _listed([str(n) for n in range(99)], 40)
        ('a | b', '0 | 1 | 2 | 3 | 4 | ... | 98 (99 points)')
    """
    whole = " | ".join(labels)
    if len(whole) <= room:
        return whole
    told, end = "", f"... | {labels[-1]} ({counted(len(labels), 'point')})"
    for label in labels:
        if len(told) + len(label) + 3 + len(end) > room:
            break
        told += f"{label} | "
    return told + end


def _duration(seconds: float) -> str:
    """A time as one reads it.

    Example:
        >>> _duration(0.2), _duration(75), _duration(7300)
        ('1 s', '1 min 15 s', '2 h 1 min')
    """
    whole = max(1, round(seconds)) if seconds else 0
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
