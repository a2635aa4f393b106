"""The rule by which a claim of a paper holds, from 95 % intervals.

A claim compares means. It *holds* if the joint 95 % interval of what it compares lies on its side
of the border, it *does not hold* if that lies on the other side, and it is *not decidable* if the
border is inside, or if a mean has no interval. A claim on several cells has the worst verdict of
its cells.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import hypot, sqrt
from statistics import stdev

from clift.campaign.statistics import Estimate, estimate, quantile
from clift.errors import ScenarioError

EXACT = Estimate(0.0, 0.0, 2)
"""A limit without uncertainty."""
WORDS = {True: "holds", False: "does not hold", None: "not decidable"}


@dataclass(frozen=True, slots=True)
class Verdict:
    """Verdict on a claim.

    Attributes:
        holds: True if it holds here; None if it is not decidable.
        found: The measured values, in a few words and numbers.
    """

    holds: bool | None
    found: str

    @property
    def word(self) -> str:
        """`holds`, `does not hold` or `not decidable`.

        >>> Verdict(None, "").word
        'not decidable'
        """
        return WORDS[self.holds]


def averaged(values: Sequence[float], independent: float | None = None) -> Estimate:
    """Mean and 95 % interval of runs, also if most of them are equal.

    If too few runs differ for `clift.campaign.estimate`, the interval is Student's: the values of a
    paper's table are sums over thousands of packets.

    Args:
        values: Value of each run, at least one.
        independent: Number of independent runs that they are worth; default: all.

    Raises:
        ScenarioError: Without values.

    Example:
        >>> averaged([4.0] * 19 + [5.0]).half_width > 0, averaged([4.0]).half_width
        (True, None)
    """
    found = estimate(values, independent)
    if found is None:
        raise ScenarioError("no run has a value, so the mean is undefined; give more runs")
    if found.half_width is not None or len(values) < 2:
        return found
    worth = len(values) if independent is None else max(2.0, min(independent, len(values)))
    half = quantile(max(1, int(worth) - 1)) * stdev(values) / sqrt(worth)
    return replace(found, half_width=half, low=found.mean - half, high=found.mean + half)


def at_least(value: Estimate, other: Estimate = EXACT, by: float = 0.0) -> bool | None:
    """True if a mean exceeds another by at least `by`; None if their intervals leave it open.

    Example:
        >>> at_least(Estimate(3.0, 0.5, 9), Estimate(2.0, 0.5, 9))
        True
        >>> at_least(Estimate(3.0, 0.5, 9), by=2.9) is None
        True
    """
    if value is other:
        return by <= 0
    if value.half_width is None or other.half_width is None:
        return None
    gap = value.mean - other.mean - by
    return None if abs(gap) < hypot(value.half_width, other.half_width) else gap >= 0


def at_most(value: Estimate, by: float) -> bool | None:
    """True if a mean is at most `by`; None if its interval leaves it open.

    Example:
        >>> at_most(Estimate(3.0, 0.5, 9), by=2.0)
        False
    """
    return at_least(EXACT, value, by=-by)


def within(value: Estimate, low: float, high: float) -> bool | None:
    """True if a mean is between two limits.

    Example:
        >>> within(Estimate(3.0, 0.1, 9), 2.5, 3.05) is None
        True
    """
    return every([at_least(value, by=low), at_most(value, by=high)])


def every(verdicts: Iterable[bool | None]) -> bool | None:
    """False if one verdict is; else None if one is open or there are none.

    Example:
        >>> every([True, None, False]), every([True, None]), every([True])
        (False, None, True)
    """
    known = set(verdicts)
    if not known:
        return None
    return False if False in known else None if None in known else True


def ahead(pairs: Sequence[Sequence[Estimate]], found: str) -> Verdict:
    """Whether the first mean of each pair is at least the second.

    Args:
        pairs: The means.
        found: The measured values, with `{}` for the least and the largest ratio.

    Example:
        >>> ahead([(Estimate(3.0, 0.1, 9), Estimate(2.0, 0.1, 9))], "{} x ARQ")
        Verdict(holds=True, found='1.50 to 1.50 x ARQ')
    """
    ratios = [ours.mean / other.mean for ours, other in pairs]
    return Verdict(
        every(at_least(ours, other) for ours, other in pairs), found.format(_span(ratios))
    )


def alike(ratios: Sequence[Estimate], found: str) -> Verdict:
    """Whether each ratio of two means is within a tenth of 1.

    Args:
        ratios: The ratios.
        found: The measured values, with `{}` for the least and the largest ratio.

    Example:
        >>> alike([Estimate(0.97, 0.01, 9), Estimate(1.02, 0.01, 9)], "{} of it")
        Verdict(holds=True, found='0.97 to 1.02 of it')
    """
    span = _span([ratio.mean for ratio in ratios])
    return Verdict(every(within(ratio, 0.9, 1.1) for ratio in ratios), found.format(span))


def _span(values: Sequence[float]) -> str:
    return f"{min(values):.2f} to {max(values):.2f}"


def times(value: Estimate, factor: float) -> Estimate:
    """A mean and its interval times a number.

    Example:
        >>> times(Estimate(3.0, 0.5, 9), 2).half_width
        1.0
    """
    half = None if value.half_width is None else value.half_width * abs(factor)
    ends = (value.low, value.high)
    low, high = sorted(
        (None if end is None else end * factor for end in ends), key=lambda end: end or 0.0
    )
    return Estimate(value.mean * factor, half, value.runs, low, high)


def over(value: Estimate, other: Estimate) -> Estimate:
    """The ratio of two means that are independent, its interval to first order.

    Example:
        >>> round(over(Estimate(3.0, 0.3, 9), Estimate(2.0, 0.2, 9)).half_width, 3)
        0.212
    """
    if other.mean == 0:
        raise ScenarioError("the ratio to a mean of zero is undefined")
    ratio = value.mean / other.mean
    if value.half_width is None or other.half_width is None:
        return Estimate(ratio, None, min(value.runs, other.runs))
    half = hypot(value.half_width, ratio * other.half_width) / abs(other.mean)
    return Estimate(ratio, half, min(value.runs, other.runs))
