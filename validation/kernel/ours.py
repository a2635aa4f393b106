"""A bulk flow of the engine, profile `linux`, over a cell's path."""

from __future__ import annotations

import clift
from clift._clift import Setup, run
from validation.kernel.cells import Cell


def setup(cell: Cell) -> Setup:
    """The cell as the engine runs it: the first packet is the SYN, data follow."""
    lost, held = cell.fates()
    leg = {"rate": f"{cell.rate_bps} bit/s", "delay": f"{cell.rtt_ms * 500_000} ns"}
    scenario = clift.Scenario(
        {
            "path": [{"leg": leg | {"queue": f"{cell.queue_packets} packets"}}],
            "return": {"path": [{"leg": leg}]},
        },
        transport="newreno" if cell.congestion == "reno" else cell.congestion,
        profile="linux",
        duration_s=cell.seconds,
        seed=cell.seed,
    )
    return scenario.setup().with_fates(
        [number + 1 for number in lost],
        [(number + 1, cell.held_ms * 1_000_000) for number in held],
    )


def goodput_kbps(cell: Cell) -> float:
    """In-order bytes at the receiver x 8 over the duration.

    >>> 2000 < goodput_kbps(Cell("reno", 2_300_000, 100, seconds=10)) < 2300
    True
    """
    return run(setup(cell)).goodput_kbps
