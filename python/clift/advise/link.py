"""What a log says about its link: rate, loss, delay, outages, a period, its worth as evidence."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from math import exp, lgamma, log, log1p
from textwrap import fill
from typing import Any

import numpy as np

import clift._clift as _clift
from clift._arrays import Floats
from clift.report.text import WIDTH, plain
from clift.report.trace_text import rate
from clift.trace import PhyTrace

# A delay below this is no propagation delay: formats without one store 1 ns.
_LEAST_DELAY_MS = 0.1
# A time without reception is an outage from this length on, and from this number of slots.
_OUTAGE_NS, _OUTAGE_SLOTS = 200_000_000, 3
# Periods that are looked for, in samples, and how many of them a log has to hold.
_PERIODS, _CYCLES = range(4, 121), 6
# Probability that a log without a period shows one, over all phases of all periods.
_SURE = 0.01
# A note of the readers of probes.
_PROBES = r"^(\d+) probes?,"


@dataclass(frozen=True, slots=True)
class Link:
    """What a log says about its link.

    Args:
        duration_s: Length of the log.
        rate_kbps: Mean rate of the slots; None if the slots are probes, which have none.
        rate_spread_kbps: Least, median and most of the rate received in a second.
        loss: Share of the slots that are erased.
        burst: Mean number of consecutive erased slots; None without losses.
        longest_burst: The longest run of erased slots.
        drawn: Whether the log has shares of losses only, so that the lost slots are drawn.
        delay_ms: Least, median and 99th percentile of the one-way delay; None if the log has none.
        outages: Number of times without reception: of 0.2 s and three slots at least.
        outage_s: Their total length.
        longest_outage_s: Length of the longest.
        period_s: Period at which the link changes, such as the 15 s of a constellation: at least
            four rows of the log; None if none is seen.
        period_of: Where the period is seen: `delay`, `rate` or `loss`.
        correlation_s: Time after which the received rate per second is no longer correlated.
        window_s: Length of a run over the log.
        pieces: Number of independent runs that the log is worth.
        probe_s: Time for which the last probe stands; 0 if the length holds it.
    """

    duration_s: float
    rate_kbps: float | None
    rate_spread_kbps: tuple[float, float, float]
    loss: float
    burst: float | None
    longest_burst: int
    drawn: bool
    delay_ms: tuple[float, float, float] | None
    outages: int
    outage_s: float
    longest_outage_s: float
    period_s: int | None
    period_of: str
    correlation_s: float
    window_s: float
    pieces: int
    probe_s: float = 0.0

    def worth(self, window_s: float) -> int:
        """Number of independent runs of this length that the log is worth."""
        return int((self.duration_s + self.probe_s + 1e-6) / max(window_s, self.correlation_s))

    @property
    def rows(self) -> list[tuple[str, str]]:
        """Name and value of each property, as readers see them."""
        lost = f"{self.loss:.3%} of the slots"
        if self.drawn:
            lost += ", a share of each row, within which they are drawn one by one"
        elif self.burst is not None and self.burst == self.longest_burst > 1:
            lost += f", in bursts of {self.longest_burst} slots"
        elif self.burst is not None:
            lost += (
                f", in bursts of {self.burst:.1f} slots on average, {self.longest_burst} at most"
            )
        delay = "not in the log"
        if self.delay_ms is not None:
            least, median, most = (f"{value:.1f}" for value in self.delay_ms)
            delay = f"one way, least {least}, median {median}, 99 % up to {most} ms"
        outages = "none"
        if self.outages:
            outages = f"{self.outages}, together {plain(self.outage_s)} s"
            outages += f", the longest {plain(self.longest_outage_s)} s"
        rates = "not in the log, which has probes"
        if self.rate_kbps is not None:
            least, median, most = (rate(1000 * value) for value in self.rate_spread_kbps)
            rates = (
                f"{rate(1000 * self.rate_kbps)} on average; received in a second: least {least}, "
            )
            rates += f"median {median}, most {most}"
        rows = [
            ("length", f"{plain(self.duration_s)} s"),
            ("rate", rates),
            ("loss", lost),
            ("delay", delay),
            ("outages", outages),
        ]
        if self.period_s is not None:
            rows.append(("period", f"{self.period_s} s, seen in the {self.period_of}"))
        worth = "1 independent run" if self.pieces == 1 else f"{self.pieces} independent runs"
        rows.append(
            (
                "evidence",
                f"worth {worth} of {self.window_s:.3g} s (the rate is correlated over "
                f"{self.correlation_s:.0f} s)",
            )
        )
        return rows

    def __str__(self) -> str:
        return "\n".join(
            fill(f"  {name:<10}{value}", WIDTH, subsequent_indent=12 * " ")
            for name, value in self.rows
        )


def described(phy: PhyTrace, window_s: float = 10.0) -> Link:
    """Describe the link of a log.

    Args:
        phy: The log as a trace.
        window_s: Length of a run over it.

    Example:
        >>> import clift
        >>> link = described(clift.channel.bernoulli(slots=9000, p=0.02, seed=1), 0.1)
        >>> round(link.loss, 3), link.outages, link.pieces
        (0.019, 0, 9)
    """
    stats = phy.stats()
    t_ns, d_ns = phy.t_ns, phy.d_ns
    came = d_ns > 0
    duration_s = float(stats["duration_ns"]) / 1e9
    seconds = max(1, int(duration_s))
    second = (t_ns - t_ns[0]) // 10**9
    slot_bytes = phy.lldu_bytes if phy.slot_bytes is None else phy.slot_bytes
    sizes = np.broadcast_to(np.asarray(slot_bytes, np.float64), t_ns.shape)
    # Without the last second, which is not whole.
    carried = np.bincount(second, np.where(came, sizes, 0.0), seconds)[:seconds]
    received = 0.008 * carried.astype(np.float64)
    delays = d_ns[came]
    spread = None
    # Without a round-trip time, even 0, `d` is the time of decoding alone.
    if delays.size and phy.rtt_ns is not None:
        one_way_ms = (np.percentile(delays, [0, 50, 99]) + phy.rtt_ns / 2) / 1e6
        spread = one_way_ms if one_way_ms[1] >= _LEAST_DELAY_MS else None
    row_ns = _row_ns(phy)
    # Parts of a log, one behind another, change where they meet.
    period_s, period_of = None, ""
    if not _notes(phy, "parts, spread evenly"):
        # Slots longer than rows are frames; samples between two of them would repeat one.
        step_ns = max(row_ns, _whole_seconds(float(stats["median_gap_ns"])))
        period_s, period_of = _first_period(phy, step_ns, sizes, has_delay=spread is not None)
    outages = _outages(phy, float(stats["median_gap_ns"]))
    correlation_s = _correlation(received)
    bursts = stats["bursts"]
    link = Link(
        duration_s=duration_s,
        rate_kbps=None if has_probes(phy) else float(stats["rate_bps"] or 0) / 1000,
        rate_spread_kbps=(received.min(), float(np.median(received)), received.max()),
        loss=float(stats["erasure_rate"]),
        burst=bursts["mean"],
        longest_burst=int(bursts["longest"]),
        drawn=bool(_notes(phy, "slots are lost independently, drawn")),
        delay_ms=None if spread is None else (spread[0], spread[1], spread[2]),
        outages=outages.size,
        outage_s=float(outages.sum()),
        longest_outage_s=float(outages.max(initial=0.0)),
        period_s=period_s,
        period_of=period_of,
        correlation_s=correlation_s,
        window_s=window_s,
        pieces=0,
        probe_s=row_ns / 1e9 if _notes(phy, _PROBES) else 0.0,
    )
    return replace(link, pieces=link.worth(window_s))


def has_probes(phy: PhyTrace) -> bool:
    """Whether each slot is a probe or packet of the log, so that slots do not show the rate."""
    return bool(_notes(phy, "one slot per"))


def _notes(phy: PhyTrace, pattern: str) -> re.Match[str] | None:
    """The first note on how the log was read that has such a text."""
    notes = [note for kind in ("understood", "assumed") for note in phy.notes[kind]]
    return next((found for note in notes if (found := re.search(pattern, note))), None)


def _row_ns(phy: PhyTrace) -> int:
    """The time between two rows or probes of the log; 1 ns if each slot is one."""
    if held := _notes(phy, r"a row holds until the next, the last one for (.+)"):
        return max(1, int(_clift.parse_time(held[1])))
    if probes := _notes(phy, _PROBES):
        return max(1, round(int(phy.t_ns[-1] - phy.t_ns[0]) / max(1, int(probes[1]) - 1)))
    return 1


def _whole_seconds(time_ns: float) -> int:
    """A time of a second or more; 1 ns if it is shorter."""
    return int(time_ns) if time_ns >= 1e9 else 1


def _outages(phy: PhyTrace, gap_ns: float) -> Floats:
    """Lengths of the times without a slot received, in s."""
    t_ns = phy.t_ns
    edges = [t_ns[:1], t_ns[phy.d_ns > 0], t_ns[-1:]]
    gaps = np.diff(np.concatenate(edges)).astype(np.float64)
    return gaps[gaps >= max(_OUTAGE_NS, _OUTAGE_SLOTS * gap_ns + 1)] / 1e9


def _medians(place: np.ndarray[Any, Any], values: np.ndarray[Any, Any], count: int) -> Floats:
    """Median of the values at each place; at one without any, that of the place before."""
    order = np.lexsort((values, place))
    counts = np.bincount(place, minlength=count)[:count]
    ends = np.cumsum(counts)
    middle = np.maximum(ends - 1 - counts // 2, 0)
    found = values[order][middle].astype(np.float64)
    there = np.maximum.accumulate(np.where(counts > 0, np.arange(count), 0))
    return np.asarray(found[there])


def _first_period(
    phy: PhyTrace, row_ns: int, sizes: Floats, *, has_delay: bool
) -> tuple[int | None, str]:
    """The first period that is seen, in s, and where.

    Samples are whole rows of at least 1 s: within a row nothing changes.
    """
    step_ns = row_ns * -(-(10**9) // row_ns)
    t_ns, d_ns = phy.t_ns, phy.d_ns
    place = (t_ns - t_ns[0]) // step_ns
    # Without the last sample, which is not whole.
    count = max(1, int(place[-1]))
    came = d_ns > 0
    received = np.bincount(place, np.where(came, sizes, 0.0), count)[:count]
    lost = np.bincount(place, ~came, count)[:count] / np.maximum(np.bincount(place)[:count], 1)
    series = {"rate": received, "loss": lost}
    if has_delay:
        series = {"delay": _medians(place[came], d_ns[came], count), **series}
    for name, values in series.items():
        if (found := period(np.asarray(values, np.float64))) is not None:
            return round(found * step_ns / 1e9), name
    return None, ""


def period(values: Floats) -> int | None:
    """The period at which a series changes, in samples.

    A tenth of the changes from one sample to the next count as large. A period stands out if more
    of the changes at one of its phases are large than chance explains, by the binomial law.

    Args:
        values: A value per sample.

    Returns:
        The period; None if no period stands out.

    Example:
        >>> draw = np.random.default_rng(1)
        >>> period(np.repeat(draw.normal(size=40), 15) + 0.2 * draw.normal(size=600))
        15
        >>> period(draw.normal(size=600)) is None
        True
    """
    changes = np.abs(np.diff(values))
    if changes.size < _CYCLES * _PERIODS.start:
        return None
    large = changes > np.quantile(changes, 0.9)
    if not large.any():
        return None
    chance = float(large.mean())
    best, found = _SURE / sum(_PERIODS), None
    for length in _PERIODS:
        if changes.size < _CYCLES * length:
            break
        phase = np.arange(changes.size) % length
        cycles = np.bincount(phase)
        hits = np.bincount(phase, weights=large)
        place = int((hits / cycles).argmax())
        probability = _tail(int(hits[place]), int(cycles[place]), chance)
        if probability < best:
            best, found = probability, length
    return found


def _tail(hits: int, cycles: int, chance: float) -> float:
    """The probability that at least this number of the cycles is hit."""
    ways = lgamma(cycles + 1)
    return sum(
        exp(
            ways
            - lgamma(k + 1)
            - lgamma(cycles - k + 1)
            + k * log(chance)
            + (cycles - k) * log1p(-chance)
        )
        for k in range(hits, cycles + 1)
    )


def _correlation(rates: Floats) -> float:
    """The integrated correlation time in s, summed up to the first lag without correlation."""
    centred = rates - rates.mean()
    # By Fourier transforms (Wiener-Khinchin): lag by lag a day-long log would take a minute.
    spectrum = np.fft.rfft(centred, 2 * len(centred))
    shares = np.fft.irfft(np.abs(spectrum) ** 2)[: len(centred) // 2]
    if shares.size == 0 or shares[0] <= 0:
        return 1.0
    shares /= shares[0]
    ends = np.flatnonzero(shares <= 0)
    return float(2 * shares[: ends[0] if ends.size else None].sum() - 1)
