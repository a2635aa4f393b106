"""What to take where a search tells nothing apart, in words."""

from __future__ import annotations

from clift.design.result import (
    AS_GOOD,
    BEST,
    BREAKS,
    DROPPED,
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
    """What to take where the first is not told apart from others, and what else costs.

    It says no more than the ranking does: a cost is an end of an interval, and of who was dropped
    without proof only what was measured. Of many conditions it says what is level in all of them.
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
                {one.label for one in [ranking[0], *level_with(ranking)]} for ranking in rankings
            ]
            if any(len(one) > 1 for one in sets) and (common := set.intersection(*sets)):
                labels = [one.label for one in rankings[0] if one.label in common]
                found.append(f"First or level with it under every condition: {listed(labels)}.")
    return found


def level_with(ranking: list[Ranked]) -> list[Ranked]:
    """Those that are not told apart from the first, or are as good as the best."""
    wanted = AS_GOOD if ranking[0].standing == BEST else UNTOLD
    return [one for one in ranking[1:] if one.standing == wanted]


def listed(labels: list[str]) -> str:
    """The first labels, and how many more there are."""
    return "; ".join(labels[:_NAMED]) + (
        f"; and {len(labels) - _NAMED} more" if len(labels) > _NAMED else ""
    )


def _advice(design: Design, place: int) -> str:
    ranking = design.ranking(place)
    if not ranking or ranking[0].standing != UNTOLD or not (level := level_with(ranking)):
        return ""
    goal = design.objective
    labels = [ranking[0].label, *(one.label for one in level)]
    text = f"take any of these, which the runs do not tell apart: {listed(labels)}"
    # Costs count upwards, whatever is better.
    costs = [_cost(one, goal.sign) for one in level]
    if all(most is not None for _, most in costs):
        most = max(0.0, *(most for _, most in costs if most is not None))
        word = "less" if goal.better == "more" else "more"
        text += (
            f" (each at most {100 * most:.1f} % {word} {goal.name} than the first, 95 % intervals)"
        )
    parts = []
    worse = [_cost(one, goal.sign)[0] for one in ranking[1:] if one.standing == WORSE]
    told = [least for least in worse if least is not None and least > 0]
    if told:
        verb = "costs" if len(told) == 1 else "cost"
        parts.append(f"{len(told)} {verb} {100 * min(told):.1f} % or more (95 % intervals)")
    if len(worse) > len(told):
        verb = "is" if len(worse) - len(told) == 1 else "are"
        parts.append(f"{len(worse) - len(told)} {verb} worse, by how much is open")
    aside = [one for one in ranking if one.standing == DROPPED]
    if aside:
        said = f"{len(aside)} {'was' if len(aside) == 1 else 'were'} set aside after few runs"
        behind = min((one.share * goal.sign for one in aside if one.share is not None), default=0.0)
        by = f" (of two and more, {100 * behind:.1f} % behind or more)" if behind > 0 else ""
        parts.append(f"{said}{by}, which is no proof")
    rest = f" Of the others {'; '.join(parts)}." if parts else ""
    return f"{text}.{rest}"


def _cost(one: Ranked, sign: float) -> tuple[float | None, float | None]:
    """The least and the most that a candidate is worse than the first, as shares."""
    if one.low is None or one.high is None:
        return None, None
    least, most = sorted((one.low * sign, one.high * sign))
    return least, most
