"""The results that a folder holds: looked at, cut down, put side by side."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from clift.campaign import parquet, store
from clift.campaign.folder import RECORD, RECORDS, damaged, open_listed, read_record, sums
from clift.campaign.metrics import judged_in
from clift.campaign.results import fewest
from clift.campaign.statistics import Difference, Estimate, difference, estimate
from clift.errors import ScenarioError

Labels = tuple[str, ...]
"""The labels of a cell, in the order of the axes."""


@dataclass(frozen=True, slots=True)
class Saved:
    """Tables of a results folder. `read` makes it.

    Args:
        folder: Where they are from.
        record: The record.
        axes: Names of the axes.
        runs: A row a run.
        summary: A row a cell and metric.
    """

    folder: Path
    record: dict[str, Any]
    axes: list[str]
    runs: pa.Table
    summary: pa.Table

    @property
    def cells(self) -> list[Labels]:
        """The labels of the cells, in order."""
        columns = [self.runs.column(axis).to_pylist() for axis in self.axes]
        rows = zip(*columns, strict=True) if columns else [()] * self.runs.num_rows
        return list(dict.fromkeys(rows))

    @property
    def metrics(self) -> list[str]:
        """What was measured."""
        return [name for name in self.runs.column_names if name not in (*self.axes, "run", "seed")]

    @property
    def primary(self) -> str:
        """What the cells are judged by: the first of these metrics that every run has."""

        def measured(name: str) -> bool:
            return name in self.metrics and not self.runs.column(name).null_count

        return judged_in(self.record, measured)

    def check(self, metric: str) -> str:
        """The metric.

        Raises:
            ScenarioError: If no run has it.
        """
        if metric not in self.metrics:
            near = [name for name in self.metrics if metric in name][:5] or self.metrics[:5]
            raise ScenarioError(f"--metric {metric}: not in {self.folder}; e.g. {', '.join(near)}")
        return metric

    def where(self, wanted: Mapping[str, Sequence[str]]) -> Saved:
        """The same with some cells only.

        Args:
            wanted: The labels that are kept, by axis.

        Raises:
            ScenarioError: If the axis or label does not exist.
        """
        runs, summary = self.runs, self.summary
        for axis, labels in wanted.items():
            there = self._labels(axis)
            for label in labels:
                if label not in there:
                    raise ScenarioError(
                        f"--where {axis}={label}: {self.folder} has {', '.join(there)}"
                    )
            runs, summary = (_where(table, axis, labels) for table in (runs, summary))
        return Saved(self.folder, self.record, self.axes, runs, summary)

    def _labels(self, axis: str) -> list[str]:
        if axis not in self.axes:
            axes = ", ".join(self.axes) or "no axes"
            raise ScenarioError(f"{axis}: not an axis of {self.folder}, which has {axes}")
        return list(dict.fromkeys(self.runs.column(axis).to_pylist()))

    def estimates(self, metric: str) -> dict[Labels, Estimate]:
        """Mean, interval and number of runs of a metric, cell by cell."""
        names = ("mean", "half_width", "runs", "low", "high", "median", "p95")
        return {
            tuple(row[axis] for axis in self.axes): Estimate(*(row[name] for name in names))
            for row in _where(self.summary, "metric", [metric]).to_pylist()
        }

    def values(self, metric: str) -> dict[Labels, dict[int, float]]:
        """A metric of every run that has it, by cell and number."""
        found: dict[Labels, dict[int, float]] = {}
        for row in self.runs.select([*self.axes, "run", metric]).to_pylist():
            own = found.setdefault(tuple(row[axis] for axis in self.axes), {})
            if row[metric] is not None:
                own[row["run"]] = row[metric]
        return found

    def estimates_beside(self, other: Saved, metric: str) -> dict[Labels, Estimate]:
        """The estimates over the runs that both folders have, as their difference is."""
        found, theirs = self.estimates(metric), other.values(metric)
        for cell, own in self.values(metric).items():
            both = [value for run, value in own.items() if run in theirs.get(cell, {})]
            if cell in found and 0 < len(both) < len(own) and (part := estimate(both)) is not None:
                found[cell] = part
        return found

    def pivot(
        self, metric: str, rows: str, columns: str
    ) -> tuple[list[str], list[str], dict[tuple[str, str], Estimate]]:
        """A metric by the labels of two axes.

        Returns:
            Labels of rows and columns, and the estimates by both.

        Raises:
            ScenarioError: If the axis does not exist, or several cells fall together.
        """
        down, across = self._labels(rows), self._labels(columns)
        for axis in self.axes:
            if axis not in (rows, columns) and len(labels := self._labels(axis)) > 1:
                raise ScenarioError(
                    f"{axis} varies too: choose one of {', '.join(labels)}, e.g. "
                    f"--where {shlex.quote(f'{axis}={labels[0]}')}"
                )
        places = self.axes.index(rows), self.axes.index(columns)
        found = {
            (cell[places[0]], cell[places[1]]): one for cell, one in self.estimates(metric).items()
        }
        return down, across, found


def read(folder: Path) -> Saved:
    """The results in a folder.

    Raises:
        ScenarioError: If there are none, or they are damaged.

    Example:
        >>> import pathlib, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> read(pathlib.Path(folder.name))  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        clift.errors.ScenarioError: ...: no record.json found; clift run ...
        >>> folder.cleanup()
    """
    record = record_of(folder)
    runs, summary = (table_of(folder, name, record) for name in ("runs", "summary"))
    if "run" not in runs.column_names:
        raise ScenarioError(f"{folder}: not a results folder: runs.parquet has no column run")
    axes = runs.column_names[: runs.column_names.index("run")]
    return Saved(folder, record, axes, runs, summary)


def record_of(folder: Path) -> dict[str, Any]:
    """The record in a folder.

    Raises:
        ScenarioError: If there is none, or it cannot be read.
    """
    path = folder / RECORD
    try:
        return read_record(folder)
    except FileNotFoundError:
        cure = f"clift run STUDY.toml -o {folder} makes one, and completes what was interrupted"
        raise ScenarioError(f"{folder}: no {RECORD} found; {cure}") from None
    except NotADirectoryError:
        cure = "give the folder that `clift run -o FOLDER` wrote"
        raise ScenarioError(f"{folder}: a file, not a results folder; {cure}") from None
    except OSError as error:
        raise ScenarioError(f"{path}: {error.strerror or error}") from None
    except ValueError as error:
        cure = "run the scenario again into the folder"
        raise ScenarioError(f"{path}: not valid ({error}); {cure}") from None


def table_of(folder: Path, name: str, record: dict[str, Any], last: str = "") -> pa.Table:
    """A table in a folder.

    Args:
        folder: The folder.
        name: Name of the table.
        record: The record of the folder.
        last: Last column to read; default: all.

    Raises:
        ScenarioError: If it is missing or cannot be read.
    """
    path = folder / f"{name}.parquet"
    try:
        with open_listed(folder, path.name, record) as content:
            return parquet.table(content, last)
    except FileNotFoundError:
        raise ScenarioError(f"{path}: missing; run the scenario again") from None
    except (OSError, ValueError, pa.ArrowException) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        cure = "repeat the command that wrote the folder: it repeats what is damaged"
        raise ScenarioError(f"{path}: not readable: {reason}; {cure}") from None


def verify(folder: Path) -> tuple[int, dict[Path, str]]:
    """Checks every file of a results folder against its hash.

    Args:
        folder: The folder, of a study, a search or an advice.

    Returns:
        How many files were checked, and those that are damaged or missing, each with what is wrong.

    Raises:
        ScenarioError: If there are no results.
    """
    checked, found = store.verify(folder)
    found |= damaged(folder)
    for name in RECORDS:
        if not (folder / name).exists():
            continue
        record = {} if folder / name in found else read_record(folder, name)
        checked += len(sums(record)) or 1
        # A search may have taken less runs than are there, or more for another goal.
        if name == RECORD and not found and (folder / store.FOLDER).exists():
            found = store.missing(folder, record.get("runs_done", 0))
    if not checked:
        raise ScenarioError(f"{folder}: no results here")
    return checked, found


def _where(table: pa.Table, column: str, values: Sequence[str]) -> pa.Table:
    """The rows whose column has one of the values."""
    # It takes a fifth of a command's start to import, and most commands do without it.
    import pyarrow.compute as pc

    return table.filter(pc.is_in(table.column(column), pa.array(values, pa.string())))


def compare(ours: Saved, other: Saved, metric: str) -> dict[Labels, Difference | None]:
    """How the cells of two folders differ in a metric, by runs of the same number.

    Args:
        ours: One folder.
        other: The other, whose mean is the base.
        metric: What to compare.

    Returns:
        For each cell that both have the difference of ours from the other's; None where too few
        runs tell.

    Raises:
        ScenarioError: If they have other axes, or no cell in common.
    """
    if ours.axes != other.axes:
        raise ScenarioError(
            f"{other.folder}: has other axes than {ours.folder}: {', '.join(other.axes) or 'none'} "
            f"instead of {', '.join(ours.axes) or 'none'}"
        )
    first, second = ours.values(metric), other.values(metric)
    cells = [cell for cell in first if cell in second]
    if not cells:
        raise ScenarioError(f"{other.folder}: has no cell of {ours.folder}")
    pairs = fewest(metric)
    return {cell: difference(first[cell], second[cell], fewest=pairs) for cell in cells}
