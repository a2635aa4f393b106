"""Delay tables as CSV files: `time_s,delay_ms` and optionally the route."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

import clift._clift as _clift
import clift._output as output
from clift.constellation.path_delay import Delays
from clift.errors import TraceError

_WAY = ("uplink_ms", "downlink_ms", "route")


def write(table: Delays, path: str | os.PathLike[str], detail: bool = False) -> None:
    """Writes a table: columns `time_s` and `delay_ms`, to the nanosecond.

    Args:
        table: The table.
        path: The file; a failed write leaves an existing file unchanged.
        detail: Further columns `uplink_ms`, `downlink_ms` and `route` (satellites joined by `-`).

    Raises:
        TraceError: If writing fails, or the table does not have the columns of `detail`.
    """
    path = Path(path)
    columns = ["time_s", "delay_ms"]
    numbers = [table.time_s, table.delay_ms]
    if detail:
        if table.routes is None or table.uplink_ms is None or table.downlink_ms is None:
            raise TraceError(f"{path}: the table has no route; omit detail")
        columns += _WAY
        numbers += [table.uplink_ms, table.downlink_ms]
    lines = [",".join(columns)]
    for number in range(len(table)):
        time, *rest = (float(column[number]) for column in numbers)
        cells = [f"{time:.3f}", *(f"{value:.6f}" for value in rest)]
        if detail and table.routes is not None:
            cells.append("-".join(map(str, table.routes[number])))
        lines.append(",".join(cells))
    output.write(path, ("\n".join(lines) + "\n").encode(), TraceError)


def read(path: str | os.PathLike[str]) -> Delays:
    """Reads a table: a CSV file with columns `time_s` and `delay_ms`; further columns are ignored.

    Lines that begin with `#` are comments.

    Args:
        path: The file.

    Raises:
        TraceError: If it is not such a table: file, line and reason.

    Example:
        >>> import pathlib, tempfile
        >>> from clift import constellation
        >>> folder = tempfile.TemporaryDirectory()
        >>> path = pathlib.Path(folder.name, "delays.csv")
        >>> table = constellation.delays("leo66", "43.6,1.44", "34.05,-118.2", 10, start_s=2760)
        >>> constellation.write(table, path)
        >>> again = constellation.read(path)
        >>> bool(abs(again.delay_ms - table.delay_ms).max() < 1e-6)
        True
        >>> _ = path.write_text(chr(10).join(["time_s,delay_ms", "0,80", "1,nan"]))
        >>> constellation.read(path)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        clift.errors.TraceError: ...delays.csv: line 3: delay_ms = nan; give a number above 0
        >>> folder.cleanup()
    """
    try:
        path = Path(path)
    except TypeError:
        raise TraceError(f"path = {path!r}: give the name of a file") from None
    times, delays, others = _clift.read_delay_table(path)
    columns = dict(others)
    if not all(name in columns for name in _WAY):
        return Delays(np.array(times), np.array(delays))
    rows = zip(*(columns[name] for name in _WAY), strict=True)
    ways = [_way(path, row, *cells) for row, cells in enumerate(rows, 1)]
    up, down, routes = zip(*ways, strict=True)
    return Delays(np.array(times), np.array(delays), routes, np.array(up), np.array(down))


def _way(
    path: Path, row: int, up: str, down: str, route: str
) -> tuple[float, float, tuple[int, ...]]:
    try:
        return float(up), float(down), tuple(int(part) for part in route.split("-"))
    except ValueError:
        given = ", ".join((up, down, route))[:40]
        cure = "give uplink_ms and downlink_ms as numbers, route as numbers joined by -"
        raise TraceError(f"{path}: row {row}: {given!r}: {cure}") from None
