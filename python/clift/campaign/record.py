"""The results folder: tables, plots, and a record of their source."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from clift._clift import __version__
from clift.campaign import parquet
from clift.campaign.caveats import caveats
from clift.campaign.conclusion import compared_axis, conclude, verdicts
from clift.campaign.files import make_folder, open_file, results_in, said, write_file
from clift.campaign.folder import RECORD, is_foreign, note, own, read_record, remove, with_sums
from clift.campaign.identity import file_hashes
from clift.campaign.results import Results
from clift.campaign.store import FOLDER
from clift.campaign.tables import in_parts
from clift.errors import ScenarioError
from clift.scenario import Scenario

TOLD_CELLS = 500
"""With more cells the record omits their values (the summary has them) and some of their keys."""


def prepare(folder: Path) -> None:
    """Makes the folder and tries to write into it, before anything is run.

    Raises:
        ScenarioError: If that does not go.
    """
    with results_in(folder):
        make_folder(folder)
        tempfile.TemporaryFile(dir=folder).close()


def taken(scenario: Scenario) -> list[tuple[str, str, str]]:
    """Key, value and origin of the links' settings that the scenario does not give."""
    said = ("line ", "--set", "given")
    found = scenario.in_effect().items()
    return [(key, value, of) for key, (value, of) in found if not of.startswith(said)]


def as_dict(results: Results, scenario: Scenario, most: int | None = None) -> dict[str, Any]:
    """The results as a dict that JSON can hold.

    Args:
        results: What was measured.
        scenario: What of.
        most: With more cells than this their measurements are left out; it takes 30 kB a cell.
    """
    measured = most is None or len(results.cells) <= most
    return {
        "clift": __version__,
        "scenario": scenario.file,
        "title": results.title,
        "seed": results.seed,
        "changes": scenario.changes,
        "files_read": {name: f"sha256:{found}" for name, found in file_hashes(scenario).items()},
        "taken": {key: {"value": value, "from": of} for key, value, of in taken(scenario)},
        "complete": results.is_complete,
        "runs_done": results.done,
        "runs_wanted": results.wanted,
        "cells": [
            {
                "labels": cell.labels,
                "runs": len(cell.values),
                "given": cell.shared,
                "independent_runs": cell.independent(cell.values),
            }
            | (
                {"metrics": {name: one.as_dict() for name, one in cell.estimates().items()}}
                if measured
                else {}
            )
            for cell in results.cells
        ],
        "printed": [
            {
                "labels": results.cells[value.cell].labels,
                "metric": value.metric,
                "printed": value.printed,
                "source": value.source,
                "measured": None if value.measured is None else value.measured.mean,
                "half_width": None if value.measured is None else value.measured.half_width,
                "low": None if value.measured is None else value.measured.low,
                "high": None if value.measured is None else value.measured.high,
                "difference": value.difference,
            }
            for value in results.comparisons()
        ],
        "conclusion": conclude(results),
    }


def axes_of(results: Results) -> dict[str, Any]:
    """The axes, and which of them has the alternatives."""
    axes = [
        {"name": name, "labels": labels, "condition": name in results.conditions}
        for name, labels in results.axes
    ]
    return {"axes": axes, "compared": compared_axis(results)}


def setting(results: Results, scenario: Scenario) -> dict[str, Any]:
    """Context of the results: axes, verdicts, and the value of every key."""
    # The keys of each of many cells would take longer than its runs, and say the same.
    told = scenario if len(results.cells) <= TOLD_CELLS else scenario.cells()[0]
    return {
        **axes_of(results),
        "verdicts": [verdict.as_dict() for verdict in verdicts(results)],
        "caveats": caveats(results),
        "in_effect": {
            key: {"value": value, "from": of} for key, (value, of) in told.explain().items()
        },
    }


def write(
    results: Results,
    scenario: Scenario,
    folder: Path,
    record: dict[str, Any] | None = None,
    brief: bool = False,
) -> Iterator[Path]:
    """Writes tables and record; every file whole or not at all.

    What a campaign before left in the folder is removed. The record is written last: where it is
    missing, the tables are not all there.

    Args:
        results: What was measured.
        scenario: What of.
        folder: Where to, as `prepare` has made it.
        record: What `as_dict` gives of at most `TOLD_CELLS`, if that is known.
        brief: Whether the tables are left out for which first runs are done again.

    Yields:
        The files, as they are written.

    Raises:
        ScenarioError: If a file cannot be written.
    """
    made = in_parts(results, scenario)
    if brief:
        made = {name: made[name] for name in ("runs", "summary")}
    files = [f"{name}.parquet" for name in made]
    former = own(folder)
    remove(folder, [RECORD])
    remove(folder, [name for name in former if name not in files])
    if (folder / FOLDER).is_dir():
        note(folder, files)
    record = as_dict(results, scenario, TOLD_CELLS) if record is None else record
    record = record | setting(results, scenario)
    for name, parts in made.items():
        yield _table(folder / f"{name}.parquet", parts())
    yield _record(record | {"files": files, "text": scenario.text}, folder)


def draw(results: Results, scenario: Scenario, folder: Path, force: bool = True) -> Iterator[Path]:
    """Draws the plots into a folder that `write` has filled, and names them in its record.

    Args:
        results: What was measured.
        scenario: What of.
        folder: Where to.
        force: Whether files that are not CLIFT's are overwritten; they are left out otherwise.

    Yields:
        The files, as they are written.

    Raises:
        ScenarioError: If a file cannot be written.
    """
    from clift.report import figures
    from clift.report.drawing import pngs

    def read(name: str) -> pa.Table:
        with open_file(folder / f"{name}.parquet") as content:
            return parquet.table(content)

    files = [name for name in own(folder) if (folder / name).exists()]
    try:
        # Every series is a run done again.
        ours = (
            (name, figure)
            for name, figure in figures.draw(results, scenario, read)
            if force or not is_foreign(folder, f"{name}.png")
        )
        with closing(pngs(ours)) as drawn:
            for name, content in drawn:
                path = folder / f"{name}.png"
                if (folder / FOLDER).is_dir():
                    note(folder, [path.name])
                files.append(path.name)
                yield _file(path, partial(_put, content))
    finally:
        there = [name for name in dict.fromkeys(files) if (folder / name).exists()]
        _record(read_record(folder) | {"files": there}, folder)


def _record(record: dict[str, Any], folder: Path) -> Path:
    # With many cells, one line each would be most of the file.
    indent = 2 if len(record.get("cells", ())) <= TOLD_CELLS else None
    path = folder / RECORD
    return _file(path, lambda out: out.write(with_sums(record, folder, indent).encode()))


def _put(content: bytes, out: IO[bytes]) -> None:
    out.write(content)


def _file(path: Path, fill: Callable[[IO[bytes]], object]) -> Path:
    try:
        write_file(path, fill)
    except (OSError, pa.ArrowException) as error:
        what = said(error) if isinstance(error, OSError) else error
        raise ScenarioError(f"{path}: cannot be written: {what}") from None
    return path


def _table(path: Path, parts: Iterator[pa.Table]) -> Path:
    """Writes a table part by part."""

    def fill(out: IO[bytes]) -> None:
        first = next(parts)
        with pq.ParquetWriter(out, first.schema, compression="zstd") as writer:
            writer.write_table(first)
            for part in parts:
                writer.write_table(part)

    return _file(path, fill)
