"""The time-sequence plot: what was sent, sent again and acknowledged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clift._clift import ACKNOWLEDGED, GONE, SENT, SENT_AGAIN
from clift.campaign.results import Results
from clift.report.style import MOST_PANELS, Panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

# Longer transfers show their start: a point for each segment must stay a point.
_SEGMENTS = 150


def draw(results: Results) -> Figure:
    """Segments of the first flow in the first run of each cell, every segment as a point.

    Where a panel for each cell would be too many, they show the first alternative of each
    condition.

    Args:
        results: The campaign.
    """
    apart = len(results.cells) <= MOST_PANELS
    panels = Panels(results, "time-sequence, the start", apart=apart)
    for axes, cells in panels:
        label, _, _, cell = cells[0]
        if label:
            axes.set_title(f"{axes.get_title()}, {label}".removeprefix(", "), fontsize=11)
        if cell.first is None:
            continue
        events = cell.first.events()
        time, kind, seq, flow = (
            events.column(name).to_numpy() for name in ("time_ns", "kind", "seq", "flow")
        )
        sent_first = np.flatnonzero((flow == 0) & (kind == SENT))
        if not sent_first.size:
            continue
        end = _end(time[sent_first])
        for what, name, marker, colour, size in (
            (SENT, "sent", ".", "#0072B2", 10),
            (SENT_AGAIN, "sent again", "x", "#D55E00", 26),
            (GONE, "lost", "v", "#000000", 24),
        ):
            chosen = (flow == 0) & (kind == what) & (time <= end)
            if not chosen.any():
                continue
            axes.scatter(
                time[chosen] / 1e9,
                seq[chosen] / 1e3,
                s=size,
                marker=marker,
                color=colour,
                label=name,
                linewidths=1.0 if marker == "x" else 0,
                zorder=2 if what == SENT else 3,
            )
        acked = (flow == 0) & (kind == ACKNOWLEDGED) & (time <= end)
        axes.step(
            time[acked] / 1e9, seq[acked] / 1e3, where="post", color="#009E73", label="acknowledged"
        )
    panels.label("time (s)", "sequence number (kB)")
    panels.legend()
    return panels.figure


def _end(sent: NDArray[np.int64]) -> int:
    """Up to when to draw: a second more, for what comes back, unless that is full of segments."""
    end = int(sent[min(_SEGMENTS, sent.size) - 1]) + 1_000_000_000
    most = 2 * _SEGMENTS
    return min(end, int(sent[most])) if sent.size > most else end
