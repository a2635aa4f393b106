"""The congestion window over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clift.campaign.results import Results
from clift.report.style import Panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(results: Results, series: pa.Table) -> Figure:
    """The window of the first flow in the first run of each cell.

    Args:
        results: The campaign.
        series: Its time series, as in `series.parquet`.
    """
    panels = Panels(results, "congestion window, first flow of the first run")
    number = {id(cell): index for index, cell in enumerate(results.cells)}
    for axes, cells in panels:
        for label, colour, dashes, cell in cells:
            chosen = series.filter((pc.field("cell") == number[id(cell)]) & (pc.field("flow") == 0))
            time, window = (np.asarray(chosen.column(name)) for name in ("time_s", "cwnd_packets"))
            axes.plot(time, window, dashes, color=colour, label=label, linewidth=1.3)
        axes.set_ylim(bottom=0)
        axes.set_xlim(left=0)
    panels.label("time (s)", "congestion window (packets)")
    panels.legend()
    return panels.figure
