"""Trace Manager Tool: makes a link trace from a PHY trace and a scheme (DESIGN section 4)."""

from __future__ import annotations

import clift._clift as _clift
import clift._parse as _parse
from clift.link_trace import LinkTrace
from clift.scheme import Scheme, scheme_text
from clift.trace import PhyTrace


def apply(
    phy: PhyTrace,
    scheme: Scheme | str,
    rtt_ms: float = _parse.TraceDefault(500),
    feedback_ms: float | None = None,
) -> LinkTrace:
    """Apply a scheme to a PHY trace in open loop, with every slot in use.

    Args:
        phy: the PHY trace.
        scheme: one of ``clift.NoScheme``, ``Fec``, ``Arq``, ``Harq2``, or its text.
        rtt_ms: round-trip time of the link; default: the trace's.
        feedback_ms: time from a slot's ``t`` until the sender can react to its loss, at least the
            RTT; default: RTT plus the nominal decoding time.

    Returns:
        The link trace. A trace shorter than one FEC block gives an empty link trace.

    Raises:
        ScenarioError: if a time is negative or not finite, the text is not a scheme, or the
            feedback time is below the round-trip time.

    >>> import clift
    >>> phy = clift.channel.bernoulli(slots=1000, slot_ns=1_000_000, p=0.1, seed=1)
    >>> ll = apply(phy, "HARQ(10/12)", rtt_ms=500)
    >>> ll.stats()["lost"]
    0
    """
    trace = _parse.of_type("phy", phy, PhyTrace, "give a PHY trace; clift.channel makes one")
    if isinstance(rtt_ms, _parse.TraceDefault) and trace.rtt_ns is not None:
        rtt_ns = trace.rtt_ns
    else:
        rtt_ns = _parse.nanoseconds("rtt_ms", rtt_ms, "ms")
    feedback_ns = feedback_time(feedback_ms, rtt_ns)
    return LinkTrace.of(_clift.apply(trace.core, scheme_text(scheme), rtt_ns, feedback_ns))


def feedback_time(feedback_ms: float | None, rtt_ns: int) -> int | None:
    """Time from a slot until the sender can react to its loss, in ns; None if not given.

    Raises:
        ScenarioError: If the value is not a time, or shorter than the round-trip time.

    >>> feedback_time(536, 500_000_000)
    536000000
    >>> feedback_time(1, 500_000_000)
    Traceback (most recent call last):
    clift.errors.ScenarioError: feedback_ms = 1: faster than the round trip; give rtt_ms (500) or
    more
    """
    if feedback_ms is None:
        return None
    feedback_ns = _parse.nanoseconds("feedback_ms", feedback_ms, "ms")
    if feedback_ns < rtt_ns:
        cure = f"faster than the round trip; give rtt_ms ({rtt_ns / 1e6:g}) or more"
        raise _parse.fault("feedback_ms", feedback_ms, cure)
    return feedback_ns
