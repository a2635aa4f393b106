"""CLIFT's queues and a kernel's `tc` with the same arrivals.

    python -m validation.kernel.queues                             # with what is measured
    python -m validation.kernel.queues --measure 7.2 [NUMBER ...]  # again, in virtual time

Compares in each cell (`queue_cells`) the shares dropped and marked and the mean delay of what was
sent, each within 10 % (of a share of .2 % and a delay of 1 ms at least). `queues.csv` has what
the kernels did, a line a cell. Exit code 1 if fewer than nine in ten cells hold of those in which
the kernel follows the RFC.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from validation.kernel import kept
from validation.kernel.queue_cells import PIE, QueueCell, cells
from validation.kernel.virtual import hindrance, run
from validation.queues import ECT_0, NOT_ECT, PACKETS, RATE, fates

ROOT = Path(__file__).parents[2]
FILE = Path(__file__).parent / "queues.csv"
FIELDS = ("queue", "pattern", "field", "packets", "dropped", "marked", "mean_delay_ms", "kernel")
WITHIN = 0.1
HOLD = 0.9
_LEAST_SHARE, _LEAST_DELAY_MS = 0.002, 1.0
FIGURES = ("dropped", "marked", "mean_delay_ms")
DRAWS = 6
# Where the kernel goes its own way: PIE's probability passes 1 and gets more above 250 ms (against
# RFC 8033), and CoDel's root leaves its integers after a batch of drops.
OWN_WAYS = (
    QueueCell(PIE, "bursts", NOT_ECT),
    QueueCell(PIE, "bursts", ECT_0),
    QueueCell("fq-codel", "bursts", ECT_0),
)


@dataclass(frozen=True)
class Fates:
    """Shares of all packets, and the mean delay of those that were sent."""

    dropped: float
    marked: float
    mean_delay_ms: float

    @classmethod
    def of(cls, cell: QueueCell, became: list[tuple[str, int]]) -> Fates:
        """Of the fate and the time, in ns, of each packet."""
        arrivals = cell.arrivals()
        counts = Counter(fate for fate, _ in became)
        delays = [
            at - came
            for (fate, at), (came, _, _) in zip(became, arrivals, strict=True)
            if fate != "dropped"
        ]
        return cls(
            counts["dropped"] / len(arrivals),
            counts["marked"] / len(arrivals),
            sum(delays) / len(delays) / 1e6,
        )

    def faults(self, kernel: Fates) -> list[str]:
        """What is further off the kernel's than it may be.

        >>> Fates(0.2, 0, 10.0).faults(Fates(0.21, 0, 12.0))
        ['mean_delay_ms']
        """
        least = {"dropped": _LEAST_SHARE, "marked": _LEAST_SHARE, "mean_delay_ms": _LEAST_DELAY_MS}
        return [
            name
            for name, floor in least.items()
            if abs(getattr(self, name) - getattr(kernel, name))
            > WITHIN * max(getattr(kernel, name), floor)
        ]


def engine(program: Path, cell: QueueCell) -> Fates:
    """What our queue does, in the mean if it draws; `program` is the example `queue_fates`."""
    arrivals = cell.arrivals()
    runs = []
    for seed in range(1, 1 + (DRAWS if cell.queue == PIE else 1)):
        command = [str(program), cell.queue, f"{RATE} bit/s", str(PACKETS), str(seed)]
        fate, at = fates(command, arrivals, cell.fields(arrivals))
        runs.append(Fates.of(cell, list(zip(fate.tolist(), at.tolist(), strict=True))))
    return Fates(*(mean(getattr(run, name) for run in runs) for name in FIGURES))


def recorded() -> dict[QueueCell, tuple[Fates, str]]:
    """What kernels did, and which kernel."""
    return {
        QueueCell(row["queue"], row["pattern"], int(row["field"])): (
            Fates(*(float(row[name]) for name in FIGURES)),
            row["kernel"],
        )
        for row in kept.read(FILE)
    }


def measure(name: str, numbers: list[int]) -> None:
    """Measures cells, by their numbers, in the kernel of that name, and stores what it did."""
    every, have = cells(), recorded()
    version = run(name, ["uname", "-r"]).stdout.strip()
    for number in numbers:
        probe = [sys.executable, "-m", "validation.kernel.queue_probe", str(number)]
        done = run(name, probe)
        if done.returncode:
            print(f"{every[number].label}: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
            continue
        became = json.loads(done.stdout.split(" ", 1)[1])
        have[every[number]] = (Fates.of(every[number], became), f"Linux {version}")
        _write(have)


def _write(have: dict[QueueCell, tuple[Fates, str]]) -> None:
    rows = []
    for cell in filter(have.__contains__, cells()):
        did, kernel = have[cell]
        shares = f"{did.dropped:.5f}", f"{did.marked:.5f}", f"{did.mean_delay_ms:.3f}"
        packets = len(cell.arrivals())
        row = (cell.queue, cell.pattern, cell.field, packets, *shares, kernel)
        rows.append(dict(zip(FIELDS, row, strict=True)))
    kept.write(FILE, rows)


def compare(program: Path) -> tuple[int, int, int]:
    """Prints every cell; how many hold, in how many others the kernel is at fault, of how many."""
    held, own_ways, have = 0, 0, recorded()
    print(
        "queue, arrivals, ECN field; ours and the kernel's share dropped, share marked, delay in ms"
    )
    for cell, (kernel, version) in have.items():
        ours = engine(program, cell)
        faults = ours.faults(kernel)
        held += not faults
        own_ways += bool(faults) and cell in OWN_WAYS
        said = f"OFF {', '.join(faults)}" if faults else ""
        pairs = [
            f"{getattr(ours, name):{form}} {getattr(kernel, name):{form}}"
            for name, form in (("dropped", "9.3%"), ("marked", "9.3%"), ("mean_delay_ms", "8.2f"))
        ]
        field = "ECT(0)" if cell.field else "-"
        line = f"{cell.queue:24} {cell.pattern:8} {field:6} {'  '.join(pairs)}  {version}  {said}"
        print(line.rstrip())
    return held, own_ways, len(have)


def main() -> int:
    """Measures if that is asked for, and compares."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--measure", nargs="+", metavar=("KERNEL", "NUMBER"),
                        help="a kernel of virtual.py, and numbers of cells")  # fmt: skip
    parser.add_argument("--program", type=Path, help="the example queue_fates, built already")
    given = parser.parse_args()
    if given.measure:
        name, *numbers = given.measure
        if reason := hindrance(name):
            print(reason, file=sys.stderr)
            return 2
        measure(name, [int(number) for number in numbers] or list(range(len(cells()))))
    program = given.program
    if program is None:
        build = ["cargo", "build", "--release", "-q", "-p", "clift", "--example", "queue_fates"]
        subprocess.run(build, cwd=ROOT, check=True)
        program = ROOT / "target/release/examples/queue_fates"
    held, own_ways, count = compare(program)
    print(f"{held} of {count} cells are within 10 % of the kernel in all three")
    print(f"in {own_ways} of the others the kernel does not follow the RFC")
    return 0 if held >= HOLD * (count - own_ways) else 1


if __name__ == "__main__":
    sys.exit(main())
