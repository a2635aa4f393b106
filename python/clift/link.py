"""The link alone: packets in, packets out (DESIGN section 5)."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clift import _clift
from clift.errors import ScenarioError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from clift.live import AnyLink


@dataclass(frozen=True, slots=True)
class Reorder:
    """A re-sequencing buffer at the far end of a link.

    A packet is held while one that the link took before it is missing: neither delivered nor given
    up. Packets that a full queue dropped are never missing. A flush releases all that is held, in
    order; what it leaves behind goes on as soon as it arrives.

    Args:
        packets: Size of the buffer: the packet that fills it has it flushed. None: no bound, a
            packet is held until every earlier one is delivered or given up, and nothing flushes.
        flush_on_loss: Flush whenever the link gives a packet up; else that packet is just no longer
            missing.
        key: What the order is: "link", in which the link took the packets, what an engineer would
            build; or "tcp", that of TCP sequence numbers, the buffer of seed 004: what is in
            sequence or below goes on, a flush jumps to the number after the highest released.
        flush_when_full: Flush a full buffer; else only the first gap is given up.

    Raises:
        ScenarioError: If there can be no such buffer.

    Example:
        >>> import clift
        >>> clift.Reorder(packets=125)
        Reorder(packets=125, flush_on_loss=True, key='link', flush_when_full=True)
    """

    packets: int | None = 125
    flush_on_loss: bool = True
    key: str = "link"
    flush_when_full: bool = True

    def __post_init__(self) -> None:
        if self.packets is not None:
            _count("Reorder: packets", self.packets, at_least=1)
        if self.key not in ("link", "tcp"):
            raise ScenarioError(f'Reorder: key = {self.key!r}; give "link" or "tcp"')

    @property
    def _inner(self) -> _clift.Reorder:
        tcp = self.key == "tcp"
        return _clift.Reorder(self.packets, self.flush_when_full, self.flush_on_loss, tcp)


def deliver(
    ll: AnyLink,
    arrivals_ns: ArrayLike,
    packet_bytes: int = 1500,
    queue_packets: int | None = None,
    reorder: Reorder | None = None,
    seed: int = 1,
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
    size = _count("packet_bytes", packet_bytes, at_least=1)
    waiting = None if queue_packets is None else _count("queue_packets", queue_packets, at_least=0)
    buffer = None if reorder is None else reorder._inner
    return _clift.deliver(ll._inner, arrivals_ns, size, waiting, buffer, seed)


def _count(name: str, value: Any, at_least: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise ScenarioError(f"{name} = {value!r} is no whole number") from None
    if not at_least <= number < 2**32:
        raise ScenarioError(f"{name} = {number} is out of range; give {at_least} or more")
    return number
