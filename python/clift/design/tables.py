"""The tables of a search: its ranking, and every run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from clift.design.result import Design


def _parameters(design: Design) -> list[str]:
    return list(dict.fromkeys(name for one in design.candidates for name in one.parameters))


def _ranking(design: Design) -> pa.Table:
    """One row a condition and candidate that was run."""
    rows: list[dict[str, Any]] = []
    for place, contest in enumerate(design.contests):
        compared = design.compared(place)
        for rank, one in enumerate(design.ranking(place), 1):
            parameters = design.candidates[one.candidate].parameters
            names = [name for name, _ in design.axes]
            row: dict[str, Any] = dict(zip(names, contest.condition, strict=True))
            row |= {"rank": rank, "candidate": one.label}
            row |= {name: _text(parameters.get(name)) for name in _parameters(design)}
            row |= {"runs": one.runs, "mean": one.value.mean, "low": one.value.low}
            row |= {"high": one.value.high, "more_than_first": one.share}
            row |= {"more_low": one.low, "more_high": one.high}
            row |= {"standing": one.standing, "note": one.note}
            row["on_front"] = one.candidate in compared.members
            row["compared"] = one.candidate in compared.points
            rows.append(row)
    numbers = ("mean", "low", "high", "more_than_first", "more_low", "more_high")
    return _table(rows, numbers)


def _runs(design: Design) -> pa.Table:
    """One row a run: condition, candidate, number, and every number measured."""
    rows: list[dict[str, Any]] = []
    metrics: dict[str, None] = {}
    for contest in design.contests:
        for (one, run, _), values in sorted(contest.runs.items()):
            parameters = design.candidates[one].parameters
            row: dict[str, Any] = {
                name: label for (name, _), label in zip(design.axes, contest.condition, strict=True)
            }
            row |= {"candidate": design.candidates[one].label}
            row |= {name: _text(parameters.get(name)) for name in _parameters(design)}
            row["run"] = run
            rows.append(row | values)
            metrics.update(dict.fromkeys(values))
    return _table(rows, tuple(metrics))


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _table(rows: list[dict[str, Any]], numbers: tuple[str, ...]) -> pa.Table:
    names = dict.fromkeys(name for row in rows for name in row)
    return pa.table(
        {
            name: pa.array(
                [row.get(name) for row in rows], pa.float64() if name in numbers else None
            )
            for name in names
        }
    )


TABLES: dict[str, Callable[[Design], pa.Table]] = {"ranking": _ranking, "runs": _runs}
"""By name."""
