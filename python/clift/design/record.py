"""The folder of a search: tables, pictures, and a record that says what they are of."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pyarrow as pa
import pyarrow.parquet as pq
from matplotlib.figure import Figure

import clift._output as output
from clift._clift import __version__
from clift.campaign.caveats import given, notes
from clift.campaign.files import read_file
from clift.campaign.folder import SEARCH, check_names, note, remove, write_record
from clift.campaign.record import prepare as writable
from clift.design import picture
from clift.design.advice import advice
from clift.design.result import Design
from clift.design.tables import TABLES
from clift.report.style import png

_KIND = "clift design"
# Of each on a front: values to be compared, and by how much they differ from the first's.
_FRONT = ("goodput_kbps", "p99_delay_ms", "share_used")
_MORE = ("more_goodput", "more_delay", "more_used")


def names() -> list[str]:
    """Names that files of a search may have."""
    pictures = [f"{name}.{suffix}" for name in picture.PICTURES for suffix in ("png", "svg")]
    return [SEARCH, *map(_table, TABLES), *pictures]


def prepare(folder: Path, force: bool = False, inputs: Iterable[Path] = ()) -> None:
    """Makes the folder and tries to write into it, before anything is run.

    Args:
        folder: The folder.
        force: Whether files of another origin may be overwritten.
        inputs: Files that are read, which nothing overwrites.

    Raises:
        ScenarioError: If that does not go, or a file of another origin has one of our names.
    """
    check_names(folder, names(), force or _is_unlisted(folder), inputs)
    writable(folder)


def _is_unlisted(folder: Path) -> bool:
    """Whether a version wrote the folder that listed no files."""
    try:
        record = json.loads(read_file(folder / SEARCH))
        return record["kind"] == _KIND and "files" not in record
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return False


def _table(name: str) -> str:
    return f"design-{name}.parquet"


def as_dict(design: Design) -> dict[str, Any]:
    """A search as a dict that JSON can hold."""
    goal = design.objective
    names = [name for name, _ in design.axes]
    return {
        "kind": _KIND,
        "clift": __version__,
        "title": design.title,
        "seed": design.seed,
        "objective": {key: getattr(goal, key) for key in ("name", "metric", "unit", "better")},
        "constraints": [limit.text for limit in design.constraints],
        "axes": [{"name": name, "labels": labels} for name, labels in design.axes],
        "candidates": [
            {"label": one.label, "parameters": one.parameters, "changes": one.changes}
            for one in design.candidates
        ],
        "tolerance": design.tolerance,
        "complete": design.is_complete,
        "runs_done": design.done,
        "runs_budget": design.budget,
        "runs_enumeration": design.enumeration,
        "given": given(design.campaign) or None,
        "notes": notes(design.campaign),
        "advice": advice(design),
        "conditions": [
            {
                "labels": dict(zip(names, contest.condition, strict=True)),
                "ranking": [
                    {
                        "candidate": one.label,
                        "value": one.value.as_dict(),
                        "more_than_first": one.share,
                        "more_low": one.low,
                        "more_high": one.high,
                        "standing": one.standing,
                        "note": one.note,
                    }
                    for one in design.ranking(place)
                ],
                "front": [
                    {
                        "candidate": design.candidates[one].label,
                        "runs": points[one].runs,
                        **dict(zip(_FRONT, points[one].values, strict=True)),
                        **dict(zip(_MORE, points[one].more, strict=True)),
                    }
                    for one in design.front(place)
                ],
            }
            for place, contest in enumerate(design.contests)
            for points in [design.compared(place).points]
        ],
    }


def write(design: Design, folder: Path) -> Iterator[Path]:
    """Writes record, tables and pictures; every file whole or not at all.

    Args:
        design: The search.
        folder: Where to, as `prepare` has made it.

    Yields:
        The files, as they are written.

    Raises:
        ScenarioError: If a file cannot be written.
    """
    note(folder, names()[1:])
    remove(folder, [SEARCH])
    record = as_dict(design) | {"text": design.text}
    made: list[Path] = []
    for name, make in TABLES.items():
        made.append(output.write(folder / _table(name), _parquet(make(design))))
        yield made[-1]
    yield write_record(record, folder, SEARCH, made)
    try:
        for name, figure in picture.draw(design):
            for suffix, content in (("png", png(figure)), ("svg", _svg(figure))):
                made.append(output.write(folder / f"{name}.{suffix}", content))
                yield made[-1]
    finally:
        write_record(record, folder, SEARCH, made)


def _parquet(table: pa.Table) -> bytes:
    out = io.BytesIO()
    pq.write_table(table, out, compression="zstd")
    return out.getvalue()


def _svg(figure: Figure) -> bytes:
    """A figure without the date and the random ids that matplotlib adds."""
    out = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "clift"}):
        figure.savefig(out, format="svg", metadata={"Date": None})
    return out.getvalue()
