r"""A kernel's TCP live over eight GEO and LEO links, beside the engine's profile `linux`.

    python -m validation.kernel.live_links                       # the kept measurements and ours
    python -m validation.kernel.virtual run NAME \\
        python -m validation.kernel.live_links --measure         # again, in virtual time

60 s of bulk data through `clift live`: the link is the very object that the engine drives, so that
every packet's fate is compared too. Kernel and engine meet the same channel, seed by seed: the mean
of their ratios counts, over three seeds. Where a loss more or less decides there are more: for New
Reno and CUBIC nine over adaptive HARQ, where runs differ fivefold, and 21 in order and over ARQ at
GEO. `live_links.csv` keeps what was measured. In virtual time (`virtual.py`) the link is never late
on any machine.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
import tempfile
from pathlib import Path
from statistics import fmean, median, stdev
from typing import NamedTuple

import clift
from clift.hosts.crosscheck import crosscheck
from validation.kernel import kept
from validation.kernel.kept import SATELLITE
from validation.kernel.ours import HOST

ROOT = Path(__file__).parents[2]
FILE = Path(__file__).parent / "live_links.csv"
SECONDS = 60
SEEDS = (1, 2, 3)
MANY_SEEDS = tuple(range(1, 10))
# In order a timeout more or less decides: 18 runs had twice as many in the kernel, 42 had not.
MOST_SEEDS = tuple(range(1, 22))
CONTROLS = ("newreno", "cubic", "bbr")
WITHIN = 0.05

_DEMO = {"task": "bulk", "reception": "bad"}
# The paper's packets and windows are not a kernel's.
_LEO = {
    "adaptive_harq.snr": "13 dB",
    "transport.packet": "1500 B",
    "transport.initial_window": "10 packets",
    "transport.cwnd_max": "4000 packets",
}
HYBRID = """
[hybrid]
k = 10
n = 11
frames = 6
unit = "25 B"
rate = "2 Mbit/s"
delay = "200 ms"
loss = "1 %"
persistency = 1
[link]
queue = "500 packets"
"""
# A file with changes, or a text.
LINKS: dict[str, tuple[str, dict[str, str]]] = {
    "mobile GEO, ARQ": ("examples/geo_mobile.toml", _DEMO | {"scheme": "ARQ"}),
    "mobile GEO, HARQ(10/12)": ("examples/geo_mobile.toml", _DEMO | {"scheme": "HARQ(10/12)"}),
    "mobile GEO, HARQ(10/15)": ("examples/geo_mobile.toml", _DEMO | {"scheme": "HARQ(10/15)"}),
    "GEO, ARQ": (
        SATELLITE.format(scheme="ARQ", rtt="500 ms", queue=200, rate="2.3 Mbit/s"),
        {},
    ),
    "GEO, hybrid": (HYBRID, {}),
    "LEO, ARQ": (SATELLITE.format(scheme="ARQ", rtt="60 ms", queue=100, rate="10 Mbit/s"), {}),
    "LEO, adaptive HARQ": ("examples/leo.toml", _LEO | {"buffer": "none"}),
    "LEO, adaptive HARQ in order": ("examples/leo.toml", _LEO | {"buffer": "tcp"}),
}


class Cell(NamedTuple):
    """A link and a congestion control, with a seed."""

    link: str
    congestion: str
    seed: int

    def scenario(self, folder: Path) -> clift.Scenario:
        """The cell's scenario, read from a file, as live links need it."""
        source, changes = LINKS[self.link]
        path = ROOT / source
        if not source.endswith(".toml"):
            path = folder / "cell.toml"
            path.write_text(source)
        own = {
            "transport.congestion": self.congestion,
            "transport.profile": "linux",
            "transport.timestamps": "true",
            "duration": f"{SECONDS} s",
            "runs": "1",
            "seed": str(self.seed),
        }
        own |= {f"transport.linux.{name}": "true" for name in HOST}
        return clift.Scenario.read(path, changes | own)


def _seeds(link: str, congestion: str) -> tuple[int, ...]:
    """Seeds of a link: more where the runs scatter."""
    if congestion == "bbr" or not ("adaptive" in link or link == "GEO, ARQ"):
        return SEEDS
    return MANY_SEEDS if link == "LEO, adaptive HARQ" else MOST_SEEDS


CELLS = [
    Cell(link, congestion, seed)
    for link, congestion in itertools.product(LINKS, CONTROLS)
    for seed in _seeds(link, congestion)
]


def run(cell: Cell, hosts: tuple[str, ...]) -> tuple[dict[str, dict[str, object]], list[str]]:
    """The cell in these hosts, and what was told."""
    told: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        # Commands of a live run may belong to somebody else.
        Path(folder).chmod(0o755)
        return crosscheck(cell.scenario(Path(folder)), hosts, told.append), told


def measure() -> None:
    """Measures the cells that are not kept yet, and keeps each as it is done."""
    about = f"{SECONDS} s a cell, Linux {kept.release()}, `clift live`"
    if FILE.exists() and not FILE.read_text().startswith(f"# {about}\n"):
        raise SystemExit(f"{FILE} was measured otherwise; take it away first")
    done = measured()
    for cell in (cell for cell in CELLS if cell not in done):
        found, told = run(cell, ("live",))
        if "live" not in found or any("does not count" in line for line in told):
            raise SystemExit(f"{cell}: {told}")
        live = found["live"]
        fates: dict[str, object] = live["fates"]  # type: ignore[assignment]
        done[cell] = {name: str(value) for name, value in cell._asdict().items()} | {
            "goodput_kbps": f"{live['goodput_kbps']:.2f}",
            "retransmissions": str(live["retransmissions"]),
            "timeouts": str(live["timeouts"]),
            "fates": str(fates["agree"]),
        }
        kept.write(FILE, done.values(), about)


def measured() -> dict[Cell, dict[str, str]]:
    """What was measured."""
    return {Cell(row["link"], row["congestion"], int(row["seed"])): row for row in kept.read(FILE)}


def main() -> int:
    """Prints the table; 1 if fates differ, or more than one cell in ten is off.

    A cell is off that is neither within 5 % nor within two standard errors.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measure", action="store_true", help="measure missing ones (root)")
    if parser.parse_args().measure:
        measure()
        return 0
    cells, near, chance, agree = measured(), 0, 0, True
    pairs = sorted({cell[:2] for cell in cells}, key=[cell[:2] for cell in CELLS].index)
    print("| link | TCP | kernel, kbit/s | engine | apart | standard error |")
    print("|---|---|---|---|---|---|")
    for link, congestion in pairs:
        mine = [cell for cell in cells if cell[:2] == (link, congestion)]
        live = [float(cells[cell]["goodput_kbps"]) for cell in mine]
        own = [float(str(run(cell, ("engine",))[0]["engine"]["goodput_kbps"])) for cell in mine]
        ratios = [math.log(ours / theirs) for ours, theirs in zip(own, live, strict=True)]
        apart = math.expm1(fmean(ratios))
        agree &= all(cells[cell]["fates"] == "True" for cell in mine)
        error = stdev(ratios) / math.sqrt(len(ratios))
        near += abs(apart) <= WITHIN
        chance += WITHIN < abs(apart) <= 2 * error
        medians = f"{median(live):.0f} | {median(own):.0f}"
        print(f"| {link} | {congestion} | {medians} | {apart:+.1%} | {error:.1%} |")
    print(
        f"\nwithin {WITHIN:.0%}: {near} of {len(pairs)}; within two standard errors: {chance} more"
    )
    print(f"fates of all packets agree: {agree}")
    return int(near + chance < 0.9 * len(pairs) or not agree)


if __name__ == "__main__":
    sys.exit(main())
