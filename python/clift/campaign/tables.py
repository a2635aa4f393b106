"""The tables of a campaign: its runs, its cells, time series, delays and time-sequences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from clift.campaign.metrics import in_order
from clift.campaign.repairs import MOST_UNITS, repair
from clift.campaign.results import Results
from clift.scenario import Scenario

NAMES = ("runs", "summary", "series", "delays", "sequence", "units")
"""What the tables of the folder are called."""


def tables(
    results: Results, scenario: Scenario, names: Sequence[str] = NAMES
) -> dict[str, pa.Table]:
    """The tables of the folder by name; all unless some are named."""
    made = {
        "runs": lambda: _runs(results, scenario.cells()),
        "summary": lambda: _summary(results),
        "series": lambda: _series(results),
        "delays": lambda: _delays(results),
        "sequence": lambda: _sequence(results),
        "units": lambda: _units(results),
    }
    return {name: made[name]() for name in names}


def metric_names(results: Results) -> list[str]:
    """What any run measured."""
    names: dict[str, None] = {}
    for cell in results.cells:
        names.update(dict.fromkeys(cell.values.metrics()))
    return in_order(names)


def _runs(results: Results, scenarios: Sequence[Scenario]) -> pa.Table:
    """One row a run: labels, number, seed, every number measured."""
    metrics = metric_names(results)
    columns: dict[str, Any] = {
        name: _repeated([(cell.labels.get(name), len(cell.values)) for cell in results.cells])
        for name, _ in results.axes
    }
    runs = [(index, run) for index, cell in enumerate(results.cells) for run in cell.values]
    columns["run"] = pa.array([run for _, run in runs], pa.int64())
    columns["seed"] = pa.array(
        [scenarios[index].replication(run).seed for index, run in runs], pa.uint64()
    )
    for name in metrics:
        arrays = [cell.values.array(name) for cell in results.cells if cell.values]
        columns[name] = pa.array(np.concatenate(arrays), pa.float64(), from_pandas=True)
    return pa.table(columns)


def _repeated(labels: Sequence[tuple[str | None, int]]) -> pa.Array:
    """Each label as often as is said."""
    return pa.array([label for label, times in labels for _ in range(times)], pa.string())


def _summary(results: Results) -> pa.Table:
    """One row a cell and metric: the estimate, the printed value and how far it is from that."""
    printed = {(value.cell, value.metric): value for value in results.comparisons()}
    figures = ("mean", "half_width", "low", "high", "median", "p95")
    columns: dict[str, list[Any]] = {name: [] for name, _ in results.axes}
    columns |= {name: [] for name in ("metric", *figures, "runs", "printed", "difference")}
    for index, cell in enumerate(results.cells):
        for name, found in cell.estimates().items():
            value = printed.get((index, name))
            for axis, _ in results.axes:
                columns[axis].append(cell.labels.get(axis))
            columns["metric"].append(name)
            for figure in (*figures, "runs"):
                columns[figure].append(getattr(found, figure))
            columns["printed"].append(None if value is None else value.printed)
            columns["difference"].append(None if value is None else value.difference)
    numbers = (*figures, "printed", "difference")
    return pa.table(
        {
            name: pa.array(column, pa.float64()) if name in numbers else pa.array(column)
            for name, column in columns.items()
        }
    )


def _series(results: Results) -> pa.Table:
    """Time series of the first run of each cell."""
    tables = []
    for index, cell in enumerate(results.drawn):
        if cell.first is None:
            continue
        seconds = cell.first.summary()["duration_s"]
        table = cell.first.series(interval_ms=max(10.0, seconds))  # about a thousand samples
        tables.append(_labelled(table, index, cell.labels))
    return pa.concat_tables(tables) if tables else pa.table({"cell": pa.array([], pa.int64())})


def _delays(results: Results) -> pa.Table:
    """Histograms of the segments' one-way delays in the first run of each cell."""
    tables = []
    for index, cell in enumerate(results.drawn):
        found = results.segments(index)
        if found is None or not found.counts.size:
            continue
        edges = found.edges_ms
        table = pa.table({"from_ms": edges[:-1], "to_ms": edges[1:], "segments": found.counts})
        tables.append(_labelled(table, index, cell.labels))
    return pa.concat_tables(tables) if tables else pa.table({"cell": pa.array([], pa.int64())})


def _sequence(results: Results) -> pa.Table:
    """Segments around the loss that mattered most in the first run of each cell."""
    tables = []
    for index, cell in enumerate(results.drawn):
        found = results.segments(index)
        if found is None or found.excerpt is None:
            continue
        log = found.excerpt
        columns = {"time_s": log.time_s, "kind": log.kind, "seq": log.seq}
        around = pa.array([log.matters] * len(log.seq), pa.bool_())
        tables.append(_labelled(pa.table(columns | {"around_a_loss": around}), index, cell.labels))
    return pa.concat_tables(tables) if tables else pa.table({"cell": pa.array([], pa.int64())})


def _units(results: Results) -> pa.Table:
    """Units of live links around a loss and its repair, in the first runs of the first cells."""
    tables: list[pa.Table] = []
    for index, cell in enumerate(results.drawn):
        if len(tables) == MOST_UNITS:
            break
        found = None if cell.first is None else repair(cell.first)
        if found is not None:
            tables.append(_labelled(found, index, cell.labels))
    return pa.concat_tables(tables) if tables else pa.table({"cell": pa.array([], pa.int64())})


def _labelled(table: pa.Table, cell: int, labels: dict[str, str]) -> pa.Table:
    rows = table.num_rows
    for name, label in reversed(labels.items()):
        table = table.add_column(0, name, pa.array([label] * rows))
    return table.add_column(0, "cell", pa.array([cell] * rows, pa.int64()))
