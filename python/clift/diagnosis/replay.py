"""The same run without some erasures, or with more of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import clift._clift as _clift
from clift.errors import ScenarioError
from clift.scenario import Scenario
from clift.simulation import Run


@dataclass(frozen=True, slots=True)
class Burst:
    """A run of consecutive erased slots of the first link.

    Args:
        number: Its number among the bursts that pass during the run.
        first: Number of its first slot in the trace.
        slots: Length in slots.
        at_s: Time of its first slot in the run, in s.
    """

    number: int
    first: int
    slots: int
    at_s: float


@dataclass(frozen=True, slots=True)
class Edits:
    """Changes to the erasures of the first link.

    Args:
        received: Bursts that are received.
        erased: Numbers of slots that are erased.
    """

    received: Sequence[Burst] = field(default=())
    erased: Sequence[int] = field(default=())


def bursts(scenario: Scenario) -> list[Burst]:
    """The bursts of erased slots that pass during a run, in order of their slots.

    Raises:
        ScenarioError: If the first link draws its losses itself, so that it has no slots to change.

    Example:
        >>> import clift
        >>> phy = clift.PhyTrace([0, 10**6, 2 * 10**6, 3 * 10**6], [9, 0, 0, 9], lldu_bytes=1500)
        >>> scenario = clift.Scenario(clift.LiveLink(phy, "none"), duration_s=0.0025)
        >>> bursts(scenario)
        [Burst(number=0, first=1, slots=2, at_s=0.001)]
    """
    core, cell, replication = scenario.task()
    found = core.bursts(cell, replication)
    return [Burst(n, first, slots, at / 1e9) for n, (first, slots, at) in enumerate(found)]


def received_slots(scenario: Scenario) -> list[tuple[int, float]]:
    """Numbers of the received slots that pass during a run, with their time in s."""
    core, cell, replication = scenario.task()
    return [(slot, at / 1e9) for slot, at in core.received_slots(cell, replication)]


def setup(scenario: Scenario, edits: Edits) -> _clift.Setup:
    """Input of the engine for the run of a scenario with changed erasures."""
    core, cell, replication = scenario.task()
    received = [(burst.first, burst.slots) for burst in edits.received]
    return core.edited(cell, replication, received, list(edits.erased))


def replay(scenario: Scenario, edits: Edits) -> Run:
    """Run a scenario, bit for bit as before, but for the changed erasures.

    Example:
        >>> import clift
        >>> phy = clift.channel.bernoulli(slots=20_000, p=0.02, seed=1)
        >>> scenario = clift.Scenario(clift.LiveLink(phy, "ARQ"), duration_s=2)
        >>> replay(scenario, Edits()).summary() == clift.simulate(scenario).summary()
        True
    """
    return Run(scenario, _clift.run(setup(scenario, edits)))


def each(
    jobs: Sequence[Edits],
    run: Callable[[Edits], Any],
    report: Callable[[int], object] = lambda _done: None,
) -> list[Any]:
    """Run jobs on all cores; results in their order. Ctrl-C ends them."""
    results = []
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        futures = [pool.submit(run, job) for job in jobs]
        try:
            for done, future in enumerate(futures, 1):
                results.append(future.result())
                report(done)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return results


def named(scenario: Scenario, found: dict[str, Any], name: str) -> list[Burst]:
    """The bursts that a name such as `burst:17` or `cut:3` stands for.

    Args:
        scenario: The scenario.
        found: What `Run.why` returns.
        name: `burst:N`, a burst; `cut:N`, the bursts in the packet that a cut is about.

    Raises:
        ScenarioError: If the run has no burst or cut of that number.
    """
    kind, _, number = name.partition(":")
    if kind not in ("burst", "cut") or not number.isdecimal():
        raise ScenarioError(f"without {name}: give burst:N or cut:N, with a number from 0")
    there = bursts(scenario)
    if kind == "burst":
        if int(number) >= len(there):
            last = f"burst:0 to burst:{len(there) - 1}" if there else "none"
            raise ScenarioError(f"without {name}: the run has {len(there)} bursts ({last})")
        return [there[int(number)]]
    cut = next((cut for cut in found["costliest"] if cut["number"] == int(number)), None)
    if cut is None:
        told = ", ".join(str(cut["number"]) for cut in found["costliest"]) or "none"
        raise ScenarioError(f"without {name}: give one of the costliest cuts: {told}")
    return behind(there, cut)


def behind(there: Sequence[Burst], cut: dict[str, Any]) -> list[Burst]:
    """The bursts that hit a packet: those that begin while its units pass.

    Without a log of units, the first burst that begins after it left the queue.
    """
    packet = cut["packet"]
    if packet is None or packet["left_queue_s"] is None:
        return []
    first = packet["first_erased_s"]
    if first is not None:
        ended = packet["left_link_s"]
        return [b for b in there if first - 1e-9 <= b.at_s <= ended][: packet["units_erased"]]
    later = [b for b in there if b.at_s >= packet["left_queue_s"] - 1e-9]
    return later[:1]
