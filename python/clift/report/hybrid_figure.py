"""Figures 3 to 8 of Al Fawal 2003 as pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure as Picture

from clift._words import counted
from clift.report.style import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from clift.papers.hybrid import Figure, Line

_X = {"n": "N: units of a frame (K = 10)", "delta": "delta: retransmissions of a frame"}
_AGENTS = {False: "NewReno without SACK, as in the paper", True: "NewReno with SACK"}


def paper_figure(figure: Figure) -> Picture:
    """Draw a figure with one panel per TCP: means with 95 % bands, and the busy link dotted.

    Args:
        figure: Results of the figure.
    """
    agents = [sack for sack in (False, True) if figure.of(sack)]
    picture = Picture(figsize=(0.6 + 6.2 * len(agents), 5.6), layout="constrained")
    runs = f"{counted(figure.runs, 'run')} of {figure.duration_s:g} s"
    picture.suptitle(f"wiopt2003, figure {figure.number}: {figure.title} ({runs})")
    panels = picture.subplots(1, len(agents), squeeze=False, sharey=True)[0]
    for axes, sack in zip(panels, agents, strict=True):
        axes.set_title(_AGENTS[sack], fontsize=11)
        lines = figure.of(sack)
        colours = {group: COLOURS[place] for place, group in enumerate(_groups(lines))}
        for line in lines:
            _draw(axes, figure, line, colours[_group(line)])
        axes.set_xlabel(_X[figure.swept])
        axes.set_xticks([getattr(cell, figure.swept) for cell in lines[0].cells])
        axes.grid(visible=True, alpha=0.3)
        axes.set_ylim(0, 1)
    panels[0].set_ylabel("share of the link that carries TCP data")
    if lines[0].cells[0].flows == 1:
        right = panels[-1].secondary_yaxis(
            "right", functions=(lambda share: 2 * share, lambda mbps: mbps / 2)
        )
        right.set_ylabel("throughput (Mbit/s)")
    panels[0].plot([], [], ":", color="gray", label="an always busy link")
    picture.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return picture


def _draw(axes: Axes, figure: Figure, line: Line, colour: str) -> None:
    at = [getattr(cell, figure.swept) for cell in line.cells]
    means = [found.mean for found in line.found]
    widths = [found.half_width or 0.0 for found in line.found]
    dashes = "-" if line.cells[0].in_order else "--"
    axes.plot(at, means, dashes, marker="o", markersize=4, color=colour, label=line.label)
    low = [mean - width for mean, width in zip(means, widths, strict=True)]
    high = [mean + width for mean, width in zip(means, widths, strict=True)]
    axes.fill_between(at, low, high, color=colour, alpha=0.25, linewidth=0)
    if line.cells[0].in_order:
        busy = [cell.ceiling() for cell in line.cells]
        axes.plot(at, busy, ":", color=colour, linewidth=1, label="_busy")


def _group(line: Line) -> tuple[int, int]:
    """Key of lines with the same colour: delay, and delta if N is swept."""
    first, last = line.cells[0], line.cells[-1]
    return first.delay_ms, first.delta if first.delta == last.delta else -1


def _groups(lines: list[Line]) -> list[tuple[int, int]]:
    return list(dict.fromkeys(_group(line) for line in lines))
