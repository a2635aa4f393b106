"""What the plots of a campaign share: panels, colours that everybody can tell apart."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from math import ceil
from textwrap import fill
from typing import TYPE_CHECKING

from matplotlib.artist import Artist
from matplotlib.figure import Figure

from clift.campaign.conclusion import coloured_axis, conditions
from clift.campaign.results import Cell, Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's palette, which colour-blind readers can tell apart; dashes tell apart in print.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES = ("-", "--", "-.", ":")
MOST_PANELS = 12


def heading(figure: Figure, *parts: str) -> None:
    """Writes a title above a figure, in as many lines as its width takes."""
    letters = int(figure.get_figwidth() * 9)
    title = ": ".join(parts)
    lines = [title] if len(title) <= letters else parts
    figure.suptitle("\n".join(fill(line, letters) for line in lines), fontsize=13)


class Panels:
    """A picture with a panel for each condition and a colour for each alternative.

    Args:
        results: The campaign.
        title: What the picture shows.
        cells: Which cells to draw; all unless given.
        share_y: Whether all panels have the same scale upwards.
        apart: Whether each alternative has a panel of its own as well.
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
        rows = max(1, ceil(len(self.groups) / columns))
        self.columns = columns
        size = (4.6 * columns + 0.4, 3.3 * rows + 0.9)
        self.figure = Figure(figsize=(max(size[0], 7.0), size[1]), layout="constrained")
        note = f" (the first {MOST_PANELS} of {MOST_PANELS + left_out})" if left_out else ""
        heading(self.figure, results.title, f"{title}{note}")
        self._axes = self.figure.subplots(rows, columns, squeeze=False, sharey=share_y)
        for empty in list(self._axes.flat)[len(self.groups) :]:
            empty.set_visible(False)

    def __iter__(self) -> Iterator[tuple[Axes, list[tuple[str, str, str, Cell]]]]:
        """Each panel with its cells: label, colour, dashes, cell."""
        for axes, (condition, cells) in zip(self._axes.flat, self.groups, strict=False):
            axes.set_title(", ".join(label for label in condition if label), fontsize=11)
            axes.grid(visible=True, alpha=0.3)
            looks = zip(cycle(COLOURS), cycle(DASHES), cells)
            yield (
                axes,
                [
                    (cell.name(self.axis) if self.axis else "", colour, dashes, cell)
                    for colour, dashes, cell in looks
                ],
            )

    def label(self, x: str, y: str) -> None:
        """Writes under the lowest panels and left of the first ones what the axes are."""
        shown = list(self._axes.flat)[: len(self.groups)]
        for place, axes in enumerate(shown):
            if place + self.columns >= len(shown):
                axes.set_xlabel(x)
            if place % self.columns == 0:
                axes.set_ylabel(y)

    def from_zero(self) -> None:
        """Lets every panel start at zero; to be called when everything is drawn."""
        for axes in list(self._axes.flat)[: len(self.groups)]:
            axes.set_ylim(bottom=0)

    def legend(self) -> None:
        """One legend for all panels, under them, if there is anything to tell apart."""
        found: dict[str, Artist] = {}
        for axes in self._axes.flat:
            handles, labels = axes.get_legend_handles_labels()
            found.update({name: line for line, name in zip(handles, labels, strict=True) if name})
        if found:
            self.figure.legend(
                list(found.values()),
                list(found),
                loc="outside lower center",
                ncols=min(6, len(found)),
                frameon=False,
                markerscale=1.6,
            )
