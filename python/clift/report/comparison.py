"""What was measured, beside what a paper prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clift.campaign.metrics import metric
from clift.campaign.results import Cell, Results
from clift.report.style import Panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(results: Results, name: str) -> Figure:
    """Means with 95 % intervals of one metric, as bars; printed values as diamonds.

    Args:
        results: The campaign.
        name: The metric.
    """
    shown = metric(name)
    cells = [cell for cell in results.cells if cell.estimate(name) is not None]
    printed = {
        id(results.cells[value.cell]): value.printed * shown.scale
        for value in results.comparisons()
        if value.metric == name
    }
    title = f"{shown.title}, mean and 95 % interval" + (" beside the print" if printed else "")
    panels = Panels(results, title, _worth_drawing(cells, results, name), share_y=True)
    for axes, members in panels:
        place = np.arange(len(members))
        for x, (_, colour, _, cell) in zip(place, members, strict=True):
            found = cell.estimate(name)
            if found is None:
                continue
            value = found.mean * shown.scale
            axes.bar(x, value, color=colour, width=0.62, alpha=0.85)
            if found.half_width:
                axes.errorbar(
                    x, value, yerr=found.half_width * shown.scale, color="black", capsize=4, lw=1.2
                )
            if id(cell) in printed:
                axes.plot(
                    x + 0.38, printed[id(cell)], "D", color="black", markersize=6, label="printed"
                )
            axes.annotate(
                f"{value:.3g}" if value < 1000 else f"{value:.0f}",
                (x, 0),
                (0, 4),
                textcoords="offset points",
                ha="center",
                color="white",
            )
        axes.set_xticks(place, [label for label, *_ in members])
        axes.set_xlim(-0.6, len(members) - 0.3)
        axes.grid(visible=False, axis="x")
    unit = f" ({shown.unit})" if shown.unit else ""
    panels.label("", f"{shown.title}{unit}")
    panels.legend()
    return panels.figure


def _worth_drawing(cells: list[Cell], results: Results, name: str) -> list[Cell]:
    """Cells that are judged by the metric, or have a printed value of it, and their neighbours."""
    wanted = {value.cell for value in results.comparisons() if value.metric == name}
    tasks = {results.cells[index].is_transfer for index in wanted}
    return [cell for cell in cells if cell.primary == name or cell.is_transfer in tasks]
