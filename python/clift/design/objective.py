"""What a design is judged by: an objective, and limits that it has to keep."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite

import numpy as np

import clift._clift as _clift
from clift._parse import fault
from clift.campaign.metrics import is_metric, metric
from clift.errors import CliftError, ScenarioError

ENERGY = "energy"
P99_DELAY = "p99-delay"
IN_ORDER_DELAY = "p99-in-order-delay"
OBJECTIVES = ("goodput", P99_DELAY, "completion", ENERGY)
"""The objectives that have their own name; every metric that is better less or more is one."""

_LIMIT = re.compile(r"\s*(?P<name>[\w.-]+?)\s*(?P<sign><=|>=|<|>)\s*(?P<limit>.+?)\s*")
_SHORT = {"goodput": "goodput_kbps", "completion": "completion_s"}
_TIME, _RATE = 'a time as e.g. "500 ms"', 'a rate as e.g. "200 kbit/s"'
# What a limit on a metric of this unit has to be written as.
_UNITS = {"s": _TIME, "ms": _TIME, "kbit/s": _RATE}
# Metrics that are not in a run, but made of what is.
_OWN = {
    ENERGY: ("coded bits sent per bit delivered", "", "less"),
    P99_DELAY: ("99th percentile of the segments' delay", "ms", "less"),
    IN_ORDER_DELAY: ("99th percentile of the in-order delay", "ms", "less"),
}


@dataclass(frozen=True, slots=True)
class Objective:
    """What is to be as much, or as little, as can be.

    Args:
        name: What it was called.
        metric: Name of the metric; those of `values`.
        title: What it is called in tables.
        unit: The unit of its values.
        better: Whether less or more of it is better.
        scale: Factor from a value to what is shown.

    Example:
        >>> objective("p99-delay").better, objective("goodput").unit
        ('less', 'kbit/s')
    """

    name: str
    metric: str
    title: str
    unit: str
    better: str
    scale: float = 1.0

    @property
    def sign(self) -> float:
        """Factor by which less is better."""
        return 1.0 if self.better == "less" else -1.0


@dataclass(frozen=True, slots=True)
class Constraint:
    """A limit that the mean over the runs has to keep.

    Args:
        text: As it was written.
        metric: Name of the metric; those of `values`.
        most: Whether the limit is the most (else the least) that there may be.
        limit: The limit, in the unit of the metric.

    Example:
        >>> limit = constraint("p99-delay<2s")
        >>> limit.metric, limit.most, limit.limit
        ('p99-delay', True, 2000.0)
        >>> constraint("goodput >= 0.2 Mbit/s").limit, constraint("share_used<80%").limit
        (200.0, 0.8)
    """

    text: str
    metric: str
    most: bool
    limit: float

    def excess(self, value: float) -> float:
        """By how much a value breaks the limit, as a share of it; not above 0 if it keeps it."""
        over = value - self.limit if self.most else self.limit - value
        return over / abs(self.limit) if self.limit else over


def objective(name: str) -> Objective:
    """The objective of a name: one of `OBJECTIVES`, or a metric that is better less or more.

    Args:
        name: E.g. `goodput`, or `links.0.packet_delay_ms.mean`.

    Raises:
        ScenarioError: If the metric does not exist, or it does not say what is better.

    Example:
        >>> objective("speed")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        clift.errors.ScenarioError: objective = 'speed': give goodput, p99-delay, completion, ...
    """
    cure = f"give {', '.join(OBJECTIVES)}, or a metric of docs/concepts/metrics.md"
    found = _named(name) if isinstance(name, str) else None
    if found is None:
        raise fault("objective", name, cure)
    if found in _OWN:
        title, unit, better = _OWN[found]
        return Objective(name, found, title, unit, better)
    shown = metric(found)
    if shown.better is None:
        raise ScenarioError(f"objective = {name!r}: neither less nor more of it is better; {cure}")
    return Objective(name, found, shown.title, shown.unit, shown.better, shown.scale)


def constraint(text: str) -> Constraint:
    """A limit from text such as `p99-delay<2s`.

    Args:
        text: A metric (or the name of an objective), `<` or `>`, and a limit. A time or a rate has
            its unit; a share may stand as 0.8 or 80 %; a count is a bare number.

    Raises:
        ScenarioError: If the metric does not exist, or the limit is of another kind.

    Example:
        >>> constraint("p99-delay<2kg")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        clift.errors.ScenarioError: constraint = 'p99-delay<2kg': `2kg` is no limit in ms; ...
        >>> constraint("p99-delay<2")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        clift.errors.ScenarioError: constraint = 'p99-delay<2': `2` has no unit; write a time ...
    """
    cure = 'write e.g. "p99-delay<2s", "share_used<0.8" or "goodput>200 kbit/s"'
    found = _LIMIT.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise fault("constraint", text, cure)
    name = _named(found["name"])
    if name is None:
        raise fault("constraint", text, f"there is no metric `{found['name']}`; {cure}")
    unit = _OWN[name][1] if name in _OWN else metric(name).unit
    limit = _quantity(found["limit"], unit)
    if limit is None:
        kind, wrong = unit or "numbers", f"`{found['limit']}`"
        if unit in _UNITS and _number(found["limit"]) is not None:
            raise fault("constraint", text, f"{wrong} has no unit; write {_UNITS[unit]}")
        raise fault("constraint", text, f"{wrong} is no limit in {kind}; {cure}")
    return Constraint(text, name, found["sign"].startswith("<"), limit)


def _named(name: str) -> str | None:
    """The metric that a name stands for; of a link or a flow the first."""
    name = _SHORT.get(name, name)
    if name in _OWN:
        return name
    for place in (name, f"links.0.{name}", f"flows.0.{name}"):
        if is_metric(place) and metric(place).title != place:
            return place
    return None


def _quantity(text: str, unit: str) -> float | None:
    """A number in the unit of a metric, or None."""
    try:
        if unit in ("s", "ms"):
            return _clift.parse_time(text) / (1e9 if unit == "s" else 1e6)
        if unit == "kbit/s":
            return _clift.parse_rate(text) / 1000
    except CliftError:
        return None
    share = _number(text.removesuffix("%")) if text.endswith("%") else None
    return _number(text) if share is None else share / 100


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if isfinite(value) else None


def of_metric(name: str, value: float) -> str:
    """A value with its unit, as it is read; of a second and more in seconds.

    Args:
        name: The metric; those of `values`.
        value: Its value.

    Example:
        >>> of_metric("p99-delay", 24890.0), of_metric("p99-delay", 480.0)
        ('24.89 s', '480 ms')
        >>> of_metric("links.0.share_used", 0.85), of_metric("energy", 1.2)
        ('85 %', '1.2')
    """
    scale, unit = (1.0, _OWN[name][1]) if name in _OWN else (metric(name).scale, metric(name).unit)
    if unit == "ms" and abs(value) >= 1000:
        scale, unit = 1e-3, "s"
    return f"{value * scale:.4g} {unit}".rstrip()


def values(measured: Mapping[str, float], capacity_kbps: float | None) -> dict[str, float]:
    """What a run measured, and what objectives make of it.

    Args:
        measured: Numbers by dotted names.
        capacity_kbps: Bits that the first link can put on the air in a millisecond, if known.

    Returns:
        The same with `p99-delay` (of the slowest flow, in ms: segments from first transmission to
        arrival, messages from application to application), `p99-in-order-delay` (until the
        application has the data) and, where the link has a known
        rate, `energy` (every coded bit on the air, repairs included, per bit of payload in order).
        A file that was not through has the length of its run as completion.

    Example:
        >>> run = {"goodput_kbps": 100.0, "links.0.share_used": 0.5, "duration_s": 9.0,
        ...        "flows.0.segment_delay_ms.p99": 800.0}
        >>> found = values(run, capacity_kbps=263.0)
        >>> found["energy"], found["p99-delay"], found["completion_s"]
        (1.315, 800.0, 9.0)
    """
    found = dict(measured)
    found.setdefault("completion_s", found.get("duration_s", np.inf))

    def slowest(ending: str, default: float) -> float:
        ends = (name for name in measured if name.startswith("flows.") and name.endswith(ending))
        return max((measured[name] for name in ends), default=default)

    # Where nothing arrived there is no delay to speak of, and none that is good.
    none = 1000 * found.get("duration_s", np.inf)
    found[P99_DELAY] = slowest(_of_flow(measured), none)
    found[IN_ORDER_DELAY] = slowest("in_order_delay_ms.p99", found[P99_DELAY])
    goodput = measured.get("goodput_kbps", 0.0)
    if capacity_kbps is not None:
        share = measured.get("links.0.share_used", 0.0) + measured.get("links.0.share_beside", 0.0)
        found[ENERGY] = share * capacity_kbps / goodput if goodput else _NOTHING_DELIVERED
    return found


# Coded bits a bit where no bit was delivered: as bad as a million, so that a mean stays finite.
_NOTHING_DELIVERED = 1e6


def _of_flow(measured: Mapping[str, float]) -> str:
    messages = "messages.delay_ms.p99"
    of_messages = (f"flows.{which}.{messages}" in measured for which in ("0", "most"))
    return messages if any(of_messages) else "segment_delay_ms.p99"
