"""The cells of a large campaign, each made when it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from clift._arrays import Ints
from clift.campaign.runs import Runs
from clift.campaign.values import Values
from clift.scenario import Scenario

if TYPE_CHECKING:
    from clift.campaign.results import Cell


class Cells(Sequence["Cell"]):
    """Cells over the table of a study.

    The first ones stay once they are made, with their first runs for plots; the others are made
    again, so that a million of them take no memory.

    Args:
        scenarios: Their scenarios.
        runs: The table.
        wanted: For each of them how many runs are asked for.
        kept: How many stay.
    """

    __slots__ = ("_kept", "_most", "_scenarios", "runs", "wanted")

    def __init__(
        self, scenarios: Sequence[Scenario], runs: Runs, wanted: Sequence[int], kept: int
    ) -> None:
        self._scenarios, self.runs = scenarios, runs
        self.wanted: Ints = np.array(wanted, np.int64)
        self._most = kept
        self._kept: dict[int, Cell] = {}

    def __len__(self) -> int:
        return len(self.wanted)

    def __getitem__(self, place: Any) -> Any:
        numbers = range(len(self))[place]
        if isinstance(numbers, range):
            return [self._cell(number) for number in numbers]
        return self._cell(numbers)

    def labels(self, number: int) -> dict[str, str]:
        """The labels of a cell, without the cell."""
        return self._scenarios[number].labels

    def _cell(self, number: int) -> Cell:
        from clift.campaign.results import Cell

        cell = self._kept.get(number)
        if cell is None:
            made = self._scenarios[number]
            cell = Cell(made.labels, made.is_transfer, 0, Values.of(self.runs, number))
            cell.shared, cell.scenario = made.shared, made
            if number < self._most:
                self._kept[number] = cell
        cell.wanted = int(self.wanted[number])
        return cell
