"""Cells for the controls which the machine's kernel lacks: BBR version 3, Hybla, Westwood+.

Twelve for each, drawn once by seed before any was compared: 2, 5 and 20 Mbit/s, round trips of 30,
120 and 560 ms, queues of a fifth to two bandwidth-delay products, single losses and bursts, 60 s of
bulk data or a file. The three controls do not share cells.
"""

from __future__ import annotations

import random

from validation.kernel.cells import PACKET
from validation.kernel.drawn import DrawnCell

SEED = "kernel controls 1"
NAMES = ("bbr3", "hybla", "westwood")
EACH = 12
RATES = (2_000_000, 5_000_000, 20_000_000)
ROUND_TRIPS = (30, 120, 560)
# In bandwidth-delay products; two packets at least.
QUEUES = (0.2, 0.5, 1.0, 2.0)
LOSSES = ((0.0, 1), (0.001, 1), (0.01, 1), (0.01, 4))
SIZES = (300_000, 1_000_000, 3_000_000)
# One cell in this many is a file.
FILE_EVERY = 4


def controls() -> list[DrawnCell]:
    """All cells, those of a control one after another; every value comes equally often for each.

    >>> cells = controls()
    >>> len(cells), sum(cell.kept_apart for cell in cells)
    (36, 12)
    >>> sorted(cell.rate_bps for cell in cells[:12]) == sorted(RATES * 4)
    True
    """
    draw = random.Random(SEED)
    cells = []
    for congestion in NAMES:
        rates, trips, queues, losses = (
            draw.sample(list(values) * (EACH // len(values)), EACH)
            for values in (RATES, ROUND_TRIPS, QUEUES, LOSSES)
        )
        files = draw.sample(range(EACH), EACH // FILE_EVERY)
        for at in range(EACH):
            rate, rtt = rates[at], trips[at]
            queue = max(2, round(queues[at] * rate * rtt / 8000 / PACKET))
            size = draw.choice(SIZES) if at in files else None
            loss, burst = losses[at]
            cells.append(
                DrawnCell(len(cells), congestion, False, rate, rtt, queue, loss, burst, size)
            )
    return cells
