"""Shared style of plots: colours, titles, PNG."""

from __future__ import annotations

import re
from collections.abc import Sequence
from io import BytesIO
from textwrap import fill
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

# Okabe and Ito's palette for colour-blind readers; dashes distinguish lines in print.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES = ("-", "--", "-.", ":")
DPI = 110


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


def marks(axes: Axes, x: Any, y: Any, look: Sequence[Any], thick: float, order: int = 3) -> None:
    """Draw marks; circles and squares are hollow.

    Args:
        axes: The panel.
        x: Abscissas; without any, nothing is drawn.
        y: Ordinates.
        look: Name in the legend, marker, colour and area.
        thick: Width of the lines of a cross and of a hollow mark.
        order: Place among what is drawn.
    """
    name, marker, colour, area = look
    if len(x):
        axes.scatter(
            x,
            y,
            s=area,
            marker=marker,
            facecolors="none" if marker in "os" else colour,
            edgecolors=colour if marker in "os" else None,
            linewidths=thick if marker in "xos" else 0,
            label=name,
            zorder=order,
        )


class Picture(Figure):
    """A figure that a notebook shows, with or without pyplot's machinery."""

    def _repr_png_(self) -> bytes:
        out = BytesIO()
        self.savefig(out, format="png", dpi=DPI)
        return out.getvalue()
