"""Finished runs in files: which runs a file holds is its name, so that a listing tells.

A run of a study has a place: its number times the number of cells, and its cell. The name of a
file has the spans of places that it holds, each as first and length in letters and digits, and a
hash of the rest of the name and of the content, so that damage to either is noticed on reading.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from clift._arrays import Floats
from clift.campaign import parquet
from clift.campaign.files import read_file, said
from clift.campaign.metrics import measured_by
from clift.errors import ScenarioError
from clift.simulation import Run

Span = tuple[int, int]
"""First place and end of runs that follow one another."""

# Columns of a file that are not metrics; others say how runs share a trace.
PLAIN = ("cell", "run", "seed", "start_s", "length_s", "wraps")
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
SUFFIX = ".parquet"
_DIGEST = re.compile(r"[0-9a-f]{16}")
# File systems take 255 bytes; the study's key and the suffix are part of that.
MOST_LETTERS = 160


class DamagedFileError(ScenarioError):
    """A file of finished runs does not hold what was written into it."""


@dataclass(frozen=True, slots=True)
class Row:
    """A finished run.

    Args:
        cell: The number of its cell.
        run: Its own number in the cell.
        seed: Its seed.
        values: What it measured, by metric.
        window: Where it starts in a trace that runs share (start and length in s, whether that
            repeats); None if they share none, or all start at one time.
    """

    cell: int
    run: int
    seed: int
    values: Mapping[str, float]
    window: tuple[float, float, bool] | None = None

    @classmethod
    def of(cls, cell: int, number: int, run: Run, shared: bool, of_link: bool = True) -> Row:
        """What is kept of a run of a cell, whose runs may share a trace."""
        found = run.scenario.window() if shared else None
        window = None if found is None else (found[0] / 1e9, found[1] / 1e9, found[2])
        return cls(cell, number, run.scenario.seed, measured_by(run, of_link), window)


def file_name(study: str, spans: Sequence[Span], content: bytes) -> str:
    """The name of the file of these runs.

    Example:
        >>> file_name("ab12", [(0, 40), (100, 101)], b"")
        'ab12.0-14_2s-1.263e31c1dbbc99d6.parquet'
    """
    stem = f"{study}.{spans_text(spans)}"
    return f"{stem}.{_digest(stem, content)}{SUFFIX}"


def _digest(stem: str, content: bytes) -> str:
    found = hashlib.blake2b(stem.encode(), digest_size=8)
    found.update(content)
    return found.hexdigest()


def spans_text(spans: Iterable[Span]) -> str:
    """Spans as they stand in a name."""
    return "_".join(f"{_digits(first)}-{_digits(end - first)}" for first, end in spans)


def spans_of(name: str, study: str) -> list[Span] | None:
    """Spans in the name of a file; None if the file does not belong to the study.

    Example:
        >>> name = "ab12.0-14_2s-1.263e31c1dbbc99d6.parquet"
        >>> spans_of(name, "ab12"), spans_of("notes.txt", "ab12")
        ([(0, 40), (100, 101)], None)
    """
    if not (name.startswith(f"{study}.") and name.endswith(SUFFIX)):
        return None
    places, _, digest = name[len(study) + 1 : -len(SUFFIX)].partition(".")
    if not _DIGEST.fullmatch(digest):
        return None
    spans = []
    try:
        for text in places.split("_"):
            first, length = (int(digits, 36) for digits in text.split("-"))
            spans.append((first, first + length))
    except ValueError:
        return None
    return spans


def spans(places: Sequence[int]) -> list[Span]:
    """Places in order as spans.

    Example:
        >>> spans([3, 4, 5, 9])
        [(3, 6), (9, 10)]
    """
    if not len(places):
        return []
    found = np.asarray(places, np.int64)
    cuts = np.flatnonzero(np.diff(found) != 1) + 1
    return [(int(part[0]), int(part[-1]) + 1) for part in np.split(found, cuts)]


def cut(places: Sequence[int], most: int) -> list[list[Span]]:
    """Places in order as groups of spans, each short enough for the name of a file.

    Args:
        places: The places.
        most: Most places of a group.

    Example:
        >>> cut([0, 1, 2, 7], 3)
        [[(0, 3)], [(7, 8)]]
    """
    groups: list[list[Span]] = []
    letters = room = 0
    for first, end in spans(places):
        while first < end:
            upto = min(end, first + (room or most))
            text = len(spans_text([(first, upto)])) + 1
            if not room or letters + text > MOST_LETTERS:
                groups.append([])
                letters, room = 0, most
                upto = min(end, first + most)
            groups[-1].append((first, upto))
            letters, room, first = letters + text, room - (upto - first), upto
    return groups


def _digits(number: int) -> str:
    text = ""
    while number or not text:
        number, digit = divmod(number, 36)
        text = _DIGITS[digit] + text
    return text


def measured(found: Sequence[Mapping[str, float]]) -> dict[str, Floats]:
    """Values of the runs as columns, with NaN for a missing value.

    Args:
        found: Numbers by metric, a run each.

    Example:
        >>> measured([{"mos": 4.0, "timeouts": 1.0}, {"timeouts": 0.0}])
        {'mos': array([ 4., nan]), 'timeouts': array([1., 0.])}
    """
    names: dict[str, None] = {}
    for one in found:
        if not one.keys() <= names.keys():
            names.update(dict.fromkeys(one))
    # By way of one block of numbers: Arrow takes a list of Python's objects ten times as long.
    block = np.fromiter(
        chain.from_iterable(_picked(found, list(names))), np.float64, len(found) * len(names)
    ).reshape(len(found), len(names))
    return {name: block[:, at].copy() for at, name in enumerate(names)}


def _picked(found: Sequence[Mapping[str, float]], names: list[str]) -> Iterator[Iterable[float]]:
    """The numbers of each run in the order of names."""
    missing = float("nan")
    pick = itemgetter(*names) if len(names) > 1 else None
    for one in found:
        # Most runs have all of them, which one call gets.
        if pick is not None and len(one) == len(names):
            yield pick(one)
        else:
            yield [one.get(name, missing) for name in names]


def table(rows: Sequence[Row], columns: Mapping[str, Floats] | None = None) -> pa.Table:
    """Runs as a table with a row each.

    Args:
        rows: The runs.
        columns: What `measured` makes of their values, if that is known.

    Example:
        >>> table([Row(0, 0, 1, {"goodput_kbps": 9.0}), Row(1, 0, 1, {})]).column("goodput_kbps")[1]
        <pyarrow.DoubleScalar: None>
    """
    if columns is None:
        columns = measured([row.values for row in rows])
    windows = [row.window or (None, None, None) for row in rows]
    made: dict[str, Any] = {
        "cell": pa.array([row.cell for row in rows], pa.int64()),
        "run": pa.array([row.run for row in rows], pa.int64()),
        "seed": pa.array([row.seed for row in rows], pa.uint64()),
        "start_s": pa.array([window[0] for window in windows], pa.float64()),
        "length_s": pa.array([window[1] for window in windows], pa.float64()),
        "wraps": pa.array([window[2] for window in windows], pa.bool_()),
    }
    made |= {name: pa.array(column, from_pandas=True) for name, column in columns.items()}
    return pa.table(made)


def rows(table: pa.Table) -> Iterator[Row]:
    """The runs of such a table."""
    plain = {*PLAIN, "cell_key"}
    for row in table.to_pylist():
        values = {name: one for name, one in row.items() if name not in plain and one is not None}
        window = None if row["start_s"] is None else (row["start_s"], row["length_s"], row["wraps"])
        yield Row(row["cell"], row["run"], row["seed"], values, window)


def content(table: pa.Table, keys: Sequence[str]) -> bytes:
    """Runs with the keys of their cells, as the content of a file."""
    cells = table.column("cell").to_numpy()
    own = pa.array([keys[cell] for cell in cells]).dictionary_encode()
    out = io.BytesIO()
    # Statistics of a hundred short columns would be most of the file.
    pq.write_table(
        table.append_column("cell_key", own),
        out,
        # Three times as fast as zstd at this size, and hardly larger.
        compression="lz4",
        write_statistics=False,
        use_dictionary=["cell_key"],
    )
    return out.getvalue()


def whole(path: Path) -> bytes:
    """The content of a file, if it is what was written under this name.

    Raises:
        DamagedFileError: If it is not.
        ScenarioError: If it cannot be read.
    """
    try:
        found = read_file(path)
    except OSError as error:
        cure = "remove that file: its runs are done again"
        raise ScenarioError(f"{path}: cannot be read ({said(error)}); {cure}") from None
    stem, _, digest = path.name.removesuffix(SUFFIX).rpartition(".")
    if _digest(stem, found) != digest:
        raise _damaged(path, "its content does not fit the hash in its name")
    return found


def read(path: Path, study: str, keys: Sequence[str]) -> pa.Table:
    """The runs of a file.

    Args:
        path: The file.
        study: The key of its study.
        keys: The keys of the study's cells.

    Raises:
        DamagedFileError: If its content is not what was written, or not what its name says.
        ScenarioError: If it cannot be read.
    """
    found = whole(path)
    try:
        table = parquet.table(io.BytesIO(found))
        cells, runs = (table.column(name).to_numpy() for name in ("cell", "run"))
        own = [keys[cell] for cell in cells]
        fits = spans(sorted((runs * len(keys) + cells).tolist())) == spans_of(path.name, study)
        fits = fits and own == table.column("cell_key").to_pylist()
    except Exception as error:  # noqa: BLE001 - Arrow raises many types for files made by hand
        what = " ".join(str(error).split())[:120]
        raise _damaged(path, what) from None
    if not fits:
        raise _damaged(path, "it holds other runs than its name says")
    return table


def _damaged(path: Path, what: str) -> DamagedFileError:
    return DamagedFileError(f"{path}: damaged: {what}; run the study again: it repeats these runs")
