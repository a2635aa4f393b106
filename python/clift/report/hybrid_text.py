"""Figures 3 to 8 of Al Fawal 2003 as text and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clift._words import counted
from clift.papers.hybrid import PAPER
from clift.papers.hybrid_claims import claims
from clift.papers.registry import parameters
from clift.report.text import aligned

if TYPE_CHECKING:
    from clift.papers.hybrid import Figure

_AGENTS = {False: "without SACK", True: "with SACK"}
_VERDICTS = {True: "holds", False: "DOES NOT HOLD", None: "not decidable"}
_HEADS = {"n": "N", "delta": "delta"}


def figure_text(figure: Figure) -> str:
    """One table per TCP with 95 % intervals, and the verdict on each claim of the paper."""
    runs = f"{counted(figure.runs, 'run')} of {figure.duration_s:g} s"
    title = f"Figure {figure.number}: {figure.title}; {runs}"
    parts = [title, f"The paper: {figure.says}."]
    for sack in (False, True):
        lines = figure.of(sack)
        if not lines:
            continue
        swept = [str(getattr(cell, figure.swept)) for cell in lines[0].cells]
        rows = [[_AGENTS[sack], *(f"{_HEADS[figure.swept]} = {value}" for value in swept)]]
        for line in lines:
            cells = [_cell(found.mean, found.half_width) for found in line.found]
            rows.append([line.label, *cells])
        parts.append(aligned(rows, left=1))
        verdicts = [
            [_VERDICTS[claim.holds], claim.says, claim.found] for claim in claims(figure, sack)
        ]
        parts.append(aligned(verdicts, left=3))
    if any(_VERDICTS[None] in part for part in parts):
        parts.append(
            f"Claims that are {_VERDICTS[None]} need more or longer runs; the paper's last "
            f"{parameters(PAPER)['network']['duration_s']:g} s."
        )
    return "\n\n".join(parts)


def figure_json(figure: Figure) -> dict[str, Any]:
    """The figure as JSON."""
    return {
        "number": figure.number,
        "title": figure.title,
        "says": figure.says,
        "swept": figure.swept,
        "runs": figure.runs,
        "duration_s": figure.duration_s,
        "lines": [
            {
                "label": line.label,
                "sack": line.cells[0].sack,
                "in_order": line.cells[0].in_order,
                "delay_ms": line.cells[0].delay_ms,
                "n": [cell.n for cell in line.cells],
                "delta": [cell.delta for cell in line.cells],
                "utilisation": [found.mean for found in line.found],
                "half_width": [found.half_width for found in line.found],
                "busy": [cell.ceiling() for cell in line.cells],
            }
            for line in figure.lines
        ],
        "claims": [
            {"sack": sack, "says": claim.says, "holds": claim.holds, "found": claim.found}
            for sack in (False, True)
            if figure.of(sack)
            for claim in claims(figure, sack)
        ],
    }


def _cell(mean: float, half_width: float | None) -> str:
    return f"{mean:.3f}" if half_width is None else f"{mean:.3f} ±{half_width:.3f}"
