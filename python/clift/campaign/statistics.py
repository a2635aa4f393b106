"""Means with 95 % intervals, alone and of paired differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, stdev

# Student's t at 97.5 % for 1 to 30 degrees of freedom.
_T = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over runs.

    Args:
        mean: The mean.
        half_width: Half of its 95 % interval; None with a single run.
        runs: How many runs it is of.
    """

    mean: float
    half_width: float | None
    runs: int


def estimate(values: Sequence[float]) -> Estimate | None:
    """Mean and 95 % interval (Student's t) of independent values; None if there are none.

    Example:
        >>> estimate([1.0, 2.0, 3.0])  # doctest: +ELLIPSIS
        Estimate(mean=2.0, half_width=2.484..., runs=3)
    """
    if not values:
        return None
    if len(values) == 1:
        return Estimate(values[0], None, 1)
    half_width = quantile(len(values) - 1) * stdev(values) / sqrt(len(values))
    return Estimate(fmean(values), half_width, len(values))


def quantile(degrees: int) -> float:
    """Student's t at 97.5 %; beyond the table by the expansion in 1 / degrees (error < 1e-4).

    Example:
        >>> quantile(1), round(quantile(199), 3)
        (12.706, 1.972)
    """
    if degrees <= len(_T):
        return _T[degrees - 1]
    z = 1.959964
    return z + (z**3 + z) / (4 * degrees) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2)


def differs(ours: Mapping[int, float], other: Mapping[int, float]) -> bool | None:
    """Whether two cells differ, by the 95 % interval of the difference of each pair of runs.

    Runs of the same number have the same draws, so that their difference says more than the two
    intervals do.

    Args:
        ours: Values by number of the run.
        other: The other cell's.

    Returns:
        None if there are fewer than two pairs to tell by.

    Example:
        >>> differs({0: 1.0, 1: 2.0, 2: 3.0}, {0: 1.5, 1: 2.5, 2: 3.6})
        True
        >>> differs({0: 1.0, 1: 2.0}, {0: 2.0, 1: 1.0})
        False
        >>> differs({0: 1.0}, {0: 2.0}) is None
        True
    """
    pairs = [ours[run] - other[run] for run in sorted(ours.keys() & other.keys())]
    difference = estimate(pairs)
    if difference is None or difference.half_width is None:
        return None
    return abs(difference.mean) > difference.half_width
