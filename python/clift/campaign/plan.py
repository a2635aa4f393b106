"""Missing runs of a study, and the process that does each of them."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np

from clift._arrays import Ints
from clift.campaign import parts
from clift.campaign.parts import Span
from clift.campaign.store import MOST_RUNS, Store
from clift.errors import ScenarioError

# Places that are looked at in one go.
_WINDOW = 1 << 16


class Plan:
    """The runs of a study that are not done, handed out in batches.

    Runs of one number come together, cell after cell, so that what they share is made once, and a
    study that is interrupted has something of every cell.

    Args:
        wanted: For each cell how many runs are asked for.
        store: What is done already, and by others; None: nothing is kept.
        done: The places of runs that are done already, beside those.

    Raises:
        ScenarioError: If there are too many runs.

    Example:
        >>> plan = Plan([2, 1])
        >>> plan.next(2), plan.next(2), plan.next(2), plan.is_over
        ([(0, 2)], [(2, 3)], None, True)
    """

    def __init__(
        self,
        wanted: Sequence[int] | Ints,
        store: Store | None = None,
        done: Ints | None = None,
    ) -> None:
        self.cells = len(wanted)
        most = int(max(wanted))
        if most * self.cells > MOST_RUNS:
            raise ScenarioError(
                f"runs: {most} of {self.cells} cells are more than {MOST_RUNS} in all; ask for "
                "fewer"
            )
        number = np.arange(most)[:, None]
        self._asked = (number < np.asarray(wanted)[None, :]).ravel()
        self._store = store
        self._guard = threading.Lock()
        self._missing = self._asked.copy()
        self._cursor = 0
        self._passed = False
        if store is not None:
            self._missing &= ~store.is_done(len(self._asked))
        if done is not None:
            self._missing[done] = False

    @property
    def missing(self) -> int:
        """Runs that are neither done nor handed out."""
        return int(np.count_nonzero(self._missing))

    @property
    def is_over(self) -> bool:
        """True if no run is missing, including those of other processes."""
        return not self._passed and not self._missing[self._cursor :].any()

    def next(self, most: int) -> list[Span] | None:
        """The next runs that no other process does; None if there are none at present.

        Args:
            most: Maximum number.
        """
        with self._guard:
            while True:
                spans = self._ahead(most)
                if not spans:
                    return None
                got = self._claimed(spans)
                for first, end in got:
                    self._missing[first:end] = False
                if got:
                    return got

    def again(self) -> None:
        """Checks the runs of other processes again: finished, or abandoned."""
        with self._guard:
            if self._store is not None:
                self._store.list()
                self._missing &= ~self._store.is_done(len(self._asked))
            self._cursor, self._passed = 0, False

    def _ahead(self, most: int) -> list[Span]:
        """Spans from the cursor on, as many as fit into the name of a file."""
        while self._cursor < len(self._missing):
            window = self._missing[self._cursor : self._cursor + _WINDOW]
            found = np.flatnonzero(window)[:most] + self._cursor
            if len(found):
                self._cursor = int(found[0])
                return parts.cut(found.tolist(), most)[0]
            self._cursor += _WINDOW
        return []

    def _claimed(self, spans: list[Span]) -> list[Span]:
        """Of spans those that nobody else has or has done; the cursor passes over the others."""
        if self._store is None:
            return spans
        got: list[Span] = []
        for first, end in spans:
            busy = self._store.claim(first, end)
            if busy is not None:
                self._passed = True
                self._cursor = max(self._cursor, busy[1]) if not got else self._cursor
                if busy[0] > first and self._store.claim(first, busy[0]) is None:
                    got.append((first, busy[0]))
                break
            got.append((first, end))
        if got and not self._store.is_fresh():
            self._store.list()
            done = self._store.is_done(len(self._asked))
            self._missing &= ~done
            left = []
            for first, end in got:
                there = np.flatnonzero(~done[first:end]) + first
                left += parts.spans(there.tolist())
                for begin, stop in parts.spans(np.flatnonzero(done[first:end]).tolist()):
                    self._store.let_go(first + begin, first + stop)
            got = left
        return got
