"""Time-sequence plot of segments around the longest wait for an ACK."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from clift._clift import ACKNOWLEDGED, GONE, SENT, SENT_AGAIN
from clift.campaign.results import Results
from clift.report.style import COLOURS, MOST_PANELS, Panels

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from clift.campaign.segments import Excerpt

# Kind of event, its name, its marker, colour and area.
_MARKS = (
    (SENT, "sent", ".", 0, 22),
    (SENT_AGAIN, "retransmitted", "x", 1, 26),
    (GONE, "lost", "v", 6, 24),
)


def draw(results: Results) -> Iterator[Figure]:
    """Segments of the first flow in the first run of each cell, around its longest wait.

    This is the longest time without a new ACK that contains a retransmission (or, without
    retransmissions, a loss). A run without either shows its start.

    Args:
        results: The campaign.

    Yields:
        Pictures, as many as needed for a panel per cell.
    """
    cells = [
        cell
        for number, cell in enumerate(results.drawn)
        if (log := results.segments(number)) is not None and log.excerpt is not None
    ]
    numbers = {id(cell): number for number, cell in enumerate(results.cells)}
    for first in range(0, len(cells), MOST_PANELS):
        page = cells[first : first + MOST_PANELS]
        title = "time-sequence at the longest wait for an ACK, first run"
        panels = Panels(results, title, page, apart=True)
        for axes, [(_, _, _, cell)] in panels:
            log = results.segments(numbers[id(cell)])
            if log is not None and log.excerpt is not None:
                _excerpt(axes, log.excerpt)
                axes.ticklabel_format(useOffset=False)
        panels.label("time (s)", "sequence number (kB)")
        panels.legend()
        yield panels.figure


def _excerpt(axes: Axes, log: Excerpt) -> None:
    segments(axes, log.time_s, log.kind, log.seq)
    if not log.matters:
        axes.text(
            0.02, 0.97, "start of the run: nothing was lost", va="top", transform=axes.transAxes
        )


def segments(
    axes: Axes,
    time_s: NDArray[np.float64],
    kind: NDArray[np.integer],
    seq: NDArray[np.number],
    size: float = 1.0,
) -> None:
    """Draw segments sent, retransmitted, lost and acknowledged, by sequence number in kB.

    Args:
        axes: Where to draw.
        time_s: When each event was.
        kind: Its kind.
        seq: Its sequence number, in bytes.
        size: Factor of the area of a mark.
    """
    for what, name, marker, colour, area in _MARKS:
        chosen = kind == what
        if chosen.any():
            axes.scatter(
                time_s[chosen],
                seq[chosen] / 1e3,
                s=size * area,
                marker=marker,
                color=COLOURS[colour],
                label=name,
                linewidths=1.0 if marker == "x" else 0,
                zorder=2 if what == SENT else 3,
            )
    known = kind == ACKNOWLEDGED
    line = axes.step(time_s[known], seq[known] / 1e3, where="post", color=COLOURS[2])
    line[0].set_label("acknowledged")
