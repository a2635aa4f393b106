"""Distribution of one-way delays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from clift.campaign.results import Results
from clift.report.style import Panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw(results: Results) -> Figure:
    """Draw the distribution of one-way segment delays in the first run of each cell.

    Args:
        results: The campaign.
    """
    panels = Panels(results, "one-way delay of segments (first sent to first arrived), first run")
    numbers = {id(cell): number for number, cell in enumerate(results.cells)}
    drawn = []
    longest, shortest = 0.0, np.inf
    for axes, cells in panels:
        for label, colour, dashes, cell in cells:
            found = results.segments(numbers[id(cell)])
            if found is None or not found.shares.size:
                continue
            delays = found.quantiles_ms
            axes.step(
                delays, found.shares, where="post", color=colour, ls=dashes, label=label, lw=1.4
            )
            longest, shortest = max(longest, delays[-1]), min(shortest, delays[0])
        axes.set_ylim(0, 1.02)
        if axes.lines:
            drawn.append(axes)
    # A few very late segments would compress the others against the left edge.
    is_wide = longest > 10 * shortest
    for axes in drawn if is_wide else ():
        _logarithmic(axes)
    scale = ", log scale" if is_wide else ""
    panels.label(f"one-way delay (ms{scale})", "share of segments")
    panels.legend()
    return panels.figure


def _logarithmic(axes: Axes) -> None:
    """Tick labels at 1, 2 and 5 of each power of ten, or fewer, depending on the space."""
    axes.set_xscale("log")
    least, most = axes.dataLim.intervalx
    ratio = most / least
    subs = (1, 2, 5) if ratio < 100 else (1, 3) if ratio < 1000 else (1,)
    axes.xaxis.set_major_locator(LogLocator(subs=subs))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
