"""Runs examples/how_many_terminals.toml; fills the figure and table of docs/how-many-terminals.md.

    python docs/how_many_terminals.py

A file that was not through at the end of the run counts as infinitely long in the quantiles.
"""

from __future__ import annotations

from math import inf

import numpy as np
import study
from pages import ROOT, markdown, put
from study import plt

import clift

STUDY = ROOT / "examples/how_many_terminals.toml"
PAGE = ROOT / "docs/how-many-terminals.md"
IMAGE = ROOT / "docs/images/how_many_terminals.svg"
# Colours of Okabe and Ito.
LOOKS = {
    "known at once": ("#333333", "o"),
    "constant, 32 kbit/s": ("#e69f00", "s"),
    "requested, rest in turn": ("#0072b2", "^"),
    "requested": ("#d55e00", "D"),
}
DIRECTIONS = {"fetch": "terminals fetch", "send": "terminals send"}
WINDOWS = ("10 packets", "40 packets")
# What a terminal loads a carrier with: 100 kB in 20 s, with headers of 52 bytes a segment.
LOAD = (100e3 + 70 * 52) * 8 / 20 / 20e6

Cell = tuple[str, str, str, int]
"""Direction, assignment, initial window, terminals."""


def completions() -> dict[Cell, list[float]]:
    """Completion times of all files of all runs, by cell."""
    found: dict[Cell, list[float]] = {}
    cells = clift.Scenario.read(STUDY).cells()
    every = [(cell.labels, one) for cell in cells for one in cell.replications()]
    for (labels, _), run in zip(every, clift.run_many([one for _, one in every]), strict=True):
        key = tuple(labels[name] for name in ("direction", "assignment", "initial_window"))
        times = found.setdefault((*key, int(labels["terminals"])), [])
        for flow in run.summary()["flows"]:
            time = flow["completion_s"]
            times.append(inf if time is None else time)
    return found


def draw(found: dict[Cell, list[float]]) -> None:
    """The median and the 95 % quantile by the number of terminals, for each direction."""
    figure, panels = plt.subplots(1, 2, figsize=(7.2, 3.2), layout="constrained", sharey=True)
    counts = sorted({cell[3] for cell in found})
    for axes, (direction, title) in zip(panels, DIRECTIONS.items(), strict=True):
        for assignment, (colour, marker) in LOOKS.items():
            cells = [found[direction, assignment, WINDOWS[0], count] for count in counts]
            for share, dashes in ((0.5, "-"), (0.95, ":")):
                values = [np.quantile(cell, share, method="inverted_cdf") for cell in cells]
                label = assignment if share == 0.5 else None
                axes.plot(counts, values, dashes, color=colour, marker=marker, ms=4, label=label)
        axes.set_yscale("log")
        axes.set_yticks([1, 2, 5, 10, 20, 50], ["1", "2", "5", "10", "20", "50"])
        axes.minorticks_off()
        axes.set_xlabel("terminals")
        axes.set_title(title)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("time of a file of 100 kB (s)")
    panels[0].legend(fontsize="small", title="return carrier; dotted: 95 %", title_fontsize="small")
    study.save(figure, IMAGE)


def table(found: dict[Cell, list[float]]) -> str:
    """Median and 95 % quantile of each cell, with the number of files."""
    counts = sorted({cell[3] for cell in found})
    head = ["direction", "return carrier", "initial window"]
    head += [f"{count} ({LOAD * count:.0%})" for count in counts]
    lines = []
    for direction in DIRECTIONS:
        for assignment in LOOKS:
            for window in WINDOWS:
                cells = [direction, assignment, window.removesuffix(" packets")]
                for count in counts:
                    times = found[direction, assignment, window, count]
                    quantiles = np.quantile(times, [0.5, 0.95], method="inverted_cdf")
                    cells.append(", ".join(f"{one:.2f}" for one in quantiles))
                lines.append(cells)
    files = {count: len(found["fetch", "requested", WINDOWS[0], count]) for count in counts}
    told = ", ".join(f"{number} with {count}" for count, number in files.items())
    return markdown(head, lines) + f"\n\nFiles in each cell: {told}.\n"


def main() -> None:
    """Runs, draws and fills."""
    found = completions()
    draw(found)
    put(PAGE, "results", table(found))


if __name__ == "__main__":
    main()
