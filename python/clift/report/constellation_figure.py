"""Picture of `clift constellation`: routes on a map, and the delay."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from clift._arrays import Floats
from clift.constellation import Delays, Grid, Station, Walker
from clift.constellation.ground import Place
from clift.report.style import COLOURS, Picture


def figure(
    constellation: Walker,
    table: Delays,
    places: tuple[Place, Place],
    start_s: float,
) -> Figure:
    """Draw delay over time, and the routes before and after the largest route change.

    Args:
        constellation: The satellites.
        table: Delays with their routes.
        places: The two end points.
        start_s: Time of the table's first row on the constellation's clock.
    """
    picture = Picture(figsize=(11.0, 7.6), layout="constrained")
    grid = picture.add_gridspec(2, 2, height_ratios=(1.0, 1.15))
    changes = sorted(table.changes(), key=lambda change: -abs(change.step_ms))
    rows = [0, len(table) - 1]
    if changes:
        after = int(np.searchsorted(table.time_s, changes[0].time_s))
        rows = [after - 1, after]
    for column, row in enumerate(rows):
        axes = picture.add_subplot(grid[0, column])
        _map(axes, constellation, table, row, places, start_s)
    _delay(picture.add_subplot(grid[1, :]), table)
    ends = " to ".join(str(Station.of(place)) for place in places)
    picture.suptitle(
        f"{constellation.count} satellites at {constellation.altitude_km:g} km: {ends}", fontsize=13
    )
    return picture


def _map(
    axes: Axes,
    constellation: Walker,
    table: Delays,
    row: int,
    places: tuple[Place, Place],
    start_s: float,
) -> None:
    time = start_s + float(table.time_s[row])
    below = constellation.below(time)
    links = Grid(constellation).pairs_up(constellation.positions(time))
    _lines(axes, [below[pair] for pair in links], color="0.8", linewidth=0.7, zorder=1)
    axes.plot(below[:, 1], below[:, 0], "o", color="0.55", markersize=3, zorder=2)
    stations = [Station.of(place) for place in places]
    ground = [(station.latitude_deg, station.longitude_deg) for station in stations]
    assert table.routes is not None  # made by `delays`
    way = np.array([ground[0], *below[list(table.routes[row])], ground[1]])
    hops = [np.array(hop) for hop in pairwise(way)]
    _lines(axes, hops, color=COLOURS[0], linewidth=2.2, zorder=3)
    axes.plot(way[1:-1, 1], way[1:-1, 0], "o", color=COLOURS[0], markersize=5, zorder=4)
    axes.plot(way[[0, -1], 1], way[[0, -1], 0], "^", color=COLOURS[1], markersize=9, zorder=5)
    axes.set_title(
        f"{table.time_s[row]:g} s: {len(table.routes[row])} satellites, "
        f"{table.delay_ms[row]:.1f} ms",
        fontsize=11,
    )
    axes.set(xlim=(-180, 180), ylim=(-90, 90), xlabel="longitude (deg)", ylabel="latitude (deg)")
    axes.set_xticks(range(-180, 181, 60))
    axes.set_yticks(range(-90, 91, 30))
    axes.grid(visible=True, alpha=0.2)


def _lines(axes: Axes, pairs: list[Floats], **look: Any) -> None:
    """Connect pairs of places on the map, split where a line crosses the map's edge."""
    pieces = []
    for one, other in pairs:
        turn = np.array([0.0, 360.0 * round(float(other[1] - one[1]) / 360)])
        pieces.append([one[::-1], (other - turn)[::-1]])
        if turn.any():
            pieces.append([(one + turn)[::-1], other[::-1]])
    axes.add_collection(LineCollection(pieces, **look), autolim=False)


def _delay(axes: Axes, table: Delays) -> None:
    values = table.delay_ms.copy()
    changes = table.changes()
    starts = [0, *(int(np.searchsorted(table.time_s, change.time_s)) for change in changes)]
    # One line per route, so that a jump stays visible.
    for number, (start, end) in enumerate(zip(starts, [*starts[1:], len(table)], strict=True)):
        look = COLOURS[number % 2]
        axes.plot(table.time_s[start:end], values[start:end], color=look, linewidth=2)
    for kind, dash in (("handover", "--"), ("route", ":")):
        for number, change in enumerate(one for one in changes if one.kind == kind):
            label = {"handover": "other satellite above an end", "route": "other way between"}
            axes.axvline(
                change.time_s,
                color="0.5",
                linestyle=dash,
                linewidth=1,
                label=label[kind] if number == 0 else None,
            )
    axes.set(
        xlabel="time (s)", ylabel="one-way delay (ms)", xlim=(table.time_s[0], table.time_s[-1])
    )
    axes.grid(visible=True, alpha=0.3)
    if changes:
        axes.legend(frameon=False, loc="best")
