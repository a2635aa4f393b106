"""A flow of the engine, profile `linux`, over a cell's path."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

import clift
from clift import _clift
from clift._clift import Outcome, Setup, run
from validation.kernel.cells import AnyCell, Cell

_STEP_NS = 1_000_000
# What depends on a kernel's host, and is off unless it is asked for.
HOST = {"window_growth": True, "burst_deferral": True, "timer_ticks": True}


def setup(cell: AnyCell, linux: Mapping[str, bool] = HOST, window: int | None = None) -> Setup:
    """The cell as the engine runs it, with these options and this largest receive window."""
    lost, held = cell.fates()
    leg = {"rate": f"{cell.rate_bps} bit/s", "delay": f"{cell.rtt_ms * 500_000} ns"}
    file = {"type": "file", "size": f"{cell.file_bytes} B"}
    scenario = clift.Scenario(
        {
            "path": [{"leg": leg | {"queue": f"{cell.queue_packets} packets"}}],
            "return": {"path": [{"leg": leg}]},
            "application": {"type": "bulk"} if cell.file_bytes is None else file,
        },
        transport="newreno" if cell.congestion == "reno" else cell.congestion,
        profile="linux",
        linux={**linux, "pacing": cell.paced},
        **({} if window is None else {"receive_window": f"{window} B"}),
        duration_s=cell.seconds,
        seed=getattr(cell, "seed", 1),
    )
    held_ns = cell.held_ms * 1_000_000
    return scenario.setup().with_fates(lost, [(number, held_ns) for number in held])


def goodput_kbps(cell: Cell) -> float:
    """In-order bytes at the receiver x 8 over the duration.

    >>> 2000 < goodput_kbps(Cell("reno", 2_300_000, 100, seconds=10)) < 2300
    True
    """
    return run(setup(cell)).goodput_kbps


def run_with_queue(
    cell: AnyCell, linux: Mapping[str, bool], window: int | None
) -> tuple[Outcome, float]:
    """The outcome, and the mean number of packets that waited."""
    made = setup(cell, linux, window)
    series = _clift.series(made, _STEP_NS)
    return run(made), float(np.mean(series["queue_packets"]))
