"""Kuhn 2014's link on a real kernel: the demo's cells live, beside the engine and ns-2.

    python -m validation.kernel.live             # the kept measurements: table and figure
    python -m validation.kernel.live --measure   # measure again (root; a quarter of an hour)

Each cell is 100 s of bulk data over the same link in every host: `clift live` on this kernel,
profile `linux` and profile `papers` of the engine, ns-2 by the plugin. `live.csv` keeps what was
measured.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import mean, median
from typing import NamedTuple

import clift
from clift.hosts.crosscheck import crosscheck
from validation.kernel import kept

ROOT = Path(__file__).parents[2]
FILE = Path(__file__).parent / "live.csv"
IMAGE = ROOT / "docs/images/kuhn2014_live.png"
SCHEMES = ("ARQ", "HARQ(10/12)", "HARQ(10/15)")
RECEPTIONS = ("bad", "good")
CONGESTION = ("newreno", "cubic", "bbr")
SEEDS = (1, 2)
SECONDS = 100
AT_ONCE = 12
HOSTS = ("live", "linux", "papers", "ns2")


class Cell(NamedTuple):
    """A link and a congestion control, with a seed."""

    reception: str
    scheme: str
    congestion: str
    seed: int

    def scenario(self, profile: str) -> clift.Scenario:
        """The cell of the demo's file under a profile."""
        changes = {
            "task": "bulk",
            "reception": self.reception,
            "scheme": self.scheme,
            "transport.congestion": self.congestion,
            "transport.profile": profile,
            "duration": f"{SECONDS} s",
            "runs": "1",
            "seed": str(self.seed),
        }
        return clift.Scenario.read(ROOT / "examples/geo_mobile.toml", changes)


def measure(cell: Cell) -> dict[str, object]:
    """Goodput of a cell in every host, kbit/s, and whether fates agree."""
    told: list[str] = []
    linux = crosscheck(cell.scenario("linux"), ("engine", "live"), told.append)
    row: dict[str, object] = {**cell._asdict()}
    row["live"] = round(linux["live"]["goodput_kbps"], 2)
    row["linux"] = round(linux["engine"]["goodput_kbps"], 2)
    row["fates"] = linux["live"]["fates"]["agree"]
    row["counts"] = not any("does not count" in line for line in told)
    row["papers"] = row["ns2"] = ""
    if cell.congestion != "bbr":
        papers = crosscheck(cell.scenario("papers"), ("engine", "ns2"))
        row["papers"] = round(papers["engine"]["goodput_kbps"], 2)
        row["ns2"] = round(papers["ns2"]["goodput_kbps"], 2)
    return row


def measure_all() -> None:
    """Measures every cell and keeps it."""
    cells = [Cell(*one) for one in itertools.product(RECEPTIONS, SCHEMES, CONGESTION, SEEDS)]
    with ProcessPoolExecutor(AT_ONCE) as pool:
        rows = list(pool.map(measure, cells))
    about = f"goodput in kbit/s, {SECONDS} s a cell; live: Linux {kept.release()}, `clift live`"
    kept.write(FILE, rows, about)


def averages() -> dict[tuple[str, str, str], dict[str, float]]:
    """Mean over the seeds, by reception, scheme and congestion control."""
    found = {}
    for key in itertools.product(RECEPTIONS, SCHEMES, CONGESTION):
        rows = [
            row
            for row in kept.read(FILE)
            if (row["reception"], row["scheme"], row["congestion"]) == key
            and row["counts"] == "True"
        ]
        found[key] = {
            host: mean(float(row[host]) for row in rows)
            for host in HOSTS
            if rows and all(row[host] for row in rows)
        }
    return found


def draw() -> None:
    """The figure: goodput by scheme, a panel for each reception and congestion control."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    titles = {
        "papers": "engine, ns-2's TCP",
        "ns2": "ns-2",
        "linux": "engine, Linux's TCP",
        "live": "Linux kernel, live",
    }
    colors = {"papers": "#f4a582", "ns2": "#ca6f4b", "linux": "#92c5de", "live": "#2166ac"}
    cells = averages()
    figure, panels = plt.subplots(2, 3, figsize=(11, 6.2), sharey=True, layout="constrained")
    for (reception, congestion), panel in zip(
        itertools.product(RECEPTIONS, CONGESTION), panels.flat, strict=True
    ):
        for place, host in enumerate(titles):
            values = [cells[reception, scheme, congestion].get(host) for scheme in SCHEMES]
            at = [number + (place - 1.5) * 0.2 for number in range(len(SCHEMES))]
            shown = [(x, y) for x, y in zip(at, values, strict=True) if y is not None]
            if shown:
                x, y = zip(*shown, strict=True)
                panel.bar(x, y, 0.19, color=colors[host], label=titles[host])
        panel.set_xticks(range(len(SCHEMES)), SCHEMES)
        panel.set_title(f"{congestion}, {reception} reception", fontsize=10)
        panel.spines[["top", "right"]].set_visible(False)
    for panel in panels[:, 0]:
        panel.set_ylabel("goodput (kbit/s)")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4, frameon=False)
    figure.savefig(IMAGE, dpi=110)


def main() -> int:
    """Prints the table; 1 if fates differ, or too many cells are off by more than 5 %."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--draw", action="store_true")
    given = parser.parse_args()
    if given.measure:
        measure_all()
    if given.draw:
        draw()
    print("reception  scheme       congestion   live  linux        papers    ns2")
    for (reception, scheme, congestion), hosts in averages().items():
        live, linux, papers, ns2 = (hosts.get(host, float("nan")) for host in HOSTS)
        print(
            f"{reception:9}  {scheme:11}  {congestion:8}  {live:6.1f} {linux:6.1f} "
            f"{linux / live - 1:+6.1%} {papers:6.1f} {ns2:6.1f}"
        )
    rows = kept.read(FILE)
    off = [float(row["linux"]) / float(row["live"]) - 1 for row in rows]
    within = sum(abs(one) <= 0.05 for one in off)
    agree = sum(row["fates"] == "True" for row in rows)
    counted = sum(row["counts"] == "True" for row in rows)
    print(
        f"{within} of {len(rows)} runs within 5 % of the kernel, median "
        f"{median(map(abs, off)):.1%}; "
        f"fates of every packet as the link alone gives them in {agree}; {counted} runs count"
    )
    return int(within < 0.9 * len(rows) or agree < len(rows))


if __name__ == "__main__":
    sys.exit(main())
