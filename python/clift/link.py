"""The link alone: packets in, packets out."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

import clift._clift as _clift
from clift._parse import COUNT, SEED, whole
from clift.errors import ScenarioError
from clift.live.base import AnyLink, hop
from clift.reorder import Reorder
from clift.scenario import Scenario


def deliver(
    ll: AnyLink,
    arrivals_ns: ArrayLike,
    packet_bytes: int = 1500,
    queue_packets: int | None = None,
    reorder: Reorder | None = None,
    seed: int = 1,
    packing: Literal["packet", "bytes"] | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Sends packets into a link and says when each comes out.

    A packet takes ``ceil(packet_bytes / lldu_bytes)`` consecutive data LLDUs from the first at or
    after its arrival that no earlier packet took. It is delivered at ``max(t + d') + RTT/2`` of
    them, lost if one of them is, and pending if one still was when the trace ended or if the trace
    has too few left.

    Args:
        ll: The link: a link trace, or a live link such as `clift.LiveLink`.
        arrivals_ns: When each packet arrives at the link's queue: whole ns, not falling.
        packet_bytes: Size of every packet.
        queue_packets: How many may wait, not counting the one being sent; None: no limit.
        reorder: A re-sequencing buffer behind the link; None: packets leave as they come.
        seed: Seed of what a live link draws.
        packing: What packets share: nothing ("packet"), or LLDUs ("bytes": each begins behind the
            last byte of the one before it). None: what the trace says, else "packet".

    Returns:
        Two arrays with a value a packet: when it was delivered in ns, -1 where it was not; and its
        fate: 0 delivered, 1 lost, 2 queue full, 3 pending.

    Raises:
        TraceError: If the arrivals are no whole numbers.
        ScenarioError: If they fall, with the first that does, or a size is out of range.

    Example:
        >>> import clift
        >>> phy = clift.PhyTrace([0, 10, 20, 30], [5, 5, 0, 5], lldu_bytes=100)
        >>> ll = clift.tmt.apply(phy, clift.NoScheme(), rtt_ms=0.0002)
        >>> delivered_ns, fate = clift.deliver(ll, [0, 0, 25, 25], packet_bytes=150)
        >>> delivered_ns, fate
        (array([115,  -1,  -1,  -1]), array([0, 1, 3, 3], dtype=uint8))
    """
    size = whole("packet_bytes", packet_bytes, 1, COUNT)
    draws = whole("seed", seed, 0, SEED)
    hop("ll", ll)
    scenario = Scenario(ll, queue_packets=queue_packets, reorder=reorder, packing=packing)
    try:
        return _clift.deliver(scenario.task()[0], arrivals_ns, size, draws)
    except ScenarioError as error:
        raise scenario.explained(error) from None
