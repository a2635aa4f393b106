"""Makes the explorer's page."""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

import clift
from clift.campaign.segments import one_way_delays
from clift.errors import ScenarioError
from clift.explore.controls import controls
from clift.report.page.assemble import as_json, filled, text_of

MODULE = "clift.wasm"
"""File of the package with the core as WebAssembly; `make wasm` builds it."""

SAMPLES = 400
"""Samples of a run that the page asks for."""
OVER_TIME = ("time_s", "goodput_kbps", "cwnd_packets", "queue_packets")
"""Columns with a value for each sample."""

# Bytes of the files that a page carries.
_MOST_BYTES = 16_000_000
# A line that sets the protocol of some flow. (Python's reader of TOML lacks what CLIFT's reads.)
_QUIC = re.compile(r"""^[^#\n]*\bprotocol["']?\s*=[^\n]*["']quic["']""", re.MULTILINE)


def page(study: Mapping[str, Any] | None = None) -> str:
    """The page as HTML: one file that works offline and loads nothing.

    Args:
        study: The scenario that the page begins with, from `study_of`; its first two cells are the
            settings, or the cell and run that the fragment of its address names (`#cell=3&run=0`).

    Raises:
        ScenarioError: If the module is not built.
    """
    if not is_built():
        raise ScenarioError(f"the explorer needs {MODULE}, which is not built; run `make wasm`")
    assets = files("clift.explore")
    start, stops = (json.loads(text_of(assets / f"{name}.json")) for name in ("start", "stops"))
    data: dict[str, Any] = {
        "controls": controls(),
        "start": start,
        "stops": stops,
        "study": study,
        # Shown while the module is unpacked and compiled.
        "first": None if study else [first_answer(start | stops[0][side]) for side in "AB"],
    }
    parts = {
        "data": as_json(data),
        "worker": text_of(assets / "worker.js"),
        "module": _packed((assets / MODULE).read_bytes()),
    }
    return filled(
        assets / "explore.html",
        script=assets / "explore.js",
        early={"threads-js": assets / "threads.js"},
        parts=parts,
        styles={"explore-css": assets / "explore.css"},
    )


def is_built() -> bool:
    """Whether the package has the core as WebAssembly."""
    return (files("clift.explore") / MODULE).is_file()


def first_answer(given: Mapping[str, Any]) -> dict[str, Any]:
    """What the module answers about the run of a setting with one flow, by the native core.

    Args:
        given: Dotted keys and their values.
    """
    run = clift.simulate(clift.Scenario.parse("", changes=given))
    summary = run.summary()
    interval_ms = summary["duration_s"] * 1e3 / SAMPLES
    series = run.series(interval_ms)
    columns = {name: series[name].to_numpy() for name in OVER_TIME}
    arrived, delay, _ = one_way_delays(run.events())
    # The least and the most of each interval, the first of equal ones, in order of time.
    interval = arrived // round(interval_ms * 1e6)
    ends = []
    for size in (delay, -delay):
        order = np.lexsort((arrived, size, interval))
        ends.append(order[np.unique(interval[order], return_index=True)[1]])
    both = np.unique(np.concatenate(ends))
    both = both[np.argsort(arrived[both], kind="stable")]
    columns |= {"arrival_s": arrived[both] / 1e9, "delay_ms": delay[both] / 1e9 * 1e3}
    return {
        "summary": summary,
        "columns": {name: column.tolist() for name, column in columns.items()},
        "notes": [],
    }


def study_of(
    file: Path, text: str, changes: Mapping[str, str], sums: Mapping[str, str]
) -> dict[str, Any]:
    """A scenario for the page, with the files that it names.

    A file that is not there any more, or has changed, is left out, and so are large ones: the page
    then asks for it by its name.

    Args:
        file: Scenario file.
        text: Its text.
        changes: Dotted keys and values that replace those of the text.
        sums: SHA-256 of the files that it names, relative to its folder.
    """
    content, room = {}, _MOST_BYTES
    for name, sum_ in sums.items():
        path = file.parent / name
        try:
            found = path.read_bytes() if path.stat().st_size <= room else b""
        except (OSError, ValueError):
            continue
        if sha256(found).hexdigest() == sum_.removeprefix("sha256:"):
            content[name] = _packed(found)
            room -= len(found)
    return {"name": file.name, "text": text, "changes": [*changes.items()], "files": content}


def lacking(text: str, changes: Mapping[str, str], names: Iterable[str]) -> str | None:
    """What a scenario needs that the module does not have; None if it has all.

    Args:
        text: Text of the scenario.
        changes: Dotted keys and values that replace those of the text.
        names: Files that it names.

    Example:
        >>> lacking('transport.protocol = "quic"', {}, [])
        'QUIC'
    """
    if any(name.endswith(".parquet") for name in names):
        return "Parquet"
    lines = [text, *(f"{key} = '{value}'" for key, value in changes.items())]
    return "QUIC" if any(map(_QUIC.search, lines)) else None


def _packed(content: bytes) -> str:
    # The time in its header would make every page another one.
    return b64encode(gzip.compress(content, 9, mtime=0)).decode()
