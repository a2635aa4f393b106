"""Fits the `distribution` channel on table 1 of Kuhn 2014, and predicts what can be predicted.

    python validation/lms_distribution.py fit       # prints every set tried, best last
    python validation/lms_distribution.py predict   # tables for docs/evidence/lms-presets.md
    python validation/lms_distribution.py fit qpsk  # with QPSK 1/3, which the CLIFT papers print
    python validation/lms_distribution.py predict qpsk 65,40,15.35,0,-45

Length, depth and spread of depth of the fades are searched; their gap is that of the printed
delays (one event in 4 to 5 s) and the multipath is weak. The fit sees table 1 (CUBIC's share of
retransmissions) and the mean erasure rate of .002 that it implies.
"""

from __future__ import annotations

import itertools
import math
import sys

import clift
from clift.land_mobile import LandMobile
from clift.papers.registry import described

# Table 1: retransmission probability and the most of one packet.
PRINTED = {scheme: printed for scheme, *printed in described("ijscn2014", "table 1")["rows"]}
# Table 2: 85 and 99 % of the delay of IP packets in s, in order (first transmission to delivery).
DELAYS: dict[str, dict[str, list[float]]] = {"cubic": {}, "hybla": {}}
for _transport, _scheme, _, *_delays in described("ijscn2014", "table 2")["rows"]:
    DELAYS[_transport][_scheme] = _delays
CAPACITY_KBPS = 2306.0

Trees = tuple[float, float, float, float, float]


# Whether QPSK 1/3 carries the code words in place of the preset's 16QAM 2/3.
QPSK = "qpsk" in sys.argv


def channel(trees: Trees | None) -> LandMobile:
    """The preset, or one with other fades."""
    if QPSK:
        code = "turbo-264-1/3"
        return LandMobile("distribution", trees=trees, modulation="qpsk", code=code)
    return LandMobile("distribution", trees=trees)


def runs(trees: Trees | None, transport: str, seeds: range) -> dict[str, list[clift.Run]]:
    """400 s of FTP over each scheme and seed: queue and window of 1000 packets."""
    scenarios = []
    for seed in seeds:
        phy = channel(trees).trace(430, seed)
        for scheme in PRINTED:
            link = clift.tmt.apply(phy, scheme, rtt_ms=500)
            scenarios.append(
                clift.Scenario(
                    link,
                    transport=transport,
                    profile="papers",
                    duration_s=400,
                    cwnd_max_packets=1000,
                )
            )
    done = clift.run_many(scenarios, progress=False)
    return {scheme: done[place :: len(PRINTED)] for place, scheme in enumerate(PRINTED)}


def retransmitted(found: list[clift.Run]) -> float:
    """Share of packets sent again, mean over runs."""
    summaries = [run.summary() for run in found]
    rates = [s["retransmissions"] / s["segments_sent"] for s in summaries]
    return math.fsum(rates) / len(rates)


def error(trees: Trees) -> tuple[float, list[str]]:
    """Mean |ln(simulated / printed)| over the four cells of table 1."""
    found = runs(trees, "cubic", range(1, 3))
    rates = {scheme: max(retransmitted(done), 1e-5) for scheme, done in found.items()}
    distance = math.fsum(abs(math.log(rates[s] / PRINTED[s][0])) for s in PRINTED) / 4
    return distance, [f"{rate:.4f}" for rate in rates.values()]


def fit() -> None:
    """Depths for an erasure rate of .002, over a grid of lengths and spreads."""
    best = (math.inf, (0.0, 0.0, 0.0, 0.0, 0.0))
    gaps, lengths = [75.0], [4.0, 5.0, 6.0, 7.5, 9.0]
    spreads, multipaths = [0.0, 0.1, 0.2, 0.3], [-25.0]
    if QPSK:
        gaps, lengths = [50.0, 65.0, 75.0], [4.0, 5.0, 7.5, 10.0, 14.0, 20.0, 28.0, 40.0]
        spreads, multipaths = [0.0, 0.3], [-25.0, -35.0, -45.0]
    for gap, crossing, spread, multipath in itertools.product(gaps, lengths, spreads, multipaths):
        trees = (gap, crossing, _depth(gap, crossing, spread, multipath), spread, multipath)
        distance, cells = error(trees)
        print(f"{distance:.3f}  {trees}  {' '.join(cells)}", flush=True)
        best = min(best, (distance, trees))
    print("best:", best)


def _depth(gap: float, crossing: float, spread: float, multipath: float) -> float:
    """The depth at which .002 of the slots are erased."""
    low, high, halvings = (9.0, 22.0, 7) if QPSK else (3.5, 7.0, 6)
    for _ in range(halvings):
        middle = round(0.5 * (low + high), 3)
        phy = channel((gap, crossing, middle, spread, multipath)).trace(600, 1)
        if phy.stats()["erasure_rate"] < 0.002:
            low = middle
        else:
            high = middle
    return round(0.5 * (low + high), 2)


def predict() -> None:
    """Prints tables 1 and 2 and shares of capacity beside what the preset gives."""
    seeds, trees = range(11, 17), _given()
    stats = [channel(trees).trace(430, seed).stats() for seed in seeds]
    rate = math.fsum(s["erasure_rate"] for s in stats) / len(stats)
    burst = sum(s["erased"] for s in stats) / sum(s["bursts"]["runs"] for s in stats)
    print(f"erasure rate {rate:.5f}, mean burst {burst:.2f} slots\n")
    print(
        "| cubic | retransmitted | printed | most of one packet | printed |\n|---|---|---|---|---|"
    )
    for scheme, found in runs(trees, "cubic", seeds).items():
        printed, most = PRINTED[scheme]
        summaries = [run.summary()["flows"][0] for run in found]
        here = [_most(summary["segments_by_retransmissions"]) for summary in summaries]
        spread = f"{min(here)} to {max(here)}"
        print(f"| {scheme} | {retransmitted(found):.4f} | {printed} | {spread} | {most} |")
    for transport, printed_delays in DELAYS.items():
        print(f"\n| {transport} | 85, 99 % of delay, s | printed |\n|---|---|---|")
        for scheme, found in runs(trees, transport, seeds).items():
            delays = [run.summary()["flows"][0]["in_order_delay_ms"] for run in found]
            means = [sum(delay[q] for delay in delays) / 1e3 / len(delays) for q in ("p85", "p99")]
            printed_85, printed_99 = printed_delays[scheme]
            here_85, here_99 = (f"{mean:.2f}" for mean in means)
            print(f"| {scheme} | {here_85}, {here_99} | {printed_85}, {printed_99} |")
    print("\n| share of X/Y of capacity | " + " | ".join(PRINTED) + " |\n|---|---|---|---|---|")
    for transport in ("cubic", "hybla", "westwood", "newreno", "compound"):
        shares = [_share(found, scheme) for scheme, found in runs(trees, transport, seeds).items()]
        print(f"| {transport} | " + " | ".join(f"{share:.2f}" for share in shares) + " |")


def _given() -> Trees | None:
    """Fades given on the command line; None: the preset."""
    if len(sys.argv) < 4:
        return None
    gap, crossing, depth, spread, multipath = map(float, sys.argv[3].split(","))
    return gap, crossing, depth, spread, multipath


def _most(segments: list[int]) -> int:
    """The most retransmissions of one segment, from the number of segments by retransmissions."""
    return max(times for times, count in enumerate(segments) if count or times == 0)


def _share(found: list[clift.Run], scheme: str) -> float:
    """IP packets received over what the scheme leaves of the capacity."""
    data, total = 1, 1
    if "(" in scheme:
        data, total = map(int, scheme.split("(")[1].rstrip(")").split("/"))
    mean = math.fsum(run.goodput_kbps for run in found) / len(found) * 1500 / 1448
    return mean / (CAPACITY_KBPS * data / total)


if __name__ == "__main__":
    {"fit": fit, "predict": predict}[sys.argv[1]]()
