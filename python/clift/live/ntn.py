"""The 3GPP view: NR user-plane layers over a long link."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from clift import _clift, _parse
from clift.delays import Delay, delay_steps
from clift.live.base import Live, a_phy
from clift.trace import PhyTrace


@dataclass(frozen=True, slots=True, eq=False, repr=False)
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

    preset: str = "nr-ntn-geo"
    rlc: Literal["am", "um"] = field(default="am", kw_only=True)
    phy: PhyTrace | None = field(default=None, kw_only=True)
    slot_ms: float | None = field(default=None, kw_only=True)
    tb_bytes: int | None = field(default=None, kw_only=True)
    bler: float | Sequence[float] | None = field(default=None, kw_only=True)
    decode_ms: float | None = field(default=None, kw_only=True)
    delay_ms: Delay | None = field(default=None, kw_only=True)
    return_delay_ms: Delay | None = field(default=None, kw_only=True)
    keep_order: bool = field(default=True, kw_only=True)
    harq_feedback: bool = field(default=True, kw_only=True)
    harq_processes: int | None = field(default=None, kw_only=True)
    max_transmissions: int | None = field(default=None, kw_only=True)
    repetitions: int | None = field(default=None, kw_only=True)
    processing_ms: float | None = field(default=None, kw_only=True)
    missed_grant: float | None = field(default=None, kw_only=True)
    missed_feedback: float | None = field(default=None, kw_only=True)
    ack_to_nack: float | None = field(default=None, kw_only=True)
    nack_to_ack: float | None = field(default=None, kw_only=True)
    dtx_to_ack: float | None = field(default=None, kw_only=True)
    window: int | None = field(default=None, kw_only=True)
    t_reassembly_ms: float | None = field(default=None, kw_only=True)
    t_status_prohibit_ms: float | None = field(default=None, kw_only=True)
    t_poll_retransmit_ms: float | None = field(default=None, kw_only=True)
    poll_pdu: float | None = field(default=None, kw_only=True)
    poll_bytes: float | None = field(default=None, kw_only=True)
    max_retx: float | None = field(default=None, kw_only=True)
    status_delay_ms: float | None = field(default=None, kw_only=True)
    status_loss: float | None = field(default=None, kw_only=True)
    in_order: bool | None = field(default=None, kw_only=True)
    t_reordering_ms: float | None = field(default=None, kw_only=True)
    discard_ms: float | None = field(default=None, kw_only=True)
    sdu_header_bytes: int | None = field(default=None, kw_only=True)
    pdu_header_bytes: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_inner", self._medium())

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
        changed = self._changed(("preset", "rlc")).removeprefix("preset=")
        return f"NtnLink({changed})"

    def _medium(self) -> _clift.Medium:
        preset = _parse.text("preset", self.preset, f"one of {', '.join(_clift.ntn_presets())}")
        rlc = _parse.choice("rlc", self.rlc, ("am", "um"))
        feedback = _parse.flag("harq_feedback", self.harq_feedback)
        _parse.only_with(
            not feedback,
            [(name, getattr(self, name) is not None) for name in _OF_FEEDBACK],
            "is of HARQ feedback, which harq_feedback=False switches off; leave one of them out",
        )
        _parse.only_with(
            self.phy is not None,
            [(name, getattr(self, name) is not None) for name in _OF_ERRORS],
            "the PHY trace has its own; leave one of them out",
        )
        _parse.only_with(
            rlc == "um",
            [(name, getattr(self, name) is not None) for name in _OF_AM],
            "RLC UM has none; leave it out or give rlc='am'",
        )
        changes = self._numbers() | {
            "phy": None if self.phy is None else a_phy("phy", self.phy),
            "bler": None if self.bler is None else _parse.probabilities("bler", self.bler),
            "harq_feedback": feedback,
            "in_order": None if self.in_order is None else _parse.flag("in_order", self.in_order),
        }
        changes |= self._delays()
        given = {name: value for name, value in changes.items() if value is not None}
        return _clift.ntn_medium(preset, rlc, given)

    def _delays(self) -> dict[str, list[tuple[int, int]] | None]:
        there = None if self.delay_ms is None else delay_steps(self.delay_ms)
        back = there
        if self.return_delay_ms is not None:
            back = delay_steps(self.return_delay_ms, "return_delay_ms")
        prefix = "" if _parse.flag("keep_order", self.keep_order) else "overtaking_"
        return {f"{prefix}delay": there, f"{prefix}way_back": back}

    def _numbers(self) -> dict[str, Any]:
        """What is a time, a count or a probability, under the engine's names."""
        numbers: dict[str, Any] = {}
        for name, least_ns in _TIMES.items():
            value = getattr(self, name)
            if name in _ENDLESS and _parse.real(value) == math.inf:
                numbers[name.removesuffix("_ms")] = -1
            elif value is not None:
                exact = _parse.nanoseconds(name, value, "ms", least_ns)
                numbers[name.removesuffix("_ms")] = exact
        for name, (engine, least) in _COUNTS.items():
            value = getattr(self, name)
            given = None if value is None else _parse.whole(name, value, least, _parse.COUNT)
            numbers[engine] = given
        for name in _LIMITS:
            value = getattr(self, name)
            if _parse.real(value) == math.inf:
                numbers[name] = 0
            elif value is not None:
                otherwise = ", or math.inf for no limit"
                numbers[name] = _parse.whole(name, value, 1, _parse.COUNT, otherwise)
        for name in _PROBABILITIES:
            value = getattr(self, name)
            numbers[name] = None if value is None else _parse.probability(name, value)
        return numbers


_OF_FEEDBACK = ("harq_processes", "max_transmissions", "processing_ms")
_OF_ERRORS = ("slot_ms", "tb_bytes", "bler", "decode_ms")
_OF_AM = (
    "t_status_prohibit_ms",
    "t_poll_retransmit_ms",
    "poll_pdu",
    "poll_bytes",
    "max_retx",
    "status_delay_ms",
    "status_loss",
)
# The least that they may be, in ns.
_TIMES = {
    "slot_ms": 1,
    "decode_ms": 1,
    "processing_ms": 0,
    "t_reassembly_ms": 0,
    "t_status_prohibit_ms": 0,
    "t_poll_retransmit_ms": 1,
    "status_delay_ms": 0,
    "t_reordering_ms": 0,
    "discard_ms": 1,
}
# Times that may be infinite, which is -1 for the engine.
_ENDLESS = ("t_reordering_ms", "discard_ms")
# What the engine calls them, and the least that they may be.
_COUNTS = {
    "tb_bytes": ("tb", 1),
    "harq_processes": ("processes", 1),
    "max_transmissions": ("max_transmissions", 1),
    "repetitions": ("repetitions", 1),
    "window": ("window", 1),
    "sdu_header_bytes": ("sdu_header", 0),
    "pdu_header_bytes": ("pdu_header", 0),
}
# They may be infinite, which is 0 for the engine.
_LIMITS = ("poll_pdu", "poll_bytes", "max_retx")
_PROBABILITIES = (
    "missed_grant",
    "missed_feedback",
    "ack_to_nack",
    "nack_to_ack",
    "dtx_to_ack",
    "status_loss",
)
