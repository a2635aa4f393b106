"""Delay tables as CSV files: `time_s,delay_ms` and, if wanted, the way."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import clift._clift as _clift
import clift._parse as _parse
from clift.constellation.path_delay import Delays
from clift.errors import TraceError

_LONGEST_MS = _parse.LONGEST_NS / 1e6
_WAY = ("uplink_ms", "downlink_ms", "route")


def write(table: Delays, path: str | os.PathLike[str], detail: bool = False) -> None:
    """Writes a table: columns `time_s` and `delay_ms`, to the nanosecond.

    Args:
        table: What to write.
        path: The file, replaced whole or not at all.
        detail: Further columns `uplink_ms`, `downlink_ms` and `route` (satellites joined by `-`).

    Raises:
        TraceError: If it cannot be written, or `detail` is wanted and not known.
    """
    path = Path(path)
    columns = ["time_s", "delay_ms"]
    numbers = [table.time_s, table.delay_ms]
    if detail:
        if table.routes is None or table.uplink_ms is None or table.downlink_ms is None:
            raise TraceError(f"{path}: the way of this table is not known; leave detail out")
        columns += _WAY
        numbers += [table.uplink_ms, table.downlink_ms]
    lines = [",".join(columns)]
    for number in range(len(table)):
        time, *rest = (float(column[number]) for column in numbers)
        cells = [f"{time:.3f}", *(f"{value:.6f}" for value in rest)]
        if detail and table.routes is not None:
            cells.append("-".join(map(str, table.routes[number])))
        lines.append(",".join(cells))
    try:
        _clift.replace_file(path, ("\n".join(lines) + "\n").encode())
    except OSError as error:
        raise TraceError(f"{path}: cannot be written: {error.strerror or error}") from None


def read(path: str | os.PathLike[str]) -> Delays:
    """Reads a table: a CSV file with columns `time_s` and `delay_ms`; others are left alone.

    Lines that begin with `#` are comments.

    Args:
        path: The file.

    Raises:
        TraceError: If it is no such table: file, line, and what is wrong.

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
        clift.errors.TraceError: ...delays.csv line 3: delay_ms = nan; give a number above 0
        >>> folder.cleanup()
    """
    path = Path(path)
    times: list[float] = []
    delays: list[float] = []
    ways: list[tuple[float, float, tuple[int, ...]]] = []
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            for line, row in _rows(path, csv.reader(file)):
                times.append(_time(path, line, row, times))
                delays.append(_delay(path, line, row))
                if all(name in row for name in _WAY):
                    ways.append(_way(path, line, row))
    except OSError as error:
        raise TraceError(f"{path}: {error.strerror or error}; give a CSV file") from None
    except (UnicodeDecodeError, csv.Error):
        raise TraceError(f"{path}: is no CSV text; give columns time_s and delay_ms") from None
    if not times:
        raise TraceError(
            f"{path}: holds no row; give columns time_s and delay_ms and a row or more"
        )
    if len(ways) < len(times):
        return Delays(np.array(times), np.array(delays))
    up, down, routes = zip(*ways, strict=True)
    return Delays(np.array(times), np.array(delays), routes, np.array(up), np.array(down))


def _rows(path: Path, reader: Iterator[list[str]]) -> Iterator[tuple[int, dict[str, str]]]:
    """Rows by column name, with the line that each stands on."""
    names: list[str] | None = None
    for cells in reader:
        line = getattr(reader, "line_num", 0)
        if not cells or cells[0].startswith("#"):
            continue
        if names is None:
            names = [cell.strip() for cell in cells]
            for name in ("time_s", "delay_ms"):
                if name not in names:
                    shown = ", ".join(names)[:80]
                    raise _fault(path, line, f"no column {name}; the first line names {shown}")
            continue
        if len(cells) != len(names):
            raise _fault(path, line, f"{len(cells)} values for {len(names)} columns")
        yield line, dict(zip(names, (cell.strip() for cell in cells), strict=True))


def _time(path: Path, line: int, row: dict[str, str], before: list[float]) -> float:
    time, given = _number(path, line, row, "time_s"), f"time_s = {row['time_s']}"
    if not 0 <= time < math.inf:
        raise _fault(path, line, f"{given}; give a number, 0 or more")
    if time > _LONGEST_MS / 1e3:
        raise _fault(path, line, f"{given}; give a time below 73 years")
    if before and time <= before[-1]:
        raise _fault(path, line, f"{given} does not rise; sort it")
    return time


def _delay(path: Path, line: int, row: dict[str, str]) -> float:
    delay, given = _number(path, line, row, "delay_ms"), f"delay_ms = {row['delay_ms']}"
    if not 0 < delay < math.inf:
        raise _fault(path, line, f"{given}; give a number above 0")
    if delay > _LONGEST_MS:
        raise _fault(path, line, f"{given}; give a time below 73 years")
    return delay


def _number(path: Path, line: int, row: dict[str, str], name: str) -> float:
    try:
        return float(row[name])
    except ValueError:
        raise _fault(path, line, f"{name} = {row[name][:40]!r} is no number") from None


def _way(path: Path, line: int, row: dict[str, str]) -> tuple[float, float, tuple[int, ...]]:
    up, down = (_number(path, line, row, name) for name in _WAY[:2])
    try:
        route = tuple(int(part) for part in row["route"].split("-"))
    except ValueError:
        raise _fault(path, line, f"route = {row['route'][:40]!r}; join numbers by -") from None
    return up, down, route


def _fault(path: Path, line: int, what: str) -> TraceError:
    return TraceError(f"{path} line {line}: {what}")
