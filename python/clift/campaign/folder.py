"""CLIFT's own files in a results folder, and foreign files, which it keeps.

The record has the SHA-256 of every file that it names, and its own with zeros in that place, so
that damage is noticed on reading.
"""

from __future__ import annotations

import hashlib
import io
import json
import logging
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import clift._output as output
from clift.campaign.files import make_folder, open_file, read_file, said, sha256, unlink, write_file
from clift.campaign.store import FOLDER
from clift.campaign.tables import NAMES
from clift.errors import ScenarioError

RECORD, SEARCH, ADVICE = RECORDS = ("record.json", "design.json", "advice.json")
"""Records: of a study, a search and an advice."""
TABLES = tuple(f"{name}.parquet" for name in NAMES)

# Names of a campaign's files. CLIFT removes no other file.
_OURS = re.compile(
    rf"({'|'.join(NAMES)})\.parquet"
    r"|(comparison-[\w-]+|flows|goodput|queue|delay|cwnd|sequence(-\d+)?|delay-cdf|erasures"
    r"|units-\d+)\.png"
)
_JOURNAL = "files.json"
_LOG = logging.getLogger("clift")
_SUMS = "sha256"
_ZEROS = "0" * 64


def with_sums(
    record: dict[str, Any], folder: Path, indent: int | None = None, own_name: str = RECORD
) -> str:
    """A record as JSON with the SHA-256 of its files and its own.

    Args:
        record: Its key `files` names the files, which are there.
        folder: Where they are.
        indent: Spaces a level; None: all in one line.
        own_name: Name of the record.

    Raises:
        OSError: If a file cannot be read.
    """
    sums = {own_name: _ZEROS} | {name: sha256(folder / name) for name in record["files"]}
    text = json.dumps({_SUMS: sums} | record | {_SUMS: sums}, indent=indent) + "\n"
    return _with_sum(text, own_name, hashlib.sha256(text.encode()).hexdigest())


def _own_sum(name: str) -> re.Pattern[str]:
    # Text within a string of JSON has no bare quotation marks, so that only the key matches.
    return re.compile(rf'("{re.escape(name)}": ")([^"]*)')


def _with_sum(text: str, name: str, value: str) -> str:
    return _own_sum(name).sub(lambda found: found[1] + value, text, count=1)


def write_record(record: dict[str, Any], folder: Path, name: str, listed: Iterable[Path]) -> Path:
    """Writes a record with the SHA-256 of files in its folder, and then notes it.

    Raises:
        ScenarioError: If it cannot be written.
    """
    path = folder / name
    with output.written(path):
        text = with_sums(record | {"files": [one.name for one in listed]}, folder, 2, name)
    output.write(path, text.encode())
    note(folder, [name])
    return path


def read_record(folder: Path, name: str = RECORD) -> dict[str, Any]:
    """The record of a folder.

    Args:
        folder: The folder.
        name: Name of the record.

    Raises:
        OSError: If it cannot be read.
        ValueError: If it is damaged.
    """
    text = read_file(folder / name).decode()
    found = _own_sum(name).search(text)
    zeroed = _with_sum(text, name, _ZEROS).encode()
    if found is not None and hashlib.sha256(zeroed).hexdigest() != found[2]:
        raise ValueError(f"{name} is damaged: its SHA-256 is another")
    try:
        record = json.loads(text)
    except RecursionError:
        raise ValueError(f"{name}: nested too deeply") from None
    if not isinstance(record, dict):
        raise ValueError(f"{name}: not an object")
    if found is None:
        if _SUMS in record:
            raise ValueError(f"{name} is damaged: its SHA-256 is missing")
        _LOG.warning("%s: has no checksums, so damage is not noticed", folder / name)
    return record


def open_listed(
    folder: Path, name: str, record: dict[str, Any], of: str = RECORD
) -> io.BufferedReader:
    """A file that the record of this name lists, open to read.

    Raises:
        OSError: If it cannot be read.
        ValueError: If it is damaged.
    """
    file = open_file(folder / name)
    wanted = sums(record).get(name)
    if wanted is not None and hashlib.file_digest(file, "sha256").hexdigest() != wanted:
        file.close()
        raise ValueError(f"{name} is damaged: its SHA-256 is not that in {of}")
    file.seek(0)
    return file


def sums(record: dict[str, Any]) -> dict[str, str]:
    """SHA-256 of the files that a record names; empty if an earlier version wrote it."""
    found = record.get(_SUMS)
    return found if isinstance(found, dict) else {}


def damaged(folder: Path) -> dict[Path, str]:
    """What is damaged or missing of the files beside the store, each with what is wrong."""
    notes = folder / FOLDER / _JOURNAL
    told = _json(notes)
    listed = _names(notes)
    found: dict[Path, str] = {}
    for name in RECORDS:
        try:
            record = read_record(folder, name)
        except FileNotFoundError:
            # Without a record the study has not ended, unless the notes say so.
            if told.get("made") if name == RECORD else name in listed:
                found[folder / name] = "is missing"
            continue
        except (OSError, ValueError) as error:
            found[folder / name] = _what(error)
            continue
        if notes.parent.exists() and _SUMS in record and not _is_whole(told):
            found[notes] = "is damaged or missing"
        for one in sums(record):
            if one != name:
                try:
                    open_listed(folder, one, record, name).close()
                except (OSError, ValueError) as error:
                    found[folder / one] = _what(error)
    return found


def _what(error: OSError | ValueError) -> str:
    return str(said(error)) if isinstance(error, OSError) else str(error)


def own(folder: Path) -> list[str]:
    """Files that CLIFT wrote into a folder, by its record and its earlier notes."""
    return list(_listed(folder / RECORD) | _listed(folder / FOLDER / _JOURNAL))


def noted(folder: Path) -> list[str]:
    """Files that CLIFT wrote into a folder, of any command, by its notes and records."""
    paths = (folder / FOLDER / _JOURNAL, *(folder / name for name in RECORDS))
    return [name for path in paths for name in _names(path)]


def _listed(path: Path) -> dict[str, None]:
    return {name: None for name in _names(path) if _OURS.fullmatch(name)}


def _names(path: Path) -> list[str]:
    """Names in a record or in notes. A record has each twice: a damaged name leaves the other."""
    found = _json(path)
    listed = found.get("files")
    names = [*(listed if isinstance(listed, list) else []), *sums(found)]
    return [name for name in names if isinstance(name, str)]


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
    noted = _json(folder / FOLDER / _JOURNAL)  # written before any record of a study
    if "clift" in record or isinstance((record or noted).get("files"), list):
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


def check_names(
    folder: Path, names: Iterable[str], force: bool, inputs: Iterable[Path] = ()
) -> None:
    """Looks for files of others under the names of files that will be written.

    Args:
        folder: The folder, which need not be there.
        names: Names of the files.
        force: Whether files of others may be overwritten.
        inputs: Files that are read, which nothing overwrites.

    Raises:
        ScenarioError: If there is one.
    """
    ours = {*noted(folder)}
    for path in (folder / name for name in names):
        if not (path.exists() or path.is_symlink()):
            continue
        for given in inputs:
            if path.exists() and given.exists() and path.samefile(given):
                raise ScenarioError(
                    f"{given}: is the input, and would be overwritten; choose another folder"
                )
        if not force and path.name not in ours:
            raise ScenarioError(
                f"{path}: not a file that CLIFT wrote here; choose another folder, or give "
                "--force to overwrite it"
            )


def note(folder: Path, names: list[str], made: str = "") -> None:
    """Notes files before they are written, so that they are known as CLIFT's in any case.

    Args:
        folder: The results folder.
        names: The files, beside those of before.
        made: What they were made of, once all are there.

    Raises:
        ScenarioError: If that cannot be written.
    """
    notes = {"files": sorted({*own(folder), *noted(folder), *names}), "made": made}
    text = json.dumps(notes | {_SUMS: _sum(notes)})
    with output.written(folder):
        make_folder(folder / FOLDER)
        write_file(folder / FOLDER / _JOURNAL, lambda out: out.write(text.encode()))


def _sum(notes: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(notes, sort_keys=True).encode()).hexdigest()


def _is_whole(noted: dict[str, Any]) -> bool:
    """Whether notes are as they were written; an earlier version wrote no sum."""
    rest = {key: value for key, value in noted.items() if key != _SUMS}
    return bool(noted) and noted.get(_SUMS, _sum(rest)) == _sum(rest)


def made_of(folder: Path) -> str:
    """Source of the files in the folder; empty if one or the notes are missing or damaged."""
    made = _json(folder / FOLDER / _JOURNAL).get("made")
    if not isinstance(made, str) or not (folder / RECORD).exists() or damaged(folder):
        return ""
    return made


def remove(folder: Path, names: list[str]) -> None:
    """Removes files of CLIFT.

    Raises:
        ScenarioError: If one cannot be removed.
    """
    for name in names:
        path = folder / name
        try:
            unlink(path)
        except FileNotFoundError:
            pass
        except OSError as error:
            raise ScenarioError(f"{path}: cannot remove: {said(error)}") from None


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(read_file(path))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
