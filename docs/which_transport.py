"""Fills docs/which-transport.md from results: `python docs/which_transport.py results/which`.

`clift sweep examples/which_transport.toml -o results/which` makes the results. The script writes
one table per task between the marks of the page, and the figure to docs/images.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs/which-transport.md"
IMAGE = ROOT / "docs/images/which_transport.png"
REPAIRS = ("none", "ARQ", "ARQ in order", "HARQ(10/12)")
COLORS = ("#b2b2b2", "#2166ac", "#92c5de", "#ca6f4b")
TASKS = {
    "page": ("page_load_s", "Page load time (s) of `desktop-2024`"),
    "file": ("completion_s", "Time (s) for 3 MB"),
    "call": ("mos", "Mean opinion score of a call, 1 to 4.5"),
}


def read(folder: Path) -> dict[tuple[str, str, str], dict[str, Any]]:
    """Returns the metrics of each cell, by place, repair and use."""
    record = json.loads((folder / "record.json").read_text())
    return {
        (cell["labels"]["place"], cell["labels"]["repair"], cell["labels"]["use"]): cell["metrics"]
        for cell in record["cells"]
    }


def of_task(use: str) -> str:
    """Returns the task of a use, e.g. "page" of "page, HTTP/2, cubic"."""
    return use.split(",")[0]


def shown(metrics: dict[str, Any], metric: str) -> str:
    """Formats a mean, with the number of finished runs if some did not finish."""
    runs, found = metrics["duration_s"]["runs"], metrics.get(metric)
    if not found or found["mean"] is None:
        return "never"
    text = f"{found['mean']:.3g}"
    return text if found["runs"] == runs else f"{text} ({found['runs']} of {runs})"


def table(cells: dict[tuple[str, str, str], dict[str, Any]], task: str) -> str:
    """Formats the table of a task: one row per use and repair, one column per place."""
    metric, title = TASKS[task]
    places = list(dict.fromkeys(place for place, _, _ in cells))
    uses = [use for use in dict.fromkeys(use for _, _, use in cells) if of_task(use) == task]
    lines = [f"{title}\n", f"| | repair | {' | '.join(places)} |", "|---" * (len(places) + 2) + "|"]
    for use in uses:
        name = use.removeprefix(f"{task}, ")
        for repair in REPAIRS:
            row = " | ".join(shown(cells[place, repair, use], metric) for place in places)
            lines.append(f"| {name} | {repair} | {row} |")
    return "\n".join(lines) + "\n"


def draw(cells: dict[tuple[str, str, str], dict[str, Any]]) -> None:
    """Draws pages and files over GEO and LEO in bad reception, one bar per repair."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(2, 2, figsize=(11, 7), layout="constrained")
    panes = [(place, task) for task in ("page", "file") for place in ("GEO bad", "LEO bad")]
    for (place, task), panel in zip(panes, panels.flat, strict=True):
        metric, title = TASKS[task]
        uses = [use for use in dict.fromkeys(use for _, _, use in cells) if of_task(use) == task]
        most = 40 if place.startswith("GEO") else 8
        for number, repair in enumerate(REPAIRS):
            for row, use in enumerate(uses):
                metrics = cells[place, repair, use]
                found = metrics.get(metric)
                whole = bool(found) and found["runs"] == metrics["duration_s"]["runs"]
                mean = found["mean"] if found and whole else most
                x = row + (number - 1.5) * 0.2
                label = repair if row == 0 else None
                panel.bar(x, min(mean, most), 0.19, color=COLORS[number], label=label)
                if mean >= most:
                    text = f"{mean:.0f}" if whole else "not all"
                    panel.text(x, most, text, rotation=90, ha="center", va="bottom", fontsize=7)
                else:
                    low, high = found["low"] or mean, found["high"] or mean
                    panel.plot([x, x], [low, min(high, most)], color="black", linewidth=0.8)
        names = [use.removeprefix(f"{task}, ").replace(", ", "\n") for use in uses]
        panel.set_xticks(range(len(uses)), names, fontsize=7)
        panel.set_ylim(0, most * 1.2)
        panel.set_ylabel(title.replace("`", ""), fontsize=8)
        panel.set_title(f"{place}: {task}", fontsize=10)
        panel.spines[["top", "right"]].set_visible(False)
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4, frameon=False)
    figure.savefig(IMAGE, dpi=110)


def main() -> int:
    """Writes the tables and the figure."""
    cells = read(Path(sys.argv[1]))
    text = PAGE.read_text()
    for task in TASKS:
        pattern = re.compile(rf"(<!-- {task} -->\n).*?(<!-- /{task} -->)", re.DOTALL)
        made = table(cells, task)
        text = pattern.sub(lambda match, made=made: match[1] + made + match[2], text)
    PAGE.write_text(text)
    draw(cells)
    return 0


if __name__ == "__main__":
    sys.exit(main())
