"""Running the cells of a campaign."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

from clift.campaign.axes import conditions
from clift.campaign.metrics import is_metric, measured
from clift.campaign.results import Cell, Results, Window
from clift.errors import Interrupted, ScenarioError
from clift.scenario import Scenario
from clift.simulation import Run, run_many, simulate

Watcher = Callable[[int, int, str], object]

# Runs between two looks at the estimates, for each thread.
_RUNS = 16


def run_campaign(
    scenario: Scenario, watch: Watcher | None = None, threads: int | None = None
) -> Results:
    """Runs every replication of every cell.

    Replications of one number come together, cell after cell, so that what they share is made
    once and an interrupted campaign has something of every cell.

    Args:
        scenario: A scenario, of a file or made in Python.
        watch: Called with the runs done, the runs to do and the latest estimate as text.
        threads: How many runs at a time; all cores unless given.

    Returns:
        The results; incomplete after Ctrl-C.

    Raises:
        ScenarioError: If a printed metric does not exist or a trace cannot be read.
        SimulationError: If a run cannot go on.
    """
    cells = scenario.cells()
    results = _planned(scenario, cells)
    order = (
        (number, index)
        for number in range(max(cell.wanted for cell in results.cells))
        for index, cell in enumerate(results.cells)
        if number < cell.wanted
    )
    watch = watch or (lambda _done, _wanted, _note: None)
    at_a_time = _RUNS * (threads or len(os.sched_getaffinity(0)))
    if results.wanted == 1:
        _run_one(cells[0], results, watch)
        return results
    # Ctrl-C may come anywhere: while runs are made ready, run, or are looked at.
    try:
        watch(0, results.wanted, "")
        while chosen := list(islice(order, at_a_time)):
            interrupted = _run_some(cells, results, chosen, threads)
            watch(results.done, results.wanted, _note(results.cells[chosen[-1][1]]))
            if interrupted:
                break
    except KeyboardInterrupt:
        pass
    return results


def _planned(scenario: Scenario, cells: list[Scenario]) -> Results:
    where = f"{scenario.file}: " if scenario.file else ""
    for number, value in enumerate(scenario.printed):
        if not is_metric(value["metric"]):
            raise ScenarioError(
                f"{where}printed.{number}.metric: no metric `{value['metric']}`; "
                "e.g. completion_s, goodput_kbps, ip_throughput_kbps, links.0.share_used"
            )
    made = [Cell(cell.labels, cell.is_transfer, cell.size, shared=cell.shared) for cell in cells]
    title = scenario.name or Path(scenario.file).stem or "scenario"
    axes = scenario.axes
    met = conditions(scenario.varied, axes)
    return Results(title, scenario.config["seed"], axes, made, scenario.printed, met)


def _run_one(cell: Scenario, results: Results, watch: Watcher) -> None:
    duration = f"of {cell.config['duration']}"

    def progress(now_s: float, goodput_kbps: float) -> None:
        watch(0, 1, f"simulated {now_s:.0f} s {duration}, goodput {goodput_kbps:.1f} kbit/s")

    try:
        run = simulate(cell, progress=progress)
    except KeyboardInterrupt:
        return
    _keep(results.cells[0], 0, run, _link_stats(run.scenario, {}))


def _run_some(
    cells: list[Scenario],
    results: Results,
    chosen: list[tuple[int, int]],
    threads: int | None,
) -> bool:
    """Runs `chosen`, keeps what is done, and says whether it was interrupted."""
    scenarios = [cells[index].replication(number) for number, index in chosen]
    interrupted = False
    try:
        runs: list[Run | None] = list(run_many(scenarios, progress=False, threads=threads))
    except Interrupted as stopped:
        runs, interrupted = stopped.runs, True
    known: _Known = {}
    for (number, index), run in zip(chosen, runs, strict=True):
        if run is not None:
            _keep(results.cells[index], number, run, _link_stats(run.scenario, known))
    return interrupted


# Statistics by where the numbers of a link trace are, which stay there as long as they are here.
_Known = dict[int, tuple[Any, dict[str, Any]]]


def _link_stats(scenario: Scenario, known: _Known) -> dict[str, Any] | None:
    """Statistics of the first link's trace, counted once for each trace; None if it has none."""
    trace = scenario.setup().link_trace()
    if trace is None:
        return None
    times = trace.t_ns
    place = int(times.__array_interface__["data"][0])
    if place not in known:
        known[place] = times, trace.stats()
    return known[place][1]


def _keep(cell: Cell, number: int, run: Run, link_stats: dict[str, Any] | None) -> None:
    cell.values[number] = measured(run.summary(), link_stats)
    window = run.scenario.window() if cell.shared else None
    if window is not None:
        start_ns, length_ns, wraps = window
        cell.windows[number] = Window(start_ns / 1e9, length_ns / 1e9, wraps)
    if cell.first is None:
        cell.first = run


def _note(cell: Cell) -> str:
    from clift.campaign.metrics import metric
    from clift.report.text import with_interval

    found = cell.estimate(cell.primary)
    if found is None:
        return ""
    labels = " ".join(cell.labels.values())
    return f"{labels}: {with_interval(found)} {metric(cell.primary).unit}"
