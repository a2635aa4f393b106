"""A bulk flow of the engine, profile `linux`, over a cell's path."""

from __future__ import annotations

from clift import _clift
from validation.kernel.cells import Cell


def setup(cell: Cell) -> _clift.Setup:
    """The cell as the engine runs it: the first packet is the SYN, data follow."""
    lost, held = cell.fates()
    delay = cell.rtt_ms * 500_000
    forward = _clift.Hop.leg(
        rate_bps=cell.rate_bps,
        delay_ns=delay,
        queue_packets=cell.queue_packets,
        lost_packets=[number + 1 for number in lost],
        held_packets=[(number + 1, cell.held_ms * 1_000_000) for number in held],
    )
    return _clift.Setup(
        forward=[forward],
        backward=[_clift.Hop.leg(rate_bps=cell.rate_bps, delay_ns=delay)],
        flows=[_clift.Flow(transport=cell.congestion, profile="linux")],
        duration_ns=round(cell.seconds * 1e9),
        seed=cell.seed,
    )


def goodput_kbps(cell: Cell) -> float:
    """In-order bytes at the receiver x 8 over the duration.

    >>> 2000 < goodput_kbps(Cell("reno", 2_300_000, 100, seconds=10)) < 2300
    True
    """
    return _clift.run(setup(cell)).goodput_kbps
