"""Goodput of the flows."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from clift.campaign.metrics import flows_of
from clift.campaign.results import Cell, Results
from clift.campaign.statistics import Estimate
from clift.report.page.study import of_results
from clift.report.panels import draw as draw_plot
from clift.report.plots import bar, bars
from clift.report.style import COLOURS


def draw(results: Results) -> Figure | None:
    """Draw mean goodput per flow as bars with 95 % intervals, and Jain's index of fairness.

    With many flows only three are drawn: least, median and most.

    Args:
        results: The campaign.

    Returns:
        The picture; None if no cell has several flows.
    """
    found = {
        number: flows
        for number, cell in enumerate(results.cells)
        if len(flows := of_flows(cell)) > 1
    }
    if not found:
        return None

    def put(axes: Axes, _colour: str, cell: int, x: float, _places: int) -> None:
        width = 0.8 / len(found[cell])
        few = len(found[cell]) <= len(COLOURS)
        for flow, (name, one) in enumerate(found[cell].items()):
            place = x + (flow - (len(found[cell]) - 1) / 2) * width
            colour, label = (COLOURS[flow], name) if few else (COLOURS[0], None)
            bar(axes, place, width * 0.9, one, colour, label=label)

    def under(cell: int) -> str:
        fair = results.cells[cell].estimate("fairness")
        return f"J = {fair.mean:.3f}" if fair else ""

    title = "goodput of each flow, mean and 95 % interval; J: Jain's index of fairness"
    plot = bars(of_results(results), title, "goodput (kbit/s)", found, put, under)
    return draw_plot(plot, subject=results.title)


def of_flows(cell: Cell) -> dict[str, Estimate]:
    """Goodput per flow, if any run has it, or least, median and most of many flows."""
    found: dict[str, Estimate] = {}
    for word in ("least", "median", "most"):
        known = cell.estimate(f"flows.{word}.goodput_kbps")
        if known is not None:
            found[f"{word} of the flows"] = known
    if found:
        return found
    for flow in flows_of(cell.values.names):
        if (one := cell.estimate(f"flows.{flow}.goodput_kbps")) is not None:
            found[f"flow {flow}"] = one
    return found
