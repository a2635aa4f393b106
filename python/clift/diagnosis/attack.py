"""The placement of a few erasures that hurts a run most."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median
from textwrap import fill

from clift._bar import bar
from clift._parse import whole
from clift._words import counted
from clift.campaign.metrics import judged_by, metric
from clift.diagnosis.replay import Edits, each, received_slots, replay
from clift.errors import Interrupted, ScenarioError
from clift.scenario import Scenario
from clift.simulation import Run

# Shares of the candidates of a step that lie near the erasures chosen so far, in slots.
_NEAR = (1, 2, 3, 5, 8, 13, 21, 34, 55, 89)


@dataclass(frozen=True, slots=True)
class Attack:
    """Erasures that hurt a run, beside random ones.

    Args:
        metric: `goodput_kbps`; `completion_s` if every flow ends, or its mean if flows arrive.
        before: Its value without further erasures.
        worst: Its value with the erasures found.
        slots: Number and time in s of each erased slot, in order of time.
        random: Values with as many erasures at random places.
        runs: Runs used.
        is_complete: False if the search was interrupted.
    """

    metric: str
    before: float
    worst: float
    slots: list[tuple[int, float]]
    random: list[float]
    runs: int
    is_complete: bool

    def as_dict(self) -> dict[str, object]:
        """The result as JSON-able values."""
        return {
            "metric": self.metric,
            "before": self.before,
            "worst": self.worst,
            "random_median": median(self.random) if self.random else None,
            "random": self.random,
            "erasures": [{"slot": slot, "at_s": at} for slot, at in self.slots],
            "runs": self.runs,
            "complete": self.is_complete,
        }

    def lines(self) -> list[str]:
        """The result as text."""
        shown, is_time = metric(self.metric), self.metric != "goodput_kbps"
        rows = [("without them", self.before)]
        by_search = "placed by the search"
        if self.random:
            last = max(self.random) if is_time else min(self.random)
            rows += [("at random, median", median(self.random)), ("at random, worst", last)]
            by_search = "search, none worse" if last == self.worst else by_search
        rows.append((by_search, self.worst))
        lines = [f"{shown.title} with {counted(len(self.slots), 'further erasure')}:"]
        lines += [f"  {name:<22}{value:>10.4g} {shown.unit}" for name, value in rows]
        places = [f"{at:.3f} s (slot {slot})" for slot, at in self.slots]
        return [*lines, fill(f"erased: {', '.join(places) or 'none'}", 100)]


def attack(scenario: Scenario, budget: int = 10, runs: int = 400, progress: bool = False) -> Attack:
    """Search for the placement of a few further erasures that hurts a run most.

    A greedy search: each step tries slots near the erasures chosen so far and slots drawn from the
    whole run, and keeps the worst one. Where a random placement hurts more, it is the result. A
    worse placement may exist, so that the result is a bound from one side.

    Args:
        scenario: A scenario with one run, whose first link has slots.
        budget: Most erasures.
        runs: Most runs of the search; a tenth of them place the erasures at random.
        progress: Whether to show a bar on a terminal.

    Raises:
        ScenarioError: If the first link has no slots, or an argument is out of range.

    Example:
        >>> import clift
        >>> phy = clift.channel.bernoulli(slots=8000, p=0, seed=1, slot_ns=10**6, lldu_bytes=1500)
        >>> scenario = clift.Scenario(clift.LiveLink(phy, "none", rtt_ms=100), duration_s=5)
        >>> found = attack(scenario, budget=2, runs=40)
        >>> found.worst < min(found.random) <= found.before
        True
    """
    whole("budget", budget, 1, 1000)
    whole("runs", runs, 2 * budget, 10**7)
    there = received_slots(scenario)
    if len(there) < budget:
        raise ScenarioError(f"budget = {budget}: the run has {len(there)} received slots")
    draw = random.Random(scenario.seed)
    arrives = any(flow["arrivals"] for flow in scenario.config["flow"])
    name = judged_by(lambda _: False, scenario.is_transfer, arrives)
    sign = -1 if name == "goodput_kbps" else 1

    def harm(edits: Edits) -> float:
        return sign * value(replay(scenario, edits), name)

    before = harm(Edits())
    search = _Search(dict(there), draw, harm, before, (before, []))
    with bar("attack", runs if progress else 0) as report:
        try:
            search.compare(budget, max(1, runs // 10), lambda done: report(done, runs))
            steps = max(1, (runs - search.runs) // budget)
            for _ in range(budget):
                search.step(steps, lambda done: report(done, runs))
        except (KeyboardInterrupt, Interrupted):
            search.is_complete = False
    search.settle()
    slots = sorted(((slot, search.times[slot]) for slot in search.chosen), key=lambda one: one[1])
    found = [sign * one for one in search.random]
    return Attack(
        name, sign * before, sign * search.worst, slots, found, search.runs, search.is_complete
    )


def value(run: Run, name: str) -> float:
    """A metric of a run; a transfer that does not end counts as long as it lasts."""
    if name == "goodput_kbps":
        return run.goodput_kbps
    if name == "completion_s":
        return run.summary()["duration_s"] if run.completion_s is None else run.completion_s
    flows = run.summary()["flows"]
    times = [flow["completion_s"] or flow["end_s"] - flow["start_s"] for flow in flows]
    return sum(times) / max(1, len(times))


@dataclass(slots=True)
class _Search:
    """The state of a search."""

    times: dict[int, float]
    draw: random.Random
    harm: Callable[[Edits], float]
    worst: float
    hardest: tuple[float, list[int]]
    chosen: list[int] = field(default_factory=list)
    random: list[float] = field(default_factory=list)
    runs: int = 0
    is_complete: bool = True

    def compare(self, budget: int, count: int, report: Callable[[int], object]) -> None:
        """Place the erasures at random, several times."""
        placed = [self.draw.sample(list(self.times), budget) for _ in range(count)]
        self.random = each([Edits(erased=slots) for slots in placed], self.harm, report)
        self.hardest = max(zip(self.random, placed, strict=True))
        self.runs += count

    def step(self, count: int, report: Callable[[int], object]) -> None:
        """Add the one of `count` candidates that hurts most, unless all of them help."""
        near = [slot + by * side for slot in self.chosen for by in _NEAR for side in (1, -1)]
        near = [slot for slot in dict.fromkeys(near) if slot in self.times]
        near = [slot for slot in near if slot not in self.chosen]
        self.draw.shuffle(near)
        tried = near[: count // 2]
        others = [slot for slot in self.times if slot not in {*self.chosen, *tried}]
        tried += self.draw.sample(others, min(len(others), count - len(tried)))
        done = self.runs
        jobs = [Edits(erased=[*self.chosen, slot]) for slot in tried]
        harms = each(jobs, self.harm, lambda number: report(done + number))
        self.runs += len(tried)
        worst, slot = max(zip(harms, tried, strict=True), default=(self.worst, -1))
        if slot >= 0 and worst >= self.worst:
            self.chosen.append(slot)
            self.worst = worst

    def settle(self) -> None:
        """Take the random placement that hurts most, where the steps found none that hurts more."""
        if self.hardest[0] > self.worst:
            self.worst, self.chosen = self.hardest
