"""Which candidates no other one beats in goodput, delay and capacity used at once.

Runs of one number have the same draws, and means over different runs are no match: a candidate that
was dropped after seven easy draws would stand above one that had the hard ones too. So two are
compared by the runs that both have, and who had next to none is left out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from clift._arrays import Floats
from clift.campaign.statistics import FEWEST_INDEPENDENT
from clift.design.objective import P99_DELAY

if TYPE_CHECKING:
    from clift.design.result import Contest

# What candidates are compared by: name, and the factor by which less is better.
_BY = (("goodput_kbps", -1.0), (P99_DELAY, 1.0), ("links.0.share_used", 1.0))


@dataclass(frozen=True, slots=True)
class Point:
    """Where a candidate stands beside the first of the front, by the runs that both have.

    Args:
        runs: How many those are.
        values: Goodput (kbit/s), delay (ms) and share of the link: the first's over all its runs,
            changed as the candidate's differ from it in the runs that both have.
        more: By how much they differ, as shares; None where the first is zero.
    """

    runs: int
    values: tuple[float, ...]
    more: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Front:
    """The front of a contest.

    Args:
        members: Candidates that no other one beats, in the order of the ranking.
        points: All that were compared; the members' first, to which they are compared, among them.
        left_out: How many had too few runs to be compared.
    """

    members: list[int] = field(default_factory=list)
    points: dict[int, Point] = field(default_factory=dict)
    left_out: int = 0


def front_of(contest: Contest) -> Front:
    """The front of the candidates under a condition.

    Who has runs worth fewer than three independent ones is left out, unless nobody has more.
    """
    tables = _tables(contest)
    if not tables:
        return Front()
    worth = {one: contest.race.worth(len(table)) for one, table in tables.items()}
    enough = min(FEWEST_INDEPENDENT, max(worth.values()))
    means = {one: _means(table) for one, table in tables.items() if worth[one] >= enough}
    signs = np.array([sign for _, sign in _BY])
    judged = {one: list(map(tuple, (table * signs).tolist())) for one, table in means.items()}
    members = [
        one
        for one, own in judged.items()
        if not any(_beats(other, own) for other in judged.values() if other is not own)
    ]
    first = means[members[0] if members else next(iter(means))]
    points = {one: _point(table, first) for one, table in means.items()}
    return Front(members, points, len(tables) - len(means))


def _tables(contest: Contest) -> dict[int, Floats]:
    """A row a run for each candidate, in order; of a run under several conditions their mean.

    In the order of the ranking, without those of which a run lacks one of the three.
    """
    counts = {one: len(contest.race.values[one]) for one in contest.race.order()}
    parts: dict[tuple[int, int], list[list[float]]] = {}
    for (one, run, _), values in contest.runs.items():
        # After Ctrl-C some may be there without those before them.
        if run < counts.get(one, 0):
            if all(name in values for name, _ in _BY):
                parts.setdefault((one, run), []).append([values[name] for name, _ in _BY])
            else:
                counts[one] = 0
    return {
        one: np.array([np.mean(parts[one, run], axis=0) for run in range(count)])
        for one, count in counts.items()
        if count
    }


def _means(table: Floats) -> Floats:
    """The means over the first run, the first two, and so on."""
    return np.cumsum(table, axis=0) / np.arange(1, len(table) + 1)[:, None]


def _beats(other: list[tuple[float, ...]], own: list[tuple[float, ...]]) -> bool:
    """Whether another is nowhere worse and somewhere better in the runs that both have."""
    both = min(len(other), len(own)) - 1
    theirs, ours = other[both], own[both]
    return theirs != ours and all(its <= mine for its, mine in zip(theirs, ours, strict=True))


def _point(own: Floats, first: Floats) -> Point:
    runs = min(len(own), len(first))
    found = zip(own[runs - 1].tolist(), first[runs - 1].tolist(), first[-1].tolist(), strict=True)
    triples = list(found)
    more = tuple(mine / base - 1 if base else None for mine, base, _ in triples)
    values = tuple(mine / base * whole if base else mine for mine, base, whole in triples)
    return Point(runs, values, more)
