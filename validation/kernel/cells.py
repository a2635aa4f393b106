"""Cells of the comparison: path, congestion control, and the fate of every packet."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Protocol

PACKET = 1500
HOLDS = ((0.01, 35), (0.03, 35), (0.03, 70))
CONTROLS = ("reno", "cubic", "bbr")
# The queue in packets that stands before the transmitter, by rate in bit/s and round trip in ms.
QUEUES = {
    (2_300_000, 100): 50,
    (2_300_000, 500): 192,
    (10_000_000, 100): 200,
    (10_000_000, 500): 800,
}


class AnyCell(Protocol):
    """A measurable cell: one flow over one path."""

    @property
    def congestion(self) -> str:
        """Congestion control by the kernel's name."""

    @property
    def paced(self) -> bool:
        """Whether segments leave paced by the window."""

    @property
    def rate_bps(self) -> int:
        """Rate of the path in both directions."""

    @property
    def rtt_ms(self) -> int:
        """Round trip without queues."""

    @property
    def queue_packets(self) -> int:
        """Packets that may wait, without the one being sent."""

    @property
    def held_ms(self) -> int:
        """By how much packets are held back."""

    @property
    def seconds(self) -> float:
        """How long the flow lasts; a file, at most."""

    @property
    def file_bytes(self) -> int | None:
        """Size of the file; None: bulk data."""

    def fates(self) -> tuple[list[int], list[int]]:
        """Data packets lost, and held back, by their number in order of transmission."""


@dataclass(frozen=True)
class Cell:
    """One flow over one path.

    Packets are lost with probability `loss` behind the transmitter; the others are held back by
    `held_ms` with probability `held`.
    """

    congestion: str
    rate_bps: int
    rtt_ms: int
    loss: float = 0
    held: float = 0
    held_ms: int = 0
    seed: int = 1
    seconds: float = 100

    @property
    def paced(self) -> bool:
        """Segments leave as the congestion control has it."""
        return False

    @property
    def file_bytes(self) -> None:
        """Bulk data."""
        return

    @property
    def queue_packets(self) -> int:
        """Packets that may wait, without the one being sent."""
        return QUEUES[self.rate_bps, self.rtt_ms]

    @property
    def label(self) -> str:
        """The cell in a line.

        >>> Cell("reno", 10_000_000, 100, held=0.03, held_ms=35).label
        'reno, 10 Mbit/s, 100 ms, 3 % held 35 ms'
        """
        path = f"{self.congestion}, {self.rate_bps / 1e6:g} Mbit/s, {self.rtt_ms} ms"
        if self.held:
            return f"{path}, {100 * self.held:g} % held {self.held_ms} ms"
        return f"{path}, loss {self.loss:g}"

    @property
    def packets(self) -> int:
        """More data packets than can cross the path."""
        return int(self.rate_bps * self.seconds / (8 * PACKET)) + 100

    def fates(self) -> tuple[list[int], list[int]]:
        """Data packets lost, and held back, by their number in order of transmission.

        Every congestion control meets the same ones.

        >>> lost, held = Cell("reno", 2_300_000, 100, loss=0.01, held=0.03, held_ms=70).fates()
        >>> len(lost), len(held), set(lost) & set(held)
        (194, 546, set())
        """
        draw = random.Random(f"{self.rate_bps} {self.rtt_ms} {self.loss} {self.held} {self.seed}")
        lost, held = [], []
        for number in range(self.packets):
            if draw.random() < self.loss:
                lost.append(number)
            elif draw.random() < self.held:
                held.append(number)
        return lost, held


def matrix() -> list[Cell]:
    """Every run of the table in the docs: 100 s, and three of them where packets are held back.

    >>> len(matrix())
    72
    """
    losses = [
        Cell(congestion, 2_300_000, rtt, loss)
        for rtt in (100, 500)
        for loss in (0, 1e-3, 1e-2)
        for congestion in CONTROLS
    ]
    return losses + [
        Cell(congestion, 10_000_000, rtt, 0, held, held_ms, seed)
        for seed in (1, 2, 3)
        for rtt in (100, 500)
        for held, held_ms in HOLDS
        for congestion in CONTROLS
    ]
