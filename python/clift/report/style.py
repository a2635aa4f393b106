"""Shared style of a campaign's plots: panels, colours, legends."""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import BytesIO
from itertools import cycle
from math import ceil
from textwrap import fill
from typing import TYPE_CHECKING

from matplotlib.artist import Artist
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from clift.campaign.conclusion import coloured_axis, conditions
from clift.campaign.results import Cell, Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's palette for colour-blind readers; dashes distinguish lines in print.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES = ("-", "--", "-.", ":")
MOST_PANELS = 12
DPI = 110
_TICKS = 5
# Inches: a panel, the margins to its left and below, a line of text.
_PANEL = (3.75, 2.5)
_LEFT, _UNDER, _LINE = 0.72, 0.32, 0.19
# Margin to the right of the last panel, and width of a letter of a label below it.
_RIGHT, _LETTER = 0.25, 0.08


def heading(figure: Figure, *parts: str) -> int:
    """Write a title above a figure, wrapped to its width; return the number of lines."""
    letters = int(figure.get_figwidth() * 10)
    title = ": ".join(parts)
    lines = [title] if len(title) <= letters else parts
    text = "\n".join(fill(line, letters) for line in lines)
    figure.suptitle(text, fontsize=13)
    return text.count("\n") + 1


def wrapped(label: str, room: int) -> str:
    r"""The label in lines of at most `room` letters, if it has spaces or brackets to break at.

    Example:
        >>> wrapped("HARQ(18/20)", 8), wrapped("HARQ(18/20)", 11), wrapped("500 packets", 8)
        ('HARQ\n(18/20)', 'HARQ(18/20)', '500\npackets')
    """
    lines = []
    for line in label.split("\n"):
        lines.append("")
        for piece in re.split(r"(?<=\s)|(?=\()", line):
            if lines[-1] and len((lines[-1] + piece).rstrip()) > room:
                lines.append("")
            lines[-1] += piece
    return "\n".join(line.rstrip() for line in lines)


def png(figure: Figure) -> bytes:
    """A figure as PNG; `savefig` would draw it twice."""
    out = BytesIO()
    figure.set_dpi(DPI)
    canvas = FigureCanvasAgg(figure)
    # Higher compression takes a third of the drawing time for a tenth less size.
    canvas.print_png(out, pil_kwargs={"compress_level": 3})  # type: ignore[no-untyped-call]
    return out.getvalue()


class Picture(Figure):
    """A figure that a notebook shows, with or without pyplot's machinery."""

    def _repr_png_(self) -> bytes:
        out = BytesIO()
        self.savefig(out, format="png", dpi=DPI)
        return out.getvalue()


class Panels:
    """A picture with one panel per condition and one colour per alternative.

    Args:
        results: The campaign.
        title: Description of the picture.
        cells: Cells to draw; default: all.
        share_y: Whether all panels share the vertical scale.
        apart: Whether each alternative also has its own panel.
    """

    def __init__(
        self,
        results: Results,
        title: str,
        cells: list[Cell] | None = None,
        share_y: bool = False,
        apart: bool = False,
    ) -> None:
        self.axis = None if apart else coloured_axis(results)
        chosen = results.cells if cells is None else cells
        here = {id(cell) for cell in chosen}
        grouped = {
            condition: [cell for cell in members if id(cell) in here]
            for condition, members in conditions(results, self.axis).items()
        }
        self.groups = [(key, members) for key, members in grouped.items() if members]
        left_out = max(0, len(self.groups) - MOST_PANELS)
        self.groups = self.groups[:MOST_PANELS]
        columns = min(4, max(1, len(self.groups)))
        if len(self.groups) in (4, 2):
            columns = 2
        elif len(self.groups) in (5, 6, 9):
            columns = 3
        together = len(next(iter(conditions(results, coloured_axis(results)).values()), []))
        last = results.axes[-1][0] if results.axes else None
        if apart and 3 <= together <= 4 and last == coloured_axis(results):
            # One row per condition.
            columns = min(together, len(self.groups))
        rows = max(1, ceil(len(self.groups) / columns))
        self.columns = columns
        self.tick_lines = 1  # lines of the labels under a panel
        self._rows, self._share_y = rows, share_y
        self.figure = Picture(figsize=(self._across()[-1], 1.0))
        note = f" (the first {MOST_PANELS} of {MOST_PANELS + left_out})" if left_out else ""
        self._heading = heading(self.figure, results.title, f"{title}{note}")
        self._axes = self.figure.subplots(rows, columns, squeeze=False, sharey=share_y)
        for empty in list(self._axes.flat)[len(self.groups) :]:
            empty.set_visible(False)

    def __iter__(self) -> Iterator[tuple[Axes, list[tuple[str, str, str, Cell]]]]:
        """Each panel with its cells: label, colour, dashes, cell."""
        for axes, (condition, cells) in zip(self._axes.flat, self.groups, strict=False):
            # Nothing is above a panel, so its title has a fixed place; Matplotlib would measure
            # every tick to find that out.
            axes.set_title(", ".join(label for label in condition if label), fontsize=11, y=1.0)
            axes.grid(visible=True, alpha=0.3)
            # Drawing a label takes as long as drawing a line.
            axes.locator_params(nbins=_TICKS)
            looks = zip(cycle(COLOURS), cycle(DASHES), cells)
            yield (
                axes,
                [
                    (cell.name(self.axis) if self.axis else "", colour, dashes, cell)
                    for colour, dashes, cell in looks
                ],
            )

    @property
    def across(self) -> float:
        """Width of a panel, in inches."""
        left, between, width = self._across()
        return (width - left - _RIGHT - (self.columns - 1) * between) / self.columns

    def ticks(self, texts: list[list[str]]) -> None:
        """Label the places 0, 1, ... of each panel, wrapped or upright if space is short.

        Args:
            texts: Labels, by panel.
        """
        places = max(map(len, texts), default=1)
        room = int(self.across / (places + 0.3) / _LETTER) - 1
        names = [[wrapped(text, room) for text in panel] for panel in texts]
        lines = [line for panel in names for name in panel for line in name.split("\n")]
        longest = max(map(len, lines), default=0)
        is_upright = longest > room
        if is_upright:
            names = [[text.replace("\n", ", ") for text in panel] for panel in texts]
            longest = max((len(name) for panel in names for name in panel), default=0)
            self.tick_lines = max(self.tick_lines, ceil(longest * _LETTER / _LINE))
        else:
            counts = [name.count("\n") + 1 for panel in names for name in panel]
            self.tick_lines = max(self.tick_lines, *counts, 1)
        for axes, panel in zip(self._axes.flat, names, strict=False):
            axes.set_xticks(range(len(panel)), panel, rotation=90 if is_upright else 0)

    def label(self, x: str, y: str) -> None:
        """Write the axis titles below the lowest panels and left of the first ones."""
        shown = list(self._axes.flat)[: len(self.groups)]
        for place, axes in enumerate(shown):
            if place + self.columns >= len(shown):
                axes.set_xlabel(x)
            if place % self.columns == 0:
                axes.set_ylabel(y)

    def from_zero(self) -> None:
        """Start every panel at zero; call this after all drawing."""
        for axes in list(self._axes.flat)[: 1 if self._share_y else len(self.groups)]:
            axes.set_ylim(0, axes.get_ylim()[1] * 1.03)

    def legend(self) -> None:
        """One legend for all panels, below them, if there are several lines.

        Call this last, because it sets the layout.
        """
        found: dict[str, Artist] = {}
        for axes in self._axes.flat:
            handles, labels = axes.get_legend_handles_labels()
            found.update({name: line for line, name in zip(handles, labels, strict=True) if name})
        longest = max(map(len, found), default=0)
        columns = max(1, min(6, len(found), int(self._across()[-1] / (0.6 + 0.085 * longest))))
        self._arrange(ceil(len(found) / columns))
        if found:
            self.figure.legend(
                list(found.values()),
                list(found),
                loc="lower center",
                bbox_to_anchor=(0.5, 0.0),
                ncols=columns,
                frameon=False,
                markerscale=1.6,
            )

    def _across(self) -> tuple[float, float, float]:
        """Inches from the left edge to the first panel, between panels, and in total."""
        left, between = _LEFT + 0.25, 0.25 if self._share_y else _LEFT
        width = left + self.columns * (_PANEL[0] + between) - between + _RIGHT
        return left, between, max(width, 7.5)

    def _arrange(self, legend_lines: int) -> None:
        """Set sizes and margins by the number of text lines.

        Matplotlib's own layouts measure every tick, which takes longer than drawing.
        """
        left, between, width = self._across()
        ticks = _UNDER + _LINE * (self.tick_lines - 1)
        titles = 0.3 if any(axes.get_title() for axes in self._axes.flat) else 0.1
        above = 0.15 + 0.25 * self._heading + titles
        apart = ticks + titles + (0.25 if len(self.groups) % self.columns else 0.1)
        below = ticks + 0.3 + 0.08 + 0.24 * legend_lines
        height = above + self._rows * (_PANEL[1] + apart) - apart + below
        self.figure.set_size_inches(width, height)
        panel = self.across
        self.figure.subplots_adjust(
            left=left / width,
            right=1 - _RIGHT / width,
            top=1 - above / height,
            bottom=below / height,
            wspace=between / panel,
            hspace=apart / _PANEL[1],
        )
        self.figure.suptitle(self.figure.get_suptitle(), fontsize=13, y=1 - 0.1 / height, va="top")
