"""Compares the analytical model with simulation, for ``--check`` and ``--fit``.

``check`` simulates the channel of a model. ``depart`` fits a chain to a trace and shows how the
trace differs from the chain.

>>> rows = check("FEC(10/12)", alpha=0.98, beta=0.5, slots=200_000)
>>> [row.metric for row in rows]
['efficiency', 'residual loss', 'recovered', 'recovery delay ms', 'mean delay ms']
>>> all(row.agrees for row in rows)
True
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import inf, isnan, nan, sqrt
from typing import Any

import numpy as np

import clift.channel as channel
import clift.model as model
import clift.tmt as tmt
from clift._chain import Chain
from clift.campaign.statistics import quantile
from clift.errors import ScenarioError
from clift.link_trace import LinkTrace
from clift.model import Prediction
from clift.scheme import Scheme
from clift.trace import PhyTrace

BATCHES = 20
NEARLY = 0.01
"""Tolerance for the approximate model of HARQ-II with interrupted blocks."""
_WAITS = 12
"""An LLDU is finished if it was sent at least this many feedback times before the end."""


@dataclass(frozen=True)
class Row:
    """One metric by model and by simulation.

    Attributes:
        metric: name.
        model: value of the model; NaN if nothing can be averaged.
        simulated: value of the simulation; NaN if nothing happened.
        within: half-width of its interval.
        verdict: ``agrees``; ``within 1 %`` for HARQ-II, whose model is an approximation here, since
            repair rounds interrupt other blocks; ``DIFFERS``; or ``too rare`` if the simulation is
            too short to decide.
    """

    metric: str
    model: float
    simulated: float
    within: float
    verdict: str

    @property
    def agrees(self) -> bool:
        """True unless model and simulation contradict each other."""
        return self.verdict != "DIFFERS"


def check(
    scheme: Scheme | str,
    alpha: float | None = None,
    beta: float | None = None,
    p_good: float = 0.0,
    p_bad: float = 1.0,
    rtt_ms: float = 500,
    slot_ns: int = model.SLOT_NS,
    *,
    p: float | None = None,
    burst: float | None = None,
    decode_ns: int = 36_000_000,
    feedback_ms: float | None = None,
    slots: int = 4_000_000,
    confidence: float = 0.99,
    seed: int = 1,
) -> list[Row]:
    """Run TMT over traces of the channel, evaluate the model, and compare them.

    The slots are divided into 20 separate traces. Their spread gives the intervals, which hold
    jointly with probability ``confidence``.

    Args:
        scheme: the scheme or its text.
        alpha: probability of staying good.
        beta: probability of staying bad.
        p_good: erasure probability in the good state.
        p_bad: erasure probability in the bad state.
        rtt_ms: round-trip time.
        slot_ns: length of a slot, at least 1.
        p: erasure probability, instead of alpha and beta.
        burst: mean burst in slots; with p alone erasures are independent.
        decode_ns: decoding time of received slots, at least 1.
        feedback_ms: time from a slot until the sender can react to its loss; default: RTT +
            decoding.
        slots: total number of slots to simulate.
        confidence: joint probability of all intervals.
        seed: seed of the draws.

    Raises:
        ScenarioError: if a parameter is out of range, or the slots are too few for the round trip.
    """
    chain = Chain.given(alpha, beta, p_good, p_bad, p, burst)
    numbers: dict[str, Any] = dict(zip(Chain._fields, chain.single("a check"), strict=True))
    times: dict[str, Any] = {"rtt_ms": rtt_ms, "feedback_ms": feedback_ms}
    predicted = _predict(scheme, numbers, slot_ns, decode_ns, times)
    each = slots // BATCHES
    margin_ns = _margin(scheme, rtt_ms, feedback_ms, decode_ns)
    if each * slot_ns <= 2 * margin_ns:
        least = BATCHES * 2 * margin_ns // max(slot_ns, 1) + BATCHES
        raise ScenarioError(f"slots = {slots}: too few for this round trip; give {least} or more")
    if not 0.5 <= confidence < 1:
        raise ScenarioError(f"confidence = {confidence}: give a probability from 0.5 to below 1")
    sums = []
    for batch in range(BATCHES):
        phy = channel.gilbert_elliott(
            each, slot_ns, decode_ns=decode_ns, seed=(seed * 1000 + batch) % 2**64, **numbers
        )
        sums.append(_sums(tmt.apply(phy, scheme, **times), phy, margin_ns))
    return _rows(predicted, sums, _is_harq(scheme), confidence)


@dataclass(frozen=True)
class Departure:
    """A fitted chain against its trace.

    Attributes:
        fit: the chain.
        rows: metrics of the scheme; the intervals come from the trace's 20 parts.
        shape: name, value of the chain, value of the trace: burst lengths, clumping of erasures
            over windows (variance relative to independent erasures), delay of received slots, and,
            if slots differ in size, the size of received slots.
    """

    fit: model.Fit
    rows: list[Row]
    shape: list[tuple[str, float, float]]


def depart(
    phy: PhyTrace,
    scheme: Scheme | str,
    rtt_ms: float = 500,
    feedback_ms: float | None = None,
    confidence: float = 0.99,
) -> Departure:
    """Fit a chain to a trace, and compare model and TMT for a scheme on that trace.

    Args:
        phy: the trace.
        scheme: the scheme or its text.
        rtt_ms: round-trip time.
        feedback_ms: time from a slot until the sender can react to its loss; default: RTT +
            decoding.
        confidence: joint probability of all intervals.

    Raises:
        ScenarioError: if the trace never changes between received and erased slots.

    >>> import clift
    >>> phy = clift.channel.gilbert_elliott(slots=400_000, alpha=0.99, beta=0.5, seed=4)
    >>> found = depart(phy, "FEC(10/12)")
    >>> all(row.agrees for row in found.rows)
    True
    """
    fit = model.fit(phy)
    stats = phy.stats()
    slot_ns = max(1, round(stats["duration_ns"] / stats["slots"]))
    decode_ns = phy.nominal_decoding_ns
    if feedback_ms is None:
        # Feedback time as TMT has it over the whole trace. If the trace's header says that `d` are
        # one-way delays, the way back takes as long; parts of the trace and the model do not know
        # that.
        measured = rtt_ms == 0 and phy.rtt_ns == 0
        feedback_ms = (decode_ns / 1e6 if measured else rtt_ms) + decode_ns / 1e6
    times: dict[str, Any] = {"rtt_ms": rtt_ms, "feedback_ms": feedback_ms}
    predicted = _predict(scheme, {"alpha": fit.alpha, "beta": fit.beta}, slot_ns, decode_ns, times)
    margin_ns = _margin(scheme, rtt_ms, feedback_ms, decode_ns)
    edges = np.linspace(0, len(phy), BATCHES + 1).astype(np.int64)
    parts = [
        PhyTrace(
            phy.t_ns[a:b],
            phy.d_ns[a:b],
            phy.lldu_bytes if phy.slot_bytes is None else phy.slot_bytes[a:b],
            decode_ns=decode_ns,
        )
        for a, b in pairwise(edges)
        if b > a
    ]
    sums = [_sums(tmt.apply(part, scheme, **times), part, margin_ns) for part in parts]
    rows = _rows(predicted, sums, _is_harq(scheme), confidence)
    return Departure(fit, rows, _shape(phy, fit))


def _predict(
    scheme: Scheme | str,
    channel: dict[str, float],
    slot_ns: int,
    decode_ns: int,
    times: dict[str, Any],
) -> Prediction:
    """The model of TMT, in which repair rounds interrupt blocks."""
    if slot_ns < 1 or decode_ns < 1:
        raise ScenarioError("a trace needs slots and decoding times of at least 1 ns")
    cut = _is_harq(scheme)
    return model.predict(
        scheme, slot_ns=slot_ns, decode_ns=decode_ns, cut_apart=cut, **channel, **times
    )


def _margin(scheme: Scheme | str, rtt_ms: float, feedback_ms: float | None, decode_ns: int) -> int:
    if "ARQ" not in str(scheme):
        return 0
    wait_ms = rtt_ms + decode_ns / 1e6 if feedback_ms is None else feedback_ms
    return round(_WAITS * wait_ms * 1e6)


def _is_harq(scheme: Scheme | str) -> bool:
    return str(scheme).strip().upper().startswith("HARQ")


_Sums = dict[str, tuple[float, float]]


def _sums(link: LinkTrace, phy: PhyTrace, margin_ns: int) -> _Sums:
    """Per metric, a sum and its denominator over the finished LLDUs."""
    stats = link.stats()
    if not len(link):
        return {}
    half_rtt_ms = link.rtt_ns / 2e6
    last = link.t_ns[-1] - margin_ns
    # A trace shorter than the margin has no finished LLDU: use it as it is.
    finished = int(np.searchsorted(link.t_ns, last, side="right")) or len(link)
    d_ns = link.d_ns[:finished]
    # Erased at the first transmission. The delay alone does not show it.
    first = phy.d_ns[np.searchsorted(phy.t_ns, link.t_ns[:finished])]
    again = d_ns[(first == 0) & (d_ns > 0)]
    delivered = int(np.count_nonzero(d_ns))
    total_ms = float(d_ns.sum(dtype=np.float64)) / 1e6 + delivered * half_rtt_ms
    again_ms = float(again.sum(dtype=np.float64)) / 1e6 + len(again) * half_rtt_ms
    return {
        "efficiency": _carried(link, phy, stats),
        "residual loss": (finished - delivered, finished),
        "recovered": (len(again), finished),
        "recovery delay ms": (again_ms, len(again)),
        "mean delay ms": (total_ms, delivered),
    }


def _carried(link: LinkTrace, phy: PhyTrace, stats: dict[str, Any]) -> tuple[float, float]:
    """Bytes delivered and bytes sent; parts of a trace may have slots of a single size."""
    if phy.slot_bytes is None:
        return stats["delivered"] * phy.lldu_bytes, stats["slots_used"] * phy.lldu_bytes
    if stats["delivered"] == 0:
        return 0.0, stats["slots_used"] * float(phy.slot_bytes.mean())
    each = link.lldu_bytes if link.slot_bytes is None else link.slot_bytes[link.d_ns > 0].mean()
    delivered = stats["delivered"] * float(each)
    return delivered, delivered / stats["efficiency"]


def _rows(predicted: Prediction, batches: list[_Sums], harq: bool, confidence: float) -> list[Row]:
    names = {
        "efficiency": predicted.efficiency,
        "residual loss": predicted.residual_loss,
        "recovered": predicted.recovered,
        "recovery delay ms": predicted.recovery_delay_ms,
        "mean delay ms": predicted.mean_delay_ms,
    }
    tail = (1 - confidence) / len(names) / 2
    seen = [sums for sums in batches if sums]
    # Fewer than some dozen events have no usable spread.
    lost, units = (sum(sums["residual loss"][i] for sums in seen) for i in (0, 1))
    rare = min(lost, float(predicted.residual_loss) * units) < 1000
    rows = []
    for metric, value in names.items():
        pairs = np.array([sums[metric] for sums in seen], dtype=np.float64).reshape(-1, 2)
        by_loss = metric in ("efficiency", "residual loss")
        slack = 1000 / units if rare and by_loss and units else 0.0
        rows.append(_row(metric, float(value), pairs, tail, harq, slack))
    return rows


def _row(metric: str, value: float, pairs: Any, tail: float, harq: bool, slack: float) -> Row:
    total, over = pairs.sum(axis=0) if len(pairs) else (0.0, 0.0)
    if over == 0:
        return Row(metric, value, nan, inf, "agrees" if isnan(value) else "too rare")
    simulated = total / over
    count = len(pairs)
    within = inf
    if count > 1:
        squares = float(((pairs[:, 0] - simulated * pairs[:, 1]) ** 2).sum())
        within = quantile(count - 1, 2 * tail) * sqrt(squares / (count - 1) * count) / over
    if isnan(value) or within == inf:
        return Row(metric, value, simulated, within, "too rare")
    if abs(value - simulated) <= within + max(slack, 1e-12):
        verdict = "too rare" if slack and within == 0 else "agrees"
    elif harq and abs(simulated / value - 1) <= NEARLY:
        verdict = "within 1 %"
    else:
        verdict = "DIFFERS"
    return Row(metric, value, simulated, within, verdict)


def _shape(phy: PhyTrace, fit: model.Fit) -> list[tuple[str, float, float]]:
    """Trace against chain: bursts, clumping over windows, d and sizes."""
    erased = phy.d_ns == 0
    counts = phy.stats()["bursts"]["counts"]
    lengths = np.array([length for length, _ in counts], dtype=np.float64)
    weights = np.array([number for _, number in counts], dtype=np.float64)
    runs = weights.sum()
    p = (1 - fit.alpha) / ((1 - fit.alpha) + (1 - fit.beta))
    shape = [("erasure probability", p, float(erased.mean()))]
    shape.append(("mean burst (slots)", 1 / (1 - fit.beta), float(lengths @ weights / runs)))
    for longer in (1, 2, 4, 8, 16, 32):
        share = float(weights[lengths > longer].sum() / runs)
        shape.append((f"bursts over {longer} slots", fit.beta**longer, share))
    for window in (10, 100, 1000):
        if len(erased) < 30 * window or p * (1 - p) == 0:
            continue
        law = model.erasures(window, fit.alpha, fit.beta)
        m = np.arange(window + 1)
        independent = window * p * (1 - p)
        spread = float(law @ (m - window * p) ** 2) / independent
        seen = erased[: len(erased) // window * window].reshape(-1, window).sum(axis=1)
        found = float(seen.var()) / independent
        shape.append((f"clumping over {window} slots", spread, found))
    shape.append(
        ("mean d (ms)", phy.nominal_decoding_ns / 1e6, float(phy.d_ns[~erased].mean() / 1e6))
    )
    if phy.slot_bytes is not None:
        arrived = float(phy.slot_bytes[~erased].mean())
        shape.append(("bytes of what arrives", float(phy.slot_bytes.mean()), arrived))
    return shape
