"""Doing a batch of runs of a campaign."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

import clift._clift as _clift
from clift.campaign.metrics import measured_by
from clift.campaign.parts import Row, Span
from clift.errors import ScenarioError, SimulationError
from clift.scenario import Scenario
from clift.simulation import Run


@dataclass(slots=True)
class Batch:
    """What came of a batch.

    Args:
        rows: The finished runs, in order: all of them, or the first ones if it was stopped.
        spans: Where they are.
        failure: Why a run could not go on, if one could not.
        firsts: The first runs of cells, by number of the cell.
    """

    rows: list[Row]
    spans: list[Span]
    failure: Exception | None = None
    firsts: dict[int, Run] = field(default_factory=dict)


class Worker:
    """Runs batches of the cells of a campaign, in one thread.

    Args:
        cells: The cells.
        stop: Ends the batch under way, from any thread.
    """

    def __init__(self, cells: Sequence[Scenario], stop: threading.Event) -> None:
        self._cells = cells
        self._stop = stop

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
            outcomes, stopped = _clift.run_many(tasks, 1, self._look)
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
            batch.rows.append(self._row(place, run))
            if place < count:
                batch.firsts[place] = run
        room = len(batch.rows)
        for first, end in spans:
            if room > 0:
                batch.spans.append((first, min(end, first + room)))
            room -= end - first
        return batch

    def row(self, place: int, run: Run) -> Row:
        """What is kept of a run that was done elsewhere."""
        return self._row(place, run)

    def _look(self, _done: int) -> None:
        if self._stop.is_set():
            raise _StoppedError

    def _fault(self, place: int, outcome: str | None) -> Exception | None:
        if outcome is None:
            return None
        cell = self._cells[place % len(self._cells)]
        labels = "".join(f"{label}, " for label in cell.labels.values())
        return SimulationError(f"{labels}run {place // len(self._cells)}: {outcome}")

    def _row(self, place: int, run: Run) -> Row:
        cell = place % len(self._cells)
        core, number, replication = run.scenario.task()
        values = measured_by(run)
        window = None
        if self._cells[cell].shared:
            found = run.scenario.window()
            if found is not None:
                window = (found[0] / 1e9, found[1] / 1e9, found[2])
        seed = core.seed(number, replication)
        return Row(cell, place // len(self._cells), seed, values, window)


class _StoppedError(Exception):
    """Somebody wants the batch to end."""
