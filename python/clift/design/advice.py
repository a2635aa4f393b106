"""What to take where a search tells nothing apart, in words."""

from __future__ import annotations

from math import ceil, sqrt

from clift.campaign.statistics import MOST_NEEDED, needed
from clift.design.result import (
    BREAKS,
    DROPPED,
    EQUAL,
    UNTOLD,
    WORSE,
    Design,
    Ranked,
)

SHOWN = 2
"""More conditions are a line each, with the ranking of each in the tables."""
# Candidates that a sentence names.
_NAMED = 6


def advice(design: Design) -> list[str]:
    """What to take where others are equal to the first or not told apart from it.

    It says no more than the ranking does: a cost is an end of an interval, and of who was dropped
    without proof only what was measured. Of many conditions it says what is equal in all of them.
    """
    found = []
    if len(design.contests) <= SHOWN:
        for place in range(len(design.contests)):
            if text := _advice(design, place):
                named = design.where(place)
                found.append(f"{named}: {text}" if named else f"T{text[1:]}")
    if len(design.contests) > 1:
        rankings = [design.ranking(place) for place in range(len(design.contests))]
        if all(one and one[0].standing != BREAKS for one in rankings):
            sets = [
                {one.label for one in [ranking[0], *standing(ranking, EQUAL)]}
                for ranking in rankings
            ]
            if any(len(one) > 1 for one in sets) and (common := set.intersection(*sets)):
                labels = [one.label for one in rankings[0] if one.label in common]
                found.append(f"First or equal to it under every condition: {listed(labels)}.")
    return found


def standing(ranking: list[Ranked], *wanted: str) -> list[Ranked]:
    """Those behind the first that have one of these standings."""
    return [one for one in ranking[1:] if one.standing in wanted]


def listed(labels: list[str]) -> str:
    """The first labels, and how many more there are."""
    return "; ".join(labels[:_NAMED]) + (
        f"; and {len(labels) - _NAMED} more" if len(labels) > _NAMED else ""
    )


def _advice(design: Design, place: int) -> str:
    ranking = design.ranking(place)
    if not ranking or ranking[0].standing == BREAKS:
        return ""
    equal, untold = standing(ranking, EQUAL), standing(ranking, UNTOLD)
    if not equal and not untold:
        return ""
    goal, first = design.objective, ranking[0].label
    if equal:
        labels = listed([first, *(one.label for one in equal)])
        within = f"{100 * design.tolerance:g} %"
        text = f"take any of these, which are equal within {within}: {labels}."
    else:
        text = f"take {first}."
    parts = []
    if untold:
        named = listed([f"{one.label}{_behind(one, goal.sign)}" for one in untold])
        verb = "is" if len(untold) == 1 else "are"
        parts.append(f"{named} {verb} not told apart from it{_would(design, place, untold)}")
    worse = [_cost(one, goal.sign)[0] for one in standing(ranking, WORSE)]
    told = [least for least in worse if least is not None]
    if told:
        verb = "costs" if len(told) == 1 else "cost"
        parts.append(f"{len(told)} {verb} {100 * min(told):.1f} % or more")
    if aside := standing(ranking, DROPPED):
        said = f"{len(aside)} {'was' if len(aside) == 1 else 'were'} set aside after few runs"
        behind = min((one.share * goal.sign for one in aside if one.share is not None), default=0.0)
        by = f" (of two and more, {100 * behind:.1f} % behind or more)" if behind > 0 else ""
        parts.append(f"{said}{by}, which proves nothing")
    rest = f" Of the others {'; '.join(parts)}." if parts else ""
    return text + rest


def _would(design: Design, place: int, untold: list[Ranked]) -> str:
    """How many runs of each would tell."""
    count = runs_needed(design, place, untold)
    if count is None:
        return ""
    if count > MOST_NEEDED:
        return f" (more than {MOST_NEEDED} runs of each would be needed)"
    return f" (about {count} runs of each would tell)"


def runs_needed(design: Design, place: int, untold: list[Ranked]) -> int | None:
    """About how many independent runs would tell candidates from the first, or equal to it.

    Args:
        design: The search.
        place: Number of the condition.
        untold: The candidates.

    Returns:
        One more than `MOST_NEEDED` if more; None if one of them is not compared.
    """
    race = design.contests[place].race
    first = design.ranking(place)[0].candidate
    found = [race.difference(one.candidate, first) for one in untold]
    differences = [one for one in found if one is not None]
    if len(differences) < len(found):
        return None
    runs = min(len(race.values[one.candidate]) for one in untold)
    # As many tests as leave each interval its level.
    tests = ceil(sqrt(race.factor() * len(design.contests)))
    count = needed(differences, race.worth(runs), tests, design.tolerance)
    return MOST_NEEDED + 1 if count is None else count


def _behind(one: Ranked, sign: float) -> str:
    """How far it may be behind the first."""
    least, most = _cost(one, sign)
    if least is None or most is None:
        return "" if one.share is None else f" ({100 * one.share * sign:.0f} % behind)"
    return f" ({100 * least:.1f} to {100 * most:.1f} % behind)"


def _cost(one: Ranked, sign: float) -> tuple[float | None, float | None]:
    """The least and the most that a candidate is worse than the first, as shares."""
    if one.low is None or one.high is None:
        return None, None
    least, most = sorted((one.low * sign, one.high * sign))
    return least, most
