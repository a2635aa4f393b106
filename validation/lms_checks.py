"""Checks of one road of the land mobile models: what the program makes against closed forms.

Each check gives a probability of what was seen under the closed form. Two things make those
probabilities right although samples of a fading signal depend on each other for metres and the
states of a road for kilometres:

* What is drawn once a state (durations, mean levels, successors) is independent from state to
  state, and is compared over a fixed *number* of states, not over a fixed way: a way holds too few
  long ones. The start is compared over thousands of seeds.
* The signal is compared *given its road*: the rest is then shadowing and multipath, whose
  memory is a few metres, so that stretches of kilometres are independent, and 10 hours hold
  hundreds of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import lms_reference as reference
import numpy as np
from lms_reference import P681, Array, ThreeState
from scipy import stats

from clift.land_mobile import LandMobile

SPEED = 60 / 3.6
HOUR_M = 3600 * SPEED
BATCH_M = 3000.0
STATES_M = 10 * HOUR_M
STARTS = 3000
LEVELS_DB = (-10.0, -4.0, -0.5)
# Multipath comes through a filter of finite length: so far may a crossing rate be off.
CROSSING_MARGIN = 0.005


@dataclass(frozen=True)
class Check:
    """What was compared, the probability of it, and what was seen beside what was expected."""

    road: str
    name: str
    p: float
    seen: float
    expected: float


def channel(road: P681 | ThreeState) -> LandMobile:
    """The program's channel of a row of the tables."""
    model = "p681" if isinstance(road, P681) else "perez-fontan"
    return LandMobile(
        "internet",
        6,
        environment=road.environment,
        model=model,
        elevation_deg=road.elevation_deg,
        carrier_ghz=road.carrier_ghz,
        reference="los",
    )


def title(road: P681 | ThreeState) -> str:
    """A name for tables."""
    model = "P.681" if isinstance(road, P681) else "Perez-Fontan"
    return f"{model} {road.environment} {road.elevation_deg:.0f} deg, {road.carrier_ghz} GHz"


def checks(made: P681 | ThreeState, road: P681 | ThreeState, hours: int) -> Iterator[Check]:
    """Every check: `made` names what the program makes, `road` the closed forms."""
    inner, name = channel(made), title(made)
    found = [*_states(inner, road), *_start(inner, road), *_signal(inner, road, hours)]
    yield from (Check(name, what, p, seen, expected) for what, p, seen, expected in found)


Found = tuple[str, float, float, float]


def _states(channel: LandMobile, road: P681 | ThreeState) -> list[Found]:
    """Durations, levels, successors and transitions of as many states as 10 hours hold."""
    if isinstance(road, P681):
        cycle = road.states[0].mean_m() / road.shares()[0]
        stays = 2 * int(max(STATES_M / cycle, 200))
    else:
        stays = int(STATES_M / (road.frame_m / (1 - np.diag(road.chain))).mean())
    # A stay and a transition take turns; the first may be either, and is cut.
    drive = channel.road(2 * stays + 4, seed=1)
    drive = {key: values[2:] for key, values in drive.items()}
    moving = drive["direct_db"] != drive["direct_end_db"]
    stay = {key: values[~moving] for key, values in drive.items()}
    move = {key: values[moving] for key, values in drive.items()}
    found: list[Found] = []
    if isinstance(road, P681):
        for number, state in enumerate(road.states):
            mine = {key: values[stay["state"] == number] for key, values in stay.items()}
            word = ("good", "bad")[number]
            lengths, levels = mine["length_m"], mine["direct_db"]
            p = stats.kstest(lengths, state.duration_cdf).pvalue
            found.append((f"duration, {word}", p, lengths.mean(), state.mean_m()))
            p = stats.kstest(levels, state.level_cdf).pvalue
            found.append((f"level, {word}", p, levels.mean(), state.levels(400).mean()))
            _, psi, multipath = state.loo(levels)
            far = max(abs(mine["psi_db"] - psi).max(), abs(mine["multipath_db"] - multipath).max())
            found.append((f"spread and multipath, {word}", float(far < 1e-9), far, 0.0))
        expected = road.transition_m(move["direct_db"], move["direct_end_db"])
    else:
        for number in range(len(road.chain)):
            mine = stay["state"] == number
            found.extend(_frames(stay["length_m"][mine], road, number))
            after = stay["state"][1:][mine[:-1]]
            law = road.chain[number] / (1 - road.chain[number, number])
            law[number] = 0.0
            found.append(_counts(f"successor of {number + 1}", after, law))
            columns = ("direct_db", "psi_db", "multipath_db")
            seen = np.array([stay[column][mine] for column in columns]).T
            far = np.abs(seen - road.loo[number]).max()
            found.append((f"levels of {number + 1}", float(far < 1e-9), far, 0.0))
        expected = np.full(len(move["length_m"]), road.transition_m)
    far = np.abs(move["length_m"] - expected).max()
    found.append(("length of transitions", float(far < 1e-9), far, 0.0))
    return found


def _frames(lengths: Array, road: ThreeState, number: int) -> list[Found]:
    """Frames in a row follow the geometric law."""
    frames = np.rint(lengths / road.frame_m[number]).astype(int)
    whole = np.abs(frames * road.frame_m[number] - lengths).max() < 1e-6
    staying = road.chain[number, number]
    most = max(2, 1 + int(np.log(20 / len(frames)) / np.log(staying)))
    law = (1 - staying) * staying ** np.arange(most)
    law[-1] = staying ** (most - 1)
    _, p, _, _ = _counts("", np.minimum(frames, most) - 1, law)
    mean = road.frame_m[number] / (1 - staying)
    return [(f"duration, {number + 1}", p * whole, lengths.mean(), mean)]


def _start(channel: LandMobile, road: P681 | ThreeState) -> list[Found]:
    """The state at the start, over many seeds, and its remaining duration."""
    drives = [channel.road(1, seed) for seed in range(1, STARTS + 1)]
    first = {key: np.array([drive[key][0] for drive in drives]) for key in drives[0]}
    moving = first["direct_db"] != first["direct_end_db"]
    shares = road.shares()
    found = [
        _counts("the state at the start", np.where(moving, len(shares) - 1, first["state"]), shares)
    ]
    if isinstance(road, P681):
        for number, state in enumerate(road.states):
            left = first["length_m"][~moving & (first["state"] == number)]
            if len(left) > 30:
                p = stats.kstest(left, state.residual_cdf).pvalue
                word = ("good", "bad")[number]
                middle = float(state.residual_cdf(np.array([np.median(left)]))[0])
                found.append((f"its remaining duration, {word}", p, middle, 0.5))
    return found


def _counts(name: str, seen: Array, law: Array) -> Found:
    """Pearson's test; categories of probability 0 must stay empty."""
    counts = np.bincount(seen.astype(int), minlength=len(law))
    if counts[law == 0].any():
        return name, 0.0, float(counts[law == 0].sum()), 0.0
    kept, shares = counts[law > 0], law[law > 0] / law.sum()
    if len(kept) == 1:
        return name, 1.0, 1.0, 1.0
    p = stats.chisquare(kept, shares * kept.sum()).pvalue
    worst = int(np.argmax(np.abs(kept / kept.sum() - shares)))
    return name, p, kept[worst] / kept.sum(), shares[worst]


class _Sums:
    """Deviations and expectations of a count, summed by stretch of the way."""

    def __init__(self) -> None:
        self.seen: list[Array] = []
        self.expected: list[Array] = []

    def add(self, batch: Array, seen: Array, expected: Array) -> None:
        size = int(HOUR_M / BATCH_M) + 1
        self.seen.append(np.bincount(batch, seen, size))
        self.expected.append(np.bincount(batch, expected, size))

    def totals(self) -> tuple[Array, Array]:
        return np.concatenate(self.seen), np.concatenate(self.expected)


def _student(deviations: Array, margin: float = 0.0) -> float:
    """Probability of a sum of independent deviations of mean zero, of any variances."""
    used = deviations[deviations != 0]
    if len(used) < 30:
        return 1.0
    off = max(abs(used.sum()) - margin, 0.0)
    return float(2 * stats.t.sf(off / np.sqrt((used**2).sum()), len(used) - 1))


def _signal(channel: LandMobile, road: P681 | ThreeState, hours: int) -> list[Found]:
    """Level, autocorrelation, crossings and fades; each hour has its own road."""
    wavelength = 0.299792458 / road.carrier_ghz
    step = wavelength / 32
    laws = _Laws(road, step, wavelength)
    uniform: list[Array] = []
    products = _Sums()
    crossings, below = [_Sums() for _ in LEVELS_DB], [_Sums() for _ in LEVELS_DB]
    for seed in range(1, hours + 1):
        count = int(HOUR_M / step)
        levels, _ = channel.levels(count, seed=seed)
        drive = channel.road(_enough(channel, seed), seed=seed)
        uniform.append(_transform(levels, drive, road.corr_m, step))
        _products(products, levels, drive, road.corr_m, step, wavelength)
        state, low, high, level = _pieces(drive, step, count)
        batch = (low * step / BATCH_M).astype(int)
        for index, db in enumerate(LEVELS_DB):
            under = levels < db
            times = np.concatenate(([0], np.cumsum(under, dtype=np.int32)))
            down = np.concatenate(([0], np.cumsum(under[1:] > under[:-1], dtype=np.int32)))
            rate, share = laws.at(index, state, level)
            crossings[index].add(batch, down[high - 1] - down[low], rate * (high - low - 1))
            below[index].add(batch, times[high] - times[low], share * (high - low))
    together = np.concatenate(uniform)
    p = stats.kstest(together, "uniform").pvalue
    found: list[Found] = [("level (Loo's law)", p, float(np.median(together)), 0.5)]
    seen, expected = products.totals()
    if expected.sum():
        ratio = seen.sum() / expected.sum()
        found.append(("autocorrelation", _student(seen - expected), ratio, 1.0))
    for index, db in enumerate(LEVELS_DB):
        down, rate = crossings[index].totals()
        under, share = below[index].totals()
        if rate.sum() < 200:
            continue
        margin = CROSSING_MARGIN * rate.sum()
        each = hours * 3600
        p = _student(down - rate, margin)
        found.append((f"crossings a second, {db} dB", p, down.sum() / each, rate.sum() / each))
        length = share.sum() / rate.sum()
        p = _student((under - share) - length * (down - rate), margin * length)
        milliseconds = step / SPEED * 1e3
        fade = under.sum() / down.sum() * milliseconds
        found.append((f"mean fade in ms, {db} dB", p, fade, length * milliseconds))
    return found


def _enough(channel: LandMobile, seed: int) -> int:
    """Stretches that cover an hour."""
    count = 1000
    while channel.road(count, seed)["length_m"].sum() < HOUR_M + 10:
        count *= 2
    return count


def _transform(levels: Array, drive: dict[str, Array], corr_m: float, step: float) -> Array:
    """The law's value of levels so far apart that they are independent: uniform if it holds."""
    numbers = np.arange(0, len(levels), int(max(10 * corr_m, 20) / step))
    ends = np.cumsum(drive["length_m"])
    index = np.searchsorted(ends, numbers * step, side="right")
    length = drive["length_m"][index]
    place = (numbers * step - (ends[index] - length)) / length
    mix = [
        drive[name][index] * (1 - place) + drive[name.replace("_db", "_end_db")][index] * place
        for name in ("direct_db", "psi_db", "multipath_db")
    ]
    return reference.loo_cdf(10 ** (levels[numbers] / 20.0), *mix)


def _products(
    sums: _Sums,
    levels: Array,
    drive: dict[str, Array],
    corr_m: float,
    step: float,
    wavelength: float,
) -> None:
    """Products of the power at two places of a stay, half a correlation length apart.

    States whose direct path spreads over 3 dB are left out: the fourth moment of a lognormal power
    does not settle in hours.
    """
    lag = round(0.5 * corr_m / step)
    ends = np.cumsum(drive["length_m"])
    numbers = np.arange(0, len(levels) - lag, max(lag // 4, 1))
    first = np.searchsorted(ends, (numbers - 1) * step, side="right")
    last = np.searchsorted(ends, (numbers + lag + 1) * step, side="right")
    still = (drive["direct_db"] == drive["direct_end_db"]) & (drive["psi_db"] <= 3)
    kept = (first == last) & still[first]
    numbers, first = numbers[kept], first[kept]
    loo = tuple(drive[name][first] for name in ("direct_db", "psi_db", "multipath_db"))
    mean = np.exp(2 * reference.NEPER * loo[0] + 2 * (reference.NEPER * loo[1]) ** 2)
    mean += 10 ** (loo[2] / 10)
    variance = reference.power_covariance(loo, corr_m, 0.0, wavelength)
    expected = reference.power_covariance(loo, corr_m, lag * step, wavelength) / variance
    here, there = (10 ** (levels[numbers + k].astype(float) / 10) - mean for k in (0, lag))
    sums.add((numbers * step / BATCH_M).astype(int), here * there / variance, expected)


def _pieces(drive: dict[str, Array], step: float, count: int) -> tuple[Array, Array, Array, Array]:
    """Stays cut at the ends of stretches: state, first sample, one past the last, mean level."""
    ends = np.minimum(np.cumsum(drive["length_m"]), count * step - step)
    starts = np.concatenate(([0.0], ends[:-1]))
    still = (drive["direct_db"] == drive["direct_end_db"]) & (ends > starts)
    cuts = np.arange(0, count * step + BATCH_M, BATCH_M)
    edges = np.union1d(np.concatenate((starts[still], ends[still])), cuts)
    edges = edges[edges <= ends.max()]
    middle = (edges[1:] + edges[:-1]) / 2
    index = np.minimum(np.searchsorted(ends, middle, side="right"), len(ends) - 1)
    # A sample beside either end is left out: rounding decides on which side it is.
    low = np.floor(edges[:-1] / step).astype(int) + 2
    high = np.floor(edges[1:] / step).astype(int) - 1
    kept = still[index] & (high > low + 1)
    index = index[kept]
    return drive["state"][index], low[kept], high[kept], drive["direct_db"][index]


class _Laws:
    """Crossings a step and share of samples below each level, by state and its mean level."""

    def __init__(self, road: P681 | ThreeState, step: float, wavelength: float) -> None:
        self._tables: list[list[tuple[Array, Array, Array]]] = []
        for db in LEVELS_DB:
            r = 10 ** (db / 20)
            tables = []
            for nodes, *loo in _nodes(road):
                rows = np.array([np.broadcast_to(values, nodes.shape) for values in loo]).T
                rate = [
                    reference.crossing_probability(r, tuple(row), road.corr_m, step, wavelength)
                    for row in rows
                ]
                share = reference.loo_cdf(np.array(r), *rows.T)
                tables.append((nodes, np.array(rate), share))
            self._tables.append(tables)

    def at(self, index: int, state: Array, level: Array) -> tuple[Array, Array]:
        """Of pieces of a road."""
        rate, share = np.zeros(len(state)), np.zeros(len(state))
        for number, (nodes, rates, shares) in enumerate(self._tables[index]):
            mine = state == number
            rate[mine] = _interpolated(level[mine], nodes, rates)
            share[mine] = _interpolated(level[mine], nodes, shares)
        return rate, share


def _nodes(road: P681 | ThreeState) -> Iterator[tuple[Array, Array, Array, Array]]:
    """Mean levels of each state at which laws are tabulated, and the parameters there."""
    if isinstance(road, ThreeState):
        for row in road.loo:
            yield row[:1], *(row[[column]] for column in range(3))
        return
    for state in road.states:
        reach = state.sd_db * stats.norm.isf(state.tail)
        places = -np.cos(np.pi * (np.arange(25) + 0.5) / 25) / np.cos(np.pi / 50)
        nodes = state.mean_db + reach * places
        yield nodes, *state.loo(nodes)


def _interpolated(x: Array, nodes: Array, values: Array) -> Array:
    """The polynomial through Chebyshev nodes."""
    if len(nodes) == 1:
        return np.full(len(x), values[0])
    from scipy.interpolate import BarycentricInterpolator

    return np.asarray(BarycentricInterpolator(nodes, values)(x))
