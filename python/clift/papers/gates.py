"""Comparison of the cells of a table or figure with the print, and the limits for it.

There are two counts. *Cells*: 70 % of the values must be within 20 % of the print. *Shape*: each
value is divided by the first of its line (the first column of a table), and by the value of the
first line (the first scheme) at the same place; 80 % of these ratios must be within 15 % of the
printed ratio. Cells that were used in a fit and cells printed as zero do not count. A figure
without printed numbers is compared with its other reference: ns-2 or a closed form.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from clift.papers.artefact import Artefact, Row, Rows

CLOSE, SHAPE = 0.20, 0.15
ENOUGH_CLOSE, ENOUGH_SHAPE = 0.7, 0.8


@dataclass(frozen=True, slots=True)
class Count:
    """Number of close values.

    Attributes:
        what: Description of the count.
        close: Number of values within the limit.
        of: Number of values.
        enough: Required share of close values.
    """

    what: str
    close: int
    of: int
    enough: float

    @property
    def passes(self) -> bool | None:
        """True if enough values are close; None without values."""
        return self.close >= self.enough * self.of if self.of else None


@dataclass(frozen=True, slots=True)
class Gate:
    """The counts of an artefact.

    Attributes:
        against: The reference: the print, ns-2 or the closed form.
        counts: Cells, and shape in both directions if it exists.
        left_out: Number of cells that were used in a fit.
    """

    against: str
    counts: tuple[Count, ...]
    left_out: int

    @property
    def passes(self) -> bool | None:
        """True if all counts pass; None if nothing was counted."""
        found = {count.passes for count in self.counts}
        return False if False in found else True if True in found else None


def gate(artefact: Artefact, rows: Rows) -> Gate:
    """Counts the cells of an artefact.

    Args:
        artefact: The table or figure, for its axis and lines.
        rows: The measured values.

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
        "the print" if is_printed else artefact.reference,
        (
            Count(f"within {CLOSE:.0%}".replace("%", " %"), close, len(counted), ENOUGH_CLOSE),
            Count("within 15 % over the first of the line", sum(along), len(along), ENOUGH_SHAPE),
            Count("within 15 % over the first line", sum(across), len(across), ENOUGH_SHAPE),
        ),
        len(known) - len(counted),
    )


def _pairs(rows: Iterable[Row], along: str, is_printed: bool) -> Iterable[bool]:
    """For each value but the first along a label: True if its ratio to the first is close."""
    first: dict[tuple[object, ...], Row] = {}
    for row in rows:
        others = tuple(value for name, value in row.labels.items() if name != along)
        base = first.setdefault((row.metric, *others), row)
        if base is not row and base.found.mean:
            ours = row.found.mean / base.found.mean
            yield abs(ours / (_base(row, is_printed) / _base(base, is_printed)) - 1) <= SHAPE


def _base(row: Row, is_printed: bool) -> float:
    """Reference value of a row; 0 without one."""
    return (row.printed if is_printed else row.beside) or 0.0
