"""Prague beside a kernel that has `tcp_prague`, over its DualPI2 and ours.

    python -m validation.kernel.prague                   # with what is measured
    python -m validation.kernel.prague --measure KERNEL  # again, in virtual time

No kernel of Linux has `tcp_prague`; KERNEL is one of `virtual.py` with that of the L4S team. A cell
is one bulk flow over a path drawn before anything was compared. `prague.csv` has what the kernel
did. Ours is the mean of runs whose delays differ by up to .4 ms. Exit code 1 if fewer cells are
within 5 % of goodput than the docs say.
"""

from __future__ import annotations

import functools
import json
import random
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean

from validation.kernel import kept, virtual
from validation.kernel.ecn import Did, EcnCell, engine
from validation.kernel.flow import measure
from validation.kernel.gate import forward_through

FILE = Path(__file__).parent / "prague.csv"
SEED, COUNT = "prague 1", 24
WITHIN, FEWEST = 0.05, 24
SHIFTS_NS = range(-400_000, 400_001, 100_000)


@dataclass(frozen=True)
class PragueCell(EcnCell):
    """A flow of Prague over DualPI2 at a drawn rate and round-trip time."""

    rate_bps: int = 0

    @property
    def seconds(self) -> float:
        """Duration of the flow."""
        return 15.0

    @property
    def label(self) -> str:
        """The cell in a line.

        >>> cells()[0].label
        '4.75 Mbit/s, 44 ms'
        """
        return f"{self.rate_bps / 1e6:g} Mbit/s, {self.rtt_ms} ms"


def cells() -> list[PragueCell]:
    """All cells: rates of 1.5 to 12 Mbit/s, round trips of 10 to 200 ms, log-uniform.

    >>> len(cells())
    24
    """
    draw = random.Random(SEED)

    def between(low: float, high: float) -> float:
        return low * (high / low) ** draw.random()

    return [
        PragueCell("prague", "dualpi2", round(between(10, 200)), round(between(150, 1200)) * 10_000)
        for _ in range(COUNT)
    ]


def measure_here(number: int) -> dict[str, object]:
    """Result of this kernel's flow over its queue, for the cell of that number."""
    cell = cells()[number]
    delay_ns = cell.rtt_ms * 500_000
    path = functools.partial(forward_through, cell.kernel_queue, cell.rate_bps, delay_ns)
    found = measure(cell, ("net.ipv4.tcp_ecn=3",), path)
    goodput = round(found.goodput_kbps, 2)
    return asdict(Did(goodput, found.marked, found.retransmissions, found.timeouts))


def measure_in(name: str, numbers: list[int]) -> None:
    """Measures cells, by their numbers, in the kernel of that name, and stores what it did."""
    for number in numbers:
        words = ["-m", "validation.kernel.prague", "--here", str(number)]
        done = virtual.run(name, [sys.executable, *words])
        if done.returncode:
            said = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
            print(f"{number}: {said}", file=sys.stderr)
            continue
        rows = {int(row["number"]): row for row in kept.read(FILE)}
        rows[number] = {"number": number, **json.loads(done.stdout)}
        kept.write(FILE, [rows[at] for at in sorted(rows)])


def compare() -> tuple[int, int]:
    """Prints every measured cell; how many are within 5 % of goodput, of how many."""
    every, near, rows = cells(), 0, kept.read(FILE)
    print("| cell | goodput, ours | kernel | difference | marks, ours | kernel |")
    print("|---|---|---|---|---|---|")
    for row in rows:
        cell = every[int(row["number"])]
        own = [engine(cell, shift) for shift in SHIFTS_NS]
        goodput, marks = fmean(did.goodput_kbps for did in own), fmean(did.marked for did in own)
        kernel = float(row["goodput_kbps"])
        off = goodput / kernel - 1
        near += abs(off) <= WITHIN
        print(f"| {cell.label} | {goodput:.0f} | {kernel:.0f} | {off:+.1%} | {marks:.0f} "
              f"| {row['marked']} |", flush=True)  # fmt: skip
    return near, len(rows)


def main() -> int:
    """Measures if that is asked for, and compares."""
    code = virtual.asked(__doc__, measure_here, measure_in, ("NUMBER",), COUNT)
    if code is not None:
        return code
    near, count = compare()
    print(f"of {count} cells {near} are within 5 % of goodput")
    return int(near < FEWEST)


if __name__ == "__main__":
    sys.exit(main())
