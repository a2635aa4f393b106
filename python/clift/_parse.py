"""Checks of values from outside. Each error names the argument and the cure.

A bool is not a number, and text is not a number: nothing is converted silently.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any, Self, TypeVar

import numpy as np

from clift.errors import ScenarioError

T = TypeVar("T")

LONGEST_NS = 2**61
"""The longest time, 73 years."""
SEED = 2**64 - 1
"""The largest seed."""
COUNT = 2**32 - 1
"""The largest count of most things."""
MARGIN = 0.05
"""Share within which alternatives are called equal, unless given."""

_NS_PER = {"s": 1e9, "ms": 1e6}


class Fixed:
    """Immutable: a copy is the object itself."""

    __slots__ = ()

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _memo: object) -> Self:
        return self


class TraceDefault(int):
    """A default that yields to the trace's value; the same number, given explicitly, does not.

    Example:
        >>> TraceDefault(500), isinstance(500, TraceDefault)
        (500, False)
    """


def same(one: Any, other: Any) -> bool:
    """True if two arguments are equal; arrays are compared as a whole.

    Example:
        >>> same({"a": np.ones(2)}, {"a": np.ones(2)}), same([1], np.ones(1)), same((1, 2), (1, 3))
        (True, False, False)
    """
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return isinstance(one, np.ndarray) == isinstance(other, np.ndarray) and np.array_equal(
            one, other
        )
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if type(one) is type(other) and type(one) in (list, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    try:
        return bool(one == other)
    except ArithmeticError:  # comparing a signalling NaN raises
        return False


def fault(name: str, value: object, cure: str) -> ScenarioError:
    """The error with an argument, its value and the cure, on one line.

    Example:
        >>> fault("rtt_ms", "x", "give a time in ms")
        ScenarioError("rtt_ms = 'x': give a time in ms")
    """
    return ScenarioError(f"{name} = {shown(value)}: {cure}")


def real(value: Any) -> float | None:
    """The value as a number, integers unchanged; None if it is not a number.

    Example:
        >>> real(3), real(np.float32(0.5)), real("3"), real(True), real(float("nan"))
        (3, 0.5, None, None, None)
    """
    # Fast path for the common types; a sweep has many scenarios.
    if type(value) is int or (type(value) is float and not math.isnan(value)):
        return value
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    number = int(value) if isinstance(value, int | np.integer) else float(value)
    return None if math.isnan(number) else number


def number(name: str, value: Any, low: float, high: float, what: str = "a number") -> float:
    """A number from `low` to `high`.

    Example:
        >>> number("packet_sigma", 0.25, 0, 10)
        0.25
        >>> number("packet_sigma", "x", 0, 10)
        Traceback (most recent call last):
        clift.errors.ScenarioError: packet_sigma = 'x': give a number from 0 to 10
    """
    found = real(value)
    if found is None or not low <= found <= high:
        raise fault(name, value, f"give {what} from {low:g} to {high:g}")
    return float(found)


def whole(name: str, value: Any, low: int, high: int, otherwise: str = "") -> int:
    """A whole number from `low` to `high`; `otherwise` names further valid values in the error.

    Example:
        >>> whole("k", 10, 1, 65535), whole("k", 10.0, 1, 65535)
        (10, 10)
        >>> whole("k", 0, 1, 65535)
        Traceback (most recent call last):
        clift.errors.ScenarioError: k = 0: give a whole number from 1 to 65535
    """
    found = real(value)
    if found is None or math.isinf(found) or found != int(found) or not low <= found <= high:
        raise fault(name, value, f"give a whole number from {low} to {high}{otherwise}")
    return int(found)


def probability(name: str, value: Any) -> float:
    """A probability, given as a number.

    Example:
        >>> probability("p", "1 %")
        Traceback (most recent call last):
        clift.errors.ScenarioError: p = '1 %' is not a probability; give a number from 0 to 1
    """
    found = real(value)
    if found is None or not 0 <= found <= 1:
        raise ScenarioError(
            f"{name} = {shown(value)} is not a probability; give a number from 0 to 1"
        )
    return float(found)


def flag(name: str, value: Any) -> bool:
    """A bool; other types are errors, because any text would count as true.

    Example:
        >>> flag("wrap", "no")
        Traceback (most recent call last):
        clift.errors.ScenarioError: wrap = 'no': give True or False
    """
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise fault(name, value, "give True or False")


def choice(name: str, value: Any, names: Sequence[str]) -> str:
    """One of the given names.

    Example:
        >>> choice("rlc", "tm", ("am", "um"))
        Traceback (most recent call last):
        clift.errors.ScenarioError: rlc = 'tm': give 'am' or 'um'
    """
    if isinstance(value, str) and value in names:
        return value
    *others, last = map(repr, names)
    raise fault(name, value, f"give {', '.join(others)} or {last}")


def text(name: str, value: Any, what: str) -> str:
    """Any text.

    Example:
        >>> text("transport", 3, "a name such as 'cubic'")
        Traceback (most recent call last):
        clift.errors.ScenarioError: transport = 3: give a name such as 'cubic'
    """
    if isinstance(value, str):
        return value
    raise fault(name, value, f"give {what}")


def nanoseconds(name: str, value: Any, unit: str, least_ns: int = 0) -> int:
    """A time in s or ms, at least `least_ns`, converted to whole nanoseconds.

    Example:
        >>> nanoseconds("rtt_ms", 0.5, "ms"), nanoseconds("duration_s", 2, "s")
        (500000, 2000000000)
        >>> nanoseconds("rtt_ms", 1e300, "ms")
        Traceback (most recent call last):
        clift.errors.ScenarioError: rtt_ms = 1e+300: give a time in ms, at most 2.3e+12 (73 years)
    """
    scale = _NS_PER[unit]
    found = real(value)
    if found is not None and found > LONGEST_NS / scale:
        raise fault(name, value, f"give a time in {unit}, at most {2.3e18 / scale:.2g} (73 years)")
    if found is None or found < 0:
        raise fault(name, value, f"give a time in {unit}, {'above 0' if least_ns else '0 or more'}")
    exact = round(found * scale)
    if exact < least_ns:
        raise fault(name, value, f"give a time in {unit} above 0")
    return exact


def of_type(name: str, value: Any, kind: type[T], cure: str) -> T:
    """A value of the given class.

    Example:
        >>> of_type("phy", 3, str, "give a PHY trace")
        Traceback (most recent call last):
        clift.errors.ScenarioError: phy = 3: give a PHY trace
    """
    if isinstance(value, kind):
        return value
    raise fault(name, value, cure)


def floats(name: str, values: Any, what: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Numbers as an array of any shape.

    Example:
        >>> floats("esn0_db", "a", "levels in dB")
        Traceback (most recent call last):
        clift.errors.ScenarioError: esn0_db = 'a': give levels in dB
    """
    try:
        return np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise fault(name, values, f"give {what}") from None


def shown(value: object) -> str:
    """A value on one line of at most 60 characters.

    Example:
        >>> shown("x" * 99)[-5:], len(shown("x" * 99))
        ('xx...', 60)
    """
    line = " ".join(repr(value).split())
    return line if len(line) <= 60 else line[:57] + "..."
