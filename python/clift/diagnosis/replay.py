"""The same run with other erasures, without a cut, or with changes from an instant on."""

from __future__ import annotations

import bisect
import dataclasses
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

import clift._clift as _clift
from clift.campaign.statistics import Estimate, estimate
from clift.errors import ScenarioError
from clift.scenario import Scenario
from clift.simulation import Run

_Job = TypeVar("_Job")

# Ends of the keys whose values can change in the middle of a run.
_LATER = (".transport.congestion", ".link.queue", ".scheme")


@dataclass(frozen=True, slots=True)
class Burst:
    """A run of consecutive erased slots of the first link.

    Args:
        number: Its number among the bursts that pass during the run.
        first: Number of its first slot in the trace.
        slots: Length in slots.
        at_s: Time of its first slot in the run, in s.
        last_s: Time of its last slot in the run, in s.
    """

    number: int
    first: int
    slots: int
    at_s: float
    last_s: float


@dataclass(frozen=True, slots=True)
class Edits:
    """What differs in a run that is otherwise the same, bit for bit.

    Args:
        received: Bursts of the first link that are received.
        erased: Numbers of slots of the first link that are erased.
        kept: A cut of `Run.why`, at which the window stays as it is.
        later: Times in s, and the scenarios whose congestion controls, queues and schemes of live
            links hold from then on.
    """

    received: Sequence[Burst] = field(default=())
    erased: Sequence[int] = field(default=())
    kept: Mapping[str, Any] | None = None
    later: Sequence[tuple[float, Scenario]] = field(default=())


def bursts(scenario: Scenario) -> list[Burst]:
    """The bursts of erased slots that pass during a run, in order of their slots.

    Raises:
        ScenarioError: If the first link draws its losses itself, so that it has no slots to change.

    Example:
        >>> import clift
        >>> phy = clift.PhyTrace([0, 10**6, 2 * 10**6, 3 * 10**6], [9, 0, 0, 9], lldu_bytes=1500)
        >>> scenario = clift.Scenario(clift.LiveLink(phy, "none"), duration_s=0.0025)
        >>> bursts(scenario)
        [Burst(number=0, first=1, slots=2, at_s=0.001, last_s=0.002)]
    """
    core, cell, replication = scenario.task()
    found = core.bursts(cell, replication)
    return [
        Burst(number, first, slots, at / 1e9, last / 1e9)
        for number, (first, slots, at, last) in enumerate(found)
    ]


def received_slots(scenario: Scenario) -> list[tuple[int, float]]:
    """Numbers of the received slots that pass during a run, with their time in s."""
    core, cell, replication = scenario.task()
    return [(slot, at / 1e9) for slot, at in core.received_slots(cell, replication)]


def setup(scenario: Scenario, edits: Edits) -> _clift.Setup:
    """Input of the engine for the run of a scenario with some changes."""
    core, cell, replication = scenario.task()
    if edits.received or edits.erased:
        received = [(burst.first, burst.slots) for burst in edits.received]
        made = core.edited(cell, replication, received, list(edits.erased))
    else:
        made = core.setup(cell, replication)
    cut = edits.kept
    kept = []
    if cut is not None:
        which = cut["connection"] if cut["path"] is None else cut["path"]
        kept = [(cut["flow"], which, _nanos(cut["at_s"]))]
    return made.changed(kept, [(_nanos(at), other.setup()) for at, other in edits.later])


def _nanos(seconds: float) -> int:
    return round(seconds * 1e9)


def replay(scenario: Scenario, edits: Edits) -> Run:
    """Run a scenario, bit for bit as before, but for the changes.

    Example:
        >>> import clift
        >>> phy = clift.channel.bernoulli(slots=20_000, p=0.02, seed=1)
        >>> scenario = clift.Scenario(clift.LiveLink(phy, "ARQ"), duration_s=2)
        >>> replay(scenario, Edits()).summary() == clift.simulate(scenario).summary()
        True
    """
    return Run(scenario, _clift.run(setup(scenario, edits)))


# Numbers of the replications whose erasures an effect is averaged over: none that a study has.
_OTHERS = 1 << 20


def effect(
    scenario: Scenario, edits: Edits, at_s: float, draws: int, skip: int = 0
) -> Estimate | None:
    """What some changes gain on average, over other draws of the channel behind them.

    A single course of events tells little: a change moves all later packets, so that they meet
    other erasures. In each draw the run is the same until `at_s`; from then on the first link has
    the erasures of another replication, both with the changes and without them.

    Args:
        scenario: The scenario.
        edits: What differs, until `at_s`.
        at_s: When the other draws begin, in s.
        draws: How many.
        skip: Draws that are left out before them.

    Returns:
        Gain in goodput, kbit/s: mean and 95 % interval. None if the first link's losses are not
        drawn, but those of a trace.

    Example:
        >>> import clift
        >>> channel = {"model": "bernoulli", "erasures": 0.01, "rate": "1 Mbit/s", "lldu": "500 B"}
        >>> scenario = clift.Scenario({"channel": channel, "duration": "4 s"})
        >>> effect(scenario, Edits(), 1.0, 5).mean
        0.0
    """
    keys = scenario.explain()
    drawn = any(key.endswith("channel.model") for key in keys)
    if not drawn or any(key.endswith("trace.file") for key in keys):
        return None
    core, cell, _ = scenario.task()
    own = [burst for burst in bursts(scenario) if burst.at_s > at_s]

    def gain(number: int) -> float:
        others = core.bursts(cell, _OTHERS + number)
        later = [(first, slots) for first, slots, at, _ in others if at / 1e9 > at_s]
        erased = [slot for first, slots in later for slot in range(first, first + slots)]
        changed = dataclasses.replace(edits, received=[*own, *edits.received], erased=erased)
        runs = [replay(scenario, one) for one in (changed, Edits(own, erased))]
        return float(runs[0].goodput_kbps - runs[1].goodput_kbps)

    return estimate(each(range(skip, skip + draws), gain))


def measure(scenario: Scenario, run: Run, cuts: Sequence[dict[str, Any]], draws: int) -> None:
    """Adds to cuts, as `effect_kbps`, what the run gains without the erasures behind each.

    A cut stays as it is if its packet met no erasure that is known, if the first link has no other
    draws, and if all flows end, so that their goodput says nothing.

    Args:
        scenario: The scenario.
        run: Its run.
        cuts: Cuts of `Run.why`.
        draws: Other draws of the channel over which each gain is averaged.
    """
    cuts = [cut for cut in cuts if cut["packet"] is not None and cut["packet"]["erased_s"]]
    if not cuts or not draws or run.completion_s is not None:
        return
    try:
        there = bursts(scenario)
    except ScenarioError:
        return
    for cut in cuts:
        removed = behind(there, cut)
        average = effect(scenario, Edits(removed), cut["at_s"], draws) if removed else None
        if average is not None:
            cut["effect_kbps"] = average.as_dict()


def cost_kbps(cut: Mapping[str, Any]) -> float:
    """What a cut cost: its mean over other draws if it was measured, else its estimate."""
    return float(cut["effect_kbps"]["mean"] if "effect_kbps" in cut else cut["cost_kbps"])


def each(
    jobs: Sequence[_Job],
    run: Callable[[_Job], Any],
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


def named(scenario: Scenario, found: dict[str, Any], name: str) -> Edits:
    """The run without what a name such as `burst:17` or `cut:3` stands for.

    Args:
        scenario: The scenario.
        found: What `Run.why` returns.
        name: `burst:N`: the erasures of a burst; `erasures:N`: those that hit the packet of cut N;
            `cut:N`: the cut of the window, after duplicate ACKs, a timeout or a mark.

    Raises:
        ScenarioError: If the run has no burst or cut of that number.
    """
    kind, _, number = name.partition(":")
    if kind not in ("burst", "erasures", "cut") or not number.isdecimal():
        raise ScenarioError(f"without {name}: give burst:N, erasures:N or cut:N, N from 0")
    there = [] if kind == "cut" else bursts(scenario)
    if kind == "burst":
        if int(number) >= len(there):
            last = f"burst:0 to burst:{len(there) - 1}" if there else "none"
            raise ScenarioError(f"without {name}: the run has {len(there)} bursts ({last})")
        return Edits([there[int(number)]])
    cut = next((cut for cut in found["costliest"] if cut["number"] == int(number)), None)
    if cut is None:
        told = ", ".join(str(cut["number"]) for cut in found["costliest"]) or "none"
        raise ScenarioError(f"without {name}: give one of the costliest cuts: {told}")
    if kind == "cut":
        return Edits(kept=cut)
    erased = behind(there, cut)
    if not erased:
        raise ScenarioError(f"without {name}: no erasure is behind this cut; give cut:{number}")
    return Edits(erased)


def _since(found: dict[str, Any], name: str, edits: Edits) -> float:
    """When an event is over: a burst has passed, or the cut has come."""
    kind, _, number = name.partition(":")
    if kind != "burst":
        ats = {cut["number"]: float(cut["at_s"]) for cut in found["costliest"]}
        return ats[int(number)]
    return max(burst.at_s for burst in edits.received)


def replayed(
    scenario: Scenario,
    found: dict[str, Any],
    without: Sequence[str],
    later: Sequence[tuple[float, str, str, Scenario]],
    draws: int = 0,
) -> tuple[Edits, dict[str, Any]]:
    """Run a scenario without some events, and with other values from some times on.

    Args:
        scenario: The scenario.
        found: What `Run.why` returns.
        without: Names of events, as `named` takes them.
        later: Times in s, keys, their values from then on, and the scenario with each of them.
        draws: Other draws of the channel over which the gain is averaged.

    Returns:
        What differs, and the result: `erasures` that are received, `kept` cuts, values `later`,
        `goodput_kbps`, `completion_s`, and with `draws`, if the channel is drawn, the gain in
        goodput over these draws as `effect_kbps`.

    Raises:
        ScenarioError: If an event does not exist, a key cannot change in the middle of a run, or a
            cut is not the only difference: after another one it may not come.
    """
    keys = scenario.explain()
    for number, (_, key, value, _) in enumerate(later):
        if not f".{key}".endswith(_LATER):
            raise ScenarioError(
                f"from: {key}={value}: what can change in the middle of a run is "
                "transport.congestion, link.queue or scheme"
            )
        live = f"{key.removesuffix('scheme')}link.live"
        if f".{key}".endswith(".scheme") and keys.get(live, ("", ""))[0] != "true":
            raise ScenarioError(
                f"from: {key}={value}: the scheme of a live link alone can change in the middle of "
                f"a run; set {live} = true"
            )
        try:
            setup(scenario, Edits(later=[(at, other) for at, *_, other in later[: number + 1]]))
        except ScenarioError as error:
            raise ScenarioError(f"from: {key}={value}: {error}") from error
    edits = {name: named(scenario, found, name) for name in without}
    cuts = {name: one.kept for name, one in edits.items() if one.kept is not None}
    if cuts and len(edits) + len(later) > 1:
        raise ScenarioError(
            f"without {next(iter(cuts))}: give it alone; after another change the cut may not come"
        )
    whole = Edits(
        [burst for one in edits.values() for burst in one.received],
        kept=next(iter(cuts.values()), None),
        later=[(at, other) for at, _, _, other in later],
    )
    again = replay(scenario, whole)
    times = [at for at, *_ in later] + [_since(found, name, one) for name, one in edits.items()]
    average = effect(scenario, whole, max(times), draws) if draws else None
    result = {"effect_kbps": average.as_dict()} if average is not None else {}
    return whole, result | {
        "erasures": {
            name: [{"burst": b.number, "at_s": b.at_s, "slots": b.slots} for b in one.received]
            for name, one in edits.items()
            if one.kept is None
        },
        "kept": list(cuts),
        "later": [{"at_s": at, "key": key, "value": value} for at, key, value, _ in later],
        "goodput_kbps": again.goodput_kbps,
        "completion_s": again.completion_s,
    }


def first_run(scenario: Scenario) -> Scenario:
    """The first run of the first cell of a scenario."""
    cell = next(iter(scenario.cells()), None)
    if cell is None:
        raise ScenarioError("the scenario has no cell")
    return cell.replications()[0]


def behind(there: Sequence[Burst], cut: dict[str, Any]) -> list[Burst]:
    """The bursts that hit a packet: those with the slots in which its units were erased.

    Without a log of units, the first burst that begins after it left the queue.
    """
    packet = cut["packet"]
    if packet is None or packet["left_queue_s"] is None:
        return []
    if packet["erased_s"]:
        # A burst may begin before the packet.
        begins = [burst.at_s for burst in there]
        last = {at: bisect.bisect(begins, at + 1e-9) - 1 for at in packet["erased_s"]}
        # Another link may have erased them.
        hit = {
            number
            for at, number in last.items()
            if number >= 0 and at <= there[number].last_s + 1e-9
        }
        return [there[number] for number in sorted(hit)]
    later = [b for b in there if b.at_s >= packet["left_queue_s"] - 1e-9]
    return later[:1]
