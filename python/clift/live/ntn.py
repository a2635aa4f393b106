"""The 3GPP view: NR user-plane layers over a long link."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any, Literal

from clift import _clift
from clift.delays import Delay, delay_steps
from clift.errors import ScenarioError
from clift.live.base import Live
from clift.trace import PhyTrace

_LONGEST_MS = 2**61 / 1e6


class NtnLink(Live):
    """A 3GPP NR link in one direction: HARQ, RLC and PDCP (docs/concepts/ntn.md).

    A slot carries one transport block (TB) or nothing. What is None is the preset's; timers that
    are None suit the delays and HARQ of this link. `math.inf` stands for no limit. Presets:
    "nr-ntn-geo", "nr-ntn-leo600" and "nr-ntn-leo1200" have the largest round trips of TR 38.821,
    table 4.2-2 (541.46, 25.77 and 41.77 ms), "nr-terrestrial" has 20 us; all carry 10 Mbit/s, with
    a block error rate of 10 % at first and 1 % in each retransmission.

    Args:
        preset: Where the link starts from.
        rlc: "am" (acknowledged mode) or "um" (unacknowledged mode).
        phy: A PHY trace: slot times, what is erased, decoding times, and TB size. Every
            transmission meets the fate of its slot. None: random errors, by the next four.
        slot_ms: Length of a slot.
        tb_bytes: Size of a TB.
        bler: Block error rate; or one for each transmission of a TB, given that all before it
            failed, the last of them for further ones too.
        decode_ms: From the start of a slot to the decoded TB, without propagation.
        delay_ms: One-way delay to the receiver; or rows of (time_s, delay_ms), or a CSV file of
            them, e.g. a satellite constellation's: each holds until the next.
        return_delay_ms: The same for the way back; None: that of the way there, if it is given.
        keep_order: With rows of delays, either way: what was sent earlier never arrives later.
        harq_feedback: False: disabled, a process is free at once, nothing is sent again but
            `repetitions`.
        harq_processes: How many TBs may be under way (16; 32 with Release 17).
        max_transmissions: How often HARQ sends a TB at most.
        repetitions: Consecutive slots of each transmission (slot aggregation).
        processing_ms: From the decoded TB to the sender acting on its feedback, without
            propagation.
        missed_grant: Probability that the receiver misses the grant of a transmission: it does not
            use it and sends no feedback.
        missed_feedback: Probability that feedback is not found, which counts as NACK.
        ack_to_nack: Probability that an ACK is read as NACK: the TB is sent again in vain.
        nack_to_ack: Probability that a NACK is read as ACK: HARQ loses the TB.
        dtx_to_ack: Probability that an ACK is read where a missed grant left silence.
        window: RLC window in packets (sequence numbers).
        t_reassembly_ms: `t-Reassembly`.
        t_status_prohibit_ms: `t-StatusProhibit` (AM).
        t_poll_retransmit_ms: `t-PollRetransmit` (AM).
        poll_pdu: A poll after so many PDUs (AM).
        poll_bytes: A poll after so many bytes (AM).
        max_retx: How often RLC sends a packet again before it gives it up (AM); a real network
            would declare a radio link failure.
        status_delay_ms: From a status report being due to its leaving the receiver (AM).
        status_loss: Probability that a status report is lost (AM).
        in_order: Whether PDCP delivers in order.
        t_reordering_ms: How long PDCP waits for a missing packet.
        discard_ms: A packet of which nothing was sent this long after it came is dropped.
        sdu_header_bytes: Header of each packet (PDCP, SDAP).
        pdu_header_bytes: Header of each piece of a packet in a TB (MAC, RLC).

    Raises:
        ScenarioError: If there can be no such link.

    Example:
        >>> import clift
        >>> geo = clift.NtnLink("nr-ntn-geo", rlc="am")
        >>> run = clift.simulate(geo, transport="cubic", profile="linux", duration_s=60)
        >>> # HARQ: 32 blocks of 10 kbit in every round trip and no more.
        >>> 300 < run.goodput_kbps < 600
        True
        >>> counts = run.summary()["links"][0]
        >>> counts["stalled_slots"] > counts["tbs_sent"] > 0
        True
        >>> fast = clift.NtnLink("nr-ntn-geo", harq_feedback=False, bler=0.001)
        >>> delivered_ns, fate = clift.deliver(fast, [0, 0, 0])
        >>> delivered_ns // 1_000_000
        array([273, 274, 275])
    """

    __slots__ = ("_description",)

    def __init__(
        self,
        preset: str = "nr-ntn-geo",
        *,
        rlc: Literal["am", "um"] = "am",
        phy: PhyTrace | None = None,
        slot_ms: float | None = None,
        tb_bytes: int | None = None,
        bler: float | Sequence[float] | None = None,
        decode_ms: float | None = None,
        delay_ms: Delay | None = None,
        return_delay_ms: Delay | None = None,
        keep_order: bool = True,
        harq_feedback: bool = True,
        harq_processes: int | None = None,
        max_transmissions: int | None = None,
        repetitions: int | None = None,
        processing_ms: float | None = None,
        missed_grant: float | None = None,
        missed_feedback: float | None = None,
        ack_to_nack: float | None = None,
        nack_to_ack: float | None = None,
        dtx_to_ack: float | None = None,
        window: int | None = None,
        t_reassembly_ms: float | None = None,
        t_status_prohibit_ms: float | None = None,
        t_poll_retransmit_ms: float | None = None,
        poll_pdu: float | None = None,
        poll_bytes: float | None = None,
        max_retx: float | None = None,
        status_delay_ms: float | None = None,
        status_loss: float | None = None,
        in_order: bool | None = None,
        t_reordering_ms: float | None = None,
        discard_ms: float | None = None,
        sdu_header_bytes: int | None = None,
        pdu_header_bytes: int | None = None,
    ) -> None:
        if return_delay_ms is None:
            return_delay_ms = delay_ms
        changes: dict[str, Any] = {
            "phy": None if phy is None else phy._inner,
            "slot": _time("slot_ms", slot_ms),
            "tb": _count("tb_bytes", tb_bytes),
            "bler": _rates(bler),
            "decode": _time("decode_ms", decode_ms),
            "delay" if keep_order else "overtaking_delay": _delay(delay_ms),
            "way_back" if keep_order else "overtaking_way_back": _delay(return_delay_ms),
            "harq_feedback": bool(harq_feedback),
            "processes": _count("harq_processes", harq_processes),
            "max_transmissions": _count("max_transmissions", max_transmissions),
            "repetitions": _count("repetitions", repetitions),
            "processing": _time("processing_ms", processing_ms),
            "missed_grant": _probability("missed_grant", missed_grant),
            "missed_feedback": _probability("missed_feedback", missed_feedback),
            "ack_to_nack": _probability("ack_to_nack", ack_to_nack),
            "nack_to_ack": _probability("nack_to_ack", nack_to_ack),
            "dtx_to_ack": _probability("dtx_to_ack", dtx_to_ack),
            "window": _count("window", window),
            "t_reassembly": _time("t_reassembly_ms", t_reassembly_ms),
            "t_status_prohibit": _time("t_status_prohibit_ms", t_status_prohibit_ms),
            "t_poll_retransmit": _time("t_poll_retransmit_ms", t_poll_retransmit_ms),
            "poll_pdu": _limit("poll_pdu", poll_pdu),
            "poll_bytes": _limit("poll_bytes", poll_bytes),
            "max_retx": _limit("max_retx", max_retx),
            "status_delay": _time("status_delay_ms", status_delay_ms),
            "status_loss": _probability("status_loss", status_loss),
            "in_order": None if in_order is None else bool(in_order),
            "t_reordering": _timer("t_reordering_ms", t_reordering_ms),
            "discard": _timer("discard_ms", discard_ms),
            "sdu_header": _count("sdu_header_bytes", sdu_header_bytes, least=0),
            "pdu_header": _count("pdu_header_bytes", pdu_header_bytes, least=0),
        }
        given = {name: value for name, value in changes.items() if value is not None}
        self._inner = _clift.ntn_medium(str(preset), str(rlc), given)
        feedback = "" if harq_feedback else ", harq_feedback=False"
        self._description = f"NtnLink({str(preset)!r}, rlc={str(rlc)!r}{feedback}, ...)"

    @staticmethod
    def presets() -> list[str]:
        """Names of the presets.

        Example:
            >>> import clift
            >>> clift.NtnLink.presets()
            ['nr-ntn-geo', 'nr-ntn-leo600', 'nr-ntn-leo1200', 'nr-terrestrial']
        """
        return _clift.ntn_presets()

    def __repr__(self) -> str:
        return self._description


def _time(name: str, ms: float | None) -> int | None:
    if ms is None:
        return None
    try:
        if 0 <= ms <= _LONGEST_MS:
            return round(ms * 1e6)
    except TypeError:
        pass
    raise ScenarioError(f"{name} = {ms!r}: give a time in ms, 0 or more")


def _timer(name: str, ms: float | None) -> int | None:
    """A time that may be infinite, which is -1."""
    return -1 if ms == math.inf else _time(name, ms)


def _delay(delay: Delay | None) -> list[tuple[int, int]] | None:
    return None if delay is None else delay_steps(delay)


def _count(name: str, value: int | None, least: int = 1) -> int | None:
    if value is None:
        return None
    try:
        number = operator.index(value)
    except TypeError:
        raise ScenarioError(f"{name} = {value!r} is no whole number") from None
    if not least <= number < 2**32:
        raise ScenarioError(f"{name} = {number} is out of range; give {least} or more")
    return number


def _limit(name: str, value: float | None) -> int | None:
    """A limit that may be infinite, which is 0."""
    if value == math.inf:
        return 0
    return _count(name, value)  # type: ignore[arg-type]  # what is no whole number is refused


def _probability(name: str, value: float | None) -> float | None:
    if value is None:
        return None
    try:
        if 0 <= value <= 1:
            return float(value)
    except TypeError:
        pass
    raise ScenarioError(f"{name} = {value!r} is not a probability; give a number from 0 to 1")


def _rates(bler: float | Sequence[float] | None) -> list[float] | None:
    if bler is None:
        return None
    values = bler if isinstance(bler, Sequence) else [bler]
    return [_probability("bler", value) or 0.0 for value in values]
