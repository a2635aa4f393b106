"""Time-sequence plot of a live link: a loss of LLDUs, its repair, and its effect on TCP."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from numpy.typing import NDArray

from clift._clift import (
    ACKNOWLEDGED,
    GONE,
    RECEIVED,
    RECEIVED_IN_VAIN,
    SENT,
    SENT_AGAIN,
    UNIT_AGAIN,
    UNIT_NEW,
    UNIT_REPAIR,
)
from clift.campaign.repairs import around, first_repaired_loss, heights
from clift.campaign.segments import columns
from clift.report.style import COLOURS, Picture, heading, marks

_BLUE, _RED, _GREEN, _PINK, _BLACK = COLOURS[0], COLOURS[1], COLOURS[2], COLOURS[3], COLOURS[6]
_FAINT = "#BBBBBB"


def draw(units: pa.Table, events: pa.Table, title: str, unit: str = "data LLDU") -> Figure | None:
    """Two panels over the same time: TCP segments above, the units of a live link below.

    The time window surrounds the first loss of a unit whose packet still reached the receiver after
    further transmissions.

    Args:
        units: Table that `Run.units` returns; its first live link is drawn.
        events: Table that `Run.events` returns.
        title: Title of the picture.
        unit: Name of the link's units.

    Returns:
        The picture; None if no such loss was found.

    Example:
        >>> import clift
        >>> phy = clift.channel.bernoulli(slots=60_000, p=0.02, seed=1)
        >>> run = clift.simulate(clift.LiveLink(phy, "ARQ"), duration_s=5)
        >>> figure = draw(run.units(), run.events(), "ARQ")
        >>> len(figure.axes)
        2
    """
    sent = {name: units.column(name).to_numpy() for name in units.column_names}
    if units.num_rows == 0:
        return None
    first_link = sent["link"] == sent["link"].min()
    sent = {name: column[first_link] for name, column in sent.items()}
    loss = first_repaired_loss(sent, events)
    if loss is None:
        return None
    begin, end, packet = loss
    window = around(begin, end)
    figure = Picture(figsize=(9.5, 7.6), layout="constrained")
    heading(figure, title)
    above, below = figure.subplots(2, 1, sharex=True)
    _segments(above, events, sent, packet, window)
    _units(below, sent, packet, window)
    below.set_ylabel(f"{unit}, by number")
    below.set_xlim(window[0] / 1e9, window[1] / 1e9)
    below.set_xlabel("time (s)")
    for axes in (above, below):
        axes.grid(visible=True, alpha=0.3)
        axes.legend(loc="upper left", fontsize=8, framealpha=0.9)
    return figure


def shown(figure: Figure) -> bytes:
    """Content of a figure of `draw` without its title, to detect equal figures."""
    parts = []
    for axes in figure.axes:
        points = [np.asarray(marks.get_offsets()) for marks in axes.collections]
        lines = [np.asarray(line.get_xydata()) for line in axes.lines]
        parts += [np.ascontiguousarray(part, np.float64).tobytes() for part in points + lines]
    return b"".join(parts)


def _segments(
    axes: Axes,
    events: pa.Table,
    sent: dict[str, NDArray[Any]],
    packet: int,
    window: tuple[float, float],
) -> None:
    """Draw segments sent, received and acknowledged, by sequence number."""
    row = np.flatnonzero((sent["first_packet"] == packet) & (sent["kind"] == UNIT_NEW))[0]
    its_flow, its_seq = sent["flow"][row], sent["seq"][row]
    time, kind, seq, flow = columns(events)
    here = (flow == its_flow) & (time >= window[0]) & (time <= window[1])
    styles = (
        (SENT, "sent", ".", _BLUE, 30),
        (SENT_AGAIN, "retransmitted by TCP", "x", _RED, 34),
        (RECEIVED, "received", "o", _GREEN, 22),
        (RECEIVED_IN_VAIN, "received again", "s", _PINK, 22),
        (GONE, "lost", "v", _BLACK, 30),
    )
    for what, *look in styles:
        chosen = here & (kind == what)
        marks(axes, time[chosen] / 1e9, seq[chosen] / 1e3, look, 1.1)
    acked = (flow == its_flow) & (kind == ACKNOWLEDGED) & (time <= window[1])
    shown = seq[here & ((kind != GONE) & (kind != ACKNOWLEDGED))]
    margin = 0.06 * (np.ptp(shown) + 1) if shown.size else 0.0
    if acked.any():
        highest = np.maximum.accumulate(seq[acked])
        in_view = shown.size and highest[-1] >= shown.min() - margin
        label = "acknowledged" if in_view else None
        axes.step(time[acked] / 1e9, highest / 1e3, where="post", color=_GREEN, label=label)
    axes.axhline(its_seq / 1e3, color=_RED, lw=0.8, ls=":", zorder=1)
    first = np.flatnonzero((flow == its_flow) & (seq == its_seq) & (kind == SENT))
    before = first.size and time[first[0]] < window[0]
    since = f", sent at {time[first[0]] / 1e9:.2f} s" if before else ""
    axes.annotate(
        f"the lost packet{since}",
        (window[1] / 1e9, its_seq / 1e3),
        xytext=(-4, 3),
        textcoords="offset points",
        ha="right",
        fontsize=8,
        color=_RED,
    )
    if shown.size:
        axes.set_ylim((shown.min() - margin) / 1e3, (shown.max() + margin) / 1e3)
    axes.set_ylabel("TCP sequence number (kB)")
    axes.set_title("TCP segments", fontsize=11)


def _units(
    axes: Axes, sent: dict[str, NDArray[Any]], packet: int, window: tuple[float, float]
) -> None:
    """Draw units sent and received by the link, by number of the data unit."""
    time, arrival, kind = sent["time_ns"], sent["arrival_ns"], sent["kind"]
    height = heights(sent)
    here = (time <= window[1]) & (np.maximum(time, arrival) >= window[0])
    ours = (sent["first_packet"] <= packet) & (packet <= sent["last_packet"])
    got, repair = here & (arrival >= 0), kind == UNIT_REPAIR
    for chosen, colour, width in ((got & ~ours, _FAINT, 0.4), (got & ours, _RED, 0.9)):
        ends = np.stack([time[chosen], height[chosen], arrival[chosen], height[chosen]], axis=1)
        lines = ends.reshape(-1, 2, 2).astype(float) / (1e9, 1)
        axes.add_collection(LineCollection(list(lines), colors=colour, linewidths=width, zorder=1))
    styles = (
        # Drawn first: repair units of every block must not hide the data units.
        (here & repair & (sent["attempt"] == 0), "repair, unrequested", ".", _PINK, 26),
        (here & (kind == UNIT_NEW), "first transmission", ".", _BLUE, 7),
        (here & (kind == UNIT_AGAIN), "retransmission", "x", _RED, 30),
        (here & repair & (sent["attempt"] > 0), "repair, requested", "^", _PINK, 18),
        (here & (arrival < 0), "erased", "o", _BLACK, 46),
    )
    for order, (chosen, *look) in enumerate(styles, 3):
        marks(axes, time[chosen] / 1e9, height[chosen], look, 1.0, order)
    inside = here & (time >= window[0])
    if inside.any():
        low, high = float(height[inside].min()), float(height[inside].max())
        margin = 0.05 * (high - low + 1)
        axes.set_ylim(low - margin, high + margin)
    axes.plot([], [], color=_RED, lw=0.9, label="on the way: the lost packet")
    axes.plot([], [], color=_FAINT, lw=0.9, label="on the way: others")
    axes.set_title("units of the link", fontsize=11)
