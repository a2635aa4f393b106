"""What a search found: a ranking with intervals under each condition, and what it rests on."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from clift._parse import MARGIN
from clift._words import counted
from clift.campaign.results import Results
from clift.campaign.statistics import Estimate, estimate
from clift.design.caveats import campaign
from clift.design.front import Front, front_of
from clift.design.objective import Constraint, Objective, of_metric
from clift.design.race import Race
from clift.design.space import Candidate
from clift.errors import ScenarioError
from clift.scenario import Scenario

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BEST, EQUAL, UNTOLD, WORSE, DROPPED, TWIN, BREAKS = (
    *("best", "equal", "not told apart", "worse", "set aside", "the same", "breaks a limit"),
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
        low: Where the interval of that begins; None where there is none. All intervals of a search
            hold together with 95 %, and standings follow from them.
        high: Where it ends.
        standing: `best` (none of the last round can be better than it by more than the tolerance),
            `equal` (the whole interval is within the tolerance of the first, or all runs have its
            values), `not told apart` from the first, `worse` than the first, `set aside` (dropped
            after few runs, without proof), `the same` as another in every run, also in delay and
            use of the link, `breaks a limit`.
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
        tolerance: Share within which candidates are equal.
        is_complete: Whether the search came to its end.
        text: The scenario's file.
        cells: The scenario of every condition and candidate, those of a condition together.
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
    tolerance: float = MARGIN
    is_complete: bool = True
    text: str = field(default="", repr=False)
    cells: Sequence[Scenario] = field(default=(), repr=False)
    _rankings: dict[tuple[int, int], list[Ranked]] = field(default_factory=dict, repr=False)
    _fronts: dict[tuple[int, int], Front] = field(default_factory=dict, repr=False)
    _campaign: tuple[int, Results] | None = field(default=None, repr=False)

    @property
    def done(self) -> int:
        """Runs done."""
        return sum(len(contest.runs) for contest in self.contests)

    def ranking(self, contest: int = 0) -> list[Ranked]:
        """The candidates under a condition, best first.

        The first is called `best` if none that was in the last round can be better than it by
        more than the tolerance, by the intervals of the paired differences. These hold together
        with 95 % over all candidates, rounds and conditions (Bonferroni).

        Args:
            contest: Number of the condition.
        """
        key = (contest, self.done)
        if key not in self._rankings:
            self._rankings.clear()
            for place, one in enumerate(self.contests):
                order = one.race.order()
                ranking = [self._row(one, order, at) for at in range(len(order))]
                self._rankings[place, self.done] = ranking
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

    def where(self, contest: int) -> str:
        """A condition in words; empty where there is but one."""
        named = zip(self.axes, self.contests[contest].condition, strict=True)
        return ", ".join(
            f"{name} {label}" if label.replace(".", "").isdigit() else label
            for (name, _), label in named
            if label is not None
        )

    @property
    def campaign(self) -> Results:
        """The runs of the first candidate under each condition, for what holds for all."""
        if self._campaign is None or self._campaign[0] != self.done:
            self._campaign = self.done, campaign(self)
        return self._campaign[1]

    def front(self, contest: int = 0) -> list[int]:
        """The candidates that no other one beats in goodput, delay and capacity used at once.

        Two are compared by the means over the runs that both have, which have the same draws. Who
        was set aside after runs worth fewer than three independent ones is not compared.

        Args:
            contest: Number of the condition.

        Returns:
            Their numbers, in the order of the ranking.
        """
        return self.compared(contest).members

    def points(self, contest: int = 0) -> dict[int, tuple[float, ...]]:
        """Goodput (kbit/s), delay (ms) and share of the link of each candidate compared.

        Those of the first of the front are its means. The others' are these, changed as theirs
        differ from them in the runs that both have: means over different runs are no match.
        """
        return {one: point.values for one, point in self.compared(contest).points.items()}

    def compared(self, contest: int = 0) -> Front:
        """The front, with every candidate compared and over how many runs."""
        key = (contest, self.done)
        if key not in self._fronts:
            self._fronts = {kept: one for kept, one in self._fronts.items() if kept[1] == self.done}
            self._fronts[key] = front_of(self.contests[contest])
        return self._fronts[key]

    def table(self, name: str = "ranking") -> pa.Table:
        """A table of the folder.

        Args:
            name: `ranking` (a row a condition and candidate) or `runs` (a row a run: everything
                that was tried).

        Raises:
            ScenarioError: If the table does not exist.
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
            ScenarioError: If the picture does not exist.
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

    def _is_best(self, contest: Contest, order: list[int]) -> bool:
        """Whether no other of the last round can be better than the first by the tolerance."""
        race = contest.race
        others = [one for one in order[1:] if one in race.last and one not in race.twin]
        rivals = [one for one in others if not race.is_level(one, order[0])]
        # Who surely breaks a limit is no rival, however good.
        costs = [race.cost(one, order[0]) for one in rivals if not race.breaks(one, surely=True)]
        told = [cost for cost in costs if cost is not None and cost[0] > -race.tolerance]
        return order[0] in race.last and len(rivals) > 0 and len(told) == len(costs)

    def _row(self, contest: Contest, order: list[int], place: int) -> Ranked:
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
        standing, note = self._standing(contest, order, place)
        label = self.candidates[one].label
        return Ranked(one, label, len(values), value, share, low, high, standing, note)

    def _standing(self, contest: Contest, order: list[int], place: int) -> tuple[str, str]:
        race, one = contest.race, order[place]
        if broken := self._broken(contest, one):
            return BREAKS, broken
        if not place:
            return (BEST if self._is_best(contest, order) else UNTOLD), ""
        if one in race.twin:
            return TWIN, f"as {self.candidates[race.twin[one]].label}"
        if one in race.last and race.is_level(one, order[0]):
            return EQUAL, ""
        if (cost := race.cost(one, order[0])) is not None:
            if max(map(abs, cost)) <= race.tolerance:
                return EQUAL, ""
            if cost[0] > 0:
                return WORSE, ""
        return (UNTOLD if one in race.last else DROPPED), ""

    def _broken(self, contest: Contest, one: int) -> str:
        """The first limit that a candidate's mean breaks, and with what."""
        for limit in self.constraints:
            mean = contest.mean(one, limit.metric)
            if mean is not None and limit.excess(mean) > 0:
                return f"{limit.text} ({of_metric(limit.metric, mean)})"
        return ""
