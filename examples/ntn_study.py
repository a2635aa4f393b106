"""Goodput and delay of TCP over a 3GPP satellite link: HARQ on or off, RLC AM or UM, GEO or LEO.

python examples/ntn_study.py [--seconds 120] [--picture ntn.png]
"""

from __future__ import annotations

import argparse
import math
from itertools import product

import clift

ORBITS = {"GEO, RTT 541 ms": "nr-ntn-geo", "LEO 600 km, RTT 26 ms": "nr-ntn-leo600"}
HARQ = {
    "HARQ, 16 processes": {"harq_processes": 16},
    "HARQ, 32 processes": {"harq_processes": 32},
    "no feedback, BLER 10 %": {"harq_feedback": False},
    "no feedback, BLER 1 %": {"harq_feedback": False, "bler": 0.01},
}
RLC = ("am", "um")
TRANSPORTS = ("cubic", "newreno")


def main() -> None:
    """Runs all cells, prints a table and draws it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--picture")
    arguments = parser.parse_args()
    cells = list(product(ORBITS, HARQ, RLC, TRANSPORTS))
    runs = clift.run_many([scenario(*cell, arguments.seconds) for cell in cells], progress=False)
    results = dict(zip(cells, map(figures, runs), strict=True))
    print(f"{'':22} {'':23} {'':4} " + "".join(f"{name:>24}" for name in TRANSPORTS))
    for orbit, harq, rlc in product(ORBITS, HARQ, RLC):
        both = [results[orbit, harq, rlc, transport] for transport in TRANSPORTS]
        text = "".join(f"{goodput:9.2f} Mbit/s {delay:6.0f} ms" for goodput, delay in both)
        print(f"{orbit:22} {harq:23} {rlc:4} {text}")
    if arguments.picture:
        draw(results, arguments.picture)


def scenario(orbit: str, harq: str, rlc: str, transport: str, seconds: float) -> clift.Scenario:
    """Returns a scenario: bulk data over one connection, with Linux's TCP."""
    link = clift.NtnLink(ORBITS[orbit], rlc=rlc, **HARQ[harq])
    return clift.Scenario(
        link, transport=transport, profile="linux", duration_s=seconds, queue_packets=300
    )


def figures(run: clift.Run) -> tuple[float, float]:
    """Returns goodput in Mbit/s, and the p95 delay from queue to delivery in ms."""
    delay = run.summary()["links"][0]["packet_delay_ms"]
    return run.goodput_kbps / 1e3, delay["p95"] if delay else math.nan


def draw(results: dict[tuple[str, str, str, str], tuple[float, float]], path: str) -> None:
    """Draws goodput above and delay below, one column per orbit."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 6.4), layout="constrained")
    axes = figure.subplots(2, len(ORBITS), sharex=True, sharey="row")
    colours = {"am": "#1f6fb4", "um": "#e08a1e"}
    bars = list(product(RLC, TRANSPORTS))
    for column, orbit in enumerate(ORBITS):
        for row, label in enumerate(("goodput, Mbit/s", "p95 delay on the link, ms")):
            ax = axes[row][column]
            for place, (rlc, transport) in enumerate(bars):
                values = [results[orbit, harq, rlc, transport][row] for harq in HARQ]
                at = [group + (place - 1.5) * 0.2 for group in range(len(HARQ))]
                ax.bar(
                    at,
                    values,
                    width=0.18,
                    color=colours[rlc],
                    alpha=1 if transport == "cubic" else 0.55,
                    label=f"RLC {rlc.upper()}, {transport.upper()}",
                )
            ax.grid(axis="y", alpha=0.3)
            ax.set_yscale("log")
            if column == 0:
                ax.set_ylabel(label)
        axes[0][column].set_title(orbit)
        names = [harq.replace(", ", "\n") for harq in HARQ]
        axes[1][column].set_xticks(range(len(HARQ)), names, fontsize=8)
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
