"""Fits the `internet` channel on the New Reno rows of table 3 of Kuhn 2014, and predicts the rest.

    python validation/lms_internet.py fit       # search; prints every set tried, best last
    python validation/lms_internet.py predict   # tables for docs/evidence/lms-presets.md
    python validation/lms_internet.py cell hybla ARQ 5   # one cell of table 3 with 4,000 transfers

Four numbers, the same for every Es/N0 and for both interleavings: spread of the direct path,
multipath power, instants that a code word is spread over, offset of Es/N0. The fit sees the 12
cells of `newreno` only; CUBIC, the FTP transfers of figure 10 and figure 11 stay predictions.
"""

from __future__ import annotations

import math
import random
import statistics
import sys
from collections.abc import Iterable

import clift
from clift.land_mobile import LandMobile
from clift.papers.registry import described

SCHEMES = ("ARQ", "HARQ(10/12)", "HARQ(10/15)")
LEVELS = (5, 6, 7, 8)
# Table 3: seconds to transfer 100 kB, by transport, scheme and Es/N0.
PRINTED: dict[str, dict[str, list[float]]] = {}
for _transport, _scheme, *_seconds in described("ijscn2014", "table 3")["rows"]:
    PRINTED.setdefault(_transport, {})[_scheme] = _seconds
# Figures 10 and 11: interleaving, transport, scheme, Es/N0, kbit/s of IP packets.
FIGURES = [(36, *row) for row in described("clift2014", "figure 6")["rows"]]
FIGURES += [
    (interleaving, transport, scheme, db, rate)
    for transport, scheme, db, interleaving, rate in described("ijscn2014", "figure 11")["rows"]
]
TRACE_S = 600.0


def channel(parameters: tuple[float, float, int, float] | None, esn0_db: float) -> LandMobile:
    """The preset, or one with (psi, multipath, branches, offset) in place of the preset's."""
    if parameters is None:
        return LandMobile("internet", esn0_db)
    psi, multipath, branches, offset = parameters
    return LandMobile(
        "internet",
        esn0_db,
        loo=(0.0, psi, multipath, 1.7),
        branches=branches,
        offset_db=offset,
    )


def completion(
    phys: list[clift.PhyTrace], scheme: str, transports: Iterable[str], transfers: int
) -> dict[str, float]:
    """Mean time of a transfer of 100 kB over random starts, by transport."""
    draws = random.Random(1)
    starts = [draws.uniform(0, TRACE_S - 60) for _ in range(transfers)]
    links = [clift.tmt.apply(phy, scheme, rtt_ms=500) for phy in phys]
    means = {}
    for transport in transports:
        scenarios = [
            clift.Scenario(
                links[number % len(links)],
                transport=transport,
                profile="papers",
                file_bytes=100_000,
                start_offset_s=start,
                wrap=True,
                duration_s=400,
            )
            for number, start in enumerate(starts)
        ]
        runs = clift.run_many(scenarios, progress=False)
        times = [run.completion_s for run in runs if run.completion_s is not None]
        assert len(times) == transfers
        means[transport] = math.fsum(times) / transfers
    return means


def error(parameters: tuple[float, float, int, float], transfers: int) -> tuple[float, list[str]]:
    """Mean |ln(simulated / printed)| over the 12 cells of New Reno."""
    total, cells = 0.0, []
    for column, level in enumerate(LEVELS):
        phys = [channel(parameters, level).trace(TRACE_S, seed) for seed in (1, 2)]
        rate = sum(phy.stats()["erasure_rate"] for phy in phys) / len(phys)
        cells.append(f"{rate:.4f}")
        for scheme in SCHEMES:
            time = completion(phys, scheme, ["newreno"], transfers)["newreno"]
            cells.append(f"{time:.1f}")
            total += abs(math.log(time / PRINTED["newreno"][scheme][column]))
    return total / 12, cells


def fit(transfers: int = 100) -> None:
    """Descends step by step, with steps that get smaller.

    One instant a code word is left out: an interleaver that spreads nothing is none.
    """
    tried: dict[tuple[float, float, int, float], float] = {}

    def measure(parameters: tuple[float, float, int, float]) -> float:
        if parameters not in tried:
            tried[parameters], cells = error(parameters, transfers)
            print(f"{tried[parameters]:.4f}  {parameters}  {' '.join(cells)}", flush=True)
        return tried[parameters]

    best = min(
        ((0.3, float(level), 2, -2.5 - 0.6 * (-10 - level)) for level in (-10, -11)), key=measure
    )
    for offset_step, level_step, psi_step in ((0.2, 0.5, 0.3), (0.1, 0.25, 0.15)):
        while True:
            psi, multipath, branches, offset = best
            # Less multipath needs less power: the two also move together.
            moves = [(psi, multipath, branches, offset + d * offset_step) for d in (-1, 1)]
            moves += [
                (psi, multipath + d * level_step, branches, offset + d * 0.6 * level_step)
                for d in (-1, 1)
            ]
            moves += [(max(psi + d * psi_step, 0.0), multipath, branches, offset) for d in (-1, 1)]
            rounded = [(round(p, 3), round(m, 2), j, round(o, 2)) for p, m, j, o in moves]
            nearest = min(rounded, key=measure)
            if measure(nearest) >= measure(best):
                break
            best = nearest
    print("best:", tried[best], best)


def predict(transfers: int = 200) -> None:
    """Prints table 3 and figures 10 and 11 beside what the preset gives."""
    known = [name for name in PRINTED if _runs(name)]
    traces = {
        db: [channel(None, db).trace(TRACE_S, seed) for seed in (11, 12, 13)] for db in LEVELS
    }
    print("| Es/N0 | erasure rate | mean burst |\n|---|---|---|")
    for db, phys in traces.items():
        stats = [phy.stats() for phy in phys]
        rate = sum(s["erasure_rate"] for s in stats) / len(stats)
        burst = sum(s["erased"] for s in stats) / sum(s["bursts"]["runs"] for s in stats)
        print(f"| {db} dB | {rate:.5f} | {burst:.2f} |")
    print("\n| table 3 | 5 dB | 6 dB | 7 dB | 8 dB |\n|---|---|---|---|---|")
    rows: dict[tuple[str, str], list[str]] = {}
    for column, db in enumerate(LEVELS):
        for scheme in SCHEMES:
            for name, time in completion(traces[db], scheme, known, transfers).items():
                printed = PRINTED[name][scheme][column]
                cell = f"{time:.2f} / {printed} ({time / printed - 1:+.0%})"
                rows.setdefault((name, scheme), []).append(cell)
    for (name, scheme), cells in sorted(rows.items()):
        print(f"| {name} {scheme} | " + " | ".join(cells) + " |")
    print("\n| figures 10, 11 | printed | here |\n|---|---|---|")
    for interleaving, name, scheme, db, printed in FIGURES:
        if name in known:
            found = ftp(interleaving, name, scheme, db)
            where = f"{name} {scheme}, {db} dB, {interleaving} ms"
            print(f"| {where} | {printed} | {found:.0f} ({found / printed - 1:+.0%}) |", flush=True)


def cell(transport: str, scheme: str, esn0_db: str) -> None:
    """One cell with its 95 % interval: 40 traces with different seeds, 100 transfers each."""
    means = []
    for seed in range(101, 141):
        phy = channel(None, float(esn0_db)).trace(TRACE_S, seed)
        means.append(completion([phy], scheme, [transport], 100)[transport])
    mean, half = statistics.fmean(means), 1.96 * statistics.stdev(means) / math.sqrt(len(means))
    printed = PRINTED[transport][scheme][LEVELS.index(int(esn0_db))]
    print(f"{mean:.3f} +- {half:.3f} s, printed {printed}, {mean / printed - 1:+.1%}")


def ftp(interleaving: float, transport: str, scheme: str, esn0_db: float) -> float:
    """Throughput of IP packets in kbit/s over 400 s, mean of five starts."""
    runs = []
    for seed in range(11, 16):
        phy = LandMobile("internet", esn0_db, interleaving).trace(TRACE_S, seed)
        link = clift.tmt.apply(phy, scheme, rtt_ms=500)
        runs.append(
            clift.Scenario(
                link,
                transport=transport,
                profile="papers",
                duration_s=400,
                wrap=True,
                cwnd_max_packets=1000,
            )
        )
    done = clift.run_many(runs, progress=False)
    # Payload of 1448 bytes in packets of 1500.
    return math.fsum(run.goodput_kbps for run in done) / len(done) * 1500 / 1448


def _runs(transport: str) -> bool:
    phy = clift.channel.bernoulli(slots=1000, p=0)
    try:
        link = clift.tmt.apply(phy, "ARQ")
        clift.simulate(link, transport=transport, profile="papers", duration_s=0.1)
    except clift.ScenarioError:
        return False
    return True


if __name__ == "__main__":
    {"fit": fit, "predict": predict, "cell": cell}[sys.argv[1]](*sys.argv[2:])
