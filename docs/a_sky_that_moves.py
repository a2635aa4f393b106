"""Draws the figure of docs/a-sky-that-moves.md and fills its table, from a results folder.

The folder is that of `clift run examples/leo_sky.toml -o results/sky --no-plots`; then
`python docs/a_sky_that_moves.py results/sky` changes the page.
"""

from __future__ import annotations

import csv
import tomllib
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

import study
from pages import ROOT, markdown, put
from study import plt

import clift
from clift.campaign.statistics import estimate

PAGE = ROOT / "docs/a-sky-that-moves.md"
IMAGE = ROOT / "docs/images/a_sky_that_moves.svg"
SKY = ROOT / "examples/leo_sky.csv"
SCENARIO = ROOT / "examples/leo_sky.toml"
SKIES = ("still", "delay", "overtaking", "rate", "all", "all_lossy")
# Names in the figure, and colours (Okabe and Ito).
CONTROLS = {
    "newreno": ("New Reno", "#0072b2"),
    "cubic": ("CUBIC", "#e69f00"),
    "bbr": ("BBR", "#009e73"),
}
SHOWN_S = 90.0

Shares = tuple[float, float]
"""Goodput of a second and of its worst 100 ms, as shares of the second before."""


def goodputs(folder: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """Goodput in Mbit/s with its interval, if it has one, by sky and control."""
    names = ("mean", "low", "high")
    return {
        (row["sky"], row["congestion"]): {
            name: None if row[name] is None else row[name] / 1e3 for name in names
        }
        for row in study.rows(folder, "summary")
        if row["metric"] == "goodput_kbps"
    }


def draw(cells: dict[tuple[str, str], dict[str, Any]]) -> None:
    """The sky over time beside the goodput of each control."""
    figure, (over_time, bars) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
    with SKY.open() as file:
        rows = [row for row in csv.DictReader(file) if float(row["time_s"]) <= SHOWN_S]
    times = [float(row["time_s"]) for row in rows]
    rates = over_time.twinx()
    for axes, column, colour, label in (
        (over_time, "delay_ms", "#333333", "one-way delay (ms)"),
        (rates, "rate_mbps", "#cc79a7", "rate (Mbit/s)"),
    ):
        axes.step(times, [float(row[column]) for row in rows], color=colour, where="post")
        axes.set_ylabel(label, color=colour)
        axes.set_ylim(0)
    over_time.set_xlabel("time (s)")
    for place, (control, (label, colour)) in enumerate(CONTROLS.items()):
        for number, sky in enumerate(SKIES):
            cell = cells[sky, control]
            at, mean = number + (place - 1) * 0.27, cell["mean"]
            spread = None if cell["low"] is None else [[mean - cell["low"]], [cell["high"] - mean]]
            bars.bar(at, mean, 0.27, yerr=spread, color=colour, label=label if not number else "")
    bars.set_xticks(range(len(SKIES)), SKIES, rotation=20)
    bars.set_ylabel("goodput (Mbit/s)")
    bars.set_ylim(0, 60)
    bars.legend(fontsize="small", loc="upper center", ncols=3)
    for axes in (over_time, bars):
        axes.spines["top"].set_visible(False)
    bars.spines["right"].set_visible(False)
    study.save(figure, IMAGE)


def table(cells: dict[tuple[str, str], dict[str, Any]]) -> str:
    """A row for each sky."""
    names = [label for label, _ in CONTROLS.values()]
    lines = []
    for sky in SKIES:
        row = [f"`{sky}`"]
        for control in CONTROLS:
            cell = cells[sky, control]
            row.append(f"{cell['mean']:.1f}")
            if cell["low"] is not None:
                row[-1] += f" ({cell['low']:.1f} to {cell['high']:.1f})"
        lines.append(row)
    return markdown(["sky", *names], lines) + "\n"


def changes(sky: str, control: str) -> list[tuple[bool, Shares, Shares]]:
    """Of the changes of the delay within ten runs of 60 s, which together pass the table once.

    Whether the delay falls, and the shares after the change and 7 s later, when nothing changes.
    """
    scenario = tomllib.loads(SCENARIO.read_text())
    scenario["transport"] = {"congestion": control}
    scenario["trace"] |= {"file": str(SKY)} | scenario.pop("vary")["sky"][sky]["trace"]
    del scenario["runs"]
    with SKY.open() as file:
        delays = {
            round(float(row["time_s"])): float(row["delay_ms"]) for row in csv.DictReader(file)
        }
    found = []
    for run in range(10):
        scenario["seed"] = run + 1
        scenario["link"]["start"] = f"{60 * run} s"
        series = clift.simulate(scenario).series().to_pydict()
        sizes = [after - before for before, after in pairwise(series["bytes_in_order"])]
        for at in (15, 30, 45):
            falls = delays[60 * run + at] < delays[60 * run + at - 15]
            found.append((falls, shares(sizes, at), shares(sizes, at + 7)))
    return found


def shares(sizes: list[int], at: int) -> Shares:
    """Goodput of the second from `at` on and of its worst 100 ms, relative to the second before."""
    before, after = sum(sizes[10 * at - 10 : 10 * at]), sizes[10 * at : 10 * at + 10]
    return sum(after) / before, 10 * min(after) / before


def transients() -> str:
    """A row for each sky without rates, direction and control."""
    head = ["sky", "delay", "control", "second: change, none", "worst 100 ms: change, none"]
    lines = []
    for sky in ("delay", "overtaking"):
        for control, (label, _) in CONTROLS.items():
            all_changes = changes(sky, control)
            for falls, name in ((True, "falls"), (False, "rises")):
                own = [(changed, quiet) for fell, changed, quiet in all_changes if fell == falls]
                means = [
                    ", ".join(f"{fmean(pair[at][of] for pair in own):.2f}" for at in (0, 1))
                    for of in (0, 1)
                ]
                apart = estimate([changed[1] - quiet[1] for changed, quiet in own])
                assert apart is not None
                told = f"{apart.mean:+.2f}"
                if apart.low is not None:
                    told += f" ({apart.low:+.2f} to {apart.high:+.2f})"
                lines.append([f"`{sky}`", f"{name} ({len(own)})", label, *means, told])
    return markdown([*head, "difference of the worst"], lines) + "\n"


def main() -> None:
    """Draws and fills."""
    cells = goodputs(study.folder())
    draw(cells)
    put(PAGE, "results", table(cells))
    put(PAGE, "transients", transients())


if __name__ == "__main__":
    main()
