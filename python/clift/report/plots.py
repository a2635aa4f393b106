"""What the plots of a study show, in any style: lines in panels, one panel per condition."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter
from numpy.typing import NDArray

from clift._arrays import Floats
from clift._clift import ACKNOWLEDGED, GONE, SENT, SENT_AGAIN
from clift.campaign.statistics import Estimate
from clift.report.page.content import MOST_FLOWS, distributions, over_time
from clift.report.page.study import Study
from clift.report.style import COLOURS, marks

Put = Callable[[Axes, dict[str, Any]], object]
"""Draws a line: into a panel, with its colour, dashes, marker and name."""
Points = tuple[Floats, Floats]
Curves = dict[tuple[int, int | None], Points]
"""Points of cells and flows; None for all flows of a cell."""

# Panels share a scale unless all of them would fill less than this share of it.
_ALIKE = 4
# By this factor goodput stands out above the slots received.
_ABOVE = 1.1
# Kind of event, its name, its marker, colour and area.
_MARKS = (
    (SENT, "sent", ".", 0, 22),
    (SENT_AGAIN, "retransmitted", "x", 1, 26),
    (GONE, "lost", "v", 6, 24),
)


class Line(NamedTuple):
    """A line of a panel: its name, numbers of its colour and dashes, and its drawing function."""

    name: str
    colour: int
    dashes: int
    put: Put


class Panel(NamedTuple):
    """A panel: its title, its cells and its lines."""

    title: str
    cells: list[int]
    lines: list[Line]


class Plot(NamedTuple):
    """A plot in any style.

    Args:
        title: What it shows.
        x: Title of the abscissa.
        y: Title of the ordinate.
        panels: Its panels.
        share_y: Whether all panels share the vertical scale.
        from_zero: Whether the ordinate starts at zero.
        ticks: Names of the places 0, 1, ... of each panel; None for a scale.
        finish: Last change of a panel.
        columns: Panels per row, if not by their number.
    """

    title: str
    x: str
    y: str
    panels: list[Panel]
    share_y: bool = False
    from_zero: bool = False
    ticks: list[list[str]] | None = None
    finish: Callable[[Axes], object] = id
    columns: int | None = None


def grouped(
    study: Study,
    items: Iterable[tuple[int, int | None]],
    line: Callable[[list[int], int | None, int, int], Put],
    without: int | None = None,
) -> list[Panel]:
    """One panel per condition, with a line per alternative and flow.

    Args:
        study: The study.
        items: Cells and flows; None for all flows of a cell.
        line: Drawing function by cells, flow, place of the line and number of lines.
        without: An axis whose cells are on one line.
    """
    names = [axis.name for axis in study.axes]
    free = [axis for axis in study.varying if axis != without]
    coloured = None if study.compared is None else names.index(study.compared)
    if coloured not in free:
        coloured = next(iter(free), None)
    others = [axis for axis in free if axis != coloured]
    groups: dict[tuple[int, ...], dict[tuple[int, int | None], list[int]]] = {}
    for cell, flow in items:
        key = tuple(int(study.places[axis][cell]) for axis in others)
        look = 0 if coloured is None else int(study.places[coloured][cell])
        groups.setdefault(key, {}).setdefault((look, flow), []).append(cell)
    panels = []
    for key, lines in groups.items():
        title = ", ".join(
            study.axes[axis].names[place] for axis, place in zip(others, key, strict=True)
        )
        made = []
        for number, ((look, flow), cells) in enumerate(lines.items()):
            label = "" if coloured is None else study.axes[coloured].names[look]
            parts = (label, "" if flow is None else f"flow {flow}")
            name = ", ".join(part for part in parts if part)
            put = line(cells, flow, number, len(lines))
            made.append(Line(name, look, look if flow is None else flow, put))
        cells = list(dict.fromkeys(cell for members in lines.values() for cell in members))
        panels.append(Panel(title, cells, made))
    return panels


def bars(
    study: Study,
    title: str,
    y: str,
    cells: Iterable[int],
    put: Callable[[Axes, str, int, float, int], object],
    under: Callable[[int], str],
) -> Plot:
    """A bar, or several, for each cell.

    Args:
        study: The study.
        title: What the plot shows.
        y: Title of the ordinate.
        cells: The cells.
        put: Draws a cell's bars: panel, colour, cell, place, number of places.
        under: Text under the name of a cell.
    """

    def line(cells: list[int], _: int | None, place: int, places: int) -> Put:
        def draw(axes: Axes, look: dict[str, Any]) -> None:
            put(axes, look["color"], cells[0], place, places)
            axes.grid(visible=False, axis="x")
            axes.set_axisbelow(True)

        return draw

    panels = grouped(study, ((cell, None) for cell in cells), line)
    ticks = [
        [
            f"{line.name}\n{under(cell)}".strip()
            for line, cell in zip(panel.lines, panel.cells, strict=True)
        ]
        for panel in panels
    ]
    return Plot(title, "", y, panels, share_y=True, from_zero=True, ticks=ticks)


def bar(
    axes: Axes,
    x: float,
    width: float,
    estimate: Estimate,
    colour: str,
    scale: float = 1.0,
    label: str | None = None,
) -> None:
    """A mean as a bar, with its interval."""
    axes.bar(x, estimate.mean * scale, width, color=colour, label=label, alpha=0.85)
    if reach := estimate.reach:
        ends = [[max(0.0, end * scale)] for end in reach]
        axes.errorbar(x, estimate.mean * scale, ends, color="black", capsize=4, lw=1.2)


def _curves(study: Study, found: Curves, steps: bool = False) -> list[Panel]:
    """A curve per cell and flow."""

    def line(cells: list[int], flow: int | None, _place: int, _lines: int) -> Put:
        x, y = found[cells[0], flow]
        marker = "." if x.size == 1 else None
        kind = "steps-post" if steps else "default"
        return lambda axes, look: axes.plot(x, y, **(look | {"marker": marker, "drawstyle": kind}))

    return grouped(study, found, line)


def of_first_runs(
    study: Study, delays: Callable[[], Curves] = dict, flows: int = 0
) -> Iterator[tuple[str, Plot]]:
    """Plots of the first run of each cell, with their names; one without data has no panels.

    Args:
        study: The study.
        delays: The one-way delays over time, which no table has.
        flows: Number of flows.
    """
    found: dict[str, Curves] = {"rate": {}, "window": {}, "queue": {}}
    behind: dict[int, Points] = {}
    drawn = list(over_time(study))
    several = {cell for cell, flow, _ in drawn if flow}
    for cell, flow, lines in drawn:
        found["rate"][cell, flow if cell in several else None] = lines["rate"]
        found["window"][cell, flow if cell in several else None] = lines["window"]
        found["queue"].setdefault((cell, None), lines["queue"])
        if "capacity" in lines:
            behind.setdefault(cell, lines["capacity"])
    first = "first run"
    if flows > MOST_FLOWS:
        first += f"; the first {MOST_FLOWS} of {flows} flows"
    yield "rate", _in_time(study, f"goodput, {first}", "goodput (kbit/s)", found["rate"], behind)
    title = "queue of the first link, first run"
    yield "queue", _in_time(study, title, "queue (packets)", found["queue"])
    title = f"one-way delay of segments, median over each 1 % of the {first}"
    yield "delay", _in_time(study, title, "one-way delay (ms)", delays())
    title = f"congestion window, {first}"
    yield "window", _in_time(study, title, "window (packets)", found["window"])
    yield "sequence", _sequence(study)
    yield "delay-cdf", _distributions(study)


def _distributions(study: Study) -> Plot:
    """The distribution of one-way delays in the first run of each cell."""
    found: Curves = {(cell, None): (x, y) for cell, x, y in distributions(study)}
    longest = max((x[-1] for x, _ in found.values()), default=0)
    # A few very late segments would compress the others against the left edge.
    is_wide = longest > 10 * min((x[0] for x, _ in found.values()), default=0)

    def finish(axes: Axes) -> None:
        axes.set_ylim(0, 1.02)
        if is_wide:
            _logarithmic(axes)

    title = "one-way delay of segments (first sent to first arrived), first run"
    x = f"one-way delay (ms{', log scale' if is_wide else ''})"
    panels = _curves(study, found, steps=True)
    return Plot(title, x, "share of segments", panels, finish=finish)


def _logarithmic(axes: Axes) -> None:
    """Tick labels at 1, 2 and 5 of each power of ten, or fewer, depending on the space."""
    axes.set_xscale("log")
    least, most = axes.dataLim.intervalx
    ratio = most / least
    subs = (1, 2, 5) if ratio < 100 else (1, 3) if ratio < 1000 else (1,)
    axes.xaxis.set_major_locator(LogLocator(subs=subs))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())


def _in_time(
    study: Study, title: str, y: str, found: Curves, behind: dict[int, Points] | None = None
) -> Plot:
    """The first flows of each cell over time, in its first run.

    Args:
        study: The study.
        title: What the plot shows.
        y: Title of the ordinate.
        found: The curves.
        behind: Capacity of each cell's link.
    """
    behind = behind or {}
    tops: dict[int, float] = {}
    for (cell, _), (_, values) in found.items():
        tops[cell] = max(tops.get(cell, 0.0), float(np.nanmax(values, initial=0)))
    panels = _curves(study, found) if any(tops.values()) else []
    if behind:
        title += " (grey: received slots of the link)"
    most = {cell: float(values.max()) for cell, (_, values) in behind.items()}
    if any(tops[cell] > _ABOVE * top for cell, top in most.items()):
        title += "; above them: data that waited for a repair"
    tops |= {cell: max(tops[cell], top) for cell, top in most.items()}
    peaks = [max(tops[cell] for cell in panel.cells) for panel in panels]
    peaks = [peak for peak in peaks if peak > 0] or [0.0]

    return Plot(
        title,
        "time (s)",
        y,
        [panel._replace(lines=[*_behind(panel, behind), *panel.lines]) for panel in panels],
        share_y=max(peaks) <= _ALIKE * min(peaks),
        from_zero=True,
        finish=lambda axes: axes.set_xlim(left=0),
    )


def _behind(panel: Panel, found: dict[int, Points]) -> list[Line]:
    """Capacity for each alternative; of those over one trace, that of the longest run."""
    kept: list[Points] = []
    lines = []
    for x, y in sorted(
        (found[one] for one in panel.cells if one in found), key=lambda line: -float(line[0][-1])
    ):
        half = (x[-1] - x[0]) / 2 / max(1, x.size - 1)
        edges = np.append(x - half, x[-1] + half)
        carried = np.append(0, np.cumsum(y * 2 * half))
        if any(np.all(abs(np.interp(edges, *other) - carried) <= y.max() * half) for other in kept):
            continue
        look: dict[str, Any] = {"fill": True, "color": "0.88", "label": "capacity", "zorder": 0}
        if kept:
            look = {"baseline": None, "color": "0.6", "linewidth": 0.8, "zorder": 1}
        kept.append((edges, carried))

        def put(axes: Axes, _: dict[str, Any], stairs: Any = (y, edges), look: Any = look) -> None:
            axes.stairs(*stairs, **look)

        lines.append(Line("", 0, 0, put))
    return lines


def _sequence(study: Study) -> Plot:
    """Segments of the first flow around the loss with the longest wait; one panel per cell."""
    panels = []
    for cell, log in study.of_cells("sequence"):

        def put(axes: Axes, _: dict[str, Any], log: dict[str, Any] = log) -> None:
            _segments(axes, log["time_s"], log["kind"], log["seq"])
            axes.ticklabel_format(useOffset=False)
            if not log["around_a_loss"][0]:
                said = "start of the run: nothing was lost"
                axes.text(0.02, 0.97, said, va="top", transform=axes.transAxes)

        title = study.name(cell) if study.varying else ""
        panels.append(Panel(title, [cell], [Line("", 0, 0, put)]))
    # One row per condition.
    last = study.axes[-1] if study.axes else None
    together = len(last.labels) if last is not None and last.name == study.compared else 0
    columns = together if 3 <= together <= 4 else None
    title = "time-sequence at the longest wait for an ACK, first run"
    return Plot(title, "time (s)", "sequence number (kB)", panels, columns=columns)


def _segments(
    axes: Axes,
    time_s: Floats,
    kind: NDArray[np.integer],
    seq: NDArray[np.number],
) -> None:
    """Draw segments sent, retransmitted, lost and acknowledged, by sequence number in kB."""
    size = rcParams["lines.markersize"] / 6
    for what, name, marker, colour, area in _MARKS:
        here, look = kind == what, (name, marker, COLOURS[colour], size * area)
        marks(axes, time_s[here], seq[here] / 1e3, look, 1.0, 2 if what == SENT else 3)
    known = kind == ACKNOWLEDGED
    line = axes.step(time_s[known], seq[known] / 1e3, where="post", color=COLOURS[2])
    line[0].set_label("acknowledged")
