"""Channel models that make a PHY trace or erase slots of an existing one (DESIGN section 6)."""

from __future__ import annotations

from typing import Any, Unpack

import clift._clift as _clift
import clift._parse as _parse
from clift._keywords import CHANNEL
from clift._values import entries, nested, respelled
from clift.errors import ScenarioError
from clift.land_mobile import LandMobile, Options
from clift.trace import PhyTrace


def bernoulli(
    slots: int | None = None,
    slot_ns: int = 1_003_802,
    p: float = 0.01,
    decode_ns: int = 36_000_000,
    seed: int = 1,
    lldu_bytes: int = 33,
    on: PhyTrace | None = None,
) -> PhyTrace:
    """Erase every slot independently with probability ``p``.

    Args:
        slots: number of slots; omit with ``on``.
        slot_ns: time between slots, in ns.
        p: erasure probability, 0 to 1.
        decode_ns: decoding time of received slots, in ns.
        seed: seed of the draws; the same seed gives the same trace.
        lldu_bytes: payload of a slot, in bytes.
        on: existing trace to use; its erased slots stay erased.

    Returns:
        The PHY trace.

    Raises:
        ScenarioError: if a parameter is out of range.

    >>> phy = bernoulli(slots=10_000, p=0.1, seed=1)
    >>> 900 < int((phy.d_ns == 0).sum()) < 1100
    True
    """
    regular = {"slot_ns": slot_ns, "decode_ns": decode_ns, "lldu_bytes": lldu_bytes}
    return _made("bernoulli", {"p": p}, regular, slots, on, seed)


def gilbert_elliott(
    slots: int | None = None,
    slot_ns: int = 1_003_802,
    alpha: float | None = None,
    beta: float | None = None,
    p_good: float = 0.0,
    p_bad: float = 1.0,
    decode_ns: int = 36_000_000,
    seed: int = 1,
    lldu_bytes: int = 33,
    on: PhyTrace | None = None,
    p: float | None = None,
    burst: float | None = None,
) -> PhyTrace:
    """Erase slots by a two-state Markov chain that starts in its stationary distribution.

    Args:
        slots: number of slots; omit with ``on``.
        slot_ns: time between slots, in ns.
        alpha: probability per slot of staying in the good state; default: 0.98.
        beta: probability per slot of staying in the bad state; default: 0.8. With ``p_bad = 1`` and
            ``p_good = 0`` the mean burst is ``1 / (1 - beta)`` slots.
        p_good: erasure probability in the good state.
        p_bad: erasure probability in the bad state.
        decode_ns: decoding time of received slots, in ns.
        seed: seed of the draws; the same seed gives the same trace.
        lldu_bytes: payload of a slot, in bytes.
        on: existing trace to use; its erased slots stay erased.
        p: mean erasure probability; with ``burst``, it replaces ``alpha`` and ``beta``.
        burst: mean stay in the bad state, in slots; with ``p_bad = 1`` this is the mean length of
            an erasure burst.

    Returns:
        The PHY trace.

    Raises:
        ScenarioError: if a parameter is out of range, or the chain never changes state.

    >>> phy = gilbert_elliott(slots=10_000, alpha=0.99, beta=0.5, seed=1)
    >>> len(phy), phy.lldu_bytes
    (10000, 33)
    >>> phy = gilbert_elliott(slots=100_000, p=0.02, burst=4, seed=1)
    >>> abs(phy.stats()["bursts"]["mean"] - 4) < 0.4
    True
    """
    if p is None and burst is None:
        alpha, beta = 0.98 if alpha is None else alpha, 0.8 if beta is None else beta
    regular = {"slot_ns": slot_ns, "decode_ns": decode_ns, "lldu_bytes": lldu_bytes}
    chain = {"p": p, "burst": burst, "alpha": alpha, "beta": beta}
    chain |= {"p_good": p_good, "p_bad": p_bad}
    return _made("gilbert-elliott", chain, regular, slots, on, seed)


def lms(
    preset: str = "internet",
    esn0_db: float | None = None,
    interleaving_ms: float | None = None,
    duration_s: float = 600,
    seed: int = 1,
    **options: Unpack[Options],
) -> PhyTrace:
    """Simulate a terminal that moves under a satellite: fading, interleaver and turbo code.

    Args:
        preset: ``internet``, ``distribution``, ``distribution-down``, ``its`` or ``aeronautical``.
        esn0_db: Es/N0 in dB; default: the preset's (internet 6, distribution 14, its 10).
        interleaving_ms: depth of the interleaver, which is the decoding time; 0: none. Default: the
            preset's (36; its 1).
        duration_s: length of the trace, in s.
        seed: seed of the draws; the same seed gives the same fading for every receiver.
        options: environment, elevation, speed, modulation, code and more; see
            `clift.land_mobile.LandMobile`.

    Returns:
        The PHY trace.

    Raises:
        ScenarioError: if a parameter is out of range; the message lists valid names.

    >>> phy = lms(preset="internet", esn0_db=5, duration_s=60, seed=1)
    >>> 0.005 < phy.stats()["erasure_rate"] < 0.04
    True
    """
    channel = LandMobile(preset, esn0_db, interleaving_ms, **options)
    return channel.trace(duration_s, seed)


def _made(
    model: str,
    given: dict[str, Any],
    regular: dict[str, Any],
    slots: int | None,
    on: PhyTrace | None,
    seed: int,
) -> PhyTrace:
    """The trace of a channel, over `regular` slots or over the slots of the trace `on`."""
    if on is not None and slots is not None:
        raise ScenarioError("slots and on: give only one; `on` has its own slots")
    if on is not None:
        _parse.of_type("on", on, PhyTrace, "give a PHY trace or None")
    elif slots is None:
        raise ScenarioError("slots = None: give the number of slots, or a trace as `on`")
    else:
        slots = _parse.whole("slots", slots, 1, 2**61 - 1)
        given = regular | given
    given = {name: value for name, value in given.items() if value is not None}
    names = _parse.whole("seed", seed, 0, _parse.SEED)
    tree = nested({"channel": {"model": model}}, entries(CHANNEL, given))["channel"]
    try:
        made = _clift.channel(tree, names, slots, None if on is None else on.core)
    except ScenarioError as error:
        raise respelled(error, CHANNEL, given) from None
    return PhyTrace.of(made)
