"""Budgets of causes over random runs, and what a run gains when a cause is taken away.

`python validation/causes.py` draws scenarios (schemes, links with and without repair, transports,
flows, rates, delays), checks that each budget adds up to the capacity, then takes away the erasures
behind window cuts and compares what the run gains over draws of the losses after the cut with what
`clift why` tells: its mean over other draws, and its estimate.

`--runs`, `--causes` and `--draws` give the numbers of runs, of causes and of further draws for each
cause; the scenarios are those of `--seed`.
"""

from __future__ import annotations

import argparse
import random
import sys
import warnings
from typing import Any, NamedTuple

import clift
from clift.campaign.statistics import Estimate
from clift.diagnosis.replay import Edits, behind, bursts, effect, replay
from clift.report.text import limits

# Relative difference that rounding to bits and to floating point may make.
ROUNDING = 1e-9


def drawn(draw: random.Random, transports: tuple[str, ...]) -> clift.Scenario:
    """A random scenario."""
    lldu = draw.choice([33, 250, 1500])
    kbps = draw.choice([250, 1000, 4000])
    slot_us = int(lldu * 8e3 / kbps)
    seconds = draw.choice([20, 60])
    burst = draw.choice([1, 3, 10])
    channel = {
        "model": "gilbert-elliott",
        "erasures": draw.choice([0.0005, 0.003, 0.01, 0.05]),
        "burst": burst,
        "slot": f"{slot_us} us",
        "lldu": f"{lldu} B",
    }
    transport = draw.choice(transports)
    words: dict[str, Any] = {"protocol": transport} if transport in ("quic", "udp") else {}
    if not words:
        words = {"congestion": transport, "profile": draw.choice(["linux", "papers"])}
        if transport == "bbr":
            words["profile"] = "linux"
        # ns-2's TCP stays in recovery for minutes if its window overshoots path and queue.
        words["cwnd_max"] = f"{draw.choice([100, 300])} packets"
    tree: dict[str, Any] = {
        "seed": draw.randrange(10**6),
        "duration": f"{seconds} s",
        "scheme": draw.choice(["none", "ARQ", "HARQ(10/12)", "FEC(10/12)"]),
        "channel": channel,
        "link": {
            "rtt": f"{draw.choice([30, 150, 500])} ms",
            "queue": f"{draw.choice([30, 100, 400])} packets",
            "live": draw.random() < 0.7,
        },
        "transport": words,
        "flows": draw.choice([1, 1, 1, 3]),
    }
    kind = draw.random()
    if transport == "udp":
        tree["application"] = {"type": "constant rate", "rate": f"{kbps // 2} kbit/s"}
    elif kind < 0.2:
        tree["application"] = {"type": "file", "size": f"{draw.choice([30, 300])} kB"}
    elif kind < 0.3:
        tree["application"] = {"type": "constant rate", "rate": f"{kbps // 3} kbit/s"}
    return clift.Scenario(tree)


def adds_up(run: clift.Run) -> bool:
    """Whether the parts of a budget are not negative and make up the capacity."""
    found = run.why()
    parts = [part["kbps"] for part in found["budget"]]
    whole = found["goodput_kbps"] + sum(parts)
    off = abs(whole - found["capacity_kbps"]) / found["capacity_kbps"]
    same = abs(found["goodput_kbps"] - run.goodput_kbps) <= ROUNDING * found["capacity_kbps"]
    return off <= ROUNDING and min(parts, default=0.0) >= 0 and same


# Draws over which `clift why` averages what a run gains without a cause.
TOLD = 20


class Cause(NamedTuple):
    """The erasures behind a window cut, and what a run gains without them, in kbit/s."""

    scenario: clift.Scenario
    cut: dict[str, Any]
    removed: Edits
    # In this run alone, and as `clift why` tells it.
    alone: float
    told: Estimate

    def over(self, draws: int) -> float:
        """The mean over further draws."""
        gained = effect(self.scenario, self.removed, self.cut["at_s"], draws, skip=TOLD)
        assert gained is not None
        return gained.mean


def taken_away(draw: random.Random, wanted: int) -> list[Cause]:
    """One cut a run, drawn from the costliest: live links over slots, one flow of bulk data."""
    causes: list[Cause] = []
    while len(causes) < wanted:
        scenario = drawn(draw, ("newreno", "cubic", "hybla"))
        tree = dict(scenario.tree) | {"flows": 1}
        tree.pop("application", None)
        tree["link"] = dict(tree["link"]) | {"live": True}
        scenario = clift.Scenario(tree)
        run = clift.simulate(scenario)
        found = run.why()
        cuts = [cut for cut in found["costliest"] if cut["cost_kbps"] > 1e-3 * run.goodput_kbps]
        if not cuts:
            continue
        cut = draw.choice(cuts)
        removed = Edits(behind(bursts(scenario), cut))
        # The link delivered some packets whole: those cuts have another cause.
        if cut["packet"]["erased_s"] and removed.received:
            alone = replay(scenario, removed).goodput_kbps - run.goodput_kbps
            told = effect(scenario, removed, cut["at_s"], TOLD)
            assert told is not None
            causes.append(Cause(scenario, cut, removed, alone, told))
    return causes


# Causes of a budget that tables name; what else is idle is congestion control there.
NAMED = {"application": "application", "link": "link waits"}
NAMED |= {"receive_window": "receive window", "cwnd_max": "receive window", "outage": "outage"}
# Causes of used slots.
USED = {"erased", "repair", "given_up", "padding", "fade", "headers", "duplicate", "lost_later"}
USED |= {"unfinished", "coding"}


def beside_tables(run: clift.Run) -> tuple[float, bool]:
    """How far `limited by` is from the budget, and whether both have the same largest share."""
    summary, found = run.summary(), run.why()
    waits = summary["share_application_limited"], summary["share_window_limited"]
    link = summary["links"][0]
    waiting = link["share_waiting"] or 0.0
    short = limits(*waits, link["share_used"], waiting, summary["share_without_flows"])
    whole = dict.fromkeys(short, 0.0)
    whole["link"] = found["goodput_kbps"] / found["capacity_kbps"]
    for part in found["budget"]:
        cause = part["cause"]
        name = "link" if cause in USED else NAMED.get(cause, "congestion control")
        whole[name] = whole.get(name, 0.0) + part["kbps"] / found["capacity_kbps"]
    off = max(abs(short[name] - whole[name]) for name in short)
    return off, max(short, key=short.__getitem__) == max(whole, key=whole.__getitem__)


# Causes whose sums are compared.
LARGEST = 10


def is_clear(gained: Estimate) -> bool:
    """Whether the interval is on one side of zero; that of draws that hardly differ is open."""
    return gained.low is not None and gained.low * (gained.high or 0) > 0


def lies_in(value: float, told: Estimate) -> bool:
    """Whether a value is in the interval that is printed."""
    return told.low is not None and told.high is not None and told.low <= value <= told.high


# What a run without any erasure does not pay for. Repairs that are sent in any case stay.
OF_ERASURES = {"erased", "given_up", "duplicate", "true_loss", "false_loss", "timeout"}
# Share of the capacity below which a cause is not worth a comparison.
LEAST = 0.01


def all_taken_away(draw: random.Random, wanted: int) -> list[tuple[float, float]]:
    """What erasures and the cuts after them were charged with, and what runs gain without them."""
    pairs: list[tuple[float, float]] = []
    while len(pairs) < wanted:
        scenario = drawn(draw, ("newreno", "cubic", "hybla"))
        if "application" in scenario.tree:
            continue
        run = clift.simulate(scenario)
        found = run.why()
        there = bursts(scenario)
        parts = found["budget"]
        charged = sum(part["kbps"] for part in parts if part["cause"] in OF_ERASURES)
        if there and charged > LEAST * found["capacity_kbps"]:
            gained = replay(scenario, Edits(there)).goodput_kbps - run.goodput_kbps
            pairs.append((charged, gained))
    return pairs


def main() -> int:
    """Run the comparison; exit code 1 if a budget does not add up."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--causes", type=int, default=200, help="0: only whether budgets add up")
    parser.add_argument("--draws", type=int, default=60)
    parser.add_argument("--tables", type=int, default=0, help="runs beside `limited by` of tables")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)  # notes of runs
    draw = random.Random(given.seed)
    transports = ("newreno", "cubic", "hybla", "bbr", "quic", "udp")
    faults = 0
    for number in range(given.runs):
        run = clift.simulate(drawn(draw, transports))
        if not adds_up(run):
            faults += 1
            print(f"run {number}: the budget does not add up: {run.scenario!r}")
    print(f"{given.runs - faults} of {given.runs} budgets add up to the capacity")
    tables(draw, given.tables)
    if given.causes:
        compare(draw, given.causes, given.draws)
    return 1 if faults else 0


def tables(draw: random.Random, wanted: int) -> None:
    """Prints how far `limited by` of tables is from the budget, for files and for other data."""
    found: dict[str, list[tuple[float, bool]]] = {"files": [], "other data": []}
    for _ in range(wanted):
        run = clift.simulate(drawn(draw, ("newreno", "cubic", "hybla", "bbr")))
        is_file = run.scenario.tree.get("application", {}).get("type") == "file"
        found["files" if is_file else "other data"].append(beside_tables(run))
    for what, some in found.items():
        if some:
            offs = sorted(off for off, _ in some)
            print(
                f"{what}: `limited by` of {len(some)} runs is off the budget by "
                f"{offs[len(offs) // 2]:.2%} of the capacity in the median, {offs[-1]:.1%} at "
                f"most; {sum(same for _, same in some)} have the same largest share"
            )


def compare(draw: random.Random, wanted: int, draws: int) -> None:
    """Prints what runs gain without a cause beside what the budget charged for it."""
    causes = taken_away(draw, wanted)
    rising = sum(one.alone > 0 for one in causes)
    falling = sum(one.alone < 0 for one in causes)
    print(f"{rising} of {len(causes)} runs gain when a cause is taken away, {falling} lose")
    clear = [one for one in causes if is_clear(one.told)]
    rising = sum(one.told.mean > 0 for one in clear)
    print(
        f"over {TOLD} draws of what follows {len(clear)} of {len(causes)} causes have a clear "
        f"effect; {rising} of these runs gain without theirs"
    )
    estimates = {id(one): float(one.cut["cost_kbps"]) for one in causes}
    estimated, told = sum(estimates.values()), sum(one.told.mean for one in causes)
    inside = sum(lies_in(estimates[id(one)], one.told) for one in causes)
    print(
        f"all of them: {estimated:.1f} kbit/s estimated, {told:.1f} told; {inside} estimates are "
        "in the interval that is printed"
    )
    by_told = sorted(causes, key=lambda one: -one.told.mean)[:LARGEST]
    gains = [one.over(draws) for one in by_told]
    told, gained = sum(one.told.mean for one in by_told), sum(gains)
    inside = sum(lies_in(gain, one.told) for gain, one in zip(gains, by_told, strict=True))
    print(
        f"the {LARGEST} with the largest gains told: {told:.1f} kbit/s told, {gained:.1f} over "
        f"{draws} further draws ({told / gained - 1:+.0%}); {inside} of these means are in the "
        "interval that is printed"
    )
    by_estimate = sorted(causes, key=lambda one: -estimates[id(one)])[:LARGEST]
    estimated = sum(estimates[id(one)] for one in by_estimate)
    told = sum(one.told.mean for one in by_estimate)
    print(
        f"the {LARGEST} with the largest estimates: {estimated:.1f} kbit/s estimated, {told:.1f} "
        f"told ({estimated / told - 1:+.0%})"
    )
    pairs = all_taken_away(draw, wanted)
    rising = sum(gained > 0 for _, gained in pairs)
    print(f"{rising} of {len(pairs)} runs gain without any erasure")
    charged, gained = (sum(column) for column in zip(*pairs, strict=True))
    print(f"all of them: {charged:.1f} kbit/s charged, {gained:.1f} kbit/s gained")


if __name__ == "__main__":
    sys.exit(main())
