"""Erasures over time and burst lengths of PHY traces."""

from __future__ import annotations

from matplotlib.figure import Figure

from clift.report.style import Picture
from clift.report.trace_figure import Bins, draw_bursts, draw_erasures
from clift.trace import PhyTrace

MOST_TRACES = 6


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
        stats = phy.stats()
        draw_erasures(over_time, Bins(phy))
        over_time.set_title(f"{name} - {stats['erasure_rate']:.3%} erased".lstrip(" -"))
        draw_bursts(bursts, stats["bursts"]["counts"])
        if mean := stats["bursts"]["mean"]:
            bursts.set_title(f"mean {mean:.2f}, longest {stats['bursts']['longest']}")
        for axes in (over_time, bursts):
            axes.grid(visible=True, alpha=0.3)
            axes.title.set_fontsize(11)
            if phy is not shown[-1][1]:
                axes.set_xlabel("")
    return picture
