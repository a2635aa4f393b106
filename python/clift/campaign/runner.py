"""Running the cells of a scenario file."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import islice
from typing import Any

from clift.campaign.axes import conditions
from clift.campaign.metrics import is_metric, measured
from clift.campaign.results import Cell, Results
from clift.errors import Interrupted, ScenarioError
from clift.scenario import Scenario, _FromFile
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
        scenario: A scenario file.
        watch: Called with the runs done, the runs to do and the latest estimate as text.
        threads: How many runs at a time; all cores unless given.

    Returns:
        The results; incomplete after Ctrl-C.

    Raises:
        ScenarioError: If a printed metric does not exist or a trace cannot be read.
        SimulationError: If a run cannot go on.
    """
    source = scenario._source
    if not isinstance(source, _FromFile):
        raise ScenarioError("a campaign needs a scenario file; use run_many for scenarios")
    results = _planned(source)
    order = (
        (number, index)
        for number in range(max(cell.wanted for cell in results.cells))
        for index, cell in enumerate(results.cells)
        if number < cell.wanted
    )
    stats: dict[str, dict[str, Any]] = {}
    watch = watch or (lambda _done, _wanted, _note: None)
    at_a_time = _RUNS * (threads or len(os.sched_getaffinity(0)))
    if results.wanted == 1:
        _run_one(source, results, watch, stats)
        return results
    # Ctrl-C may come anywhere: while runs are made ready, run, or are looked at.
    try:
        watch(0, results.wanted, "")
        while chosen := list(islice(order, at_a_time)):
            interrupted = _run_some(source, results, chosen, threads, stats)
            watch(results.done, results.wanted, _note(results.cells[chosen[-1][1]]))
            if interrupted:
                break
    except KeyboardInterrupt:
        pass
    return results


def _planned(source: _FromFile) -> Results:
    import json

    config = source.config()
    printed = json.loads(source.file.printed())
    for number, value in enumerate(printed):
        if not is_metric(value["metric"]):
            raise ScenarioError(
                f"{source.path}: printed.{number}.metric: no metric `{value['metric']}`; "
                "e.g. completion_s, goodput_kbps, ip_throughput_kbps, links.0.share_used"
            )
    only = range(len(source.file)) if source.cell is None else [source.cell]
    cells = [
        Cell(dict(source.file.labels(cell)), source.file.is_transfer(cell), source.file.runs(cell))
        for cell in only
    ]
    title = config["name"] or source.path.stem
    axes = source.file.axes()
    met = conditions(source.text, axes)
    return Results(title, config["seed"], axes, cells, printed, met)


def _run_one(
    source: _FromFile, results: Results, watch: Watcher, stats: dict[str, dict[str, Any]]
) -> None:
    duration = f"of {source.config()['duration']}"

    def progress(now_s: float, goodput_kbps: float) -> None:
        watch(0, 1, f"simulated {now_s:.0f} s {duration}, goodput {goodput_kbps:.1f} kbit/s")

    try:
        run = simulate(Scenario._of(source), progress=progress)
    except KeyboardInterrupt:
        return
    _keep(results.cells[0], 0, run, _link_stats(source, 0, 0, stats))


def _run_some(
    source: _FromFile,
    results: Results,
    chosen: list[tuple[int, int]],
    threads: int | None,
    stats: dict[str, dict[str, Any]],
) -> bool:
    """Runs `chosen`, keeps what is done, and says whether it was interrupted."""
    scenarios = [Scenario._of(source.chosen(cell, run)) for run, cell in chosen]
    interrupted = False
    try:
        runs: list[Run | None] = list(run_many(scenarios, progress=False, threads=threads))
    except Interrupted as stopped:
        runs, interrupted = stopped.runs, True
    for (number, index), run in zip(chosen, runs, strict=True):
        if run is not None:
            link_stats = _link_stats(source, index, number, stats)
            _keep(results.cells[index], number, run, link_stats)
    return interrupted


def _link_stats(
    source: _FromFile, cell: int, number: int, stats: dict[str, dict[str, Any]]
) -> dict[str, Any] | None:
    """Statistics of the first link's trace, made once for each trace; None if it has none."""
    specs = source.file.links(cell, number)
    if not specs:
        return None
    if specs[0] not in stats:
        made = source.file.link_trace(cell, number, source.store)
        if made is None:
            return None
        stats[specs[0]] = made.stats()
    return stats[specs[0]]


def _keep(cell: Cell, number: int, run: Run, link_stats: dict[str, Any] | None) -> None:
    cell.values[number] = measured(run.summary(), link_stats)
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
