"""Which alternative does best, and where that is open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import ceil, inf, isinf
from typing import Any, NamedTuple

import numpy as np

from clift._parse import MARGIN, shown
from clift._words import counted, is_best
from clift.campaign.metrics import metric
from clift.campaign.results import Cell, Results, fewest
from clift.campaign.statistics import (
    LEVEL,
    MOST_NEEDED,
    Difference,
    difference,
    holm,
    needed,
)
from clift.errors import ScenarioError

Condition = tuple[str | None, ...]

# Fewer runs leave the scatter, and so the number of runs needed, open by a factor of ten and more.
_FEWEST_TELLING = 4

# What the best may cost: a metric, and what it is called.
_COSTS = (
    ("links.0.share_used", "of the link"),
    ("links.0.packet_delay_ms.mean", "mean packet delay"),
)
# Less than this would read as 0 %.
_LEAST_GAIN = 0.005


class Range(NamedTuple):
    """From one number to another; over several conditions, all that is between them."""

    low: float
    high: float

    @classmethod
    def of(cls, ends: Sequence[float | None]) -> Range:
        """The range of which `as_list` gave the ends."""
        low, high = (inf if end is None else end for end in ends)
        return cls(low, high)

    def as_list(self) -> list[float | None]:
        """Both ends as JSON can hold them: None for one that nothing bounds."""
        return [None if isinf(end) else end for end in self]

    def with_(self, other: Range) -> Range:
        """The range that holds both."""
        return Range(min(self.low, other.low), max(self.high, other.high))


_NOTHING = Range(0.0, 0.0)


class Fixed(NamedTuple):
    """What one choice costs if it is fixed and the other axes are free.

    Args:
        label: What is fixed.
        partner: What then is best beside it; empty if the first of all has it.
        cost: How much worse that is than the first of all, as a share.
        interval: The 95 % interval of the cost; None if there is none.
    """

    label: str
    partner: str
    cost: float
    interval: Range | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What can be said of the alternatives under a condition, or under several.

    Args:
        condition: Labels on the other axes; None stands for all labels of one.
        best: The alternative that is better than each other one; None if there is none.
        among: The alternatives not told apart, best mean first; with a `best` the runner-up.
        word: What the best has more or less of.
        gain: By how much, as a share of what the runner-up has.
        interval: The 95 % interval of that; over several conditions the widest. It ends at `inf` if
            the runner-up's mean may be zero.
        costs: What it has more (or less) of beside: what, in which unit, from and to.
        why: Why none is called best, if that is not for lack of a difference.
        is_equal: Whether those of `among` are equal: the 95 % interval of each difference from the
            first is within the margin.
        is_same: Whether those of `among` had the same values in every run, though draws differ.
        is_exact: Whether nothing is drawn, so that the difference is exact for the trace given.
        runs: How many independent runs there are of each.
        needed: About how many would tell those of `among` apart, or equal;
            None if that is more than 10,000, or decided.
        lasts_s: How long a run over a given trace lasts, if its start is drawn; else 0.
        margin: Share within which alternatives are equal.
        fixed: With several axes compared, what each choice costs against the first of all.
        equal: If some of `among` are open, those that equal the first within the margin. `gain` and
            `needed` are for the open ones.
        same: Likewise those that had the values of the first in every run.
    """

    condition: Condition
    best: str | None
    among: tuple[str, ...]
    word: str = ""
    gain: Range = _NOTHING
    interval: Range | None = None
    costs: tuple[tuple[str, str, Range], ...] = ()
    why: str = ""
    is_equal: bool = False
    is_same: bool = False
    is_exact: bool = False
    runs: float = 0.0
    needed: int | None = None
    lasts_s: float = 0.0
    margin: float = MARGIN
    fixed: tuple[Fixed, ...] = ()
    equal: tuple[str, ...] = ()
    same: tuple[str, ...] = ()

    @classmethod
    def of(cls, kept: Mapping[str, Any]) -> Verdict:
        """The verdict of which `as_dict` gave the parts, without what it costs."""
        ends = {"gain": Range.of(kept["gain"]), "interval": None, "costs": (), "fixed": ()}
        return cls(**{**kept, **ends})

    def as_dict(self) -> dict[str, Any]:
        """What JSON has of it."""
        interval = None if self.interval is None else self.interval.as_list()
        return asdict(self) | {"gain": self.gain.as_list(), "interval": interval}


def conclude(results: Results) -> str:
    """Which label of the axis compared is best in each condition, by how much and at what cost.

    An alternative is best if it is better than *each* other one, by paired differences of runs with
    the same draws. Every such claim of the campaign counts: with a probability of 95 % all of them
    are true (Holm 1979). Never is a winner called from one run. A file that was not through counts
    with the time that it had, so that what is best has all of its own through. What an interrupt
    left without a second run is passed over. Where nothing is drawn a single run is exact for its
    trace, and the sentence says so.

    Args:
        results: What was measured.

    Returns:
        Sentences; empty if no alternatives vary or nothing is done.
    """
    axes = compared_axes(results)
    if not axes:
        return ""
    if results.asked().max() == 1 and not _are_exact(results):
        return "No alternative is called best from a single run; ask for more (--runs)."
    labels = [names for name, names in results.axes if name not in axes and len(names) > 1]
    parts: dict[str, list[str]] = {}
    found = _merged(verdicts(results), labels)
    others = [name for name in _varying(results) if name not in axes]
    for verdict in found:
        parts.setdefault(head(verdict), []).append(_where(verdict, others))
    sentence = "; ".join(f"{head}{_listed(where)}" for head, where in parts.items())
    if not sentence:
        return ""
    if not results.is_complete:
        return f"So far: {sentence}."
    if sentence.startswith(
        ("none ", "too few ", "over this one ")
    ):  # labels and axes stay as written in the file
        sentence = sentence[0].upper() + sentence[1:]
    costs = _fixed(found[0]) if len(found) == 1 else ""
    return f"{sentence}.{costs}"


def verdicts(results: Results) -> list[Verdict]:
    """What can be said of the alternatives in each condition, in the order of the cells.

    Args:
        results: What was measured.

    Returns:
        One verdict a condition; none of a condition with a cell of fewer than two runs.
    """
    axes = compared_axes(results)
    if not axes or (results.counts().max() < 2 and not _are_exact(results)):
        return []
    open_cases = [
        case
        for condition, cells in conditions(results, *axes).items()
        if (case := _case(condition, cells)) is not None
    ]
    held = holm([case.p for case in open_cases], LEVEL)
    return [
        case.verdict(axes, holds, results.margin)
        for case, holds in zip(open_cases, held, strict=True)
    ]


def _are_exact(results: Results) -> bool:
    return not results.is_large and any(cell.is_exact for cell in results.cells)


def compared_axis(results: Results) -> str | None:
    """The axis whose labels are alternatives: `scheme`, else the first that is not given."""
    varying = _varying(results)
    if "scheme" in varying:
        return "scheme"
    return next((name for name in varying if name not in results.conditions), None)


def compared_axes(results: Results) -> list[str]:
    """The axes whose combinations are alternatives: those asked for, else all that are not given.

    `scheme` comes first, as it is named first.

    Raises:
        ScenarioError: If an axis asked for does not vary, or is given twice.
    """
    varying = _varying(results)
    for name in results.compare:
        if name not in varying:
            cure = f"give {', '.join(varying)}" if varying else "nothing varies"
            raise ScenarioError(f"compare = {shown(name)}: the scenario does not vary it; {cure}")
        if results.compare.count(name) > 1:
            raise ScenarioError(f"compare = {shown(name)}: is given twice; remove one")
    chosen = results.compare or [name for name in varying if name not in results.conditions]
    if not results.compare and "scheme" in varying and "scheme" not in chosen:
        chosen = ["scheme"]
    return sorted(chosen, key=lambda name: (name != "scheme", varying.index(name)))


def _varying(results: Results) -> list[str]:
    return [name for name, labels in results.axes if len(labels) > 1]


def conditions(results: Results, *axes: str | None) -> dict[Condition, list[Cell]]:
    """The cells by their names on the other axes (those that vary), in order."""
    varying = _varying(results)
    grouped: dict[Condition, list[Cell]] = {}
    for cell in results.cells:
        key = tuple(cell.name(name) for name in cell.labels if name not in axes and name in varying)
        grouped.setdefault(key, []).append(cell)
    return grouped


@dataclass(frozen=True, slots=True)
class _Case:
    """The alternatives of one condition by rank, and how the first compares with each other one."""

    condition: Condition
    ranked: list[Cell]
    differences: list[Difference]
    is_exact: bool
    independent: float

    @property
    def p(self) -> float:
        """Of the claim that the first is better than all others.

        Whichever of k is first, it would have to beat the true best by chance, which k - 1 others
        could: so the largest of the probabilities counts k - 1 times.
        """
        most = max(found.p for found in self.differences)
        return min(1.0, most * len(self.differences))

    def verdict(self, axes: list[str], holds: bool, margin: float) -> Verdict:
        first, second = self.ranked[:2]
        lead, exact = self.differences[0], self.is_exact
        names = [" with ".join(map(cell.name, axes)) for cell in self.ranked]
        fixed = tuple(self._fixed(axes)) if len(axes) > 1 else ()
        if not _is_through(first):
            return Verdict(self.condition, None, (), why="some files were not through")
        if (
            not holds
            or abs(lead.share) < _LEAST_GAIN
            or not all(map(_excludes_none, self.differences))
        ):
            level = [
                (name, found)
                for name, found in zip(names[1:], self.differences, strict=True)
                if found.p > LEVEL
                or abs(found.share) < _LEAST_GAIN
                or name == names[1]
                or not _excludes_none(found)
            ]
            same = {name for name, found in level if not exact and found.mean == found.spread == 0}
            equal = {name for name, found in level if found.is_within(margin)} - same
            untold = [(name, found) for name, found in level if name not in same | equal]
            count = None
            is_open = bool(untold) and not exact
            gaps = [found for _, found in (untold if is_open else level)]
            if is_open:
                tests, least = len(self.differences), fewest(first.primary)
                count = needed(gaps, self.independent, tests, margin, least)
            shares = [abs(found.share) for found in gaps]
            return Verdict(
                self.condition,
                None,
                (names[0], *(name for name, _ in level)),
                metric(first.primary).title,
                Range(min(shares), max(shares)),
                is_equal=not untold and any(found.is_within(margin) for _, found in level),
                is_same=not untold and not equal,
                is_exact=exact,
                runs=self.independent,
                needed=count,
                lasts_s=_lasts(first),
                margin=margin,
                fixed=fixed,
                equal=tuple(sorted(equal)) if is_open else (),
                same=tuple(sorted(same)) if is_open else (),
            )
        shown = metric(first.primary)
        word = "less time" if shown.better == "less" else f"more {shown.title}"
        if not _is_through(second):
            word = f"{word} or better"
        interval = None
        if lead.low is not None and not exact:
            sign = -1 if lead.share < 0 else 1
            ends = Range.of((lead.low, lead.high))
            interval = Range(*sorted(sign * end for end in ends))
        return Verdict(
            self.condition,
            names[0],
            (names[1],),
            word,
            Range(abs(lead.share), abs(lead.share)),
            interval,
            tuple(_costs(first, second)),
            is_exact=exact,
            runs=self.independent,
            margin=margin,
            fixed=fixed,
        )

    def _fixed(self, axes: list[str]) -> Iterator[Fixed]:
        """What each label costs with the other axes free, by the cell that is then best."""
        sign = 1 if metric(self.ranked[0].primary).better == "less" else -1

        def cost(share: float) -> float:
            # From the first as a share of the other to the other as a share of the first.
            return sign * (1 / (1 + share) - 1) if share > -1 else inf

        for axis in axes:
            labels = dict.fromkeys(sorted(cell.labels[axis] for cell in self.ranked))
            for label in labels:
                place = [cell.labels[axis] for cell in self.ranked].index(label)
                best = self.ranked[place]
                if not place:
                    yield Fixed(best.name(axis), "", 0.0, None)
                    continue
                found, interval = self.differences[place - 1], None
                if found.low is not None:
                    interval = Range(*sorted(map(cost, Range.of((found.low, found.high)))))
                partner = " with ".join(best.name(other) for other in axes if other != axis)
                yield Fixed(best.name(axis), partner, cost(found.share), interval)


def _excludes_none(found: Difference) -> bool:
    """Whether the interval, if there is one, leaves no room for equal means."""
    return found.low is None or found.low > 0 or (found.high is not None and found.high < 0)


def _lasts(cell: Cell) -> float:
    if not cell.windows:
        return 0.0
    return float(np.mean(list(cell.column("duration_s").values())))


def _case(condition: Condition, cells: list[Cell]) -> _Case | None:
    """None if a cell has too few runs to be compared."""
    if len(cells) < 2 or not all(len(cell.values) > 1 or cell.is_exact for cell in cells):
        return None
    exact = all(cell.is_exact for cell in cells)
    # A file that was not through counts for the whole run.
    times = {id(cell): cell.column("duration_s") | cell.column(cell.primary) for cell in cells}
    if not exact:
        # A cell in which nothing is drawn does the same in every run of the others.
        numbers = {run for cell in cells for run in cell.values}
        for cell in cells:
            if cell.is_exact:
                [only] = times[id(cell)].values()
                times[id(cell)] = dict.fromkeys(numbers, only)
    ranked = sorted(cells, key=lambda cell: float(np.mean(list(times[id(cell)].values()))))
    if metric(cells[0].primary).better == "more":
        ranked.reverse()
    first = ranked[0]
    found = [_compared(first, other, times) for other in ranked[1:]]
    told = [one for one in found if one is not None]
    if len(told) < len(found):
        return None
    if exact:
        return _Case(condition, ranked, told, True, 1.0)
    pairs = len(times[id(first)].keys() & times[id(ranked[1])].keys())
    worth = _independent(first, ranked[1], times)
    return _Case(condition, ranked, told, False, float(pairs) if worth is None else worth)


def _compared(first: Cell, other: Cell, times: dict[int, dict[int, float]]) -> Difference | None:
    ours, its = times[id(first)], times[id(other)]
    if first.is_exact and other.is_exact:
        return _exactly(ours, its)
    worth = _independent(first, other, times)
    return difference(ours, its, worth, fewest=fewest(first.primary))


def _independent(first: Cell, other: Cell, times: dict[int, dict[int, float]]) -> float | None:
    """How many independent runs the pairs of two cells are worth; None if each is one."""
    pairs = times[id(first)].keys() & times[id(other)].keys()
    # One in which nothing is drawn says nothing about the draws: the other's count.
    return (other if first.is_exact else first).independent(pairs)


def _exactly(ours: dict[int, float], other: dict[int, float]) -> Difference:
    """How two cells differ in which nothing is drawn."""
    mine, its = next(iter(ours.values())), next(iter(other.values()))
    share = (mine - its) / its if its else (0.0 if mine == its else float("inf"))
    return Difference(mine - its, share, share, share, 0.0)


def _is_through(cell: Cell) -> bool:
    return len(cell.column(cell.primary)) == len(cell.values)


def _costs(first: Cell, second: Cell) -> Iterator[tuple[str, str, Range]]:
    """What the best has more or less of than the runner-up, where the runs tell."""
    for name, what in _COSTS:
        ours, other = first.column(name), second.column(name)
        if first.is_exact and second.is_exact:
            found = _exactly(ours, other) if ours and other else None
        else:
            found = difference(ours, other, first.independent(ours.keys() & other.keys()))
        if found is not None and found.p <= LEVEL:
            more = found.mean * metric(name).scale
            yield what, metric(name).unit, Range(more, more)


def _merged(found: list[Verdict], labels: list[list[str]]) -> list[Verdict]:
    """Conditions that differ in one axis only and cover all of its labels become one."""
    for place in reversed(range(len(labels))):
        groups: dict[tuple[Condition, tuple[object, ...]], list[Verdict]] = {}
        for verdict in found:
            rest = (*verdict.condition[:place], None, *verdict.condition[place + 1 :])
            said = (
                *(verdict.best, verdict.among, verdict.word, verdict.why, _signs(verdict)),
                *(verdict.is_equal, verdict.is_same, verdict.is_exact, verdict.needed is None),
                *(verdict.equal, verdict.same),
            )
            groups.setdefault((rest, said), []).append(verdict)
        merged: list[Verdict] = []
        for (rest, _), members in groups.items():
            whole = len(members) == len(labels[place])
            merged += [_together(rest, members)] if whole else members
        found = merged
    return found


def _signs(verdict: Verdict) -> tuple[tuple[str, bool], ...]:
    return tuple((what, spread.low > 0) for what, _, spread in verdict.costs)


def _together(condition: Condition, members: list[Verdict]) -> Verdict:
    one = members[0]
    for other in members[1:]:
        spread = one.interval
        if spread is not None and other.interval is not None:
            spread = spread.with_(other.interval)
        costs = zip(one.costs, other.costs, strict=True)
        one = replace(
            one,
            gain=one.gain.with_(other.gain),
            interval=spread,
            costs=tuple((what, unit, a.with_(b)) for (what, unit, a), (_, _, b) in costs),
            runs=min(one.runs, other.runs),
            needed=None if one.needed is None else max(one.needed, other.needed or 0),
            lasts_s=max(one.lasts_s, other.lasts_s),
        )
    return replace(one, condition=condition)


def head(verdict: Verdict) -> str:
    """What can be said of the alternatives, without where and by how much."""
    if verdict.best is not None:
        said = is_best(verdict.best)
        return f"over this one trace {said}" if verdict.is_exact else said
    if verdict.why:
        return f"none is called best, as {verdict.why}"
    decided = {*verdict.equal, *verdict.same}
    together = _and(sorted(name for name in verdict.among if name not in decided))
    if verdict.is_exact:
        return f"over this one trace {together} do the same"
    if verdict.is_same:
        return f"{together} have the same {verdict.word} in every run"
    if verdict.is_equal:
        return f"{together} are equal within {verdict.margin * 100:g} %"
    return f"too few independent runs to tell {together} apart"


def _where(verdict: Verdict, axes: Sequence[str]) -> str:
    # A number alone may be read as the gain.
    place = " ".join(
        f"{axis} {label}" if label[:1].isdigit() else label
        for axis, label in zip(axes, verdict.condition, strict=True)
        if label is not None
    )
    gain = percent(verdict.gain)
    if verdict.best is not None and isinf(verdict.gain.low):
        much = f"({verdict.among[0]} has no {verdict.word.removeprefix('more ')})"
    elif verdict.best is not None:
        interval = f", interval {percent(verdict.interval)}" if verdict.interval else ""
        costs = "".join(f"; {cost(*one)}" for one in verdict.costs)
        much = f"({gain} {verdict.word} than {verdict.among[0]}{interval}{costs})"
    elif verdict.why:
        much = ""
    elif verdict.is_same:
        much = f"({_count(verdict.runs)})"
    elif verdict.is_exact or verdict.is_equal:
        much = f"({gain} apart)"
    else:
        much = f"({gain} apart in {_count(verdict.runs)}; {_would(verdict)}{as_good(verdict)})"
    return f"{place} {much}".strip()


def as_good(verdict: Verdict) -> str:
    """Which alternatives do as well as the first of those that are open."""
    first, said = verdict.among[0], ""
    if verdict.same:
        verb = "has" if len(verdict.same) == 1 else "have"
        said += f"; {_and(verdict.same)} {verb} the {verdict.word} of {first} in every run"
    if verdict.equal:
        verb = "equals" if len(verdict.equal) == 1 else "equal"
        said += f"; {_and(verdict.equal)} {verb} {first} within {verdict.margin * 100:g} %"
    return said


def _and(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _fixed(verdict: Verdict) -> str:
    """What each choice costs if the other axes are free."""
    costs = [one for one in verdict.fixed if one.partner]
    if not costs or not verdict.among:
        return ""
    first = verdict.best or verdict.among[0]

    def told(one: Fixed) -> str:
        interval = f", interval {percent(one.interval)}" if one.interval else ""
        return f"{one.label} {percent(Range(one.cost, one.cost))} (with {one.partner}{interval})"

    costs.sort(key=lambda one: one.cost)
    listed = ", ".join(map(told, costs))
    return f" One choice fixed and the rest free costs, against {first}: {listed}."


def _count(runs: float) -> str:
    if runs == round(runs):
        return counted(round(runs), "run")
    return f"runs worth {runs:.1f}"


def _would(verdict: Verdict) -> str:
    """How many runs would tell, and how much of a trace these take."""
    if verdict.runs < _FEWEST_TELLING:
        return "too few to say how many would tell"
    if verdict.needed is None:
        return f"more than {MOST_NEEDED} would be needed"
    trace = ""
    if verdict.lasts_s:
        minutes = ceil(verdict.needed * verdict.lasts_s / 60)
        trace = f", which take {minutes} min of trace"
    return f"about {verdict.needed} would tell{trace}"


def _listed(where: list[str]) -> str:
    if len(where) == 1 and (not where[0] or where[0].startswith("(")):
        return f" {where[0]}".rstrip()
    return f" for {_and(where)}"


def percent(spread: Range) -> str:
    """A range of shares in per cent."""
    if isinf(spread.high):
        return f"at least {spread.low * 100:.0f} %"
    return f"{_span(spread.low * 100, spread.high * 100, 0)} %"


def cost(what: str, unit: str, spread: Range) -> str:
    """How much more or less of something the best takes."""
    more = "more" if spread.low > 0 else "less"
    low, high = sorted((abs(spread.low), abs(spread.high)))
    digits = 0 if high >= 10 else 1
    if unit == "%":
        return f"{_span(low, high, digits)} points {more} {what}"
    if unit == "ms" and high >= 1000:
        return f"{_span(low / 1000, high / 1000, 1)} s {more} {what}"
    return f"{_span(low, high, digits)} {unit} {more} {what}"


def _span(low: float, high: float, digits: int) -> str:
    """A range, or one number where both ends look the same.

    Example:
        >>> _span(-0.2, 0.3, 0), _span(1.0, 2.0, 1)
        ('0', '1.0 to 2.0')
    """
    first, last = f"{low:z.{digits}f}", f"{high:z.{digits}f}"
    return first if first == last else f"{first} to {last}"
