"""Re-sequencing buffer at the far end of a link."""

from __future__ import annotations

from dataclasses import dataclass

from clift._parse import COUNT, choice, flag, whole


@dataclass(frozen=True, slots=True)
class Reorder:
    """A re-sequencing buffer at the far end of a link.

    A packet is held while an earlier packet of the link is missing: neither delivered nor given up.
    Packets that a full queue dropped are never missing. A flush releases all held packets in order.
    Missing packets that arrive after a flush pass at once.

    Args:
        packets: Size of the buffer: the packet that fills it triggers a flush. None: no bound; a
            packet is held until every earlier one is delivered or given up, and nothing flushes.
        flush_on_loss: Flush whenever the link gives up a packet; otherwise that packet only stops
            being missing.
        key: Order to restore: "link", the order in which the link took the packets; or "tcp", the
            order of TCP sequence numbers, as in Tauran 2017: a packet in sequence or below passes,
            and a flush jumps to the number after the highest released one.
        flush_when_full: Flush a full buffer; otherwise give up only the first gap.

    Raises:
        ScenarioError: If a parameter is not valid.

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
            whole("Reorder: packets", self.packets, 1, COUNT, ", or None")
        flag("Reorder: flush_on_loss", self.flush_on_loss)
        flag("Reorder: flush_when_full", self.flush_when_full)
        choice("Reorder: key", self.key, ("link", "tcp"))
