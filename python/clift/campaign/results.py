"""What a campaign measured, cell by cell, beside what a paper prints."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from clift.campaign.statistics import Estimate, estimate
from clift.simulation import Run

_SAYS_LITTLE = re.compile(r"[-+.\de%]*|true|false", re.IGNORECASE)


@dataclass(slots=True)
class Cell:
    """One cell of a campaign.

    Args:
        labels: Axis and label.
        is_transfer: Whether every flow has a file to transfer.
        wanted: Runs asked for.
        values: For each finished run, by its number, what it measured.
        first: The first finished run, for plots.
    """

    labels: dict[str, str]
    is_transfer: bool
    wanted: int
    values: dict[int, dict[str, float]] = field(default_factory=dict)
    first: Run | None = None

    @property
    def primary(self) -> str:
        """The metric that the cell is judged by."""
        return "completion_s" if self.is_transfer else "goodput_kbps"

    def name(self, axis: str) -> str:
        """What to call the cell on an axis: a label that says little has its axis before it.

        Example:
            >>> cell = Cell({"scheme": "ARQ", "n": "12", "sack": "false"}, False, 1)
            >>> [cell.name(axis) for axis in cell.labels]
            ['ARQ', 'n = 12', 'sack = false']
        """
        label = self.labels[axis]
        return f"{axis} = {label}" if _SAYS_LITTLE.fullmatch(label) else label

    def column(self, metric: str) -> dict[int, float]:
        """The metric by number of the run, of the runs that have it."""
        return {run: values[metric] for run, values in self.values.items() if metric in values}

    def estimate(self, metric: str) -> Estimate | None:
        """Mean and interval over the runs that have the metric."""
        return estimate(list(self.column(metric).values()))


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
    """

    title: str
    seed: int
    axes: list[tuple[str, list[str]]]
    cells: list[Cell]
    printed: list[dict[str, Any]]
    conditions: frozenset[str] = frozenset()

    @property
    def done(self) -> int:
        """Runs finished."""
        return sum(len(cell.values) for cell in self.cells)

    @property
    def wanted(self) -> int:
        """Runs asked for."""
        return sum(cell.wanted for cell in self.cells)

    @property
    def is_complete(self) -> bool:
        """Whether every run is finished."""
        return self.done == self.wanted

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
