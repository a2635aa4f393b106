"""Draws the figure of docs/a-sky-that-moves.md and fills its table, from a results folder.

The folder is that of `clift run examples/leo_sky.toml -o results/sky --no-plots`; then
`python docs/a_sky_that_moves.py results/sky` changes the page.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import study
from pages import ROOT, put
from study import plt

PAGE = ROOT / "docs/a-sky-that-moves.md"
IMAGE = ROOT / "docs/images/a_sky_that_moves.svg"
SKY = ROOT / "examples/leo_sky.csv"
SKIES = ("still", "delay", "overtaking", "rate", "all", "all_lossy")
# Names in the figure, and colours (Okabe and Ito).
CONTROLS = {
    "newreno": ("NewReno", "#0072b2"),
    "cubic": ("CUBIC", "#e69f00"),
    "bbr": ("BBR", "#009e73"),
}
SHOWN_S = 90.0


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
    lines = [f"| sky | {' | '.join(names)} |", "|---|---|---|---|"]
    for sky in SKIES:
        row = [f"`{sky}`"]
        for control in CONTROLS:
            cell = cells[sky, control]
            row.append(f"{cell['mean']:.1f}")
            if cell["low"] is not None:
                row[-1] += f" ({cell['low']:.1f} to {cell['high']:.1f})"
        lines.append(f"| {' | '.join(row)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Draws and fills."""
    cells = goodputs(study.folder())
    draw(cells)
    put(PAGE, "results", table(cells))


if __name__ == "__main__":
    main()
