"""A run over time: what arrived, what was allowed, how long it took, what waited."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from clift.report.style import COLOURS, heading

if TYPE_CHECKING:
    import pyarrow as pa

_PANELS = (
    ("goodput_kbps", "goodput (kbit/s)"),
    ("cwnd_packets", "window (packets)"),
    ("srtt_ms", "smoothed RTT (ms)"),
    ("queue_packets", "queue (packets)"),
)
# More flows than colours could not be told apart.
_MOST_FLOWS = len(COLOURS)


def draw(series: pa.Table, title: str) -> Figure:
    """Four panels over one time axis; the queue is that of all flows.

    Args:
        series: What `Run.series` gives.
        title: What was run.
    """
    columns = {name: np.asarray(series.column(name)) for name in series.column_names}
    flows = np.unique(columns["flow"])[:_MOST_FLOWS]
    figure = Figure(figsize=(9.0, 9.0), layout="constrained")
    heading(figure, title)
    panels = figure.subplots(len(_PANELS), 1, sharex=True)
    for axes, (name, label) in zip(panels, _PANELS, strict=True):
        shown = flows[:1] if name == "queue_packets" else flows
        for flow, colour in zip(shown, cycle(COLOURS)):
            chosen = columns["flow"] == flow
            axes.plot(
                columns["time_s"][chosen],
                columns[name][chosen],
                color="black" if name == "queue_packets" else colour,
                linewidth=1.2,
                label=f"flow {flow}",
            )
        axes.set_ylabel(label)
        axes.set_ylim(bottom=0)
        axes.grid(visible=True, alpha=0.3)
    panels[-1].set_xlabel("time (s)")
    panels[-1].set_xlim(left=0)
    if len(flows) > 1:
        panels[0].legend(frameon=False, ncols=len(flows))
    return figure
