"""The answer of an advice, in words and as data."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, field
from math import inf
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np

from clift.advise.link import Link
from clift.campaign.statistics import FEWEST_INDEPENDENT, MOST_NEEDED, Difference
from clift.design.advice import runs_needed
from clift.design.objective import IN_ORDER_DELAY, Objective, of_metric
from clift.design.race import Race
from clift.design.result import BEST, BREAKS, EQUAL, TWIN, Contest, Design, Ranked
from clift.report.text import WIDTH, aligned
from clift.report.trace_text import rate
from clift.trace import PhyTrace


@dataclass(frozen=True, slots=True)
class Alternative:
    """A pair of scheme and transport beside the one to take.

    Means over different runs do not compare. So those of another pair are the means of the pair to
    take, changed as the two differ in the runs that both have.

    Args:
        pair: Its name.
        value: Mean of the goal.
        share: How much more it has of the goal than the pair to take, as a share.
        low: Where the 95 % interval of that begins; None with too few runs, or too few that differ.
        high: Where it ends.
        runs: Number of its runs.
        p99_delay_ms: 99th percentile of the time until the application has the data of a segment,
            mean over the runs.
        share_used: Share of the link's slots that it uses, repairs included.
        limit: What limits it, in words.
    """

    pair: str
    value: float
    share: float
    low: float | None
    high: float | None
    runs: int
    p99_delay_ms: float | None
    share_used: float | None
    limit: str


@dataclass(frozen=True, slots=True)
class Advice:
    """What `clift.advise` found.

    Args:
        log: Name of the log.
        sha256: SHA-256 of the log; empty for a pipe.
        link: What the log says about its link.
        notes: How the log was read: what was understood, assumed and warned of.
        setting: What the runs assume: `rtt`, `queue`, `window_s`, `task`.
        answer: The answer in words.
        pair: The scheme and transport to take; None if the log cannot tell.
        alternatives: The pair to take (or the first of the ranking), and the best pair with each
            other scheme and each other transport.
        changes: Whether other conditions change the answer: the condition and the pair there.
        trace: The log as a trace.
        found: The search, with a ranking of all pairs; None if the log is too short for one.
    """

    log: str
    sha256: str
    link: Link
    notes: dict[str, list[str]]
    setting: dict[str, str]
    answer: str
    pair: str | None
    alternatives: list[Alternative]
    changes: dict[str, str]
    trace: PhyTrace = field(repr=False)
    found: Design | None = None

    def save(self, folder: str | os.PathLike[str], force: bool = False) -> list[Path]:
        """Write the report, its picture and data, and the tables and charts of the search.

        Args:
            folder: Made if it does not exist.
            force: Whether files of another origin are replaced.

        Returns:
            The files.

        Raises:
            ScenarioError: If a file cannot be written, or is of another origin.
        """
        from clift.advise import page

        return list(page.write(self, Path(folder), force))

    def as_dict(self) -> dict[str, Any]:
        """What `clift advise --json` prints."""
        return {
            "answer": self.answer,
            "pair": self.pair,
            "log": {"name": self.log, "sha256": self.sha256},
            "link": asdict(self.link),
            "notes": self.notes,
            "setting": self.setting,
            "alternatives": [asdict(one) for one in self.alternatives],
            "changes": self.changes,
            "search": None if self.found is None else self.found.as_dict(),
        }

    def table(self) -> list[list[str]]:
        """The alternatives as rows of text, below their heads; empty without a search."""
        if self.found is None:
            return []
        goal = self.found.objective
        rows = [["", "runs", goal.name, "to the first", "p99 in order", "link used", "limited by"]]
        for one in self.alternatives:
            delay = "-" if one.p99_delay_ms is None else of_metric(IN_ORDER_DELAY, one.p99_delay_ms)
            used = "-" if one.share_used is None else f"{one.share_used:.0%}"
            by = "" if one is self.alternatives[0] else interval(one)
            value = in_unit(goal, one.value)
            rows.append([one.pair, str(one.runs), value, by, delay, used, one.limit])
        return rows

    @property
    def changes_title(self) -> str:
        """The heading of `changes`, with what their differences are to."""
        return f"What would change the answer (differences are to {self.alternatives[0].pair})"

    @property
    def said(self) -> list[tuple[str, str]]:
        """Kind and text of each note."""
        kinds = {"understood": "understood", "assumed": "assumed", "warnings": "warning"}
        notes = [(kinds[kind], text) for kind, texts in self.notes.items() for text in texts]
        return notes + [("assumed", f"{name}: {text}") for name, text in self.setting.items()]

    def __str__(self) -> str:
        return f"The link of {self.log}\n{self.link}\n\n{self.verdict}"

    @property
    def reading(self) -> str:
        """How the log was read, as text: understood, assumed, warned of."""
        return "\n".join(
            fill(f"  {kind:<12}{text}", WIDTH, subsequent_indent=14 * " ", break_on_hyphens=False)
            for kind, text in self.said
        )

    @property
    def verdict(self) -> str:
        """How the log was read, alternatives, what would change the answer, and the answer."""
        parts = [f"How the log was read\n{self.reading}"]
        if rows := self.table():
            last = [row.pop() for row in rows]
            lines = aligned(rows, left=1).splitlines()
            widest = max(map(len, lines))
            pairs = zip(lines, last, strict=True)
            parts.append(
                "\n".join(f"{line.ljust(widest)}  {said}".rstrip() for line, said in pairs)
            )
        if self.changes:
            lines = [
                fill(f"  {what}: {pair}", WIDTH, subsequent_indent="    ", break_on_hyphens=False)
                for what, pair in self.changes.items()
            ]
            parts.append("\n".join([self.changes_title, *lines]))
        parts.append(fill(self.answer, WIDTH, break_on_hyphens=False))
        return "\n\n".join(parts)


_START = " The runs show only the start of a transfer; another pair may suit a longer one."


def _equals(found: Design) -> list[Ranked]:
    """The first of the ranking and all pairs that are surely equal to it."""
    first, *others = found.ranking()
    return [first] + [
        one
        for one in others
        if one.standing == EQUAL or (one.standing != TWIN and _is_copy(found, one, first))
    ]


def _is_copy(found: Design, one: Ranked, of: Ranked) -> bool:
    """Whether a pair had the result of another in every run that both have."""
    values = found.contests[0].race.values
    both = zip(values[one.candidate], values[of.candidate], strict=False)
    return all(a == b for a, b in both)


def answered(
    found: Design, link: Link, *, is_start: bool = False
) -> tuple[Ranked, str | None, str]:
    """The answer.

    Args:
        found: The search.
        link: The link of the log.
        is_start: Whether the runs show only the start of a transfer.

    Returns:
        The pair to take or the first of the ranking; its name, or None if the log cannot tell; and
        the answer in words.
    """
    ranking, goal = found.ranking(), found.objective
    first, race = ranking[0], found.contests[0].race
    so_far = "" if found.is_complete else f"After {found.done} of {found.budget} runs: "
    idle = [one for one in ranking if not any(race.values[one.candidate])]
    if idle:
        return first, None, so_far + _nothing(len(idle), len(ranking), link)
    start = _START if is_start else ""
    same = _equals(found)
    others = [one for one in ranking if one not in same and one.standing != TWIN]
    rival = others[0] if others else None
    if first.standing != BEST and rival is not None:
        # The answer names a pair that may be better, as the runs exclude it of others.
        may = (one for one in others if not _is_excluded(race, one, first))
        return first, None, so_far + _untold(found, first, next(may, rival), link) + start
    taken, why, aside = _preferred(found, same)
    text = f"{so_far}Take {taken.label}: {goal.title} {in_unit(goal, taken.value.mean)}"
    text += f", mean of {taken.runs} runs.{start}"
    if len(same) > 1:
        labels = "; ".join(one.label for one in same if one is not taken)
        text += f" Equal within {found.tolerance:.0%}: {labels}. {taken.label} is {why}.{aside}"
    text += _copies(found, same)
    if rival is not None:
        text += f" Next is {rival.label}: {_against(race, rival, taken)}"
        if _is_equal(race, rival, taken):
            text += f", equal to {taken.label} but not surely to {first.label}"
        elif (
            rival.candidate not in race.last
            and race.cost(rival.candidate, taken.candidate) is not None
            and not _is_excluded(race, rival, taken)
        ):
            text += f" (set aside after {rival.runs} runs, which do not exclude that it is better)"
        text += "."
    if not link.loss:
        text += " The log has no loss, so this holds for a link without any."
    sure = _sure(race, taken, link)
    return taken, taken.label, f"{text} {_cost(found.contests[0], taken)} {sure}"


def _nothing(idle: int, pairs: int, link: Link) -> str:
    text = f"Can't be told from this log: nothing arrives in any run of {idle} of {pairs} pairs"
    if 2 * link.outage_s < link.duration_s:
        return f"{text}, each {link.window_s:.3g} s long."
    outages = f"{link.outages} outages, together {link.outage_s:.0f} s"
    return f"{text}. The link is down for most of the log ({outages})."


def _copies(found: Design, same: list[Ranked]) -> str:
    """The pairs dropped as they did what one of `same` did.

    Their few runs may not have met what makes a difference.
    """
    text = ""
    for one in found.ranking():
        if one.standing == TWIN and (of := [of for of in same if _is_copy(found, one, of)]):
            text += f" {one.label} had the same {found.objective.title} as {of[0].label} in all"
            text += f" its {one.runs} runs."
    return text


def _is_equal(race: Race, one: Ranked, other: Ranked) -> bool:
    cost = race.cost(one.candidate, other.candidate)
    return cost is not None and max(map(abs, cost)) <= race.tolerance


def _preferred(found: Design, same: list[Ranked]) -> tuple[Ranked, str, str]:
    """Of equal pairs the simplest whose delay is the lowest, within the tolerance.

    What the first excludes, a pair equal to it need not: it is only taken if it does, too.

    Returns:
        The pair; why it is taken; and the pair with a lower delay that is not, if there is one.
    """
    contest, first = found.contests[0], same[0]
    race = contest.race
    rivals = [
        one
        for one in found.ranking()[1:]
        if one.candidate in race.last and one.standing not in (TWIN, BREAKS)
    ]
    better = {
        one.candidate: [
            rival
            for rival in rivals
            if rival is not one
            and not _is_excluded(race, rival, one)
            and not _is_excluded_by_way_of(race, rival, one, first)
        ]
        for one in same[1:]
    }
    sure = [first] + [one for one in same[1:] if not better[one.candidate]]
    found_ms = ((one, _mean_beside(contest, one, first, IN_ORDER_DELAY)) for one in same)
    delays = {one.candidate: inf if delay is None else delay for one, delay in found_ms}

    def lowest(of: list[Ranked]) -> list[Ranked]:
        most = (1 + found.tolerance) * min(delays[one.candidate] for one in of)
        return [one for one in of if delays[one.candidate] <= most]

    taken = min(lowest(sure), key=lambda one: one.candidate)
    why = "the simplest of those with the lowest delay"
    if taken is min(same, key=lambda one: one.candidate):
        why = "the simplest"
    elif taken is min(sure, key=lambda one: one.candidate):
        why = "the simplest of those that no pair of the last round can beat by more"
    if taken in (low := lowest(same)):
        return taken, why, ""
    other = min(low, key=lambda one: one.candidate)
    ms, less_ms = (of_metric(IN_ORDER_DELAY, delays[one.candidate]) for one in (taken, other))
    aside = (
        f" {other.label} has a lower delay, {less_ms} instead of {ms}, but "
        f"{better[other.candidate][0].label} may be better than it by more than "
        f"{found.tolerance:.0%}."
    )
    return taken, why, aside


def _mean_beside(contest: Contest, one: Ranked, taken: Ranked, name: str) -> float | None:
    """The mean of a metric of a pair, over the runs of the pair to take.

    It is the mean of the pair to take, changed as the two differ in the runs that both have.
    """
    both = range(min(one.runs, taken.runs))
    own, its = (
        float(np.mean([contest.runs[row.candidate, run, 0].get(name, np.nan) for run in both]))
        for row in (one, taken)
    )
    whole = contest.mean(taken.candidate, name)
    if whole is None or np.isnan(own):
        return None
    return own / its * whole if its > 0 else own


def _is_excluded(race: Race, one: Ranked, first: Ranked) -> bool:
    """Whether the runs say that a pair is not better than the first by the tolerance."""
    cost = race.cost(one.candidate, first.candidate)
    return cost is not None and cost[0] > -race.tolerance


def _is_excluded_by_way_of(race: Race, rival: Ranked, one: Ranked, first: Ranked) -> bool:
    """Whether what both differ from the first excludes it, where few runs tell the two apart."""
    if race.cost(rival.candidate, one.candidate) is not None:
        return False
    its, own = (race.cost(of.candidate, first.candidate) for of in (rival, one))
    if its is None or own is None:
        return False
    # The costs are shares of the mean of the first, the tolerance is one of the pair's mean.
    return its[0] - own[1] > -race.tolerance * (1 - max(map(abs, own)))


def _untold(found: Design, first: Ranked, rival: Ranked, link: Link) -> str:
    race = found.contests[0].race
    text = (
        f"Can't be told from this log: {first.label} is first, but the runs do not separate "
        f"{rival.label} from it ({_against(race, rival, first)})."
    )
    # The candidates of the last round may share a choice, which then is reported.
    for name in ("scheme", "transport"):
        chosen = {str(found.candidates[one].parameters.get(name)) for one in race.last}
        tried = {str(one.parameters.get(name)) for one in found.candidates}
        if len(chosen) == 1 < len(tried):
            text += f" All pairs of the last round use the {name} {chosen.pop()}."
    gaps = [race.difference(one, first.candidate) for one in race.last if one != first.candidate]
    gains = [inf if gap is None else most_gain(gap, found.objective) for gap in gaps]
    if gains and max(gains) <= found.tolerance:
        text += " In no single run is a pair of the last round better by more than"
        text += (
            f" {found.tolerance:.0%}, so for what the log shows {first.label} serves; rarer events"
        )
        text += " might change that."
    count = runs_needed(found, 0, [rival])
    # Of runs that few decide, more are needed than their scatter says.
    if count is not None and race.cost(rival.candidate, first.candidate) is not None:
        about = "About" if count <= MOST_NEEDED else "More than"
        minutes = min(count, MOST_NEEDED) * max(link.window_s, link.correlation_s) / 60
        text += f" {about} {_round(minutes)} minutes of log would tell."
    costs = [race.cost(one, first.candidate) for one in race.last if one != first.candidate]
    least = min((-1.0 if cost is None else cost[0] for cost in costs), default=0.0)
    # A larger cost says nothing.
    if least > -0.5:
        text += f" Against the other pairs of the last round, {first.label} costs"
        text += f" {max(0.0, -least):.0%} at most."
    return text


def most_gain(gap: Difference, goal: Objective) -> float:
    """By what share the other pair is better in a single run, at most."""
    if gap.least is None or gap.most is None:
        return inf
    return -gap.least if goal.sign > 0 else gap.most


def in_unit(goal: Objective, value: float) -> str:
    """A value of the goal as it is read.

    Example:
        >>> from clift.design.objective import objective
        >>> in_unit(objective("goodput"), 17380.0), in_unit(objective("completion"), 2.345678)
        ('17.38 Mbit/s', '2.346 s')
    """
    if goal.unit == "kbit/s":
        return rate(1000 * value)
    return f"{value * goal.scale:.4g} {goal.unit}".rstrip()


def _round(minutes: float) -> str:
    return f"{minutes:.0f}" if minutes < 100 else f"{round(minutes, -2):.0f}"


def _against(race: Race, one: Ranked, taken: Ranked) -> str:
    gap = race.difference(one.candidate, taken.candidate)
    if gap is None:
        return "not compared"
    if is_bounded(gap):
        return interval(gap, 1)
    runs = min(one.runs, taken.runs)
    if race.worth(runs) < FEWEST_INDEPENDENT:
        return f"{interval(gap, 1)}, in few runs"
    return f"{interval(gap, 1)} on average{single_runs(gap)}; few of {runs} runs decide it"


def single_runs(gap: Difference) -> str:
    """From where to where single runs differ, which says what an average of few does not."""
    if gap.least is None or gap.most is None:
        return ""
    return f", {percent(gap.least, 1)} to {percent(gap.most, 1)} in single runs"


def is_bounded(gap: Difference) -> bool:
    """Whether the interval says anything: nothing has less than nothing."""
    return (gap.low is not None and gap.low > -1) or gap.high is not None


def interval(one: Difference | Alternative, digits: int = 0) -> str:
    """The interval of a difference, or the mean where it has none.

    Example:
        >>> interval(Difference(1.0, 0.2, 0.1, 0.3, 0.01))
        '+10% to +30%'
        >>> interval(Difference(1.0, 0.2, 0.1, None, 0.01))  # the other's mean may be zero
        'at least +10%'
        >>> interval(Difference(1.0, 0.2, -1.4, 1.8, 0.6))  # nothing has less than nothing
        'at most +180%'
    """
    low = one.low if one.low is not None and one.low > -1 else None
    if low is not None and one.high is not None:
        return f"{percent(low, digits)} to {percent(one.high, digits)}"
    if low is not None:
        return f"at least {percent(low, digits)}"
    if one.high is not None:
        return f"at most {percent(one.high, digits)}"
    return percent(one.share, digits)


def percent(share: float, digits: int = 0) -> str:
    """A share in per cent, with its sign; 0 has none.

    Example:
        >>> percent(0.123), percent(-0.001)
        ('+12%', '0%')
    """
    shown = f"{share:+.{digits}%}"
    return shown[1:] if float(shown[:-1]) == 0 else shown


def _cost(contest: Contest, taken: Ranked) -> str:
    delay = contest.mean(taken.candidate, IN_ORDER_DELAY)
    used = contest.mean(taken.candidate, "links.0.share_used")
    parts = []
    if delay is not None:
        until = "until the application has the data (99 % of the segments)"
        parts.append(f"a delay of up to {of_metric(IN_ORDER_DELAY, delay)} {until}")
    if used is not None:
        parts.append(f"{used:.0%} of the link")
    return f"It costs {' and '.join(parts)}." if parts else ""


def _sure(race: Race, taken: Ranked, link: Link) -> str:
    return (
        "How sure: all intervals hold together with 95 %, over runs that are worth "
        f"{race.worth(taken.runs):.0f} independent ones of {link.window_s:.3g} s; they speak of "
        "this log, not of other days or places."
    )


def alternatives(found: Design, taken: Ranked) -> list[Alternative]:
    """The pair to take, and the best with each other scheme and each other transport."""
    contest, ranking = found.contests[0], found.ranking()

    def row(one: Ranked) -> Alternative:
        scheme = found.candidates[one.candidate].parameters.get("scheme")
        return _alternative(contest, one, taken, str(scheme) != "none")

    rows = {one.candidate: row(one) for one in ranking}
    # More runs say more; of as many runs the better goes first.
    sign = found.objective.sign
    ranking = sorted(ranking, key=lambda one: (-one.runs, sign * rows[one.candidate].share))
    chosen = {taken.candidate: taken}
    for name in ("scheme", "transport"):
        known = {found.candidates[taken.candidate].parameters.get(name)}
        for one in ranking:
            value = found.candidates[one.candidate].parameters.get(name)
            if value not in known:
                known.add(value)
                chosen[one.candidate] = one
    return [rows[one] for one in chosen]


def _alternative(contest: Contest, one: Ranked, taken: Ranked, repairs: bool) -> Alternative:
    gap = None if one is taken else contest.race.difference(one.candidate, taken.candidate)
    used = _mean_beside(contest, one, taken, "links.0.share_used")
    return Alternative(
        one.label,
        one.value.mean if gap is None else taken.value.mean * (1 + gap.share),
        0.0 if gap is None else gap.share,
        None if gap is None else gap.low,
        None if gap is None else gap.high,
        one.runs,
        _mean_beside(contest, one, taken, IN_ORDER_DELAY),
        # A mean over fewer runs, moved to all runs, may come out above the whole.
        None if used is None else min(1.0, used),
        _limit(contest, one, taken, repairs),
    )


def _limit(contest: Contest, one: Ranked, taken: Ranked, repairs: bool) -> str:
    """What limits a pair, by the means of its runs; `repairs`: whether its scheme does any."""

    def mean(name: str) -> float:
        return _mean_beside(contest, one, taken, name) or 0.0

    window, waits = mean("share_window_limited"), mean("share_application_limited")
    used, again, timeouts = mean("links.0.share_used"), mean("share_sent_again"), mean("timeouts")
    if used > 0.9:  # a full window or a pause costs nothing while the link is busy
        ratio = mean("links.0.mean_coding_ratio")
        beside = "repairs and padding" if repairs else "padding"
        share = f", {1 - ratio:.0%} {beside}" if 0 < ratio < 0.95 else ""
        return f"link{share}{f', {again:.1%} sent again' if again > 0.002 else ''}"
    if window > 0.3:
        return f"receive window, {window:.0%} of the time"
    if waits > 0.5:
        return f"application, {waits:.0%} of the time"
    if (waiting := mean("links.0.share_waiting")) > 0.3:
        return f"link waits, {waiting:.0%} of its slots"
    what = "losses"
    if mean("links.0.packets_dropped") > mean("links.0.packets_lost"):
        what = "a full queue"
    if timeouts >= 0.5:
        return f"{what}, {timeouts:.1f} timeouts"
    if again > 0.002:
        return f"{what}, {again:.1%} sent again"
    return "window growth"
