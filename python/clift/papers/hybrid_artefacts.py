"""Figures 3 to 8 of Al Fawal 2003 as artefacts.

The figures are curves without numbers. The paper prints only the 80 % at N = 12 and the decay K/N
beyond (figure 3). The reference of the other points is ns-2 with the same link layer (1000 s;
`TCP/Newreno` towards `TCPSink/DelAck`), where it was run.
"""

from __future__ import annotations

import csv
from functools import cache, partial
from importlib import resources

import clift.papers.hybrid as hybrid
from clift.papers.artefact import Effort, Label, Outcome, Row, Rows
from clift.papers.hybrid import Cell, Line
from clift.papers.hybrid_claims import claims
from clift.papers.registry import parameters
from clift.papers.verdict import times

EIGHTY = 0.8
"""Approximate value of figure 3 at N = 12, from the text."""


def draw(number: int, effort: Effort, profile: str) -> Outcome:
    """A figure with the TCP of a profile.

    Example:
        >>> found = draw(3, Effort(runs=2, duration_s=40), "papers")
        >>> len(found.rows), sorted(found.claims)
        (21, ['decay', 'eighty', 'peak'])
    """
    spec = parameters(hybrid.PAPER)["figure"][str(number)]
    drawn = hybrid.lines(spec, sack=False)
    every = [cell for _, cells in drawn for cell in cells]
    found = iter(
        hybrid.measure(every, effort.runs, effort.duration_s, effort.seed, profile=profile)
    )
    lines = [Line(label, cells, tuple(next(found) for _ in cells)) for label, cells in drawn]
    return Outcome(_rows(number, lines, spec, profile), claims(number, lines))


def _rows(number: int, lines: list[Line], spec: dict[str, list[float]], profile: str) -> Rows:
    """One row per point, in Mbit/s if the paper shows a throughput."""
    rows = Rows()
    metric, scale = ("throughput_mbps", 2.0) if number in (7, 8) else ("utilisation", 1.0)
    swept = "n" if len(spec["n"]) > 1 else "delta"
    for line in lines:
        for cell, found in zip(line.cells, line.found, strict=True):
            labels: dict[str, Label] = (
                {"delay_ms": cell.delay_ms} if len(spec["delay_ms"]) > 1 else {}
            )
            if number == 4:
                labels["in_order"] = "in order" if cell.in_order else "as they come"
            if swept == "n" and len(spec["delta"]) > 1:
                labels["delta"] = cell.delta
            labels[swept] = getattr(cell, swept)
            printed = _printed(number, cell)
            beside = _ns2().get(cell) if profile == "papers" else None
            if scale != 1.0:
                found = times(found, scale)
                beside = None if beside is None else beside * scale
            rows.append(Row(labels, metric, found, printed, beside=beside))
    return rows


def _printed(number: int, cell: Cell) -> float | None:
    if number != 3 or cell.n < 12:
        return None
    k: int = parameters(hybrid.PAPER)["link"]["k"]
    return EIGHTY if cell.n == 12 else k / cell.n


@cache
def _ns2() -> dict[Cell, float]:
    file = resources.files("clift.papers") / "wiopt2003_ns2.csv"
    found = {}
    for row in csv.DictReader(file.read_text(encoding="utf-8").splitlines()):
        cell = Cell(
            n=int(row["n"]),
            delta=int(row["delta"]),
            delay_ms=int(row["delay_ms"]),
            p=float(row["p"]),
            flows=int(row["flows"]),
            in_order=row["in_order"] == "1",
            sack=row["sack"] == "1",
        )
        found[cell] = float(row["ns2"])
    return found


figure_3, figure_4, figure_5, figure_6, figure_7, figure_8 = (
    partial(draw, number) for number in hybrid.FIGURES
)
