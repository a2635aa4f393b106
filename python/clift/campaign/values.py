"""What the runs of a cell measured: a column a metric, which takes eight bytes a run."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from clift.campaign.metrics import in_order

_Floats = np.ndarray[Any, np.dtype[np.float64]]
_MISSING = float("nan")


class Values(Mapping[int, dict[str, float]]):
    """For each finished run of a cell, by its number, what it measured.

    Example:
        >>> values = Values()
        >>> values[1] = {"goodput_kbps": 250.0}
        >>> values[0] = {"goodput_kbps": 240.0, "completion_s": 2.0}
        >>> values[1], list(values), values.column("completion_s")
        ({'goodput_kbps': 250.0}, [0, 1], {0: 2.0})
    """

    __slots__ = ("_columns", "_place", "_sorted")

    def __init__(self, runs: Mapping[int, Mapping[str, float]] | None = None) -> None:
        self._place: dict[int, int] = {}
        self._columns: dict[str, array[float]] = {}
        self._sorted = True
        for run, found in (runs or {}).items():
            self[run] = found

    def __setitem__(self, run: int, found: Mapping[str, float]) -> None:
        """Takes what a run measured; a run that is there already is the same, and stays.

        Args:
            run: Its number.
            found: Numbers by metric; none of them is NaN.
        """
        if run in self._place:
            return
        rows = len(self._place)
        self._add(run)
        columns = self._columns
        for name, value in found.items():
            column = columns.get(name)
            if column is None:
                columns[name] = column = array("d", [_MISSING]) * rows
            column.append(value)
        if len(found) < len(columns):
            for name in columns.keys() - found.keys():
                columns[name].append(_MISSING)

    def keep_all(self, runs: Sequence[int], columns: Mapping[str, _Floats]) -> None:
        """Takes what many runs measured.

        Args:
            runs: Their numbers, none of which is there already.
            columns: A column a metric, with NaN where a run has none.
        """
        rows = len(self._place)
        for run in runs:
            self._add(run)
        for name, column in columns.items():
            if name not in self._columns:
                if np.isnan(column).all():
                    continue
                self._columns[name] = array("d", [_MISSING]) * rows
            self._columns[name].frombytes(np.ascontiguousarray(column, np.float64).tobytes())
        for name in self._columns.keys() - columns.keys():
            self._columns[name].extend([_MISSING] * len(runs))

    def measures(self, name: str) -> bool:
        """Whether a run measured it.

        Args:
            name: A metric.

        Example:
            >>> values = Values({0: {"mos": 4.1}})
            >>> values.measures("mos"), values.measures("page_load_s")
            (True, False)
        """
        return name in self._columns

    def _add(self, run: int) -> None:
        place = self._place
        self._sorted = self._sorted and (not place or run > next(reversed(place)))
        place[run] = len(place)

    def metrics(self) -> list[str]:
        """What any run measured, in the order of the catalogue."""
        return in_order(self._columns)

    def array(self, metric: str) -> _Floats:
        """A metric of all runs in the order of their numbers; NaN where a run has none."""
        self._order()
        if metric not in self._columns:
            return np.full(len(self._place), _MISSING)
        return np.frombuffer(self._columns[metric], np.float64).copy()

    def column(self, metric: str) -> dict[int, float]:
        """The metric by number of the run, of the runs that have it."""
        column = self.array(metric)
        there = ~np.isnan(column)
        if there.all():
            return dict(zip(self._place, column.tolist(), strict=True))
        runs = np.fromiter(self._place, np.int64, len(self._place))
        return dict(zip(runs[there].tolist(), column[there].tolist(), strict=True))

    def are_alike(self) -> bool:
        """Whether all runs measured the same, to the last number."""
        for name in self._columns:
            column = np.frombuffer(self._columns[name], np.float64)
            if not ((column == column[0]) | (np.isnan(column) & np.isnan(column[0]))).all():
                return False
        return True

    def _order(self) -> None:
        """Puts the runs into the order of their numbers."""
        if self._sorted:
            return
        runs = np.fromiter(self._place, np.int64, len(self._place))
        order = np.argsort(runs)
        self._place = {run: row for row, run in enumerate(runs[order].tolist())}
        self._columns = {
            name: array("d", np.frombuffer(column, np.float64)[order].tobytes())
            for name, column in self._columns.items()
        }
        self._sorted = True

    def __getitem__(self, run: int) -> dict[str, float]:
        row = self._place[run]
        found = {name: column[row] for name, column in self._columns.items()}
        return {name: value for name, value in found.items() if value == value}

    def __contains__(self, run: object) -> bool:
        # A mapping's own would gather all numbers of the run.
        return run in self._place

    def __iter__(self) -> Iterator[int]:
        self._order()
        return iter(self._place)

    def __len__(self) -> int:
        return len(self._place)
