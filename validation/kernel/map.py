r"""Thirty squares of the map of schemes (examples/map.toml) on a Linux kernel, beside the engine.

    python -m validation.kernel.map                       # the kept measurements, beside the engine
    python -m validation.kernel.virtual run NAME \
        python -m validation.kernel.map --measure 12      # the next 12 runs, in virtual time

A square is a rate, a reception and a congestion control. `squares` draws them among the squares of
Linux's TCP at up to 10 Mbit/s. Each of the three schemes runs live (`clift live`) over the same
channels: kernel and engine meet the same erasures, so that goodput is compared run by run.
`map.csv` keeps what was measured.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import platform
import random
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from statistics import fmean, median
from typing import NamedTuple

import clift
from clift.hosts.crosscheck import crosscheck

ROOT = Path(__file__).parents[2]
STUDY = ROOT / "examples/map.toml"
FILE = Path(__file__).parent / "map.csv"
# Written down before anything was compared.
SEED = "map on a kernel 1"
SQUARES = 30
CHANNELS = (1, 2, 3)
RATES = ("0.1 Mbit/s", "0.3 Mbit/s", "1 Mbit/s", "3 Mbit/s", "10 Mbit/s")
RECEPTIONS = ("0.5 %, 2", "2 %, 2", "8 %, 2", "2 %, 20", "2 %, 200")
CONTROLS = ("Linux, New Reno", "Linux, CUBIC", "Linux, BBR")
SCHEMES = ("ARQ", "HARQ(10/12)", "HARQ(10/15)")


class Square(NamedTuple):
    """A place of the map, by the labels of its axes."""

    rate: str
    reception: str
    control: str


class Live(NamedTuple):
    """A run: a scheme over one channel in a square."""

    square: Square
    scheme: str
    channel: int

    def scenario(self) -> clift.Scenario:
        """The run as a scenario of one cell; its seed is the channel's number."""
        changes = {**self.square._asdict(), "scheme": self.scheme, "seed": str(self.channel)}
        return clift.Scenario.read(STUDY, changes | {"runs": "1"})


def squares() -> list[Square]:
    """The squares, drawn once by seed.

    >>> len(set(squares())), squares() == squares()
    (30, True)
    """
    every = [Square(*one) for one in itertools.product(RATES, RECEPTIONS, CONTROLS)]
    return random.Random(SEED).sample(every, SQUARES)


def runs() -> Iterator[Live]:
    """All runs: the first channel of every square, low rates first, then the second."""
    ordered = sorted(squares(), key=lambda square: RATES.index(square.rate))
    for channel, square, scheme in itertools.product(CHANNELS, ordered, SCHEMES):
        yield Live(square, scheme, channel)


def kept() -> dict[Live, float]:
    """Measured goodput by run, kbit/s."""
    if not FILE.exists():
        return {}
    lines = (line for line in FILE.read_text().splitlines() if not line.startswith("#"))
    return {
        Live(
            Square(*(row[name] for name in Square._fields)), row["scheme"], int(row["channel"])
        ): float(row["goodput_kbps"])
        for row in csv.DictReader(lines)
    }


def measure(count: int) -> None:
    """Measures the next runs that are not kept yet, and keeps each as it is done."""
    done = kept()
    kernel = re.match(r"[0-9.]+", platform.release())
    with FILE.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if not done:
            file.write(f"# Linux {kernel[0] if kernel else '?'}, `clift live`\n")
            writer.writerow([*Square._fields, "scheme", "channel", "goodput_kbps", "fates"])
        for one in itertools.islice((one for one in runs() if one not in done), count):
            told: list[str] = []
            found = crosscheck(one.scenario(), ("live",), told.append)
            if "live" not in found or any("does not count" in line for line in told):
                raise SystemExit(f"{one}: {told}")
            live = found["live"]
            row = [*one.square, one.scheme, one.channel, f"{live['goodput_kbps']:.2f}"]
            writer.writerow([*row, live["fates"]["agree"]])
            file.flush()


@cache
def engine(one: Live) -> float:
    """Goodput of the engine in a run, kbit/s."""
    return clift.simulate(one.scenario()).goodput_kbps


def compared() -> Iterator[tuple[Square, int, dict[str, tuple[float, float]]]]:
    """Squares with a channel under all schemes: channels, and goodput of kernel and engine."""
    found = kept()
    for square in squares():
        whole = [
            channel
            for channel in CHANNELS
            if all(Live(square, scheme, channel) in found for scheme in SCHEMES)
        ]
        if whole:
            means = {
                scheme: (
                    fmean(found[Live(square, scheme, one)] for one in whole),
                    fmean(engine(Live(square, scheme, one)) for one in whole),
                )
                for scheme in SCHEMES
            }
            yield square, len(whole), means


def main() -> int:
    """Prints the squares; 1 if the best scheme agrees in fewer than nine of ten."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measure", type=int, metavar="COUNT", help="measure the next runs")
    given = parser.parse_args()
    if given.measure:
        measure(given.measure)
        return 0
    agree, off, total = 0, [], 0
    print("square: kernel's and engine's goodput by scheme (kbit/s)")
    for square, channels, means in compared():
        best = [max(means, key=lambda scheme: means[scheme][host]) for host in (0, 1)]
        # Where the kernel's two best are within 2 % of each other either may be best.
        close = means[best[1]][0] >= 0.98 * means[best[0]][0]
        agree += close
        total += 1
        off += [abs(ours / theirs - 1) for theirs, ours in means.values()]
        told = ", ".join(f"{name} {a:.0f} {b:.0f}" for name, (a, b) in means.items())
        print(f"{', '.join(square)} ({channels} channels): {told}{'' if close else '  *'}")
    if not total:
        print("nothing is measured")
        return 0
    print(
        f"the best scheme agrees in {agree} of {total} squares (*: not); goodput differs by "
        f"{median(off):.1%} (median), {sum(one <= 0.05 for one in off)} of {len(off)} within 5 %"
    )
    return int(agree < 0.9 * total)


if __name__ == "__main__":
    sys.exit(main())
