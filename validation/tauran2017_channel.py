"""Tauran 2017 over a second channel: the one of the tables, synthesised in another way.

    python validation/tauran2017_channel.py [SEEDS]

Some cells of tables 1 and 2 (docs/evidence/papers.md) differ from the print. This program tests
whether the way in which CLIFT makes the channel is the cause. Its channel has other parts: it walks
through the states sample by sample, adds 64 sinusoids for the multipath, averages the mutual
information of a millisecond over four samples, and takes power and mean from the realisation.
Goodput and failures of every cell must agree within the scatter of the runs; otherwise the program
exits with 1. It also reports, without a verdict, two variants: states that change at once, and
thresholds drawn for each attempt.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from importlib import resources
from typing import Any

import numpy as np
from lms_reference import Array, ThreeState, tables
from numpy.typing import NDArray
from scipy.signal import lfilter

import clift
from clift import constellation
from clift.land_mobile import LandMobile
from clift.papers.leo import Cell, table_cells

SNR_DB = (7, 10, 13)
DURATION_S = 600
SPEED, WAVELENGTH = 60 / 3.6, 299_792_458 / 2.2e9
SUB = 4  # samples a millisecond
BY_ATTEMPT = {"packet_sigma": 0.0, "attempt_sigma": 0.25, "increment": 0.43}
Measured = dict[tuple[int, int, str, str], list[float]]


def main() -> int:
    """Runs everything; returns the exit code."""
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 16
    own = _measured(table_cells(seeds=seeds, snr_db=SNR_DB))
    variants: dict[str, Callable[[int, float], clift.AdaptiveHarqLink]] = {
        "second channel": partial(_link, transitions=True),
        "states change at once": partial(_link, transitions=False),
        "a threshold for each attempt": partial(_link, transitions=True, **BY_ATTEMPT),
    }
    worst = 0.0
    for name, link in variants.items():
        other = _measured(table_cells(seeds=seeds, snr_db=SNR_DB, link=link))
        print(f"{name}\n{'table, dB, TCP':<22}{'':<10}{'ours':>16}{'other':>16}{'z':>6}")
        for key, text, z in _compared(own, other):
            print(f"{key:<22}{text}{z:6.1f}")
            worst = max(worst, abs(z)) if name == "second channel" else worst
    # The largest of 24 normal numbers passes 3.6 once in a hundred times.
    holds = worst < 3.6
    print(f"{'holds' if holds else 'FAILS'}: largest deviation {worst:.1f} standard errors")
    return int(not holds)


def _compared(own: Measured, other: Measured) -> Iterator[tuple[str, str, float]]:
    for key, here in own.items():
        means = [np.mean(values) for values in (here, other[key])]
        errors = [np.std(values, ddof=1) / len(values) ** 0.5 for values in (here, other[key])]
        texts = [f"{m:9.4g} ± {e:<4.2g}" for m, e in zip(means, errors, strict=True)]
        table, snr_db, tcp, name = key
        where = f"{table}, {snr_db} dB, {tcp}"
        yield where, f"{name:<10}" + "".join(texts), (means[1] - means[0]) / np.hypot(*errors)


def _measured(cells: list[Cell]) -> Measured:
    found: Measured = {}
    for cell in cells:
        key = cell.table, cell.snr_db, cell.transport
        found[*key, "goodput"] = cell.values["goodput_kbps"]
        found[*key, "failures"] = [100 - success for success in cell.values["success_percent"]]
    return found


def _link(seed: int, snr_db: float, transitions: bool, **fitted: Any) -> clift.AdaptiveHarqLink:
    with resources.as_file(resources.files("clift.papers")) as folder:
        delays = constellation.read(folder / "leo66_toulouse_losangeles.csv")
    power = _power(seed, transitions)
    levels = 10 * np.log10(np.maximum(power / power.mean(), 1e-8)) + snr_db
    grid = np.linspace(-80, 40, 2401)
    curve = LandMobile("its").awgn_information(grid)
    values = np.interp(levels, grid, curve).reshape(-1, SUB).mean(axis=1)
    return clift.AdaptiveHarqLink(
        rate_kbps=50_000, delay_ms=delays, information=values.astype(np.float32), **fitted
    )


@lru_cache(maxsize=32)  # the same at each Es/N0
def _power(seed: int, transitions: bool) -> NDArray[np.float32]:
    """Power over time relative to the line of sight, `SUB` samples a millisecond."""
    rng = np.random.default_rng(seed)
    road = next(
        row
        for row in tables()
        if isinstance(row, ThreeState) and row.environment.startswith("intermediate")
    )
    step = SPEED * 1e-3 / SUB
    count = DURATION_S * 1000 * SUB
    direct, psi, multipath = _states(road, count, step, transitions, rng)
    rho = np.exp(-step / road.corr_m)
    slow = lfilter([np.sqrt(1 - rho**2)], [1, -rho], rng.standard_normal(count))
    place = np.arange(count) * step
    fast = np.zeros(count, complex)
    waves = 64
    for angle in 2 * np.pi * (np.arange(waves) + rng.random(waves)) / waves:
        turn = 2 * np.pi * (np.cos(angle) / WAVELENGTH * place + rng.random())
        fast += np.exp(1j * turn) / waves**0.5
    level = 10 ** ((direct + psi * slow) / 20) + 10 ** (multipath / 20) * fast
    return np.asarray(np.abs(level) ** 2, np.float32)


def _states(
    road: ThreeState, count: int, step: float, transitions: bool, rng: np.random.Generator
) -> Array:
    """Loo parameters of each sample: rows of direct path, spread, multipath in dB."""
    parts, place, state = [], 0.0, int(rng.integers(3))
    while place < count * step:
        after = int(rng.choice(3, p=road.chain[state]))
        parts.append((place, state, state))
        place += road.frame_m[state]
        if transitions and after != state:
            parts.append((place, state, after))
            place += road.transition_m
        state = after
    starts = np.array([start for start, _, _ in parts])
    at = np.arange(count) * step
    part = np.searchsorted(starts, at, side="right") - 1
    come, go = (np.array([p[i] for p in parts])[part] for i in (1, 2))
    share = np.where(come == go, 0, (at - starts[part]) / road.transition_m)
    return np.asarray((road.loo[come] * (1 - share)[:, None] + road.loo[go] * share[:, None]).T)


if __name__ == "__main__":
    sys.exit(main())
