"""One-way delays: a number, or what a satellite constellation gives over time."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clift._options import _nanoseconds
from clift.errors import ScenarioError, TraceError

Delay = float | str | os.PathLike[str] | ArrayLike
"""A delay in ms, rows of (time_s, delay_ms), or the path of a CSV file of such rows."""


def delay_steps(delay_ms: Delay) -> list[tuple[int, int]]:
    """A delay as steps of (from_ns, delay_ns), each of which holds until the next.

    Raises:
        ScenarioError: If it is no delay.
        TraceError: If the file is not there or holds something else.

    Example:
        >>> delay_steps(80), delay_steps([(0, 80), (1, 79.5)])
        ([(0, 80000000)], [(0, 80000000), (1000000000, 79500000)])
    """
    if isinstance(delay_ms, str | os.PathLike):
        return delay_steps(read_delays(delay_ms))
    try:
        table = np.asarray(delay_ms, float)
    except (TypeError, ValueError):
        table = np.empty((0, 0))
    if table.ndim == 0:
        return [(0, _nanoseconds("delay_ms", float(table), 1e6))]
    if table.ndim != 2 or table.shape[1] != 2 or not np.isfinite(table).all():
        raise ScenarioError("delay_ms: give a time in ms, or rows of (time_s, delay_ms)")
    times = [_nanoseconds("delay_ms: time_s", time_s, 1e9) for time_s in table[:, 0].tolist()]
    delays = [_nanoseconds("delay_ms", delay, 1e6) for delay in table[:, 1].tolist()]
    return list(zip(times, delays, strict=True))


def read_delays(path: str | os.PathLike[str]) -> NDArray[np.float64]:
    """Rows of (time_s, delay_ms) from a CSV file whose header names both; others are left out.

    Raises:
        TraceError: If the file is not there or holds something else.
    """
    try:
        with Path(path).open(encoding="utf-8", newline="") as file:
            rows = csv.DictReader(file)
            for column in ("time_s", "delay_ms"):
                if column not in (rows.fieldnames or ()):
                    raise TraceError(f"{path}: no column `{column}` in the first line")
            return np.array([_row(path, rows.line_num, row) for row in rows], float).reshape(-1, 2)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise TraceError(f"{path}: {error}") from None


def _row(path: str | os.PathLike[str], line: int, row: dict[str, str]) -> tuple[float, float]:
    try:
        return float(row["time_s"]), float(row["delay_ms"])
    except (TypeError, ValueError):
        raise TraceError(f"{path} line {line}: no number in time_s or delay_ms") from None
