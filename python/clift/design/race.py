"""Successive halving: many candidates with a few runs each, few candidates with many.

Jamieson and Talwalkar (2016), with two changes. Runs of one number have the same draws, so that
candidates are compared by their differences from the one in front, which scatter less than they do.
And who is dropped is decided by what it could still be, not by where it stands: a candidate whose
difference scatters much stays longer than one that is a little better and surely behind. Claims
follow from the intervals of the differences, which all hold together.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import ceil, inf, sqrt
from typing import Any

import numpy as np

from clift._arrays import Floats
from clift.campaign.statistics import LEVEL, Difference, difference
from clift.campaign.values import Window, independent

# Of the candidates of a round one in this number is in the next.
_HALVING = 2.5
# As many are left for the last round.
_LAST = 3
# Standard errors that a candidate may be behind without being taken for worse.
_DOUBT = 1.0
# How often the remaining runs are given out again.
_GRANTS = 3
# Runs that the scatter of all candidates counts as, beside a candidate's own.
_SHRINK = 3.0


@dataclass(slots=True)
class Race:
    """Which of several candidates is best, by runs that are asked for and handed in.

    A candidate's value is such that less is better; it may break limits, by an excess above 0. Of
    two candidates the one that keeps the limits goes before the one that does not.

    Args:
        count: How many candidates there are, at least 1.
        budget: How many runs may be asked for in all; every candidate has one at least.
        most: How many runs any candidate may have.
        level: Probability of any false claim of the race.
        windows: Where each run starts in a trace that runs share, if they do so at random.
        tolerance: Share within which candidates are equal.
        given: Whether all runs are over one trace or draw, so that a run may repeat another.

    Example:
        >>> race = Race(count=4, budget=24, most=20)
        >>> while wanted := race.wanted():
        ...     for candidate, run in wanted:
        ...         race.add(candidate, run, candidate + run % 3)
        >>> race.order()[0], race.done <= 24
        (0, True)
    """

    count: int
    budget: int
    most: int
    level: float = LEVEL
    tolerance: float = 0.0
    given: bool = False
    is_exact: bool = False
    values: list[list[float]] = field(default_factory=list)
    excess: list[list[Floats]] = field(default_factory=list)
    beside: list[list[tuple[float | None, ...]]] = field(default_factory=list)
    alive: list[int] = field(default_factory=list)
    last: list[int] = field(default_factory=list)
    twin: dict[int, int] = field(default_factory=dict)
    windows: dict[int, Window] = field(default_factory=dict)
    _until: int = 0
    _over: bool = False
    _tried: bool = False
    _grants: int = _GRANTS

    def __post_init__(self) -> None:
        self.values = [[] for _ in range(self.count)]
        self.excess = [[] for _ in range(self.count)]
        self.beside = [[] for _ in range(self.count)]
        self.alive = list(range(self.count))
        self.last = self.alive
        self._until = self._next()
        if self.given:
            # Whether a second run repeats the first is tried before anything else.
            self._until, self._tried = min(2, self._until), self._until < 2

    @property
    def done(self) -> int:
        """Runs handed in."""
        return sum(map(len, self.values))

    @property
    def is_open(self) -> bool:
        """Whether it is not decided, and more runs could change that."""
        is_going = len(self.alive) > 1 and not self.is_exact and self._grants > 0
        return is_going and self._common(self.alive) < self.most

    def last_runs(self) -> int:
        """Runs of those left that double what they have; the last time all that there may be."""
        runs = self._common(self.alive)
        return len(self.alive) * (runs if self._grants > 1 else self.most - runs)

    def grant(self, runs: int) -> int:
        """Allows more runs, or fewer.

        Args:
            runs: How many more than are done.

        Returns:
            How many of them it has no use for.
        """
        use = len(self.alive) * (self.most - self._common(self.alive))
        used = min(runs, use)
        self.budget = self.done + used
        self._grants -= 1
        self._until = self._next()
        self._over = False
        return runs - used

    def wanted(self) -> list[tuple[int, int]]:
        """The runs that the next step takes, as candidate and number; none if it is over.

        Every run has to be handed in, each candidate's in the order of their numbers.
        """
        while True:
            found = [
                (one, run)
                for run in range(self._until)
                for one in self.alive
                if run >= len(self.values[one])
            ]
            if found or self._over:
                return found
            if self.given and not self._tried:
                self._tried = True
                if self._found_exact():
                    continue
                self._until = max(self._until, self._first())
                continue
            self._over = not self._halved()

    def add(
        self,
        candidate: int,
        run: int,
        value: float,
        excess: tuple[float, ...] = (),
        beside: tuple[float | None, ...] = (),
    ) -> None:
        """Hands in a run.

        Args:
            candidate: Whose.
            run: Its number, the first that it lacks.
            value: What it is judged by; less is better.
            excess: By how much it breaks each limit.
            beside: What else tells candidates apart, such as a delay.
        """
        if run != len(self.values[candidate]):
            raise ValueError(f"run {run} of candidate {candidate} comes out of turn")
        self.values[candidate].append(value)
        self.excess[candidate].append(np.asarray(excess, np.float64))
        self.beside[candidate].append(beside)

    def order(self) -> list[int]:
        """The candidates with runs, best first: those with most runs before those dropped."""
        there = [one for one in range(self.count) if self.values[one]]
        alive = set(self.alive)
        # An interrupted round may have given a run more to some of those that are left.
        equal = self._common(self.alive)

        def key(one: int) -> tuple[Any, ...]:
            runs = equal if one in alive and equal else len(self.values[one])
            return (one not in alive, -runs, *self._place(one, runs))

        return sorted(there, key=key)

    def breaks(self, candidate: int, surely: bool = False) -> bool:
        """Whether a candidate's mean breaks a limit.

        Args:
            candidate: Whose.
            surely: Whether by two standard errors.
        """
        runs = len(self.values[candidate])
        return runs > 0 and self._excess(candidate, runs, 2.0 if surely else 0.0) > 0

    def difference(self, ours: int, other: int) -> Difference | None:
        """How two candidates differ, by the runs that both have.

        The intervals of all differences of the race hold together, at every look there may be. Of
        two in which nothing is drawn the difference is exact.

        Returns:
            None from fewer than two runs.
        """
        mine, its = (self.values[one] for one in (ours, other))
        if mine and its and self.repeats(ours) and self.repeats(other):
            share = mine[0] / its[0] - 1 if its[0] else 0.0
            return Difference(mine[0] - its[0], share, share, share, 0.0)
        level = self.level / self.factor()
        runs = min(len(mine), len(its))
        found = difference(
            dict(enumerate(mine)), dict(enumerate(its)), self.independent(runs), level
        )
        if found is not None and found.low is None and found.p <= level:
            # The same difference in every one of many runs.
            return replace(found, low=found.share, high=found.share)
        return found

    def cost(self, ours: int, other: int) -> tuple[float, float] | None:
        """From least to most that a candidate is worse than another, as shares of its mean.

        One end may be infinite; None if the runs bound neither.
        """
        found = self.difference(ours, other)
        if found is None or (found.low is None and found.high is None):
            return None
        turn = 1.0 if found.mean * found.share >= 0 else -1.0
        low = -inf if found.low is None else found.low
        high = inf if found.high is None else found.high
        least, most = sorted((turn * low, turn * high))
        return least, most

    def is_level(self, ours: int, other: int) -> bool:
        """Whether two candidates had the same value in every run that both have, two at least."""
        runs = min(len(self.values[ours]), len(self.values[other]))
        return runs > 1 and self._had(ours, runs) == self._had(other, runs)

    def _had(self, one: int, runs: int) -> tuple[Any, ...]:
        """The first runs of a candidate: its values, and by how much they break limits."""
        return (tuple(self.values[one][:runs]), *map(tuple, self.excess[one][:runs]))

    def is_decided(self, ours: int, other: int) -> bool:
        """Whether a candidate is surely worse than another, or surely equal to it."""
        found = self.cost(ours, other)
        if found is None:
            return False
        return found[0] > 0 or max(map(abs, found)) <= self.tolerance

    def repeats(self, one: int) -> bool:
        """Whether all runs of a candidate are copies of one, as nothing is drawn."""
        if self.is_exact:
            return True
        kept = list(zip(self.values[one], map(tuple, self.excess[one]), strict=True))
        return self.given and not self.windows and len(kept) > 1 and len(set(kept)) == 1

    def independent(self, runs: int) -> float | None:
        """How many independent runs the first ones are worth; None if as many as there are."""
        there = [self.windows[run] for run in range(runs) if run in self.windows]
        return independent(there) if there else None

    def worth(self, runs: int) -> float:
        """The same as a number in any case."""
        found = self.independent(runs)
        return float(runs) if found is None else min(found, float(runs))

    def factor(self) -> int:
        """How many intervals hold together: of every other candidate, at every look there may be.

        The true best could be dropped by any of the others, and after any round.
        """
        return max(1, self.count - 1) * (len(_sizes(self.count)) + _GRANTS)

    def _found_exact(self) -> bool:
        """Keeps one run of each candidate if all repeat it, and ends the race."""
        if not all(self.repeats(one) for one in range(self.count)):
            return False
        self.values = [values[:1] for values in self.values]
        self.excess = [excess[:1] for excess in self.excess]
        self.beside = [beside[:1] for beside in self.beside]
        self.is_exact = self._over = True
        self._until = 1
        return True

    def _first(self) -> int:
        """Until which number all candidates are run."""
        return min(self.most, max(1, int(self.budget / len(_sizes(self.count)) / self.count)))

    def _halved(self) -> bool:
        """Goes to the next round; False if there is none."""
        left = self.budget - self.done
        runs = self._common(self.alive)
        if len(self.alive) < 2 or runs >= self.most or left < 2:
            return False
        if runs > 1:
            self._drop_twins(runs)
        if len(self.alive) > _LAST:
            keep = max(_LAST, ceil(len(self.alive) / _HALVING))
            scores = self._scores(runs)
            self.alive = sorted(sorted(self.alive, key=lambda one: scores[one])[:keep])
            self.last = self.alive
        elif runs > 1:
            self._drop_worse()
        self._until = self._next()
        return self._until > runs and len(self.alive) > 1

    def _next(self) -> int:
        """Until which number the candidates left are run: their part of what the budget leaves."""
        runs = self._common(self.alive)
        if not runs:
            return self._first()
        left = self.budget - self.done
        sizes = _sizes(len(self.alive))
        more = int(left / len(sizes) / max(1, len(self.alive)))
        if len(sizes) > 1:
            # At least one, as long as the budget lasts.
            more = max(more, 1) if left >= len(self.alive) else 0
        return min(self.most, runs + more)

    def _common(self, of: list[int]) -> int:
        return min((len(self.values[one]) for one in of), default=0)

    def _excess(self, one: int, runs: int, doubt: float = 0.0) -> float:
        """The worst mean excess over the first runs; less a number of standard errors."""
        table = np.array(self.excess[one][:runs])
        if not table.size:
            return 0.0
        mean = table.mean(axis=0)
        if doubt and runs > 1:
            mean = mean - doubt * table.std(axis=0, ddof=1) / sqrt(runs)
        elif doubt:
            mean = mean - _ALONE
        return float(mean.max())

    def _place(self, one: int, runs: int, doubt: float = 0.0) -> tuple[float, float]:
        """By what a candidate is ranked: excess, then value."""
        over = max(0.0, self._excess(one, runs, doubt))
        return over, float(np.mean(self.values[one][:runs]))

    def _scores(self, runs: int) -> dict[int, tuple[float, float]]:
        """What each candidate left could still be: excess, then difference from the first."""
        table = np.array([self.values[one][:runs] for one in self.alive])
        over = [max(0.0, self._excess(one, runs, _DOUBT)) for one in self.alive]
        means = table.mean(axis=1)
        first = min(range(len(self.alive)), key=lambda place: (over[place], means[place]))
        pairs = table - table[first]
        could = pairs.mean(axis=1)
        if runs > 1:
            own = pairs.var(axis=1, ddof=1)
            others = [place for place in range(len(self.alive)) if place != first]
            pooled = float(np.median(own[others]))
            spread = ((runs - 1) * own + _SHRINK * pooled) / (runs - 1 + _SHRINK)
            spread[first] = 0.0
            could = could - _DOUBT * np.sqrt(spread / runs)
            could[first] = min(could[first], -np.inf)
        return {one: (over[place], float(could[place])) for place, one in enumerate(self.alive)}

    def _drop_twins(self, runs: int) -> None:
        """Of candidates that did the same in every run, in all that tells, the first stays."""
        seen: dict[tuple[Any, ...], int] = {}
        for one in self.alive:
            did = (*self._had(one, runs), *self.beside[one][:runs])
            first = seen.setdefault(did, one)
            if first != one:
                self.twin[one] = first
        self.alive = [one for one in self.alive if one not in self.twin]

    def _drop_worse(self) -> None:
        """Of the last ones those go that are decided against the first; both keep limits."""
        first, *others = self.order()[: len(self.alive)]
        if self.breaks(first):
            return
        for other in others:
            told = self.is_decided(other, first)
            if self.breaks(other, surely=True) or (told and not self.breaks(other)):
                self.alive = [one for one in self.alive if one != other]


def _sizes(count: int) -> list[int]:
    """How many candidates each round has.

    Example:
        >>> _sizes(40), _sizes(2)
        ([40, 16, 7, 3], [2])
    """
    sizes = [count]
    while sizes[-1] > _LAST:
        sizes.append(max(_LAST, ceil(sizes[-1] / _HALVING)))
    return sizes


# A single run says so little of a mean that it may break a limit by this part and be kept.
_ALONE = 0.1
