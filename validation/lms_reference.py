"""Closed forms of the land mobile models, from the tables themselves and scipy.

No part of the program is used: the tables are read as text, laws come from scipy's non-central
chi-square distribution and normal distribution. Lengths in metres, levels in dB, as in the tables.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

Array = NDArray[np.float64]
DATA = Path(__file__).parent.parent / "core" / "src" / "channel" / "lms" / "data"
NEPER = np.log(10) / 20


@dataclass(frozen=True)
class Event:
    """A state of P.681: lognormal duration and normal mean level, both cut."""

    mu: float
    sigma: float
    shortest_m: float
    mean_db: float
    sd_db: float
    h: tuple[float, float]
    g: tuple[float, float]
    tail: float

    def duration_cdf(self, x: Array) -> Array:
        """P(duration <= x)."""
        cut = stats.norm.sf(self._z(self.shortest_m))
        return np.clip(1 - stats.norm.sf(self._z(x)) / cut, 0, 1)

    def mean_m(self) -> float:
        """Mean duration."""
        return float(self._partial(np.inf))

    def residual_cdf(self, x: Array) -> Array:
        """P(rest of the stay at a random place <= x): the integral of 1 - F over the mean."""
        below = np.minimum(x, self.shortest_m)
        x = np.maximum(x, self.shortest_m)
        inside = x * (1 - self.duration_cdf(x)) + self._partial(x)
        return np.where(below < self.shortest_m, below, inside) / self.mean_m()

    def level_cdf(self, x: Array) -> Array:
        """P(mean level of an event <= x)."""
        kept = 1 - 2 * self.tail
        return np.clip((stats.norm.cdf((x - self.mean_db) / self.sd_db) - self.tail) / kept, 0, 1)

    def levels(self, count: int) -> Array:
        """Mean levels of equal probability."""
        p = self.tail + (1 - 2 * self.tail) * (np.arange(count) + 0.5) / count
        return self.mean_db + self.sd_db * stats.norm.ppf(p)

    def loo(self, level: Array) -> tuple[Array, Array, Array]:
        """Direct path, its spread, multipath."""
        psi = np.maximum(self.g[0] * level + self.g[1], 0)
        return level, psi, self.h[0] * level + self.h[1]

    def _z(self, x: Array | float) -> Array:
        return (np.log(np.maximum(x, 1e-300)) - self.mu) / self.sigma

    def _partial(self, x: Array | float) -> Array:
        """E[duration; duration <= x]."""
        start = self._z(self.shortest_m)
        weight = stats.norm.cdf(self._z(x) - self.sigma) - stats.norm.cdf(start - self.sigma)
        return np.exp(self.mu + self.sigma**2 / 2) * weight / stats.norm.sf(start)


@dataclass(frozen=True)
class P681:
    """A row of the two-state table."""

    environment: str
    elevation_deg: float
    carrier_ghz: float
    states: tuple[Event, Event]
    corr_m: float
    slope: float
    offset_m: float

    def transition_m(self, a: Array, b: Array) -> Array:
        """Length of a transition between mean levels a and b."""
        return np.maximum(self.slope * np.abs(a - b) + self.offset_m, 0)

    def shares(self) -> Array:
        """Share of the way in the good state, the bad state and transitions."""
        good, bad = (state.levels(400) for state in self.states)
        means = [state.mean_m() for state in self.states]
        parts = np.array([*means, 2 * self.transition_m(good[:, None], bad[None]).mean()])
        return parts / parts.sum()


@dataclass(frozen=True)
class ThreeState:
    """The rows of an environment in the three-state table; columns by state."""

    environment: str
    elevation_deg: float
    carrier_ghz: float
    chain: Array
    loo: Array
    frame_m: Array
    corr_m: float
    transition_m: float

    def shares(self) -> Array:
        """Share of the way in each state and in transitions."""
        values, vectors = np.linalg.eig(self.chain.T)
        frames = np.real(vectors[:, np.argmax(np.real(values))])
        frames /= frames.sum()
        leaving = frames * (1 - np.diag(self.chain))
        parts = np.array([*(frames * self.frame_m), leaving.sum() * self.transition_m])
        return parts / parts.sum()


def tables() -> list[P681 | ThreeState]:
    """Every row of both tables."""
    roads: list[P681 | ThreeState] = []
    for row in _rows("p681.csv"):
        v = row
        states = tuple(
            Event(
                *(float(v[f"{s}_{name}"]) for name in ("mu", "sigma", "dmin", "ma_mean", "ma_sd")),
                h=(float(v[f"{s}_h1"]), float(v[f"{s}_h2"])),
                g=(float(v[f"{s}_g1"]), float(v[f"{s}_g2"])),
                tail=tail,
            )
            for s, tail in (("g", 0.05), ("b", 0.1))
        )
        carrier = 2.2 if float(v["band_low_ghz"]) < 3 else 3.8
        elevation, corr = float(v["elevation_deg"]), float(v["corr_m"])
        name, f = v["environment"], (float(v["f1"]), float(v["f2"]))
        roads.append(P681(name, elevation, carrier, (states[0], states[1]), corr, *f))
    groups: dict[tuple[str, str], list[dict[str, str]]] = {}
    for row in _rows("perez_fontan.csv"):
        groups.setdefault((row["environment"], row["elevation_deg"]), []).append(row)
    for (name, angle), rows in groups.items():
        numbers = [int(row["state"]) for row in rows]
        chain = np.array([[float(row[f"p{to}"]) for to in numbers] for row in rows])
        loo = np.array(
            [[float(row[k]) for k in ("direct_db", "psi_db", "multipath_db")] for row in rows]
        )
        frame = np.array([float(row["frame_m"]) for row in rows])
        lengths = float(rows[0]["corr_m"]), float(rows[0]["transition_m"])
        chain /= chain.sum(1, keepdims=True)
        roads.append(ThreeState(name, float(angle), 2.2, chain, loo, frame, *lengths))
    return roads


def rice_cdf(r: Array, a: Array, power: Array) -> Array:
    """P(|a + z| <= r), z complex Gaussian of this power."""
    return special.chndtr(2 * r**2 / power, 2, 2 * a**2 / power)


def loo_cdf(r: Array, direct: Array, psi: Array, multipath: Array) -> Array:
    """P(envelope <= r): Rice's law over the lognormal direct path (trapezoid, +-5.5 sigma)."""
    x = np.linspace(-5.5, 5.5, 141)
    weights = np.exp(-(x**2) / 2)
    weights /= weights.sum()
    r, direct, psi, multipath = np.broadcast_arrays(r, direct, psi, multipath)
    power = 10 ** (multipath / 10)
    total = np.zeros(r.shape)
    for node, weight in zip(x, weights, strict=True):
        total += weight * rice_cdf(r, np.exp(NEPER * (direct + psi * node)), power)
    return total


def crossing_probability(
    r: float, loo: tuple[float, float, float], corr_m: float, step_m: float, wavelength_m: float
) -> float:
    """P(one sample at or above r, the next below it): the level crossing rate of samples, exactly.

    The direct path is a lognormal first-order autoregression, the multipath has the correlation
    J_0. For a small step without shadowing this is Rice's sqrt(beta / 2 pi) p(r).
    """
    direct, psi, multipath = loo
    power = 10 ** (multipath / 10)
    rho, j0 = np.exp(-step_m / corr_m), special.j0(2 * np.pi * step_m / wavelength_m)
    fresh = power * (1 - j0**2)
    nodes = (33, 5) if psi > 0 else (1, 1)
    x0 = np.linspace(-5, 5, nodes[0]) if psi > 0 else np.zeros(1)
    w0 = np.exp(-(x0**2) / 2)
    dx, wd = np.polynomial.hermite_e.hermegauss(nodes[1])
    angle = (np.arange(48) + 0.5) / 48 * np.pi  # symmetric in the angle
    # Above r by at most this many standard deviations of a step.
    reach = 7 * np.sqrt(fresh / 2) + 7 * NEPER * psi * np.sqrt(1 - rho**2) * r
    u, wu = np.polynomial.legendre.leggauss(24)
    above = r + reach * (u + 1) / 2
    a0 = np.exp(NEPER * (direct + psi * x0))[:, None, None, None]
    x1 = rho * x0[:, None] + np.sqrt(1 - rho**2) * dx[None]
    a1 = np.exp(NEPER * (direct + psi * x1))[:, :, None, None]
    z0 = above[None, None, :, None] * np.exp(1j * angle)[None, None, None] - a0
    density = above[None, None, :, None] / (np.pi * power) * np.exp(-(np.abs(z0) ** 2) / power)
    mean, spread = np.abs(a1 + j0 * z0), np.sqrt(fresh / 2)
    if r > 12 * spread:  # nearly normal, and much quicker
        below = special.ndtr((r - np.hypot(mean, spread)) / spread)
    else:
        below = rice_cdf(np.array(r), mean, np.array(fresh))
    weight = (w0 / w0.sum())[:, None, None, None] * (wd / wd.sum())[None, :, None, None]
    weight = weight * (wu * reach / 2)[None, None, :, None] * (2 * np.pi / 48)
    return float((weight * density * below).sum())


def windowed_j0(wavelengths: Array) -> Array:
    """Autocorrelation of the multipath this many wavelengths apart.

    Clarke's J_0 under a Hann window of 64 wavelengths to either side: the filter is finite.
    """
    window = np.where(wavelengths < 64, np.cos(np.pi * wavelengths / 128) ** 2, 0)
    return np.asarray(special.j0(2 * np.pi * wavelengths) * window)


def power_covariance(
    loo: tuple[Array, Array, Array], corr_m: float, lag_m: float, wavelength_m: float
) -> Array:
    """Covariance of the power at two places of one state, `lag_m` apart."""
    m, s = NEPER * loo[0], NEPER * loo[1]
    power = 10 ** (loo[2] / 10)
    rho, j0 = np.exp(-lag_m / corr_m), windowed_j0(np.asarray(lag_m / wavelength_m))
    direct = np.exp(4 * m + 4 * s**2) * np.expm1(4 * s**2 * rho)
    both = 2 * np.exp(2 * m + s**2 * (1 + rho)) * power * j0
    return direct + both + (power * j0) ** 2


def _rows(name: str) -> list[dict[str, str]]:
    with (DATA / name).open() as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))
