"""Figures 3 to 8 of Al Fawal 2003, cell by cell beside ns-2, within bounds.

    python validation/wiopt2003.py            # 10 runs of 2000 s: about five minutes on two cores
    python validation/wiopt2003.py --write    # and takes the results for docs/evidence/hybrid.md

`python/clift/papers/wiopt2003_ns2.csv` has the results of ns-2 with the same link layer
written for ns-2 (1000 s, one connection 2000 s; four seeds agree within 0.013): without SACK
`TCP/Newreno` towards `TCPSink/DelAck`, with SACK `TCP/Linux` reno towards `TCPSink/Sack1/DelAck`.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterable
from pathlib import Path

from clift.campaign.statistics import Estimate
from clift.papers.hybrid import FIGURES, Cell, lines, measure
from clift.papers.registry import parameters

FOLDER = Path(__file__).parent
NS2 = FOLDER.parent / "python" / "clift" / "papers" / "wiopt2003_ns2.csv"
OURS = FOLDER / "wiopt2003.csv"
KEYS = ("sack", "flows", "n", "delta", "delay_ms", "p", "in_order")
DELAYS = (20, 100, 200)
# From 0.79 to 0.88 the best N at 100 ms is a matter of TCP's details: 11 with SACK.
BEST_N = {20: {11}, 100: {11, 12}, 200: {12}}
ELEVEN = {20: (0.86, 0.89), 100: (0.79, 0.88), 200: (0.52, 0.74)}
UNORDERED = {20: (0.93, 1.01), 100: (0.0, 0.75), 200: (0.0, 0.45)}
# With delta = 5 a frame is still given up 1.4 times in 2000 s, which one flow feels at 200 ms:
# eight of ten runs reach 0.891 to 0.893, one that loses three packets 0.786. ns-2 ran once.
ENOUGH_FOR_ONE = {20: 5, 100: 5, 200: 6}
ONE_AGAIN = {20: 0.842, 100: 0.410, 200: 0.240}


def read(path: Path, value: str) -> dict[Cell, float]:
    """A column of a table of cells."""
    with path.open() as file:
        return {cell_of(row): float(row[value]) for row in csv.DictReader(file)}


def cell_of(row: dict[str, str]) -> Cell:
    """The cell that a row is of."""
    counts = {name: int(row[name]) for name in ("flows", "n", "delta", "delay_ms")}
    orders = {name: row[name] == "1" for name in ("sack", "in_order")}
    return Cell(**counts, **orders, p=float(row["p"]))


def all_cells() -> list[Cell]:
    """Every cell of a figure, with and without SACK, and what ns-2 was run on besides."""
    specs = [parameters("wiopt2003")["figure"][str(number)] for number in FIGURES]
    drawn = [
        cell
        for sack in (False, True)
        for spec in specs
        for _, own in lines(spec, sack)
        for cell in own
    ]
    return list(dict.fromkeys([*drawn, *read(NS2, "ns2")]))


def faults(
    found: dict[Cell, float], sack: bool, slack: float = 0.0, delays: tuple[int, ...] = DELAYS
) -> Iterable[str]:
    """Results outside the bounds that ns-2 keeps, at some delays.

    Runs that are short scatter: `slack` widens the bounds of ARQ-SR, which are the narrowest.
    """
    for delay in delays:
        at = f"{'' if sack else 'no '}SACK, D = {delay}"
        fec = {n: found[Cell(n, 0, delay, sack=sack)] for n in range(10, 17)}
        arq = [found[Cell(10, delta, delay, sack=sack)] for delta in range(6)]
        plain = found[Cell(10, 5, delay, in_order=False, sack=sack)]
        one = found[Cell(10, ENOUGH_FOR_ONE[delay], delay, flows=1, sack=sack)]
        yield from fec_faults(fec, delay, sack, at)
        if not sack:
            once = ONE_AGAIN[delay]
            yield from outside(arq[1], 0.85 * once, 1.15 * once, f"{at}, delta = 1")
        # Nothing carries more than 0.99^10 of the link without redundancy.
        for delta in (3, 4, 5):
            yield from outside(arq[delta], 0.885 - slack, 0.9045 + slack, f"{at}, delta = {delta}")
        yield from outside(fall(arq), 0.0, 0.01, f"{at}, fall with delta")
        yield from outside(arq[5], max(fec.values()), 1.0, f"{at}, beside the best FEC")
        yield from outside(plain / arq[5], *UNORDERED[delay], f"{at}, unordered over ordered")
        yield from outside(one, 0.885 - slack, 0.9045 + slack, f"{at}, one connection")


def fec_faults(fec: dict[int, float], delay: int, sack: bool, at: str) -> Iterable[str]:
    """The same of FEC alone, by N."""
    for n in (13, 14, 15, 16):
        yield from outside(fec[n] * n / 10, 0.98, 1.001, f"{at}, N = {n} over K/N")
    yield from outside(fec[12], 0.80, 0.835, f"{at}, N = 12")
    eleven = (0.54, 0.57) if delay == 200 and not sack else ELEVEN[delay]
    yield from outside(fec[11], *eleven, f"{at}, N = 11")
    best = max(fec, key=lambda n: fec[n])
    if best not in BEST_N[delay]:
        yield f"{at}: the best N is {best}"


def outside(value: float, low: float, high: float, what: str) -> Iterable[str]:
    """Says so if a value is out of bounds."""
    if not low <= value <= high:
        yield f"{what}: {value:.4f}, not {low:.3f} to {high:.3f}"


def fall(line: list[float]) -> float:
    """How far a line falls below what it reached before."""
    return max(max(line[: place + 1]) - value for place, value in enumerate(line))


def further_faults(found: dict[Cell, float], sack: bool) -> Iterable[str]:
    """The same of the hybrid, which needs all of figures 5 to 8."""
    name = "SACK" if sack else "no SACK"

    def best_of(flows: int, p: float) -> tuple[float, Cell]:
        chosen = [
            cell
            for cell in found
            if (cell.sack, cell.flows, cell.p, cell.delay_ms) == (sack, flows, p, 200)
            and cell.in_order
            and cell.delta <= 5
        ]
        return max(((found[cell], cell) for cell in chosen), key=lambda pair: pair[0])

    for flows, delta in ((1, ENOUGH_FOR_ONE[200]), (10, 5)):
        arq = found[Cell(10, delta, 200, flows=flows, sack=sack)]
        best, cell = best_of(flows, 0.01)
        if not -0.001 <= best - arq <= 0.015:
            yield f"{name}, {flows} flows: best {best:.4f}, ARQ-SR {arq:.4f}"
        if cell.n > 11:
            yield f"{name}, {flows} flows: best at N = {cell.n}"
    best, cell = best_of(10, 0.001)
    if cell.n != 10:
        yield f"{name}, p = 0.001: best at N = {cell.n}"
    ten, one = best_of(10, 0.01)[0], best_of(1, 0.01)[0]
    if abs(ten - one) > 0.015:
        yield f"{name}: one connection reaches {one:.4f}, ten {ten:.4f}"
    if needed(found, sack, 1) <= needed(found, sack, 10):
        yield f"{name}: one connection needs no larger delta than ten"
    for delay in DELAYS:
        line = [found[Cell(10, delta, delay, flows=1, sack=sack)] for delta in range(11)]
        yield from outside(fall(line), 0.0, 0.01, f"{name}, one connection, D = {delay}, fall")


def needed(found: dict[Cell, float], sack: bool, flows: int) -> int:
    """The least delta with which ARQ-SR alone at 200 ms comes within 2 % of its best."""
    line = [found[Cell(10, delta, 200, flows=flows, sack=sack)] for delta in range(6)]
    return next(delta for delta, value in enumerate(line) if value >= 0.98 * max(line))


def write(found: dict[Cell, Estimate]) -> None:
    """Keeps the results for the docs."""
    with OURS.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow([*KEYS, "clift", "half_width"])
        for cell, own in found.items():
            key = [int(value) if isinstance(value, bool) else value for value in values(cell)]
            table.writerow([*key, f"{own.mean:.4f}", f"{own.half_width or 0.0:.4f}"])


def values(cell: Cell) -> list[float]:
    """A cell as a row of a table."""
    return [getattr(cell, key) for key in KEYS]


def main() -> int:
    """Runs all cells; 1 if one is out of bounds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--duration", type=float, default=2000.0, metavar="SECONDS")
    parser.add_argument("--write", action="store_true", help=f"write {OURS.name}")
    options = parser.parse_args()
    cells = all_cells()
    found = dict(
        zip(cells, measure(cells, options.runs, options.duration, progress=True), strict=True)
    )
    means = {cell: own.mean for cell, own in found.items()}
    differences = []
    for cell, ns2 in read(NS2, "ns2").items():
        differences.append(abs(means[cell] - ns2))
        if differences[-1] > 0.015:
            print(
                f"beside ns-2: {means[cell]:.3f} +- {found[cell].half_width or 0:.3f}, {ns2} {cell}"
            )
    close = sum(difference <= 0.015 for difference in differences)
    print(f"{close} of {len(differences)} cells within 0.015 of ns-2")
    out = [
        fault
        for sack in (False, True)
        for fault in (*faults(means, sack), *further_faults(means, sack))
    ]
    for fault in out:
        print(f"OUT OF BOUNDS {fault}")
    verdict = f"{len(out)} OUT OF BOUNDS" if out else "all within bounds"
    print(f"{len(cells)} cells, {options.runs} runs each: {verdict}")
    if options.write:
        write(found)
    return int(bool(out))


if __name__ == "__main__":
    sys.exit(main())
