"""What a search found, as text."""

from __future__ import annotations

from collections import Counter
from textwrap import fill

from clift._words import counted, is_best
from clift.campaign.caveats import given, two_bbrs
from clift.design.advice import SHOWN, advice
from clift.design.objective import IN_ORDER_DELAY, OBJECTIVES, P99_DELAY, Objective
from clift.design.result import (
    BEST,
    BREAKS,
    DROPPED,
    EQUAL,
    TWIN,
    UNTOLD,
    WORSE,
    Design,
    Ranked,
)
from clift.report.text import WIDTH, aligned, filled, first_notes, with_interval

# Rows of a ranking that are shown.
_ROWS = 12
_LONGEST = 36
_STANDINGS = {BEST: "best", EQUAL: "equal", UNTOLD: "?", WORSE: "worse", DROPPED: "set aside"}
_STANDINGS |= {TWIN: "", BREAKS: "breaks"}


def report(design: Design, *, has_advice: bool = True) -> str:
    """The ranking under each condition, the front, and what can be said.

    Args:
        design: The search.
        has_advice: Whether the text says what to take.
    """
    goal = design.objective
    limits = "".join(f", {limit.text}" for limit in design.constraints)
    head = f"{design.title}: {'most' if goal.better == 'more' else 'least'} {goal.title}{limits}"
    if not design.is_complete:
        runs = counted(design.budget, "run")
        head += f" - INTERRUPTED after {design.done} of {runs}: the ranking so far"
    parts = [fill(head, WIDTH)]
    if len(design.contests) <= SHOWN:
        for place in range(len(design.contests)):
            parts.append(_ranking(design, place))
            parts.append(_front(design, place))
    else:
        parts.append(_overview(design))
    parts.append(filled(given(design.campaign)))
    parts.append(two_bbrs(design.cells[: len(design.candidates)]))
    if has_advice:
        parts.append(filled(_sentence(design)))
        parts += map(filled, advice(design))
    parts += map(filled, first_notes(design.campaign))
    parts.append(filled(_legend(design)))
    return "\n\n".join(part for part in parts if part)


def _ranking(design: Design, place: int) -> str:
    contest = design.contests[place]
    ranking = design.ranking(place)
    goal = design.objective
    unit, scale = _shown(goal.unit, ranking)
    heads = ["runs", f"{_called(goal)}{unit}", "to the first", "p99 (s)", "used"]
    rows = [["", *heads]]
    standings = [""]
    for one in ranking[:_ROWS]:
        delay = contest.mean(one.candidate, P99_DELAY)
        used = contest.mean(one.candidate, "links.0.share_used")
        rows.append([
            _short(one.label),
            str(one.runs),
            with_interval(one.value, scale),
            _against(one),
            "-" if delay is None else f"{delay / 1000:.3g}",
            "-" if used is None else f"{used * 100:.0f} %",
        ])  # fmt: skip
        standings.append(_STANDINGS[one.standing] + f" {one.note}" * bool(one.note))
    lines = aligned(rows, left=1).splitlines()
    lines = [_cut(f"{line}  {said}".rstrip()) for line, said in zip(lines, standings, strict=True)]
    rest = len(ranking) - _ROWS
    if rest > 0:
        lines.append(f"and {rest} more")
    title = design.where(place)
    return "\n".join([f"{title}:"] * bool(title) + lines)


def _called(goal: Objective) -> str:
    """The name of an objective in a head; a metric's title, whose name may have a unit."""
    return goal.name if goal.name in (*OBJECTIVES, IN_ORDER_DELAY) else goal.title


def _shown(unit: str, ranked: list[Ranked]) -> tuple[str, float]:
    """The unit of a column, and the factor to it: delays of a second and more are in seconds."""
    if unit == "ms" and max((one.value.mean for one in ranked), default=0.0) >= 1000:
        return " (s)", 1e-3
    return f" ({unit})" if unit else "", 1.0


def _against(one: Ranked) -> str:
    if one.share is None:
        return ""
    if one.low is None or one.high is None or one.low == one.high:
        return f"{one.share * 100:+z.1f} %"
    # Few runs say little of one that was dropped, or did what another did in all of them.
    if one.standing in (DROPPED, TWIN):
        return f"{one.share * 100:+z.1f} %"
    return f"{one.low * 100:+z.1f} to {one.high * 100:+z.1f} %"


def _overview(design: Design) -> str:
    goal = design.objective
    unit, scale = _shown(goal.unit, [one for one in design.winners if one is not None])
    names = [name for name, _ in design.axes]
    rows = [[*names, "first", "", f"{_called(goal)}{unit}", "next that differs", "to it"]]
    for place, contest in enumerate(design.contests):
        labels = [label or "" for label in contest.condition]
        ranking = design.ranking(place)
        if not ranking or ranking[0].standing == BREAKS:
            rows.append([*labels, "none keeps the limits" if ranking else "-", "", "", "", ""])
            continue
        first = ranking[0]
        second = runner_up(design, place)
        sign = "" if first.standing == BEST else "?"
        row = [*labels, _short(first.label), sign, with_interval(first.value, scale)]
        row += (
            ["", ""]
            if second is None or second.share is None
            else [_short(second.label), f"{second.share:+.1%}"]
        )
        rows.append(row)
    lines = aligned(rows, left=len(names) + 1).splitlines()
    return "\n".join(map(_cut, lines))


def runner_up(design: Design, place: int) -> Ranked | None:
    """The next candidate that differs from the first by more than the tolerance."""
    return next(
        (
            one
            for one in design.ranking(place)[1:]
            if one.share is not None
            and one.standing != BREAKS
            and one.share * design.objective.sign > design.tolerance
        ),
        None,
    )


def _front(design: Design, place: int) -> str:
    front = design.compared(place)
    if len(front.members) < 2:
        return ""
    rows = [["", "runs", "goodput", "p99", "used"]]
    for one in front.members[:_ROWS]:
        point = front.points[one]
        goodput, delay, used = point.values
        label = _short(design.candidates[one].label)
        if len(rows) == 1:
            texts = [f"{goodput:.0f} kbit/s", f"{delay / 1000:.3g} s", f"{used * 100:.0f} %"]
        else:
            texts = [_change(more) for more in point.more]
        rows.append([label, str(point.runs), *texts])
    lines = aligned(rows, left=1).splitlines()
    if len(front.members) > _ROWS:
        lines.append(f"and {len(front.members) - _ROWS} more")
    title = "no other has more goodput, less delay and less of the link, by the runs that both have"
    said = "changes: to the first line"
    if front.left_out:
        said += f"; not compared: {front.left_out} with too few runs"
    return "\n".join([f"{title}:", *lines, f"({said})"])


def _change(share: float | None) -> str:
    if share is None:
        return "-"
    # What puts a candidate on the front may be little.
    return f"{share * 100:+.1f} %" if abs(share) >= 0.0005 or not share else f"{share * 100:+.1g} %"


def _sentence(design: Design) -> str:
    told = [one for one in design.winners if one is not None and one.standing == BEST]
    if len(design.contests) == 1:
        return _of_one(design)
    count = len(design.contests)
    if not told:
        conditions = counted(count, "condition")
        return f"In none of the {conditions} is the first told apart from all others (?)."
    firsts = Counter(one.label for one in told)
    found = ", ".join(f"{label} in {many}" for label, many in firsts.most_common())
    open_ = count - len(told)
    rest = f"in {open_} of them the first is not told apart from others (?)" if open_ else ""
    return f"Of {counted(count, 'condition')}, best is {found}{'; ' if rest else ''}{rest}."


def _of_one(design: Design) -> str:
    ranking = design.ranking(0)
    first = ranking[0]
    if first.standing == BREAKS:
        return f"No candidate keeps the limits; {first.label} comes closest: {first.note}."
    exact = (
        "; over this one trace, differences are exact" if design.contests[0].race.is_exact else ""
    )
    if first.standing == BEST:
        return f"{is_best(first.label)}{exact}."
    return f"{first.label} is first, but too few independent runs tell it from all others{exact}."


def _legend(design: Design) -> str:
    full = design.enumeration
    runs = f"{counted(design.done, 'run')} ({counted(len(design.candidates), 'candidate')}"
    if len(design.contests) > 1:
        runs += f", {counted(len(design.contests), 'condition')}"
    return (
        f"{runs}, seed {design.seed}; trying all of it would take {full}). ±: 95 % interval; to "
        "the first: by runs with the same draws; these intervals hold together with 95 %. Best: "
        f"none of the last round can be better by more than {100 * design.tolerance:g} %; equal: "
        "within that, either way; ?: that is not sure. Set aside: dropped after few runs, which is "
        "no proof."
    )


def _short(label: str) -> str:
    return _cut(label, _LONGEST)


def _cut(line: str, width: int = WIDTH) -> str:
    return line if len(line) <= width else f"{line[: width - 1]}…"
