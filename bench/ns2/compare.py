"""Run ns-2 over the cells of a table and write what it does as CSV.

The losses are at positions that this program and the tests compute alike, so that the same
packets are lost in both simulators and a run can be compared with its twin.

Needs the Debian package `ns2`. Usage, from this folder::

    python3 compare.py matrix > ../../core/tests/data/ns2_matrix.csv
    python3 compare.py scripts > ../../core/tests/data/ns2_scripts.csv
    python3 compare.py --seeds 3 reordering > ../../core/tests/data/ns2_reordering.csv
    python3 compare.py --seeds 3 unsacked > ../../core/tests/data/ns2_unsacked.csv
"""

from __future__ import annotations

import argparse
import csv
import itertools
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

HERE = Path(__file__).resolve().parent
VARIANTS = ("newreno", "cubic", "hybla", "westwood", "compound")
COLUMNS = ("ack", "sent", "retransmissions", "timeouts", "cuts")
WORD = (1 << 64) - 1


def lost(seed: int, position: int, p: float) -> bool:
    """Tell whether run `seed` loses packet `position` at loss probability `p`.

    A SplitMix64 hash of both, so that any position can be asked for alone.

    >>> sum(lost(1, position, 0.01) for position in range(100_000))
    1004
    """
    if p <= 0.0:
        return False
    z = ((seed << 40) ^ position) * 0x9E3779B97F4A7C15 & WORD
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & WORD
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & WORD
    return ((z ^ (z >> 31)) >> 11) / (1 << 53) <= p


def ns2(
    affected: Iterable[int], trace: Path | None = None, what: str = "drops", **options: object
) -> list[int]:
    """Run tcp.tcl once: highest ACK, packets sent, retransmissions, timeouts, cuts.

    The affected packets are lost, or late with `what="late"`.
    """
    options["ca"] = "reno" if options["ca"] == "newreno" else options["ca"]
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(" ".join(map(str, affected)))
        file.flush()
        arguments = [f"{key}={value}" for key, value in options.items()]
        arguments.append(f"{what}={file.name}")
        if trace is not None:
            arguments.append(f"trace={trace}")
        command = ["ns", str(HERE / "tcp.tcl"), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    line = next(line for line in done.stdout.splitlines() if line.startswith("RES"))
    return [int(field) for field in line.split()[1:]]


#: Bit/s, and seconds that a run takes.
RATES = {263_000: 400, 2_300_000: 400, 10_000_000: 100}


def matrix(out: TextIO, seeds: int) -> None:
    """Write goodput over independent loss, the window limited to BDP + buffer."""
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(
        ("variant", "rate", "rtt_ms", "loss", "seed", "buffer", "window", "duration_s", *COLUMNS)
    )
    losses = (0.0, 1e-4, 1e-3, 1e-2)
    cells = itertools.product(VARIANTS, RATES.items(), (40, 500), losses)
    for variant, (rate, duration), rtt, loss in cells:
        bdp = rate * rtt / 1000 / 12_000
        buffer = max(50, round(2 * bdp))
        window = buffer + round(bdp)
        packets = rate * duration // 12_000 + 1000
        for seed in range(1, seeds + 1) if loss > 0 else (1,):
            drops = [n for n in range(packets) if lost(seed, n, loss)]
            result = ns2(
                drops,
                ca=variant,
                rate=rate,
                rtt=rtt,
                buffer=buffer,
                window=window,
                duration=duration,
            )
            row = (variant, rate, rtt, loss, seed, buffer, window, duration, *result)
            writer.writerow(row)
            out.flush()


#: Name, drop positions as ranges, other options: losses at chosen places.
SCRIPTS: tuple[tuple[str, str, dict[str, int]], ...] = (
    ("none", "", {}),
    ("one", "1000", {}),
    ("one-in-slow-start", "30", {}),
    ("first", "0", {}),
    ("first-two", "0-1", {}),
    ("two", "1000 1010", {}),
    ("burst", "1000-1019", {}),
    ("sparse", "1000-1100/7", {}),
    ("retransmissions", "1000 1100-1500/3", {}),
    ("whole-window", "1000-1287", {}),
    ("blackout", "1000-1600", {}),
    ("blackouts", "1000-1600 1602-1700 1705-1800", {}),
    ("overshoot", "", {"window": 1000}),
    ("delayed-ack", "1000 1010", {"delack": 40}),
    ("delayed-ack-burst", "1000-1019", {"delack": 40}),
)


def positions(ranges: str) -> list[int]:
    """List the numbers that ranges name.

    >>> positions("3 10-12 20-30/5")
    [3, 10, 11, 12, 20, 25, 30]
    """
    numbers: list[int] = []
    for part in ranges.split():
        span, _, step = part.partition("/")
        first, _, last = span.partition("-")
        numbers += range(int(first), int(last or first) + 1, int(step or 1))
    return numbers


def digest(sequence: Iterable[int]) -> int:
    """Hash the numbers by FNV-1a, each as one unit: the order in which packets were sent."""
    value = 0xCBF29CE484222325
    for number in sequence:
        value = (value ^ number) * 0x100000001B3 & WORD
    return value


def scripts(out: TextIO) -> None:
    """Write which packets were sent in which order, with losses at chosen places."""
    writer = csv.writer(out, lineterminator="\n")
    head = ("script", "drops", "variant", "rate", "rtt_ms", "buffer", "window", "delack_ms")
    writer.writerow((*head, "duration_s", *COLUMNS, "order", "mean_time_s"))
    for (name, drops, extra), variant, rtt in itertools.product(SCRIPTS, VARIANTS, (40, 500)):
        if (name, variant) == ("first", "westwood"):
            continue  # ns-2 starts counting bytes from memory not set, and sends without end
        buffer, window = {40: (50, 58), 500: (192, 288)}[rtt]
        window = extra.get("window", window)
        delack = extra.get("delack", 0)
        result, order, mean = traced(
            positions(drops),
            ca=variant,
            rate=2_300_000,
            rtt=rtt,
            buffer=buffer,
            window=window,
            delack=delack,
            duration=100,
        )
        row = (name, drops, variant, 2_300_000, rtt, buffer, window, delack, 100, *result)
        writer.writerow((*row, order, mean))


def traced(affected: Iterable[int], **options: object) -> tuple[list[int], str, str]:
    """Run tcp.tcl once: what `ns2` returns, the digest of the order sent, and the mean time."""
    with tempfile.NamedTemporaryFile("r", suffix=".txt") as trace:
        result = ns2(affected, trace=Path(trace.name), **options)
        time.sleep(0.3)  # ns-2 writes the trace in a separate process
        sent = [line.split() for line in trace]
    mean = sum(float(at) for at, _ in sent) / len(sent)
    return result, f"{digest(int(number) for _, number in sent):016x}", f"{mean:.6f}"


def reordering(out: TextIO, seeds: int) -> None:
    """Write packets held back at random, 10 Mbit/s and 160 ms."""
    writer = csv.writer(out, lineterminator="\n")
    head = ("variant", "rate", "rtt_ms", "share", "late_us", "seed", "buffer", "window")
    writer.writerow((*head, "duration_s", *COLUMNS))
    # Odd microseconds: no late packet arrives at the very instant of another.
    rate, rtt, buffer, window, duration = 10_000_000, 160, 400, 500, 60
    cells = itertools.product(VARIANTS, ((0.01, 35_003), (0.03, 35_003), (0.03, 70_007)))
    for (variant, (share, late_us)), seed in itertools.product(cells, range(1, seeds + 1)):
        late = [n for n in range(60_000) if lost(seed, n, share)]
        result = ns2(
            late,
            what="late",
            late_us=late_us,
            ca=variant,
            rate=rate,
            rtt=rtt,
            buffer=buffer,
            window=window,
            duration=duration,
        )
        row = (variant, rate, rtt, share, late_us, seed, buffer, window, duration, *result)
        writer.writerow(row)


def unsacked(out: TextIO, seeds: int) -> None:
    """Write `Agent/TCP/Newreno` towards `Agent/TCPSink`: all kinds of losses, and late packets."""
    writer = csv.writer(out, lineterminator="\n")
    head = ("name", "drops", "loss", "late_us", "seed", "rate", "rtt_ms", "buffer", "window")
    head = (*head, "timestamps", "delack_ms", "duration_s", *COLUMNS, "order", "mean_time_s")
    writer.writerow(head)
    variants = ((1, 0), (0, 0), (1, 40), (0, 100))  # timestamps, delayed ACK
    for (name, drops, extra), rtt, variant in itertools.product(SCRIPTS, (40, 500), variants):
        if "delack" not in extra:
            buffer, window = {40: (50, 58), 500: (192, 288)}[rtt]
            window = extra.get("window", window)
            cell = (name, drops, 0.0, 0, 0, 2_300_000, rtt, buffer, window, *variant, 100)
            writer.writerow(unsacked_row(cell))
            out.flush()
    for (rate, rtt), loss, variant in itertools.product(
        itertools.product((263_000, 2_300_000, 10_000_000), (40, 500)), (1e-3, 1e-2, 5e-2), variants
    ):
        bdp = rate * rtt / 1000 / 12_000
        buffer = max(50, round(2 * bdp))
        window = buffer + round(bdp)
        for seed in range(1, seeds + 1):
            cell = ("random", "", loss, 0, seed, rate, rtt, buffer, window, *variant, 100)
            writer.writerow(unsacked_row(cell))
            out.flush()
    late = ((0.01, 35_003), (0.03, 70_007))
    for (share, late_us), variant, seed in itertools.product(late, variants, range(1, seeds + 1)):
        cell = ("late", "", share, late_us, seed, 10_000_000, 160, 400, 500, *variant, 60)
        writer.writerow(unsacked_row(cell))


def unsacked_row(cell: tuple[object, ...]) -> tuple[object, ...]:
    """Run a cell of `unsacked`, named as in its head."""
    name, drops, loss, late_us, seed, rate, rtt, buffer, window, timestamps, delack, duration = cell
    packets = int(str(rate)) * int(str(duration)) // 12_000 + 1000
    affected = positions(str(drops)) or [
        n for n in range(packets) if lost(int(str(seed)), n, float(str(loss)))
    ]
    result, order, mean = traced(
        affected,
        what="late" if name == "late" else "drops",
        late_us=late_us,
        ca="newreno",
        sack=0,
        rate=rate,
        rtt=rtt,
        buffer=buffer,
        window=window,
        timestamps=timestamps,
        delack=delack,
        duration=duration,
    )
    return (*cell, *result, order, mean)


def main() -> None:
    """Write the table that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", choices=("matrix", "scripts", "reordering", "unsacked"))
    parser.add_argument("--seeds", type=int, default=10)
    arguments = parser.parse_args()
    if arguments.table == "matrix":
        matrix(sys.stdout, arguments.seeds)
    elif arguments.table == "scripts":
        scripts(sys.stdout)
    elif arguments.table == "reordering":
        reordering(sys.stdout, arguments.seeds)
    else:
        unsacked(sys.stdout, arguments.seeds)


if __name__ == "__main__":
    main()
