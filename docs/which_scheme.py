"""Draws the map of the README and fills docs/which-scheme.md, from results of examples/map.toml.

    clift run examples/map.toml -o results/map --no-plots --compare scheme
    python docs/which_scheme.py results/map [FIGURE]

With FIGURE it only draws the map; the results may be of a part of the study. Every verdict is the
campaign's own (docs/concepts/statistics.md): best only if better than each other scheme over all
tests of the map, equal only within 5 %.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from matplotlib.patches import Rectangle
from pages import ROOT, markdown, put
from study import plt, save

PAGE = ROOT / "docs/which-scheme.md"
IMAGE = ROOT / "docs/images/map.svg"
# Colour of the cell and of the text in it (Okabe and Ito: told apart by colour-blind readers).
SCHEMES = {
    "ARQ": ("#0072b2", "white"),
    "HARQ(10/12)": ("#e69f00", "black"),
    "HARQ(10/15)": ("#5cc8a1", "black"),
}
EQUAL, OPEN = ("#ffffff", "black"), ("#dddddd", "#555555")
AXES = ("control", "reception", "rate")

Verdicts = dict[tuple[str, ...], dict[str, Any]]
"""Verdicts by labels of the axes `AXES`."""


def read(folder: Path) -> tuple[dict[str, list[str]], Verdicts]:
    """Returns the labels of each axis, and the verdict of each condition."""
    record = json.loads((folder / "record.json").read_text())
    axes = {one["name"]: one["labels"] for one in record["axes"]}
    varying = [name for name in axes if name != "scheme" and len(axes[name]) > 1]
    found = {}
    for verdict in record["verdicts"]:
        names = (name.rpartition(" = ")[2] for name in verdict["condition"])
        at = {name: labels[0] for name, labels in axes.items()} | dict(
            zip(varying, names, strict=True)
        )
        found[tuple(at[name] for name in AXES)] = verdict
    # A study that was stopped early has no verdicts for some receptions.
    there = {key[1] for key in found}
    axes["reception"] = [label for label in axes["reception"] if label in there]
    return axes, found


def told(verdict: dict[str, Any]) -> str:
    """Formats a verdict for a table: the best with its gain in % and the interval of that."""
    if verdict["best"]:
        low, high = verdict["interval"] or (None, None)
        ends = (
            ""
            if low is None
            else f" [{low * 100:.0f}, {'∞' if high is None else f'{high * 100:.0f}'}]"
        )
        return f"{verdict['best']} {verdict['gain'][0] * 100:.0f}{ends}"
    names = ", ".join(verdict["among"])
    return f"{'=' if verdict['is_equal'] else '?'} {names}"


def table(axes: dict[str, list[str]], verdicts: Verdicts, control: str) -> str:
    """Formats the table of a congestion control: a row per reception, a column per rate."""
    lines = []
    for reception in axes["reception"]:
        cells = [verdicts.get((control, reception, rate)) for rate in axes["rate"]]
        lines.append([reception, *(told(cell) if cell else "" for cell in cells)])
    return f"**{control}**\n\n{markdown(['erased, burst', *axes['rate']], lines)}\n"


def draw(axes: dict[str, list[str]], verdicts: Verdicts, path: Path) -> None:
    """Draws a panel per congestion control: rates across, receptions down, the best as colour."""
    plt.rcParams.update({"font.size": 10, "svg.hashsalt": "map", "svg.fonttype": "none"})
    receptions = axes["reception"]
    rates = axes["rate"]
    figure, panels = plt.subplots(
        2, 3, figsize=(11, 1.9 + 0.62 * len(receptions)), layout="constrained"
    )
    for panel, control in zip(panels.flat, axes["control"], strict=False):
        for row, reception in enumerate(receptions):
            for column, rate in enumerate(rates):
                if verdict := verdicts.get((control, reception, rate)):
                    _cell(panel, column, row, verdict)
        panel.set(xlim=(0, len(rates)), ylim=(len(receptions), 0))
        panel.set_title(control, fontsize=11, weight="bold", loc="left")
        panel.set_xticks(
            [place + 0.5 for place in range(len(rates))], [one.split()[0] for one in rates]
        )
        panel.set_yticks([place + 0.5 for place in range(len(receptions))], receptions)
        panel.tick_params(length=0)
        panel.spines[:].set_visible(False)
    for panel in panels[:, 0]:
        panel.set_ylabel("erased, burst (slots)")
    for panel in panels.flat[len(axes["control"]) - 3 :]:
        panel.set_xlabel("rate (Mbit/s)")
    for panel in panels.flat[len(axes["control"]) :]:
        panel.axis("off")
    _legend(panels.flat[-1])
    save(figure, path)


def _cell(panel: Any, column: float, row: float, verdict: dict[str, Any]) -> None:
    if verdict["best"]:
        (colour, ink), text = SCHEMES[verdict["best"]], f"{verdict['gain'][0] * 100:.0f}"
    else:
        (colour, ink), text = (EQUAL, "=") if verdict["is_equal"] else (OPEN, "?")
    _box(panel, column, row, colour)
    size = 9.5 if len(text) < 4 else 8
    panel.text(column + 0.5, row + 0.52, text, color=ink, ha="center", va="center", fontsize=size)


def _box(panel: Any, column: float, row: float, colour: str) -> None:
    edge = "#999999" if colour == EQUAL[0] else "white"
    panel.add_patch(
        Rectangle(
            (column + 0.03, row + 0.03), 0.94, 0.94, facecolor=colour, edgecolor=edge, linewidth=0.6
        )
    )


def _legend(panel: Any) -> None:
    panel.set(xlim=(0, 7), ylim=(7.2, 0))
    lines = [(f"{name} is best", colour, ink, "17") for name, (colour, ink) in SCHEMES.items()]
    lines += [("equal within 5 %", *EQUAL, "="), ("can't be told from these runs", *OPEN, "?")]
    for row, (name, colour, ink, text) in enumerate(lines):
        _box(panel, 0, row + 0.2, colour)
        panel.text(0.5, row + 0.72, text, color=ink, ha="center", va="center", fontsize=9.5)
        panel.text(1.2, row + 0.72, name, va="center", fontsize=11)
    words = "numbers: goodput over the\nsecond-best scheme, in %"
    panel.text(0, 6.35, words, va="center", fontsize=10)


def counts(axes: dict[str, list[str]], verdicts: Verdicts) -> str:
    """Formats how many conditions have which verdict, by congestion control."""
    heads = [*SCHEMES, "equal", "can't be told"]
    lines = []
    for control in axes["control"]:
        own = [verdict for key, verdict in verdicts.items() if key[0] == control]
        found = Counter(one["best"] or heads[3 if one["is_equal"] else 4] for one in own)
        lines.append([control, *(str(found[head]) for head in heads), str(len(own))])
    return markdown(["", *heads, "conditions"], lines) + "\n"


def main() -> int:
    """Draws the map, and unless a path for it is given, writes the tables of the page."""
    axes, verdicts = read(Path(sys.argv[1]))
    if sys.argv[2:]:
        draw(axes, verdicts, Path(sys.argv[2]))
        return 0
    draw(axes, verdicts, IMAGE)
    put(PAGE, "counts", counts(axes, verdicts))
    put(PAGE, "verdicts", "\n".join(table(axes, verdicts, one) for one in axes["control"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
