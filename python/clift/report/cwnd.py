"""The congestion window over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clift.campaign.conclusion import coloured_axis, conditions
from clift.campaign.results import Results
from clift.report.style import Panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Panels share their scale if none of them would fill less than this part of it.
_ALIKE = 4


def draw(results: Results, series: pa.Table) -> Figure:
    """The window of the first flow in the first run of each cell.

    Args:
        results: The campaign.
        series: Its time series, as in `series.parquet`.
    """
    peaks = _peaks(results, series)
    alike = max(peaks, default=0) <= _ALIKE * min(peaks, default=0)
    panels = Panels(results, "congestion window, first flow of the first run", share_y=alike)
    number = {id(cell): index for index, cell in enumerate(results.cells)}
    for axes, cells in panels:
        for label, colour, dashes, cell in cells:
            chosen = series.filter((pc.field("cell") == number[id(cell)]) & (pc.field("flow") == 0))
            time, window = (np.asarray(chosen.column(name)) for name in ("time_s", "cwnd_packets"))
            axes.plot(time, window, dashes, color=colour, label=label, linewidth=1.3)
        axes.set_xlim(left=0)
    panels.from_zero()
    panels.label("time (s)", "congestion window (packets)")
    panels.legend()
    return panels.figure


def _peaks(results: Results, series: pa.Table) -> list[float]:
    """The largest window in each panel."""
    if not series.num_rows:
        return []
    first_flow = series.filter(pc.field("flow") == 0)
    found = first_flow.group_by("cell").aggregate([("cwnd_packets", "max")]).to_pylist()
    by_cell = {id(results.cells[row["cell"]]): row["cwnd_packets_max"] for row in found}
    panels = conditions(results, coloured_axis(results)).values()
    tops = [max((by_cell.get(id(cell), 0.0) for cell in cells), default=0.0) for cells in panels]
    return [top for top in tops if top > 0]
