"""Other conditions, under which the first pairs of a search are compared again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf
from pathlib import Path
from typing import Any, cast

import numpy as np

import clift._clift as _clift
from clift._bar import bar
from clift.advise.answer import interval, is_bounded, most_gain, single_runs
from clift.advise.folder import TRACE, write_trace
from clift.advise.link import Link
from clift.campaign.metrics import measured_by
from clift.campaign.statistics import LEVEL, Difference, difference, worth
from clift.channel import bernoulli, gilbert_elliott
from clift.design.objective import Objective, values
from clift.design.space import Candidate
from clift.errors import Interrupted
from clift.scenario import Scenario
from clift.simulation import run_many
from clift.trace import PhyTrace

# Below this share of lost slots, other bursts of them change nothing.
_FEWEST_LOST = 5e-4
# Losses that a log without any is given.
_LOST = 0.01
_LONGER = 10


def variants(
    scenario: dict[str, Any], phy: PhyTrace, link: Link, queue: int, folder: Path
) -> Iterator[tuple[str, Scenario]]:
    """The conditions in words, with their scenarios.

    Args:
        scenario: The scenario of the search.
        phy: The log.
        link: What it says.
        queue: Packets that the queue holds.
        folder: Where its trace is, and those with other losses are written.
    """

    def with_(**sections: dict[str, Any]) -> Scenario:
        return Scenario(scenario | sections).moved(str(folder / TRACE))

    for packets in (max(5, queue // 4), 4 * queue):
        changed = scenario["link"] | {"queue": f"{packets} packets"}
        yield f"with a queue of {packets} packets", with_(link=changed)
    rtt_ns = _clift.parse_time(scenario["link"]["rtt"])
    # Where the delays stand in the trace, their round trip comes once more on top.
    more_ns = rtt_ns or int(2e6 * (link.delay_ms or (0, 0, 0))[1])
    changed = scenario["link"] | {"rtt": f"{rtt_ns + more_ns} ns"}
    yield f"with a round trip {more_ns / 1e6:.0f} ms longer", with_(link=changed)
    for name, what, burst, share in _losses(link):
        path = write_trace(_lost(phy, share, burst), folder, f"log-{name}.parquet")
        yield what, with_(trace={"file": path.name})


def _losses(link: Link) -> Iterator[tuple[str, str, float, float]]:
    """Name, words, mean burst in slots and share of other losses."""
    if link.loss < _FEWEST_LOST:
        yield "lossy", f"with {_LOST:.0%} of the slots lost one by one", 1.0, _LOST
        return
    burst = link.burst or 1.0
    if burst > 1.5:
        yield "single", "with the same losses one by one", 1.0, link.loss
    longer = _LONGER * burst
    yield "bursts", f"with the same losses in bursts of {longer:.0f} slots", longer, link.loss


def _lost(phy: PhyTrace, share: float, burst: float) -> PhyTrace:
    """The trace with other losses: all slots received, and as many lost at other places."""
    came = phy.d_ns > 0
    if not came.all():
        # A lost slot gets the delay of the last one received before it.
        slots = np.where(came, np.arange(len(phy)), int(np.argmax(came)))
        phy = PhyTrace(
            phy.t_ns,
            phy.d_ns[np.maximum.accumulate(slots)],
            phy.lldu_bytes if phy.slot_bytes is None else phy.slot_bytes,
            decode_ns=phy.decode_ns,
            period_ns=phy.period_ns,
            rtt_ns=phy.rtt_ns,
            packing=cast(Any, phy.packing),
        )
    if burst <= 1.0:
        return bernoulli(on=phy, p=share)
    return gilbert_elliott(on=phy, p=share, burst=burst)


def compare(
    scenario: Scenario,
    pairs: Sequence[Candidate],
    goal: Objective,
    runs: int,
    level: float,
    threads: int | None,
) -> list[Difference | None]:
    """How each other pair differs from the first, over runs that start at the same random times.

    Less is better in what is compared.

    Raises:
        Interrupted: On Ctrl-C.
    """
    axis = {one.label: one.changes for one in pairs}
    cells = scenario.replace(vary={"pair": axis}).cells()
    tasks = [cell.replication(number) for number in range(runs) for cell in cells]
    done = run_many(tasks, progress=False, threads=threads)
    found: list[dict[int, float]] = [{} for _ in cells]
    starts, lasts, length_s = [0.0] * runs, [0.0] * runs, None
    for place, run in enumerate(done):
        number, cell = divmod(place, len(cells))
        measured = values(measured_by(run, of_link=False), None)
        found[cell][number] = goal.sign * measured[goal.metric]
        if (window := run.scenario.window()) is not None:
            starts[number], length_s = window[0] / 1e9, window[1] / 1e9
        lasts[number] = measured["duration_s"]
    independent = worth(starts, lasts, length_s)
    return [difference(one, found[0], independent, level) for one in found[1:]]


def changes(
    conditions: Sequence[tuple[str, Scenario]],
    pairs: Sequence[Candidate],
    goal: Objective,
    margin: float,
    runs: int,
    threads: int | None,
    progress: bool,
    *,
    is_taken: bool,
) -> dict[str, str]:
    """What the answer is under each condition, among the pairs, of which the first leads.

    The intervals of all pairs under all conditions hold together with 95 % (Bonferroni), so that no
    more than 5 % of the advices name a pair that is not better, or keep one that is worse by more
    than the margin. A pair without an interval is left out if it is better by more than the margin
    in no single run, which the answer then says.
    """
    found = {}
    level = LEVEL / max(1, len(conditions) * (len(pairs) - 1))
    with bar("what would change the answer", len(conditions) if progress else 0) as watch:
        for done, (what, scenario) in enumerate(conditions):
            try:
                gaps = compare(scenario, pairs, goal, runs, level, threads)
            except Interrupted:
                break
            found[what] = _verdict(gaps, pairs, goal, margin, level, is_taken)
            watch(done + 1, len(conditions))
    return found


def _verdict(
    gaps: Sequence[Difference | None],
    pairs: Sequence[Candidate],
    goal: Objective,
    margin: float,
    level: float,
    is_taken: bool,
) -> str:
    """The pair to take, from the differences of the others from the first."""
    known = [(gap, one) for gap, one in zip(gaps, pairs[1:], strict=True) if gap is not None]
    if not known:
        return "can't be told"
    gains = [_gain(gap, goal, level) for gap, _ in known]
    shown = []
    # Without an interval single runs decide, as in the answer.
    for place, (gap, one) in enumerate(known):
        if gains[place][1] > margin and not is_bounded(gap) and most_gain(gap, goal) <= margin:
            gains[place] = gains[place][0], margin
            shown.append(one.label)
    if len(known) == len(gaps) and all(most <= margin for _, most in gains):
        told = f"still {pairs[0].label}" if is_taken else pairs[0].label
        if shown:
            told += f" (in no single run is {' or '.join(shown)} better by more than {margin:.0%})"
        return told
    better = [one for one, (least, _) in zip(known, gains, strict=True) if least > 0]
    # Of the pairs that leave it open, if none is better.
    rivals = better or [one for one, (_, most) in zip(known, gains, strict=True) if most > margin]
    if not rivals:
        return "can't be told"
    gap, rival = min(rivals, key=lambda one: one[0].mean)
    few = "" if is_bounded(gap) else f" on average{single_runs(gap)}, too few to tell"
    text = f"{rival.label} ({interval(gap)} {goal.name}{few})"
    return text if better else f"can't be told, {text}"


def _gain(gap: Difference, goal: Objective, level: float) -> tuple[float, float]:
    """From least to most that a pair is better than the first, as shares of its mean."""
    if gap.mean == gap.spread == 0:
        return 0.0, 0.0
    low, high = gap.low, gap.high
    if low is None and gap.p <= level:
        # The same difference in every run.
        low = high = gap.share
    if goal.sign > 0:
        low, high = (None if high is None else -high), (None if low is None else -low)
    return -inf if low is None else low, inf if high is None else high
