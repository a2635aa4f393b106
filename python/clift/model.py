"""The analytical model: performance of a scheme over a Gilbert-Elliott channel, in closed form.

Kuhn 2014, sections 3.3 to 3.6 (docs/concepts/model.md). The words have the same meaning as in
``clift.tmt.apply(...).stats()``; docs/concepts/model.md describes how the two are compared.

The channel has three parameter sets. Each number may be an array; results have the broadcast
shape.

* ``alpha``, ``beta``: probabilities of *staying* in the good and bad state; ``p_good``, ``p_bad``:
erasure
  probabilities in each state.
* ``p``, ``burst``: erasure probability and mean burst in slots.
* ``p`` alone: independent erasures.

>>> import numpy as np
>>> harq = harq2(38, 51, alpha=0.98, beta=np.linspace(0.1, 0.93, 200))
>>> harq.efficiency.shape
(200,)
>>> round(arq(p=0.1).recovery_delay_ms, 6)  # RTT/2 + RTT / (1 - p)
805.555556
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import clift._clift as _clift
from clift._arrays import Floats
from clift._chain import Chain, Value, scalar
from clift._parse import COUNT, flag, floats, nanoseconds, of_type, whole
from clift.errors import ScenarioError
from clift.scheme import Arq, Fec, Harq2, Scheme, scheme_text
from clift.trace import PhyTrace

SLOT_NS = 114_783
"""33 bytes at 2.3 Mbit/s, as in Kuhn 2014."""


@dataclass(frozen=True)
class RecoveryDelays:
    """Distribution of the recovery delay of LLDUs that are erased first and recovered later.

    Attributes:
        delay_ms: d' + RTT/2, increasing.
        probability: probability of each delay; the sum is 1.
    """

    delay_ms: Floats
    probability: Floats

    def mean_ms(self) -> float:
        """The mean; NaN if no LLDU is recovered."""
        return float(self.delay_ms @ self.probability) if len(self.delay_ms) else float("nan")

    def quantile_ms(self, q: ArrayLike) -> Value:
        """The smallest delay that a share ``q`` does not exceed; NaN if no LLDU is recovered."""
        if not len(self.delay_ms):
            return scalar(np.full(np.shape(q), np.nan))
        shares = floats("q", q, "a share, or an array of them")
        place = np.searchsorted(np.cumsum(self.probability), shares)
        return scalar(self.delay_ms[np.minimum(place, len(self.delay_ms) - 1)])


@dataclass(frozen=True)
class Prediction:
    """Long-run performance of a scheme with every slot in use.

    Each value is a float, or an array of the shape of the channel's parameters; NaN if nothing can
    be averaged. Delays include RTT/2.

    Attributes:
        efficiency: data LLDUs delivered per slot used.
        residual_loss: share of data LLDUs that are not delivered.
        coding_ratio: data LLDUs per LLDU sent for them.
        transmissions: mean number of transmissions of a data LLDU.
        recovered: share of data LLDUs that are erased first and recovered later.
        recovery_delay_ms: mean delay of recovered LLDUs.
        mean_delay_ms: mean delay of all delivered LLDUs.
    """

    efficiency: Value
    residual_loss: Value
    coding_ratio: Value
    transmissions: Value
    recovered: Value
    recovery_delay_ms: Value
    mean_delay_ms: Value
    _of: tuple[Any, ...] = field(repr=False, compare=False)

    @property
    def printed_efficiency(self) -> Value:
        """Efficiency by the formula printed in Kuhn 2014, with its approximations."""
        return self._printed[0]

    @property
    def printed_delay_ms(self) -> Value:
        """Delay by the formula printed in Kuhn 2014.

        FEC: mean over all LLDUs. ARQ: mean over LLDUs erased at first. HARQ-II: mean over blocks.
        """
        return self._printed[1]

    @cached_property
    def _printed(self) -> tuple[Value, Value]:
        scheme, channel, times, _ = self._of
        columns, shape = channel.columns()
        efficiency, delay_ms = _clift.model_printed(scheme, columns, times)
        return scalar(efficiency.reshape(shape)), scalar(delay_ms.reshape(shape))

    def recovery_delays(self) -> RecoveryDelays:
        """Distribution of the recovery delay, for a single channel, not for arrays.

        Raises:
            ScenarioError: for arrays, or for interrupted blocks.

        >>> law = fec(2, 3, p=0.1, slot_ns=1_000_000).recovery_delays()
        >>> law.delay_ms.tolist()  # the third slot comes two and one after the data slots
        [251.0, 252.0]
        """
        scheme, channel, times, cut_apart = self._of
        single = channel.single("the law of the recovery delay")
        law = _clift.model_recovery_delays(scheme, single, times, cut_apart)
        return RecoveryDelays(*law)

    def values(self) -> dict[str, Value]:
        """The values by name.

        >>> fec(10, 12, p=0.0).values()["efficiency"]
        0.8333333333333334
        """
        exact = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "_of"}
        printed = {name: getattr(self, name) for name in ("printed_efficiency", "printed_delay_ms")}
        return {**exact, **printed}


def erasures(
    n: int,
    alpha: float | None = None,
    beta: float | None = None,
    p_good: float = 0.0,
    p_bad: float = 1.0,
    p: float | None = None,
    burst: float | None = None,
) -> Floats:
    """P(m, n) for m = 0..n: the probability that m of n consecutive slots are erased.

    Args:
        n: number of slots; up to 10,000 take a fraction of a second.
        alpha: probability of staying good.
        beta: probability of staying bad.
        p_good: erasure probability in the good state.
        p_bad: erasure probability in the bad state.
        p: erasure probability, instead of alpha and beta.
        burst: mean burst in slots; with p alone erasures are independent.

    Returns:
        n + 1 probabilities.

    Raises:
        ScenarioError: if a parameter is out of range, or the chain never changes state.

    >>> erasures(2, alpha=0.9, beta=0.6).round(12).tolist()
    [0.72, 0.16, 0.12]
    """
    channel = Chain.given(alpha, beta, p_good, p_bad, p, burst)
    single = channel.single("P(m, n)")
    return _clift.model_erasures(whole("n", n, 0, 1_000_000), single)


def predict(
    scheme: Scheme | str,
    alpha: ArrayLike | None = None,
    beta: ArrayLike | None = None,
    p_good: ArrayLike = 0.0,
    p_bad: ArrayLike = 1.0,
    rtt_ms: float = 500,
    slot_ns: int = SLOT_NS,
    *,
    p: ArrayLike | None = None,
    burst: ArrayLike | None = None,
    decode_ns: int = 0,
    feedback_ms: float | None = None,
    cut_apart: bool = False,
) -> Prediction:
    """Performance of any scheme over a Gilbert-Elliott channel: exact values of the Markov chain.

    Args:
        scheme: one of ``clift.NoScheme``, ``Fec``, ``Arq``, ``Harq2``, or its text.
        alpha: probability of staying good.
        beta: probability of staying bad.
        p_good: erasure probability in the good state.
        p_bad: erasure probability in the bad state.
        rtt_ms: round-trip time of the link.
        slot_ns: time from the start of a slot to the start of the next. 0: slots are negligible
            against the RTT, so blocks take no time, and retransmissions meet an independent
            channel.
        p: erasure probability, instead of alpha and beta.
        burst: mean burst in slots; with p alone erasures are independent.
        decode_ns: decoding time of received slots, in ns.
        feedback_ms: time from a slot's start until the sender can react to its loss; default: RTT
            plus decoding time.
        cut_apart: HARQ-II only: repair rounds interrupt other blocks, as in ``clift.tmt`` (an
            approximation); otherwise blocks are consecutive (exact).

    Raises:
        ScenarioError: if a parameter is out of range, or the chain never changes state.

    >>> round(predict("HARQ(38/51, rounds 2)", p=0.1, burst=5).efficiency, 4)
    0.7361
    """
    times = _times(rtt_ms, slot_ns, decode_ns, feedback_ms)
    channel = Chain.given(alpha, beta, p_good, p_bad, p, burst)
    columns, shape = channel.columns()
    text, cut_apart = scheme_text(scheme), flag("cut_apart", cut_apart)
    found = _clift.model_predict(text, columns, times, cut_apart)
    values = {name: scalar(column.reshape(shape)) for name, column in found.items()}
    return Prediction(**values, _of=(text, channel, times, cut_apart))


def fec(
    k: int,
    n: int,
    alpha: ArrayLike | None = None,
    beta: ArrayLike | None = None,
    p_good: ArrayLike = 0.0,
    p_bad: ArrayLike = 1.0,
    rtt_ms: float = 500,
    slot_ns: int = SLOT_NS,
    interleave: int = 1,
    **more: Any,
) -> Prediction:
    """FEC(k, n), interleaved over a number of code words; other arguments as for ``predict``.

    >>> clean = fec(10, 12, p=[0.0, 0.05])
    >>> clean.efficiency.round(4).tolist(), clean.residual_loss.round(4).tolist()
    ([0.8333, 0.8291], [0.0, 0.0051])
    """
    scheme = Fec(k, n, interleave)
    return predict(scheme, alpha, beta, p_good, p_bad, rtt_ms, slot_ns, **more)


def arq(
    p: ArrayLike | None = None,
    rtt_ms: float = 500,
    max_retx: int | None = None,
    *,
    slot_ns: int = 0,
    **more: Any,
) -> Prediction:
    """SR-ARQ with or without a limit; other arguments as for ``predict``.

    If slots are short against the RTT, only the erasure probability matters.

    >>> round(arq(0.1, max_retx=1).residual_loss, 12)
    0.01
    """
    return predict(Arq(max_retx), rtt_ms=rtt_ms, slot_ns=slot_ns, p=p, **more)


def harq2(
    k: int,
    n: int,
    alpha: ArrayLike | None = None,
    beta: ArrayLike | None = None,
    p_good: ArrayLike = 0.0,
    p_bad: ArrayLike = 1.0,
    rtt_ms: float = 500,
    slot_ns: int = SLOT_NS,
    extra: int = 0,
    max_rounds: int | None = 2,
    **more: Any,
) -> Prediction:
    """HARQ-II with ``extra`` = N_S and a number of rounds (None: no limit); see ``predict``.

    >>> [round(harq2(5, 12, p=0.3, burst=20, max_rounds=r).residual_loss, 4) for r in (1, 2, None)]
    [0.0821, 0.0279, 0.0]
    """
    scheme = Harq2(k, n, extra, max_rounds)
    return predict(scheme, alpha, beta, p_good, p_bad, rtt_ms, slot_ns, **more)


@dataclass(frozen=True)
class Hybrid:
    """Hybrid FEC/ARQ-SR of Al Fawal 2003 over independent losses: floats, or arrays like ``p``.

    Attributes:
        transmission: probability that a frame is decoded at once: K units of the first arrive.
        frame: probability that a frame is eventually decoded.
        frame_loss: probability that a frame is given up.
        packet: probability that a packet is delivered, that is, all its frames.
        packet_loss: probability that a packet is given up.
        transmissions: expected number of transmissions of a frame.
        units: expected number of units sent for a frame.
        useful_share: largest share of the link rate that delivered packets can have.
        code_rate: K / N; times the rate B it is the decay K·B/N to the right of the optimum.
    """

    transmission: Value
    frame: Value
    frame_loss: Value
    packet: Value
    packet_loss: Value
    transmissions: Value
    units: Value
    useful_share: Value
    code_rate: Value


def hybrid(
    k: int,
    n: int,
    frames: int = 6,
    persistency: int = 0,
    p: ArrayLike = 0.01,
    *,
    n_first: int | None = None,
) -> Hybrid:
    """Hybrid FEC/ARQ-SR: frames with ``k`` data units of ``n``, resent up to ``persistency`` times.

    Args:
        k: data units per frame (K).
        n: units per frame (N).
        frames: frames per packet (X).
        persistency: maximum number of retransmissions of a frame (delta).
        p: loss probability of a unit.
        n_first: units of a first transmission, from ``k`` to ``n``; ``n`` unless given. With
            ``k``, only repeated frames carry redundancy.

    Raises:
        ScenarioError: if a parameter is out of range.

    >>> hybrid(10, 12, p=0.01).packet > 0.998
    True
    >>> both, repeats = (hybrid(10, 12, persistency=1, n_first=n).useful_share for n in (12, 10))
    >>> f"{both:.3f} {repeats:.3f}"
    '0.833 0.897'
    """
    first = n if n_first is None else n_first
    counts = {"k": k, "n": n, "n_first": first, "frames": frames, "persistency": persistency}
    k, n, first, frames, persistency = (
        whole(name, value, 0, COUNT) for name, value in counts.items()
    )
    losses = floats("p", p, "a probability, or an array of them")
    flat = np.ascontiguousarray(losses).ravel()
    found = _clift.model_hybrid(k, n, first, frames, persistency, flat)
    return Hybrid(**{name: scalar(v.reshape(losses.shape)) for name, v in found.items()})


@dataclass(frozen=True)
class Fit:
    """Maximum-likelihood two-state chain of a trace (good: received, bad: erased).

    Attributes:
        alpha: share of the slots after a received slot that were received.
        beta: share of the slots after an erased slot that were erased.
    """

    alpha: float
    beta: float


def fit(phy: PhyTrace) -> Fit:
    """Fit alpha and beta to a trace by maximum likelihood.

    Raises:
        ScenarioError: if no slot or every slot of the trace is erased.

    >>> import clift
    >>> phy = clift.channel.gilbert_elliott(slots=200_000, alpha=0.98, beta=0.8, seed=1)
    >>> found = fit(phy)
    >>> abs(found.alpha - 0.98) < 0.002, abs(found.beta - 0.8) < 0.01
    (True, True)
    """
    cure = "give a PHY trace; clift.channel makes one"
    found = of_type("phy", phy, PhyTrace, cure).stats()
    if found["alpha"] is None or found["beta"] is None or found["alpha"] == found["beta"] == 1:
        raise ScenarioError(
            "no chain fits a trace that never changes between received and erased slots"
        )
    return Fit(found["alpha"], found["beta"])


def _times(
    rtt_ms: float, slot_ns: int, decode_ns: int, feedback_ms: float | None
) -> tuple[int, int, int, int | None]:
    slot, decode = whole("slot_ns", slot_ns, 0, 2**61), whole("decode_ns", decode_ns, 0, 2**61)
    feedback = None if feedback_ms is None else nanoseconds("feedback_ms", feedback_ms, "ms")
    return nanoseconds("rtt_ms", rtt_ms, "ms"), slot, decode, feedback
