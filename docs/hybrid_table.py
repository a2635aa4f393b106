"""Writes the tables of docs/evidence/hybrid.md from the kept results, ours beside ns-2's.

`python docs/hybrid_table.py` writes them; `--check` only says whether they are up to date.
`validation/wiopt2003.py --write` keeps results.
"""

from __future__ import annotations

import csv
from itertools import product

from pages import ROOT, markdown, refresh

PAGE = ROOT / "docs" / "evidence" / "hybrid.md"
DATA = ROOT / "validation"
NS2 = ROOT / "python" / "clift" / "papers"
KEYS = ("sack", "flows", "n", "delta", "delay_ms", "p", "in_order")
DELAYS = ("20", "100", "200")
AGENTS = (("0", "no"), ("1", "yes"))


def rows(name: str) -> dict[tuple[str, ...], dict[str, str]]:
    """A table by its cells."""
    folder = NS2 if name.endswith("_ns2.csv") else DATA
    with (folder / name).open() as file:
        return {tuple(row[key] for key in KEYS): row for row in csv.DictReader(file)}


class Beside:
    """Our results with those of ns-2 in brackets."""

    def __init__(self) -> None:
        self.ours = rows("wiopt2003.csv")
        self.ns2 = rows("wiopt2003_ns2.csv")

    def cell(self, *key: str) -> str:
        """A cell: sack, flows, n, delta, delay_ms, p, in_order."""
        if key not in self.ours:
            return ""
        ours = three(self.ours[key]["clift"])
        return f"{ours} ({three(self.ns2[key]['ns2'])})" if key in self.ns2 else ours


def three(value: str) -> str:
    """Three digits.

    >>> three("0.9049")
    '0.905'
    """
    return f"{float(value):.3f}"


def table(head: list[str], body: list[list[str]]) -> str:
    """Formats a table and omits empty rows."""
    return markdown(head, [line for line in body if any(cell for cell in line if "." in cell)])


def fec(found: Beside) -> str:
    """FEC alone, ten connections."""
    n = [str(value) for value in range(10, 17)]
    body = [
        [name, p, delay, *(found.cell(sack, "10", value, "0", delay, p, "1") for value in n)]
        for (sack, name), p, delay in product(AGENTS, ("0.01", "0.001"), DELAYS)
    ]
    return table(["SACK", "p", "D, ms", *(f"N = {value}" for value in n)], body)


def arq(found: Beside) -> str:
    """ARQ-SR alone, ten connections and one."""
    deltas = [str(value) for value in (0, 1, 2, 3, 4, 5, 8)]
    body = [
        [
            name,
            flows,
            p,
            "in order" if order == "1" else "as they come",
            delay,
            *(found.cell(sack, flows, "10", delta, delay, p, order) for delta in deltas),
        ]
        for (sack, name), flows, p, order, delay in product(
            AGENTS, ("10", "1"), ("0.01", "0.001"), "10", DELAYS
        )
    ]
    head = ["SACK", "flows", "p", "delivery", "D, ms", *(f"δ = {delta}" for delta in deltas)]
    return table(head, [line for line in body if sum("." in cell for cell in line) > 2])


def hybrid(found: Beside) -> str:
    """Both, at 200 ms."""
    n = [str(value) for value in range(10, 15)]
    deltas = [str(value) for value in range(6)]
    body = [
        [name, flows, p, delta, *(found.cell(sack, flows, v, delta, "200", p, "1") for v in n)]
        for (sack, name), (flows, p), delta in product(
            AGENTS, (("10", "0.01"), ("10", "0.001"), ("1", "0.01")), deltas
        )
    ]
    return table(["SACK", "flows", "p", "δ", *(f"N = {value}" for value in n)], body)


def main() -> None:
    """Writes or checks the page."""
    found = Beside()
    tables = {"fec": fec(found), "arq": arq(found), "hybrid": hybrid(found)}
    refresh(PAGE, {name: f"{table}\n" for name, table in tables.items()})


if __name__ == "__main__":
    main()
