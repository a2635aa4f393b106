"""Channel models that make a PHY trace, or erase further slots of one (DESIGN section 6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clift import _clift
from clift.trace import PhyTrace

if TYPE_CHECKING:
    from collections.abc import Callable


def bernoulli(
    slots: int | None = None,
    slot_ns: int = 1_003_802,
    p: float = 0.01,
    decode_ns: int = 36_000_000,
    seed: int = 1,
    lldu_bytes: int = 33,
    on: PhyTrace | None = None,
) -> PhyTrace:
    """Erases every slot independently with probability ``p``.

    Args:
        slots: number of slots; leave out with ``on``.
        slot_ns: time between slots, ns.
        p: erasure probability, 0 to 1.
        decode_ns: decoding time of what arrives, ns.
        seed: names the draws; the same seed gives the same trace.
        lldu_bytes: payload of a slot.
        on: a trace whose slots to use; what it has erased stays erased.

    Returns:
        The PHY trace.

    Raises:
        ScenarioError: if a parameter is out of range.

    >>> phy = bernoulli(slots=10_000, p=0.1, seed=1)
    >>> 900 < int((phy.d_ns == 0).sum()) < 1100
    True
    """
    return _make(
        lambda base: _clift.bernoulli(base, p, seed), slots, slot_ns, decode_ns, lldu_bytes, on
    )


def gilbert_elliott(
    slots: int | None = None,
    slot_ns: int = 1_003_802,
    alpha: float = 0.98,
    beta: float = 0.8,
    p_good: float = 0.0,
    p_bad: float = 1.0,
    decode_ns: int = 36_000_000,
    seed: int = 1,
    lldu_bytes: int = 33,
    on: PhyTrace | None = None,
) -> PhyTrace:
    """Erasures of a two-state Markov chain with a stationary start.

    Args:
        slots: number of slots; leave out with ``on``.
        slot_ns: time between slots, ns.
        alpha: probability of staying in the good state, per slot.
        beta: probability of staying in the bad state; with ``p_bad = 1`` and ``p_good = 0`` the
            mean burst is ``1 / (1 - beta)`` slots.
        p_good: erasure probability in the good state.
        p_bad: erasure probability in the bad state.
        decode_ns: decoding time of what arrives, ns.
        seed: names the draws; the same seed gives the same trace.
        lldu_bytes: payload of a slot.
        on: a trace whose slots to use; what it has erased stays erased.

    Returns:
        The PHY trace.

    Raises:
        ScenarioError: if a parameter is out of range, or the chain can never move.

    >>> phy = gilbert_elliott(slots=10_000, alpha=0.99, beta=0.5, seed=1)
    >>> len(phy), phy.lldu_bytes
    (10000, 33)
    """
    return _make(
        lambda base: _clift.gilbert_elliott(base, alpha, beta, p_good, p_bad, seed),
        slots,
        slot_ns,
        decode_ns,
        lldu_bytes,
        on,
    )


def _make(
    model: Callable[[_clift.PhyTrace], _clift.PhyTrace],
    slots: int | None,
    slot_ns: int,
    decode_ns: int,
    lldu_bytes: int,
    on: PhyTrace | None,
) -> PhyTrace:
    base = _clift.regular(slots, slot_ns, decode_ns, lldu_bytes) if on is None else on._inner
    return PhyTrace._from_inner(model(base))
