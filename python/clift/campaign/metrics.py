"""Names of what a run measured: the numbers of its summary, and what follows from them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Metric:
    """How a metric is shown.

    Args:
        title: What it is.
        unit: Its unit once scaled.
        scale: What its value is multiplied by to be shown.
        better: Whether less or more of it is better.
    """

    title: str
    unit: str
    scale: float = 1.0
    better: Literal["less", "more"] = "less"


_KNOWN = {
    "completion_s": Metric("completion", "s"),
    "completion_acked_s": Metric("completion, acknowledged", "s"),
    "goodput_kbps": Metric("goodput", "kbit/s", better="more"),
    "throughput_kbps": Metric("sent", "kbit/s", better="more"),
    "ip_throughput_kbps": Metric("IP received", "kbit/s", better="more"),
    "share_sent_again": Metric("sent again", "%", 100),
    "timeouts": Metric("timeouts", ""),
    "links.0.share_used": Metric("link used", "%", 100),
    "links.0.mean_coding_ratio": Metric("coding ratio", "%", 100, better="more"),
    "links.0.packet_delay_ms.min": Metric("packet delay, min", "ms"),
    "links.0.packet_delay_ms.mean": Metric("packet delay, mean", "ms"),
    "links.0.packet_delay_ms.p95": Metric("packet delay, p95", "ms"),
    "links.0.packet_delay_ms.max": Metric("packet delay, max", "ms"),
}

_TOTALS = frozenset(
    [
        "duration_s",
        "fairness",
        "bytes_in_order",
        "ip_bytes_sent",
        "ip_bytes_received",
        "segments_sent",
        "retransmissions",
        "spurious_retransmissions",
        "stale_segments",
        "fast_retransmits",
        "recovery_entries",
        "duplicate_acks",
        "window_reductions",
        "undo_events",
        "events",
    ]
)
_SHARES = ("segments_sent_", "lldus_sent_")


def metric(name: str) -> Metric:
    """How a metric is shown.

    Example:
        >>> metric("goodput_kbps").unit
        'kbit/s'
        >>> metric("segments_sent_twice_share").title
        'segments sent twice'
    """
    if name in _KNOWN:
        return _KNOWN[name]
    if name.startswith(_SHARES) and name.endswith("_share"):
        return Metric(
            name.removesuffix("_share").replace("_", " ").replace("lldus", "LLDUs"), "%", 100
        )
    return Metric(name, "")


def is_metric(name: str) -> bool:
    """Whether results can have a metric of this name.

    Example:
        >>> is_metric("completion_s"), is_metric("links.0.share_used"), is_metric("speed")
        (True, True, False)
    """
    nested = name.startswith(("flows.", "links.", "return_links."))
    shares = name.startswith(_SHARES) and name.endswith("_share")
    return name in _KNOWN or name in _TOTALS or nested or shares


def measured(summary: dict[str, Any], link_stats: dict[str, Any] | None) -> dict[str, float]:
    """All numbers of a run by dotted names, with the shares that papers print.

    Args:
        summary: What `Run.summary` gives.
        link_stats: What `LinkTrace.stats` gives for the first link, if there is one.

    Example:
        >>> summary = {"goodput_kbps": 8.0, "retransmissions": 1, "segments_sent": 10,
        ...            "flows": [{"segments_by_retransmissions": [8, 1]}], "completion_s": None}
        >>> found = measured(summary, {"retransmissions": {"0": 0.98, "1": 0.02}})
        >>> found["share_sent_again"], found["flows.0.segments_by_retransmissions.1"]
        (0.1, 1.0)
        >>> found["lldus_sent_twice_share"]
        0.02
    """
    found = dict(_numbers(summary, ""))
    sent = found.get("segments_sent")
    if sent:
        found["share_sent_again"] = found["retransmissions"] / sent
    segments: dict[int, float] = {}
    for flow in summary.get("flows", ()):
        for again, count in enumerate(flow.get("segments_by_retransmissions", ())):
            segments[again] = segments.get(again, 0) + count
    found.update(_shares("segments_sent", segments))
    if link_stats is not None:
        by_retransmissions = link_stats["retransmissions"]
        found.update(
            _shares("lldus_sent", {int(n): share for n, share in by_retransmissions.items()})
        )
    return found


def _numbers(value: Any, name: str) -> Iterator[tuple[str, float]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _numbers(inner, f"{name}.{key}" if name else key)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _numbers(inner, f"{name}.{index}")
    elif isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        yield name, float(value)


def _shares(what: str, counts: dict[int, float]) -> Iterator[tuple[str, float]]:
    """Shares of units by how often they were sent; a unit sent n + 1 times has n repeats."""
    total = sum(counts.values())
    if total <= 0:
        return
    for repeats, word in enumerate(("once", "twice", "three_times", "four_times")):
        yield f"{what}_{word}_share", counts.get(repeats, 0.0) / total
