"""Picture of a PHY trace."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter, StrMethodFormatter

from clift._arrays import Floats
from clift._output import write
from clift._words import counted
from clift.errors import TraceError
from clift.report.style import Picture
from clift.report.trace_text import rate, sizes, span
from clift.trace import PhyTrace

BINS = 200
# Above this ratio a linear axis shows only its largest values.
WIDE = 50
RECEIVED = "#1f6fb4"
ERASED = "#c8372d"


def figure(phy: PhyTrace, title: str) -> Figure:
    """Draw a PHY trace.

    Rate, erasures and decoding time over time; distributions of burst lengths, of gaps between
    slots and of decoding times.

    Args:
        phy: The trace.
        title: Name of the trace.
    """
    stats = phy.stats()
    picture = Picture(figsize=(13, 8), layout="constrained")
    slot = sizes(stats | {"lldu_bytes": phy.lldu_bytes})
    mean = "" if stats["rate_bps"] is None else f" = {rate(stats['rate_bps'])}"
    picture.suptitle(
        f"{title}: {counted(stats['slots'], 'slot')} of {slot} bytes in "
        f"{span(stats['duration_ns'])}{mean}, {stats['erasure_rate']:.3%} erased"
    )
    axes = picture.subplots(2, 3)
    bins = Bins(phy)
    _draw_rate(axes[0, 0], bins)
    draw_erasures(axes[0, 1], bins)
    _draw_decoding(axes[0, 2], phy, bins)
    draw_bursts(axes[1, 0], stats["bursts"]["counts"])
    _draw_gaps(axes[1, 1], phy)
    _draw_distribution(axes[1, 2], phy)
    for axis in axes.flat:
        axis.grid(visible=True, alpha=0.3)
    return picture


def over_time(phy: PhyTrace) -> Figure:
    """Draw rate, erasures and delay of a PHY trace over time, one below the other.

    Erasures and delays are left out of a trace without any.

    Args:
        phy: The trace.
    """
    bins = Bins(phy)
    parts: list[Callable[[Axes], None]] = [lambda axis: _draw_rate(axis, bins)]
    if not (phy.d_ns > 0).all():
        parts.append(lambda axis: draw_erasures(axis, bins))
    if phy.d_ns.max() > 1:
        parts.append(lambda axis: _draw_decoding(axis, phy, bins))
    picture = Picture(figsize=(9, 2.2 * len(parts)), layout="constrained")
    axes = picture.subplots(len(parts), 1, squeeze=False)[:, 0]
    for axis, draw in zip(axes, parts, strict=True):
        draw(axis)
        axis.grid(visible=True, alpha=0.3)
        axis.set_xlabel("time (s)" if axis is axes[-1] else "")
    return picture


def save(picture: Figure, path: Path) -> None:
    """Write a figure in the format of its suffix (PNG, PDF or SVG), as a whole or not at all.

    Args:
        picture: The figure.
        path: Output file.

    Raises:
        TraceError: If the file is not writable.
    """
    content = io.BytesIO()
    picture.savefig(content, format=path.suffix.lower()[1:], dpi=110)
    write(path, content.getvalue(), TraceError)


class Bins:
    """Equal time intervals of the trace, as many as the picture can show."""

    def __init__(self, phy: PhyTrace) -> None:
        first, last = int(phy.t_ns[0]), int(phy.t_ns[-1])
        self.count = max(1, min(BINS, len(phy)))
        self.width_ns = max(1, -(-(last - first + 1) // self.count))
        edges = first + self.width_ns * np.arange(self.count + 1, dtype=np.int64)
        self.cuts = np.searchsorted(phy.t_ns, edges)
        self.times = edges / 1e9
        self.slots = np.diff(self.cuts)
        received = np.zeros(self.count, np.int64)
        carried, arrived = np.zeros((2, self.count), np.int64)
        for index, (start, end) in enumerate(self.parts()):
            came = phy.d_ns[start:end] > 0
            received[index] = np.count_nonzero(came)
            if phy.slot_bytes is None:
                continue
            carried[index] = phy.slot_bytes[start:end].sum()
            arrived[index] = phy.slot_bytes[start:end][came].sum()
        self.received = received
        each = phy.slot_bytes is not None
        # Bytes of all slots, and of those received.
        self.carried = carried if each else self.slots * phy.lldu_bytes
        self.arrived = arrived if each else received * phy.lldu_bytes

    def parts(self) -> list[tuple[int, int]]:
        """First and end slot of each interval."""
        return list(zip(self.cuts[:-1].tolist(), self.cuts[1:].tolist(), strict=True))


def _draw_rate(axis: Axes, bins: Bins) -> None:
    unit, scale = "kbit/s", 1e3
    per_byte = 8e9 / bins.width_ns
    if bins.carried.max() * per_byte >= 1e7:
        unit, scale = "Mbit/s", 1e6
    series = [("all slots", bins.carried, "0.6"), ("received", bins.arrived, RECEIVED)]
    if (bins.slots == bins.received).all():
        series = [("all slots, all received", bins.carried, RECEIVED)]
    for label, carried, color in series:
        values = carried * per_byte / scale
        axis.stairs(values, bins.times, baseline=None, color=color, label=label)
    axis.set(title="Rate", xlabel="time (s)", ylabel=f"rate ({unit})")
    axis.set_ylim(0, 1.05 * bins.carried.max() * per_byte / scale)
    axis.legend(loc="best", fontsize="small")


def draw_erasures(axis: Axes, bins: Bins) -> None:
    """Draws the share of slots erased over time."""
    with np.errstate(invalid="ignore", divide="ignore"):
        share = 100 * (1 - bins.received / bins.slots)
    width = bins.width_ns / 1e9
    axis.set(title=f"Erasures, per {width:.3g} s", xlabel="time (s)", ylabel="slots erased (%)")
    if not np.nansum(share):
        _note(axis, "no slot was erased")
        return
    axis.stairs(share, bins.times, color=ERASED, fill=True)


def _draw_decoding(axis: Axes, phy: PhyTrace, bins: Bins) -> None:
    # A trace with one-way delays has a round-trip time of 0; one without any knows no delays.
    what = "Decoding time" if phy.rtt_ns is None else "Delay"
    beyond = f", beyond the link's {phy.rtt_ns / 2e6:.3g} ms" if phy.rtt_ns else ""
    axis.set(title=f"{what} d over time{beyond}", xlabel="time (s)", ylabel="d (ms)")
    low, middle, high = (np.full(bins.count, np.nan) for _ in range(3))
    for index, (start, end) in enumerate(bins.parts()):
        values = phy.d_ns[start:end]
        values = values[values > 0]
        if len(values):
            low[index], middle[index], high[index] = (
                np.percentile(values, [0, 50, 100], method="inverted_cdf") / 1e6
            )
    if np.isnan(middle).all():
        _note(axis, "no slot was received")
        return
    centres = (bins.times[:-1] + bins.times[1:]) / 2
    axis.fill_between(centres, low, high, color=RECEIVED, alpha=0.25, lw=0, label="min to max")
    axis.plot(centres, middle, color=RECEIVED, lw=1, label="median")
    # Neither line shows an interval with pauses on both sides.
    gaps = np.isnan(np.concatenate([[np.nan], middle, [np.nan]]))
    alone = ~gaps[1:-1] & gaps[:-2] & gaps[2:]
    axis.vlines(centres[alone], low[alone], high[alone], color=RECEIVED, alpha=0.25, lw=2)
    axis.plot(centres[alone], middle[alone], ".", color=RECEIVED, ms=3)
    if np.nanmax(high) > WIDE * np.nanmedian(middle) and np.nanmin(low) > 0:
        axis.set_yscale("log")
    else:
        axis.set_ylim(bottom=0)
    axis.legend(loc="best", fontsize="small")


def draw_bursts(axis: Axes, counts: list[tuple[int, int]]) -> None:
    """Draws how long bursts of erased slots are, from (length, number) pairs."""
    axis.set(title="Bursts of erased slots", xlabel="length (slots)", ylabel="bursts")
    if not counts:
        _note(axis, "no slot was erased")
        return
    lengths, runs = (np.array(values) for values in zip(*counts, strict=True))
    if lengths.max() <= 60:
        axis.bar(lengths, runs, color=ERASED, width=0.8)
        axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    else:
        edges = _log_edges(lengths.min(), lengths.max())
        axis.hist(lengths, bins=edges.tolist(), weights=runs, color=ERASED)
        _log_axis(axis, edges)
    if runs.max() > 50:
        axis.set_yscale("log")
        axis.set_ylim(bottom=0.5)
    else:
        axis.yaxis.set_major_locator(MaxNLocator(integer=True))


def _draw_gaps(axis: Axes, phy: PhyTrace) -> None:
    axis.set(title="Gaps between slots", xlabel="gap (ms)", ylabel="gaps")
    gaps = np.diff(phy.t_ns)
    if not len(gaps):
        _note(axis, "a single slot")
        return
    if gaps.max() - gaps.min() <= 2:
        _note(axis, f"all {len(gaps)} gaps are {span(int(gaps[0]))}")
        return
    edges = _log_edges(gaps.min() / 1e6, gaps.max() / 1e6)
    counts, edges = np.histogram(gaps / 1e6, edges)
    axis.stairs(counts, edges, color="0.4", fill=True)
    _log_axis(axis, edges)
    axis.set_yscale("log")
    axis.set_ylim(bottom=0.5)


def _draw_distribution(axis: Axes, phy: PhyTrace) -> None:
    axis.set(title="Distribution of d", xlabel="d (ms)", ylabel="share of received slots")
    values = phy.d_ns[phy.d_ns > 0]
    if not len(values):
        _note(axis, "no slot was received")
        return
    shares = np.linspace(0, 1, 1001)
    axis.plot(np.quantile(values, shares, method="inverted_cdf") / 1e6, shares, color=RECEIVED)
    axis.set_ylim(0, 1.02)
    low, middle, high = np.percentile(values, [0, 50, 100], method="inverted_cdf") / 1e6
    if low > 0 and high > WIDE * middle:
        axis.set_xscale("log")


def _log_axis(axis: Axes, edges: Floats) -> None:
    """A logarithmic axis whose labels are plain numbers, neither too few nor too many."""
    axis.set_xscale("log")
    decades = np.log10(edges[-1] / edges[0])
    if decades < 0.5:
        axis.xaxis.set_major_locator(MaxNLocator(4))
    elif decades < 3:
        axis.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    if decades < 3:
        axis.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.xaxis.set_minor_formatter(NullFormatter())


def _log_edges(low: float, high: float) -> Floats:
    return np.geomspace(low, high * 1.0001, 41)


def _note(axis: Axes, text: str) -> None:
    axis.set_xticks([])
    axis.set_yticks([])
    axis.text(0.5, 0.5, text, ha="center", va="center", transform=axis.transAxes, color="0.4")
