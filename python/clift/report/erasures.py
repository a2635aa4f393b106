"""Erasures over time and burst lengths of PHY traces."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullLocator

from clift.report.style import Picture
from clift.trace import PhyTrace

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

MOST_TRACES = 6
_BINS = 120


def draw(traces: list[tuple[str, PhyTrace]], title: str) -> Figure:
    """Draw one row per PHY trace: erasures per interval, and a histogram of burst lengths.

    Args:
        traces: Names and traces; the first six are drawn.
        title: Subject of the picture.
    """
    shown = traces[:MOST_TRACES]
    height = 2.9 * len(shown) + 1.0
    picture = Picture(figsize=(10.5, height))
    picture.suptitle(f"{title}: erasures of the physical layer", y=1 - 0.1 / height, va="top")
    rows = picture.subplots(len(shown), 2, squeeze=False, width_ratios=(2, 1))
    margins = {"top": 1 - 0.75 / height, "bottom": 0.6 / height, "left": 0.075, "right": 0.98}
    picture.subplots_adjust(**margins, wspace=0.2, hspace=0.3)
    for (name, phy), (over_time, bursts) in zip(shown, rows, strict=True):
        erased = phy.d_ns == 0
        _over_time(over_time, phy, erased, f"{name} - {erased.mean():.3%} erased".lstrip(" -"))
        _bursts(bursts, erased)
    rows[-1][0].set_xlabel("time (s)")
    logarithmic = ", log scale" if rows[-1][1].get_xscale() == "log" else ""
    rows[-1][1].set_xlabel(f"burst length (slots{logarithmic})")
    return picture


def _over_time(axes: Axes, phy: PhyTrace, erased: NDArray[np.bool_], title: str) -> None:
    seconds = (phy.t_ns - phy.t_ns[0]) / 1e9
    edges = np.linspace(0, max(seconds[-1], 1e-9), _BINS + 1)
    slots = np.histogram(seconds, edges)[0]
    lost = np.histogram(seconds[erased], edges)[0]
    share = np.divide(lost, slots, out=np.zeros(_BINS), where=slots > 0)
    axes.stairs(share * 100, edges, fill=True, color="#0072B2", alpha=0.8)
    axes.set_title(title, fontsize=11)
    axes.set_ylabel("erased slots (%)")
    axes.set_ylim(bottom=0)
    axes.grid(visible=True, alpha=0.3)


def _bursts(axes: Axes, erased: NDArray[np.bool_]) -> None:
    steps = np.diff(np.concatenate(([0], erased.astype(np.int8), [0])))
    lengths = np.flatnonzero(steps == -1) - np.flatnonzero(steps == 1)
    axes.set_ylabel("bursts")
    axes.grid(visible=True, alpha=0.3)
    if not lengths.size:
        axes.text(0.5, 0.5, "none", ha="center", transform=axes.transAxes)
        return
    axes.set_title(f"mean {lengths.mean():.2f}, longest {lengths.max()}", fontsize=11)
    longest = int(lengths.max())
    if longest <= 60:
        counts = np.bincount(lengths)[1:]
        # Long bursts are rare but important; a linear axis would hide them.
        if counts.max() > 100:
            axes.set(yscale="log", ylabel="bursts (log scale)")
            axes.yaxis.set_minor_locator(NullLocator())
        axes.bar(np.arange(1, longest + 1), counts, color="#D55E00", width=0.8)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        return
    edges = np.unique(np.round(np.geomspace(1, longest + 1, 40)))
    axes.hist(lengths, bins=edges.tolist(), color="#D55E00")
    axes.set(xscale="log", yscale="log", ylabel="bursts (log scale)")
