"""Draws a plot's panels in a style: for screens, or for the columns of a paper."""

from __future__ import annotations

from math import ceil
from typing import Any, NamedTuple

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from clift.report.plots import Panel, Plot
from clift.report.style import COLOURS, DASHES, Picture, heading, wrapped

MOST_PANELS = 12
_MARKERS = ("o", "s", "^", "v")
_TICKS = 5
# Inches: width of a panel, margins to its left and below it, a line of text; margin to the right of
# the last panel, and width of a letter of a label below it.
_PANEL = 3.75
_LEFT, _UNDER, _LINE = 0.72, 0.32, 0.19
_RIGHT, _LETTER = 0.25, 0.08


class Style(NamedTuple):
    """Sizes of a figure.

    Args:
        type: Size of type, relative to that of a screen, for which the margins above are.
        height: Height of a panel, in inches.
        most: Panels per row, at most.
        width: Width of a figure with one panel per row, and with several; by the panels if empty.
        titled: Whether the figure says what it shows; in a paper, the caption does.
        settings: Settings of matplotlib.
    """

    type: float
    height: float
    most: int
    width: tuple[float, ...]
    titled: bool
    settings: dict[Any, Any]


_SETTINGS = {
    "figure.titlesize": 13,
    "axes.titlesize": 11,
    "lines.linewidth": 1.3,
    "legend.markerscale": 1.6,
}
SCREEN = Style(1.0, 2.5, 4, (), True, _SETTINGS)


def draw(plot: Plot, style: Style = SCREEN, subject: str = "") -> Picture:
    """A plot as a figure.

    Args:
        plot: The plot.
        style: Its style.
        subject: What stands before its title.
    """
    with mpl.rc_context(style.settings):
        return _Figure(plot, style, subject).picture


class _Figure:
    """Sizes and margins by the number of text lines.

    Matplotlib's own layouts measure every tick, which takes longer than drawing.
    """

    def __init__(self, plot: Plot, style: Style, subject: str) -> None:
        self._size, self._height = style.type, style.height
        panels = plot.panels[:MOST_PANELS]
        count = len(panels)
        best = 2 if count in (2, 4) else 3 if count in (5, 6, 9) else min(style.most, count)
        self._columns = columns = max(1, min(plot.columns or best, count))
        self._rows = max(1, ceil(count / columns))
        self._left = (_LEFT + 0.25) * style.type
        self._between = (0.25 if plot.share_y else _LEFT) * style.type
        width = self._left + columns * (_PANEL + self._between) - self._between + _RIGHT
        width = style.width[min(columns, 2) - 1] if style.width else max(7.5, width)
        self.picture = Picture(figsize=(width, 1.0))
        note = f"the first {count} of {len(plot.panels)}" if len(plot.panels) > count else ""
        if style.titled:
            heading(self.picture, subject, f"{plot.title} ({note})" if note else plot.title)
        elif note:
            heading(self.picture, note)
        grid = self.picture.subplots(self._rows, columns, squeeze=False, sharey=plot.share_y)
        self._axes = list(grid.flat)[:count]
        for empty in list(grid.flat)[count:]:
            empty.set_visible(False)
        self.picture.subplots_adjust(
            left=self._left / width,
            right=1 - _RIGHT * style.type / width,
            wspace=self._between / self._across,
        )
        for place, (axes, panel) in enumerate(zip(self._axes, panels, strict=True)):
            _fill(axes, panel)
            plot.finish(axes)
            axes.set_xlabel(plot.x if place + columns >= count else "")
            axes.set_ylabel("" if place % columns else plot.y)
        tick_lines = 1 if plot.ticks is None else self._ticks(plot.ticks)
        for axes in self._axes[: 1 if plot.share_y else count] if plot.from_zero else ():
            axes.set_ylim(0, axes.get_ylim()[1] * 1.03)
        self._arrange(tick_lines, self._legend(), any(panel.title for panel in panels))

    @property
    def _across(self) -> float:
        """Width of a panel, in inches."""
        free = self.picture.get_figwidth() - self._left - _RIGHT * self._size
        return (free - (self._columns - 1) * self._between) / self._columns

    def _ticks(self, texts: list[list[str]]) -> int:
        """Label the places 0, 1, ... of each panel, wrapped or upright if space is short.

        Returns:
            Lines of text that they take.
        """
        places = max(map(len, texts), default=1)
        room = int(self._across / (places + 0.3) / (_LETTER * self._size)) - 1
        names = [[wrapped(text, room) for text in panel] for panel in texts]
        lines = [line for panel in names for name in panel for line in name.split("\n")]
        longest = max(map(len, lines), default=0)
        is_upright = longest > room
        if is_upright:
            names = [[text.replace("\n", ", ") for text in panel] for panel in texts]
        for axes, panel in zip(self._axes, names, strict=False):
            axes.set_xticks(range(len(panel)), panel, rotation=90 if is_upright else 0)
        flat = [name for panel in names for name in panel]
        if is_upright:
            return ceil(max(map(len, flat), default=0) * _LETTER / _LINE)
        return max((name.count("\n") + 1 for name in flat), default=1)

    def _legend(self) -> int:
        """One legend for all panels, below them; returns its lines of text."""
        found: dict[str, Artist] = {}
        for axes in self._axes:
            handles, labels = axes.get_legend_handles_labels()
            found.update({name: line for line, name in zip(handles, labels, strict=True) if name})
        if not found:
            return 0
        longest = max(map(len, found)) * 0.085 + 0.6
        columns = int(self.picture.get_figwidth() / longest / self._size)
        columns = max(1, min(6, len(found), columns))
        self.picture.legend(
            list(found.values()),
            list(found),
            loc="lower center",
            bbox_to_anchor=(0.5, 0.0),
            ncols=columns,
            frameon=False,
        )
        return ceil(len(found) / columns)

    def _arrange(self, tick_lines: int, legend_lines: int, has_titles: bool) -> None:
        size, panel, title = self._size, self._height, self.picture.get_suptitle()
        ticks = _UNDER + _LINE * (tick_lines - 1)
        titles = 0.3 if has_titles else 0.1
        above = (titles + (0.4 + 0.25 * title.count("\n") if title else 0.0)) * size
        apart = (ticks + titles + (0.25 if len(self._axes) % self._columns else 0.1)) * size
        below = (ticks + 0.38 + 0.24 * legend_lines) * size
        height = above + self._rows * (panel + apart) - apart + below
        self.picture.set_figheight(height)
        self.picture.subplots_adjust(
            top=1 - above / height, bottom=below / height, hspace=apart / panel
        )
        if title:
            place = 1 - 0.1 * size / height
            letters = mpl.rcParams["figure.titlesize"]
            self.picture.suptitle(title, fontsize=letters, y=place, va="top")


def _fill(axes: Axes, panel: Panel) -> None:
    # Nothing is above a panel, so its title has a fixed place; Matplotlib would measure every tick
    # to find that out.
    axes.set_title(panel.title, y=1.0)
    axes.grid(visible=True, alpha=0.3)
    # Drawing a label takes as long as drawing a line.
    axes.locator_params(nbins=_TICKS)
    for line in panel.lines:
        look = {
            "color": COLOURS[line.colour % len(COLOURS)],
            "ls": DASHES[line.dashes % len(DASHES)],
            "marker": _MARKERS[line.colour % len(_MARKERS)],
            "label": line.name or None,
        }
        line.put(axes, look)
