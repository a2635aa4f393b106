"""A scheme that runs with its traffic (DESIGN section 5)."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from clift import _clift
from clift.errors import ScenarioError
from clift.live.base import Live
from clift.trace import PhyTrace

if TYPE_CHECKING:
    from clift.link import Reorder
    from clift.scheme import Scheme


class LiveLink(Live):
    """A link whose scheme runs with the traffic over a PHY trace.

    Slots are used only when there is something to send: repair of a finished block or of a unit
    that was reported missing, then repair of the current block, then new data. With data always
    waiting, that gives exactly the link trace of `clift.tmt.apply`.

    Args:
        phy: What the physical layer does with each slot.
        scheme: One of ``clift.NoScheme``, ``Fec``, ``Arq``, ``Harq2``, or its text.
        rtt_ms: Round-trip time of the link.
        feedback_ms: From a slot's ``t`` until the sender can act on its loss; RTT plus the nominal
            decoding time unless set.
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

    __slots__ = ("_scheme",)

    def __init__(
        self,
        phy: PhyTrace,
        scheme: Scheme | str,
        rtt_ms: float = 500,
        feedback_ms: float | None = None,
        flush_ms: float | None = None,
        reorder: Reorder | None = None,
        *,
        feedback_loss: float | PhyTrace = 0.0,
        feedback_repeat_ms: float | None = None,
        send_buffer: int | None = None,
        receive_buffer: int | None = None,
    ) -> None:
        if not isinstance(phy, PhyTrace):
            raise ScenarioError(f"phy = {phy!r}: give a PHY trace; clift.channel makes one")
        self._scheme = str(scheme)
        self._inner = _clift.Medium.live(
            phy._inner,
            self._scheme,
            rtt_ns=_nanoseconds("rtt_ms", rtt_ms),
            feedback_ns=_time("feedback_ms", feedback_ms),
            flush_ns=_time("flush_ms", flush_ms) or 0,
            feedback_loss=0.0 if isinstance(feedback_loss, PhyTrace) else _loss(feedback_loss),
            feedback_trace=feedback_loss._inner if isinstance(feedback_loss, PhyTrace) else None,
            feedback_repeat_ns=_time("feedback_repeat_ms", feedback_repeat_ms),
            send_buffer=_count("send_buffer", send_buffer),
            receive_buffer=_count("receive_buffer", receive_buffer),
            reorder=None if reorder is None else reorder._inner,
        )

    def __repr__(self) -> str:
        return f"LiveLink({self._scheme})"


def _nanoseconds(name: str, milliseconds: float) -> int:
    try:
        if 0 <= milliseconds < 2**61 / 1e6:
            return round(milliseconds * 1e6)
    except TypeError:
        pass
    raise ScenarioError(f"{name} = {milliseconds!r}: give a time in ms, 0 or more")


def _time(name: str, milliseconds: float | None) -> int | None:
    return None if milliseconds is None else _nanoseconds(name, milliseconds)


def _loss(probability: Any) -> float:
    try:
        return float(probability)
    except (TypeError, ValueError):
        message = f"feedback_loss = {probability!r}: give a probability or a PHY trace"
        raise ScenarioError(message) from None


def _count(name: str, value: int | None) -> int | None:
    if value is None:
        return None
    try:
        if 1 <= operator.index(value) < 2**32:
            return operator.index(value)
    except TypeError:
        pass
    raise ScenarioError(f"{name} = {value!r}: give a whole number from 1, or None for no bound")
