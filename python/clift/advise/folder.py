"""The folder of an advice: its traces, and files of others, which it keeps."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable
from pathlib import Path

import clift._output as output
from clift.campaign.files import check_folder, read_file, sha256
from clift.campaign.folder import ADVICE, check_names, note
from clift.errors import ScenarioError
from clift.trace import PhyTrace

TRACE = "log.parquet"
"""The trace of the log, over which the search runs."""
TRACES = (TRACE, *(f"log-{what}.parquet" for what in ("lossy", "single", "bursts")))
"""That and those with other losses."""
PAGE = ("report.html", "trace.png")
"""The report and its picture."""


def check(folder: Path, force: bool = False, inputs: Iterable[Path] = ()) -> None:
    """Looks for files of others under the names of files of an advice.

    Args:
        folder: The folder, which need not be there.
        force: Whether those files may be overwritten.
        inputs: Files that are read, which nothing overwrites.

    Raises:
        ScenarioError: If there is one, or the folder is a file.
    """
    from clift.design.record import names

    check_folder(folder)
    ours = [ADVICE, *PAGE, *TRACES, *names()]
    check_names(folder, ours, force or _is_unlisted(folder), inputs)


def _is_unlisted(folder: Path) -> bool:
    """Whether a version wrote the folder that listed no files."""
    from clift.report.page.write import is_ours

    try:
        told = json.loads(read_file(folder / ADVICE))
        return "files" not in told and is_ours(read_file(folder / PAGE[0]))
    except (OSError, ValueError, TypeError, RecursionError):
        return False


def write_trace(phy: PhyTrace, folder: Path, name: str, force: bool = True) -> Path:
    """Keeps the trace of the log, or one of its variants, in the folder.

    Args:
        phy: The trace.
        folder: The folder.
        name: Name of the file.
        force: Whether another trace of that name is overwritten.

    Raises:
        ScenarioError: If there is another one, or it cannot be written.
    """
    path = folder / name
    if path.exists() and not force:
        with tempfile.TemporaryDirectory() as place:
            phy.write(again := Path(place, name))
            with output.written(path):
                if sha256(again) == sha256(path):
                    return path
        raise ScenarioError(
            f"{path}: the trace of another log or of other options, or damaged; choose another "
            "folder, or give --force to replace it and remove runs over another"
        )
    note(folder, [name])
    phy.write(path)
    return path
