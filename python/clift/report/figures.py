"""The plots of a campaign, one file per plot."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial

import pyarrow as pa
from matplotlib.figure import Figure

from clift.campaign.repairs import MOST_UNITS, UNITS_S, is_live, unit_of
from clift.campaign.results import DRAWN_CELLS, Results
from clift.report import comparison, erasures, flows, panels, plots, units
from clift.report.page.content import MOST_FLOWS
from clift.report.page.study import of_results
from clift.report.panels import MOST_PANELS
from clift.scenario import Scenario
from clift.trace import PhyTrace

# Names of plots in a results folder that differ from those beside a page.
_NAMES = {"rate": "goodput", "window": "cwnd"}


def draw(
    results: Results, scenario: Scenario, table: Callable[[str], pa.Table]
) -> Iterator[tuple[str, Figure]]:
    """Names and pictures, in order.

    Args:
        results: The campaign; without a finished run nothing is drawn.
        scenario: Its scenario.
        table: Its tables, by name.
    """
    if not results.done:
        return
    results = results.shown(DRAWN_CELLS)
    compared = results.comparisons()
    metrics = dict.fromkeys([cell.primary for cell in results.cells])
    metrics |= dict.fromkeys(value.metric for value in compared)
    for name in metrics:
        if any(cell.estimate(name) is not None for cell in results.cells):
            yield f"comparison-{name.replace('.', '-')}", comparison.draw(results, name)
    tables = {name: table(name) for name in ("series", "delays", "sequence")}
    if (figure := flows.draw(results)) is not None:
        yield "flows", figure
    study = of_results(results, tables)
    most = max(
        (len(cell.first.summary()["flows"]) for cell in results.drawn if cell.first), default=0
    )
    for name, plot in plots.of_first_runs(study, partial(_delays, results), most):
        name = _NAMES.get(name, name)
        # Every cell has a time-sequence; of the others, the first conditions show enough.
        pages = range(0, len(plot.panels), MOST_PANELS if name == "sequence" else sys.maxsize)
        for number, first in enumerate(pages, 1):
            page = plot._replace(panels=plot.panels[first : first + pages.step])
            of_page = name if number == 1 else f"{name}-{number}"
            yield of_page, panels.draw(page, subject=results.title)
    yield from _units(results)
    traces = _traces(results, scenario)
    if traces:
        yield "erasures", erasures.draw(traces, results.title)


def _delays(results: Results) -> plots.Curves:
    """One-way delays of the first flows of each cell over time."""
    found: plots.Curves = {}
    for number in range(len(results.drawn)):
        log = results.segments(number)
        if log is not None:
            for flow, delays in list(log.delays.items())[:MOST_FLOWS]:
                several = len(log.delays) > 1
                found[number, flow if several else None] = delays.time_s, delays.median_ms
    return found


def _units(results: Results) -> Iterator[tuple[str, Figure]]:
    """A time-sequence plot for each of the first cells with a live link and a loss.

    Cells whose plot would repeat an earlier one are skipped.
    """
    drawn: set[bytes] = set()
    for index, cell in enumerate(results.drawn):
        if len(drawn) == MOST_UNITS:
            return
        if cell.first is None or not is_live(cell.first):
            continue
        title = ", ".join([results.title, *(cell.name(axis) for axis in cell.labels)])
        log = cell.first.units(UNITS_S)
        figure = units.draw(log, cell.first.events(), title, unit_of(cell.first, log))
        if figure is not None and (shown := units.shown(figure)) not in drawn:
            drawn.add(shown)
            yield f"units-{index}", figure


def _traces(results: Results, scenario: Scenario) -> list[tuple[str, PhyTrace]]:
    """The different PHY traces of the cells' first runs, named by the labels that differ.

    Only the first link counts.
    """
    users: dict[int, list[dict[str, str]]] = {}
    traces: dict[int, PhyTrace] = {}
    for cell, made in zip(results.drawn, scenario.cells(), strict=False):
        phy = None if cell.first is None else made.replication(0).phy_trace()
        if phy is not None and not phy.d_ns.all():
            # Cells over one trace share its arrays in memory.
            place = int(phy.t_ns.__array_interface__["data"][0])
            traces.setdefault(place, phy)
            users.setdefault(place, []).append(cell.labels)
    return [
        (_common(users[place], len(users)), phy)
        for place, phy in list(traces.items())[: erasures.MOST_TRACES]
    ]


def _common(labels: list[dict[str, str]], traces: int) -> str:
    """The labels that all users of a trace share; empty if there is only one trace."""
    if traces == 1:
        return ""
    shared = set(labels[0].items()).intersection(*(set(other.items()) for other in labels[1:]))
    return ", ".join(label for axis, label in labels[0].items() if (axis, label) in shared)
