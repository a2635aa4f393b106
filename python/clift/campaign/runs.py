"""The finished runs of a study, all in one table, which a million of them fit into."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from clift._arrays import Floats, Ints
from clift.campaign.packed import Column, packed
from clift.campaign.parts import measured

WINDOW = ("start_s", "length_s", "wraps")
"""How a run shares a trace, as columns beside what it measured."""
# How many small parts are made one.
_JOINED = 512
_MISSING = float("nan")


class _Part(NamedTuple):
    """Runs in no order."""

    cells: Ints
    runs: Ints
    columns: dict[str, Any]


class Runs:
    """What runs measured: a column a metric; by cell and number, however they come.

    A run that is there already is the same, and stays.

    Example:
        >>> runs = Runs()
        >>> runs.add(1, [0], [{"goodput_kbps": 9.0}])
        >>> runs.add(0, [3], [{"goodput_kbps": 7.0, "completion_s": 2.0}])
        >>> len(runs), runs.names, runs.bounds(1), runs.array("goodput_kbps")
        (2, ['goodput_kbps', 'completion_s'], (1, 2), array([7., 9.]))
    """

    __slots__ = ("_cells", "_columns", "_few", "_parts", "_runs", "_starts")

    def __init__(self) -> None:
        self._cells: Ints = np.zeros(0, np.int64)
        self._runs: Ints = np.zeros(0, np.int64)
        # Where the runs of each cell begin, and behind the last one the end.
        self._starts: Ints = np.zeros(1, np.int64)
        self._columns: dict[str, Column] = {}
        # Runs in arrays: those of a few at a time, and what many of them were joined to.
        self._few: list[_Part] = []
        self._parts: list[_Part] = []

    def add(
        self,
        cell: int,
        runs: Sequence[int],
        found: Sequence[Mapping[str, float]],
        of: Sequence[Sequence[float] | None] = (),
    ) -> None:
        """Takes runs of a cell.

        Args:
            cell: The number of the cell.
            runs: Their own numbers in the cell.
            found: What each measured, by metric; without a NaN.
            of: Start, length and whether it repeats, and more that is not kept, of a trace that
                runs share; None: none.
        """
        columns = measured(found)
        if any(of):
            columns |= windows(of)
        self.extend(np.full(len(runs), cell), np.array(runs, np.int64), columns)

    def extend(self, cells: Ints, runs: Ints, columns: Mapping[str, Floats]) -> None:
        """Takes many runs.

        Args:
            cells: The numbers of their cells.
            runs: Their own numbers.
            columns: What they measured, with NaN where a run has none; `WINDOW` among them.
        """
        if not len(runs):
            return
        there = {name: packed(one) for name, one in columns.items() if not np.isnan(one).all()}
        self._few.append(_Part(cells.astype(np.int64), runs.astype(np.int64), there))
        if len(self._few) >= _JOINED:
            self._join()

    def _join(self) -> None:
        """Makes one part of several, so that there are not thousands of small ones."""
        few, self._few = self._few, []
        if not few:
            return
        cells, runs = (np.concatenate([part[at] for part in few]) for at in (0, 1))
        names = dict.fromkeys(name for part in few for name in part.columns)
        columns = {name: packed(_joined(name, few)) for name in names}
        self._parts.append(_Part(cells, runs, columns))

    def _settle(self) -> None:
        """Puts what has come since into the table."""
        if not (self._few or self._parts):
            return
        self._join()
        there = _Part(self._cells, self._runs, {})
        cells, runs = (
            np.concatenate([part[at] for part in (there, *self._parts)]) for at in (0, 1)
        )
        # Stable, so that of a run that came twice the first stays.
        order = np.lexsort((runs, cells))
        cells, runs = cells[order], runs[order]
        fresh = np.ones(len(order), np.bool_)
        fresh[1:] = (cells[1:] != cells[:-1]) | (runs[1:] != runs[:-1])
        order, self._cells, self._runs = order[fresh], cells[fresh], runs[fresh]
        former, before = self._columns, len(there.runs)
        self._columns = {}
        names = dict.fromkeys([*former, *(name for part in self._parts for name in part.columns)])
        for name in names:
            column = former.pop(name, None)
            first = np.full(before, _MISSING) if column is None else column.part(0, before)
            whole = np.concatenate([first, _joined(name, self._parts)])
            for part in self._parts:
                part.columns.pop(name, None)
            self._columns[name] = Column(whole[order])
        self._parts = []
        count = int(self._cells[-1]) + 1
        self._starts = np.searchsorted(self._cells, np.arange(count + 1))

    def keep_first(self, cells: Sequence[int]) -> None:
        """Drops all runs of some cells but the first of each."""
        self._settle()
        kept = ~np.isin(self._cells, cells)
        kept[self._starts[np.asarray(cells, np.int64)]] = True
        whole = len(self._runs)
        self._columns = {
            name: Column(one.part(0, whole)[kept]) for name, one in self._columns.items()
        }
        self._cells, self._runs = self._cells[kept], self._runs[kept]
        self._starts = np.searchsorted(self._cells, np.arange(len(self._starts)))

    def __len__(self) -> int:
        self._settle()
        return len(self._runs)

    @property
    def names(self) -> list[str]:
        """What any run measured."""
        self._settle()
        return [name for name in self._columns if name not in WINDOW]

    def bounds(self, cell: int) -> tuple[int, int]:
        """The places of the runs of a cell, which follow one another: the first, and the end."""
        self._settle()
        last = len(self._starts) - 1
        return int(self._starts[min(cell, last)]), int(self._starts[min(cell + 1, last)])

    def counts(self, cells: int) -> Ints:
        """The number of runs of each of the first cells."""
        self._settle()
        found = np.zeros(cells, np.int64)
        found[: len(self._starts) - 1] = np.diff(self._starts)[:cells]
        return found

    def cells(self, first: int = 0, end: int | None = None) -> Ints:
        """The cell of each run from one place to another."""
        self._settle()
        return self._cells[first:end]

    def numbers(self, first: int = 0, end: int | None = None) -> Ints:
        """The number of each run in its cell, from one place to another."""
        self._settle()
        return self._runs[first:end]

    def measures(self, name: str, first: int, end: int) -> bool:
        """Whether a run from one place to another measured something."""
        self._settle()
        column = self._columns.get(name)
        if column is None or first >= end:
            return False
        return column.is_whole or not bool(np.isnan(column.part(first, end)).all())

    def array(self, name: str, first: int = 0, end: int | None = None) -> Floats:
        """A metric of the runs from one place to another; NaN where a run has none."""
        self._settle()
        end = len(self._runs) if end is None else end
        column = self._columns.get(name)
        if column is None or first >= end:
            return np.full(max(0, end - first), _MISSING)
        return column.part(first, end)


def windows(of: Sequence[Sequence[float] | None]) -> dict[str, Floats]:
    """How runs share a trace, as columns."""
    block = np.array([one[:3] if one else [_MISSING] * 3 for one in of], np.float64)
    return {name: block[:, at].copy() for at, name in enumerate(WINDOW)}


def _joined(name: str, parts: Sequence[_Part]) -> Floats:
    """A column of several parts."""
    pieces = (part.columns.get(name) for part in parts)
    return np.concatenate(
        [
            np.full(len(part.runs), _MISSING) if piece is None else piece.astype(np.float64)
            for part, piece in zip(parts, pieces, strict=True)
        ]
    )
