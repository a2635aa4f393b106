"""How close the cells of an artefact are to the print, and whether that is close enough.

Two counts. *Cells*: how many are within 20 % of the print; 70 % of them should be. *Shape*: what a
value is over the first of its line (the first column of a table), and over the first line's at the
same place (the first scheme); 80 % should be within 15 % of the same ratio in the print. Cells that
were used in a fit and cells printed as zero are left out. A figure without printed numbers is held
against what stands beside it instead, e.g. ns-2's own agents.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from clift.papers.artefact import Artefact, Row, Rows

CLOSE, SHAPE = 0.20, 0.15
ENOUGH_CLOSE, ENOUGH_SHAPE = 0.7, 0.8


@dataclass(frozen=True, slots=True)
class Count:
    """How many are close.

    Attributes:
        what: What is counted.
        close: How many are close enough.
        of: Out of how many.
        enough: Which share of them is asked for.
    """

    what: str
    close: int
    of: int
    enough: float

    @property
    def passes(self) -> bool | None:
        """Whether enough are; None if there are none."""
        return self.close >= self.enough * self.of if self.of else None


@dataclass(frozen=True, slots=True)
class Gate:
    """The counts of an artefact.

    Attributes:
        against: What the cells are held against: the print, or what stands beside.
        counts: Cells, and shape in both directions where there is one.
        left_out: Cells that were used in a fit.
    """

    against: str
    counts: tuple[Count, ...]
    left_out: int

    @property
    def passes(self) -> bool | None:
        """Whether every count is enough; None if nothing could be counted."""
        found = {count.passes for count in self.counts}
        return False if False in found else True if True in found else None


def gate(artefact: Artefact, rows: Rows) -> Gate:
    """Counts the cells of an artefact.

    Args:
        artefact: Which, for its axis and lines.
        rows: What was measured.

    Example:
        >>> from clift.campaign.statistics import Estimate
        >>> from clift.papers.registry import chosen
        >>> table = chosen("ijscn2014", tables=[3])[0]
        >>> rows = Rows(Row({"transport": "cubic", "scheme": "ARQ", "esn0_db": level},
        ...     "completion_s", Estimate(mean, 0.1, 9), printed) for level, mean, printed in
        ...     [(5, 10.0, 9.8), (6, 7.0, 7.1), (7, 9.0, 5.4)])
        >>> for count in gate(table, rows).counts:
        ...     print(count.what, count.close, count.of, count.passes)
        within 20 % 2 3 False
        within 15 % over the first of the line 1 2 False
        within 15 % over the first line 0 0 None
    """
    is_printed = any(row.printed is not None for row in rows)
    known = [row for row in rows if _base(row, is_printed)]
    counted = [row for row in known if not row.fitted]
    close = sum(abs((row.ratio or 0.0) - 1) <= CLOSE for row in counted)
    along = list(_pairs(counted, artefact.x, is_printed))
    across = list(_pairs(counted, artefact.lines[-1], is_printed)) if artefact.lines else []
    return Gate(
        "the print" if is_printed else "ns-2's own agents",
        (
            Count(f"within {CLOSE:.0%}".replace("%", " %"), close, len(counted), ENOUGH_CLOSE),
            Count("within 15 % over the first of the line", sum(along), len(along), ENOUGH_SHAPE),
            Count("within 15 % over the first line", sum(across), len(across), ENOUGH_SHAPE),
        ),
        len(known) - len(counted),
    )


def _pairs(rows: Iterable[Row], along: str, is_printed: bool) -> Iterable[bool]:
    """For each value that is not the first along a label: whether its ratio to that is close."""
    first: dict[tuple[object, ...], Row] = {}
    for row in rows:
        others = tuple(value for name, value in row.labels.items() if name != along)
        base = first.setdefault((row.metric, *others), row)
        if base is not row and base.found.mean:
            ours = row.found.mean / base.found.mean
            yield abs(ours / (_base(row, is_printed) / _base(base, is_printed)) - 1) <= SHAPE


def _base(row: Row, is_printed: bool) -> float:
    """What a row is held against; 0 if there is nothing."""
    return (row.printed if is_printed else row.beside) or 0.0
