"""Tables 1 and 2 of Tauran 2017 against their acceptance bounds, in full; `make validate` runs it.

    python validation/tauran2017.py [SEEDS]

Prints both tables beside the paper's values, then each claim with its verdict; exits with 1 if one
does not hold. docs/evidence/papers.md says what explains the cells that have separate bounds.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from clift.papers.leo import Cell, table_cells
from clift.papers.text import number
from clift.report.text import aligned

Key = tuple[int, int, str]

# (table, dB, TCP). ns-2's own agents over the same channel and link are as far off at 7 and 8 dB.
# CUBIC at 9 dB was not run there; it is taken to be off for the reasons seen at 8 dB.
GOODPUT_APART: dict[Key, float] = {(1, 7, "newreno"): 0.40}
FAILURES_APART: dict[Key, float] = {(2, 8, "cubic"): 0.50, (2, 9, "cubic"): 0.40}


def main() -> int:
    """Runs everything; returns the exit code."""
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 16
    cells = {_key(cell): cell for cell in table_cells(seeds=seeds)}
    for table in (1, 2):
        print(f"table {table}: measured (printed)")
        print(
            aligned(_text([cell for cell in cells.values() if cell.table == table]), 2), end="\n\n"
        )
    verdicts = [*_cell_by_cell(cells), *_tables(cells), *_delayed_ack(cells, seeds)]
    for holds, claim in verdicts:
        print({True: "holds   ", False: "FAILS   ", None: "reported"}[holds], claim)
    return int(any(holds is False for holds, _ in verdicts))


def _text(cells: list[Cell]) -> list[list[str]]:
    rows = [["dB", "TCP", *cells[0].values]]
    for cell in cells:
        printed = {name: f" ({value:g})" for name, value in cell.printed.items()}
        values = [number(cell.estimate(name)) + printed.get(name, "") for name in cell.values]
        rows.append([str(cell.snr_db), cell.transport, *values])
    return rows


def _cell_by_cell(cells: dict[Key, Cell]) -> Iterator[tuple[bool | None, str]]:
    goodput = {key: abs(cell.ratio("goodput_kbps") - 1) for key, cell in cells.items()}
    failures = {key: abs(cell.ratio("success_percent") - 1) for key, cell in cells.items()}
    close = sum(off <= 0.2 for off in goodput.values())
    yield close >= 20, f"goodput within 20 % of the print in 20 cells: {close} of {len(goodput)}"
    for name, offs, apart, bound in (
        ("goodput", goodput, GOODPUT_APART, 0.30),
        ("A-HARQ failures", failures, FAILURES_APART, 0.25),
    ):
        inside = all(off <= bound for key, off in offs.items() if key not in apart)
        worst = max((off, key) for key, off in offs.items() if key not in apart)
        others = len(offs) - len(apart)
        yield (
            inside,
            f"{name} within {bound:.0%} in {others} cells: worst {worst[0]:.0%} {worst[1]}",
        )
        for key, own in apart.items():
            yield offs[key] <= own, f"{name} of {key} within {own:.0%}: {offs[key]:.0%}"


def _tables(cells: dict[Key, Cell]) -> Iterator[tuple[bool | None, str]]:
    gains = {
        (snr, tcp): _goodput(cells[2, snr, tcp]) / _goodput(cell)
        for (table, snr, tcp), cell in cells.items()
        if table == 1
    }
    yield min(gains.values()) > 1, f"re-ordering raises goodput: least {min(gains.values()):.2f} x"
    yield gains[13, "cubic"] >= 3, f"threefold for CUBIC at 13 dB: {gains[13, 'cubic']:.2f} x"
    events = [cell.estimate("events_per_s").mean for key, cell in cells.items() if key[0] == 1]
    inside = min(events) >= 0.8 and max(events) <= 1.1
    yield inside, f"0.8 to 1.1 recoveries a second: {min(events):.2f} to {max(events):.2f}"
    load = cells[2, 13, "cubic"].estimate("load_mbps").mean
    yield None, f"load with CUBIC at 13 dB and the buffer: {load:.2f} Mbit/s; printed 7.8"


def _delayed_ack(cells: dict[Key, Cell], seeds: int) -> Iterator[tuple[bool | None, str]]:
    delayed = table_cells(seeds=seeds, snr_db=[7, 13], delayed_ack=True)
    for cell in delayed:
        own = cells[_key(cell)].estimate("goodput_kbps")
        change = cell.estimate("goodput_kbps").mean / own.mean - 1
        half = (own.half_width or 0) / own.mean
        what = f"delayed ACK, table {cell.table}, {cell.snr_db} dB, {cell.transport}: {change:+.0%}"
        # "Does not help": no more than the mean's own uncertainty.
        yield change <= half if cell.table == 2 else None, what


def _goodput(cell: Cell) -> float:
    return cell.estimate("goodput_kbps").mean


def _key(cell: Cell) -> Key:
    return cell.table, cell.snr_db, cell.transport


if __name__ == "__main__":
    sys.exit(main())
