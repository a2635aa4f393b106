"""Land mobile channels over 10 hours of signal against closed forms.

    python validation/lms_statistics.py        # a line a check; exit code 1 if one fails

The short forms of these run in `core/tests/land_mobile.rs`; here every environment of both models
is driven for 10 hours at 60 km/h. Samples are taken so far apart that they are independent where a
goodness-of-fit test wants that. References come from scipy (`pip install scipy`), not from the
program.
"""

from __future__ import annotations

import sys

import numpy as np
from scipy import signal, special, stats

from clift import _clift
from clift.land_mobile import LandMobile

HOURS = 10
SPEED = 60 / 3.6
WAVELENGTH = 0.299792458 / 2.2
STEP_M = WAVELENGTH / 32
FAILED = False


def check(name: str, value: float, bound: float) -> None:
    """Prints a line, and remembers a value beyond its bound."""
    global FAILED
    FAILED |= not abs(value) <= bound
    print(
        f"{'ok ' if abs(value) <= bound else 'BAD'} {name}: {value:.4f} (bound {bound:.4f})",
        flush=True,
    )


def loo_cdf(r: np.ndarray, direct: float, psi: float, multipath: float) -> np.ndarray:
    """Rice's law by the non-central chi-square distribution, over Gauss-Hermite nodes."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(64)
    power = 10 ** (multipath / 10)
    amplitudes = 10 ** ((direct + psi * nodes) / 20)
    laws = [stats.ncx2.cdf(2 * r**2 / power, 2, 2 * a**2 / power) for a in amplitudes]
    return np.tensordot(weights / weights.sum(), laws, 1)


def steady() -> None:
    """Loo states: 10 hours give 60,000 independent samples; Kolmogorov and Smirnov at 1e-4."""
    for direct, psi, multipath in ((0, 0.6, -11), (-8.2, 3.9, -12.7), (-17, 3.14, -10)):
        channel = LandMobile("internet", 6, loo=(direct, psi, multipath, 1.5), reference="los")
        stride = int(10 / STEP_M)
        count = int(HOURS * 3600 * SPEED / (stride * STEP_M))
        levels, _ = channel.levels(count, stride, seed=1)
        law = lambda db, d=direct, p=psi, m=multipath: loo_cdf(10 ** (db / 20), d, p, m)  # noqa: E731
        distance = stats.kstest(levels, law).statistic
        check(f"Loo {direct} {psi} {multipath}, Kolmogorov", distance, 2.23 / np.sqrt(count))


def doppler() -> None:
    """Spectrum and autocorrelation of the multipath, from a weak line in the power spectrum.

    The envelope's square of a pure Rayleigh signal has the autocorrelation 1 + J_0^2.
    """
    channel = LandMobile("internet", 6, loo=(-80.0, 0.0, 0.0, 1.0))
    stride = 4
    count = int(HOURS * 3600 * SPEED / (STEP_M * stride))
    power = 10 ** (channel.levels(count, stride, seed=2)[0].astype(float) / 10)
    lags = np.arange(0, 200, 3)
    mean = power.mean()
    for limit, bound in ((40, 0.012), (200, 0.03)):
        chosen = lags[lags < limit]
        found = [np.mean(power[: count - lag] * power[lag:]) / mean**2 - 1 for lag in chosen]
        expected = special.j0(2 * np.pi * chosen * STEP_M * stride / WAVELENGTH) ** 2
        check(f"J_0^2 up to lag {limit}", np.abs(np.array(found) - expected).max(), bound)
    frequencies, density = signal.welch(power - mean, 1 / (STEP_M * stride / SPEED), nperseg=8192)
    beyond = density[frequencies > 2.2 * channel.doppler_hz].sum() / density.sum()
    check("share of power beyond twice the largest shift", beyond, 1e-3)


def roads() -> None:
    """Every environment: the signal's law and mean power against the model's mixture.

    Errors are those of 100 parts of 6 km, each of which holds many states; largest deviation in
    standard errors over 20 levels, with .005 for the mixture's own grid.
    """
    _, p681, perez_fontan, _ = _clift.lms_names()
    for model, names in (("p681", p681), ("perez-fontan", perez_fontan)):
        for name in names:
            road(model, name, 45 if model == "p681" else 40)


def road(model: str, name: str, elevation_deg: float) -> None:
    """One environment."""
    channel = LandMobile("internet", 6, environment=name, model=model, elevation_deg=elevation_deg)
    stride = int(5 / STEP_M)
    count = int(HOURS * 3600 * SPEED / (stride * STEP_M)) // 100 * 100
    levels = channel.levels(count, stride, seed=3)[0].astype(float)
    points = np.quantile(levels, np.linspace(0.02, 0.98, 20))
    parts = levels.reshape(100, -1)
    shares = np.array([[np.mean(part < point) for point in points] for part in parts])
    errors = shares.std(0, ddof=1) / 10
    off = np.maximum(np.abs(shares.mean(0) - channel.level_cdf(points)) - 0.005, 0)
    check(f"{model} {name}, mixture, in standard errors", (off / errors).max(), 4.5)
    means = np.mean(10 ** (parts / 10), axis=1)
    off_mean = (means.mean() - 1) / (means.std(ddof=1) / 10)
    check(f"{model} {name}, mean power, in standard errors", off_mean, 4.5)


if __name__ == "__main__":
    steady()
    doppler()
    roads()
    sys.exit(FAILED)
