"""Hybrid FEC/ARQ-SR (seed 002)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

from clift import _clift
from clift._options import _integer, _nanoseconds, _rate
from clift.errors import ScenarioError
from clift.live.base import Live

if TYPE_CHECKING:
    from clift.trace import PhyTrace


@dataclass(frozen=True, slots=True)
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
        >>> sorted(run.summary()["links"][0]["details"])[:3]
        ['frames_failed', 'frames_given_up', 'frames_sent']
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
    p: float = 0.01
    in_order: bool = True
    seed: int = 1
    losses: PhyTrace | None = field(default=None, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_inner", self._medium())

    def replace(self, **changes: Any) -> Self:
        """The same link with other parameters."""
        return replace(self, **changes)

    def _medium(self) -> _clift.Medium:
        counts = {
            name: _integer(name, getattr(self, name), 0, 2**32 - 1)
            for name in ("k", "n", "frames", "persistency", "unit_bytes")
        }
        rate = _rate("rate_kbps", self.rate_kbps)
        if rate is None:
            raise ScenarioError("rate_kbps = None: give a rate in kbit/s above 0")
        return _clift.Medium.hybrid(
            **counts,
            rate_bps=rate,
            delay_ns=_nanoseconds("delay_ms", self.delay_ms, 1e6),
            p=self.p,
            losses=None if self.losses is None else self.losses._inner,
            in_order=bool(self.in_order),
            seed=_integer("seed", self.seed, 0, 2**64 - 1),
        )
