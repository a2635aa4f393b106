"""Measured and printed values of one metric as bars."""

from __future__ import annotations

from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from clift.campaign.metrics import metric
from clift.campaign.results import Cell, Results
from clift.campaign.statistics import Estimate
from clift.report.page.study import of_results
from clift.report.panels import draw as draw_plot
from clift.report.plots import bar, bars

# Width in inches that a bar needs for a horizontal number.
_NUMBER = 0.65
# Share of a panel's height that a number takes, horizontal and upright.
_HEIGHTS = (0.15, 0.25)


def draw(results: Results, name: str) -> Figure:
    """Means with 95 % intervals of one metric, as bars; printed values as diamonds.

    If only some runs of a cell have the metric (an unfinished file), the bar shows their number. If
    no run has it, the bar stays empty.

    Args:
        results: The campaign.
        name: The metric.
    """
    shown = metric(name)
    printed = {
        value.cell: value.printed * shown.scale
        for value in results.comparisons()
        if value.metric == name
    }
    cells = _worth_drawing(results, name)
    title = f"{shown.title} (mean and 95 % interval)" + (
        ", printed values as diamonds" if printed else ""
    )
    found = [one for cell in cells if (one := results.cells[cell].estimate(name))]
    top = max([*(_ends(one, shown.scale)[1] for one in found), *printed.values()], default=0.0)

    def put(axes: Axes, colour: str, cell: int, x: float, places: int) -> None:
        is_narrow = axes.bbox.width < _NUMBER * rcParams["figure.dpi"] * places
        _bar(axes, x, results.cells[cell], name, colour, top, is_narrow)
        if cell in printed:
            axes.plot(x + 0.38, printed[cell], "D", color="black", markersize=6, label="printed")
        axes.set_xlim(-0.6, places - 0.3)

    def under(cell: int) -> str:
        return _part(results.cells[cell], name)

    plot = bars(of_results(results), title, shown.heading, cells, put, under)
    return draw_plot(plot, subject=results.title)


def _bar(
    axes: Axes, x: float, cell: Cell, name: str, colour: str, top: float, is_narrow: bool
) -> None:
    found, shown = cell.estimate(name), metric(name)
    if found is None:
        return
    value = found.mean * shown.scale
    bar(axes, x, 0.62, found, colour, shown.scale)
    # The number stands beside no line: below the interval if there is room, or above it.
    low, high = _ends(found, shown.scale)
    height = _HEIGHTS[int(is_narrow)] * top
    inside = low > height
    if not inside:
        axes.update_datalim([(x, high + height)])
    axes.annotate(
        f"{value:.3g}" if value < 1000 else f"{value:.0f}",
        (x, 0 if inside else high),
        (0, 4),
        textcoords="offset points",
        ha="center",
        rotation=90 if is_narrow else 0,
        color="white" if inside else "black",
    )


def _ends(found: Estimate, scale: float) -> tuple[float, float]:
    """The lower and the upper end of the interval; the mean twice if there is none."""
    below, above = found.reach or (0.0, 0.0)
    return (found.mean - max(0.0, below)) * scale, (found.mean + max(0.0, above)) * scale


def _part(cell: Cell, name: str) -> str:
    """How many runs have the metric, if not all do; as in the table."""
    found, done = len(cell.column(name)), len(cell.values)
    if not done:
        return "no run"
    if found == done:
        return ""
    return f"{found} of {done}\n{'finished' if name.startswith('completion') else 'runs'}"


def _worth_drawing(results: Results, name: str) -> list[int]:
    """Cells that the metric judges or that have a printed value, and their neighbours."""
    wanted = {value.cell for value in results.comparisons() if value.metric == name}
    tasks = {results.cells[index].is_transfer for index in wanted}
    return [
        number
        for number, cell in enumerate(results.cells)
        if cell.primary == name or cell.is_transfer in tasks
    ]
