"""Measures the kernel in every cell, runs the engine beside it, and writes the table of the docs.

    python -m validation.kernel               # ten minutes; needs root
    python -m validation.kernel --no-kernel   # with the measurements that are there
    python -m validation.kernel --missing     # only cells that have none

Exit code 1 if a cell is off by more than 10 %. Where no kernel can be measured the reason is said,
and the measurements in the repository are compared.
"""

from __future__ import annotations

import argparse
import multiprocessing
import platform
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from validation.kernel import store, table
from validation.kernel.cells import CONTROLS, Cell, matrix
from validation.kernel.flow import Measured, measure
from validation.kernel.namespaces import hindrance


def main() -> int:
    """Parses the command line and does it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--no-kernel", action="store_true", help="take the measurements there are")
    parser.add_argument("--only", default="", help="cells whose label contains this")
    parser.add_argument("--parallel", type=int, default=12, help="flows at a time")
    parser.add_argument("--missing", action="store_true", help="only cells not measured yet")
    parser.add_argument("--traces", type=Path, help="folder for the kernel's windows")
    arguments = parser.parse_args()
    cells = [cell for cell in matrix() if arguments.only in cell.label]
    if arguments.missing:
        cells = [cell for cell in cells if store.of(cell) is None]
    if not arguments.no_kernel:
        reason = hindrance(CONTROLS)
        if reason is None:
            run_kernel(cells, arguments.parallel, arguments.traces)
        else:
            print(f"skipped: no kernel is measured here: {reason}")
    comparisons = table.compare([cell for cell in matrix() if arguments.only in cell.label])
    print(table.markdown(comparisons))
    if not arguments.only:
        table.write(comparisons)
    off = [it for it in comparisons if abs(it.difference) > table.WITHIN]
    for it in off:
        print(f"off by {100 * it.difference:+.1f} %: {it.cell.label}")
    print(f"{len(comparisons) - len(off)} of {len(comparisons)} cells are within 10 %")
    return 1 if off else 0


def run_kernel(cells: list[Cell], parallel: int, traces: Path | None) -> None:
    """Measures cells, several at a time, and stores each as it is done."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(parallel, mp_context=context, max_tasks_per_child=1) as pool:
        running = {pool.submit(measure, cell): cell for cell in cells}
        for done in as_completed(running):
            cell, measured = running[done], done.result()
            store.put(cell, measured, platform.release())
            if traces is not None:
                write_trace(traces, cell, measured)
            print(f"{cell.label}: {measured.goodput_kbps:.0f} kbit/s", flush=True)


def write_trace(folder: Path, cell: Cell, measured: Measured) -> None:
    """Writes the samples of a run."""
    folder.mkdir(parents=True, exist_ok=True)
    head = "time_s,cwnd,ssthresh,unacked,srtt_us,retransmissions"
    lines = [",".join(f"{value:g}" for value in sample) for sample in measured.samples]
    name = cell.label.replace(" ", "_").replace("/", "-").replace(",", "") + ".csv"
    (folder / name).write_text("\n".join([head, *lines]) + "\n")


if __name__ == "__main__":
    sys.exit(main())
