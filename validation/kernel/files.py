r"""Files of 100 kB over Kuhn 2014's link in bad reception: a kernel's TCP live, beside the engine.

    python -m validation.kernel.files                       # the kept measurements and ours
    python -m validation.kernel.virtual run 7.2 \
        python -m validation.kernel.files --measure         # missing ones, in virtual time

`clift live` gives every packet the fate that the engine's link gives it, seed by seed, so that
each file is compared with its own. A host's first packet comes just after a slot has begun, and
waits for the next one: the engine's flow begins as late. The schemes repair late and do not restore
the order: what the sender takes for lost, and whether it takes that back, decides how long a file
takes.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import platform
import re
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import clift
from clift.hosts.crosscheck import crosscheck
from validation.kernel.ours import HOST

DEMO = Path(__file__).parents[2] / "examples/geo_mobile.toml"
FILE = Path(__file__).parent / "files.csv"
SCHEMES = ("ARQ", "HARQ(10/12)")
# Controls and seeds of each draw. The first was looked at while the engine was worked on; each of
# the others was written down before anything of it was compared.
DRAWS = {
    "first": (("newreno", "cubic"), range(1, 31)),
    "second": (("newreno", "cubic"), range(31, 61)),
    "third": (("newreno", "cubic", "bbr"), range(61, 81)),
    "fourth": (("newreno", "cubic", "bbr"), range(81, 101)),
    "fifth": (("newreno", "cubic", "bbr"), range(101, 121)),
    "sixth": (("newreno", "cubic", "bbr"), range(121, 141)),
    "seventh": (("newreno", "cubic", "bbr"), range(141, 161)),
    "eighth": (("newreno", "cubic", "bbr"), range(161, 181)),
}
# A host's first packet, after the link's time zero.
START = '[[flow]]\nstart = "512 ns"\n'


class Cell(NamedTuple):
    """A scheme and a congestion control, with a seed."""

    scheme: str
    congestion: str
    seed: int

    def scenario(self, source: Path, linux: dict[str, bool]) -> clift.Scenario:
        """The page of a file like the demo's, with these settings of profile `linux`."""
        changes = {
            "task": "page",
            "reception": "bad",
            "scheme": self.scheme,
            "transport.congestion": self.congestion,
            "transport.profile": "linux",
            "runs": "1",
            "seed": str(self.seed),
        }
        changes |= {f"transport.linux.{name}": str(on).lower() for name, on in linux.items()}
        return clift.Scenario.read(source, changes)


CELLS = [
    Cell(scheme, congestion, seed)
    for controls, seeds in DRAWS.values()
    for seed, scheme, congestion in itertools.product(seeds, SCHEMES, controls)
]


class Result(NamedTuple):
    """The fate of a file: seconds until its last byte arrived, segments sent again, timeouts."""

    completion_s: float
    retransmissions: int
    timeouts: int


def measure() -> None:
    """Measures the cells that are not kept yet, and keeps each as it is done."""
    kernel = re.match(r"[0-9.]+", platform.release())
    head = f"# Linux {kernel[0] if kernel else '?'}, `clift live`\n"
    done = kept() if FILE.exists() else {}
    with FILE.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if not done:
            file.write(head)
            writer.writerow([*Cell._fields, *Result._fields, "fates"])
        for cell in (cell for cell in CELLS if cell not in done):
            told: list[str] = []
            found = crosscheck(cell.scenario(DEMO, HOST), ("live",), told.append)
            if "live" not in found or any("does not count" in line for line in told):
                raise SystemExit(f"{cell}: {told}")
            live = found["live"]
            numbers = [live["retransmissions"], live["timeouts"], live["fates"]["agree"]]
            writer.writerow([*cell, f"{live['completion_s']:.4f}", *numbers])
            file.flush()


def kept() -> dict[Cell, Result]:
    """What was measured."""
    lines = (line for line in FILE.read_text().splitlines() if not line.startswith("#"))
    return {
        Cell(row["scheme"], row["congestion"], int(row["seed"])): Result(
            float(row["completion_s"]), int(row["retransmissions"]), int(row["timeouts"])
        )
        for row in csv.DictReader(lines)
    }


def engine(cell: Cell, linux: dict[str, bool]) -> Result:
    """What the engine does in a cell."""
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as source:
        source.write(DEMO.read_text() + START)
        source.flush()
        found = clift.simulate(cell.scenario(Path(source.name), linux)).summary()
    return Result(*(found[name] for name in Result._fields))


def main() -> int:
    """Prints the table; 1 if less than 95 % of the files are within 5 % of the kernel's time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measure", action="store_true", help="measure missing files (root)")
    parser.add_argument("--default", action="store_true", help="with the default options")
    given = parser.parse_args()
    if given.measure:
        measure()
        return 0
    cells = kept()
    pairs = [
        (theirs, engine(cell, {} if given.default else HOST)) for cell, theirs in cells.items()
    ]
    print("| files | n | within 1 % | within 5 % | retransmissions | timeouts |")
    print("|---|---|---|---|---|---|")
    for name, (controls, seeds) in DRAWS.items():
        groups = [*itertools.product(SCHEMES, controls), (None, None)]
        for scheme, congestion in groups:
            mine = [
                pair
                for cell, pair in zip(cells, pairs, strict=True)
                if cell.seed in seeds and (scheme is None or cell[:2] == (scheme, congestion))
            ]
            label = f"{name} {scheme or 'all'} {congestion or ''}".strip()
            print(f"| {label} | {' | '.join(map(str, _counts(mine)))} |")
    print("\nretransmissions and timeouts: how many files have as many as the kernel's")
    return int(_counts(pairs)[2] < 0.95 * len(pairs))


def _counts(pairs: list[tuple[Result, Result]]) -> list[int]:
    """A row of the table: files; within 1 %, within 5 %, same retransmissions, same timeouts."""
    off = [abs(ours.completion_s / theirs.completion_s - 1) for theirs, ours in pairs]
    near = [sum(it <= share for it in off) for share in (0.01, 0.05)]
    same = [sum(theirs[field] == ours[field] for theirs, ours in pairs) for field in (1, 2)]
    return [len(pairs), *near, *same]


if __name__ == "__main__":
    sys.exit(main())
