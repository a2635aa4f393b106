"""QUIC of the engine beside two real endpoints through the live link: quinn with TLS over UDP.

    python -m validation.kernel.quic             # the kept measurements beside the engine
    python -m validation.kernel.quic --measure   # measure again (root, cargo), in real time
    python -m validation.kernel.virtual run 7.2 python -m validation.kernel.quic --measure 1 4

The last measures the first four draws in a kernel in virtual time, where no wake-up is late; that
is how all were that are kept.

A cell is one file over a link: how long until the receiver has it. The link's clock begins with
its first packet, and the engine's flow when the real one's first packet came by that clock, so that
a run of the engine with the same seed meets the same draw of the channel at the same moments. Where
the channel loses nothing one run tells all. Over ARQ and HARQ a packet that comes a slot later may
meet another fate, and from then on two runs are two draws: there a cell is the median, over the
draws that were measured, of the engine's time over that of the real pair with the same draw. Its
interval is that of the sign test: it holds the median of all draws in 95 of 100 cases. `quic.csv`
keeps each run, and when the first packet came in each direction. The pair is
`validation/kernel/quinn`, a separate package.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import median, quantiles
from typing import NamedTuple

import clift
from clift.hosts.live import run_live
from validation.kernel import kept
from validation.kernel.kept import SATELLITE

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
FILE = HERE / "quic.csv"
PAIR = ROOT / "target/quinn/release/quinn-pair"
# Draws of a channel; more of the cells in which two runs soon are two draws.
SEEDS, MANY_SEEDS = 20, 100
AT_ONCE = 2
# The difference that counts as none.
NEAR = 0.05

_LEG = """
[[path]]
leg = {{ rate = "{rate}", delay = "{delay}", queue = "{queue} packets" }}
"""
LINKS = {
    "10 Mbit/s, 40 ms": _LEG.format(rate="10 Mbit/s", delay="20 ms", queue=50),
    "2 Mbit/s, 500 ms": _LEG.format(rate="2 Mbit/s", delay="250 ms", queue=100),
    "GEO, ARQ": SATELLITE.format(scheme="ARQ", rtt="500 ms", queue=200, rate="2.3 Mbit/s"),
    "GEO, HARQ(10/12)": SATELLITE.format(
        scheme="HARQ(10/12)", rtt="500 ms", queue=200, rate="2.3 Mbit/s"
    ),
    "LEO, ARQ": SATELLITE.format(scheme="ARQ", rtt="60 ms", queue=100, rate="10 Mbit/s"),
}
TASKS = (("cubic", 100_000), ("cubic", 1_000_000), ("newreno", 1_000_000), ("bbr", 1_000_000))


class Cell(NamedTuple):
    """A file over a link."""

    link: str
    congestion: str
    size: int

    def scenario(self, seed: int, start_ns: int = 0) -> clift.Scenario:
        """As the engine and the live link read it.

        The pair sends its packets with ECT(0), as quinn does; no queue here marks them.
        """
        text = (
            f'duration = "120 s"\nruns = 1\nseed = {seed}\n{LINKS[self.link]}'
            f'[[flow]]\nstart = "{start_ns} ns"\n'
            f'transport = {{ protocol = "quic", congestion = "{self.congestion}", ecn = true }}\n'
            f'application = {{ type = "file", size = "{self.size} B" }}\n'
        )
        return clift.Scenario.parse(text)

    @property
    def parts_soon(self) -> bool:
        """Whether a packet in another slot makes another run.

        >>> sum(cell.parts_soon for cell in CELLS)
        6
        """
        draws = "channel" in LINKS[self.link]
        return draws and self.congestion != "bbr" and self.size == 1_000_000

    def seeds(self) -> int:
        """How many draws are measured; one where the link draws nothing."""
        if self.parts_soon:
            return MANY_SEEDS
        return SEEDS if "channel" in LINKS[self.link] else 1


class Live(NamedTuple):
    """A run of the real pair: nanoseconds of the link's clock, which its first packet starts."""

    cell: Cell
    seed: int
    there: int
    """When the first packet came to the link."""
    back: int
    """When the first one came to the way back."""
    completion: int
    """From the call to the last byte at the receiver."""
    late: int
    """What 99 packets in a hundred were not later than."""

    def row(self) -> dict[str, object]:
        """A row of the file."""
        numbers = dict(zip(self._fields[1:], self[1:], strict=True))
        return {**self.cell._asdict(), **numbers}


def live(cell: Cell, seed: int) -> Live | None:
    """Runs the real pair over the live link; None if the link was too late."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        own = path / "certificate"
        send = f"{PAIR} send {{peer}}:4433 {own} {cell.size} {cell.congestion} > {path}/began"
        serve = f"{PAIR} serve 0.0.0.0:4433 {own} > {path}/ended"
        run = run_live(
            cell.scenario(seed), ["sh", "-c", f"exec {send}"], ["sh", "-c", f"exec {serve}"]
        )
        if run.faults():
            return None
        began = int((path / "began").read_text())
        ended, size = map(int, (path / "ended").read_text().split())
    there, back = run.first_ns["there"], run.first_ns["back"]
    if size != cell.size or there is None or back is None:
        raise RuntimeError(f"{cell}, seed {seed}: {size} bytes arrived")
    return Live(cell, seed, there, back, ended - began, run.late_ns["p99"])


CELLS = [Cell(link, *task) for link in LINKS for task in TASKS]


def measure(first: int, last: int) -> None:
    """Measures these draws of every cell and keeps them beside the others."""
    if not PAIR.exists():
        crate = ["cargo", "build", "--release", "--locked", "--manifest-path"]
        where = [str(HERE / "quinn/Cargo.toml"), "--target-dir", str(ROOT / "target/quinn")]
        subprocess.run([*crate, *where], check=True)
    wanted = [
        (cell, seed) for seed in range(first, last + 1) for cell in CELLS if seed <= cell.seeds()
    ]
    with ProcessPoolExecutor(AT_ONCE) as pool:
        taken = [run for run in pool.map(live, *zip(*wanted, strict=True)) if run is not None]
    others = [run for runs in measured().values() for run in runs if run[:2] not in wanted]
    virtual = "virtual" if "time-travel" in Path("/proc/cmdline").read_text() else "real"
    about = f"quinn 0.11.12 through `clift live`, Linux {kept.release()}, {virtual} time; ns"
    runs = sorted(others + taken, key=lambda run: (run.seed, CELLS.index(run.cell)))
    kept.write(FILE, (run.row() for run in runs), about)


def measured() -> dict[Cell, list[Live]]:
    """What was measured."""
    found: dict[Cell, list[Live]] = {}
    for row in kept.read(FILE):
        cell = Cell(row["link"], row["congestion"], int(row["size"]))
        numbers = [int(row[field]) for field in Live._fields[1:]]
        found.setdefault(cell, []).append(Live(cell, *numbers))
    return found


def interval(values: list[float]) -> tuple[float, float]:
    """Holds the median of what the values are drawn from in at least 95 of 100 cases (sign test).

    >>> interval([float(value) for value in range(1, 21)])
    (6.0, 15.0)
    >>> interval([1.0, 2.0])  # too few to say
    (-inf, inf)
    """
    count, inner, outside = len(values), 0, 0.0
    while (outside := outside + math.comb(count, inner) / 2**count) <= 0.025:
        inner += 1
    ordered = sorted(values)
    return (ordered[inner - 1], ordered[-inner]) if inner else (-math.inf, math.inf)


def ratios(runs: list[Live]) -> list[float]:
    """Completion in the engine over that of the real pair, draw by draw."""
    scenarios = [run.cell.scenario(run.seed, run.there) for run in runs]
    ours = [run.completion_s or float("inf") for run in clift.run_many(scenarios, progress=False)]
    return [1e9 * time / run.completion for time, run in zip(ours, runs, strict=True)]


def main() -> int:
    """Prints the table; 1 if fewer than nine cells in ten agree."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measure", nargs="*", type=int, metavar=("FIRST", "LAST"),
                        help="measure again: all draws, or these")  # fmt: skip
    if (draws := parser.parse_args().measure) is not None:
        measure(*(draws or (1, MANY_SEEDS)))
        return 0
    near = 0
    cells = measured()
    names = "link", "control", "bytes", "draws", "real pair, s", "engine, s", "apart", "95 %"
    print(f"| {' | '.join((*names, 'quarters', 'near'))} |")
    print("|---" * 10 + "|")
    for cell, runs in cells.items():
        found = ratios(runs)
        apart = median(found) - 1
        near += abs(apart) <= NEAR
        real = median(run.completion for run in runs) / 1e9
        ours = median(x * run.completion for x, run in zip(found, runs, strict=True)) / 1e9
        between = ("", "")
        if found[1:]:
            pairs = (interval(found), quantiles(found, n=4)[::2])
            between = tuple(f"{100 * a - 100:+.0f} to {100 * b - 100:+.0f} %" for a, b in pairs)
        alike = sum(abs(ratio - 1) <= NEAR for ratio in found)
        print(
            f"| {cell.link} | {cell.congestion} | {cell.size} | {len(runs)} | {real:.3f} "
            f"| {ours:.3f} | {100 * apart:+.1f} % | {between[0]} | {between[1]} | {alike} |"
        )
    print(f"\nwithin {NEAR:.0%}: {near} of {len(cells)}")
    return 0 if near >= 0.9 * len(CELLS) else 1


if __name__ == "__main__":
    sys.exit(main())
