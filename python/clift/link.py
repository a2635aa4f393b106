"""The link alone: packets in, packets out (DESIGN section 5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clift import _clift, _parse

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
            _parse.whole("Reorder: packets", self.packets, 1, _parse.COUNT, ", or None")
        _parse.flag("Reorder: flush_on_loss", self.flush_on_loss)
        _parse.flag("Reorder: flush_when_full", self.flush_when_full)
        _parse.choice("Reorder: key", self.key, ("link", "tcp"))

    @property
    def _inner(self) -> _clift.Reorder:
        tcp = self.key == "tcp"
        packets = None if self.packets is None else int(self.packets)
        flush_when_full, flush_on_loss = bool(self.flush_when_full), bool(self.flush_on_loss)
        return _clift.Reorder(packets, flush_when_full, flush_on_loss, tcp)


def buffer_of(name: str, value: Any) -> _clift.Reorder | None:
    """The re-sequencing buffer that an argument asks for; None: none.

    Raises:
        ScenarioError: If it is something else.

    Example:
        >>> buffer_of("reorder", "tcp")
        Traceback (most recent call last):
        clift.errors.ScenarioError: reorder = 'tcp': give a clift.Reorder or None
    """
    if value is None:
        return None
    return _parse.of_type(name, value, Reorder, "give a clift.Reorder or None")._inner


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
    from clift.live.base import a_link

    medium = a_link("ll", ll)._inner
    size = _parse.whole("packet_bytes", packet_bytes, 1, _parse.COUNT)
    waiting = None
    if queue_packets is not None:
        waiting = _parse.whole("queue_packets", queue_packets, 0, _parse.COUNT, ", or None")
    draws = _parse.whole("seed", seed, 0, _parse.SEED)
    buffer = buffer_of("reorder", reorder)
    return _clift.deliver(medium, arrivals_ns, size, waiting, buffer, draws)
