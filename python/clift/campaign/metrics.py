"""Metrics of a run: the numbers of its summary, and values derived from them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, cast

import clift._clift as _clift
from clift.simulation import Run

# A key of flows that begin at drawn or listed times.
_ARRIVALS = re.compile(r"flow\.[^.]+\.arrivals\.type")
# What tables have of many flows, instead of each.
_RANGES = ("least", "median", "most", "sum")


@dataclass(frozen=True, slots=True)
class Metric:
    """How a metric is shown: a row of the core's catalogue.

    Args:
        title: What it is called.
        unit: The unit that it is shown in; values of those in `%` are shares, 0 to 1.
        better: Whether less or more of it is better; None: it does not say.
    """

    title: str
    unit: str = ""
    better: Literal["less", "more"] | None = None

    @property
    def scale(self) -> float:
        """Factor from a value to the displayed number."""
        return 100.0 if self.unit == "%" else 1.0

    @property
    def heading(self) -> str:
        """Title, with the unit in parentheses if it has one."""
        return f"{self.title} ({self.unit})" if self.unit else self.title


_CATALOG = {
    (place, name): Metric(title, unit, cast(Literal["less", "more"] | None, better))
    for places, name, title, unit, better, _ in _clift.metrics()
    for place in places
}
# Primary metrics of tasks that have their own.
_TASKS = ("page_load_s", "mos", "video_quality_kbps")
# Tables of a flow, each an entry of the catalogue.
_APPLICATIONS = ("messages", "page", "requests", "video", "voice", "conference", "ecn")
# Lists of a summary, by the catalogue entry of their metrics, with the name of an item.
_LISTS = {
    "flows": (("flow",), "flow"),
    "links": (("link", "leg"), "link"),
    "return_links": (("link", "leg"), "return link"),
}


def metric(name: str) -> Metric:
    """How a metric is shown.

    Args:
        name: Its dotted name, as `measured` gives it.

    Example:
        >>> metric("goodput_kbps").unit
        'kbit/s'
        >>> metric("links.0.packet_delay_ms.p95").title
        'packet delay, p95'
        >>> metric("flows.1.messages.share_in_time").title
        'messages in time, flow 1'
        >>> metric("flows.median.goodput_kbps").title
        'goodput, median of the flows'
        >>> metric("flows.0.page.page_load_s").title
        'page load time, flow 0'
        >>> metric("links.feeder.packets_lost").title
        'packets lost, link feeder'
    """
    match name.split("."):
        case [whole]:
            found = _in_catalog(("run", "campaign"), whole)
        case [one_of, number, *parts] if one_of in _LISTS:
            places, item = _LISTS[one_of]
            found = _nested(places, parts)
            if found and (one_of, number) != ("links", "0"):
                which = f"{number} of the {item}s" if number in _RANGES else f"{item} {number}"
                found = replace(found, title=f"{found.title}, {which}")
        case _:
            found = None
    return found or Metric(name)


def _nested(places: tuple[str, ...], parts: list[str]) -> Metric | None:
    """A metric of a flow or a hop: its own, one of its application, or a figure of a delay."""
    if parts[0] in _APPLICATIONS:
        places, parts = (parts[0],), parts[1:]
    found = _in_catalog(places, parts[0]) if parts else None
    if found is None or len(parts) == 1:
        return found
    figure = _in_catalog(("delay",), parts[1]) or Metric(parts[1])
    return replace(figure, title=f"{found.title}, {figure.title}")


def _in_catalog(places: tuple[str, ...], name: str) -> Metric | None:
    return next((_CATALOG[place, name] for place in places if (place, name) in _CATALOG), None)


def flows_of(names: Iterable[str]) -> list[str]:
    """Numbers or names of the flows that metrics are about, in their order; ranges are no flows.

    Args:
        names: Names of metrics.

    Example:
        >>> flows_of(["goodput_kbps", "flows.web.goodput_kbps", "flows.1.goodput_kbps"])
        ['web', '1']
        >>> flows_of(["flows.least.goodput_kbps"])
        []
    """
    parts = (name.split(".") for name in names if name.startswith("flows."))
    found = [flow for _, flow, *rest in parts if rest == ["goodput_kbps"] and flow not in _RANGES]
    return list(dict.fromkeys(found))


def links_of(names: Iterable[str]) -> list[str]:
    """Lists and names of the links of a network that metrics are about; empty for a path.

    Args:
        names: Names of metrics.

    Example:
        >>> links_of(["links.up.packets_lost", "return_links.up.packets_lost", "links.0.lost"])
        ['links.up', 'return_links.up']
    """
    lists = ("links", "return_links")
    parts = (name.split(".", 2) for name in names)
    found = [part for part in parts if part[0] in lists and len(part) > 2 and not part[1].isdigit()]
    return list(dict.fromkeys(f"{one}.{name}" for one, name, _ in found))


def judged_by(measured: Callable[[str], bool], is_transfer: bool, arrives: bool = False) -> str:
    """The metric that a task is about.

    Args:
        measured: Whether runs measured a metric.
        is_transfer: Whether all of it ends.
        arrives: Whether flows begin at drawn or listed times, so that the last ones may not end.

    Example:
        >>> judged_by({"page_load_s", "completion_s"}.__contains__, True)
        'page_load_s'
        >>> judged_by({"completion_s"}.__contains__, False)
        'goodput_kbps'
        >>> judged_by({"completion_s"}.__contains__, True, arrives=True)
        'mean_completion_s'
    """
    found = next((name for name in _TASKS if measured(name)), None)
    completion = "mean_completion_s" if arrives else "completion_s"
    return found or (completion if is_transfer else "goodput_kbps")


def judged_in(record: Mapping[str, Any], measured: Callable[[str], bool]) -> str:
    """The metric that a saved study is about.

    Args:
        record: The record of its folder.
        measured: Whether the runs measured a metric.

    Example:
        >>> effect = {"stop_when_done": {"value": "true"}, "flow.0.arrivals.type": {}}
        >>> judged_in({"in_effect": effect}, {"mean_completion_s"}.__contains__)
        'mean_completion_s'
    """
    effect = record.get("in_effect", {})
    arrives = (
        effect.get("stop_when_done", {}).get("value") == "true"
        and any(_ARRIVALS.fullmatch(key) for key in effect)
        and measured("mean_completion_s")
    )
    return judged_by(measured, arrives or measured("completion_s"), arrives)


def in_order(names: Iterable[str]) -> list[str]:
    """Names in the order of the catalogue, whichever run measured which first.

    Example:
        >>> in_order(["links.10.share_used", "links.2.share_used", "goodput_kbps"])
        ['goodput_kbps', 'links.2.share_used', 'links.10.share_used']
    """
    return sorted(dict.fromkeys(names), key=_rank)


@cache
def _rank(name: str) -> list[tuple[int, int, str]]:
    """Numbers by size, names by their row of the catalogue, others behind those."""
    rows = _rows()
    return [
        (0, int(part), "") if part.isdigit() else (1, rows.get(part, len(rows)), part)
        for part in name.split(".")
    ]


@cache
def _rows() -> dict[str, int]:
    # Lists stand behind all numbers of a run.
    names = dict.fromkeys([name for _, name in _CATALOG])
    lists = [name for name in names if name not in _LISTS] + list(_LISTS)
    return {name: row for row, name in enumerate(lists)}


def is_metric(name: str) -> bool:
    """True if results can have a metric of this name.

    Example:
        >>> is_metric("completion_s"), is_metric("links.0.share_used"), is_metric("speed")
        (True, True, False)
    """
    # Links may have further counters.
    nested = name.split(".")[0] in _LISTS and "." in name
    return nested or _in_catalog(("run", "campaign"), name) is not None


def measured_by(run: Run, of_link: bool = True) -> dict[str, float]:
    """All numbers of a run by dotted names, with the shares that papers print.

    Args:
        run: The run.
        of_link: Whether what the first link's trace sent again counts.

    Example:
        >>> import clift
        >>> run = clift.simulate(clift.NtnLink(), duration_s=1)
        >>> found = measured_by(run)
        >>> found["share_sent_again"] == found["retransmissions"] / found["segments_sent"]
        True
        >>> found["flows.0.timeouts"] == run.summary()["flows"][0]["timeouts"]
        True
    """
    found = run.numbers()
    sent = found.get("segments_sent")
    if sent:
        found["share_sent_again"] = found["retransmissions"] / sent
    # A network may have links that no flow crosses.
    capacities = [
        capacity
        for name, capacity in found.items()
        if name.startswith("links.") and name.endswith(".capacity_kbps") and capacity > 0
        if found[name.replace("capacity_kbps", "packets_offered")] > 0
    ]
    if capacities:
        found["share_reached"] = found["goodput_kbps"] / min(capacities)
    found.update(_shares("segments_sent", _by_retransmissions(found)))
    shares = run.retransmission_shares() if of_link else None
    if shares is not None:
        found.update(_shares("lldus_sent", shares))
    return found


def _by_retransmissions(found: Mapping[str, float]) -> dict[int, float]:
    """Number of segments of all flows by number of retransmissions."""
    segments: dict[int, float] = {}
    for flow in ["sum", *flows_of(found)]:
        name = f"flows.{flow}.segments_by_retransmissions."
        again = 0
        while (some := found.get(f"{name}{again}")) is not None:
            segments[again] = segments.get(again, 0) + some
            again += 1
    return segments


def _shares(what: str, counts: Mapping[int, float]) -> Iterator[tuple[str, float]]:
    """Shares of units by how often they were sent; a unit sent n + 1 times has n repeats."""
    total = sum(counts.values())
    if total <= 0:
        return
    for repeats, word in enumerate(("once", "twice", "three_times", "four_times")):
        yield f"{what}_{word}_share", counts.get(repeats, 0.0) / total
