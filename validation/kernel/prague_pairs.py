"""Two flows over DualPI2, beside a kernel with `tcp_prague`: Prague twice, and Prague beside CUBIC.

    python -m validation.kernel.prague_pairs                   # with what is measured
    python -m validation.kernel.prague_pairs --measure KERNEL  # what is lacking, in virtual time

KERNEL is as in `prague.py`. Rates and round trips were drawn before anything was compared. The
kernel runs two or three times and ours nine times, with the delay moved by up to .4 ms. A cell is
near if the goodput of both flows together is within 5 %, and the first flow's share of it within 5
percentage points. Exit code 1 if fewer cells are near than the docs say.
"""

from __future__ import annotations

import functools
import itertools
import json
import random
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import clift
from validation.kernel import kept, ours, virtual
from validation.kernel.ecn import LIMIT
from validation.kernel.flow import measure_together
from validation.kernel.gate import forward_through
from validation.kernel.prague import SHIFTS_NS, PragueCell

FILE = Path(__file__).parent / "prague_pairs.csv"
SEED = "prague pairs 1"
KERNEL_SHIFTS_NS = (-400_000, 0, 400_000)
WITHIN, SHARE_WITHIN, FEWEST = 0.05, 0.05, 8


@dataclass(frozen=True)
class Pair:
    """A flow of Prague, and one of `other`."""

    other: str
    rtt_ms: int
    rate_bps: int

    @property
    def flows(self) -> list[PragueCell]:
        """Each flow as if it were alone."""
        both = ("prague", self.other)
        return [PragueCell(one, "dualpi2", self.rtt_ms, self.rate_bps) for one in both]

    @property
    def label(self) -> str:
        """The cell in a line.

        >>> Pair("cubic", 40, 10_000_000).label
        'prague and cubic, 10 Mbit/s, 40 ms'
        """
        return f"prague and {self.other}, {self.rate_bps / 1e6:g} Mbit/s, {self.rtt_ms} ms"


def cells() -> list[Pair]:
    """All cells: rates of 3 to 20 Mbit/s, round trips of 10 to 100 ms, log-uniform.

    >>> [cell.other for cell in cells()].count("cubic")
    4
    """
    draw = random.Random(SEED)

    def between(low: float, high: float) -> float:
        return low * (high / low) ** draw.random()

    return [
        Pair(other, round(between(10, 100)), round(between(300, 2000)) * 10_000)
        for other in ("prague", "cubic")
        for _ in range(4)
    ]


def engine(cell: Pair, shift_ns: int) -> tuple[float, float, int]:
    """Goodputs of both flows of CLIFT and marks, with a delay that much longer each way."""
    leg = {"rate": f"{cell.rate_bps} bit/s", "delay": f"{cell.rtt_ms * 500_000 + shift_ns} ns"}
    queue = {"queue": f"{LIMIT} packets", "aqm": "dualpi2(marks drawn)"}
    outcome = clift.simulate(
        clift.Scenario(
            {
                "path": [{"leg": leg | queue}],
                "return": {"path": [{"leg": leg}]},
                "application": {"type": "bulk"},
                "flow": [
                    {"transport": {"congestion": one.congestion, "ecn": True}} for one in cell.flows
                ],
            },
            profile="linux",
            linux=ours.HOST,
            duration_s=cell.flows[0].seconds,
            seed=1000 + shift_ns // 10_000,
        )
    )
    summary = dict(outcome.summary())
    first, second = (flow["goodput_kbps"] for flow in summary["flows"])
    return first, second, summary["links"][0]["packets_marked"]


def measure_here(number: int, shift_ns: int) -> dict[str, object]:
    """What this kernel does; CUBIC asks for RFC 3168, Prague for accurate ECN."""
    cell = cells()[number]
    queue, delay_ns = cell.flows[0].kernel_queue, cell.rtt_ms * 500_000 + shift_ns
    path = functools.partial(forward_through, queue, cell.rate_bps, delay_ns)
    first, second = measure_together(cell.flows, ("net.ipv4.tcp_ecn=4",), path)
    return {
        "first_kbps": round(first.goodput_kbps, 2),
        "second_kbps": round(second.goodput_kbps, 2),
        "marked": first.marked,
    }


def measure_in(name: str, numbers: list[int]) -> None:
    """Measures what is lacking of cells, by their numbers, in the kernel of that name."""
    rows = kept.read(FILE)
    have = {(int(row["number"]), int(row["shift_ns"])) for row in rows}
    for shift, number in itertools.product(KERNEL_SHIFTS_NS, numbers):
        if (number, shift) in have:
            continue
        words = ["-m", "validation.kernel.prague_pairs", "--here", str(number), str(shift)]
        done = virtual.run(name, [sys.executable, *words])
        if done.returncode:
            raise RuntimeError(f"cell {number}: {done.stderr[-2000:]}")
        rows.append({"number": number, "shift_ns": shift, **json.loads(done.stdout)})
        kept.write(FILE, rows)


def compare() -> tuple[int, int]:
    """Prints every measured cell; how many are near, of how many."""
    near, rows = 0, kept.read(FILE)
    print("| cell | goodput of both, ours | kernel | difference "
          "| share of the first, ours | kernel | marks, ours | kernel |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|")
    for number, cell in enumerate(cells()):
        own = [engine(cell, shift) for shift in SHIFTS_NS]
        kernel = [
            (float(row["first_kbps"]), float(row["second_kbps"]), int(row["marked"]))
            for row in rows
            if int(row["number"]) == number
        ]
        both = [fmean(first + second for first, second, _ in side) for side in (own, kernel)]
        shares = [
            fmean(first / (first + second) for first, second, _ in side) for side in (own, kernel)
        ]
        marks = [fmean(marked for *_, marked in side) for side in (own, kernel)]
        off = both[0] / both[1] - 1
        near += abs(off) <= WITHIN and abs(shares[0] - shares[1]) <= SHARE_WITHIN
        print(f"| {cell.label} | {both[0]:.0f} | {both[1]:.0f} | {off:+.1%} "
              f"| {shares[0]:.1%} | {shares[1]:.1%} | {marks[0]:.0f} | {marks[1]:.0f} |",
              flush=True)  # fmt: skip
    return near, len(cells())


def main() -> int:
    """Measures if that is asked for, and compares."""
    numbers = ("NUMBER", "SHIFT_NS")
    code = virtual.asked(__doc__, measure_here, measure_in, numbers, len(cells()))
    if code is not None:
        return code
    near, count = compare()
    print(f"of {count} cells {near} are near")
    return int(near < FEWEST)


if __name__ == "__main__":
    sys.exit(main())
