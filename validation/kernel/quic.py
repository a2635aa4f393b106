"""QUIC of the engine beside two real endpoints through the live link: quinn with TLS over UDP.

    python -m validation.kernel.quic             # the kept measurements beside the engine
    python -m validation.kernel.quic --measure   # measure anew (root, cargo; some five minutes)

A cell is one file over one link: how long until the receiver has it. The engine's link has
the same draw of the channel as the live one; the file begins at 30 moments of its first .6 s, since
nobody knows how long the processes took to start, and the median counts. Of the real pair it is
the median of three. `quic.csv` keeps what was measured. The pair is `validation/kernel/quinn`, a
package of its own.
"""

from __future__ import annotations

import argparse
import csv
import json
import platform
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from typing import NamedTuple

import clift

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
FILE = HERE / "quic.csv"
PAIR = ROOT / "target/quinn/release/quinn-pair"
RUNS = 3
STARTS = 30
AT_ONCE = 2
# The difference that counts as none.
NEAR = 0.05

_LEG = """
[[path]]
leg = {{ rate = "{rate}", delay = "{delay}", queue = "{queue} packets" }}
"""
_SATELLITE = """
scheme = "{scheme}"
[link]
rtt = "{rtt}"
queue = "{queue} packets"
[channel]
model = "gilbert-elliott"
erasures = "1.5 %"
burst = 4
rate = "{rate}"
lldu = "250 B"
decoding = "1 ms"
"""
LINKS = {
    "10 Mbit/s, 40 ms": _LEG.format(rate="10 Mbit/s", delay="20 ms", queue=50),
    "2 Mbit/s, 500 ms": _LEG.format(rate="2 Mbit/s", delay="250 ms", queue=100),
    "GEO, ARQ": _SATELLITE.format(scheme="ARQ", rtt="500 ms", queue=200, rate="2.3 Mbit/s"),
    "GEO, HARQ(10/12)": _SATELLITE.format(
        scheme="HARQ(10/12)", rtt="500 ms", queue=200, rate="2.3 Mbit/s"
    ),
    "LEO, ARQ": _SATELLITE.format(scheme="ARQ", rtt="60 ms", queue=100, rate="10 Mbit/s"),
}
TASKS = (("cubic", 100_000), ("cubic", 1_000_000), ("newreno", 1_000_000), ("bbr", 1_000_000))


class Cell(NamedTuple):
    """A file over a link."""

    link: str
    congestion: str
    size: int

    def scenario(self) -> str:
        """As the engine and the live link read it."""
        return (
            f'duration = "120 s"\nruns = 1\nseed = 1\n'
            f'transport = {{ protocol = "quic", congestion = "{self.congestion}" }}\n'
            f'application = {{ type = "file", size = "{self.size} B" }}\n{LINKS[self.link]}'
        )

    def engine(self) -> float:
        """Median time of the engine's runs, s."""
        text = self.scenario()
        if "channel" not in text:
            starts = [clift.Scenario.parse(text)]
        else:
            moments = range(0, 20 * STARTS, 20)
            starts = [
                clift.Scenario.parse(text, changes={"link.start": f"{at} ms"}) for at in moments
            ]
        done = [run.completion_s for run in clift.run_many(starts, progress=False)]
        return median(float("inf") if time is None else time for time in done)

    def live(self) -> float | None:
        """Time of the real pair over the live link, s; None if the link was late."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder)
            (path / "cell.toml").write_text(self.scenario())
            own = path / "certificate"
            serve = f"{PAIR} serve 0.0.0.0:4433 {own}"
            send = [str(PAIR), "send", "{peer}:4433", str(own), str(self.size), self.congestion]
            command = [sys.executable, "-m", "clift", "live", str(path / "cell.toml")]
            command += ["--report", str(path / "report.json"), "--serve", serve, "--", *send]
            done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=150)
            if not json.loads((path / "report.json").read_text())["counts"]:
                return None
        rows = [[int(one) for one in line.split()] for line in done.stdout.splitlines()]
        ((began,),) = (row for row in rows if len(row) == 1)
        ((ended, size),) = (row for row in rows if len(row) == 2)
        if size != self.size:
            raise RuntimeError(f"{self}: {size} bytes arrived")
        return (ended - began) / 1e9


CELLS = [Cell(link, *task) for link in LINKS for task in TASKS]


def measure() -> None:
    """Measures every cell and keeps it."""
    crate = [
        "cargo",
        "build",
        "--release",
        "--locked",
        "--manifest-path",
        str(HERE / "quinn/Cargo.toml"),
    ]
    subprocess.run([*crate, "--target-dir", str(ROOT / "target/quinn")], check=True)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        taken = list(pool.map(lambda cell: [cell.live() for _ in range(RUNS)], CELLS))
    kernel = re.match(r"[0-9.]+", platform.release())
    with FILE.open("w", newline="") as file:
        version = kernel[0] if kernel else "?"
        file.write(
            "# seconds until the receiver has the file; "
            f"quinn 0.11.12, Linux {version}, `clift live`\n"
        )
        writer = csv.writer(file)
        writer.writerow(["link", "congestion", "size", *(f"live_{i + 1}" for i in range(RUNS))])
        for cell, times in zip(CELLS, taken, strict=True):
            shown = ["" if time is None else f"{time:.4f}" for time in times]
            writer.writerow([*cell, *shown])


def kept() -> dict[Cell, float]:
    """The median of what was measured; cells whose runs were all late are left out."""
    lines = (line for line in FILE.read_text().splitlines() if not line.startswith("#"))
    found = {}
    for row in csv.DictReader(lines):
        times = [float(row[f"live_{i + 1}"]) for i in range(RUNS) if row[f"live_{i + 1}"]]
        if times:
            found[Cell(row["link"], row["congestion"], int(row["size"]))] = median(times)
    return found


def main() -> int:
    """Prints the table; 1 if fewer than nine cells in ten agree."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measure", action="store_true", help="measure anew")
    if parser.parse_args().measure:
        measure()
    near = 0
    cells = kept()
    print(
        "| link | control | bytes | real pair, s | engine, s | apart |\n|---|---|---|---|---|---|"
    )
    for cell, real in cells.items():
        ours = cell.engine()
        near += abs(ours / real - 1) <= NEAR
        print(
            f"| {cell.link} | {cell.congestion} | {cell.size} | {real:.3f} | {ours:.3f} "
            f"| {100 * (ours / real - 1):+.1f} % |"
        )
    print(f"\nwithin {NEAR:.0%}: {near} of {len(cells)}")
    return 0 if near >= 0.9 * len(CELLS) else 1


if __name__ == "__main__":
    sys.exit(main())
