"""Sends packets through a link without a transport."""

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
    """Send packets into a link, and return when each one comes out.

    A packet takes ``ceil(packet_bytes / lldu_bytes)`` consecutive data LLDUs, starting with the
    first free one at or after its arrival. It is delivered at ``max(t + d') + RTT/2`` of them. It
    is lost if one of them is lost. It is pending if one is still pending at the end of the trace,
    or if the trace has too few LLDUs left.

    Args:
        ll: The link: a link trace, or a live link such as `clift.LiveLink`.
        arrivals_ns: Arrival times at the link's queue: whole ns, not decreasing.
        packet_bytes: Size of every packet, in bytes.
        queue_packets: Size of the queue, not counting the packet being sent; None: no limit.
        reorder: Re-sequencing buffer behind the link; None: packets leave as they arrive.
        seed: Seed of the draws of a live link.
        packing: "packet": each packet starts a new LLDU; "bytes": each packet starts behind the
            last byte of the packet before it. None: the trace's value, else "packet".

    Returns:
        Two arrays with one value per packet: delivery time in ns, -1 if not delivered; and fate:
        0 delivered, 1 lost, 2 queue full, 3 pending.

    Raises:
        TraceError: If the arrivals are not whole numbers.
        ScenarioError: If the arrivals decrease, with the first such place, or a size is out of
            range.

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
