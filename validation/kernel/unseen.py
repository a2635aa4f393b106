"""Cells that nobody looked at while the engine was worked on: any path, not one of a grid.

Drawn once by seed before any was compared: rates of 0.5 to 20 Mbit/s, round trips of 20 to 600 ms,
queues of a tenth to three bandwidth-delay products, half without losses, the others with 0.1 to 2 %
in bursts of one to five packets; 30 s of bulk data or a file of 30 kB to 3 MB, paced or not.
Everything but the control comes from a log-uniform distribution.
"""

from __future__ import annotations

import random

from validation.kernel.cells import PACKET
from validation.kernel.drawn import DrawnCell

SEED = "kernel matrix 2"
# Numbers go on behind those of `drawn`, so that no two cells share the draw of their losses.
FIRST, COUNT = 150, 100
NAMES = ("reno", "cubic", "bbr", "hybla", "westwood")
SECONDS = 30.0


def unseen() -> list[DrawnCell]:
    """All cells, each control equally often.

    >>> cells = unseen()
    >>> len(cells), sum(cell.congestion == "hybla" for cell in cells)
    (100, 20)
    """
    draw = random.Random(SEED)

    def between(low: float, high: float) -> float:
        return low * (high / low) ** draw.random()

    cells = []
    for at in range(COUNT):
        congestion = NAMES[at % len(NAMES)]
        # BBR always paces.
        paced = draw.random() < 0.5 and congestion != "bbr"
        rate, rtt = round(between(500, 20_000)) * 1000, round(between(20, 600))
        queue = max(2, round(between(0.1, 3) * rate * rtt / 8000 / PACKET))
        loss = round(between(0.001, 0.02), 4) if draw.random() < 0.5 else 0.0
        burst = draw.randint(1, 5)
        size = round(between(30, 3000)) * 1000
        file_bytes = size if draw.random() < 0.4 else None
        cells.append(
            DrawnCell(
                FIRST + at, congestion, paced, rate, rtt, queue, loss, burst, file_bytes, SECONDS
            )
        )
    return cells


def bbr_files() -> list[DrawnCell]:
    """Files of 1 MB under BBR, a kind of cell that was far off once: drawn by another seed.

    >>> bbr_files()[1].label
    '251: bbr, 2 Mbit/s, 560 ms, queue 187, loss 0.01 in bursts of 1, 1000 kB'
    """
    draw = random.Random("files under BBR 1")
    cells = []
    for at in range(12):
        rtt = (120, 560)[at % 2]
        rate = draw.choice((2_000_000, 5_000_000, 20_000_000))
        queue = max(2, round(draw.choice((0.2, 0.5, 1.0, 2.0)) * rate * rtt / 8000 / PACKET))
        loss, burst = draw.choice(((0.0, 1), (0.01, 1), (0.01, 4)))
        number = FIRST + COUNT + at
        cells.append(
            DrawnCell(number, "bbr", False, rate, rtt, queue, loss, burst, 1_000_000, SECONDS)
        )
    return cells
