"""NewReno and CUBIC beside ns-3: both lose the same packets (docs/evidence/tcp-beside-ns3.md).

    python validation/tcp_ns3.py                      # runs CLIFT, writes the table into the page
    python validation/tcp_ns3.py --check              # only says whether the page is up to date
    python validation/tcp_ns3.py measure ./compare    # runs ns-3, prints bench/ns3/ns3.csv

`compare` is bench/ns3/compare.cc, built against ns-3.44 (its head says how). ns-3 has SACK,
proportional rate reduction and a handshake, but no RACK, tail loss probes, D-SACK, undo or F-RTO:
that is what profile `linux` is given here.
"""

from __future__ import annotations

import csv
import itertools
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import clift
from clift import _clift

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench" / "ns2"))
import compare  # noqa: E402

MEASURED = ROOT / "bench" / "ns3" / "ns3.csv"
PAGE = ROOT / "docs" / "evidence" / "tcp-beside-ns3.md"
SECONDS = 400
VARIANTS = {"newreno": "TcpLinuxReno", "cubic": "TcpCubic"}
#: bit/s, ms, packets that may wait, loss probabilities.
PATHS = (
    (263_000, 500, 50, (0.0, 1e-3, 1e-2)),
    (2_300_000, 40, 50, (0.0, 1e-3, 1e-2)),
    (2_300_000, 500, 192, (0.0, 1e-4, 1e-3, 1e-2)),
)
#: The parts of a kernel that ns-3 has.
PARTS = {
    "rack": False,
    "tail_loss_probe": False,
    "dsack": False,
    "undo": False,
    "frto": False,
    "max_reordering": 3,
    "sack_compression": False,
    "slow_start_after_idle": False,
}

#: Options of a scenario under which CLIFT's TCP is comparable with ns-3's.
LIKE_NS3: dict[str, Any] = {
    "profile": "linux",
    "initial_window": 2,
    "delayed_ack": False,
    "linux": PARTS,
}

Cell = tuple[str, int, int, int, float]


def main() -> int:
    """Does what the command line says; returns the exit code."""
    if sys.argv[1:2] == ["measure"]:
        measure(sys.argv[2])
        return 0
    page = PAGE.read_text()
    begin, end = "<!-- ns3: made by validation/tcp_ns3.py -->\n", "<!-- end of ns3 -->"
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    text = pattern.sub(lambda _: begin + table() + end, page)
    if sys.argv[1:] == ["--check"]:
        print(f"{PAGE.name}: the table of ns-3 is {'' if text == page else 'not '}up to date")
        return int(text != page)
    PAGE.write_text(text)
    return 0


def cells() -> list[Cell]:
    """Variant, bit/s, round-trip time in ms, queue in packets, loss."""
    return [
        (variant, rate, rtt, queue, loss)
        for variant, (rate, rtt, queue, losses) in itertools.product(VARIANTS, PATHS)
        for loss in losses
    ]


def seeds(loss: float) -> range:
    """Three runs where anything is drawn."""
    return range(1, 4 if loss > 0 else 2)


def lost(seed: int, rate: int, loss: float) -> list[int]:
    """Which of the packets that carry data are lost."""
    return [n for n in range(rate * SECONDS // 12_000 + 1000) if compare.lost(seed, n, loss)]


def measure(binary: str) -> None:
    """Runs ns-3 over all cells."""

    def run(job: tuple[Cell, int]) -> list[str]:
        (variant, rate, rtt, queue, loss), seed = job
        # ns-3's receiver sees a SYN and an ACK before the data.
        drops = [str(n + 2) for n in lost(seed, rate, loss)]
        head = [binary, str(rate), str(rtt), str(SECONDS), str(queue), VARIANTS[variant]]
        done = subprocess.run([*head, *drops], capture_output=True, text=True, check=True)
        return done.stdout.split()

    jobs = [(cell, seed) for cell in cells() for seed in seeds(cell[4])]
    writer = csv.writer(sys.stdout, lineterminator="\n")
    head = ("variant", "rate", "rtt_ms", "queue", "loss", "seed")
    writer.writerow((*head, "bytes", "sent", "retransmissions", "timeouts"))
    with ThreadPoolExecutor(2) as pool:
        for (cell, seed), result in zip(jobs, pool.map(run, jobs), strict=True):
            writer.writerow((*cell, seed, *result))


def clift_kbps(cell: Cell, seed: int) -> float:
    """Goodput by CLIFT."""
    variant, rate, rtt, queue, loss = cell
    leg = {"rate": f"{rate} bit/s", "delay": f"{rtt * 500_000} ns"}
    scenario = clift.Scenario(
        {
            "path": [{"leg": leg | {"queue": f"{queue} packets"}}],
            "return": {"path": [{"leg": leg}]},
        },
        transport=variant,
        duration_s=SECONDS,
        **LIKE_NS3,
    )
    setup = scenario.setup().with_fates(lost(seed, rate, loss))
    return float(_clift.run(setup, None).summary()["goodput_kbps"])


def table() -> str:
    """The table of the page; prints how many cells are near."""
    measured: dict[Cell, list[float]] = {}
    with MEASURED.open() as file:
        for row in csv.DictReader(file):
            rate, rtt, queue = (int(row[name]) for name in ("rate", "rtt_ms", "queue"))
            cell = (row["variant"], rate, rtt, queue, float(row["loss"]))
            measured.setdefault(cell, []).append(int(row["bytes"]) * 8e-3 / SECONDS)
    head = "| Mbit/s | RTT, ms | loss | " + " | ".join(f"{v} | ns-3 | |" for v in VARIANTS)
    lines = [head, "|---" * (3 + 3 * len(VARIANTS)) + "|"]
    near = 0
    for rate, rtt, queue, losses in PATHS:
        for loss in losses:
            line = f"| {rate / 1e6:g} | {rtt} | {loss:g} |"
            for variant in VARIANTS:
                cell = (variant, rate, rtt, queue, loss)
                theirs = sum(measured[cell]) / len(measured[cell])
                runs = [clift_kbps(cell, seed) for seed in seeds(loss)]
                ours = sum(runs) / len(runs)
                near += abs(ours / theirs - 1) <= 0.1
                line += f" {ours:.0f} | {theirs:.0f} | {(ours / theirs - 1) * 100:+.1f} % |"
            lines.append(line)
    print(f"ns-3: {near} of {len(cells())} cells within 10 %")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
