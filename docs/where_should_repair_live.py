"""Draws the figure of docs/where-should-repair-live.md and fills its table, from a results folder.

The folder is that of `clift run examples/coding_above.toml -o results/where --no-plots --compare
repair`; then `python docs/where_should_repair_live.py results/where` changes the page.
"""

from __future__ import annotations

import json
from pathlib import Path

import study
from pages import ROOT, markdown, put
from study import plt

from clift.campaign.statistics import estimate

PAGE = ROOT / "docs/where-should-repair-live.md"
IMAGE = ROOT / "docs/images/where_should_repair_live.svg"
# Rate of each place, kbit/s.
PLACES = {"GEO": 2000, "LEO": 10_000, "mobile GEO": 1000}
BURSTS = ("2", "50")
SENDERS = ("TCP, CUBIC", "TCP, BBR", "QUIC, CUBIC", "QUIC, BBR")
# Colours of Okabe and Ito.
REPAIRS = {
    "transport": "#999999",
    "link": "#0072b2",
    "link, in advance": "#56b4e9",
    "above the link": "#d55e00",
    "proxies": "#cc79a7",
    "link and above it": "#009e73",
    "link and proxies": "#e69f00",
}
# Proxies let QUIC through as it is.
SPLITS = ("proxies", "link and proxies")

Cell = tuple[str, str, str, str]
"""Place, burst, sender, repair."""


def shares(folder: Path) -> dict[Cell, tuple[float, float]]:
    """Mean goodput of each cell as a share of the rate (%), and half of its 95 % interval."""
    runs: dict[Cell, list[float]] = {}
    for row in study.rows(folder):
        cell = (row["place"], row["burst"], row["sender"], row["repair"])
        runs.setdefault(cell, []).append(100 * row["goodput_kbps"] / PLACES[row["place"]])
    found = {}
    for cell, values in runs.items():
        mean = estimate(values)
        assert mean is not None
        found[cell] = (mean.mean, mean.half_width or 0.0)
    return found


def candidates(folder: Path) -> dict[tuple[str, ...], list[str]]:
    """Repairs that may be the best one, by the verdict on each place, burst and sender."""
    found = {}
    for verdict in json.loads((folder / "record.json").read_text())["verdicts"]:
        at = tuple(name.rpartition(" = ")[2] for name in verdict["condition"])
        found[at] = [verdict["best"]] if verdict["best"] else verdict["among"]
    return found


def draw(found: dict[Cell, tuple[float, float]]) -> None:
    """A panel for each place and burst, a group of bars for each sender."""
    size = (len(BURSTS), len(PLACES))
    figure, panels = plt.subplots(*size, figsize=(9.6, 4.8), layout="constrained", sharey=True)
    width = 0.11
    for row, burst in zip(panels, BURSTS, strict=True):
        for axes, place in zip(row, PLACES, strict=True):
            for number, (repair, colour) in enumerate(REPAIRS.items()):
                senders = [
                    (at, one)
                    for at, one in enumerate(SENDERS)
                    if repair not in SPLITS or one.startswith("TCP")
                ]
                heights = [found[place, burst, one, repair][0] for _, one in senders]
                at = [at + (number - 3) * width for at, _ in senders]
                halves = [found[place, burst, one, repair][1] for _, one in senders]
                look = {"color": colour, "label": repair, "error_kw": {"linewidth": 0.7}}
                axes.bar(at, heights, width, yerr=halves, **look)
            axes.set_title(f"{place}, bursts of {burst} slots", fontsize="medium")
            axes.set_xticks(range(len(SENDERS)), SENDERS, fontsize="small")
            axes.set_ylim(0, 100)
            axes.spines[["top", "right"]].set_visible(False)
        row[0].set_ylabel("goodput (% of the rate)")
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=7, fontsize="small")
    study.save(figure, IMAGE)


def table(found: dict[Cell, tuple[float, float]], best: dict[tuple[str, ...], list[str]]) -> str:
    """A row for each place, burst and sender; a column for each place of repair."""
    head = ["place", "burst", "sender", *REPAIRS]
    lines = []
    for place in PLACES:
        for burst in BURSTS:
            for sender in SENDERS:
                cells = [place, burst, sender]
                for repair in REPAIRS:
                    mean, half = found[place, burst, sender, repair]
                    text = f"{mean:.0f} ± {half:.0f}"
                    is_split = repair in SPLITS and not sender.startswith("TCP")
                    is_best = repair in best[place, burst, sender]
                    cells.append("" if is_split else f"**{text}**" if is_best else text)
                lines.append(cells)
    return markdown(head, lines) + "\n"


def main() -> None:
    """Draws and fills."""
    folder = study.folder()
    found = shares(folder)
    draw(found)
    put(PAGE, "results", table(found, candidates(folder)))


if __name__ == "__main__":
    main()
