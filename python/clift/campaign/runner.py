"""Running the cells of a campaign."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from math import sqrt
from pathlib import Path
from time import monotonic

import numpy as np
import pyarrow as pa

from clift.campaign import parts
from clift.campaign.axes import conditions
from clift.campaign.cells import Cells
from clift.campaign.cluster import Cluster, connect
from clift.campaign.identity import Files, file_hashes
from clift.campaign.metrics import is_metric, judged_by, metric
from clift.campaign.parts import Row, Span
from clift.campaign.plan import Plan
from clift.campaign.results import DRAWN_CELLS, Cell, Results
from clift.campaign.runs import WINDOW, Runs, windows
from clift.campaign.statistics import Estimate, quantile
from clift.campaign.stopping import is_narrow, looks
from clift.campaign.store import Store
from clift.campaign.values import Values
from clift.campaign.work import Batch, Worker
from clift.errors import ChangedFileError, ScenarioError
from clift.report.text import with_interval
from clift.scenario import Scenario
from clift.simulation import simulate

Watcher = Callable[[int, int, str], object]

# A batch takes about the first number of seconds; in longer campaigns a hundredth of their time so
# far, so that there are not hundreds of thousands of files, up to the second number.
_BATCH_S, _MOST_BATCH_S = 0.1, 2.0
_MOST_RUNS = 4096
# A batch grows no faster than by this factor: the first runs may be the short ones.
_GROWTH = 4
# More cells are made when they are asked for.
MOST_LISTED = 10_000
# How often the runs of other processes are looked at, when nothing else is left to do.
_LOOK_S = 0.2


def run_campaign(
    scenario: Scenario,
    watch: Watcher | None = None,
    threads: int | None = None,
    store: Store | None = None,
    until: float | None = None,
    results: Results | None = None,
    scheduler: str | None = None,
) -> Results:
    """Runs every replication of every cell, but for those that a store has already.

    Replications of one number come together, cell after cell, so that what they share is made
    once and an interrupted campaign has something of every cell.

    Args:
        scenario: A scenario, of a file or made in Python.
        watch: Called with the runs done, the runs to do and the latest estimate as text.
        threads: How many runs at a time; all cores unless given.
        store: Keeps every run as soon as its batch is done.
        until: Half the interval over the mean at which a cell stops, which then needs fewer runs
            than it asks for; None: all of them are done.
        results: What `planned` gives, if that is known: it is filled also where this raises.
        scheduler: Address of a Dask scheduler whose workers do the runs; None: they are done here.

    Returns:
        The results; incomplete after Ctrl-C, or when the store cannot be written any more.

    Raises:
        ScenarioError: If a printed metric does not exist or a trace cannot be read.
        ChangedFileError: If a file that the scenario names changed meanwhile.
        SimulationError: If a run cannot go on; what is done is kept in the store.
    """
    cells = scenario.cells()
    results = planned(scenario, cells) if results is None else results
    watch = watch or (lambda _done, _wanted, _note: None)
    count = threads or len(os.sched_getaffinity(0))
    inputs = None
    if store is not None:
        first = results.cells[0]
        if first.scenario is not None and (run := store.repeat(first.scenario)) is not None:
            first.keep_first(run)
    elif not results.is_large:
        inputs = Files(scenario)
        file_hashes(scenario, inputs)
    with connect(scheduler, scenario) if scheduler else nullcontext() as cluster:

        def done() -> bool:
            plan = Plan(results.asked(), store, results.places())
            return Study(results, cells, plan, store, watch, cluster).done(count)

        if _without_copies(results, done):
            _rounds(results, until, done)
    if store is not None:
        # Tables read the files once more.
        store.check_inputs()
    elif inputs is not None and (changed := inputs.changed()) is not None:
        raise ChangedFileError(f"{changed}: changed or was removed while the study ran; repeat it")
    return results


def _without_copies(results: Results, done: Callable[[], bool]) -> bool:
    """Asks for a single run of each cell in which nothing is drawn; False after Ctrl-C.

    Only a run over a given trace can repeat the one before. Whether it does is tried: a part that
    draws (a control, a queue, a scheme of a plugin) need not say so.
    """
    if results.is_large:
        return True  # their verdicts count copies as one run
    asked = results.asked().tolist()
    given = [at for at, cell in enumerate(results.cells) if cell.shared and asked[at] > 1]
    if not given:
        return True
    for at in given:
        results.ask(at, 2)
    if not done():
        for at in given:
            results.ask(at, asked[at])
        return False
    copies = [at for at in given if results.cells[at].repeats()]
    for at in given:
        results.ask(at, asked[at])
    for at in copies:
        results.ask(at, 1)
        results.cells[at].is_exact = True
    if copies:
        results.table.keep_first(copies)
    return True


def _rounds(
    results: Results,
    until: float | None,
    done: Callable[[], bool],
) -> None:
    """Has all runs done, or as many as the intervals of the cells need."""
    if until is None:
        done()
        return
    most = results.asked().tolist()
    active = list(range(len(most)))
    for look, runs in enumerate(looks(max(most)), 1):
        for number in active:
            results.ask(number, min(runs, most[number]))
        if not done():
            for number in active:
                results.ask(number, most[number])
            break
        active = [
            number
            for number in active
            if most[number] > runs and not is_narrow(results.cells[number], look, until)
        ]
        if not active:
            break


def planned(scenario: Scenario, cells: Sequence[Scenario]) -> Results:
    """The results of a campaign of which nothing is done."""
    where = f"{scenario.file}: " if scenario.file else ""
    for number, value in enumerate(scenario.printed):
        if not is_metric(value["metric"]):
            raise ScenarioError(
                f"{where}printed.{number}.metric: no metric `{value['metric']}`; "
                "e.g. completion_s, goodput_kbps, ip_throughput_kbps, links.0.share_used"
            )
    table = Runs()
    made: Sequence[Cell] = [
        Cell(
            *(cell.labels, cell.is_transfer, cell.size, Values.of(table, number)),
            shared=cell.shared,
            scenario=cell,
        )
        for number, cell in enumerate(cells if len(cells) <= MOST_LISTED else ())
    ]
    if len(cells) > MOST_LISTED:
        made = Cells(cells, table, scenario.sizes, DRAWN_CELLS)
    title = scenario.name or Path(scenario.file).stem or "scenario"
    axes = scenario.axes
    met = conditions(scenario.varied, axes)
    return Results(title, scenario.config["seed"], axes, made, scenario.printed, met, table)


@dataclass(slots=True)
class Study:
    """A campaign under way: its batches, who does them, and what is known so far.

    Args:
        results: Takes what is measured; its cells are those of the plan.
        cells: The cells.
        plan: What is to be done.
        store: Keeps what is done.
        watch: Told of every batch.
        cluster: Does the runs; None: they are done here.
    """

    results: Results
    cells: Sequence[Scenario]
    plan: Plan
    store: Store | None
    watch: Watcher
    cluster: Cluster | None
    _failure: BaseException | None = None
    _stop: threading.Event = field(default_factory=threading.Event)
    _batches: queue.SimpleQueue[Batch | BaseException | None] = field(
        default_factory=queue.SimpleQueue
    )
    _glimpses: dict[int, RunningMean] = field(default_factory=dict)
    _transfers: dict[int, tuple[bool, bool]] = field(default_factory=dict)
    _begun: float = field(default_factory=monotonic)
    _todo: int = 0
    _done: int = 0
    _ended: int = 0
    _run_s: float = 0.0
    _runs: int = 0

    def done(self, threads: int) -> bool:
        """Does the missing runs; False after Ctrl-C."""
        self._todo = self.plan.missing
        # Ctrl-C may come anywhere: while runs are made ready, run, or are looked at.
        try:
            if self.results.wanted == self._todo == 1 and self.cluster is None:
                self.run_alone()
            else:
                self.run(threads if self.cluster is None else self.cluster.slots)
        except KeyboardInterrupt:
            return False
        finally:
            self.load()
        if self._failure is not None:
            raise self._failure
        return True

    def run_alone(self) -> None:
        """The only run there is, with its own progress."""
        spans = self.plan.next(1)
        if spans is None:  # somebody else does it
            return self.run(1)
        duration = f"of {self.cells[0].config['duration']}"

        def progress(now_s: float, goodput_kbps: float) -> None:
            self.watch(
                0, 1, f"simulated {now_s:.0f} s {duration}, goodput {goodput_kbps:.1f} kbit/s"
            )

        run = simulate(self.cells[0].replication(0), progress=progress)
        self._check_inputs()
        batch = Batch([Worker(self.cells, self._stop).row(0, run)], spans, firsts={0: run})
        try:
            self._write(batch)
        finally:
            self._keep(batch)
        return None

    def run(self, threads: int) -> None:
        """Does the open runs, with this number of batches at a time."""
        self.watch(0, self._todo, "")
        told = False
        while not self._stop.is_set():
            self._pass(threads)
            if self._stop.is_set() or self.store is None or self.plan.is_over:
                return
            if not told:
                self.store.tell_of_others()
                told = True
            # What others have is waited for; if they are gone, it is done here.
            self._stop.wait(_LOOK_S)
            self.plan.again()

    def _pass(self, threads: int) -> None:
        count = max(1, min(threads, self.plan.missing))
        crew = [threading.Thread(target=self._work, daemon=True) for _ in range(count)]
        for one in crew:
            one.start()
        try:
            self._collect(count)
        except BaseException:
            # What is finished in the batches under way is kept, also if further keys are pressed.
            self._stop.set()
            self._collect(count - self._ended, patient=False)
            raise

    def _collect(self, count: int, patient: bool = True) -> None:
        """Takes batches until this number of threads has ended."""
        self._ended = 0
        while self._ended < count:
            try:
                found = self._batches.get(timeout=0.1)
            except queue.Empty:
                continue
            if found is None:
                self._ended += 1
            elif isinstance(found, Batch):
                self._keep(found)
            else:
                self._stop.set()
                if isinstance(found, KeyboardInterrupt) and patient:
                    raise found
                self._failure = self._failure or found

    def _work(self) -> None:
        worker = Worker(self.cells, self._stop)
        try:
            size = 1
            while not self._stop.is_set() and (spans := self.plan.next(size)) is not None:
                batch = self._batch(worker, spans)
                try:
                    self._write(batch)
                finally:
                    self._batches.put(batch)
                self._let_go(spans)
                if batch.failure is not None:
                    raise batch.failure
                size = min(self._size(), _GROWTH * size)
        except BaseException as failure:  # noqa: BLE001 - told where the threads are waited for
            self._batches.put(failure)
        finally:
            self._batches.put(None)

    def _batch(self, worker: Worker, spans: Sequence[Span]) -> Batch:
        if self.cluster is None:
            begun = monotonic()
            batch = worker.run(spans)
            seconds = monotonic() - begun
        else:
            batch, seconds = self.cluster.run(spans, self._stop)
        self._check_inputs()
        self._run_s, self._runs = self._run_s + seconds, self._runs + len(batch.rows)
        return batch

    def _check_inputs(self) -> None:
        if self.store is not None:
            self.store.check_inputs()

    def _let_go(self, spans: Sequence[Span]) -> None:
        if self.store is not None:
            for first, end in spans:
                self.store.let_go(first, end)

    def _size(self) -> int:
        """Runs of a batch."""
        length = min(_MOST_BATCH_S, max(_BATCH_S, (monotonic() - self._begun) / 100))
        mean = self._run_s / max(1, self._runs)
        return max(1, min(_MOST_RUNS, int(length / mean) if mean else _MOST_RUNS))

    def _write(self, batch: Batch) -> None:
        """Puts a batch on the disk."""
        if self.store is None or not batch.rows:
            return
        # After an error, what is finished is still shown, and nothing new is begun.
        batch.file = self.store.keep(batch.rows, batch.columns())

    def _keep(self, batch: Batch) -> None:
        table = self.results.table
        for number, run in batch.firsts.items():
            self.results.cells[number].keep_first(run)
        if batch.rows:
            columns = dict(batch.columns())
            if any(row.window is not None for row in batch.rows):
                columns |= windows([row.window for row in batch.rows])
            cells, runs = (
                np.array([getattr(row, name) for row in batch.rows], np.int64)
                for name in ("cell", "run")
            )
            table.extend(cells, runs, columns)
        if batch.file is not None:
            self.results.loaded.add(batch.file)
        self._done += len(batch.rows)
        if batch.rows:
            self.watch(self._done, self._todo, self._note(batch.rows))

    def _note(self, rows: Sequence[Row]) -> str:
        """What is known so far of the cell of the last run."""
        if len(self._glimpses) > MOST_LISTED:
            self._glimpses.clear()
        for row in rows:
            seen = self._glimpses.setdefault(row.cell, RunningMean())
            seen.take(row.values.get(self._primary(row)))
        last = rows[-1]
        return note(self.results.cells[last.cell], self._primary(last), self._glimpses[last.cell])

    def _primary(self, row: Row) -> str:
        """What the cell of a run is judged by, as far as that run tells."""
        known = self._transfers.get(row.cell)
        if known is None:
            cell = self.results.cells[row.cell]
            known = self._transfers[row.cell] = cell.is_transfer, cell.arrives
        return judged_by(row.values.__contains__, *known)

    def load(self) -> None:
        """Puts what others have put into the store into the results."""
        for file, found in self.store.tables(self.results.loaded) if self.store else ():
            if load(self.results, found):
                self.results.loaded.add(file)


def load(results: Results, found: pa.Table) -> bool:
    """Puts finished runs from a file into the results, but for those that nobody asks for.

    Returns:
        Whether all of them were asked for.
    """
    import pyarrow.compute as pc

    asked = results.asked()
    cells, runs = (found.column(name).to_numpy() for name in ("cell", "run"))
    wanted = runs < asked[cells]
    plain = {*parts.PLAIN, "cell_key"} - {*WINDOW}
    columns = {
        name: pc.fill_null(pc.cast(found.column(name), pa.float64()), float("nan")).to_numpy()
        for name in found.column_names
        if name not in plain
    }
    results.table.extend(
        cells[wanted], runs[wanted], {name: column[wanted] for name, column in columns.items()}
    )
    return bool(wanted.all())


class RunningMean:
    """Mean and spread of a metric as runs come in, without the runs (Welford).

    Example:
        >>> seen = RunningMean()
        >>> for value in (1.0, 2.0, 3.0):
        ...     seen.take(value)
        >>> seen.mean, round(seen.half_width, 3)
        (2.0, 2.484)
    """

    __slots__ = ("_squares", "count", "mean")

    def __init__(self) -> None:
        self.count, self.mean, self._squares = 0, 0.0, 0.0

    def take(self, value: float | None) -> None:
        """One more run; None if it has no such metric."""
        if value is None:
            return
        self.count += 1
        apart = value - self.mean
        self.mean += apart / self.count
        self._squares += apart * (value - self.mean)

    @property
    def half_width(self) -> float | None:
        """Half of Student's 95 % interval; None of one run."""
        if self.count < 2:
            return None
        return quantile(self.count - 1) * sqrt(self._squares / (self.count - 1) / self.count)


def note(cell: Cell, primary: str, seen: RunningMean) -> str:
    """What is known so far of what a cell is judged by."""
    if not seen.count:
        return ""
    found = Estimate(seen.mean, seen.half_width, seen.count)
    labels = " ".join(cell.labels.values())
    return f"{labels}: {with_interval(found)} {metric(primary).unit}"
