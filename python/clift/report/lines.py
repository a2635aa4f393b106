"""Plots over time: goodput and link capacity, queue, delay, congestion window."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from clift.campaign.conclusion import coloured_axis, conditions
from clift.campaign.results import Cell, Results
from clift.report.capacity import capacity
from clift.report.style import DASHES, Panels

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    _Floats = NDArray[np.float64]

# Panels share a scale unless all of them would fill less than this share of it.
_ALIKE = 4
# Number of distinct dash patterns.
_MOST_FLOWS = len(DASHES)
# Minimum interval of goodput and capacity, in segments; shorter ones would show single segments.
_INTERVALS = 80
_SEGMENTS = 8
# By this factor goodput stands out above the slots received.
_ABOVE = 1.1


class Line(NamedTuple):
    """A line of a cell: its flow (None: all flows) and its points."""

    flow: int | None
    x: _Floats
    y: _Floats


Lines = dict[int, list[Line]]
"""Lines of each cell, by the cell's number."""


class Series:
    """Time series of a campaign, by cell.

    Args:
        series: Table with the columns of `series.parquet`.
    """

    def __init__(self, series: pa.Table) -> None:
        self._columns = {
            name: np.asarray(series.column(name))
            for name in (
                *("cell", "flow", "time_s", "cwnd_packets", "queue_packets", "goodput_kbps"),
            )
            if name in series.column_names
        }

    def lines(self, column: str, of_flows: bool = True) -> Lines:
        """A column over time, for each flow of each cell or for its first flow only."""
        found: Lines = {}
        cell, flow = self._columns["cell"], self._columns.get("flow", np.empty(0))
        for number in np.unique(cell):
            flows = np.unique(flow[cell == number])[: _MOST_FLOWS if of_flows else 1]
            found[int(number)] = [
                Line(
                    int(one) if of_flows and flows.size > 1 else None,
                    self._columns["time_s"][(cell == number) & (flow == one)],
                    self._columns[column][(cell == number) & (flow == one)],
                )
                for one in flows
            ]
        return found


def goodput(results: Results, series: Series) -> Figure | None:
    """Goodput of every flow in the first run of each cell, with the capacity of the link."""
    found = {
        number: [
            Line(one.flow, *_averaged(one.x, one.y, _intervals(results.cells[number])))
            for one in lines
        ]
        for number, lines in series.lines("goodput_kbps").items()
    }
    title = "goodput, first run (grey: received slots of the link)"
    carried = {
        number: _to_the_ends(Line(None, lines[0].x, rates))
        for number, lines in found.items()
        if lines and (rates := _capacity(results.cells[number], lines[0].x)) is not None
    }
    is_above = any(
        max(line.y.max(initial=0) for line in found[number]) > _ABOVE * slots.y.max(initial=0)
        for number, slots in carried.items()
    )
    for condition in conditions(results, coloured_axis(results)).values():
        _keep_longest(results, condition, carried)
    if not carried:
        title = "goodput, first run"
    elif is_above:
        title += "; above them: data that waited for a repair"
    return _draw(results, title, "goodput (kbit/s)", found, carried)


def queue(results: Results, series: Series) -> Figure | None:
    """Packets waiting at the first link in the first run of each cell."""
    return _draw(
        results,
        "queue of the first link, first run",
        "queue (packets)",
        series.lines("queue_packets", of_flows=False),
    )


def delay(results: Results) -> Figure | None:
    """One-way delays of every flow's segments in the first run of each cell."""
    found: Lines = {}
    for number in range(len(results.drawn)):
        log = results.segments(number)
        if log is not None:
            several = len(log.delays) > 1
            found[number] = [
                Line(flow if several else None, delays.time_s, delays.median_ms)
                for flow, delays in list(log.delays.items())[:_MOST_FLOWS]
            ]
    return _draw(
        results,
        "one-way delay of segments, median over each 1 % of the first run",
        "one-way delay (ms)",
        found,
    )


def window(results: Results, series: Series) -> Figure | None:
    """The congestion window of every flow in the first run of each cell."""
    return _draw(
        results, "congestion window, first run", "window (packets)", series.lines("cwnd_packets")
    )


def _draw(
    results: Results, title: str, unit: str, found: Lines, behind: dict[int, Line] | None = None
) -> Figure | None:
    """One panel per condition; None if no value is above zero."""
    behind = behind or {}
    tops = {
        number: max((float(np.nanmax(one.y, initial=0)) for one in lines), default=0.0)
        for number, lines in found.items()
    }
    if not any(top > 0 for top in tops.values()):
        return None
    for number, line in behind.items():
        tops[number] = max(tops[number], float(line.y.max(initial=0)))
    number_of = {id(cell): number for number, cell in enumerate(results.cells)}
    peaks = [
        max((tops.get(number_of[id(cell)], 0.0) for cell in cells), default=0.0)
        for cells in conditions(results, coloured_axis(results)).values()
    ]
    drawn = [peak for peak in peaks if peak > 0]
    flows = max(
        (len(cell.first.summary()["flows"]) for cell in results.drawn if cell.first), default=0
    )
    if flows > _MOST_FLOWS and any(one.flow is not None for of in found.values() for one in of):
        title += f"; the first {_MOST_FLOWS} of {flows} flows"
    panels = Panels(results, title, share_y=max(drawn) <= _ALIKE * min(drawn))
    for axes, cells in panels:
        _behind(axes, [behind[n] for *_, cell in cells if (n := number_of[id(cell)]) in behind])
        for label, colour, dashes, cell in cells:
            for line in found.get(number_of[id(cell)], ()):
                several = line.flow is not None
                name = f"flow {line.flow}" if several else ""
                axes.plot(
                    line.x,
                    line.y,
                    DASHES[line.flow or 0] if several else dashes,
                    color=colour,
                    label=", ".join(part for part in (label, name) if part),
                    linewidth=1.3,
                    marker="." if line.x.size == 1 else "",
                )
        axes.set_xlim(left=0)
    panels.from_zero()
    panels.label("time (s)", unit)
    panels.legend()
    return panels.figure


def _behind(axes: Axes, lines: list[Line]) -> None:
    """Capacity for each alternative."""
    for number, line in enumerate(lines):
        if number == 0:
            axes.fill_between(
                line.x, line.y, step="mid", color="0.88", linewidth=0, label="capacity", zorder=0
            )
        else:
            axes.step(line.x, line.y, where="mid", color="0.6", linewidth=0.8, zorder=1)


def _keep_longest(results: Results, cells: list[Cell], carried: dict[int, Line]) -> None:
    """Of alternatives over one trace, keep the capacity of the longest run."""
    longest: dict[int, int] = {}
    numbers = {id(cell): number for number, cell in enumerate(results.cells)}
    for number in (numbers[id(cell)] for cell in cells):
        first = results.cells[number].first
        if number not in carried or first is None or (phy := first.scenario.phy_trace()) is None:
            continue
        # Cells over one trace share its arrays in memory.
        place = int(phy.d_ns.__array_interface__["data"][0])
        other = longest.setdefault(place, number)
        if carried[number].x[-1] > carried[other].x[-1]:
            longest[place] = number
        if other != number:
            del carried[other if longest[place] == number else number]


def _intervals(cell: Cell) -> int:
    """Number of intervals of the first run."""
    flows = [] if cell.first is None else cell.first.summary()["flows"]
    segments = sum(flow["segments_sent"] for flow in flows) / max(1, len(flows))
    return int(min(_INTERVALS, max(10, segments / _SEGMENTS)))


def _averaged(x: _Floats, y: _Floats, intervals: int) -> tuple[_Floats, _Floats]:
    """Means over longer intervals, at their middles; a sample describes the time before it."""
    per = max(1, (x.size - 1) // intervals)
    count = (x.size - 1) // per
    if count < 1:
        return x, y
    means: _Floats = y[1 : 1 + count * per].reshape(count, per).mean(axis=1)
    ends = x[per : 1 + count * per : per]
    return ends - (x[per] - x[0]) / 2, means


def _to_the_ends(line: Line) -> Line:
    """Extend a line from the start of the first interval to the end of the last."""
    half = (line.x[1] - line.x[0]) / 2
    x = np.concatenate([line.x[:1] - half, line.x, line.x[-1:] + half])
    return Line(line.flow, x, np.concatenate([line.y[:1], line.y, line.y[-1:]]))


def _capacity(cell: Cell, middles_s: _Floats) -> _Floats | None:
    if cell.first is None or middles_s.size < 2:
        return None
    width = middles_s[1] - middles_s[0]
    return capacity(cell.first, np.append(middles_s - width / 2, middles_s[-1] + width / 2))
