"""A run over time: goodput, window, round-trip time, delay, queue."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from clift._arrays import Floats
from clift.campaign.segments import segments
from clift.report.capacity import capacity
from clift.report.style import COLOURS, Picture, heading
from clift.simulation import Run

_PANELS = (
    ("goodput_kbps", "goodput (kbit/s)"),
    ("cwnd_packets", "window (packets)"),
    ("srtt_ms", "smoothed RTT (ms)"),
    ("delay", "one-way delay (ms)"),
    ("queue_packets", "queue (packets)"),
)
# More flows would need more distinguishable colours.
_MOST_FLOWS = len(COLOURS)


def draw(run: Run, series: pa.Table) -> Figure:
    """Panels over one time axis, without empty ones; the queue is that of all flows.

    Args:
        run: The run.
        series: Table that `Run.series` returns.
    """
    columns = {name: np.asarray(series.column(name)) for name in series.column_names}
    flows = np.unique(columns["flow"])[:_MOST_FLOWS]
    delays = segments(run).delays
    shown = [
        (name, label)
        for name, label in _PANELS
        if (delays if name == "delay" else np.nanmax(columns[name], initial=0) > 0)
    ] or list(_PANELS[:1])
    figure = Picture(figsize=(9.0, 2.0 * len(shown) + 1.0), layout="constrained")
    heading(figure, repr(run.scenario))
    panels = figure.subplots(len(shown), 1, sharex=True, squeeze=False)[:, 0]
    for axes, (name, label) in zip(panels, shown, strict=True):
        for flow, colour in zip(flows, COLOURS, strict=False):
            if name == "delay":
                x, y = delays.get(flow, ((), ()))
            else:
                chosen = columns["flow"] == flow
                x, y = columns["time_s"][chosen], columns[name][chosen]
            of_all = name == "queue_packets"
            axes.plot(x, y, color="black" if of_all else colour, lw=1.2, label=f"flow {flow}")
            if of_all:
                break
        if name == "goodput_kbps":
            _capacity(axes, run, columns["time_s"][columns["flow"] == flows[0]])
        axes.set_ylabel(label)
        axes.set_ylim(bottom=0)
        axes.grid(visible=True, alpha=0.3)
    panels[-1].set_xlabel("time (s)")
    panels[-1].set_xlim(left=0)
    if panels[0].patches or len(flows) > 1:
        panels[0].legend(frameon=False, ncols=len(flows) + 1)
    return figure


def _capacity(axes: Axes, run: Run, time_s: Floats) -> None:
    """Capacity of the link, in grey."""
    edges = np.unique(time_s)
    rates = capacity(run, edges) if edges.size > 1 else None
    if rates is not None:
        axes.stairs(rates, edges, fill=True, color="0.88", label="capacity", zorder=0)
