"""The tables of a campaign: its runs, its cells, time series, delays and time-sequences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa

from clift._arrays import Ints
from clift.campaign.metrics import in_order
from clift.campaign.repairs import MOST_UNITS, repair
from clift.campaign.results import Comparison, Results
from clift.campaign.segments import MOST_FLOWS, Segments
from clift.report.capacity import capacity
from clift.scenario import Scenario
from clift.simulation import Run

NAMES = ("runs", "summary", "series", "delays", "sequence", "units")
"""What the tables of the folder are called."""


# Rows of a part: what runs measured is eighty columns or more, which must not all be there at a
# time, and a file of estimates has this number of rows in a group.
_RUNS, _ESTIMATES = 1 << 17, 1 << 20
# Cells whose estimates are made at a time.
_CELLS = 1000
_FIGURES = ("mean", "half_width", "low", "high", "median", "p95")


def tables(
    results: Results, scenario: Scenario, names: Sequence[str] = NAMES
) -> dict[str, pa.Table]:
    """The tables of the folder by name; all unless some are named."""
    return {
        name: pa.concat_tables(made()).combine_chunks()
        for name, made in in_parts(results, scenario).items()
        if name in names
    }


def in_parts(results: Results, scenario: Scenario) -> dict[str, Callable[[], Iterator[pa.Table]]]:
    """For each table what makes it, part by part, none of which is large."""
    return {
        "runs": lambda: _runs(results, scenario),
        "summary": lambda: _whole(_summary(results), _ESTIMATES),
        "series": lambda: _of_cells(results, _series),
        "delays": lambda: _of_cells(results, lambda _, cell: _delays(results.segments(cell))),
        "sequence": lambda: _of_cells(results, lambda _, cell: _sequence(results.segments(cell))),
        # Units around a loss and its repair.
        "units": lambda: _of_cells(results, lambda run, _: repair(run), MOST_UNITS),
    }


def _whole(parts: Iterator[pa.Table], rows: int) -> Iterator[pa.Table]:
    """The same rows in parts of so many, but for the last."""
    waiting: list[pa.Table] = []
    count = 0
    for part in parts:
        waiting.append(part)
        count += part.num_rows
        while count > rows:
            whole = pa.concat_tables(waiting)
            yield whole.slice(0, rows).combine_chunks()
            waiting, count = [whole.slice(rows)], count - rows
    if waiting:
        yield pa.concat_tables(waiting).combine_chunks()


def _runs(results: Results, scenario: Scenario) -> Iterator[pa.Table]:
    """One row a run: labels, number, seed, every number measured."""
    table, seed = results.table, scenario.seeds()
    metrics = in_order(table.names)
    for first in range(0, max(1, len(table)), _RUNS):
        end = min(first + _RUNS, len(table))
        cells, runs = table.cells(first, end), table.numbers(first, end)
        columns = _labels(results, cells)
        columns["run"] = pa.array(runs, pa.int64())
        columns["seed"] = pa.array(map(seed, cells.tolist(), runs.tolist()), pa.uint64())
        for name in metrics:
            columns[name] = pa.array(table.array(name, first, end), from_pandas=True)
        yield pa.table(columns)


def _labels(results: Results, cells: Ints) -> dict[str, Any]:
    """The labels of cells, in order and each as often as it comes, by axis."""
    there, places = np.unique(cells, return_inverse=True)
    labels = [results.labels(cell) for cell in there.tolist()]
    return {
        name: pa.array([own.get(name) for own in labels], pa.string()).take(pa.array(places))
        for name, _ in results.axes
    }


def _summary(results: Results) -> Iterator[pa.Table]:
    """One row a cell and metric: the estimate, the printed value and how far it is from that."""
    printed = {(value.cell, value.metric): value for value in results.comparisons()}
    counts = results.counts()
    for first in range(0, len(counts), _CELLS):
        end = min(first + _CELLS, len(counts))
        if printed or counts[first:end].max() > 1:
            yield _estimates(results, range(first, end), printed)
        else:
            yield _of_single_runs(results, counts, first, end)


def _of_single_runs(results: Results, counts: Ints, first: int, end: int) -> pa.Table:
    """The estimates of cells with one run each, which are what that measured, all at once."""
    table = results.table
    begin = int(counts[:first].sum())
    stop = begin + int(counts[first:end].sum())
    names = in_order(table.names)
    found = np.array([table.array(name, begin, stop) for name in names]).T.reshape(-1, len(names))
    rows, metrics = np.nonzero(~np.isnan(found))
    values, none = found[rows, metrics], np.full(len(rows), np.nan)
    columns = _labels(results, table.cells(begin, stop)[rows])
    columns["metric"] = pa.array(names, pa.string()).take(pa.array(metrics))
    for name in (*_FIGURES, "runs", "printed", "difference"):
        column = values if name in ("mean", "median", "p95") else none
        columns[name] = pa.array(column, from_pandas=True)
    columns["runs"] = pa.array(np.ones(len(rows), np.int64))
    return pa.table(columns)


def _estimates(
    results: Results, cells: range, printed: Mapping[tuple[int, str], Comparison]
) -> pa.Table:
    columns: dict[str, list[Any]] = {name: [] for name, _ in results.axes}
    columns |= {name: [] for name in ("metric", *_FIGURES, "runs", "printed", "difference")}
    for index in cells:
        cell = results.cells[index]
        for name, found in cell.estimates().items():
            value = printed.get((index, name))
            for axis, _ in results.axes:
                columns[axis].append(cell.labels.get(axis))
            columns["metric"].append(name)
            for figure in (*_FIGURES, "runs"):
                columns[figure].append(getattr(found, figure))
            columns["printed"].append(None if value is None else value.printed)
            columns["difference"].append(None if value is None else value.difference)
        if len(results.cells) > _CELLS:  # a hundred estimates of each of many cells
            cell.forget()
    numbers = (*_FIGURES, "printed", "difference")
    return pa.table(
        {
            name: pa.array(
                column,
                pa.float64() if name in numbers else pa.int64() if name == "runs" else pa.string(),
            )
            for name, column in columns.items()
        }
    )


def _of_cells(
    results: Results, make: Callable[[Run, int], pa.Table | None], most: int | None = None
) -> Iterator[pa.Table]:
    """One table of what is made of the first run of each cell, with the labels of the cell."""
    found = (
        _labelled(made, index, cell.labels)
        for index, cell in enumerate(results.drawn)
        if cell.first is not None and (made := make(cell.first, index)) is not None
    )
    tables = list(islice(found, most))
    yield pa.concat_tables(tables) if tables else pa.table({"cell": pa.array([], pa.int64())})


def _series(run: Run, _cell: int) -> pa.Table:
    """Time series, of about a thousand samples of each flow, with the capacity of the link."""
    table = run.series(interval_ms=max(10.0, run.summary()["duration_s"]), flows=MOST_FLOWS)
    edges, place = np.unique(table["time_s"].to_numpy(), return_inverse=True)
    rates = capacity(run, edges)
    # A sample describes the time before it; the first one has none.
    column = np.append(np.nan, np.full(edges.size - 1, np.nan) if rates is None else rates)[place]
    return table.append_column("capacity_kbps", pa.array(column, from_pandas=True))


def _delays(found: Segments | None) -> pa.Table | None:
    """Histogram of the segments' one-way delays."""
    if found is None or not found.counts.size:
        return None
    edges = found.edges_ms
    return pa.table({"from_ms": edges[:-1], "to_ms": edges[1:], "segments": found.counts})


def _sequence(found: Segments | None) -> pa.Table | None:
    """Segments around the loss that mattered most."""
    if found is None or found.excerpt is None:
        return None
    log = found.excerpt
    around = pa.array([log.matters] * len(log.seq), pa.bool_())
    columns = {"time_s": log.time_s, "kind": log.kind, "seq": log.seq}
    return pa.table(columns | {"around_a_loss": around})


def _labelled(table: pa.Table, cell: int, labels: dict[str, str]) -> pa.Table:
    rows = table.num_rows
    for name, label in reversed(labels.items()):
        table = table.add_column(0, name, pa.array([label] * rows))
    return table.add_column(0, "cell", pa.array([cell] * rows, pa.int64()))
