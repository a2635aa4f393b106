"""When a cell has run enough: its interval is narrow, also for having been looked at often.

A cell is looked at after 50 runs, 75, 113 and so on, half as many more each time. The first look
is not earlier, since what has not happened yet is in no interval. At the k-th look
its 95 % interval is widened to one that misses with probability 0.05 x 6 / (pi k)^2: over all looks
that adds up to 5 %, however many there are. The cell stops when half of the widened interval is
within the share of the mean that was asked for.
"""

from __future__ import annotations

from itertools import count, takewhile
from math import ceil, pi
from statistics import NormalDist

from clift.campaign.results import Cell
from clift.campaign.statistics import Estimate

_FIRST = 50
_GROWTH = 1.5
_LEVEL = 0.05
_NORMAL = NormalDist()


def looks(most: int) -> list[int]:
    """After how many runs a cell is looked at, of `most`.

    Example:
        >>> looks(200)
        [50, 75, 113, 169, 200]
    """
    steps = (ceil(_FIRST * _GROWTH**step - 1e-9) for step in count())
    return [*takewhile(lambda runs: runs < most, steps), most]


def widening(look: int) -> float:
    """By how much the interval of the look is wider than that of a single look, from 1 on.

    The ratio of normal quantiles: what Student's and the bootstrap's interval have beyond it is in
    the interval that is widened.

    Example:
        >>> round(widening(1), 3), round(widening(5), 3)
        (1.105, 1.651)
    """
    level = _LEVEL * 6 / (pi * look) ** 2
    return _NORMAL.inv_cdf(1 - level / 2) / _NORMAL.inv_cdf(1 - _LEVEL / 2)


def is_narrow(cell: Cell, look: int, share: float) -> bool:
    """Whether a cell may stop.

    Args:
        cell: With the runs up to this look, and no others.
        look: Its number, from 1 on.
        share: Half the interval over the mean that is asked for.
    """
    found = cell.estimate(cell.primary)
    if found is None or found.runs < len(cell.values):
        return False  # a file was not through: the mean leaves that run out
    return is_enough(found, look, share)


def is_enough(found: Estimate, look: int, share: float) -> bool:
    """Whether the interval of an estimate is narrow, widened for the number of looks.

    Args:
        found: Of the runs up to this look.
        look: Its number, from 1 on.
        share: Half the interval over the mean that is asked for.

    Example:
        >>> found = Estimate(100.0, 1.0, 50, 99.0, 101.0)
        >>> is_enough(found, 1, 0.02), is_enough(found, 1, 0.01)
        (True, False)
    """
    if found.half_width is None or found.low is None or found.high is None:
        return False
    longest = max(found.high - found.mean, found.mean - found.low)
    return longest * widening(look) <= share * abs(found.mean)
