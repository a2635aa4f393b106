"""Cells beyond the table of the docs, drawn once by seed.

Rates of 1 to 50 Mbit/s, round trips of 30 to 600 ms, queues of a tenth to three bandwidth-delay
products, losses in bursts, bulk data and files, with and without pacing.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from validation.kernel.cells import CONTROLS, PACKET

# The draw, written down before anything was compared.
SEED = "kernel matrix 1"
BULK, FILES = 90, 60
RATES = {1_000_000: 5, 2_000_000: 5, 5_000_000: 4, 10_000_000: 3, 20_000_000: 2, 50_000_000: 1}
ROUND_TRIPS = (30, 60, 120, 250, 600)
# In bandwidth-delay products; two packets at least.
QUEUES = (0.1, 0.2, 0.5, 1.0, 3.0)
# Share of the packets that is lost, and how many are lost in a row on average.
LOSSES = ((0.0, 1), (0.005, 3), (0.02, 5))
SIZES = (30_000, 100_000, 300_000, 1_000_000, 3_000_000)
SECONDS = 60.0


@dataclass(frozen=True)
class DrawnCell:
    """One flow over one path: bulk data for `seconds`, or a file.

    The seed is that of our random streams; the fates of packets do not depend on it. A third of
    them, every third number, is not looked at while the code is worked on.
    """

    number: int
    congestion: str
    paced: bool
    rate_bps: int
    rtt_ms: int
    queue_packets: int
    loss: float
    burst: int
    file_bytes: int | None
    seconds: float = SECONDS
    held_ms: int = 0
    seed: int = 1

    @property
    def kept_apart(self) -> bool:
        """Whether it was not looked at while the code was worked on."""
        return self.number % 3 == 2

    @property
    def label(self) -> str:
        """The cell in a line.

        >>> DrawnCell(7, "cubic", True, 5_000_000, 60, 25, 0.02, 5, 30_000).label
        '7: cubic paced, 5 Mbit/s, 60 ms, queue 25, loss 0.02 in bursts of 5, 30 kB'
        """
        control = f"{self.congestion} paced" if self.paced else self.congestion
        loss = f", loss {self.loss:g} in bursts of {self.burst}" if self.loss else ""
        size = f", {self.file_bytes // 1000} kB" if self.file_bytes else ""
        path = f"{self.rate_bps / 1e6:g} Mbit/s, {self.rtt_ms} ms, queue {self.queue_packets}"
        return f"{self.number}: {control}, {path}{loss}{size}"

    def fates(self) -> tuple[list[int], list[int]]:
        """Data packets lost, by their number in order of transmission; none is held back.

        A two-state channel (Gilbert-Elliott) that loses every packet of its bad state.

        >>> lost, held = DrawnCell(0, "bbr", False, 20_000_000, 30, 25, 0.02, 5, None).fates()
        >>> 0.015 < len(lost) / 100_000 < 0.025, held
        (True, [])
        """
        if not self.loss:
            return [], []
        draw = random.Random(f"{SEED} {self.number} {self.loss} {self.burst}")
        ends = 1 / self.burst
        begins = ends * self.loss / (1 - self.loss)
        lost, bad = [], draw.random() < self.loss
        for number in range(int(self.rate_bps * self.seconds / (8 * PACKET)) + 100):
            if bad:
                lost.append(number)
            bad = draw.random() >= ends if bad else draw.random() < begins
        return lost, []


def drawn() -> list[DrawnCell]:
    """All cells, bulk data first.

    >>> cells = drawn()
    >>> len(cells), sum(cell.kept_apart for cell in cells)
    (150, 50)
    """
    draw = random.Random(SEED)
    cells = []
    for number in range(BULK + FILES):
        congestion = draw.choice(CONTROLS)
        # BBR always paces.
        paced = draw.random() < 0.5 and congestion != "bbr"
        (rate,) = draw.choices(list(RATES), list(RATES.values()))
        rtt = draw.choice(ROUND_TRIPS)
        queue = max(2, round(draw.choice(QUEUES) * rate * rtt / 8000 / PACKET))
        loss, burst = draw.choice(LOSSES)
        size = draw.choice(SIZES)
        file_bytes = None if number < BULK else size
        cells.append(
            DrawnCell(number, congestion, paced, rate, rtt, queue, loss, burst, file_bytes)
        )
    return cells
