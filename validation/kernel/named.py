"""Cells of BBR and CUBIC that stood out in real time, where a late forwarder decides."""

from __future__ import annotations

from validation.kernel.drawn import DrawnCell

# Control, rate in bit/s, round trip in ms, queue in packets.
_CELLS = (
    ("bbr", 20_000_000, 30, 25),
    ("bbr", 20_000_000, 250, 208),
    ("bbr", 1_000_000, 30, 8),
    ("cubic", 1_000_000, 30, 2),
)


def named() -> list[DrawnCell]:
    """All cells: 60 s of bulk data, no losses but the queue's.

    >>> named()[3].label
    '3: cubic, 1 Mbit/s, 30 ms, queue 2'
    """
    return [
        DrawnCell(number, congestion, False, rate, rtt, queue, 0.0, 1, None)
        for number, (congestion, rate, rtt, queue) in enumerate(_CELLS)
    ]
