"""Hybla and Westwood+ of profile `linux` beside ns-3's, the same packets lost in both.

    python validation/tcp_ns3_controls.py ./compare    # runs ns-3 and CLIFT, prints a table

`compare` is bench/ns3/compare.cc, built against ns-3.37 (its TcpHybla, and its TcpWestwood as
Westwood+) or later. The parts of a kernel that ns-3 has not are switched off, as in
`validation/tcp_ns3.py`, whose cells these are, for 100 s. ns-3 has no Compound.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import tcp_ns3

VARIANTS = {"newreno": "TcpLinuxReno", "hybla": "TcpHybla", "westwood": "TcpWestwood"}
#: What ns-3 has otherwise: plain Westwood, and a reference round-trip time of 50 ms.
ATTRIBUTES = {
    "hybla": "ns3::TcpHybla::RRTT=25ms",
    "westwood": "ns3::TcpWestwood::ProtocolType=WestwoodPlus",
}
#: bit/s, round-trip time in ms, packets that may wait, loss.
PATHS = (
    (2_300_000, 40, 50, 1e-3),
    (2_300_000, 40, 50, 1e-2),
    (2_300_000, 500, 192, 1e-3),
    (2_300_000, 500, 192, 1e-2),
)
SECONDS = 100
SEEDS = (1, 2, 3)


def ns3_kbps(binary: str, variant: str, path: tuple[int, int, int, float], seed: int) -> float:
    """Goodput by ns-3."""
    rate, rtt, queue, loss = path
    drops = [str(n + 2) for n in tcp_ns3.lost(seed, rate, loss)]
    head = [binary, str(rate), str(rtt), str(SECONDS), str(queue), VARIANTS[variant]]
    env = os.environ | {"NS_ATTRIBUTE_DEFAULT": ATTRIBUTES.get(variant, "")}
    done = subprocess.run([*head, *drops], capture_output=True, text=True, check=True, env=env)
    return int(done.stdout.split()[0]) * 8e-3 / SECONDS


def main() -> int:
    """Prints the table."""
    tcp_ns3.SECONDS = SECONDS
    print("| control | Mbit/s | RTT, ms | loss | ours | ns-3 | |\n|---|---|---|---|---|---|---|")
    for variant in VARIANTS:
        for path in PATHS:
            rate, rtt, _, loss = path
            theirs = sum(ns3_kbps(sys.argv[1], variant, path, seed) for seed in SEEDS) / 3
            ours = sum(tcp_ns3.clift_kbps((variant, *path), seed) for seed in SEEDS) / 3
            off = f"{(ours / theirs - 1) * 100:+.1f} %"
            cell = f"| {variant} | {rate / 1e6:g} | {rtt} | {loss:g} "
            print(f"{cell}| {ours:.0f} | {theirs:.0f} | {off} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
