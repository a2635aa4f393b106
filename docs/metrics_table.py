"""Writes the table of docs/reference/metrics.md from the core's catalogue of metrics.

`python docs/metrics_table.py` writes it; `--check` only says whether it is up to date.
"""

from __future__ import annotations

from pages import ROOT, markdown, refresh

from clift import _clift

PAGE = ROOT / "docs" / "reference" / "metrics.md"


def table() -> str:
    """Lays out the catalogue, a row a metric."""
    head = ["name", "of", "unit", "better", "meaning"]
    body = [
        [f"`{name}`", ", ".join(places), unit, better or "", meaning]
        for places, name, _, unit, better, meaning in _clift.metrics()
    ]
    return markdown(head, body) + "\n"


if __name__ == "__main__":
    refresh(PAGE, {"metrics": table()})
