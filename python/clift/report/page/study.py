"""Input of a page and its figures: a study's record and tables, checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from clift._arrays import Floats, Ints
from clift.campaign.campaign import Campaign
from clift.campaign.record import TOLD_CELLS, as_dict, axes_of, setting
from clift.campaign.results import Results, label_name
from clift.campaign.saved import record_of, table_of
from clift.campaign.tables import NAMES
from clift.errors import ScenarioError

FIGURES = ("mean", "low", "high", "median", "p95")
"""Columns of an estimate, without the number of its runs."""


# Columns that a page needs, in addition to those of the axes.
_COLUMNS = {
    "runs": ("run", "seed"),
    "summary": ("metric", *FIGURES, "runs"),
    "series": ("cell", "flow", "time_s", "goodput_kbps", "cwnd_packets", "queue_packets"),
    "delays": ("cell", "from_ms", "to_ms", "segments"),
    "sequence": ("cell", "time_s", "kind", "seq", "around_a_loss"),
    "units": ("cell", "time_s", "arrival_s", "kind", "attempt", "number", "of_the_loss", "unit"),
}
# Columns of a series that not every folder has.
_SOMETIMES = ("capacity_kbps", "segments_sent")


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of the study.

    Args:
        name: Name of the axis.
        labels: Its points, as in the file.
        is_condition: Whether the axis is a condition rather than a choice.
    """

    name: str
    labels: tuple[str, ...]
    is_condition: bool

    @property
    def names(self) -> list[str]:
        """Names of its points for places without the axis's name."""
        return [label_name(self.name, label) for label in self.labels]


@dataclass(frozen=True, slots=True)
class Study:
    """A study in a results folder.

    Args:
        record: Content of `record.json`.
        axes: The axes, in the order of the file.
        compared: Axis of the alternatives; None without alternatives.
        places: Per axis, the label of each cell.
        runs_of: Finished runs of each cell.
        tables: Existing tables of the folder, by name.
    """

    record: Mapping[str, Any]
    axes: list[Axis]
    compared: str | None
    places: list[Ints]
    runs_of: Ints
    tables: dict[str, pa.Table]

    @property
    def size(self) -> int:
        """Number of cells."""
        return len(self.runs_of)

    @property
    def varying(self) -> list[int]:
        """The numbers of the axes with more than one point."""
        return [number for number, axis in enumerate(self.axes) if len(axis.labels) > 1]

    @property
    def conditions(self) -> list[str]:
        """Names of the varying axes under whose labels the alternatives are judged apart."""
        varying = [self.axes[number] for number in self.varying]
        given = [axis.name for axis in varying if axis.is_condition]
        judged = self.record.get("verdicts")
        if not judged or len(judged[0]["condition"]) == len(given):
            return given
        return [axis.name for axis in varying if axis.name != self.compared]

    def name(self, cell: int) -> str:
        """Name of a cell: its points on the varying axes."""
        parts = (self.axes[number].names[self.places[number][cell]] for number in self.varying)
        return ", ".join(parts) or "the only cell"

    def estimates(self) -> Iterator[tuple[str, dict[str, Floats]]]:
        """Every metric with its estimates and `runs`, per cell; NaN without a value.

        Raises:
            ScenarioError: If the table names a cell that the record does not have.
        """
        table = self.tables["summary"]
        cell = self._cells_of(table)
        metric = table.column("metric").combine_chunks().dictionary_encode()
        which = metric.indices.to_numpy(zero_copy_only=False)
        columns = {
            name: table.column(name).to_numpy().astype(np.float64) for name in (*FIGURES, "runs")
        }
        # Group the rows of a metric, so that one pass over the study is enough.
        order = np.argsort(which, kind="stable")
        ends = np.searchsorted(which[order], np.arange(len(metric.dictionary) + 1))
        for number, name in enumerate(metric.dictionary.to_pylist()):
            rows = order[ends[number] : ends[number + 1]]
            found = {}
            for figure, column in columns.items():
                found[figure] = np.full(self.size, np.nan)
                found[figure][cell[rows]] = column[rows]
            yield name, found

    def runs(self, most: int) -> tuple[Ints, Ints, NDArray[np.uint64]]:
        """Cell, number and seed of the first runs."""
        table = self.tables["runs"].slice(0, most)
        run = table.column("run").to_numpy().astype(np.int64)
        return self._cells_of(table), run, table.column("seed").to_numpy().astype(np.uint64)

    def of_cells(self, name: str) -> Iterator[tuple[int, dict[str, NDArray[Any]]]]:
        """Each cell of a table of first runs, with the columns that are drawn; none without it."""
        table = self.tables.get(name)
        if table is None or not table.num_rows:
            return
        cell = table.column("cell").to_numpy()
        columns = {
            one: table.column(one).to_numpy(zero_copy_only=False)
            for one in (*_COLUMNS[name], *_SOMETIMES)
            if one in table.column_names
        }
        starts = np.flatnonzero(np.diff(cell, prepend=-1))
        for begin, end in zip(starts, [*starts[1:], len(cell)], strict=True):
            yield int(cell[begin]), {one: values[begin:end] for one, values in columns.items()}

    def printed(self) -> list[tuple[int, str, float, str]]:
        """Cell, metric, printed value and its source."""
        keys = {self._key(labels): cell for cell, labels in enumerate(self._labels())}
        return [
            (
                keys[self._key(one["labels"])],
                str(one["metric"]),
                float(one["printed"]),
                str(one["source"] or ""),
            )
            for one in self.record["printed"]
        ]

    def _labels(self) -> Iterator[dict[str, str]]:
        for cell in range(self.size):
            yield {
                axis.name: axis.labels[places[cell]]
                for axis, places in zip(self.axes, self.places, strict=True)
            }

    def _key(self, labels: Mapping[str, str]) -> tuple[str, ...]:
        return tuple(labels[axis.name] for axis in self.axes)

    def _cells_of(self, table: pa.Table) -> Ints:
        """Cell number of each row, by its labels."""
        rows, cells = np.zeros(table.num_rows, np.int64), np.zeros(self.size, np.int64)
        for axis, places in zip(self.axes, self.places, strict=True):
            encoded = table.column(axis.name).combine_chunks().dictionary_encode()
            numbers = {label: number for number, label in enumerate(axis.labels)}
            known = np.array(
                [numbers.get(label, -1) for label in encoded.dictionary.to_pylist()], np.int64
            )
            found = known[encoded.indices.to_numpy(zero_copy_only=False)] if len(known) else rows
            if np.any(found < 0):
                raise ScenarioError(f"a table has a point of {axis.name} that the record lacks")
            # Two axes at a time, renumbered: the product of all sizes could overflow an integer.
            joined = np.concatenate([rows, cells]) * len(axis.labels)
            joined += np.concatenate([found, places])
            renumbered = np.unique(joined, return_inverse=True)[1]
            rows, cells = renumbered[: len(rows)], renumbered[len(rows) :]
        order = np.argsort(cells, kind="stable")
        at = np.minimum(np.searchsorted(cells[order], rows), max(0, self.size - 1))
        if len(rows) and np.any(cells[order][at] != rows):
            raise ScenarioError("a table has a cell that the record lacks")
        return order[at] if len(rows) else rows


def read(folder: Path) -> Study:
    """Read the study in a folder that `clift run -o` wrote.

    Raises:
        ScenarioError: If the folder holds no study, or it is not readable.
    """
    record = record_of(folder)
    # All metrics of every run would take a gigabyte in a large study, and are not shown.
    last = {"runs": "seed"}
    tables = {
        name: table_of(folder, name, record, last.get(name, ""))
        for name in NAMES
        # An interrupted run or an earlier version did not write the others.
        if name in ("runs", "summary") or (folder / f"{name}.parquet").exists()
    }
    try:
        study = made(record, tables)
        _look_through(study)
    except (LookupError, TypeError, ValueError, AttributeError, pa.ArrowException) as error:
        what = " ".join(str(error).split())
        raise ScenarioError(f"{folder}: not a results folder of `clift run -o`: {what}") from None
    except ScenarioError as error:
        raise ScenarioError(f"{folder}: {error}") from None
    return study


def of(campaign: Campaign) -> Study:
    """The study of a finished campaign in memory."""
    record = as_dict(campaign.results, campaign.scenario, TOLD_CELLS)
    record |= setting(campaign.results, campaign.scenario) | {"text": campaign.scenario.text}
    return made(record, {name: campaign.table(name) for name in NAMES})


def of_results(results: Results, tables: dict[str, pa.Table] | None = None) -> Study:
    """The axes and cells of results, with tables of first runs."""
    cells = [{"labels": cell.labels, "runs": len(cell.values)} for cell in results.cells]
    return made({"cells": cells, **axes_of(results)}, tables or {})


def made(record: Mapping[str, Any], tables: dict[str, pa.Table]) -> Study:
    """A study from a record and tables.

    Raises:
        LookupError: If something is missing (`TypeError` and others for wrong types).
    """
    cells = record["cells"]
    if not cells:
        raise ValueError("it has no cells")
    axes = [
        Axis(str(one["name"]), tuple(map(str, one["labels"])), bool(one["condition"]))
        for one in record.get("axes", _axes(cells))
    ]
    numbers = [{label: number for number, label in enumerate(axis.labels)} for axis in axes]
    places = [
        np.array([known[cell["labels"][axis.name]] for cell in cells], np.int64)
        for axis, known in zip(axes, numbers, strict=True)
    ]
    varying = [axis.name for axis in axes if len(axis.labels) > 1]
    compared = record.get("compared", "scheme" if "scheme" in varying else None)
    if compared not in varying:
        compared = None
    runs_of = np.array([int(cell["runs"]) for cell in cells], np.int64)
    return Study(record, axes, compared, places, runs_of, tables)


def _axes(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The axes from the labels of the cells, for a record without axes."""
    labels: dict[str, dict[str, None]] = {}
    for cell in cells:
        for name, label in cell["labels"].items():
            labels.setdefault(name, {})[label] = None
    return [
        {"name": name, "labels": list(found), "condition": False} for name, found in labels.items()
    ]


def _look_through(study: Study) -> None:
    """Raise if data that the page needs is missing."""
    record = study.record
    for key in ("clift", "title", "scenario", "seed", "conclusion", "text"):
        if key not in record:
            raise ValueError(f"record.json has no {key}")
    int(record["runs_done"]), int(record["runs_wanted"])
    told = {"caveats": [], "files_read": {}, **record}
    kinds = {"changes": dict, "taken": dict, "caveats": list, "files_read": dict}
    for key, kind in kinds.items():
        if not isinstance(told[key], kind):
            what = "object" if kind is dict else "list"
            raise TypeError(f"{key} in record.json is not a {what}")
    for name, table in study.tables.items():
        lacking = [one for one in _COLUMNS[name] if one not in table.column_names]
        if lacking and table.num_rows:
            raise ValueError(f"{name}.parquet has no column {lacking[0]}")
        if "cell" in table.column_names and name not in ("runs", "summary"):
            cells = table.column("cell").to_numpy()
            if cells.size and not 0 <= cells.min() <= cells.max() < study.size:
                raise ValueError(f"{name}.parquet has a cell that the record lacks")
    study.printed()
    study.runs(1)
    if study.tables["summary"].num_rows:
        next(study.estimates())
