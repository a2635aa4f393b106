"""Doing a batch of runs of a campaign."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

import clift._clift as _clift
from clift._arrays import Floats
from clift.campaign.parts import Row, Span, measured
from clift.campaign.results import DRAWN_CELLS
from clift.errors import ScenarioError, SimulationError
from clift.scenario import Scenario
from clift.simulation import Run

# Cells of which a worker remembers what they share.
_REMEMBERED = 10_000


@dataclass(slots=True)
class Batch:
    """The result of a batch.

    Args:
        rows: The finished runs, in order: all of them, or the first ones if it was stopped.
        spans: Where they are.
        failure: Why a run could not go on, if one could not.
        firsts: The first runs of cells that are drawn, by number of the cell.
        file: The file of a store that has the runs.
    """

    rows: list[Row]
    spans: list[Span]
    failure: Exception | None = None
    firsts: dict[int, Run] = field(default_factory=dict)
    file: str | None = None
    _columns: dict[str, Floats] | None = field(default=None, repr=False)

    def columns(self) -> dict[str, Floats]:
        """What the runs measured as columns, made once for file and table."""
        if self._columns is None:
            self._columns = measured([row.values for row in self.rows])
        return self._columns


class Worker:
    """Runs batches of the cells of a campaign, in one thread.

    Args:
        cells: The cells.
        stop: Ends the batch under way, from any thread.
    """

    def __init__(self, cells: Sequence[Scenario], stop: threading.Event) -> None:
        self._cells = cells
        self._stop = stop
        self._shared: dict[int, bool] = {}

    def run(self, spans: Sequence[Span]) -> Batch:
        """Does the runs at some places.

        Args:
            spans: Their places.

        Raises:
            ScenarioError: If a cell is wrong; the other runs are not done either.
        """
        count = len(self._cells)
        places = [place for first, end in spans for place in range(first, end)]
        scenarios = [self._cells[place % count].replication(place // count) for place in places]
        tasks = [scenario.task() for scenario in scenarios]
        try:
            outcomes, stopped = _clift.run_many(tasks, len(tasks), 1, self._look)
        except ScenarioError as error:
            raise scenarios[error.task].explained(error) from None
        if stopped is not None and not isinstance(stopped, _StoppedError):
            raise stopped
        batch = Batch([], [])
        for place, scenario, outcome in zip(places, scenarios, outcomes, strict=True):
            if not isinstance(outcome, _clift.Outcome):
                batch.failure = self._fault(place, outcome)
                break
            run = Run(scenario, outcome)
            batch.rows.append(self.row(place, run))
            if place < min(count, DRAWN_CELLS):
                batch.firsts[place] = run
        room = len(batch.rows)
        for first, end in spans:
            if room > 0:
                batch.spans.append((first, min(end, first + room)))
            room -= end - first
        return batch

    def _look(self, _done: int) -> None:
        if self._stop.is_set():
            raise _StoppedError

    def _fault(self, place: int, outcome: str | None) -> Exception | None:
        if outcome is None:
            return None
        cell = self._cells[place % len(self._cells)]
        labels = "".join(f"{label}, " for label in cell.labels.values())
        return SimulationError(f"{labels}run {place // len(self._cells)}: {outcome}")

    def row(self, place: int, run: Run) -> Row:
        """What is kept of a run."""
        number, cell = divmod(place, len(self._cells))
        return Row.of(cell, number, run, self._is_shared(cell))

    def _is_shared(self, cell: int) -> bool:
        """Whether runs of a cell share a trace, asked once where there are few cells."""
        found = self._shared.get(cell)
        if found is None:
            found = self._cells[cell].shared is not None
            if len(self._shared) < _REMEMBERED:
                self._shared[cell] = found
        return found


class _StoppedError(Exception):
    """Somebody wants the batch to end."""
