"""The model and its cross-checks as text."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from clift.model import Prediction
from clift.report.text import aligned

if TYPE_CHECKING:
    from clift.model_check import Departure, Row

_TITLES = (
    ("efficiency", "efficiency", 6),
    ("residual_loss", "residual loss", 6),
    ("coding_ratio", "coding ratio", 6),
    ("transmissions", "transmissions", 6),
    ("recovered", "recovered", 6),
    ("recovery_delay_ms", "recovery delay ms", 4),
    ("mean_delay_ms", "mean delay ms", 4),
    ("printed_efficiency", "printed efficiency", 6),
    ("printed_delay_ms", "printed delay ms", 4),
)
_SHORT = (
    ("efficiency", "efficiency", 6),
    ("residual_loss", "residual loss", 6),
    ("recovery_delay_ms", "recovery ms", 3),
    ("mean_delay_ms", "mean ms", 3),
)
_WHICH = (
    "model: closed form over the fitted chain; counted: the scheme over the trace in 20 parts,\n"
    "with their spread as +-, without data under way at the end of a part; upper table: over the\n"
    "whole trace, including data cut off by its end, and with loss in % instead of a share"
)
_SIMPLE = (
    "the chain has one d, d_nom, for all received slots: if the trace's mean d differs, the\n"
    "delays of every scheme differ by the same amount"
)
_SIZES = (
    "slots differ in size: efficiency is bytes delivered per byte sent, also in the upper table;\n"
    "the chain has slots of one size, so its efficiency is a share of slots"
)


def table(found: list[tuple[str, Prediction]]) -> str:
    """A table with one column per scheme over one channel.

    Example:
        >>> import clift
        >>> print(table([("ARQ", clift.model.arq(0.1))]))  # doctest: +ELLIPSIS
        scheme                    ARQ
        efficiency           0.900000
        ...
    """
    rows = [["scheme", *(scheme for scheme, _ in found)]]
    for key, title, digits in _TITLES:
        values = (float(getattr(one, key)) for _, one in found)
        rows.append([title, *(number(value, digits) for value in values)])
    return aligned(rows, left=1)


def sweep(names: list[str], points: list[list[float]], found: list[tuple[str, Prediction]]) -> str:
    """Schemes over a sweep: one row per point, some columns per scheme."""
    head = [*names, *(f"{scheme} {title}" for scheme, _ in found for _, title, _ in _SHORT)]
    rows = [head]
    for place, point in enumerate(points):
        row = [f"{value:.6g}" for value in point]
        for _, one in found:
            columns = ((np.ravel(getattr(one, key))[place], digits) for key, _, digits in _SHORT)
            row += [number(float(value), digits) for value, digits in columns]
        rows.append(row)
    return aligned(rows, left=0)


def checked(scheme: str, rows: list[Row], source: str = "simulation") -> str:
    """A cross-check as a table: model, simulation, interval, verdict."""
    head = [scheme, "model", source, "+-", "verdict"]
    body = [
        [
            row.metric,
            number(row.model, 6),
            number(row.simulated, 6),
            number(row.within, 6),
            row.verdict,
        ]
        for row in rows
    ]
    return aligned([head, *body], left=1)


def departed(schemes: Sequence[str], departures: list[Departure], sizes_differ: bool) -> str:
    """Table of the differences between a trace and its fitted chain, which is the same per scheme.

    Args:
        schemes: Names of the schemes.
        departures: Differences per scheme; the chain is the same in all.
        sizes_differ: Whether the trace's slots differ in size.
    """
    first = departures[0]
    chain = f"fitted chain: alpha = {first.fit.alpha:.6f}, beta = {first.fit.beta:.6f}"
    head = ["", "chain", "trace", "trace / chain"]
    shape = [
        [name, number(chain, 6), number(trace, 6), number(trace / chain if chain else 0.0, 3)]
        for name, chain, trace in first.shape
    ]
    tables = [
        checked(scheme, departure.rows, "counted")
        for scheme, departure in zip(schemes, departures, strict=True)
    ]
    why = [_WHICH, _SIMPLE] + ([_SIZES] if sizes_differ else [])
    return "\n\n".join([chain, aligned([head, *shape], left=1), *tables, "\n".join(why)])


def number(value: float, digits: int) -> str:
    """A number, or a dash for NaN.

    Example:
        >>> number(0.25, 3), number(float("nan"), 3), number(1e-9, 6)
        ('0.250', '-', '1.00e-09')
    """
    if not isfinite(value):
        return "-"
    if value != 0 and abs(value) < 10.0 ** (1 - digits):
        return f"{value:.2e}"
    return f"{value:.{digits}f}"
