"""What a search found: a ranking with intervals under each condition, and what it rests on."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from clift._words import counted
from clift.campaign.metrics import metric
from clift.campaign.statistics import Estimate, estimate, holm
from clift.design.objective import P99_DELAY, Constraint, Objective
from clift.design.race import Race
from clift.design.space import Candidate
from clift.errors import ScenarioError

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure

LEVEL = 0.05
"""Probability that any claim of a search is false."""
# What the front is drawn between: name, and the factor by which less is better.
FRONT = (("goodput_kbps", -1.0), (P99_DELAY, 1.0), ("links.0.share_used", 1.0))

BEST, AS_GOOD, UNTOLD, WORSE, DROPPED, TWIN, BREAKS = (
    *("best", "as good", "not told apart", "worse", "set aside", "the same", "breaks a limit"),
)


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate in a ranking.

    Args:
        candidate: Its number.
        label: What it is called.
        runs: How many runs it had.
        value: Mean and interval of the objective, as it is shown.
        share: How much more it has of it than the first, as a share, by runs with the same draws.
        low: Where the 95 % interval of that begins; None where there is none.
        high: Where it ends.
        standing: `best` (none of the last round is better than it by more than the tolerance),
            `as good` (within the tolerance of the best), `not told apart` from the first, `worse`
            than the first, `set aside` (dropped after few runs, without proof), `the same` as
            another in every run, `breaks a limit`.
        note: Which other, or which limit.
    """

    candidate: int
    label: str
    runs: int
    value: Estimate
    share: float | None
    low: float | None
    high: float | None
    standing: str
    note: str = ""


@dataclass(slots=True)
class Contest:
    """The candidates under a condition.

    Args:
        condition: Labels on the axes that are met; None stands for all labels of one.
        race: Who was run how often.
        runs: What each run measured, by candidate, run and number of the condition among those
            that the contest has.
    """

    condition: tuple[str | None, ...]
    race: Race
    runs: dict[tuple[int, int, int], dict[str, float]] = field(default_factory=dict)
    _sorted: dict[int, list[dict[str, float]]] = field(default_factory=dict, repr=False)
    _sorted_of: int = field(default=0, repr=False)

    def of(self, candidate: int) -> list[dict[str, float]]:
        """What the runs of a candidate measured."""
        if self._sorted_of != len(self.runs):
            self._sorted.clear()
            for (one, _, _), values in self.runs.items():
                self._sorted.setdefault(one, []).append(values)
            self._sorted_of = len(self.runs)
        return self._sorted.get(candidate, [])

    def mean(self, candidate: int, name: str) -> float | None:
        """The mean of a metric over the runs of a candidate; None if none has it."""
        column = [values[name] for values in self.of(candidate) if name in values]
        return float(np.mean(column)) if column else None


@dataclass(slots=True)
class Design:
    """What a search found. `clift.design` makes it.

    Args:
        title: The scenario's name, or its file's.
        seed: Seed of the search: runs of one number have the same draws.
        objective: What is to be best.
        constraints: What has to be kept.
        candidates: What was tried.
        axes: The conditions: names and labels.
        contests: What came out under each condition.
        budget: Runs that were allowed.
        enumeration: Runs that every candidate with every run would have taken.
        tolerance: By how much, as a share, one may be better than what is called best.
        is_complete: Whether the search came to its end.
    """

    title: str
    seed: int
    objective: Objective
    constraints: list[Constraint]
    candidates: list[Candidate]
    axes: list[tuple[str, list[str]]]
    contests: list[Contest]
    budget: int
    enumeration: int
    tolerance: float = 0.01
    is_complete: bool = True
    text: str = field(default="", repr=False)
    _rankings: dict[tuple[int, int], list[Ranked]] = field(default_factory=dict, repr=False)

    @property
    def done(self) -> int:
        """Runs done."""
        return sum(len(contest.runs) for contest in self.contests)

    def ranking(self, contest: int = 0) -> list[Ranked]:
        """The candidates under a condition, best first.

        The first is called `best` if none that was in the last round is better than it by more
        than the tolerance: by paired differences, whose probabilities count once for every other
        candidate and every round, and are held over all conditions at 5 % (Holm 1979).

        Args:
            contest: Number of the condition.
        """
        key = (contest, self.done)
        if key not in self._rankings:
            self._rankings.clear()
            claims = [self._claim(one) for one in self.contests]
            held = holm(claims, LEVEL)
            for place, one in enumerate(self.contests):
                self._rankings[place, self.done] = self._ranked(one, held[place])
        return self._rankings[key]

    @property
    def winners(self) -> list[Ranked | None]:
        """The first of each condition; None where none keeps the limits, or none was run."""
        found = []
        for place in range(len(self.contests)):
            ranking = self.ranking(place)
            first = ranking[0] if ranking else None
            found.append(None if first is None or first.standing == BREAKS else first)
        return found

    def front(self, contest: int = 0) -> list[int]:
        """The candidates that no other one beats in goodput, delay and capacity used at once.

        By their means, which for those set aside are of few runs.

        Args:
            contest: Number of the condition.

        Returns:
            Their numbers, most goodput first.
        """
        points = self.points(contest)
        signs = np.array([sign for _, sign in FRONT])
        table = {one: np.array(point) * signs for one, point in points.items()}
        front = [
            one
            for one, point in table.items()
            if not any(
                bool((other <= point).all() and (other < point).any()) for other in table.values()
            )
        ]
        return sorted(front, key=lambda one: -points[one][0])

    def points(self, contest: int = 0) -> dict[int, tuple[float, ...]]:
        """Goodput (kbit/s), delay (ms) and share of the link of each candidate that has them."""
        found = {}
        for one in range(len(self.candidates)):
            means = [self.contests[contest].mean(one, name) for name, _ in FRONT]
            point = tuple(mean for mean in means if mean is not None)
            if len(point) == len(FRONT):
                found[one] = point
        return found

    def table(self, name: str = "ranking") -> pa.Table:
        """A table of the folder.

        Args:
            name: `ranking` (a row a condition and candidate) or `runs` (a row a run: everything
                that was tried).

        Raises:
            ScenarioError: If there is no such table.
        """
        from clift.design.tables import TABLES

        if name not in TABLES:
            raise ScenarioError(f"name = {name!r}: give one of {', '.join(TABLES)}")
        return TABLES[name](self)

    def plot(self, name: str = "map", contest: int = 0) -> Figure:
        """A picture.

        Args:
            name: `map` (who wins where) or `front` (goodput, delay and capacity used).
            contest: Number of the condition, for the front.

        Raises:
            ScenarioError: If there is no such picture.
        """
        from clift.design import picture

        if name == "map":
            return picture.winners(self)
        if name == "front":
            return picture.front(self, contest)
        raise ScenarioError(f"name = {name!r}: give map or front")

    def save(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Writes tables, a record and pictures, as `clift design -o` does.

        Args:
            folder: Made if it is not there.

        Returns:
            The files.

        Raises:
            ScenarioError: If they cannot be written.
        """
        from clift.design import record

        record.prepare(Path(folder))
        return list(record.write(self, Path(folder)))

    def as_dict(self) -> dict[str, Any]:
        """What `clift design --json` prints."""
        from clift.design.record import as_dict

        return as_dict(self)

    def __str__(self) -> str:
        from clift.design.text import report

        return report(self)

    def __repr__(self) -> str:
        return (
            f"Design({self.title!r}: {counted(len(self.candidates), 'candidate')}, "
            f"{counted(len(self.contests), 'condition')}, {counted(self.done, 'run')})"
        )

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"

    def _claim(self, contest: Contest) -> float:
        """How probable it is that the first only looks better than all of the last round."""
        race = contest.race
        order = [one for one in race.order() if one in race.last and one not in race.twin]
        if not order:
            return 1.0
        # Who surely breaks a limit is no rival, however good.
        rivals = [other for other in order[1:] if not race.breaks(other, surely=True)]
        most = 0.0 if len(order) > 1 else 1.0
        for other in rivals:
            most = max(most, race.doubt(order[0], other))
        return min(1.0, most * race.factor())

    def _ranked(self, contest: Contest, holds: bool) -> list[Ranked]:
        race = contest.race
        order = race.order()
        return [self._row(contest, order, place, holds) for place in range(len(order))]

    def _row(self, contest: Contest, order: list[int], place: int, holds: bool) -> Ranked:
        race, one = contest.race, order[place]
        values = [value * self.objective.sign for value in race.values[one]]
        scale = self.objective.scale
        value = estimate([value * scale for value in values], race.independent(len(values)))
        assert value is not None  # order has those with runs
        found = race.difference(one, order[0]) if place else None
        share = low = high = None
        if found is not None:
            # Signs turn with the objective's, and so do the ends; a share of it does not.
            share, low, high = found.share, found.low, found.high
        standing, note = self._standing(contest, order, place, holds)
        label = self.candidates[one].label
        return Ranked(one, label, len(values), value, share, low, high, standing, note)

    def _standing(
        self, contest: Contest, order: list[int], place: int, holds: bool
    ) -> tuple[str, str]:
        race, one = contest.race, order[place]
        if broken := self._broken(contest, one):
            return BREAKS, broken
        if not place:
            # One that breaks a limit is no rival: what is left is told apart without runs.
            return (BEST if holds else UNTOLD), ""
        if one in race.twin:
            return TWIN, f"as {self.candidates[race.twin[one]].label}"
        found = race.difference(one, order[0])
        counted = race.factor() * len(self.contests)
        if found is not None and found.mean > 0 and found.p * counted <= LEVEL:
            return (WORSE if abs(found.share) > race.tolerance else AS_GOOD), ""
        if one not in race.last:
            return DROPPED, ""
        if not holds or found is None:
            return UNTOLD, ""
        return (WORSE if found.share * self.objective.sign > race.tolerance else AS_GOOD), ""

    def _broken(self, contest: Contest, one: int) -> str:
        """The first limit that a candidate's mean breaks, and with what."""
        for limit in self.constraints:
            mean = contest.mean(one, limit.metric)
            if mean is not None and limit.excess(mean) > 0:
                shown = metric(limit.metric)
                scale, unit = (
                    (1.0, "ms") if limit.metric == P99_DELAY else (shown.scale, shown.unit)
                )
                return f"{limit.text} ({mean * scale:.4g} {unit})".replace(" )", ")")
        return ""
