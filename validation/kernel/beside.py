"""The engine beside kernels in drawn cells (`drawn`, `controls`): what is off, how many are not.

    python -m validation.kernel.beside drawn                   # with the measurements there are
    python -m validation.kernel.beside virtual --default       # and with the default options
    python -m validation.kernel.beside drawn --measure 0 3 17  # measures cells again; needs root
    python -m validation.kernel.beside virtual --measure all   # in virtual time; two hours

A cell holds if goodput, or completion, is within 5 %, retransmissions and timeouts within 10 % or
3, and the mean queue within 10 % or half a packet. BBR draws when it probes: there the medians of
several runs are compared, the kernel's and ours.
"""

from __future__ import annotations

import argparse
import csv
import multiprocessing
import platform
import statistics
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from pathlib import Path

from validation.kernel import inside, ours, virtual
from validation.kernel.cells import CONTROLS
from validation.kernel.drawn import DrawnCell
from validation.kernel.flow import Measured, measure
from validation.kernel.namespaces import hindrance

FIELDS = (
    "number",
    "run",
    "goodput_kbps",
    "completion_s",
    "retransmissions",
    "timeouts",
    "recoveries",
    "undone",
    "mean_queue",
    "lateness_ms",
    "kernel",
)
# Flows at a time in real time, and the sum of their rates.
PARALLEL, RATE_BPS = 10, 45_000_000
# Of the kernel 7.2 in virtual time, with 2 GB of memory: `tcp_rmem` is 16,402,912 bytes.
LARGEST_WINDOWS = {"7.2": 10_251_820, "7.2-hz1000": 10_251_820}
# The controls that draw when they probe, and the runs of ours that are compared then.
DRAWING, RUNS = ("bbr", "bbr3"), 9


@dataclass(frozen=True)
class Kept:
    """Measurements: their file, the set of cells, and the kernel.

    The kernel is one in virtual time; None: this machine's, in real time.
    """

    name: str
    cells: str
    kernel: str | None

    @property
    def window(self) -> int | None:
        """Largest receive window of a kernel like the engine: 5/8 of `tcp_rmem`, in bytes."""
        return LARGEST_WINDOWS.get(self.kernel or "")

    @property
    def file(self) -> Path:
        """Results of a kernel, one line per run."""
        return Path(__file__).parent / self.name


# `7.2-hz1000` is built with `--hz 1000`: its clock is four times as fine.
KEPT = {
    "drawn": Kept("drawn.csv", "drawn", None),
    "virtual": Kept("drawn-virtual.csv", "drawn", "7.2"),
    "controls": Kept("controls.csv", "controls", "bbr3-6.12"),
    "named": Kept("named.csv", "named", "7.2"),
    "unseen": Kept("unseen.csv", "unseen", "7.2"),
    "third": Kept("unseen.csv", "third", "7.2"),
    "fourth": Kept("unseen.csv", "fourth", "7.2"),
    "fourth-fine": Kept("unseen-hz1000.csv", "fourth", "7.2-hz1000"),
    "fifth": Kept("unseen.csv", "fifth", "7.2"),
    "fifth-fine": Kept("unseen-hz1000.csv", "fifth", "7.2-hz1000"),
    "sixth": Kept("unseen.csv", "sixth", "7.2"),
    "sixth-fine": Kept("unseen-hz1000.csv", "sixth", "7.2-hz1000"),
    "seventh": Kept("unseen.csv", "seventh", "7.2"),
    "seventh-fine": Kept("unseen-hz1000.csv", "seventh", "7.2-hz1000"),
    "eighth": Kept("unseen.csv", "eighth", "7.2"),
    "eighth-fine": Kept("unseen-hz1000.csv", "eighth", "7.2-hz1000"),
    "bbr-files": Kept("bbr_files.csv", "bbr-files", "7.2"),
}
"""Measurements by name."""


@dataclass(frozen=True)
class Result:
    """Compared value of a run: kbit/s of bulk data or seconds of a file (None: not finished)."""

    speed: float | None
    retransmissions: float
    timeouts: float
    mean_queue: float


@dataclass(frozen=True)
class Comparison:
    """A cell: the kernel's medians, and ours."""

    cell: DrawnCell
    kernel: Result
    engine: Result

    @property
    def faults(self) -> list[str]:
        """Metrics outside their limits.

        >>> cell = drawn()[0]
        >>> Comparison(cell, Result(900, 50, 1, 3), Result(850, 61, 4, 3.6)).faults
        ['speed', 'retransmissions', 'queue']
        """
        kernel, engine = self.kernel, self.engine
        faults = []
        if kernel.speed is None or engine.speed is None:
            if kernel.speed is not engine.speed:
                faults.append("speed")
        elif abs(engine.speed / kernel.speed - 1) > 0.05:
            faults.append("speed")
        for name in ("retransmissions", "timeouts"):
            theirs = getattr(kernel, name)
            if abs(getattr(engine, name) - theirs) > max(0.1 * theirs, 3):
                faults.append(name)
        if self.cell.file_bytes is None:
            off = abs(engine.mean_queue - kernel.mean_queue)
            if off > max(0.1 * kernel.mean_queue, 0.5):
                faults.append("queue")
        return faults


def main() -> int:
    """Parses the command line and does it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("kept", nargs="?", default="drawn", choices=KEPT, help="measurements")
    parser.add_argument("--measure", nargs="+", help="numbers of cells to measure again, or all")
    parser.add_argument("--run", type=int, default=1, help="number of the measurement")
    parser.add_argument("--parallel", type=int, default=1, help="kernels at a time (virtual time)")
    parser.add_argument("--without-kept-apart", action="store_true", help="leave a third unseen")
    parser.add_argument("--default", action="store_true", help="with the default options")
    arguments = parser.parse_args()
    kept = KEPT[arguments.kept]
    if arguments.measure:
        wanted = set(arguments.measure)
        chosen = [
            it for it in inside.SETS[kept.cells]() if "all" in wanted or str(it.number) in wanted
        ]
        reason = hindrance(CONTROLS) if kept.kernel is None else virtual.hindrance(kept.kernel)
        if reason is not None:
            print(f"skipped: no kernel is measured here: {reason}")
        elif kept.kernel is None:
            measure_all(kept, chosen, arguments.run)
        else:
            measure_virtually(kept, kept.kernel, chosen, arguments.run, arguments.parallel)
    comparisons = [
        it
        for it in compare(kept, linux={} if arguments.default else ours.HOST)
        if not (arguments.without_kept_apart and it.cell.kept_apart)
    ]
    for comparison in comparisons:
        if comparison.faults:
            print(f"{', '.join(comparison.faults)}: {comparison.cell.label}")
            print(f"    kernel {comparison.kernel}\n    ours   {comparison.engine}")
    for fault in ("speed", "retransmissions", "timeouts", "queue"):
        held = sum(fault not in it.faults for it in comparisons)
        print(f"{fault}: {held} of {len(comparisons)} cells hold")
    print(f"all of it: {sum(not it.faults for it in comparisons)} of {len(comparisons)}")
    return 0


def measure_virtually(
    kept: Kept, kernel: str, cells: list[DrawnCell], run: int, parallel: int
) -> None:
    """Measures cells in virtual time, low rates first, and stores each as it is done."""
    with ThreadPoolExecutor(parallel) as pool:
        ordered = sorted(cells, key=lambda cell: (cell.rate_bps, cell.number))
        running = [
            (cell, pool.submit(inside.measure_in, kernel, kept.cells, cell.number))
            for cell in ordered
        ]
        for cell, future in running:
            release, measured = future.result()
            put(kept, cell, run, measured, release)


def measure_all(kept: Kept, cells: list[DrawnCell], run: int) -> None:
    """Measures cells, low rates first, and stores each as it is done."""
    waiting = sorted(cells, key=lambda cell: (cell.rate_bps, cell.number))
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(PARALLEL, mp_context=context, max_tasks_per_child=1) as pool:
        running: dict[object, DrawnCell] = {}
        while waiting or running:
            for cell in list(waiting):
                used = sum(it.rate_bps for it in running.values())
                if len(running) < PARALLEL and (not running or used + cell.rate_bps <= RATE_BPS):
                    waiting.remove(cell)
                    running[pool.submit(measure, cell)] = cell
            done, _ = wait(running, return_when=FIRST_COMPLETED)  # type: ignore[type-var]
            for future in done:
                cell, release = running.pop(future), platform.release().split("-")[0]
                put(kept, cell, run, future.result(), release)  # type: ignore[attr-defined]


def put(kept: Kept, cell: DrawnCell, run: int, measured: Measured, release: str) -> None:
    """Stores a measurement in place of an older one of the same cell and run."""
    rows = {(int(row["number"]), int(row["run"])): row for row in read(kept)}
    completion = measured.completion_s
    rows[cell.number, run] = {
        "number": str(cell.number),
        "run": str(run),
        "goodput_kbps": f"{measured.goodput_kbps:.2f}",
        "completion_s": "" if completion is None else f"{completion:.4f}",
        "retransmissions": str(measured.retransmissions),
        "timeouts": str(measured.timeouts),
        "recoveries": str(measured.recoveries),
        "undone": str(measured.undone),
        "mean_queue": f"{measured.mean_queue:.3f}",
        "lateness_ms": f"{measured.lateness_ms:.2f}",
        "kernel": f"Linux {release}",
    }
    with kept.file.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows[which] for which in sorted(rows))


def read(kept: Kept) -> list[dict[str, str]]:
    """Every measurement there is."""
    if not kept.file.exists():
        return []
    with kept.file.open() as file:
        return list(csv.DictReader(file))


def compare(
    kept: Kept,
    wanted: Callable[[DrawnCell], bool] | None = None,
    linux: Mapping[str, bool] = ours.HOST,
) -> list[Comparison]:
    """Runs the engine in every cell that was measured, or in those that are wanted."""
    measured: dict[int, list[dict[str, str]]] = {}
    for row in read(kept):
        measured.setdefault(int(row["number"]), []).append(row)
    return [
        Comparison(cell, kernel(cell, measured[cell.number]), engine(cell, linux, kept.window))
        for cell in inside.SETS[kept.cells]()
        if cell.number in measured and (wanted is None or wanted(cell))
    ]


def kernel(cell: DrawnCell, rows: list[dict[str, str]]) -> Result:
    """The medians of a cell's measurements."""

    def median(name: str) -> float:
        return statistics.median(float(row[name]) for row in rows)

    speed: float | None
    if cell.file_bytes is None:
        speed = median("goodput_kbps")
    else:
        arrived = all(row["completion_s"] for row in rows)
        speed = median("completion_s") if arrived else None
    return Result(speed, median("retransmissions"), median("timeouts"), median("mean_queue"))


def engine(
    cell: DrawnCell, linux: Mapping[str, bool] = ours.HOST, window: int | None = None
) -> Result:
    """Result of the engine in a cell; the medians of several runs if the control draws."""
    seeds = range(1, RUNS + 1) if cell.congestion in DRAWING else [cell.seed]
    runs = [_run(replace(cell, seed=seed), linux, window) for seed in seeds]

    def median(name: str) -> float:
        return statistics.median(getattr(run, name) for run in runs)

    arrived = all(run.speed is not None for run in runs)
    speed = median("speed") if arrived else None
    return Result(speed, median("retransmissions"), median("timeouts"), median("mean_queue"))


def _run(cell: DrawnCell, linux: Mapping[str, bool], window: int | None) -> Result:
    outcome, queue = ours.run_with_queue(cell, linux, window)
    flow = outcome.summary()["flows"][0]
    speed = outcome.goodput_kbps if cell.file_bytes is None else outcome.completion_s
    return Result(speed, flow["retransmissions"], flow["timeouts"], queue)


if __name__ == "__main__":
    sys.exit(main())
