"""Land mobile channels over 10 hours of signal against closed forms: part of `make validate`.

    python validation/lms_statistics.py             # every road; exit code 1 if a check fails
    python validation/lms_statistics.py --hours 2   # less signal
    python validation/lms_statistics.py --docs      # writes docs/evidence/lms-statistics.md

Every row of both models' tables is driven for 10 hours at 60 km/h (`lms_checks.py`), the multipath
for another 10. All probabilities together are held to one bound: Holm's, at 1 % for the whole,
which allows for checks that depend on each other. Then closed forms with one wrong constant each
are held against the same signal: each must fail.
"""

from __future__ import annotations

import argparse
import multiprocessing
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import lms_checks
import lms_reference as reference
import numpy as np
from lms_checks import HOUR_M, Check
from lms_reference import P681, Array, ThreeState
from scipy import signal, special, stats

from clift.land_mobile import LandMobile

PAGE = Path(__file__).parent.parent / "docs" / "evidence" / "lms-statistics.md"
LEVEL = 0.01
# The multipath is white noise through a finite filter, which has the autocorrelation J_0 under a
# Hann window of 64 wavelengths to either side. So far may it be off from J_0 up to 10 wavelengths,
# from the windowed one anywhere, and so much of an eighth of the spectrum, or of the whole beyond
# its end.
CLARKE_MARGIN = 0.006
WINDOWED_MARGIN = 0.002
SPECTRUM_MARGIN = 0.02
BEYOND_MARGIN = 0.0005


def main() -> int:
    """Runs everything; the exit code says whether all holds."""
    parser = argparse.ArgumentParser(description="land mobile channels against closed forms")
    parser.add_argument(
        "--hours", type=int, default=10, help="of signal for each road (states: always those of 10)"
    )
    parser.add_argument("--docs", action="store_true", help="write the tables of the docs")
    given = parser.parse_args()
    roads = reference.tables()
    with multiprocessing.Pool() as pool:
        seen: list[Check] = list(multipath(given.hours)) + list(steady())
        jobs = pool.imap(partial(driven, hours=given.hours), roads)
        for road, checks in zip(roads, jobs, strict=True):
            worst = min(checks, key=lambda check: check.p)
            name = f"{lms_checks.title(road)}: {len(checks)} checks"
            print(f"{name}, least p {worst.p:.2g} ({worst.name})", flush=True)
            seen += checks
        failures = holm(seen)
        for check in failures:
            values = f"{check.seen:.5g} for {check.expected:.5g}"
            print(f"BAD {check.road}, {check.name}: p {check.p:.2g}, {values}")
        print(summary(seen, failures))
        missed = list(undetected(pool, LEVEL / len(seen)))
    for fault in missed:
        print(f"BAD a closed form with {fault} is not noticed")
    if given.docs:
        write(seen, failures, given.hours)
    return 1 if failures or missed else 0


def driven(road: P681 | ThreeState, hours: int) -> list[Check]:
    """The checks of one road, and the program's own closed form against the exact one."""
    return [*lms_checks.checks(road, road, hours), *closed_form(road)]


def holm(checks: list[Check]) -> list[Check]:
    """The checks that fail so that none fails wrongly with a probability above `LEVEL`."""
    ordered = sorted(checks, key=lambda check: check.p)
    failures = []
    for index, check in enumerate(ordered):
        if check.p > LEVEL / (len(ordered) - index):
            break
        failures.append(check)
    return failures


def closed_form(road: P681 | ThreeState) -> list[Check]:
    """What `level_cdf` and the mean power use is a coarse grid of the exact mixture over a road."""
    channel = lms_checks.channel(road)
    levels = np.array([-20.0, -12.0, -8.0, -5.0, -3.0, -1.5, -0.5, 0.5, 2.0])
    weights, loo = mixture(road)
    exact = [weights @ reference.loo_cdf(np.array(10 ** (db / 20)), *loo) for db in levels]
    far = float(np.abs(channel.level_cdf(levels) - exact).max())
    direct, psi, multipath = loo
    power = np.exp(2 * reference.NEPER * direct + 2 * (reference.NEPER * psi) ** 2) + 10 ** (
        multipath / 10
    )
    exact_db = float(10 * np.log10(weights @ power))
    unit = LandMobile(
        environment=road.environment,
        model="p681" if isinstance(road, P681) else "perez-fontan",
        elevation_deg=road.elevation_deg,
        carrier_ghz=road.carrier_ghz,
        reference="mean",
    )
    mean_db = float(channel.levels(1)[0][0] - unit.levels(1)[0][0])
    name = lms_checks.title(road)
    return [
        Check(name, "level_cdf, largest distance", float(far < 0.004), far, 0.0),
        Check(name, "mean power in dB", float(abs(mean_db - exact_db) < 0.03), mean_db, exact_db),
    ]


def mixture(road: P681 | ThreeState) -> tuple[Array, tuple[Array, Array, Array]]:
    """Weights and Loo parameters of the level at a random place."""
    places = (np.arange(8) + 0.5) / 8
    shares = road.shares()
    if isinstance(road, ThreeState):
        values, vectors = np.linalg.eig(road.chain.T)
        frames = np.abs(np.real(vectors[:, np.argmax(np.real(values))]))
        leaving = frames[:, None] * road.chain * (1 - np.eye(len(frames)))
        leaving *= shares[-1] / leaving.sum()
        ramps = (
            road.loo[:, None, None]
            + places[:, None] * (road.loo[None] - road.loo[:, None])[:, :, None]
        )
        parts = np.concatenate((road.loo, ramps.reshape(-1, 3)))
        weights = np.concatenate((shares[:-1], np.repeat(leaving.ravel() / 8, 8)))
        return weights, (parts[:, 0], parts[:, 1], parts[:, 2])
    rows, weights_of = [], []
    for share, state in zip(shares, road.states, strict=False):
        rows.append(np.array(state.loo(state.levels(60))).T)
        weights_of.append(np.full(60, share / 60))
    good, bad = (np.array(state.loo(state.levels(10))).T for state in road.states)
    lengths = road.transition_m(good[:, None, 0], bad[None, :, 0])
    ramps = good[:, None, None] + places[:, None] * (bad[None] - good[:, None])[:, :, None]
    rows.append(ramps.reshape(-1, 3))
    weights_of.append(np.repeat((lengths / lengths.sum() * shares[2]).ravel() / 8, 8))
    parts, weights = np.concatenate(rows), np.concatenate(weights_of)
    return weights, (parts[:, 0], parts[:, 1], parts[:, 2])


def steady() -> Iterator[Check]:
    """Single Loo states, samples 20 m apart: 30,000 independent ones."""
    for direct, psi, multipath in ((0, 0.6, -11), (-8.2, 3.9, -12.7), (-40, 0, -3)):
        channel = LandMobile(loo=(direct, psi, multipath, 1.5), reference="los")
        stride = int(20 / (0.299792458 / 2.2 / 32))
        levels, _ = channel.levels(int(10 * HOUR_M / 20), stride, seed=1)
        law = reference.loo_cdf(
            10 ** (levels / 20.0), *(np.array(float(v)) for v in (direct, psi, multipath))
        )
        p = stats.kstest(law, "uniform").pvalue
        yield Check(
            f"Loo {direct}, {psi}, {multipath} dB",
            "level (Loo's law)",
            p,
            float(np.median(law)),
            0.5,
        )


def multipath(hours: int) -> Iterator[Check]:
    """Doppler spectrum and autocorrelation of a quadrature: the power beside a strong direct path.

    With |z|^2 at -40 dB the power is 1 + 2 Re z + |z|^2, of autocorrelation 2 s J_0 + s^2 J_0^2 for
    E|z|^2 = s, and the spectrum is Clarke's, whose share up to f is (2 / pi) asin(f / f_d).
    """
    channel = LandMobile(loo=(0, 0, -40, 1), reference="los")
    step = 0.299792458 / 2.2 / 32
    name = "multipath, 2.2 GHz, 60 km/h"
    lags = np.array([4, 8, 12, 24, 40, 80, 160, 320, 1000, 1600])
    share, window, bands = 1e-4, 1 << 16, 8
    edges = channel.doppler_hz * np.sin(np.pi / 2 * np.arange(bands + 1) / bands)
    edges[-1] *= 1.02  # what the filter and the periodogram smear
    products, spectra = [], []
    for seed in range(1, hours + 1):
        levels, every_s = channel.levels(int(HOUR_M / step) // window * window, seed=seed)
        power = 10 ** (levels.astype(float) / 10) - 1 - share
        parts = power.reshape(-1, window)
        products.append([(parts[:, : window - lag] * parts[:, lag:]).mean(1) for lag in lags])
        frequencies, density = signal.periodogram(parts, 1 / every_s, "hann", axis=1)
        band = np.searchsorted(edges, frequencies)
        spectra.append([density[:, band == number].sum(1) for number in range(1, bands + 2)])
    variance = 2 * share + share**2
    turns = lags / 32
    seen = np.concatenate(products, axis=1) / variance
    for j0, word, margin in (
        (special.j0(2 * np.pi * turns), "J_0", CLARKE_MARGIN),
        (reference.windowed_j0(turns), "windowed J_0", WINDOWED_MARGIN),
    ):
        expected = (2 * share * j0 + (share * j0) ** 2) / variance
        for turn, value, found in zip(turns, expected, seen, strict=True):
            if turn <= 10 or word != "J_0":
                p = beyond(found, value, margin)
                yield Check(name, f"{word}, {turn:.4g} wavelengths", p, found.mean(), value)
    total = np.concatenate(spectra, axis=1)
    shares = total / total.sum(0).mean()
    for number in range(bands):
        p = beyond(shares[number], 1 / bands, SPECTRUM_MARGIN / bands)
        what = f"spectrum, {edges[number]:.0f} to {edges[number + 1]:.0f} Hz"
        yield Check(name, what, p, shares[number].mean(), 1 / bands)
    p = beyond(shares[bands], 0.0, BEYOND_MARGIN)
    yield Check(name, "spectrum, beyond the largest shift", p, shares[bands].mean(), 0.0)


def beyond(seen: Array, expected: float, margin: float) -> float:
    """Probability of a mean so far beyond a margin."""
    off = max(abs(seen.mean() - expected) - margin, 0.0)
    return float(2 * stats.t.sf(off / (seen.std(ddof=1) / np.sqrt(len(seen))), len(seen) - 1))


def undetected(pool: multiprocessing.pool.Pool, bound: float) -> Iterator[str]:
    """Wrong constants that no check notices."""
    cases = [(*case, bound) for case in mutants()]
    for fault, p in pool.imap(_mutant, cases):
        print(f"wrong on purpose, {fault}: least p {p:.2g}", flush=True)
        if p > bound:
            yield fault


def _mutant(case: tuple[str, P681 | ThreeState, P681 | ThreeState, float]) -> tuple[str, float]:
    fault, made, wrong, bound = case
    p = 1.0
    for hours in (1, 10):
        p = min(check.p for check in lms_checks.checks(made, wrong, hours))
        if p <= bound:
            break
    return fault, p


def mutants() -> Iterator[tuple[str, P681 | ThreeState, P681 | ThreeState]]:
    """Closed forms that are a little wrong, beside what the program makes."""
    roads = reference.tables()
    wood = next(
        r
        for r in roads
        if isinstance(r, P681) and r.environment == "rural-wooded" and r.elevation_deg == 45
    )
    good, bad = wood.states
    for fault, change in {
        "mean of the logarithm of good durations + 0.1": replace(good, mu=good.mu + 0.1),
        "spread of good durations + 10 %": replace(good, sigma=good.sigma * 1.1),
        "shortest good duration + 20 %": replace(good, shortest_m=good.shortest_m * 1.2),
        "mean level of good events + 0.2 dB": replace(good, mean_db=good.mean_db + 0.2),
        "spread of the level of good events + 15 %": replace(good, sd_db=good.sd_db * 1.15),
        "cut of the level of good events at 10 %": replace(good, tail=0.1),
        "multipath of good events + 0.5 dB": replace(good, h=(good.h[0], good.h[1] + 0.5)),
        "spread within good events + 0.1 dB": replace(good, g=(good.g[0], good.g[1] + 0.1)),
    }.items():
        yield fault, wood, replace(wood, states=(change, bad))
    yield "length of transitions + 0.1 m", wood, replace(wood, offset_m=wood.offset_m + 0.1)
    yield "correlation length + 15 %", wood, replace(wood, corr_m=wood.corr_m * 1.15)
    yield "carrier + 5 %", wood, replace(wood, carrier_ghz=wood.carrier_ghz * 1.05)
    trees = next(
        r for r in roads if isinstance(r, ThreeState) and r.environment.startswith("intermediate")
    )
    chain = trees.chain.copy()
    chain[0] = chain[0] * [1, 0.9, 1] + [0.1 * chain[0, 1], 0, 0]
    yield "a tenth of the changes to state 2 left out", trees, replace(trees, chain=chain)
    swapped = trees.chain.copy()
    swapped[1] = swapped[1] + [0.02, 0, -0.02]
    yield "successors of state 2 wrong by 0.02", trees, replace(trees, chain=swapped)
    for column, word in enumerate(("direct path", "its spread", "multipath")):
        loo = trees.loo.copy()
        loo[0, column] += 0.2
        yield f"{word} + 0.2 dB", trees, replace(trees, loo=loo)
    yield "frames + 5 %", trees, replace(trees, frame_m=trees.frame_m * 1.05)


def summary(checks: list[Check], failures: list[Check]) -> str:
    """All checks in a line."""
    least, bound = min(check.p for check in checks), LEVEL / len(checks)
    beyond = f"{len(failures)} beyond the bound"
    return f"{len(checks)} checks, {beyond}; least p {least:.2g}, bound {bound:.2g}"


def write(checks: list[Check], failures: list[Check], hours: int) -> None:
    """Puts the tables between the marks of the page."""
    rows = [
        "| road | duration, m | crossings of -4 dB a second | mean fade, ms | checks | least p |"
    ]
    rows.append("|---|---|---|---|---|---|")
    names = dict.fromkeys(check.road for check in checks if "deg" in check.road)
    for name in names:
        mine = [check for check in checks if check.road == name]
        cells = []
        for start in ("duration", "crossings a second, -4", "mean fade in ms, -4"):
            pairs = [f"{c.seen:.3g} / {c.expected:.3g}" for c in mine if c.name.startswith(start)]
            cells.append(", ".join(pairs))
        least = min(check.p for check in mine)
        rows.append(f"| {name} | {' | '.join(cells)} | {len(mine)} | {least:.2g} |")
    rows.append("")
    rows.append("| multipath | seen | closed form | p |")
    rows.append("|---|---|---|---|")
    for check in checks:
        if check.road.startswith("multipath"):
            rows.append(
                f"| {check.name} | {check.seen:.4f} | {check.expected:.4f} | {check.p:.2g} |"
            )
    run = f"States of 10 hours, {hours} hours of signal a road: "
    text = run + summary(checks, failures) + ".\n\n" + "\n".join(rows) + "\n"
    pattern = re.compile(r"(<!-- table -->\n).*?(<!-- /table -->)", re.DOTALL)
    PAGE.write_text(pattern.sub(lambda match: match[1] + text + match[2], PAGE.read_text()))


if __name__ == "__main__":
    sys.exit(main())
