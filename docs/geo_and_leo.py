"""Draws the figure of docs/geo-and-leo.md and fills its table, from a results folder.

The folder is that of `clift run examples/two_ways.toml -o results/two --no-plots`; then
`python docs/geo_and_leo.py results/two` changes the page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import fmean
from typing import Any

import study
from pages import ROOT, markdown, put
from study import plt

PAGE = ROOT / "docs/geo-and-leo.md"
IMAGE = ROOT / "docs/images/geo_and_leo.svg"
# Names in the figure, and colours (Okabe and Ito).
WAYS = {
    "leo": ("LEO alone", "#999999"),
    "geo": ("GEO alone", "#333333"),
    "both": ("least round trip", "#0072b2"),
    "both_blest": ("blocking estimation", "#e69f00"),
    "both_linux": ("Linux's", "#cc79a7"),
    "both_in_turn": ("round robin", "#56b4e9"),
    "both_redundant": ("redundant", "#009e73"),
}
WINDOWS = {"small": "0.5 MB", "medium": "2 MB", "large": "8 MB"}
FLOW = "flows.download."
# Columns of flows over several paths.
SOMETIMES = (
    "paths.0.path_bytes",
    "paths.1.path_bytes",
    "paths.0.reinjected_bytes",
    "paths.1.reinjected_bytes",
    "reordering.reordering_delay_ms.p50",
    "reordering.reordering_delay_ms.p95",
    "reordering.most_held_bytes",
)


def means(folder: Path) -> dict[tuple[str, str], dict[str, float]]:
    """Mean of each column over the runs of a cell, by the labels of its axes."""
    runs: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in study.rows(folder):
        runs.setdefault((row["ways"], row["window"]), []).append(row)
    every = ("goodput_kbps", *(f"{FLOW}{name}" for name in SOMETIMES))
    return {
        cell: {name: fmean(row[name] or 0 for row in rows) for name in every}
        | {"least": _of(min, rows), "most": _of(max, rows)}
        for cell, rows in runs.items()
    }


def _of(choose: Callable[[Iterable[float]], float], rows: list[dict[str, Any]]) -> float:
    return choose(row["goodput_kbps"] for row in rows)


def draw(cells: dict[tuple[str, str], dict[str, float]]) -> None:
    """The goodput of each way, by the shared receive window."""
    figure, axes = plt.subplots(figsize=(7.2, 3.2), layout="constrained")
    width = 0.13
    for place, (way, (label, colour)) in enumerate(WAYS.items()):
        at = [number + (place - 2.5) * width for number in range(len(WINDOWS))]
        heights = [cells[way, window]["goodput_kbps"] / 1e3 for window in WINDOWS]
        axes.bar(at, heights, width, color=colour, label=label)
    axes.set_xticks(range(len(WINDOWS)), WINDOWS.values())
    axes.set_xlabel("receive window of the connection")
    axes.set_ylabel("goodput (Mbit/s)")
    axes.legend(fontsize="small", ncols=2, loc="upper left")
    axes.set_ylim(0, 34)
    axes.spines[["top", "right"]].set_visible(False)
    study.save(figure, IMAGE)


def table(cells: dict[tuple[str, str], dict[str, float]]) -> str:
    """A row for each way and window."""
    head = ["ways", "window", "goodput (Mbit/s, least to most)", "over GEO (%)"]
    head += ["re-ordering delay, median and 95 % (ms)", "most held (kB)", "reinjected (kB)"]
    lines = []
    for way, (label, _) in WAYS.items():
        for window, size in WINDOWS.items():
            cell = cells[way, window]
            cut = [f"{label}", size, f"{cell['goodput_kbps'] / 1e3:.1f}"]
            if cell["least"] < cell["most"]:
                cut[-1] += f" ({cell['least'] / 1e3:.1f} to {cell['most'] / 1e3:.1f})"
            if way.startswith("both"):
                leo, geo = (cell[f"{FLOW}paths.{path}.path_bytes"] for path in (0, 1))
                delay = f"{FLOW}reordering.reordering_delay_ms."
                again = sum(cell[f"{FLOW}paths.{path}.reinjected_bytes"] for path in (0, 1))
                cut += [
                    f"{100 * geo / (leo + geo):.0f}",
                    f"{cell[delay + 'p50']:.0f}, {cell[delay + 'p95']:.0f}",
                    f"{cell[FLOW + 'reordering.most_held_bytes'] / 1e3:.0f}",
                    f"{again / 1e3:.0f}",
                ]
            else:
                cut += [""] * 4
            lines.append(cut)
    return markdown(head, lines) + "\n"


def main() -> None:
    """Draws and fills."""
    cells = means(study.folder())
    draw(cells)
    put(PAGE, "results", table(cells))


if __name__ == "__main__":
    main()
