"""What the runs of a cell measured, as a mapping over the table of its study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Self

import numpy as np

from clift._arrays import Floats
from clift.campaign.metrics import in_order
from clift.campaign.runs import WINDOW, Runs
from clift.campaign.statistics import worth


class Window(NamedTuple):
    """Where a run starts in the trace that it shares with others.

    Args:
        start_s: Trace time of the start.
        length_s: Length of the trace.
        wraps: Whether the trace repeats.
        lasts_s: How long the run lasts.
    """

    start_s: float
    length_s: float
    wraps: bool
    lasts_s: float


def independent(windows: Sequence[Window]) -> float:
    """How many independent runs those with these windows, at least one, are worth."""
    period = windows[0].length_s if windows[0].wraps else None
    return worth([one.start_s for one in windows], [one.lasts_s for one in windows], period)


class Values(Mapping[int, dict[str, float]]):
    """For each finished run of a cell, by its number, what it measured.

    Args:
        runs: Runs of a cell that is in no study.

    Example:
        >>> values = Values()
        >>> values[1] = {"goodput_kbps": 250.0}
        >>> values[0] = {"goodput_kbps": 240.0, "completion_s": 2.0}
        >>> values[1], list(values), values.column("completion_s")
        ({'goodput_kbps': 250.0}, [0, 1], {0: 2.0})
    """

    __slots__ = ("_cell", "_runs")

    def __init__(self, runs: Mapping[int, Mapping[str, float]] | None = None) -> None:
        self._runs, self._cell = Runs(), 0
        if runs:
            self._runs.add(0, list(runs), list(runs.values()))

    @classmethod
    def of(cls, runs: Runs, cell: int) -> Self:
        """Those of a cell in the table of a study."""
        made = cls.__new__(cls)
        made._runs, made._cell = runs, cell
        return made

    def __setitem__(self, run: int, found: Mapping[str, float]) -> None:
        """Takes what a run measured; a run that is there already is the same, and stays.

        Args:
            run: Its number.
            found: Numbers by metric; none of them is NaN.
        """
        self._runs.add(self._cell, [run], [found])

    @property
    def names(self) -> list[str]:
        """What a run of the study measured."""
        return self._runs.names

    def measures(self, name: str) -> bool:
        """Whether a run measured it.

        Args:
            name: A metric.

        Example:
            >>> values = Values({0: {"mos": 4.1}})
            >>> values.measures("mos"), values.measures("page_load_s")
            (True, False)
        """
        return self._runs.measures(name, *self._bounds())

    def metrics(self) -> list[str]:
        """What any run measured, in the order of the catalogue."""
        return in_order(filter(self.measures, self._runs.names))

    def array(self, metric: str) -> Floats:
        """A metric of all runs in the order of their numbers; NaN where a run has none."""
        return self._runs.array(metric, *self._bounds())

    def column(self, metric: str) -> dict[int, float]:
        """The metric by number of the run, of the runs that have it."""
        column = self.array(metric)
        there = ~np.isnan(column)
        numbers = self._runs.numbers(*self._bounds())
        return dict(zip(numbers[there].tolist(), column[there].tolist(), strict=True))

    def are_alike(self) -> bool:
        """Whether all runs measured the same, to the last number."""
        for name in self._runs.names:
            column = self.array(name)
            if not ((column == column[0]) | (np.isnan(column) & np.isnan(column[0]))).all():
                return False
        return True

    def windows(self) -> dict[int, Window]:
        """For each run where it starts in what runs share, if it starts at random."""
        bounds = self._bounds()
        if not self._runs.measures(WINDOW[0], *bounds):
            return {}
        starts, lengths, wraps = (self._runs.array(name, *bounds) for name in WINDOW)
        there = ~np.isnan(starts)
        columns = (starts, lengths, wraps > 0, np.nan_to_num(self.array("duration_s")))
        windows = map(Window, *(column[there].tolist() for column in columns))
        return dict(zip(self._runs.numbers(*bounds)[there].tolist(), windows, strict=True))

    def _bounds(self) -> tuple[int, int]:
        return self._runs.bounds(self._cell)

    def __getitem__(self, run: int) -> dict[str, float]:
        place = self._place(run)
        if place is None:
            raise KeyError(run)
        names = self._runs.names
        found = {name: self._runs.array(name, place, place + 1).item() for name in names}
        return {name: value for name, value in found.items() if value == value}

    def __contains__(self, run: object) -> bool:
        # A mapping's own would gather all numbers of the run.
        return isinstance(run, int) and self._place(run) is not None

    def _place(self, run: int) -> int | None:
        first, end = self._bounds()
        place = first + int(np.searchsorted(self._runs.numbers(first, end), run))
        found = self._runs.numbers(place, min(end, place + 1))
        return place if run in found else None

    def __iter__(self) -> Iterator[int]:
        return iter(self._runs.numbers(*self._bounds()).tolist())

    def __len__(self) -> int:
        first, end = self._bounds()
        return end - first
