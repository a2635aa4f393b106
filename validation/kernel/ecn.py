"""TCP with ECN beside a kernel: its TCP over its own queues, and ours over ours.

    python -m validation.kernel.ecn                             # with what is measured
    python -m validation.kernel.ecn --measure 7.2 [NUMBER ...]  # anew, in virtual time

A cell is one bulk flow over 10 Mbit/s with a queue that marks, from the first SYN on. It holds if
goodput is within 5 % and the number of packets marked within 10 % (or 3). Over 500 ms a mark more
in the beginning decides minutes: where a cell does not hold, ours runs with the delay moved by up
to .4 ms, and if the kernel's figures lie among those, within the same bounds, the cell is chance.
`ecn.csv` has what the kernels did. Exit code 1 if fewer than 12 cells hold or are chance.
"""

from __future__ import annotations

import argparse
import csv
import functools
import json
import platform
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import clift
from validation.kernel import ours, virtual
from validation.kernel.flow import measure
from validation.kernel.gate import forward_through
from validation.kernel.queue_cells import PIE, QUEUES

FILE = Path(__file__).parent / "ecn.csv"
RATE_BPS = 10_000_000
LIMIT = 1000
GOODPUT_WITHIN, MARKS_WITHIN, FEW_MARKS = 0.05, 0.1, 3
SHIFTS_NS = (-400_000, -200_000, -100_000, -50_000, 50_000, 100_000, 200_000, 400_000)
AIM = 12
# What a congestion control that follows RFC 3168, and DCTCP, stand over.
_QUEUES = {
    "cubic": ("codel", "fq-codel", PIE, "dualpi2"),
    "dctcp": ("codel", "codel(ce_threshold 1 ms)", PIE, "dualpi2"),
}
_SECONDS = {40: 30.0, 500: 60.0}
_FIELDS = (
    "congestion", "queue", "rtt_ms", "seconds", "goodput_kbps", "marked", "retransmissions",
    "timeouts", "kernel",
)  # fmt: skip


@dataclass(frozen=True)
class EcnCell:
    """A congestion control over a queue; the other words are those of any cell."""

    congestion: str
    queue: str
    rtt_ms: int

    rate_bps = RATE_BPS
    paced = False
    queue_packets = LIMIT
    held_ms = 0
    file_bytes = None

    @property
    def seconds(self) -> float:
        """How long the flow lasts."""
        return _SECONDS[self.rtt_ms]

    @property
    def label(self) -> str:
        """The cell in a line.

        >>> EcnCell("dctcp", "codel", 40).label
        'dctcp, codel, 40 ms'
        """
        return f"{self.congestion}, {self.queue}, {self.rtt_ms} ms"

    @property
    def kernel_queue(self) -> tuple[str, list[str]]:
        """The queue as `tc` is told it.

        >>> EcnCell("cubic", "fq-codel", 40).kernel_queue
        ('fq_codel', ['limit', '1000', 'quantum', '1514', 'ecn'])
        """
        kind, arguments = QUEUES[self.queue]
        return kind, [*arguments.split(), *([] if kind == "dualpi2" else ["ecn"])]

    def fates(self) -> tuple[list[int], list[int]]:
        """Nothing is lost or held back behind the queue."""
        return [], []


@dataclass(frozen=True)
class Did:
    """What a flow came to."""

    goodput_kbps: float
    marked: int
    retransmissions: int
    timeouts: int

    def faults(self, kernel: Did) -> list[str]:
        """What is further off the kernel's than it may be.

        >>> Did(9000, 95, 0, 0).faults(Did(9600, 100, 0, 0))
        ['goodput']
        """
        faults = []
        if abs(self.goodput_kbps / kernel.goodput_kbps - 1) > GOODPUT_WITHIN:
            faults.append("goodput")
        if abs(self.marked - kernel.marked) > max(MARKS_WITHIN * kernel.marked, FEW_MARKS):
            faults.append("marks")
        return faults


def cells() -> list[EcnCell]:
    """Each congestion control over each of its queues.

    >>> len(cells())
    16
    """
    return [
        EcnCell(congestion, queue, rtt)
        for rtt in _SECONDS
        for congestion, queues in _QUEUES.items()
        for queue in queues
    ]


def engine(cell: EcnCell, shift_ns: int = 0) -> Did:
    """What our flow does over our queue, with a delay that much longer each way.

    Rules of the kernel's host are on: a burst that waits for the next ACK decides here what is
    marked.

    >>> engine(EcnCell("cubic", "codel", 40)).marked > 10
    True
    """
    leg = {"rate": f"{cell.rate_bps} bit/s", "delay": f"{cell.rtt_ms * 500_000 + shift_ns} ns"}
    outcome = clift.simulate(
        clift.Scenario(
            {
                "path": [{"leg": leg | {"queue": f"{LIMIT} packets", "aqm": cell.queue}}],
                "return": {"path": [{"leg": leg}]},
                "application": {"type": "bulk"},
                "transport": {"congestion": cell.congestion, "ecn": True},
            },
            profile="linux",
            linux=ours.HOST,
            duration_s=cell.seconds,
        )
    )
    summary = dict(outcome.summary())
    flow = summary["flows"][0]
    marked = summary["links"][0]["packets_marked"]
    return Did(outcome.goodput_kbps, marked, flow["retransmissions"], flow["timeouts"])


def measure_here(cell: EcnCell) -> Did:
    """What this kernel's flow does over its queue."""
    path = functools.partial(
        forward_through, cell.kernel_queue, cell.rate_bps, cell.rtt_ms * 500_000
    )
    measured = measure(cell, ("net.ipv4.tcp_ecn=1",), path)
    return Did(
        round(measured.goodput_kbps, 2),
        measured.marked,
        measured.retransmissions,
        measured.timeouts,
    )


def recorded() -> dict[EcnCell, tuple[Did, str]]:
    """What kernels did, and which kernel."""
    if not FILE.exists():
        return {}
    with FILE.open() as file:
        return {
            EcnCell(row["congestion"], row["queue"], int(row["rtt_ms"])): (
                Did(
                    float(row["goodput_kbps"]),
                    *(int(row[name]) for name in ("marked", "retransmissions", "timeouts")),
                ),
                row["kernel"],
            )
            for row in csv.DictReader(file)
        }


def measure_in(name: str, numbers: list[int]) -> None:
    """Measures cells, by their numbers, in the kernel of that name, and stores what it did."""
    every, have = cells(), recorded()
    for number in numbers:
        probe = [sys.executable, "-m", "validation.kernel.ecn", "--here", str(number)]
        done = virtual.run(name, probe)
        if done.returncode:
            print(f"{every[number].label}: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
            continue
        found = json.loads(done.stdout)
        kernel = found.pop("kernel")
        have[every[number]] = (Did(**found), kernel)
        _write([(cell, *have[cell]) for cell in every if cell in have])


def _write(rows: list[tuple[EcnCell, Did, str]]) -> None:
    with FILE.open("w", newline="") as file:
        writer = csv.DictWriter(file, _FIELDS, lineterminator="\n")
        writer.writeheader()
        for cell, did, kernel in rows:
            row = asdict(cell) | asdict(did) | {"seconds": f"{cell.seconds:g}", "kernel": kernel}
            writer.writerow(row)


def is_chance(cell: EcnCell, kernel: Did) -> bool:
    """Whether the kernel's figures lie among ours with the delay moved a little."""
    runs = [engine(cell, shift) for shift in (0, *SHIFTS_NS)]
    goodputs, marks = [run.goodput_kbps for run in runs], [run.marked for run in runs]
    return (
        min(goodputs) * (1 - GOODPUT_WITHIN) <= kernel.goodput_kbps
        and kernel.goodput_kbps <= max(goodputs) * (1 + GOODPUT_WITHIN)
        and min(marks) - max(MARKS_WITHIN * kernel.marked, FEW_MARKS) <= kernel.marked
        and kernel.marked <= max(marks) + max(MARKS_WITHIN * kernel.marked, FEW_MARKS)
    )


def compare() -> tuple[int, int, int]:
    """Prints every cell; how many hold, how many are chance, of how many."""
    held, chance, have = 0, 0, recorded()
    print("cell; ours and the kernel's goodput in kbit/s, packets marked, segments sent again")
    for cell, (kernel, version) in have.items():
        own = engine(cell)
        said = ""
        if not (faults := own.faults(kernel)):
            held += 1
        elif is_chance(cell, kernel):
            chance += 1
            said = f"chance: {', '.join(faults)}"
        else:
            said = f"OFF {', '.join(faults)}"
        pairs = [
            f"{getattr(own, name):{form}} {getattr(kernel, name):{form}}"
            for name, form in (("goodput_kbps", "8.1f"), ("marked", "6"), ("retransmissions", "6"))
        ]
        print(f"{cell.label:36} {'  '.join(pairs)}  {version}  {said}".rstrip())
    return held, chance, len(have)


def main() -> int:
    """Measures if that is asked for, and compares."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--measure", nargs="+", metavar=("KERNEL", "NUMBER"),
                        help="a kernel of virtual.py, and numbers of cells")  # fmt: skip
    parser.add_argument("--here", type=int, metavar="NUMBER", help="a cell in this kernel, as root")
    given = parser.parse_args()
    if given.here is not None:
        did = asdict(measure_here(cells()[given.here]))
        print(json.dumps(did | {"kernel": f"Linux {platform.release()}"}))
        return 0
    if given.measure:
        name, *numbers = given.measure
        if reason := virtual.hindrance(name):
            print(reason, file=sys.stderr)
            return 2
        measure_in(name, [int(number) for number in numbers] or list(range(len(cells()))))
    held, chance, count = compare()
    print(f"{held} of {count} cells hold, {chance} more are chance")
    return 0 if held + chance >= AIM else 1


if __name__ == "__main__":
    sys.exit(main())
