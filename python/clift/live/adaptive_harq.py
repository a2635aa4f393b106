"""Adaptive HARQ on the mutual information of the channel (seed 004)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from clift import _clift, _parse
from clift.delays import Delay, delay_steps
from clift.errors import ScenarioError
from clift.land_mobile import LandMobile
from clift.link import Reorder, buffer_of
from clift.live.base import Live

# More coded bits per information bit than any code has.
_MOST_RATIO = 1000


@dataclass(frozen=True, slots=True, eq=False)
class AdaptiveHarqLink(Live):
    """A link whose packets are code words, sent again in part until they are decoded.

    Attempt i at a packet starts ``i * step_ms`` after the first and is credited its coded bits
    times the channel's mutual information per coded bit at its start. The packet is decoded when
    what it was credited passes its threshold, and given up if the last attempt does not suffice.
    Unless `repairs` says otherwise the next packet is sent right after the first attempt of the one
    before: retransmissions take no time from others, as in the paper's module, but count in the
    load.

    The three numbers `first`, `increment` and `packet_sigma` are fitted on the tables of seed 004
    (docs/concepts/adaptive-harq.md); everything else is the paper's, or follows from it.

    Args:
        preset: A preset of `clift.channel.lms`; `its` is that of seed 004.
        snr_db: Mean Es/N0 of the channel in dB.
        rate_kbps: Rate of coded bits; it serialises the first attempt of each packet.
        delay_ms: From the sender to the receiver, one way: a number, rows of (time_s, delay_ms),
            what `clift.constellation.delays` gives, or a CSV file of it; each holds until the next.
            What is sent back takes as long.
        reorder: A re-sequencing buffer at the far end; the one of `clift.simulate` takes its place.
        duration_s: Length of the channel that is made; a run may not outlast it unless it wraps.
        seed: Names the channel. Thresholds are drawn from the seed of the run.
        first: Coded bits per information bit of the first attempt, in units of the inverse of the
            channel's mean mutual information at this Es/N0.
        increment: The same of each retransmission.
        targets: In their place, the probabilities with which the first attempt and each
            retransmission are to bring what is still missing.
        packet_sigma: Spread of the decoding threshold from packet to packet, relative to the
            packet; 0 is the physical limit.
        attempt_sigma: The same from attempt to attempt. With 0.25 of it in the place of
            `packet_sigma` and `increment=0.43` the tables come out as well.
        repairs: Whether retransmissions take time from other packets: ``"beside"`` (they don't) or
            ``"compete"`` (they do, and go before new packets).
        max_retransmissions: Before a packet is given up; at most 7.
        step_ms: From an attempt to the next.
        keep_order: With a delay that varies: what was decoded earlier never arrives later.
        channel: A channel of your own, in the place of `preset` and `snr_db`.
        information: Mutual information per coded bit over time, 0 to 1, in their place: one value
            every `every_ms`. Its mean takes the place of the channel's. From measured levels:
            `LandMobile.awgn_information`.
        every_ms: From one value of `information` to the next.

    Raises:
        ScenarioError: If there can be no such link; the message says what is wrong.

    Example:
        >>> import clift
        >>> link = clift.AdaptiveHarqLink(snr_db=13, duration_s=30)
        >>> run = clift.simulate(link, transport="cubic", duration_s=30)
        >>> buffer = clift.Reorder(packets=125, key="tcp")
        >>> ordered = clift.simulate(link.replace(reorder=buffer), transport="cubic", duration_s=30)
        >>> ordered.goodput_kbps > 1.5 * run.goodput_kbps
        True
        >>> counts = run.summary()["links"][0]
        >>> 0 < counts["harq_decoded_after_3"] < counts["harq_decoded_after_0"]
        True
    """

    preset: str = "its"
    snr_db: float = 13
    rate_kbps: float = 50_000
    delay_ms: Delay = field(default=80, repr=False)
    reorder: Reorder | None = None
    duration_s: float = 600
    seed: int = 1
    first: float = field(default=1.0, kw_only=True)
    increment: float = field(default=0.47, kw_only=True)
    targets: Sequence[float] | None = field(default=None, kw_only=True)
    packet_sigma: float = field(default=0.25, kw_only=True)
    attempt_sigma: float = field(default=0, kw_only=True)
    repairs: Literal["beside", "compete"] = field(default="beside", kw_only=True)
    max_retransmissions: int = field(default=3, kw_only=True)
    step_ms: float = field(default=21, kw_only=True)
    keep_order: bool = field(default=False, kw_only=True)
    channel: LandMobile | None = field(default=None, kw_only=True)
    information: ArrayLike | None = field(default=None, kw_only=True, repr=False)
    every_ms: float = field(default=1, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_inner", self._medium())

    @property
    def mean_information(self) -> float:
        """E[MI]: the channel's mean mutual information per coded bit.

        From its closed form, not that of one realisation; of `information` its mean.
        """
        if self.information is not None:
            return self._own_information().mean()
        return _mean_information(self._channel())

    def _channel(self) -> LandMobile:
        if self.channel is not None:
            cure = "give a clift.land_mobile.LandMobile, or name one as `preset`"
            return _parse.of_type("channel", self.channel, LandMobile, cure)
        level = _parse.number("snr_db", self.snr_db, -100, 100, "a level in dB")
        return channel(_parse.text("preset", self.preset, "the name of a channel"), level)

    def _information(self) -> tuple[_clift.MiTrace, float]:
        self._check_sources()
        duration = _parse.nanoseconds("duration_s", self.duration_s, "s")
        seed = _parse.whole("seed", self.seed, 0, _parse.SEED)
        if self.information is None:
            return information(self._channel(), duration, seed)
        trace = self._own_information()
        return trace, trace.mean()

    def _check_sources(self) -> None:
        """The channel is said once: by `preset` and `snr_db`, `channel`, or `information`."""
        own = self.information is not None
        if own and self.channel is not None:
            raise ScenarioError("channel and information: both say what the channel is; give one")
        made, drawn = self._given("preset", "snr_db"), self._given("duration_s", "seed")
        cure = "`information` says what the channel is; leave one of them out"
        _parse.only_with(own, made + drawn, cure)
        cure = "`channel` says what the channel is; leave one of them out"
        _parse.only_with(self.channel is not None, made, cure)
        cure = "is for `information`; give that beside it, or leave it out"
        _parse.only_with(not own, self._given("every_ms"), cure)

    def _own_information(self) -> _clift.MiTrace:
        try:
            values = np.ascontiguousarray(self.information, np.float32)
        except (TypeError, ValueError):
            values = np.empty((0, 0), np.float32)
        if values.ndim != 1 or values.size == 0:
            raise ScenarioError("information: give a list of numbers from 0 to 1, one per step")
        return _clift.MiTrace(_parse.nanoseconds("every_ms", self.every_ms, "ms", 1), values)

    def _medium(self) -> _clift.Medium:
        targets = self._targets()
        trace, mean = self._information()
        first, increment = (1.0, 1.0) if targets is not None else self._sizes(mean)
        repairs = _parse.choice("repairs", self.repairs, ("beside", "compete"))
        return _clift.adaptive_harq(
            trace,
            rate_bps=_parse.bits_per_second("rate_kbps", self.rate_kbps),
            delay=delay_steps(self.delay_ms),
            keep_order=_parse.flag("keep_order", self.keep_order),
            first=first,
            increment=increment,
            targets=targets,
            max_retransmissions=_parse.whole("max_retransmissions", self.max_retransmissions, 0, 7),
            step_ns=_parse.nanoseconds("step_ms", self.step_ms, "ms", 1),
            packet_sigma=_parse.number("packet_sigma", self.packet_sigma, 0, 10),
            attempt_sigma=_parse.number("attempt_sigma", self.attempt_sigma, 0, 10),
            compete=repairs == "compete",
            reorder=buffer_of("reorder", self.reorder),
        )

    def _targets(self) -> list[float] | None:
        if self.targets is None:
            return None
        cure = "`targets` say how much is sent; leave one of them out"
        _parse.only_with(True, self._given("first", "increment"), cure)
        return _parse.probability_list("targets", self.targets)

    def _sizes(self, mean: float) -> tuple[float, float]:
        """Coded bits per information bit of the first attempt and of each retransmission."""
        sizes = []
        for name, value in (("first", self.first), ("increment", self.increment)):
            size = _parse.real(value)
            if size is None or not 0 < size <= _MOST_RATIO:
                cure = f"give a number above 0, at most {_MOST_RATIO}"
                raise _parse.fault(name, value, cure)
            most = _MOST_RATIO * mean
            if most < 1:
                raise ScenarioError(self._too_little(mean))
            if size > most:
                cure = f"give at most {most:.4g}, which the channel's mean of {mean:.2g} allows"
                raise _parse.fault(name, value, cure)
            sizes.append(size / mean)
        return sizes[0], sizes[1]

    def _too_little(self, mean: float) -> str:
        shown = f"mean mutual information of {mean:.2g} per coded bit"
        if self.information is not None:
            return f"information: a {shown} is too little for a link; give a better channel"
        if self.channel is not None:
            return f"channel: its {shown} is too little for a link; give a higher Es/N0"
        return (
            f"snr_db = {self.snr_db}: the channel's {shown} is too little for a link; "
            "give a higher level"
        )


# Links over the same channel share it, and what takes longest to make.
@lru_cache(maxsize=64)
def channel(preset: str, snr_db: float) -> LandMobile:
    """The channel of a preset at a mean Es/N0 in dB, the same object each time."""
    return LandMobile(preset, snr_db)


def information(channel: LandMobile, duration_ns: int, seed: int) -> tuple[_clift.MiTrace, float]:
    """The mutual information of a channel over time, and its mean in closed form."""
    return _information(channel, duration_ns, seed), _mean_information(channel)


@lru_cache(maxsize=64)
def _mean_information(channel: LandMobile) -> float:
    return channel._inner.mean_information()


@lru_cache(maxsize=64)
def _information(channel: LandMobile, duration_ns: int, seed: int) -> _clift.MiTrace:
    return _clift.MiTrace.of(channel._inner, duration_ns, seed)
