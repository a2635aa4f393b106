"""Palette, style and shapes of the figures of docs/concepts."""

from __future__ import annotations

from collections.abc import Iterable

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, Rectangle

DATA, REPAIR, AGAIN, IDLE = "#bcd6f2", "#fbcf8f", "#b5dfb0", "#f4f4f4"
INK, GREY, RED, BLUE = "#222222", "#777777", "#c62828", "#1f5fa8"
ORANGE, GREEN = "#c96a00", "#2e7d32"
PALE = {BLUE: "#dbe8f7", ORANGE: "#fde7d1", GREEN: "#dcefe3", RED: "#fbe3e3", GREY: "#eef0f3"}
"""Colour inside a box whose edge has a colour."""
STYLE = {
    "svg.hashsalt": "clift",
    # Text stays text: smaller files, and a browser can search it.
    "svg.fonttype": "none",
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "text.color": INK,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "legend.frameon": False,
    "legend.fontsize": 9,
}


def blank(height: float, x: tuple[float, float], y: tuple[float, float]) -> tuple[Figure, Axes]:
    """An empty drawing area, 7 inches wide, without axes."""
    figure = Figure(figsize=(7, height))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=x, ylim=y)
    axes.axis("off")
    return figure, axes


def box(
    axes: Axes,
    at: tuple[float, float],
    text: str = "",
    size: tuple[float, float] = (0.9, 0.8),
    colour: str = DATA,
    erased: bool = False,
) -> None:
    """A slot, frame or layer; an erased one is crossed out."""
    (x, y), (width, height) = at, size
    edge = RED if erased else colour if colour in PALE else INK
    style = {"facecolor": PALE.get(edge, colour), "edgecolor": edge}
    axes.add_patch(Rectangle((x, y), width, height, linewidth=0.8, **style))
    if erased:
        axes.plot([x, x + width], [y, y + height], color=RED, linewidth=1)
        axes.plot([x, x + width], [y + height, y], color=RED, linewidth=1)
    axes.text(x + width / 2, y + height / 2, text, ha="center", va="center", fontsize=9)


def arrow(
    axes: Axes,
    start: tuple[float, float],
    end: tuple[float, float],
    colour: str = INK,
    style: str = "-|>",
    bend: float = 0,
    dashed: bool = False,
) -> None:
    """An arrow from one point to another."""
    look = {"arrowstyle": style, "linestyle": "--" if dashed else "-", "shrinkA": 0, "shrinkB": 0}
    bent = f"arc3,rad={bend}"
    patch = FancyArrowPatch(
        start, end, mutation_scale=9, color=colour, linewidth=1, connectionstyle=bent, **look
    )
    axes.add_patch(patch)


def key(
    axes: Axes, at: tuple[float, float], entries: Iterable[tuple[str, str]], gap: float
) -> None:
    """Legend of a row of boxes; the colour `erased` is a crossed box."""
    x, y = at
    for colour, text in entries:
        erased = colour == "erased"
        box(axes, (x, y), size=(0.5, 0.45), colour=colour, erased=erased)
        axes.text(x + 0.7, y + 0.2, text, va="center", fontsize=9)
        x += gap
