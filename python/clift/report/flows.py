"""Goodput of the flows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clift.campaign.metrics import flows_of
from clift.campaign.results import Cell, Results
from clift.report.style import COLOURS, Panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from clift.campaign.statistics import Estimate


def draw(results: Results) -> Figure | None:
    """Draw mean goodput per flow as bars with 95 % intervals, and Jain's index of fairness.

    With many flows only three are drawn: least, median and most.

    Args:
        results: The campaign.

    Returns:
        The picture; None if no cell has several flows.
    """
    cells = [cell for cell in results.cells if len(of_flows(cell)) > 1]
    if not cells:
        return None
    title = "goodput of each flow, mean and 95 % interval; J: Jain's index of fairness"
    panels = Panels(results, title, cells, share_y=True)
    for axes, members in panels:
        ticks = []
        for x, (label, _, _, cell) in enumerate(members):
            found = of_flows(cell)
            width = 0.8 / len(found)
            for flow, (name, one) in enumerate(found.items()):
                few = len(found) <= len(COLOURS)
                place = x + (flow - (len(found) - 1) / 2) * width
                axes.bar(
                    place,
                    one.mean,
                    width * 0.9,
                    color=COLOURS[flow] if few else COLOURS[0],
                    label=name if few else None,
                    alpha=0.85,
                )
                if reach := one.reach:
                    ends = [[end] for end in reach]
                    axes.errorbar(place, one.mean, ends, color="black", capsize=3, lw=1.0)
            fair = cell.estimate("fairness")
            ticks.append("\n".join(filter(None, [label, f"J = {fair.mean:.3f}" if fair else ""])))
        axes.set_xticks(range(len(members)), ticks)
        axes.grid(visible=False, axis="x")
        panels.tick_lines = max(panels.tick_lines, *(tick.count("\n") + 1 for tick in ticks))
    panels.from_zero()
    panels.label("", "goodput (kbit/s)")
    panels.legend()
    return panels.figure


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
