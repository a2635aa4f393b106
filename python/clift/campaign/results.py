"""What a campaign measured, cell by cell, beside what a paper prints."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np

from clift._arrays import Ints
from clift._parse import MARGIN
from clift.campaign.cells import Cells
from clift.campaign.metrics import judged_by, metric
from clift.campaign.runs import Runs
from clift.campaign.segments import Segments, segments
from clift.campaign.statistics import FEWEST_OF_TIMES, Estimate, estimate, estimates
from clift.campaign.values import Values, Window, independent
from clift.scenario import Scenario
from clift.simulation import Run, simulate

# Figures of a run's delays that its few slowest packets decide.
_TAILS = frozenset(["p95", "p99", "max"])
# Metrics that may be below zero.
_SIGNED = frozenset(["rating", "video_quality_kbps"])
# Numbers whose estimates are made together: of a million runs a few metrics, for their memory.
_TOGETHER = 1 << 22
_SAYS_LITTLE = re.compile(r"[-+.\de%]*|true|false", re.IGNORECASE)


# Time series, delays and notes are of the first run of each cell, of the first cells only.
DRAWN_CELLS = 48


@dataclass(slots=True)
class Cell:
    """One cell of a campaign.

    Args:
        labels: Axis and label.
        is_transfer: Whether every flow ends: a file, a page, a number of requests.
        wanted: Runs asked for.
        values: For each finished run, by its number, what it measured.
        shared: What all runs have in common where each could have its own: a trace, or one draw of
            a channel.
        scenario: The cell's scenario, by which its first run is done again for plots.
        is_exact: Whether nothing is drawn: every further run would repeat the first.
    """

    labels: dict[str, str]
    is_transfer: bool
    wanted: int
    values: Values = field(default_factory=Values)
    shared: str | None = None
    scenario: Scenario | None = None
    is_exact: bool = False
    _arrives: bool | None = field(default=None, repr=False)
    _first: Run | None = field(default=None, repr=False)
    _first_of: int = field(default=0, repr=False)
    _known: dict[str, Estimate] = field(default_factory=dict, repr=False)
    _known_of: int = field(default=0, repr=False)

    @property
    def primary(self) -> str:
        """The metric that the cell is judged by."""
        return judged_by(self.values.measures, self.is_transfer, self.arrives)

    @property
    def arrives(self) -> bool:
        """Whether flows that end begin at drawn or listed times."""
        if self._arrives is None:
            flows = self.scenario.config["flow"] if self.is_transfer and self.scenario else ()
            self._arrives = any(flow["arrivals"] for flow in flows)
        return self._arrives

    @property
    def windows(self) -> dict[int, Window]:
        """For each finished run where it starts in what is shared, if it starts at random."""
        return self.values.windows()

    @property
    def first(self) -> Run | None:
        """The first finished run, for plots: done again, once. None if none is finished."""
        if self.scenario is None or not self.values:
            return None
        number = next(iter(self.values))
        if self._first is None or self._first_of != number:
            self._first_of = number
            with warnings.catch_warnings():
                # The notes of runs are printed elsewhere.
                warnings.simplefilter("ignore", UserWarning)
                self._first = simulate(self.scenario.replication(number))
        return self._first

    def keep_first(self, run: Run) -> None:
        """Takes the first run, which is then not done again."""
        self._first, self._first_of = run, 0

    def name(self, axis: str) -> str:
        """Name of the cell on an axis; an ambiguous label has its axis before it.

        Example:
            >>> cell = Cell({"scheme": "ARQ", "n": "12", "sack": "false"}, False, 1)
            >>> [cell.name(axis) for axis in cell.labels]
            ['ARQ', 'n = 12', 'sack = false']
        """
        return label_name(axis, self.labels[axis])

    def column(self, metric: str) -> dict[int, float]:
        """The metric by number of the run, of the runs that have it."""
        return self.values.column(metric)

    def estimate(self, metric: str) -> Estimate | None:
        """Mean and interval over the runs that have the metric."""
        self._forget()
        if metric not in self._known:
            column = self.values.array(metric)
            there = column[~np.isnan(column)]
            worth_of = self.independent(self.column(metric)) if self.shared else None
            found = estimate(there, worth_of)
            if found is None:
                return None
            self._known[metric] = _told(metric, found)
        return self._known[metric]

    def mean(self, metric: str) -> float | None:
        """Mean over the runs that have the metric; None if none has."""
        found = self.estimate(metric)
        return None if found is None else found.mean

    def estimates(self) -> dict[str, Estimate]:
        """The estimate of every metric that a run has, by name: all at once is much faster."""
        self._forget()
        names = self.values.metrics()
        wanted = [name for name in names if name not in self._known]
        together = max(1, _TOGETHER // max(1, len(self.values)))
        for first in range(0, len(wanted), together):
            columns = {name: self.values.array(name) for name in wanted[first : first + together]}
            whole = {name: one for name, one in columns.items() if not np.isnan(one).any()}
            if whole:
                table = np.array(list(whole.values()), np.float64).T
                found = estimates(table, self.independent(self.values))
                self._known.update(
                    (name, _told(name, one)) for name, one in zip(whole, found, strict=True)
                )
        return {name: one for name in names if (one := self.estimate(name)) is not None}

    def independent(self, runs: Iterable[int]) -> float | None:
        """How many independent runs these are worth; None if as many as there are."""
        known = self.windows
        windows = [known[run] for run in runs if run in known] if known else []
        if not windows:
            return 1.0 if self.repeats() else None
        return independent(windows)

    def repeats(self) -> bool:
        """Whether the runs are copies: they share a trace and its part, and measured the same."""
        if self.shared is None or len(self.values) < 2 or not self.values.are_alike():
            return False
        return len({window.start_s for window in self.windows.values()}) < 2

    def forget(self) -> None:
        """Lets go of the estimates, which are made again when they are asked for."""
        self._known.clear()

    def _forget(self) -> None:
        """What was estimated of fewer runs is no longer known."""
        if self._known_of != len(self.values):
            self._known.clear()
            self._known_of = len(self.values)


def label_name(axis: str, label: str) -> str:
    """Name of a label for places without the name of its axis.

    Example:
        >>> label_name("scheme", "ARQ"), label_name("n", "12")
        ('ARQ', 'n = 12')
    """
    return f"{axis} = {label}" if _SAYS_LITTLE.fullmatch(label) else label


def _told(metric: str, found: Estimate) -> Estimate:
    """Without an interval of the mean where rare packets or rare runs carry it.

    One run in hundreds can carry the mean of the longest delay, and one in twenty, with its
    timeout, that of a completion time. No interval from fewer runs covers these means; the median
    over the runs, with its interval, is there instead. Student's interval of few runs may reach
    below zero, where no mean of most metrics can be.

    Example:
        >>> _told("goodput_kbps", Estimate(10.0, 15.0, 3, -5.0, 25.0)).reach
        (10.0, 15.0)
    """
    name = metric.rpartition(".")[2]
    if name in _TAILS or found.runs < fewest(metric):
        return replace(found, half_width=None, low=None, high=None)
    if name in _SIGNED or found.low is None or found.high is None or found.low >= 0:
        return found
    return replace(found, half_width=found.high / 2, low=0.0)


@cache
def fewest(name: str) -> int:
    """Runs from which on its mean, and the difference of two of its means, have an interval.

    A single loss can add seconds to how long a task takes, so times need more runs.

    Example:
        >>> fewest("flows.0.completion_acked_s"), fewest("goodput_kbps")
        (50, 2)
    """
    shown = metric(name)
    return FEWEST_OF_TIMES if (shown.unit, shown.better) == ("s", "less") else 2


@dataclass(frozen=True, slots=True)
class Comparison:
    """A printed value and what was measured.

    Args:
        cell: Index of the cell.
        metric: Name of the metric.
        printed: The value as printed.
        source: Where.
        measured: What was measured, if anything.
    """

    cell: int
    metric: str
    printed: float
    source: str | None
    measured: Estimate | None

    @property
    def difference(self) -> float | None:
        """Measured over printed, less one."""
        if self.measured is None or self.printed == 0:
            return None
        return self.measured.mean / self.printed - 1


@dataclass(slots=True)
class Results:
    """What a campaign measured.

    Args:
        title: The scenario's name, or its file's.
        seed: Seed of the campaign.
        axes: Names and labels, in the order of the file.
        cells: The cells.
        printed: Values that a paper prints, as the file has them.
        conditions: Axes whose points one meets (a channel, a load) rather than chooses.
        table: Takes the runs of all cells.
        loaded: Files of a store of which it has every run.
        margin: Share within which alternatives are called equal.
        compare: Axes whose combinations are the alternatives; all that are not given if empty.
    """

    title: str
    seed: int
    axes: list[tuple[str, list[str]]]
    cells: Sequence[Cell]
    printed: list[dict[str, Any]]
    conditions: frozenset[str] = frozenset()
    table: Runs = field(default_factory=Runs, repr=False)
    loaded: set[str] = field(default_factory=set, repr=False)
    margin: float = MARGIN
    compare: tuple[str, ...] = ()
    _segments: dict[int, Segments] = field(default_factory=dict, repr=False)

    @property
    def drawn(self) -> list[Cell]:
        """The first cells, of whose first runs there are time series and plots."""
        return list(self.cells[:DRAWN_CELLS])

    @property
    def is_large(self) -> bool:
        """Whether there are too many cells to show all."""
        return isinstance(self.cells, Cells)

    def shown(self, most: int) -> Results:
        """The same with its first cells, if there are so many that not all are shown.

        Args:
            most: How many.
        """
        return replace(self, cells=self.cells[:most]) if self.is_large else self

    def labels(self, cell: int) -> dict[str, str]:
        """The labels of a cell."""
        if isinstance(self.cells, Cells):
            return self.cells.labels(cell)
        return self.cells[cell].labels

    def asked(self) -> Ints:
        """For each cell how many runs are asked for."""
        if isinstance(self.cells, Cells):
            return self.cells.wanted.copy()
        return np.array([cell.wanted for cell in self.cells], np.int64)

    def ask(self, cell: int, runs: int) -> None:
        """Asks for a number of runs of a cell."""
        if isinstance(self.cells, Cells):
            self.cells.wanted[cell] = runs
        else:
            self.cells[cell].wanted = runs

    def counts(self) -> Ints:
        """For each cell how many runs are finished."""
        if isinstance(self.cells, Cells):
            return self.cells.runs.counts(len(self.cells))
        return np.array([len(cell.values) for cell in self.cells], np.int64)

    def places(self) -> Ints:
        """The finished runs in the table: the number of each times the cells, and its cell."""
        return self.table.numbers() * len(self.cells) + self.table.cells()

    @property
    def done(self) -> int:
        """Runs finished."""
        return int(self.counts().sum())

    @property
    def wanted(self) -> int:
        """Runs asked for."""
        return int(self.asked().sum())

    @property
    def is_complete(self) -> bool:
        """Whether every run is finished."""
        return self.done == self.wanted

    def segments(self, cell: int) -> Segments | None:
        """The fates of the segments in the first run of a cell; None before it is finished.

        The run is done again for it, once for all tables and plots.
        """
        first = self.cells[cell].first
        if first is None:
            return None
        if cell not in self._segments:
            self._segments[cell] = segments(first)
        return self._segments[cell]

    def comparisons(self) -> list[Comparison]:
        """Printed values with what was measured, in the order of the file and of the cells."""
        return [
            Comparison(
                index,
                value["metric"],
                value["value"],
                value["source"],
                cell.estimate(value["metric"]),
            )
            for value in self.printed
            for index, cell in enumerate(self.cells)
            if value["where"].items() <= cell.labels.items()
        ]
