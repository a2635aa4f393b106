"""Whether two samples of independent runs have the same mean, within a margin.

A test that finds no difference does not show that there is none: few runs find only large ones. Two
one-sided tests (Schuirmann 1987), each at 2.5 %, show it: the 95 % interval of the difference then
lies within the margin.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from statistics import fmean

from scipy.stats import ttest_ind

EQUAL, DIFFERENT, UNDECIDED = "equal", "different", "undecided"
LEVEL = 0.05


def verdict(
    ours: Sequence[float], theirs: Sequence[float], share: float = 0.05, least: float = 0.0
) -> str:
    """`EQUAL`, `DIFFERENT` or `UNDECIDED`; a difference within the margin is equal.

    Args:
        ours: One value a run; the runs need not be as many as the others, nor vary as much (Welch).
        theirs: The sample that the margin is a share of.
        share: The margin as a share of the mean of `theirs`.
        least: The least margin, in the unit of the values.

    Example:
        >>> verdict([100, 101, 99, 100], [100, 102, 101, 99])
        'equal'
        >>> verdict([100, 120, 90, 110], [101, 80, 119, 99])  # one may be 20 % above the other
        'undecided'
        >>> verdict([100, 101, 99, 100], [120, 122, 121, 119])
        'different'
        >>> verdict([2, 2, 2], [3, 3, 3], least=3)
        'equal'
    """
    mean = fmean(theirs)
    if len(set(ours)) == len(set(theirs)) == 1:
        return EQUAL if abs(ours[0] - mean) <= max(share * mean, least) else DIFFERENT

    def probability(values: Sequence[float], others: Sequence[float], alternative: str) -> float:
        with warnings.catch_warnings():  # of precision, if all values of one side are the same
            warnings.simplefilter("ignore", RuntimeWarning)
            found = ttest_ind(values, others, equal_var=False, alternative=alternative)
        return float(found.pvalue)

    if share * mean > least:
        below, above = ([(1 + sign * share) * it for it in theirs] for sign in (-1, 1))
    else:
        below, above = ([it + sign * least for it in theirs] for sign in (-1, 1))
    beyond = probability(ours, below, "greater"), probability(ours, above, "less")
    if max(beyond) < LEVEL / 2:
        return EQUAL
    return DIFFERENT if probability(ours, theirs, "two-sided") < LEVEL else UNDECIDED
