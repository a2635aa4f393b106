"""Intervals and comparisons against laws, and against the same thing written plainly."""

import math
import statistics
from collections.abc import Mapping
from itertools import combinations

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as some

from clift.campaign import Results, conclude, verdicts
from clift.campaign.results import Cell
from clift.campaign.statistics import (
    Estimate,
    difference,
    estimate,
    estimates,
    holm,
    quantile,
    tail,
    worth,
)
from clift.campaign.values import Values

SKEWED = [4.6, 4.9, 5.1, 4.7, 5.9, 5.3, 4.8, 6.4, 5.0, 5.6, 9.8, 7.1]


def plainly(values: list[float]) -> tuple[float, float]:
    """The studentised bootstrap, value by value."""
    n, mean = len(values), statistics.fmean(values)
    error = statistics.stdev(values) / math.sqrt(n)
    ratios = []
    for row in np.random.default_rng((20140602, n)).integers(0, n, (1999, n)):
        drawn = [values[place] for place in row]
        own = statistics.stdev(drawn) / math.sqrt(n)
        gap = statistics.fmean(drawn) - mean
        ratios.append(gap / own if own > 1e-9 else math.copysign(math.inf, gap))
    ratios.sort()
    return mean - ratios[1949] * error, mean - ratios[49] * error


@pytest.mark.parametrize("values", [SKEWED, [float(n * n) for n in range(25)]])
def test_the_interval_is_the_studentised_bootstrap(values: list[float]) -> None:
    found = estimate(values)
    assert found is not None
    assert (found.low, found.high) == pytest.approx(plainly(values), rel=1e-9)
    assert found.half_width == pytest.approx((found.high - found.low) / 2)
    assert (found.median, found.p95) == (np.median(values), np.quantile(values, 0.95))
    assert found.mean - found.low < found.high - found.mean  # the tail is above


def test_up_to_eleven_runs_it_is_students() -> None:
    eleven = estimate(SKEWED[:11])
    assert (eleven.low, eleven.high) == pytest.approx(
        scipy.stats.t.interval(0.95, 10, np.mean(SKEWED[:11]), scipy.stats.sem(SKEWED[:11]))
    )
    found = estimate([4.0, 5.5, 4.5, 6.0])
    expected = scipy.stats.t.interval(0.95, 3, 5.0, scipy.stats.sem([4.0, 5.5, 4.5, 6.0]))
    assert (found.low, found.high) == pytest.approx(expected)


@given(some.floats(0, 40), some.integers(1, 1000))
def test_students_law_is_scipys(ratio: float, degrees: int) -> None:
    assert tail(ratio, degrees) == pytest.approx(2 * scipy.stats.t.sf(ratio, degrees), abs=1e-9)


def test_students_quantiles_are_scipys() -> None:
    for degrees in (1, 2, 3, 7, 30, 199, 999):
        assert quantile(degrees) == pytest.approx(scipy.stats.t.ppf(0.975, degrees), rel=1e-9)


@pytest.mark.parametrize(
    ("law", "mean", "runs"),
    [
        (lambda draw, size: draw.normal(3, 1, size), 3.0, 5),
        (lambda draw, size: draw.normal(3, 1, size), 3.0, 20),
        (lambda draw, size: draw.exponential(1, size), 1.0, 60),
        (lambda draw, size: draw.lognormal(0, 0.5, size), math.exp(0.125), 60),
        # One run in five meets a loss that costs seconds.
        (lambda draw, size: 5 + (draw.random(size) < 0.2) * draw.exponential(2, size), 5.4, 100),
    ],
)
def test_intervals_cover(law: object, mean: float, runs: int) -> None:
    campaigns = 1000
    found = estimates(law(np.random.default_rng(5), (runs, campaigns)))
    told = [one for one in found if one.half_width is not None]
    assert len(told) > 0.95 * campaigns
    covered = sum(one.low <= mean <= one.high for one in told)
    # Three binomial standard errors, and a point for the error of the second order of a skewed law.
    least, most = (scipy.stats.binom.ppf(p, len(told), 0.95) for p in (0.0013, 0.9987))
    assert least - 0.01 * len(told) <= covered <= most + 0.01 * len(told)


# Each has a skewness of about 4; in the last, one run in eighteen meets a timeout.
OF_SKEW_4 = {
    "log-normal": lambda draw, size: 5 + draw.lognormal(0, 0.833, size),
    "gamma": lambda draw, size: 2 + draw.gamma(0.25, 1, size),
    "timeouts": lambda draw, size: (
        np.where(draw.random(size) < 0.055, 2, 1) + draw.normal(0, 0.05, size)
    ),
}


@pytest.mark.parametrize("law", list(OF_SKEW_4))
def test_intervals_of_skewed_times_cover_what_they_are_of(law: str) -> None:
    draw, campaigns = np.random.default_rng(8), 600
    median = np.median(OF_SKEW_4[law](draw, 400_000))
    mean = np.mean(OF_SKEW_4[law](draw, 4_000_000))
    for runs in (6, 12, 50):
        columns = OF_SKEW_4[law](draw, (runs, campaigns))
        found = estimates(columns)
        of_median = sum(one.median_low <= median <= one.median_high for one in found)
        assert of_median >= scipy.stats.binom.ppf(0.0013, campaigns, 0.95)
        cell = Cell({}, True, runs)
        cell.values = Values(
            {run: {"completion_s": value} for run, value in enumerate(columns[:, 0])}
        )
        assert (cell.estimate("completion_s").half_width is None) == (runs < 50)
    told = [one for one in found if one.half_width is not None]
    assert len(told) > 0.95 * campaigns
    covered = sum(one.low <= mean <= one.high for one in told)
    assert covered >= scipy.stats.binom.ppf(0.0013, len(told), 0.92)


@pytest.mark.parametrize("law", list(OF_SKEW_4))
@pytest.mark.parametrize("runs", [12, 30])
def test_intervals_of_differences_of_skewed_cells_cover_them(law: str, runs: int) -> None:
    """Each cell with its own draws: the difference has two long tails and hardly a skewness."""
    draw, campaigns = np.random.default_rng(9), 500
    found = []
    for _ in range(campaigns):
        ours, other = OF_SKEW_4[law](draw, (2, runs))
        found.append(difference(dict(enumerate(1.1 * ours)), dict(enumerate(other))))
    told = [one for one in found if one.low is not None]
    assert len(told) > 0.85 * campaigns
    covered = sum(one.low <= 0.1 <= (one.high or math.inf) for one in told)
    assert covered >= scipy.stats.binom.ppf(0.0013, len(told), 0.92)


def test_too_few_events_have_no_interval() -> None:
    assert estimate([0.0] * 191 + [1.0] * 9).half_width is None
    assert estimate([0.0] * 190 + [1.0] * 10).half_width is not None
    # Neither where the usual runs differ by a trifle.
    trifle = list(np.random.default_rng(1).normal(5, 0.001, 57))
    assert estimate([*trifle, 9.0, 8.0, 7.0]).half_width is None
    assert estimate([5.0] * 200).half_width is None
    assert estimate([7.0]) == Estimate(7.0, None, 1, None, None, 7.0, 7.0, 1.0)
    assert estimate([]) is None


def test_the_mean_of_what_few_packets_of_a_run_meet_has_no_interval() -> None:
    cell = Cell({}, False, 12)
    cell.values = Values(
        {
            run: {"links.0.packet_delay_ms.p95": time, "links.0.packet_delay_ms.mean": time}
            for run, time in enumerate(SKEWED)
        }
    )
    found = cell.estimates()
    whole, tail_of = (found[f"links.0.packet_delay_ms.{name}"] for name in ("p95", "mean"))
    assert cell.estimate("links.0.packet_delay_ms.p95") == whole
    assert (whole.half_width, whole.low, whole.high) == (None, None, None)
    assert (tail_of.median, tail_of.mean) == (whole.median, whole.mean)
    assert tail_of.low < tail_of.mean < tail_of.high


def test_many_runs_are_taken_in_groups() -> None:
    values = np.random.default_rng(3).exponential(1, 30_011)
    found = estimate(values)
    normal = 1.96 * values.std() / math.sqrt(len(values))
    assert found.half_width == pytest.approx(normal, rel=0.08)
    assert found.low < values.mean() < found.high


def test_the_same_runs_have_the_same_interval_everywhere() -> None:
    table = np.array([SKEWED, SKEWED[::-1], np.sqrt(SKEWED)]).T
    alone = estimate(list(table[:, 2]))
    beside = estimates(table)[2]
    assert (beside.low, beside.high) == pytest.approx((alone.low, alone.high), rel=1e-12)


def test_runs_over_one_trace_count_as_far_as_they_do_not_overlap() -> None:
    """Means of windows of white noise: what the whole trace is of is a draw of the same noise."""
    draw = np.random.default_rng(7)
    slots, window, runs, traces = 4000, 200, 60, 300
    covered = [0, 0]
    for _ in range(traces):
        sums = np.concatenate(([0.0], np.cumsum(draw.normal(0, 1, slots))))
        starts = draw.integers(0, slots - window, runs)
        values = (sums[starts + window] - sums[starts]) / window
        independent = worth(starts, [window] * runs)
        assert 8 < independent < 20  # the trace holds 20 windows
        for place, found in enumerate((estimate(values, independent), estimate(values))):
            covered[place] += found.low <= 0 <= found.high
    assert covered[0] / traces > 0.93
    assert covered[1] / traces < 0.75  # what they would say if they were independent


def test_a_trace_that_repeats_is_a_ring() -> None:
    def plain(starts: list[int], length: int, period: int) -> float:
        used = [{(start + step) % period for step in range(length)} for start in starts]
        shared = sum(len(one & other) / length for one in used for other in used)
        return len(starts) ** 2 / shared

    draw = np.random.default_rng(2)
    for _ in range(50):
        starts = draw.integers(0, 100, 8).tolist()
        length = int(draw.integers(1, 50))
        assert worth(starts, [length] * 8, 100) == pytest.approx(plain(starts, length, 100))


def test_runs_that_are_worth_two_have_no_interval() -> None:
    assert estimate(SKEWED, independent=2.9).half_width is None
    # Nor two over one trace that do not overlap; two with their own draws have Student's.
    assert estimate([400.0, 640.0], independent=2.0).half_width is None
    assert estimate([400.0, 640.0]).half_width is not None
    pairs = {0: 400.0, 1: 640.0}, {0: 300.0, 1: 539.0}
    given, drawn = difference(*pairs, independent=2.0), difference(*pairs)
    assert (given.low, given.p, given.mean) == (None, 1.0, drawn.mean)
    assert drawn.p < 0.01
    wide, usual = estimate(SKEWED, independent=6.0), estimate(SKEWED)
    # (n - 1) / (m - 1) for the variance, and Student's quantile of five degrees for that of eleven.
    expected = math.sqrt(11 / 5) * 2.571 / 2.201
    assert wide.half_width / usual.half_width == pytest.approx(expected, rel=1e-3)


def test_overlapping_runs_widen_the_t_test_of_a_difference() -> None:
    gains = [3.0, 1.0, 4.0, 1.5, 5.0, 9.0, 2.0, 6.0]
    found = difference(dict(enumerate(gains)), dict.fromkeys(range(8), 0.0), independent=4.0)
    error = statistics.stdev(gains) / math.sqrt(8) * math.sqrt(7 / 3)
    ratio = statistics.mean(gains) / error
    assert found.p == pytest.approx(2 * scipy.stats.t.sf(ratio, 3), rel=1e-6)


@given(some.lists(some.floats(0, 0.06), min_size=1, max_size=6))
def test_holm_is_bonferroni_closed(probabilities: list[float]) -> None:
    """A claim holds if every set of claims that has it is refuted as one, by Bonferroni."""
    places = range(len(probabilities))
    sets = [set(of) for size in range(1, len(places) + 1) for of in combinations(places, size)]
    refuted = [of for of in sets if min(probabilities[place] for place in of) * len(of) <= 0.05]
    expected = [all(of in refuted for of in sets if place in of) for place in places]
    assert holm(probabilities) == expected


def test_pairs_tell_what_two_intervals_do_not() -> None:
    draw = np.random.default_rng(4)
    common = draw.normal(100, 20, 30)
    ours, other = common + draw.normal(0, 1, 30), common + draw.normal(2, 1, 30)
    found = difference(dict(enumerate(ours)), dict(enumerate(other)))
    assert found.p < 1e-3
    assert found.low < found.mean / other.mean() < found.high < 0
    one, two = estimate(ours), estimate(other)
    assert one.high > two.low


def equal(draw: np.random.Generator, alternatives: int, runs: int, skewed: bool) -> Results:
    """Twelve conditions, in each of which all alternatives are of the same law."""
    schemes, places = [f"S{n}" for n in range(alternatives)], [f"c{n}" for n in range(12)]
    cells = []
    for place in places:
        for scheme in schemes:
            cell = Cell({"scheme": scheme, "place": place}, False, runs)
            drawn = 5 + (draw.lognormal(0, 1, runs) if skewed else draw.normal(0, 1, runs))
            cell.values = Values({run: {"goodput_kbps": one} for run, one in enumerate(drawn)})
            cells.append(cell)
    return Results(
        "x", 1, [("scheme", schemes), ("place", places)], cells, [], frozenset(["place"])
    )


@pytest.mark.parametrize(
    ("alternatives", "runs", "skewed", "campaigns"),
    [
        (2, 5, False, 60),
        pytest.param(2, 5, False, 240, marks=pytest.mark.long),
        pytest.param(2, 20, True, 120, marks=pytest.mark.long),
        pytest.param(3, 5, False, 120, marks=pytest.mark.long),
    ],
)
def test_of_equal_alternatives_none_is_best(
    alternatives: int, runs: int, skewed: bool, campaigns: int
) -> None:
    draw = np.random.default_rng(11)
    false = sum(
        any(one.best for one in verdicts(equal(draw, alternatives, runs, skewed)))
        for _ in range(campaigns)
    )
    assert false <= scipy.stats.binom.ppf(0.999, campaigns, 0.05)


def best(values: Mapping[str, np.ndarray]) -> str | None:
    """The alternative with the least completion time."""
    cells = [Cell({"scheme": scheme}, True, len(times)) for scheme, times in values.items()]
    for cell, times in zip(cells, values.values(), strict=True):
        cell.values = Values({run: {"completion_s": time} for run, time in enumerate(times)})
    [verdict] = verdicts(Results("x", 1, [("scheme", list(values))], cells, []))
    return verdict.best


def test_a_verdict_on_times_does_not_come_and_go() -> None:
    """A pays 0.5 s in one run of six, B a little in each: few runs of A do not show its mean."""
    for seed in range(20):
        lossy = 1.87 + 0.5 * (np.random.default_rng(seed).random(400) < 1 / 6)
        steady = np.full(400, 1.89)
        runs = 5, 8, 11, 12, 20, 30, 49, 100, 200, 400
        found = [best({"A": lossy[:number], "B": steady[:number]}) for number in runs]
        assert found == [None] * 7 + ["B"] * 3


@pytest.mark.parametrize("law", list(OF_SKEW_4))
@pytest.mark.parametrize("runs", [8, 30, 50])
def test_of_equal_means_of_times_none_is_best(law: str, runs: int) -> None:
    draw, campaigns = np.random.default_rng(12), 200
    mean = np.mean(OF_SKEW_4[law](draw, 4_000_000))
    false = 0
    for _ in range(campaigns):
        steady = mean + draw.normal(0, 0.02, runs)
        false += best({"A": OF_SKEW_4[law](draw, runs), "B": steady}) is not None
    assert false <= scipy.stats.binom.ppf(0.999, campaigns, 0.05)


def test_what_is_better_than_all_others_is_found_with_its_cost() -> None:
    draw = np.random.default_rng(1)
    cells = []
    for scheme, time, used in (("A", 5.0, 0.8), ("B", 6.0, 0.5), ("C", 8.0, 0.4)):
        cell = Cell({"scheme": scheme}, True, 60)
        cell.values = Values(
            {
                run: {"completion_s": time * one, "links.0.share_used": used * one}
                for run, one in enumerate(draw.normal(1, 0.02, 60))
            }
        )
        cells.append(cell)
    results = Results("x", 1, [("scheme", ["A", "B", "C"])], cells, [])
    [verdict] = verdicts(results)
    assert (verdict.best, verdict.among) == ("A", ("B",))
    assert verdict.interval.low < verdict.gain.low == verdict.gain.high < verdict.interval.high
    assert verdict.gain.low == pytest.approx(1 / 6, abs=0.02)
    [(what, unit, points)] = verdict.costs
    assert (what, unit) == ("of the link", "%")
    assert points.low == pytest.approx(30, abs=1.5)
    sentence = conclude(results)
    assert sentence.startswith("A is best (17 % less time than B, interval 16 to 17 %; ")
    assert sentence.endswith(" points more of the link).")


def test_a_difference_from_a_mean_that_may_be_zero_has_a_lower_end_only():
    other = dict(enumerate([0.1, 4.0, 30.0, 1.5, 12.0, 0.1]))
    found = difference(dict(enumerate([219.0, 210, 225, 220, 214, 221])), other)
    assert found is not None
    assert found.p < 0.001
    assert found.low is not None
    assert found.low > 1
    assert found.high is None


def test_an_interval_of_a_difference_excludes_zero_as_its_probability_says():
    draw = np.random.default_rng(7)
    decided = 0
    for _ in range(300):
        common = draw.normal(size=8)
        first = np.exp(0.4 * common + 0.3 * draw.normal(size=8)) * draw.uniform(1, 2)
        second = np.exp(0.4 * common + 0.3 * draw.normal(size=8))
        found = difference(dict(enumerate(first)), dict(enumerate(second)))
        assert found is not None
        if found.low is not None:
            excludes = found.low > 0 or (found.high is not None and found.high < 0)
            assert excludes == (found.p < 0.05)
            decided += excludes
    assert 50 < decided < 290


def test_at_each_end_of_a_ratios_interval_a_t_test_is_on_the_border():
    ours, other = np.array([10.0, 11.0, 12.5, 11.2]), np.array([20.0, 21.2, 22.1, 21.1])
    found = difference(dict(enumerate(ours)), dict(enumerate(other)))
    assert found is not None
    for end in (found.low, found.high):
        assert end is not None
        p = scipy.stats.ttest_1samp(ours - (1 + end) * other, 0).pvalue
        assert p == pytest.approx(0.05, rel=1e-9)
