"""`measured.csv`: what a kernel did, a line a cell."""

from __future__ import annotations

import csv
from dataclasses import asdict, fields
from pathlib import Path

from validation.kernel.cells import Cell
from validation.kernel.flow import Measured

FILE = Path(__file__).parent / "measured.csv"
_KEYS = [field.name for field in fields(Cell)]
_RESULTS = (
    "goodput_kbps",
    "retransmissions",
    "timeouts",
    "recoveries",
    "undone",
    "lateness_ms",
)


def put(cell: Cell, measured: Measured, kernel: str) -> None:
    """Stores a measurement in place of an older one of the same cell."""
    rows = {key(row): row for row in read()}
    row = {name: _text(value) for name, value in (asdict(cell) | asdict(measured)).items()}
    row["kernel"] = kernel
    rows[key(row)] = row
    with FILE.open("w", newline="") as file:
        writer = csv.DictWriter(
            file, [*_KEYS, *_RESULTS, "kernel"], extrasaction="ignore", lineterminator="\n"
        )
        writer.writeheader()
        writer.writerows(rows[which] for which in sorted(rows))


def read() -> list[dict[str, str]]:
    """Every measurement there is."""
    if not FILE.exists():
        return []
    with FILE.open() as file:
        return list(csv.DictReader(file))


def key(row: dict[str, str]) -> tuple[str, ...]:
    """What tells measurements apart."""
    return tuple(row[name] for name in _KEYS)


def of(cell: Cell) -> dict[str, str] | None:
    """The measurement of a cell, if there is one."""
    wanted = tuple(_text(getattr(cell, name)) for name in _KEYS)
    return next((row for row in read() if key(row) == wanted), None)


def _text(value: object) -> str:
    return f"{value:.10g}" if isinstance(value, float) else str(value)
