"""`measured.csv`: what a kernel did, a line a cell."""

from __future__ import annotations

from dataclasses import asdict, fields
from pathlib import Path

from validation.kernel import kept
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
    names = [*_KEYS, *_RESULTS, "kernel"]
    kept.write(FILE, ({name: rows[which][name] for name in names} for which in sorted(rows)))


def read() -> list[dict[str, str]]:
    """Every measurement there is."""
    return kept.read(FILE)


def key(row: dict[str, str]) -> tuple[str, ...]:
    """What tells measurements apart."""
    return tuple(row[name] for name in _KEYS)


def of(cell: Cell) -> dict[str, str] | None:
    """The measurement of a cell, if there is one."""
    wanted = tuple(_text(getattr(cell, name)) for name in _KEYS)
    return next((row for row in read() if key(row) == wanted), None)


def _text(value: object) -> str:
    return f"{value:.10g}" if isinstance(value, float) else str(value)
