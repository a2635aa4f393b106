"""Coverage and width of 95 % intervals of the mean by method, and of the median's: seconds.

Then the same of the difference of two alternatives with the same draws, as a share. A width is in
units of the interval that would be exact if the law's standard deviation were known.

python validation/interval_methods.py
"""

from collections.abc import Callable
from math import exp
from typing import Any

import numpy as np
from scipy import stats

from clift.campaign.statistics import difference, estimates

Floats = np.ndarray[Any, np.dtype[np.float64]]
CAMPAIGNS = 2000
DRAW = np.random.default_rng(1)
TAIL = exp(0.833**2 / 2)

# By law: what draws runs by campaigns, and its mean.
LAWS: dict[str, tuple[Callable[[tuple[int, int]], Floats], float]] = {
    "normal": (lambda size: DRAW.normal(10, 1, size), 10),
    "exponential": (lambda size: DRAW.exponential(1, size), 1),
    "log-normal": (lambda size: DRAW.lognormal(0, 0.833, size), TAIL),
    "5 s + log-normal": (lambda size: 5 + DRAW.lognormal(0, 0.833, size), 5 + TAIL),
    "2 s + gamma": (lambda size: 2 + DRAW.gamma(0.25, 1, size), 2.25),
    "two modes": (
        lambda size: np.where(DRAW.random(size) < 0.5, 2, 1) + DRAW.normal(0, 0.05, size),
        1.5,
    ),
    "one run in 18 twice as long": (
        lambda size: np.where(DRAW.random(size) < 0.055, 2, 1) + DRAW.normal(0, 0.05, size),
        1.055,
    ),
}


def main() -> None:
    """Prints the share of campaigns whose interval holds the mean, or the median."""
    for law, (drawn, mean) in LAWS.items():
        many = drawn((1000, 2000))
        median, spread = float(np.median(many)), float(np.std(many))
        for runs in (8, 12, 20, 50):
            columns = drawn((runs, CAMPAIGNS))
            means, q = columns.mean(0), stats.t.ppf(0.975, runs - 1)
            error = columns.std(0, ddof=1) / np.sqrt(runs)
            skew = stats.skew(columns, bias=False)
            shift = skew * error / (6 * np.sqrt(runs)) * (1 + 2 * q * q)
            of_logs = np.log(columns)
            variance = of_logs.var(0, ddof=1)
            middle = of_logs.mean(0) + variance / 2
            half = q * np.sqrt(variance / runs + variance**2 / 2 / (runs - 1))
            part = skew / np.sqrt(runs)
            corrected = [
                means - error * 3 / part * (np.cbrt(1 + part * (end - part / 6)) - 1)
                for end in (q, -q)
            ]
            found = estimates(columns)
            ours = [(one.low, one.high) for one in found if one.low is not None]
            medians = [(one.median_low, one.median_high) for one in found]
            shares = {
                "Student": covered(means - q * error, means + q * error, mean),
                "Johnson": covered(means + shift - q * error, means + shift + q * error, mean),
                "Hall": covered(*corrected, mean),
                "Cox": covered(np.exp(middle - half), np.exp(middle + half), mean),
                "CLIFT": covered(*np.array(ours, np.float64).T, mean),
                "median": covered(*np.array(medians, np.float64).T, median),
            }
            print(f"{law:28}{runs:3}", *(f"{name} {one:.3f}" for name, one in shares.items()))
            low, high = np.array(ours, np.float64).T
            ideal = 2 * stats.norm.ppf(0.975) * spread / np.sqrt(runs)
            below, above = np.mean(low > mean), np.mean(high < mean)
            widths = np.quantile((high - low) / ideal, (0.5, 0.95))
            print(
                f"{'':31} CLIFT: of {len(ours)} campaigns, misses below {above:.3f}, above "
                f"{below:.3f}; width {widths[0]:.2f} (median), {widths[1]:.2f} (95 %)"
            )
            if runs > 8:
                of_differences(columns, drawn, mean)


def of_differences(
    columns: Floats, drawn: Callable[[tuple[int, int]], Floats], mean: float
) -> None:
    """Prints how often the interval of a difference holds it, and how wide it is.

    Of two alternatives of the law with their own draws, 10 % apart; and of two with the same draws
    of which only one has what the law adds.
    """
    others, shared = drawn(columns.shape), DRAW.normal(5, 0.2, columns.shape)
    for what, ours, its, share in (
        ("own draws", columns, 1.1 * others, 1 / 1.1 - 1),
        ("one side", shared + columns, shared, mean / 5),
    ):
        pairs = zip(ours[:, :500].T, its[:, :500].T, strict=True)
        found = [difference(dict(enumerate(a)), dict(enumerate(b))) for a, b in pairs]
        there = [(one.low, one.high) for one in found if one and one.low is not None]
        low, high = np.array([(a, np.inf if b is None else b) for a, b in there]).T
        spread = np.std(ours - (1 + share) * its) / np.mean(its)
        ideal = 2 * stats.norm.ppf(0.975) * spread / np.sqrt(len(columns))
        widths = np.quantile((high - low) / ideal, (0.5, 0.95))
        print(
            f"{'':31} difference, {what}: {covered(low, high, share):.3f} of {len(there)}, "
            f"misses below {np.mean(high < share):.3f}, above {np.mean(low > share):.3f}; "
            f"width {widths[0]:.2f}, {widths[1]:.2f}"
        )


def covered(low: Floats, high: Floats, true: float) -> float:
    """Share of intervals that hold the true value."""
    return float(np.mean((low <= true) & (true <= high)))


if __name__ == "__main__":
    main()
