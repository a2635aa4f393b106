"""Writes the table of docs/reference/metrics.md from the core's catalogue of metrics.

`python docs/metrics_table.py` writes it; `--check` only says whether it is up to date.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from clift import _clift

PAGE = Path(__file__).parent / "reference" / "metrics.md"
MARKED = re.compile(r"(<!-- metrics -->\n).*?(<!-- /metrics -->)", re.DOTALL)


def table() -> str:
    """Lays out the catalogue, a row a metric."""
    lines = ["| name | of | unit | better | meaning |", "|---|---|---|---|---|"]
    for places, name, _, unit, better, meaning in _clift.metrics():
        lines.append(f"| `{name}` | {', '.join(places)} | {unit} | {better or ''} | {meaning} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Writes or checks the page."""
    old = PAGE.read_text()
    new = MARKED.sub(lambda match: match[1] + table() + match[2], old)
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(new)
    elif new != old:
        raise SystemExit(f"error: {PAGE} is not up to date; run python docs/metrics_table.py")


if __name__ == "__main__":
    main()
