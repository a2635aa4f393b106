"""TMT: slots per second on one core, beside a plain copy of the same arrays."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import clift

ROOT = Path(__file__).parent.parent
SLOTS, ROUNDS = 10_000_000, 5
SCHEMES = ("none", "FEC(10/12)", "ARQ", "HARQ(10/12)")


def report() -> None:
    """Runs the Rust benchmark, which prints a table, and the same through Python."""
    print("TMT, one core, 5 % independent erasures")
    command = ["cargo", "bench", "--quiet", "-p", "clift", "--bench", "tmt"]
    subprocess.run(command, cwd=ROOT, check=True)
    print(f"\nclift.tmt.apply, {SLOTS} slots, 5 % erased")
    phy = clift.channel.bernoulli(slots=SLOTS, slot_ns=114_783, p=0.05, seed=1)
    copy, seconds = float("inf"), dict.fromkeys(SCHEMES, float("inf"))
    for _ in range(ROUNDS):
        copy = min(copy, _time(lambda: (phy.t_ns.copy(), phy.d_ns.copy())))
        for scheme, best in seconds.items():
            seconds[scheme] = min(best, _time(lambda text=scheme: clift.tmt.apply(phy, text)))
    print(f"{'':<28}{'million slots/s':>16}{'of a copy':>12}")
    print(f"{'numpy copy of t and d':<28}{SLOTS / copy / 1e6:>16.0f}")
    for scheme, spent in seconds.items():
        print(f"{scheme:<28}{SLOTS / spent / 1e6:>16.0f}{copy / spent:>12.2f}")


def _time(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    result = work()
    spent = time.perf_counter() - started
    del result
    return spent
