"""CLIFT's own files in a results folder, and foreign files, which it keeps."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from clift.campaign.files import said, write_file
from clift.campaign.store import FOLDER
from clift.campaign.tables import NAMES
from clift.errors import ScenarioError

RECORD = "record.json"
TABLES = tuple(f"{name}.parquet" for name in NAMES)

# Names of a campaign's files. CLIFT removes no other file.
_OURS = re.compile(
    rf"({'|'.join(NAMES)})\.parquet"
    r"|(comparison-[\w-]+|flows|goodput|queue|delay|cwnd|sequence(-\d+)?|delay-cdf|erasures"
    r"|units-\d+)\.png"
)
_JOURNAL = "files.json"


def own(folder: Path) -> list[str]:
    """Files that CLIFT wrote into a folder, by its record and its earlier notes."""
    names: dict[str, None] = {}
    for path in (folder / RECORD, folder / FOLDER / _JOURNAL):
        found = _json(path).get("files")
        if isinstance(found, list):
            names |= {name: None for name in found if isinstance(name, str)}
    return [name for name in names if _OURS.fullmatch(name)]


def refuse_foreign(folder: Path, plots: bool = False) -> None:
    """Looks for files where tables, record and pictures go that CLIFT has not written.

    Args:
        folder: The results folder.
        plots: Whether there will be pictures; which ones is not known before the runs are, so that
            all names count that one may have.

    Raises:
        ScenarioError: If there is one.
    """
    ours = {*own(folder)}
    record = _json(folder / RECORD)
    if "clift" in record or isinstance(record.get("files"), list):
        ours.add(RECORD)
    for name in (RECORD, *TABLES):
        if name not in ours and (folder / name).exists():
            raise ScenarioError(
                f"{folder / name}: not a file of CLIFT; choose another folder, or give --force to "
                "overwrite it"
            )
    pictures = sorted(folder.glob("*.png")) if plots else []
    for path in pictures:
        if _OURS.fullmatch(path.name) and is_foreign(folder, path.name):
            raise ScenarioError(
                f"{path}: not a file of CLIFT; choose another folder, or give --force to "
                "overwrite it or --no-plots to leave it"
            )


def is_foreign(folder: Path, name: str) -> bool:
    """True if the file exists and CLIFT did not write it."""
    return (folder / name).exists() and name not in own(folder)


def note(folder: Path, names: list[str], made: str = "") -> None:
    """Notes files before they are written, so that they are known as CLIFT's whatever happens.

    Args:
        folder: The results folder, with a store.
        names: The files, beside those of before.
        made: What they were made of, once all are there.

    Raises:
        OSError: If that cannot be written.
    """
    text = json.dumps({"files": sorted({*own(folder), *names}), "made": made})
    write_file(folder / FOLDER / _JOURNAL, lambda out: out.write(text.encode()))


def made_of(folder: Path) -> str:
    """Source of the files in the folder; empty if one is missing."""
    made = _json(folder / FOLDER / _JOURNAL).get("made")
    files = _json(folder / RECORD).get("files")
    if not isinstance(files, list) or not all((folder / str(name)).is_file() for name in files):
        return ""
    return made if isinstance(made, str) else ""


def remove(folder: Path, names: list[str]) -> None:
    """Removes files of CLIFT.

    Raises:
        ScenarioError: If one cannot be removed.
    """
    for name in names:
        path = folder / name
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise ScenarioError(f"{path}: cannot remove: {said(error)}") from None


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
