"""Runs of a search in its folder, so that a second call continues the first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from time import monotonic
from typing import Self

from clift.campaign import parts
from clift.campaign.parts import Row
from clift.campaign.store import open_store
from clift.scenario import Scenario

# Seconds between two writings of runs.
_WRITTEN_S = 0.5


class RunCache:
    """The runs of the cells of a search that a folder has. `with` writes the rest.

    The folder keeps whole runs: another objective, limit or budget takes them as they are.

    Args:
        folder: The results folder.
        scenario: The campaign of all candidates under all conditions.
        cells: Its cells.
        force: Whether runs of another search or study are removed.

    Raises:
        ScenarioError: If the folder cannot be written, holds runs of another study, or runs of
            another build of CLIFT, that come out otherwise.
    """

    def __init__(
        self, folder: Path, scenario: Scenario, cells: Sequence[Scenario], force: bool
    ) -> None:
        self._store = open_store(folder, scenario, force)
        self._new: list[Row] = []
        self._written = monotonic()
        self._rows: dict[tuple[int, int], Row] = {}
        try:
            for _, table in self._store.tables():
                self._rows |= {(row.cell, row.run): row for row in parts.rows(table)}
            self._store.repeat(cells[0], of_link=False)
        except BaseException:
            self._store.close()
            raise

    def get(self, cell: int, run: int) -> Row | None:
        """A run that is there."""
        return self._rows.get((cell, run))

    def keep(self, rows: Sequence[Row]) -> None:
        """Takes finished runs, and writes them once in a while.

        Raises:
            ScenarioError: If they cannot be written.
        """
        self._new += rows
        if monotonic() - self._written > _WRITTEN_S:
            self.write()

    def write(self) -> None:
        """Writes what is not yet written.

        Raises:
            ScenarioError: If that does not go, or a file that the search reads has changed.
        """
        rows, self._new = sorted(self._new, key=lambda row: (row.run, row.cell)), []
        self._store.check_inputs()
        count = len(self._store.keys)
        places = [row.run * count + row.cell for row in rows]
        # Digits in the names of files.
        for group in parts.cut(places, len(places)) if places else []:
            own = sum(end - first for first, end in group)
            self._store.keep(rows[:own])
            rows = rows[own:]
        self._written = monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.write()
        finally:
            self._store.close()
