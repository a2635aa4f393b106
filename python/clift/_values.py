"""Converts Python values to scenario values: a number becomes text with its unit, exactly.

A converter takes the name to use in errors, and the value. The core checks everything else, such as
ranges that depend on other values and names.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

import clift._clift as _clift
import clift._parse as _parse
from clift.delays import delay_steps
from clift.errors import ScenarioError
from clift.link_trace import LinkTrace
from clift.reorder import Reorder
from clift.scheme import scheme_text
from clift.trace import PhyTrace

Node = Any
"""A scenario value: text, a number, a bool, a list, a table, or an object in memory."""
Convert = Callable[[str, Any], Node]


@dataclass(frozen=True, slots=True)
class Keyword:
    """Key and converter of a keyword argument.

    Args:
        key: The dotted key.
        convert: Function that converts the value.
        usual: The default, for which the key is omitted.
        held: The key to use if the value is an object in memory.
    """

    key: str
    convert: Convert
    usual: Any = None
    held: str = ""


def entries(keywords: Mapping[str, Keyword], given: Mapping[str, Any]) -> dict[str, Node]:
    """Keys and values of the arguments that differ from their defaults.

    Example:
        >>> entries({"rtt_ms": Keyword("link.rtt", milliseconds, 500)}, {"rtt_ms": 0.5})
        {'link.rtt': '500000 ns'}
    """
    found = {}
    for name, value in given.items():
        keyword = keywords[name]
        if value is keyword.usual or isinstance(value, _parse.TraceDefault):
            continue
        node = keyword.convert(name, value)
        if keyword.held and isinstance(node, _HELD):
            found[keyword.held] = node
        elif not _is_usual(value, keyword.usual):
            found[keyword.key] = node
    return found


def _is_usual(value: Any, usual: Any) -> bool:
    if isinstance(usual, _parse.TraceDefault):
        return isinstance(value, _parse.TraceDefault)
    return type(value) in (int, float, str, bool) and bool(value == usual)


def nested(always: Mapping[str, Node], found: Mapping[str, Node]) -> dict[str, Node]:
    """Nested tables from dotted keys, added to the constant entries.

    Example:
        >>> nested({"link": {"live": True}}, {"link.rtt": "1 s", "scheme": "ARQ"})
        {'link': {'live': True, 'rtt': '1 s'}, 'scheme': 'ARQ'}
    """
    tree = {key: dict(node) for key, node in always.items()}
    for key, node in found.items():
        *sections, last = key.split(".")
        here = tree
        for section in sections:
            here = here.setdefault(section, {})
        here[last] = node
    return tree


def respelled(
    error: ScenarioError, keywords: Mapping[str, Keyword], given: Mapping[str, Any]
) -> ScenarioError:
    """Reword a scenario error in terms of keyword arguments.

    Args:
        error: The core's error, about a dotted key.
        keywords: Key of each argument.
        given: The arguments by name.

    Example:
        >>> error = ScenarioError("link.rtt: longer than `feedback`")
        >>> error.key, error.reason = "path.0.link.rtt", "longer than `feedback`"
        >>> made = {"rtt_ms": "link.rtt", "feedback_ms": "link.feedback"}
        >>> keywords = {name: Keyword(key, milliseconds) for name, key in made.items()}
        >>> respelled(error, keywords, {"rtt_ms": 9})
        ScenarioError('rtt_ms = 9: longer than `feedback_ms`')
    """
    path = _HOP.sub("", error.key)
    fits = [
        (name in given, len(key), name, key)
        for name, keyword in keywords.items()
        for key in (keyword.key, keyword.held)
        if key and (f"{path}.".startswith(f"{key}.") or key == f"{path}.file")
    ]
    _, _, name, key = max(fits, default=(False, 0, "", ""))
    section = key.rpartition(".")[0] or path
    names = {keyword.key: name for name, keyword in keywords.items()}

    def spelled(found: re.Match[str]) -> str:
        return f"`{names.get(found[1]) or names.get(f'{section}.{found[1]}') or found[1]}`"

    if not fits:
        text = re.sub(r"`([a-z_.]+)`", spelled, str(error))
        return error if text == str(error) else ScenarioError(text)
    reason = re.sub(r"`([a-z_.]+)`", spelled, error.reason)
    rest = path[len(key) + 1 :]
    reason = f"{rest}: {reason}" if rest and not rest.isdigit() else reason
    if given.get(name) is None:
        return ScenarioError(f"{name}: {reason}")
    return _parse.fault(name, given[name], reason)


# Position of a hop on the path, before its key.
_HOP = re.compile(r"^(return\.)?(path\.\d+\.)?")


def milliseconds(name: str, value: Any) -> str:
    """A time in ms.

    Example:
        >>> milliseconds("rtt_ms", 0.1)
        '100000 ns'
        >>> milliseconds("rtt_ms", "1 s")
        Traceback (most recent call last):
        clift.errors.ScenarioError: rtt_ms = '1 s': give a time in ms, 0 or more
    """
    return f"{_parse.nanoseconds(name, value, 'ms')} ns"


def milliseconds_or_infinity(name: str, value: Any) -> str:
    """A time in ms, which may be infinite.

    Example:
        >>> milliseconds_or_infinity("discard_ms", math.inf)
        'infinity'
    """
    return "infinity" if _parse.real(value) == math.inf else milliseconds(name, value)


def seconds(name: str, value: Any) -> str:
    """A time in s.

    Example:
        >>> seconds("duration_s", 1.5)
        '1500000000 ns'
    """
    return f"{_parse.nanoseconds(name, value, 's')} ns"


def kilobits(name: str, value: Any) -> str:
    """A rate in kbit/s.

    Example:
        >>> kilobits("rate_kbps", 2000)
        '2000000 bit/s'
        >>> kilobits("rate_kbps", None)
        Traceback (most recent call last):
        clift.errors.ScenarioError: rate_kbps = None: give a rate in kbit/s above 0
    """
    found = _parse.real(value)
    if found is not None and found >= 1e12:
        raise _parse.fault(name, value, "give a rate in kbit/s below 1e+12")
    if found is None or found < 0.001:
        raise _parse.fault(name, value, "give a rate in kbit/s above 0")
    return f"{round(found * 1e3)} bit/s"


def quantity(unit: str) -> Callable[[str, Any], str]:
    """A number with a unit.

    Example:
        >>> quantity("deg")("elevation_deg", 40), quantity("GHz")("carrier_ghz", 1e-7)
        ('40 deg', '0.0000001 GHz')
    """
    return lambda name, value: f"{Decimal(repr(number(name, value))).normalize():f} {unit}"


def decibels(name: str, value: Any) -> str:
    """A level in dB.

    Example:
        >>> decibels("snr_db", 13.5)
        '13.5 dB'
    """
    return quantity("dB")(name, _parse.number(name, value, -100, 100, "a level in dB"))


def whole(low: int, high: int, unit: str = "") -> Convert:
    """A whole number from `low` to `high`, followed by `unit` unless that is empty.

    Example:
        >>> whole(1, 9)("k", 3), whole(1, 9, "B")("tb_bytes", 3)
        (3, '3 B')
    """

    def convert(name: str, value: Any) -> int | str:
        number = _parse.whole(name, value, low, high)
        return f"{number} {unit}" if unit else number

    return convert


count, count_from_1 = whole(0, _parse.COUNT), whole(1, _parse.COUNT)
size, seed = whole(0, _parse.COUNT, "B"), whole(0, _parse.SEED)


def whole_or_infinity(name: str, value: Any) -> int | str:
    """A count that may be infinite.

    Example:
        >>> whole_or_infinity("max_retx", 8), whole_or_infinity("max_retx", math.inf)
        (8, 'infinity')
    """
    if _parse.real(value) == math.inf:
        return "infinity"
    return _parse.whole(name, value, 1, _parse.COUNT, ", or math.inf for no limit")


def number(name: str, value: Any) -> float:
    """A number.

    Example:
        >>> number("first", "x")
        Traceback (most recent call last):
        clift.errors.ScenarioError: first = 'x': give a number
    """
    found = _parse.real(value)
    if found is None or math.isinf(found):
        raise _parse.fault(name, value, "give a number")
    return float(found)


def choice(*names: str) -> Convert:
    """One of the given names.

    Example:
        >>> choice("am", "um")("rlc", "am")
        'am'
    """
    return lambda name, value: _parse.choice(name, value, names)


def text(what: str) -> Convert:
    """Any text.

    Example:
        >>> text("the name of a channel")("preset", 3)
        Traceback (most recent call last):
        clift.errors.ScenarioError: preset = 3: give the name of a channel
    """
    return lambda name, value: _parse.text(name, value, what)


def probability_list(name: str, value: Any) -> list[float]:
    """A list of probabilities.

    Example:
        >>> probability_list("targets", 0.5)
        Traceback (most recent call last):
        clift.errors.ScenarioError: targets = 0.5: give a list of probabilities, e.g. [0.9, 0.99]
    """
    values = value.tolist() if isinstance(value, np.ndarray) else value
    if not isinstance(values, Sequence) or isinstance(values, str | bytes) or not values:
        raise _parse.fault(name, values, "give a list of probabilities, e.g. [0.9, 0.99]")
    return [probability(name, one) for one in values]


def probabilities(name: str, value: Any) -> list[float]:
    """One or more probabilities: a number or a list.

    Example:
        >>> probabilities("bler", 0.1), probabilities("bler", (0.1, 0.01))
        ([0.1], [0.1, 0.01])
    """
    if _parse.real(value) is not None or isinstance(value, str):
        return [probability(name, value)]
    return probability_list(name, value)


def delay(name: str, value: Any) -> str | _clift.DelaySeries:
    """A delay in ms: a number or a time series.

    Example:
        >>> delay("delay_ms", 80)
        '80000000 ns'
    """
    if _parse.real(value) is not None:
        return milliseconds(name, value)
    return _clift.DelaySeries(delay_steps(value, name))


def steps(name: str, value: Any) -> list[tuple[int, int]]:
    """A delay in ms as steps of (from_ns, delay_ns)."""
    return delay_steps(value, name)


def delayed_ack(name: str, value: Any) -> bool | str:
    """Whether ACKs are delayed, or by how many ms.

    Example:
        >>> delayed_ack("delayed_ack", True), delayed_ack("delayed_ack", 25)
        (True, '25000000 ns')
    """
    if isinstance(value, bool):
        return value
    return _parse.nanoseconds(name, value, "ms") > 0 and milliseconds(name, value)


def _table(**units: str) -> Convert:
    """A sequence of numbers as a table of quantities."""

    def convert(name: str, value: Any) -> dict[str, str]:
        if not isinstance(value, Sequence) or len(value) != len(units):
            numbers = ", ".join(f"{key} in {unit}" for key, unit in units.items())
            raise _parse.fault(name, value, f"give {len(units)} numbers: {numbers}")
        given = zip(units.items(), value, strict=True)
        return {key: quantity(unit)(f"{name}: {key}", number) for (key, unit), number in given}

    return convert


loo = _table(direct="dB", psi="dB", multipath="dB", correlation="m")
trees = _table(gap="m", crossing="m", depth="dB", spread="dB", multipath="dB")


def own(_name: str, value: Any) -> Node:
    """A value without a key."""
    return value


def scheme(_name: str, value: Any) -> str:
    """A scheme object or its text."""
    return scheme_text(value)


def phy(name: str, value: Any) -> PhyTrace:
    """A PHY trace."""
    return _parse.of_type(name, value, PhyTrace, "give a PHY trace; clift.channel makes one")


def probability_or_phy(name: str, value: Any) -> float | PhyTrace:
    """A probability, or a PHY trace instead of it."""
    if _parse.real(value) is not None:
        return _parse.probability(name, value)
    return _parse.of_type(name, value, PhyTrace, "give a probability or a PHY trace")


def reorder(name: str, value: Any) -> dict[str, Node]:
    """A re-sequencing buffer.

    Example:
        >>> reorder("reorder", Reorder(packets=None))["packets"]
        'unlimited'
    """
    buffer = _parse.of_type(name, value, Reorder, "give a clift.Reorder or None")
    packets = "unlimited" if buffer.packets is None else int(buffer.packets)
    return {
        "packets": packets,
        "flush_on_loss": bool(buffer.flush_on_loss),
        "flush_when_full": bool(buffer.flush_when_full),
        "key": buffer.key,
    }


def parts(name: str, value: Any) -> dict[str, Node]:
    """A dict of parts; the core checks their names."""
    if not isinstance(value, Mapping):
        raise _parse.fault(name, value, "give a dict of its parts")
    return {str(part): plain(f"{name}: {part}", node) for part, node in value.items()}


def plain(name: str, value: Any) -> Node:
    """A value as in a scenario file, or an in-memory object instead of a file.

    Example:
        >>> plain("link", {"rtt": "500 ms", "wrap": True})
        {'rtt': '500 ms', 'wrap': True}
        >>> plain("link.rtt", {3})  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        clift.errors.ScenarioError: link.rtt = {3}: not a valid scenario value; give text, ...
    """
    if isinstance(value, (str, bool, *_HELD)):
        return value
    if isinstance(value, Reorder):
        return reorder(name, value)
    if isinstance(value, Mapping):
        return {str(key): plain(f"{name}.{key}", node) for key, node in value.items()}
    found = _parse.real(value)
    if found is not None:
        return found
    if isinstance(value, Sequence):
        return [plain(f"{name}.{index}", node) for index, node in enumerate(value)]
    cure = (
        "not a valid scenario value; give text, a number, True or False, a list, a dict or a trace"
    )
    raise _parse.fault(name, value, cure)


flag: Convert = _parse.flag
probability: Convert = _parse.probability

_HELD = (PhyTrace, LinkTrace, _clift.DelaySeries, _clift.MiTrace)


def only_with(present: bool, names: Sequence[tuple[str, bool]], cure: str) -> None:
    """Raise for the first given one of `names` if the value that excludes it is `present`.

    Example:
        >>> only_with(True, [("p", True)], "`losses` says which units are lost; leave it out")
        Traceback (most recent call last):
        clift.errors.ScenarioError: p: `losses` says which units are lost; leave it out
    """
    if not present:
        return
    for name, given in names:
        if given:
            raise ScenarioError(f"{name}: {cure}")
