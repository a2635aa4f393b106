"""A scheme that runs with its traffic (DESIGN section 5)."""

from __future__ import annotations

from dataclasses import dataclass, field

from clift import _clift, _parse
from clift.link import Reorder, buffer_of
from clift.live.base import Live, a_phy
from clift.scheme import Scheme, scheme_text
from clift.tmt import feedback_time
from clift.trace import PhyTrace


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LiveLink(Live):
    """A link whose scheme runs with the traffic over a PHY trace.

    Slots are used only when there is something to send: repair of a finished block or of a unit
    that was reported missing, then repair of the current block, then new data. With data always
    waiting, that gives exactly the link trace of `clift.tmt.apply`.

    Args:
        phy: What the physical layer does with each slot.
        scheme: One of ``clift.NoScheme``, ``Fec``, ``Arq``, ``Harq2``, or its text.
        rtt_ms: Round-trip time of the link.
        feedback_ms: From a slot's ``t`` until the sender can act on its loss, at least the RTT; RTT
            plus the nominal decoding time unless set.
        flush_ms: From the first unit of a FEC or HARQ block until it is closed, if nothing waits to
            fill it: shortened code, its repair units follow. None is 0: as soon as nothing waits.
        reorder: A re-sequencing buffer at its far end; None: packets leave as they come.
        feedback_loss: Probability that a report is lost, or the PHY trace of the way back: then a
            report is lost if the slot that would carry it is erased. That trace has the clock of
            `phy`: the same start, and it begins anew where that wraps; if it ends before, it
            repeats.
        feedback_repeat_ms: After how long a lost report is repeated; the feedback time unless set.
        send_buffer: Most units (HARQ: blocks) that the sender keeps until it hears of their end;
            None: no bound.
        receive_buffer: Most units (HARQ: blocks) from the first gap to the newest, which the far
            end has to hold; None: no bound.

    What a scheme has no use for, such as `flush_ms` for ARQ, changes nothing.

    Raises:
        ScenarioError: If there can be no such link.

    Example:
        >>> import clift
        >>> phy = clift.channel.bernoulli(slots=60_000, p=0.02, seed=1)
        >>> live = LiveLink(phy, clift.Harq2(10, 12), rtt_ms=500)
        >>> run = clift.simulate(live, file_bytes=100_000, stop_when_done=False, duration_s=40)
        >>> link = run.summary()["links"][0]
        >>> link["blocks_flushed"] > 0, link["share_used"] < 0.1
        (True, True)
    """

    phy: PhyTrace
    scheme: Scheme | str
    rtt_ms: float = 500
    feedback_ms: float | None = None
    flush_ms: float | None = None
    reorder: Reorder | None = None
    feedback_loss: float | PhyTrace = field(default=0.0, kw_only=True)
    feedback_repeat_ms: float | None = field(default=None, kw_only=True)
    send_buffer: int | None = field(default=None, kw_only=True)
    receive_buffer: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_inner", self._medium())

    def __repr__(self) -> str:
        return f"LiveLink({self._changed(('phy', 'scheme', 'rtt_ms'))})"

    def _medium(self) -> _clift.Medium:
        loss, trace = 0.0, None
        if _parse.real(self.feedback_loss) is not None:
            loss = _parse.probability("feedback_loss", self.feedback_loss)
        elif isinstance(self.feedback_loss, PhyTrace):
            trace = self.feedback_loss._inner
        else:
            cure = "give a probability or a PHY trace"
            raise _parse.fault("feedback_loss", self.feedback_loss, cure)
        rtt_ns = _parse.nanoseconds("rtt_ms", self.rtt_ms, "ms")
        return _clift.Medium.live(
            a_phy("phy", self.phy),
            scheme_text(self.scheme),
            rtt_ns=rtt_ns,
            feedback_ns=feedback_time(self.feedback_ms, rtt_ns),
            flush_ns=_time("flush_ms", self.flush_ms) or 0,
            feedback_loss=loss,
            feedback_trace=trace,
            feedback_repeat_ns=_time("feedback_repeat_ms", self.feedback_repeat_ms),
            send_buffer=_bound("send_buffer", self.send_buffer),
            receive_buffer=_bound("receive_buffer", self.receive_buffer),
            reorder=buffer_of("reorder", self.reorder),
        )


def _time(name: str, ms: float | None) -> int | None:
    return None if ms is None else _parse.nanoseconds(name, ms, "ms")


def _bound(name: str, value: int | None) -> int | None:
    if value is None:
        return None
    return _parse.whole(name, value, 1, _parse.COUNT, ", or None for no bound")
