"""Hybrid FEC/ARQ-SR (seed 002)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from clift import _clift, _parse
from clift.live.base import Live, a_phy

if TYPE_CHECKING:
    from clift.trace import PhyTrace

_USUAL_LOSS = 0.01
_RANGES = {
    "k": (1, 65_535),
    "n": (1, 65_535),
    "frames": (1, _parse.COUNT),
    "persistency": (0, 65_535),
    "unit_bytes": (1, 65_535),
}


@dataclass(frozen=True, slots=True, eq=False)
class HybridLink(Live):
    """A link that runs hybrid FEC/ARQ-SR with its traffic.

    A packet is cut into frames, a frame into `k` data units, to which `n - k` redundant ones are
    added. A frame is decoded if any `k` of its `n` units arrive. Otherwise its NACK is at the
    sender two delays after its last bit was sent, and it is sent again, ahead of new frames, at
    most `persistency` times; then its packet is given up.

    Args:
        k: K, data units of a frame.
        n: N, all units of a frame; `n = k` is ARQ-SR alone.
        frames: X, frames of the largest packet, which has ``frames * k * unit_bytes`` bytes. A
            packet takes ``ceil(bytes / (k * unit_bytes))`` frames, the last one padded; a run whose
            packets would take more than X is refused.
        persistency: delta, how often a frame is sent again; 0 is FEC alone.
        unit_bytes: Size of a unit.
        rate_kbps: Rate of the link.
        delay_ms: D, one way; what is sent back takes as long.
        p: Probability that a unit is lost, each independently.
        in_order: Release packets in the order in which the link took them.
        seed: Seed of the losses, beside that of the run: either changes them.
        losses: A PHY trace in the place of `p`: a unit meets the fate of the last slot that began
            by then. `start_offset_s` and `wrap` of `clift.simulate` apply to it.

    Raises:
        ScenarioError: If there can be no such link; the message says what is wrong.

    Example:
        >>> import clift
        >>> link = clift.HybridLink(n=11, delay_ms=20)
        >>> run = clift.simulate(
        ...     link,
        ...     transport="newreno",
        ...     flows=10,
        ...     access_kbps=10_000,
        ...     access_ms=20,
        ...     queue_packets=500,
        ...     delayed_ack=True,
        ...     duration_s=30,
        ... )
        >>> run.goodput_kbps > 1000
        True
        >>> link_of = run.summary()["links"][0]
        >>> link_of["frames_failed"] > 0, link_of["packets_given_up"]
        (True, 0)
        >>> clift.HybridLink(k=10, n=9)
        Traceback (most recent call last):
        clift.errors.ScenarioError: hybrid link: a frame carries K of N units; 1 <= K <= N <= 65535
    """

    k: int = 10
    n: int = 12
    frames: int = 6
    persistency: int = 5
    unit_bytes: int = 25
    rate_kbps: float = 2000
    delay_ms: float = 200
    p: float = _USUAL_LOSS
    in_order: bool = True
    seed: int = 1
    losses: PhyTrace | None = field(default=None, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_inner", self._medium())

    def _medium(self) -> _clift.Medium:
        losses = None if self.losses is None else a_phy("losses", self.losses)
        p = _parse.probability("p", self.p)
        _parse.only_with(
            losses is not None,
            self._given("p"),
            "`losses` says which units are lost; leave one of them out",
        )
        return _clift.Medium.hybrid(
            **{name: _parse.whole(name, getattr(self, name), *_RANGES[name]) for name in _RANGES},
            rate_bps=_parse.bits_per_second("rate_kbps", self.rate_kbps),
            delay_ns=_parse.nanoseconds("delay_ms", self.delay_ms, "ms"),
            p=p,
            losses=losses,
            in_order=_parse.flag("in_order", self.in_order),
            seed=_parse.whole("seed", self.seed, 0, _parse.SEED),
        )
