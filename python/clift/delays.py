"""One-way delays: constant, or variable as over a satellite constellation."""

from __future__ import annotations

import os
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

import clift._parse as _parse
import clift.constellation as constellation
from clift.errors import ScenarioError

Delay = float | str | os.PathLike[str] | constellation.Delays | ArrayLike
"""A delay in ms, rows of (time_s, delay_ms), a constellation's table, or a CSV file of rows."""


def delay_steps(delay_ms: Delay, name: str = "delay_ms") -> list[tuple[int, int]]:
    """A delay as steps of (from_ns, delay_ns), each valid until the next.

    Args:
        delay_ms: The delay.
        name: Name to use in errors.

    Raises:
        ScenarioError: If the value is not a delay.
        TraceError: If the file is missing or not valid.

    Example:
        >>> delay_steps(80), delay_steps([(0, 80), (1, 79.5)])
        ([(0, 80000000)], [(0, 80000000), (1000000000, 79500000)])
    """
    if isinstance(delay_ms, str | os.PathLike):
        return delay_steps(constellation.read(delay_ms), name)
    if isinstance(delay_ms, constellation.Delays):
        return _steps(delay_ms.time_s.tolist(), delay_ms.delay_ms.tolist(), name)
    if _parse.real(delay_ms) is not None:
        return [(0, _parse.nanoseconds(name, delay_ms, "ms"))]
    try:
        table = np.asarray(delay_ms, float)
    except (TypeError, ValueError):
        table = np.empty((0, 0))
    if table.ndim != 2 or table.shape[1] != 2 or not table.size or not np.isfinite(table).all():
        raise ScenarioError(
            f"{name}: give a time in ms, or rows of (time_s, delay_ms), at least one"
        )
    return _steps(table[:, 0].tolist(), table[:, 1].tolist(), name)


def _steps(time_s: Iterable[float], delay_ms: Iterable[float], name: str) -> list[tuple[int, int]]:
    times = [_parse.nanoseconds(f"{name}: time_s", time, "s") for time in time_s]
    delays = [_parse.nanoseconds(name, delay, "ms") for delay in delay_ms]
    return list(zip(times, delays, strict=True))
