"""Means with 95 % intervals that cover, and differences of paired runs.

Runs of a page or a transfer are skewed: few meet the losses that cost seconds. Student's interval
is symmetric and misses such a mean, so that from twelve runs on the interval is the studentised
bootstrap (Efron and Tibshirani 1993, section 12.5); with fewer its width is arbitrary. Where the
rare runs decide a mean, no interval from a few runs covers it (Bahadur and Savage 1956). The
median's interval from order statistics covers under every law, from six runs on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import atan, ceil, cos, erfc, exp, floor, inf, isclose, isinf, lgamma, log, pi, sin, sqrt
from statistics import NormalDist

import numpy as np

from clift._arrays import Flags, Floats
from clift._parse import MARGIN

# Resamples of fewer values are too often almost one value again and again: the interval explodes.
_FEWEST_TO_RESAMPLE = 12
# Resamples; with one more, a quantile is a count. Each of a number of values is drawn once.
_RESAMPLES = 1999
_SEED = 20140602
# More values are resampled in groups of neighbours, which bounds the memory (32 MB).
_MOST_GROUPS = 2000
# How often the number of runs that `needed` tells finds a difference, and the most it tells.
_POWER = 0.8
MOST_NEEDED = 10_000
"""More runs are not asked for."""
# Fewer runs are not asked for: they say too little of how runs scatter.
_FEWEST_NEEDED = 12
# Fewer runs that differ from the usual one say too little of how often that happens.
_FEWEST_EVENTS = 10
# What differs from the median by less than this part of the standard deviation is usual.
_USUAL = 0.1
LEVEL = 0.05
"""What an interval leaves outside, and the probability of any false claim of a campaign."""
FEWEST_INDEPENDENT = 3.0
"""Runs over one trace that are worth fewer independent ones have no interval."""
FEWEST_OF_TIMES = 50
"""Times of fewer runs have an interval of the median only: none of the mean, and none of the
difference of two means, so that none is called best."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over runs.

    Args:
        mean: The mean.
        half_width: Half the width of its 95 % interval; None where there is none: of a single run,
            or if too few runs lie away from the median to tell how often that happens.
        runs: How many runs it is of.
        low: Where the interval begins; it need not be symmetric.
        high: Where it ends.
        median: The median of the runs.
        p95: What 95 % of the runs do not exceed.
        independent: How many independent runs these are worth; fewer than `runs` where they share
            parts of a trace.
        median_low: Where the 95 % interval of the median begins; None of fewer than six runs.
        median_high: Where it ends.

    Example:
        >>> estimate([1.0, 2.0, 3.0]).median
        2.0
        >>> found = estimate([1.0, 2.0, 3.0, 4.0, 5.0, 90.0])
        >>> found.median_low, found.median_high
        (1.0, 90.0)
    """

    mean: float
    half_width: float | None
    runs: int
    low: float | None = None
    high: float | None = None
    median: float | None = None
    p95: float | None = None
    independent: float | None = None
    median_low: float | None = None
    median_high: float | None = None

    @property
    def reach(self) -> tuple[float, float] | None:
        """Distances from the mean to the ends of its interval; None without an interval."""
        if self.half_width is None:
            return None
        if self.low is None or self.high is None:
            return self.half_width, self.half_width
        return self.mean - self.low, self.high - self.mean

    def as_dict(self) -> dict[str, float | int | None]:
        """What JSON has of it."""
        names = ["mean", "low", "high", "half_width", "median", "median_low", "median_high"]
        names += ["p95", "runs"]
        return {name: getattr(self, name) for name in names}


def estimate(values: Sequence[float] | Floats, independent: float | None = None) -> Estimate | None:
    """Mean and 95 % interval of runs; None if there are none.

    The interval is Student's up to eleven runs and the studentised bootstrap's beyond. The same
    values have the same interval, in every process.

    Args:
        values: What each run measured.
        independent: How many independent runs those over one trace are worth (`worth` tells);
            None: each has its own draws.

    Example:
        >>> found = estimate([1.0, 2.0, 3.0])
        >>> found.mean, round(found.low, 3), round(found.high, 3)
        (2.0, -0.484, 4.484)
        >>> skewed = estimate([1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.9, 2.4, 3.5, 8.0])
        >>> skewed.mean - skewed.low < skewed.high - skewed.mean
        True
        >>> estimate([0.0] * 57 + [4.0] * 3).half_width is None  # three events of 60
        True
    """
    if not len(values):
        return None
    return estimates(np.asarray(values, np.float64)[:, None], independent)[0]


def estimates(columns: Floats, independent: float | None = None) -> list[Estimate]:
    """The estimate of each column of a table with a row a run: all resampled at once.

    Args:
        columns: Runs by metrics, at least one run.
        independent: How many independent runs those over one trace are worth.
    """
    runs = len(columns)
    if runs == 1:
        return [of_one(value) for value in columns[0].tolist()]
    means = np.mean(columns, axis=0)
    medians, p95s = np.quantile(columns, (0.5, 0.95), axis=0)
    worth_of = float(runs) if independent is None else min(independent, float(runs))
    found = []
    about = intervals(columns - means, independent)
    place = _place_of_median(runs, worth_of)
    if place is None:
        lows: list[float | None] = [None] * columns.shape[1]
        highs = lows
    else:
        lows, highs = np.partition(columns, (place, runs - 1 - place), axis=0)[
            [place, runs - 1 - place]
        ].tolist()
    for mean, median, p95, ends, *of_median in zip(
        means, medians, p95s, about, lows, highs, strict=True
    ):
        low = high = half_width = None
        if ends is not None:
            low, high = float(mean) + ends[0], float(mean) + ends[1]
            half_width = (ends[1] - ends[0]) / 2
        about_runs = float(median), float(p95), worth_of
        found.append(Estimate(float(mean), half_width, runs, low, high, *about_runs, *of_median))
    return found


@lru_cache(maxsize=1024)
def _place_of_median(runs: int, independent: float) -> int | None:
    """Place, from 0 on, of the value in order at which the 95 % interval of the median begins.

    As many values from the other end it ends. The median is below the k-th least of n values with
    the probability that less than k of n throws of a coin are heads (Thompson 1936). Where the
    runs are worth fewer, the place is at the same share of them.

    Example:
        >>> [_place_of_median(runs, runs) for runs in (5, 6, 12, 50)], _place_of_median(50, 12.9)
        ([None, 0, 2, 17], 8)
    """
    worth_of = floor(independent)
    below, place = 0.0, -1
    while place < worth_of:
        below += exp(
            lgamma(worth_of + 1) - lgamma(place + 2) - lgamma(worth_of - place) - worth_of * log(2)
        )
        if below > 0.025:
            break
        place += 1
    return None if place < 0 else place * runs // worth_of


def of_one(value: float) -> Estimate:
    """The estimate from a single run, which is its own mean and median.

    Example:
        >>> of_one(3.0) == estimate([3.0])
        True
    """
    return Estimate(value, None, 1, median=value, p95=value, independent=1.0)


def intervals(
    deviations: Floats, independent: float | None = None
) -> list[tuple[float, float] | None]:
    """The 95 % intervals about means, relative to them; None where there is none to give.

    Args:
        deviations: From the mean of its column, runs by metrics.
        independent: How many independent runs they are worth; None: each has its own draws.
    """
    found: list[tuple[float, float] | None] = [None] * deviations.shape[1]
    if _are_too_few(independent):
        return found
    told = np.flatnonzero(have_events(deviations))
    if not len(told):
        return found
    chosen = deviations[:, told]
    runs = len(chosen)
    errors = np.std(chosen, axis=0, ddof=1) / sqrt(runs) * _wider(runs, independent)
    for place, error, low, high in zip(told, errors, *_ends(chosen), strict=True):
        if np.isfinite(high - low):
            found[place] = float(-high * error), float(-low * error)
    return found


def _ends(deviations: Floats, level: float = LEVEL) -> tuple[Floats, Floats]:
    """The quantiles that leave `level` of a mean's deviation over its standard error outside."""
    runs = len(deviations)
    if runs < _FEWEST_TO_RESAMPLE:
        most = np.full(deviations.shape[1], quantile(runs - 1, level))
        return -most, most
    beyond = max(1, round(level / 2 * (_RESAMPLES + 1)))
    least, most = np.sort(studentised(deviations), axis=0)[[beyond - 1, -beyond]]
    return least, most


def _are_too_few(independent: float | None) -> bool:
    """Whether runs over one trace have no interval, also where they happen not to overlap."""
    return independent is not None and independent < FEWEST_INDEPENDENT


def have_events(deviations: Floats) -> Flags:
    """Of which columns enough runs differ from the usual one: half of all, or ten.

    Args:
        deviations: Runs by metrics.

    Example:
        >>> have_events(np.array([[0.0, 0.0]] * 50 + [[1.0, 0.0]] * 9 + [[1.0, 1.0]])).tolist()
        [True, False]
    """
    if len(deviations) < 2:
        return np.zeros(deviations.shape[1], np.bool_)
    spread = np.std(deviations, axis=0)
    differ = spread > 1e-12 * np.max(np.abs(deviations), axis=0)
    unusual = np.abs(deviations - np.median(deviations, axis=0)) > _USUAL * spread
    enough = unusual.sum(axis=0) >= min(_FEWEST_EVENTS, len(deviations) / 2)
    found: Flags = differ & enough
    return found


def studentised(deviations: Floats) -> Floats:
    """Means of resamples over their own standard errors, a row a resample.

    Args:
        deviations: From the mean of its column, runs by metrics.
    """
    count = min(len(deviations), _MOST_GROUPS)
    if count < len(deviations):
        first = np.arange(count) * len(deviations) // count
        deviations = np.add.reduceat(deviations, first, axis=0) * (count / len(deviations))
    squares = np.square(deviations)
    shares = _shares(count)
    means = shares @ deviations
    variances = shares @ squares - np.square(means)
    # A resample of one value again and again has no error.
    flat = variances <= 1e-12 * np.max(squares, axis=0)
    errors = np.sqrt(np.where(flat, 1.0, variances) / (count - 1))
    alone = np.where(means == 0, 0.0, np.copysign(inf, means))
    return np.where(flat, alone, means / errors)


@lru_cache(maxsize=8)
def _shares(count: int) -> Floats:
    """Which part of each resample each value is: one row a resample."""
    draws = np.random.default_rng((_SEED, count)).integers(0, count, (_RESAMPLES, count))
    rows = np.arange(_RESAMPLES)[:, None] * count
    counts = np.bincount((draws + rows).ravel(), minlength=_RESAMPLES * count)
    return counts.reshape(_RESAMPLES, count) / count


def _wider(runs: int, independent: float | None, level: float = LEVEL) -> float:
    """How much wider an interval is if `runs` are worth fewer.

    With covariances of the runs proportional to how far they overlap, s^2 and the variance of the
    mean have the ratio (runs - 1) / (independent - 1) to what they have without.
    """
    if independent is None or independent >= runs:
        return 1.0
    degrees = floor(independent) - 1
    ratio = quantile(max(1, degrees), level) / quantile(runs - 1, level)
    return sqrt((runs - 1) / (independent - 1)) * ratio


def worth(starts: Sequence[float], lengths: Sequence[float], period: float | None = None) -> float:
    """How many independent runs those over one trace are worth.

    Two runs are taken to covary as far as the times of the trace that they use overlap: what both
    meet is the same. Runs that do not overlap count in full, ten over the same time as one.

    Args:
        starts: Trace time at which each run starts.
        lengths: How long each lasts.
        period: Length of a trace that repeats.

    Example:
        >>> worth([0, 10, 20], [10, 10, 10]), worth([5, 5], [10, 10])
        (3.0, 1.0)
        >>> round(worth([0, 95], [10, 10], period=100), 3)
        1.333
    """
    begin, length = np.asarray(starts, np.float64), np.asarray(lengths, np.float64)
    alike = len(begin) > 0 and length[0] > 0 and bool((length == length[0]).all())
    if alike and (period is None or 2 * length[0] <= period):
        return len(begin) ** 2 / _shared_by_equals(begin, float(length[0]), period)
    total = 0.0
    for start, lasts in zip(begin, length, strict=True):
        apart = begin - start
        if period is None:
            overlap = np.minimum(start + lasts, begin + length) - np.maximum(start, begin)
            shared = np.maximum(overlap, 0.0)
        else:
            ahead = np.mod(apart, period)
            shared = np.maximum(np.minimum(lasts - ahead, length), 0.0)
            shared += np.maximum(np.minimum(length - (period - ahead), lasts), 0.0) * (ahead > 0)
        longest = np.maximum(np.sqrt(lasts * length), 1e-12)
        total += float(np.sum(np.minimum(shared / longest, 1.0)))
    return len(begin) ** 2 / total


def _shared_by_equals(begin: Floats, length: float, period: float | None) -> float:
    """The sum over all pairs of runs of what they share of their length, which is the same for all.

    Only runs that start soon after one another share anything: in order of their starts the sum is
    one of differences of running sums.
    """
    count = len(begin)
    ordered = np.sort(begin if period is None else np.mod(begin, period))
    # Those that start behind the end of a period stand behind its beginning, too.
    on = ordered if period is None else np.concatenate([ordered, ordered + period])
    sums = np.concatenate([[0.0], np.cumsum(on)])
    first = np.arange(1, count + 1)
    last = np.minimum(np.searchsorted(on, ordered + length), np.arange(count) + count)
    last = np.maximum(last, first)
    later = last - first
    shared = later * (ordered + length) - (sums[last] - sums[first])
    return count + 2 * float(np.sum(shared)) / length


@dataclass(frozen=True, slots=True)
class Difference:
    """How one cell differs from another, run by run.

    Args:
        mean: Mean of the differences, ours less the other's.
        share: The same as a share of the other's mean.
        low: Where the interval of `share` begins; None where there is none to give.
        high: Where it ends; None also if the other's mean may be zero, so that nothing bounds it.
        p: How probable so large a mean difference is, either way, if there is none; 1 if these
            runs, or those of them that differ from the others, are too few to tell.
        spread: Standard deviation of the differences, as a share of the other's mean.
        least: The least difference of a single run, as a share of the other's; None if one is 0.
        most: The largest.
    """

    mean: float
    share: float
    low: float | None
    high: float | None
    p: float
    spread: float = 0.0
    least: float | None = None
    most: float | None = None

    def is_within(self, margin: float) -> bool:
        """Whether the two are equal: two one-sided tests (Schuirmann 1987), by the interval."""
        if self.low is None or self.high is None:
            return False
        return -margin <= self.low and self.high <= margin


def difference(
    ours: Mapping[int, float],
    other: Mapping[int, float],
    independent: float | None = None,
    level: float = LEVEL,
    fewest: int = 2,
) -> Difference | None:
    """The difference of two cells by pairs of runs.

    Runs of the same number have the same draws, so that their difference says more than the two
    intervals do. The probability is the larger of Student's and the bootstrap's, where that reaches
    so far: a claim has to stand both.

    Args:
        ours: Values by number of the run.
        other: The other cell's.
        independent: How many independent runs those over one trace are worth; None: each is
            drawn for itself.
        level: What the interval leaves outside: 5 %, or less where several are to hold together.
        fewest: Fewer pairs have no interval, and tell nothing.

    Returns:
        None if there are fewer than two pairs to tell by.

    Example:
        >>> found = difference({0: 1.0, 1: 2.0, 2: 3.0}, {0: 1.5, 1: 2.52, 2: 3.56})
        >>> round(found.mean, 3), found.p < 0.05
        (-0.527, True)
        >>> difference({0: 1.0, 1: 2.0}, {0: 2.0, 1: 1.0}).p
        1.0
        >>> difference({0: 1.0}, {0: 2.0}) is None
        True
    """
    runs = sorted(ours.keys() & other.keys())
    if len(runs) < 2:
        return None
    mine, theirs = (np.array([of[run] for run in runs], np.float64) for of in (ours, other))
    pairs = mine - theirs
    mean, base = float(np.mean(pairs)), float(np.mean(theirs))
    share = mean / base if base else (0.0 if mean == 0 else inf)
    is_told = len(runs) >= fewest
    is_share = is_told and base != 0
    about = _interval_of_ratio(mine, theirs, independent, level) if is_share else None
    low, high = (None, None) if about is None else (end - 1 for end in about)
    low, high = (None if end is None or isinf(end) else end for end in (low, high))
    p = _probability(pairs, mean, independent) if is_told else 1.0
    spread = float(np.std(pairs, ddof=1)) / abs(base) if base else inf
    if not theirs.all():
        return Difference(mean, share, low, high, p, spread)
    shares = mine / theirs - 1
    least, most = float(shares.min()), float(shares.max())
    return Difference(mean, share, low, high, p, spread, least, most)


def _interval_of_ratio(
    mine: Floats, theirs: Floats, independent: float | None, level: float = LEVEL
) -> tuple[float, float] | None:
    """The interval of the ratio of two means of paired runs (Fieller 1954).

    A ratio is in it if the mean of `mine - ratio * theirs` may be zero, so that it holds 1 if
    Student's test of the pairs finds no difference. It has no upper end (`inf`) if the second mean
    itself may be zero, and no ratio below 0 if no value is. From twelve runs on each quantile is
    the wider of Student's and the bootstrap's, as the probability is the larger: what two skewed
    cells have in common cancels, and their difference has two long tails, of which the resamples of
    few runs say too little.

    Example:
        >>> ours, other = np.array([9.0, 10.0, 11.0, 10.0]), np.array([4.0, 5.0, 6.0, 5.0])
        >>> [round(end, 2) for end in _interval_of_ratio(ours, other, None)]
        [1.79, 2.35]
        >>> low, high = _interval_of_ratio(ours, np.array([0.1, 1.0, 3.0, 0.5]), None)
        >>> low > 1, high
        (True, inf)
        >>> _interval_of_ratio(np.array([0.0, 0.1, 4.0]), other[:3], None)[0]
        0.0
    """
    if np.mean(theirs) < 0:
        mine, theirs = -mine, -theirs
    a, b = float(np.mean(mine)), float(np.mean(theirs))
    residuals = (mine - a / b * theirs)[:, None]
    if _are_too_few(independent) or not have_events(residuals)[0]:
        return None
    runs = len(mine)
    least, most = (float(end[0]) for end in _ends(residuals, level))
    if not np.isfinite(most - least):
        return None
    student = quantile(runs - 1, level)
    least, most = min(least, -student), max(most, student)
    wider = _wider(runs, independent, level)
    (aa, ab), (_, bb) = (np.cov(mine, theirs) * (wider**2 / runs)).tolist()

    def roots(times: float) -> tuple[float, float, float]:
        """Where `a - ratio * b` is some standard errors: the equation's first term and roots."""
        square = b * b - times * times * bb
        half = a * b - times * times * ab
        apart = half * half - square * (a * a - times * times * aa)
        if square == 0 or apart < 0:
            return square, -inf, inf
        first, last = sorted(((half - sqrt(apart)) / square, (half + sqrt(apart)) / square))
        return square, first, last

    square, first, last = roots(most)
    is_positive = last < inf and a > most * sqrt(aa)
    low = first if square > 0 else (last if is_positive else -inf)
    if -inf < low < 0 <= min(mine.min(), theirs.min()):
        low = 0.0
    square, _, last = roots(least)
    return low, last if square > 0 else inf


def _probability(pairs: Floats, mean: float, worth_of: float | None) -> float:
    deviations = pairs - mean
    error = float(np.std(deviations, ddof=1)) / sqrt(len(pairs))
    if mean == 0 or _are_too_few(worth_of):
        return 1.0
    independent = float(len(pairs)) if worth_of is None else min(worth_of, float(len(pairs)))
    if error <= 1e-12 * abs(mean):
        # The same in every run: all that is known is that none went the other way (sign test).
        return 2.0 ** (1 - floor(independent))
    if len(pairs) >= _FEWEST_TO_RESAMPLE and not have_events(deviations[:, None])[0]:
        return 1.0
    if independent < len(pairs):
        error *= sqrt((len(pairs) - 1) / (independent - 1))
    ratio = mean / error
    p = tail(abs(ratio), floor(independent) - 1)
    if len(pairs) < _FEWEST_TO_RESAMPLE:
        return p
    ratios = studentised(deviations[:, None])
    beyond = int(np.sum(ratios >= ratio) if ratio > 0 else np.sum(ratios <= ratio))
    return p if beyond == 0 else max(p, min(1.0, 2 * (beyond + 1) / (len(ratios) + 1)))


def needed(
    level: Iterable[Difference],
    independent: float,
    tests: int,
    margin: float = MARGIN,
    fewest: int = 2,
) -> int | None:
    """About how many independent runs would tell alternatives apart, or equal.

    They find a difference as large as the one observed, less its own standard error, or as the
    margin where that is more. The scatter is taken at the upper end of what few runs leave open.

    Args:
        level: The differences that are not told.
        independent: How many independent runs they are of.
        tests: How many differences the claim has to stand.
        margin: Share within which alternatives are equal.
        fewest: Fewer have no interval, so that more are asked for.

    Returns:
        None if they are more than `MOST_NEEDED`.

    Example:
        >>> needed([Difference(1.0, 0.1, None, None, 0.3, spread=0.1)], 8, 1)
        37
    """
    normal = NormalDist()
    reach = normal.inv_cdf(1 - LEVEL / 2 / max(1, tests) ** 2) + normal.inv_cdf(_POWER)
    degrees = max(1.0, independent - 1)
    # Wilson and Hilferty (1931): the 20 % quantile of chi-squared over its degrees.
    part = 2 / (9 * degrees)
    low = max(0.05, (1 - part - normal.inv_cdf(_POWER) * sqrt(part)) ** 3)
    most = max(_FEWEST_NEEDED, fewest)
    for found in level:
        error = found.spread / sqrt(max(1.0, independent))
        apart = max(margin, abs(found.share) - error, 1e-9)
        runs = (reach * found.spread / apart) ** 2 / low + 2
        if runs > MOST_NEEDED:
            return None
        most = max(most, ceil(runs))
    # What was there did not tell: as many again do not either by this reckoning.
    return max(most, ceil(1.5 * independent))


def holm(probabilities: Sequence[float], level: float = LEVEL) -> list[bool]:
    """Which of several claims hold, so that with probability 1 - level all that do are true.

    Holm (1979): the least probability is taken times their number, the next times one less, and so
    on to the first that is above the level.

    Example:
        >>> holm([0.01, 0.04, 0.02]), holm([0.03, 0.04])
        ([True, True, True], [False, False])
    """
    held = [False] * len(probabilities)
    ranked = sorted(range(len(probabilities)), key=lambda place: probabilities[place])
    for rank, place in enumerate(ranked):
        if probabilities[place] * (len(ranked) - rank) > level:
            break
        held[place] = True
    return held


def tail(ratio: float, degrees: int) -> float:
    """Probability that Student's t is beyond a ratio, either way.

    The finite series of Abramowitz and Stegun 26.7.3 and 26.7.4; beyond a thousand degrees of
    freedom the normal law (error < 1e-3 of the probability within three standard errors).

    Example:
        >>> round(tail(12.706, 1), 4), round(tail(2.086, 20), 4), round(tail(1.96, 10_000), 4)
        (0.05, 0.05, 0.05)
    """
    if degrees > 1000:
        return erfc(ratio / sqrt(2))
    angle = atan(ratio / sqrt(degrees))
    square = cos(angle) ** 2
    odd = degrees % 2
    term = sin(angle) * (cos(angle) if odd else 1.0)
    total = 0.0
    for place in range(odd, degrees - 1, 2):
        total += term
        term *= square * (place + 1) / (place + 2)
    within = 2 / pi * (angle + total) if odd else total
    return max(0.0, 1.0 - within)


@lru_cache(maxsize=1024)
def quantile(degrees: int, level: float = LEVEL) -> float:
    """Student's t that is exceeded, either way, with the probability `level`.

    Example:
        >>> round(quantile(1), 3), round(quantile(199), 3), round(quantile(11, 0.001), 3)
        (12.706, 1.972, 4.437)
    """
    low, high = 1e-3, 1e9
    while not isclose(low, high, rel_tol=1e-12):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(middle, degrees) > level else (low, middle)
    return high
