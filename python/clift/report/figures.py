"""The plots of a campaign, one file per plot."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from clift.campaign.repairs import MOST_UNITS, UNITS_S, is_live, unit_of
from clift.campaign.results import DRAWN_CELLS, Results
from clift.report import comparison, delay_cdf, erasures, flows, lines, sequence, units
from clift.scenario import Scenario
from clift.trace import PhyTrace

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure


def draw(results: Results, scenario: Scenario, series: pa.Table) -> Iterator[tuple[str, Figure]]:
    """Names and pictures, in order.

    Args:
        results: The campaign; without a finished run nothing is drawn.
        scenario: Its scenario.
        series: Its time series.
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
    over_time = lines.Series(series)
    pictures = {
        "flows": partial(flows.draw, results),
        "goodput": partial(lines.goodput, results, over_time),
        "queue": partial(lines.queue, results, over_time),
        "delay": partial(lines.delay, results),
        "cwnd": partial(lines.window, results, over_time),
    }
    for name, make in pictures.items():
        if (figure := make()) is not None:
            yield name, figure
    for number, figure in enumerate(sequence.draw(results), 1):
        yield "sequence" if number == 1 else f"sequence-{number}", figure
    yield "delay-cdf", delay_cdf.draw(results)
    yield from _units(results)
    traces = _traces(results, scenario)
    if traces:
        yield "erasures", erasures.draw(traces, results.title)


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
