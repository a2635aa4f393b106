"""Trace Manager Tool: a PHY trace and a scheme make a link trace, open loop (DESIGN section 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clift import _clift
from clift.errors import ScenarioError
from clift.link_trace import LinkTrace

if TYPE_CHECKING:
    from clift.scheme import Scheme
    from clift.trace import PhyTrace


def apply(
    phy: PhyTrace,
    scheme: Scheme | str,
    rtt_ms: float = 500,
    feedback_ms: float | None = None,
) -> LinkTrace:
    """Applies a scheme to a PHY trace, as if every slot were used.

    Args:
        phy: what the physical layer did.
        scheme: one of ``clift.NoScheme``, ``Fec``, ``Arq``, ``Harq2``, or its text.
        rtt_ms: round-trip time of the link.
        feedback_ms: from a slot's ``t`` until the sender can act on its loss; RTT plus the
            nominal decoding time unless set.

    Returns:
        The link trace. A trace shorter than one FEC block gives an empty one.

    Raises:
        ScenarioError: if a time is negative or not finite, or the text is no scheme.

    >>> import clift
    >>> phy = clift.channel.bernoulli(slots=1000, slot_ns=1_000_000, p=0.1, seed=1)
    >>> ll = apply(phy, "HARQ(10/12)", rtt_ms=500)
    >>> ll.stats()["lost"]
    0
    """
    feedback_ns = None if feedback_ms is None else _nanoseconds("feedback_ms", feedback_ms)
    inner = _clift.apply(phy._inner, str(scheme), _nanoseconds("rtt_ms", rtt_ms), feedback_ns)
    return LinkTrace(inner)


def _nanoseconds(name: str, milliseconds: float) -> int:
    if not 0 <= milliseconds < 2**61 / 1e6:
        raise ScenarioError(f"{name} = {milliseconds}: give a time in ms, 0 or more")
    return round(milliseconds * 1e6)
