"""TCP with ECN beside a kernel: its TCP over its own queues, and ours over ours.

    python -m validation.kernel.ecn                             # with what is measured
    python -m validation.kernel.ecn --measure 7.2 [NUMBER ...]  # what is lacking, in virtual time

A cell is one bulk flow over 10 Mbit/s with a queue that marks, from the first SYN on. A mark more
or less in the beginning can decide minutes, so that one run beside one says little: delays are
moved by up to .4 ms, nine times for the kernel and 41 times for ours. Five cells that this does not
decide have more: 81 of ours, and of the kernel as many as there was time for. Goodput is equal if
two one-sided tests show that the means differ by less than 5 %, marks if they differ by less than
10 % (or 3). A cell that is neither equal nor different is undecided, which is no agreement.
`ecn.csv` has every run of the kernel. Exit code 1 if fewer cells are equal, or more different, than
the docs say.
"""

from __future__ import annotations

import functools
import json
import random
import sys
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from statistics import fmean

import clift
from validation.equivalence import DIFFERENT, EQUAL, verdict
from validation.kernel import kept, ours, virtual
from validation.kernel.flow import measure
from validation.kernel.gate import forward_through
from validation.kernel.queue_cells import PIE, QUEUES

FILE = Path(__file__).parent / "ecn.csv"
RATE_BPS = 10_000_000
LIMIT = 1000
GOODPUT_WITHIN, MARKS_WITHIN, FEW_MARKS = 0.05, 0.1, 3
# Of the kernel.
SHIFTS_NS = (-400_000, -200_000, -100_000, -50_000, 0, 50_000, 100_000, 200_000, 400_000)
# Between two further runs of the kernel. Means of 130 runs that spread by 19 % decide within 5 %.
MORE_EVERY_NS = {
    ("dctcp", PIE, 40): 20_000,
    ("cubic", "codel", 500): 20_000,
    ("cubic", "fq-codel", 500): 20_000,
    ("cubic", "dualpi2", 500): 20_000,
    ("dctcp", "dualpi2", 500): 6_250,
}
# Ours, whose runs cost little: a test tells more of many.
OURS_EVERY_NS, OURS_CLOSER_NS = 20_000, 10_000
FEWEST_EQUAL, MOST_DIFFERENT = 10, 1
_SEED = 1000
# What a congestion control that follows RFC 3168, and DCTCP, stand over.
_QUEUES = {
    "cubic": ("codel", "fq-codel", PIE, "dualpi2"),
    "dctcp": ("codel", "codel(ce_threshold 1 ms)", PIE, "dualpi2"),
}
_SECONDS = {40: 30.0, 500: 60.0}


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
        """Duration of the flow."""
        return _SECONDS[self.rtt_ms]

    @property
    def label(self) -> str:
        """The cell in a line.

        >>> EcnCell("dctcp", "codel", 40).label
        'dctcp, codel, 40 ms'
        """
        return f"{self.congestion}, {self.queue}, {self.rtt_ms} ms"

    @property
    def _more_every_ns(self) -> int | None:
        return MORE_EVERY_NS.get((self.congestion, self.queue, self.rtt_ms))

    @property
    def shifts_ns(self) -> list[int]:
        """By how much each run of the kernel has longer delays, in an order drawn once.

        >>> len(EcnCell("dctcp", "dualpi2", 500).shifts_ns)
        129
        """
        more = _shifts(self._more_every_ns) if self._more_every_ns else ()
        every = sorted({*SHIFTS_NS, *more})
        return random.Random("ecn more").sample(every, len(every))

    @property
    def own_shifts_ns(self) -> range:
        """The same for ours."""
        return _shifts(OURS_CLOSER_NS if self._more_every_ns else OURS_EVERY_NS)

    @property
    def kernel_queue(self) -> tuple[str, list[str]]:
        """The queue in the words of `tc`.

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


def _shifts(every_ns: int) -> range:
    return range(-400_000, 400_001, every_ns)


def engine(cell: EcnCell, shift_ns: int = 0) -> Did:
    """Result of CLIFT's flow over CLIFT's queue, with a delay that much longer each way.

    Rules of the kernel's host are on: a burst that waits for the next ACK decides here what is
    marked. DualPI2 draws its marks, as the kernel does, and no two delays have the same draws.

    >>> engine(EcnCell("cubic", "codel", 40)).marked > 10
    True
    """
    leg = {"rate": f"{cell.rate_bps} bit/s", "delay": f"{cell.rtt_ms * 500_000 + shift_ns} ns"}
    queue = "dualpi2(marks drawn)" if cell.queue == "dualpi2" else cell.queue
    outcome = clift.simulate(
        clift.Scenario(
            {
                "path": [{"leg": leg | {"queue": f"{LIMIT} packets", "aqm": queue}}],
                "return": {"path": [{"leg": leg}]},
                "application": {"type": "bulk"},
                "transport": {"congestion": cell.congestion, "ecn": True},
            },
            profile="linux",
            linux=ours.HOST,
            duration_s=cell.seconds,
            seed=_SEED + shift_ns // OURS_CLOSER_NS,
        )
    )
    summary = dict(outcome.summary())
    flow = summary["flows"][0]
    marked = summary["links"][0]["packets_marked"]
    return Did(outcome.goodput_kbps, marked, flow["retransmissions"], flow["timeouts"])


def measure_here(number: int, shift_ns: int) -> dict[str, object]:
    """Result of this kernel's flow over its queue, with a delay that much longer each way."""
    cell = cells()[number]
    delay_ns = cell.rtt_ms * 500_000 + shift_ns
    path = functools.partial(forward_through, cell.kernel_queue, cell.rate_bps, delay_ns)
    measured = measure(cell, ("net.ipv4.tcp_ecn=1",), path)
    goodput = round(measured.goodput_kbps, 2)
    return asdict(Did(goodput, measured.marked, measured.retransmissions, measured.timeouts))


def recorded() -> dict[EcnCell, dict[int, tuple[Did, str]]]:
    """Results of kernels with changed delays, and the kernel's version."""
    found: dict[EcnCell, dict[int, tuple[Did, str]]] = {}
    for row in kept.read(FILE):
        cell = EcnCell(row["congestion"], row["queue"], int(row["rtt_ms"]))
        counts = (int(row[name]) for name in ("marked", "retransmissions", "timeouts"))
        did = Did(float(row["goodput_kbps"]), *counts)
        found.setdefault(cell, {})[int(row["shift_ns"])] = did, row["kernel"]
    return found


def measure_in(name: str, numbers: list[int]) -> None:
    """Measures what is lacking of cells, by their numbers, in the kernel of that name."""
    every, have = cells(), recorded()
    for number, shift in [(one, shift) for one in numbers for shift in every[one].shifts_ns]:
        cell = every[number]
        if shift in have.get(cell, ()):
            continue
        words = ["-m", "validation.kernel.ecn", "--here", str(number), str(shift)]
        done = virtual.run(name, [sys.executable, *words])
        if done.returncode:
            said = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
            print(f"{cell.label}, {shift} ns: {said}", file=sys.stderr)
            continue
        found = json.loads(done.stdout)
        kernel = found.pop("kernel")
        have.setdefault(cell, {})[shift] = Did(**found), kernel
        _write(have)


def _write(have: dict[EcnCell, dict[int, tuple[Did, str]]]) -> None:
    rows = [
        {**asdict(cell), "seconds": f"{cell.seconds:g}", "shift_ns": shift}
        | asdict(did)
        | {"kernel": kernel}
        for cell in filter(have.__contains__, cells())
        for shift, (did, kernel) in sorted(have[cell].items())
    ]
    kept.write(FILE, rows)


def judge(own: list[Did], kernels: list[Did]) -> tuple[str, str]:
    """Verdicts on goodput and on marks.

    >>> own = [Did(9000 + it, 95, 0, 0) for it in range(5)]
    >>> judge(own, [Did(9100 + it, 200 + it, 0, 0) for it in range(5)])
    ('equal', 'different')
    """
    (ours_goodput, ours_marks, *_), (goodput, marks, *_) = (
        list(zip(*map(astuple, runs), strict=True)) for runs in (own, kernels)
    )
    return (
        verdict(ours_goodput, goodput, GOODPUT_WITHIN),
        verdict(ours_marks, marks, MARKS_WITHIN, FEW_MARKS),
    )


def compare() -> tuple[int, int, int]:
    """Prints every cell; how many are equal, how many different, of how many."""
    equal, different, have = 0, 0, recorded()
    print("| cell | goodput, ours | kernel | | marks, ours | kernel | |")
    print("|---|---|---|---|---|---|---|")
    for cell, runs in have.items():
        kernels = [did for did, _ in runs.values()]
        own = [engine(cell, shift) for shift in cell.own_shifts_ns]
        found = judge(own, kernels)
        equal += set(found) == {EQUAL}
        different += DIFFERENT in found
        goodput, marks = (
            [f"{fmean(getattr(did, name) for did in side):.0f}" for side in (own, kernels)]
            for name in ("goodput_kbps", "marked")
        )
        columns = [cell.label, *goodput, found[0], *marks, found[1]]
        print(f"| {' | '.join(columns)} |", flush=True)
    return equal, different, len(have)


def main() -> int:
    """Measures if that is asked for, and compares."""
    numbers = ("NUMBER", "SHIFT_NS")
    code = virtual.asked(__doc__, measure_here, measure_in, numbers, len(cells()))
    if code is not None:
        return code
    equal, different, count = compare()
    print(f"of {count} cells {equal} are equal in both, {different} differ in one or both")
    return int(equal < FEWEST_EQUAL or different > MOST_DIFFERENT)


if __name__ == "__main__":
    sys.exit(main())
