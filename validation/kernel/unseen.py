"""Cells that nobody looked at before they were compared: any path, not one of a grid.

Each draw has a seed of its own and was written down before any of its cells was compared: rates of
0.5 to 20 Mbit/s, round trips of 20 to 600 ms, queues of a tenth to three bandwidth-delay products,
half without losses, the others with 0.1 to 2 % in bursts of one to five packets; 30 s of bulk data
or a file of 30 kB to 3 MB, paced or not. Everything but the control comes from a log-uniform
distribution.
"""

from __future__ import annotations

import random
from typing import NamedTuple

from validation.kernel.cells import PACKET
from validation.kernel.drawn import DrawnCell


class Draw(NamedTuple):
    """A draw: its seed, the number of its first cell, how many cells."""

    seed: str
    first: int
    count: int


# Numbers go on behind those of `drawn`, so that no two cells share the draw of their losses. The
# second draw is no longer unseen: rules were found in its cells.
SECOND = Draw("kernel matrix 2", 150, 100)
THIRD = Draw("kernel matrix 3", 300, 80)
FOURTH = Draw("kernel matrix 4", 400, 80)
FIFTH = Draw("kernel matrix 5", 500, 80)
SIXTH = Draw("kernel matrix 6", 600, 80)
SEVENTH = Draw("kernel matrix 7", 700, 80)
EIGHTH = Draw("kernel matrix 8", 800, 80)
# Behind the cells of the second draw.
_BBR_FILES = Draw("files under BBR 1", 250, 12)
NAMES = ("reno", "cubic", "bbr", "hybla", "westwood")
SECONDS = 30.0


def unseen(chosen: Draw) -> list[DrawnCell]:
    """All cells of a draw, each control equally often.

    >>> cells = unseen(SECOND)
    >>> len(cells), sum(cell.congestion == "hybla" for cell in cells)
    (100, 20)
    >>> unseen(THIRD)[0].label
    '300: reno, 13.25 Mbit/s, 298 ms, queue 162, 36 kB'
    """
    draw = random.Random(chosen.seed)

    def between(low: float, high: float) -> float:
        return low * (high / low) ** draw.random()

    cells = []
    for at in range(chosen.count):
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
                chosen.first + at,
                congestion,
                paced,
                rate,
                rtt,
                queue,
                loss,
                burst,
                file_bytes,
                SECONDS,
            )
        )
    return cells


def bbr_files() -> list[DrawnCell]:
    """Files of 1 MB under BBR, a kind of cell that was far off once: drawn by another seed.

    >>> bbr_files()[1].label
    '251: bbr, 2 Mbit/s, 560 ms, queue 187, loss 0.01 in bursts of 1, 1000 kB'
    """
    draw = random.Random(_BBR_FILES.seed)
    cells = []
    for at in range(_BBR_FILES.count):
        rtt = (120, 560)[at % 2]
        rate = draw.choice((2_000_000, 5_000_000, 20_000_000))
        queue = max(2, round(draw.choice((0.2, 0.5, 1.0, 2.0)) * rate * rtt / 8000 / PACKET))
        loss, burst = draw.choice(((0.0, 1), (0.01, 1), (0.01, 4)))
        number = _BBR_FILES.first + at
        cells.append(
            DrawnCell(number, "bbr", False, rate, rtt, queue, loss, burst, 1_000_000, SECONDS)
        )
    return cells
