"""Capacity of a link during a run."""

from __future__ import annotations

from typing import Any

import numpy as np

import clift._clift as _clift
from clift._arrays import Floats, Ints
from clift.simulation import Run


def capacity(run: Run, edges_s: Floats) -> Floats | None:
    """Capacity of the first link per interval, in kbit/s: bytes of its received slots.

    For a link trace, which a scheme has already used, bytes of its delivered data LLDUs.

    Args:
        run: The run.
        edges_s: Edges of the intervals, in s of the run.

    Returns:
        One rate per interval; None for a link without a trace.

    Example:
        >>> import clift
        >>> phy = clift.PhyTrace([0, 10**9, 2 * 10**9, 3 * 10**9], [9, 9, 0, 9], lldu_bytes=125)
        >>> link = clift.LiveLink(phy, "none")
        >>> run = clift.simulate(link, duration_s=2.5, start_offset_s=0.5)
        >>> capacity(run, np.array([0, 1, 2, 2.5])).tolist()
        [1.0, 0.0, 0.0]
        >>> phy = clift.PhyTrace([0, 10**9, 2 * 10**9], [9, 9, 9], lldu_bytes=[125, 250, 250])
        >>> run = clift.simulate(clift.tmt.apply(phy, "none", rtt_ms=0), duration_s=2)
        >>> capacity(run, np.array([-0.5, 0.5, 1.5])).tolist()
        [1.0, 2.0]
    """
    phy = run.scenario.phy_trace()
    trace = run.scenario.setup().link_trace() if phy is None else phy
    if trace is None or not len(trace):
        return None
    t_ns = trace.t_ns
    start_ns, length_ns, wraps = _place(run, t_ns, None if phy is None else phy.period_ns)
    sizes = trace.lldu_bytes if trace.slot_bytes is None else trace.slot_bytes
    carried = np.concatenate([[0.0], np.cumsum(np.where(trace.d_ns > 0, sizes, 0))])
    at = start_ns + edges_s * 1e9
    turns = np.floor(at / length_ns) if wraps else np.zeros(at.shape)
    so_far = turns * carried[-1] + carried[np.searchsorted(t_ns, at - turns * length_ns)]
    rates: Floats = np.diff(so_far) * 8e-3 / np.diff(edges_s)
    return rates


def _place(run: Run, t_ns: Ints, period_ns: int | None) -> tuple[int, int, bool]:
    """Start of the run in the trace, length of the trace, and whether it repeats."""
    window = run.scenario.window()
    if window is not None:
        return window
    config = run.scenario.config
    hops = [config, *config["path"]]
    link: dict[str, Any] = next(
        (hop["link"] for hop in hops if hop.get("trace") or hop.get("channel")), config["link"]
    )
    slot = (int(t_ns[-1]) - int(t_ns[0])) // max(1, t_ns.size - 1)
    length = int(t_ns[-1]) + slot if period_ns is None else period_ns
    return _clift.parse_time(link["start"]), max(1, length), bool(link["wrap"])
