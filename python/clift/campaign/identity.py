"""Key of a cell: a short text that identifies all that decides its results.

It is a hash of the cell's configuration with every default filled in, of what the files hold that
it names, of the objects in memory that it uses, of the custom parts that it may name, and of
CLIFT's version. How many runs are asked
for, titles and the labels of axes decide no run, and are left out.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import clift.own as own
from clift._clift import __version__
from clift.scenario import Scenario

# Keys that describe a scenario or its campaign and do not affect its runs.
_TOLD = ("name", "description", "source", "runs", "vary", "printed")
_HELD = re.compile(r'"memory:(\d+)"')
# A text of JSON, of which `"` and `\\` within it are parts.
_TEXT = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"')
_SIZE = 32


def cell_keys(scenario: Scenario, files: Files | None = None) -> list[str]:
    r"""The key of every cell, in their order.

    Args:
        scenario: A scenario, of a file or made in Python.
        files: Takes the files that it names; they are read here unless given.

    Example:
        >>> import clift
        >>> text = 'duration = "5 s"\n[ntn]\n'
        >>> one, two = (clift.Scenario.parse(text, changes={"runs": n}) for n in (1, 2))
        >>> cell_keys(one) == cell_keys(two), len(cell_keys(one)[0])
        (True, 32)
        >>> cell_keys(one) == cell_keys(one.replace(duration_s=6))
        False
    """
    known = Files(scenario) if files is None else files
    cells = scenario.cells()
    # A million configurations are a gigabyte, so that they are looked at one by one.
    named = next(_held(scenario.nodes), None) is not None
    held = sorted({place for cell in cells for place in _memory(cell)}) if named else []
    places = {number: place for place, number in enumerate(held)}
    objects = _objects(scenario, len(held)) if held else ""
    keys = []
    for cell in cells:
        text = _plain(cell.config_text)
        if held:
            text = _HELD.sub(lambda found: f'"memory {places[int(found[1])]}"', text)
        names = known.names(text)
        hashes = map(known.hash, names)
        of = [__version__, objects, known.placed(text, names), *hashes, *own.digests(text)]
        keys.append(_hash("\n".join(of).encode()))
    return keys


def _memory(cell: Scenario) -> Iterator[int]:
    """The numbers of the objects that a configuration uses."""
    return map(int, _HELD.findall(_plain(cell.config_text)))


def study_key(keys: Iterable[str]) -> str:
    """The key of a study of cells with these keys, in this order."""
    return _hash("\n".join(keys).encode())


def _plain(config: str) -> str:
    """A configuration without the keys that do not affect a run."""
    tree = json.loads(config)
    for name in _TOLD:
        tree.pop(name, None)
    return json.dumps(tree, sort_keys=True, ensure_ascii=False)


def files_of(scenario: Scenario) -> dict[str, Path]:
    """The files below a scenario's folder that it names, by the names that it gives them.

    Args:
        scenario: A scenario; what it names elsewhere (`/data/x.csv`, `../x.csv`) is left out.
    """
    known = Files(scenario)
    found = {}
    for cell in scenario.cells():
        for name in known.names(cell.config_text):
            if not Path(name).is_absolute() and ".." not in Path(name).parts:
                found[name] = known.folder / name
    return found


def file_hashes(scenario: Scenario, files: Files | None = None) -> dict[str, str]:
    """SHA-256 of the files that the cells of a scenario read, such as traces, by their names there.

    Args:
        scenario: A scenario, with the values of its axes.
        files: Those files; they are read here unless given.
    """
    known = Files(scenario) if files is None else files
    names = (name for cell in scenario.cells() for name in known.names(cell.config_text))
    return {name: known.hash(name) for name in dict.fromkeys(names)}


def _objects(scenario: Scenario, count: int) -> str:
    """Contents of the objects that configurations use.

    They have no name that lasts, but come in the order in which they are named. Where some are not
    used, all that the scenario was made of stands for them.
    """
    found = list(_held(scenario.nodes))
    return digest(found if len(found) == count else scenario.source)


def _held(value: Any) -> Iterator[Any]:
    """The objects in a tree of values."""
    if isinstance(value, Mapping):
        for inner in value.values():
            yield from _held(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _held(inner)
    elif value is not None and not isinstance(value, bool | int | float | str):
        yield value


class Files:
    """The files that a scenario names, each read once, and again if it has changed.

    Args:
        scenario: The scenario.
    """

    def __init__(self, scenario: Scenario) -> None:
        self._is_placed = bool(scenario.file)
        self.folder = Path(scenario.file).parent
        self._hashes: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._states: dict[str, tuple[int, ...]] = {}

    def names(self, text: str) -> list[str]:
        """The files that a configuration names under any key.

        A name that is another value's text only makes a key depend on more than it need.
        """
        return [name for told in _TEXT.findall(text) if (name := self._name(told))]

    def _name(self, told: str) -> str:
        """The file that a text of JSON names; empty if there is none."""
        found = self._names.get(told)
        if found is None:
            name = json.loads(told)
            found = self._names[told] = name if name and self.hash(name) else ""
        return found

    def placed(self, text: str, names: Iterable[str]) -> str:
        """A configuration in which no name depends on where the folders are.

        A file below the scenario's folder is named from there. Of one elsewhere its own name is
        left, which may say its format; its content counts anyway.
        """
        for name in names:
            if Path(name).is_absolute():
                told, placed = (
                    json.dumps(each, ensure_ascii=False) for each in (name, self._placed(name))
                )
                text = text.replace(told, placed)
        return text

    def _placed(self, name: str) -> str:
        # Links to folders count as folders if that leads to the scenario's.
        for seen in (os.path.abspath, os.path.realpath) if self._is_placed else ():
            with suppress(ValueError):
                return str(Path(seen(name)).relative_to(seen(self.folder)))
        return Path(name).name

    def hash(self, name: str) -> str:
        """The hash of the file of this name; empty if there is none."""
        if name not in self._hashes:
            self._hashes[name] = self._read(name)
        return self._hashes[name]

    def changed(self) -> Path | None:
        """A file that has other content than when it was read; None if there is none."""
        for name, state in list(self._states.items()):
            path = self.folder / name
            try:
                same = _state(path.stat()) == state
            except OSError:
                same = False
            if not same and self._read(name) != self._hashes[name]:
                return path
        return None

    def _read(self, name: str) -> str:
        path = self.folder / name
        try:
            if not path.is_file():
                return ""
            with path.open("rb") as file:
                state = _state(os.fstat(file.fileno()))
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except (OSError, ValueError):  # the run that reads it reports the error
            return ""
        self._states[name] = state
        return found


def _state(about: os.stat_result) -> tuple[int, ...]:
    """Changes whenever the content of a file may have changed."""
    return about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns


def digest(value: Any) -> str:
    """Hash of an object: of its type and its contents, array by array.

    Example:
        >>> import clift
        >>> one, two = (clift.channel.bernoulli(slots=50, p=0.5, seed=n) for n in (1, 2))
        >>> digest(one) == digest(clift.channel.bernoulli(slots=50, p=0.5, seed=1))
        True
        >>> digest(one) == digest(two)
        False
    """
    found = hashlib.sha256()
    for piece in _pieces(value):
        found.update(len(piece).to_bytes(8, "little") + piece)
    return found.hexdigest()[:_SIZE]


def _pieces(value: Any) -> Iterator[bytes]:
    if value is None or isinstance(value, bool | int | float | str | bytes):
        yield f"{type(value).__name__} {value!r}".encode()
    elif isinstance(value, np.ndarray):
        yield f"array {value.dtype.str} {value.shape}".encode()
        yield np.ascontiguousarray(value).tobytes()
    elif isinstance(value, np.generic):
        yield repr(value.item()).encode()
    elif isinstance(value, pa.Table):
        yield from _pieces({name: value.column(name).to_numpy() for name in value.column_names})
    elif isinstance(value, Mapping):
        yield f"table {len(value)}".encode()
        for name, inner in value.items():
            yield str(name).encode()
            yield from _pieces(inner)
    elif isinstance(value, list | tuple):
        yield f"list {len(value)}".encode()
        for inner in value:
            yield from _pieces(inner)
    elif callable(value) and hasattr(value, "__qualname__"):
        yield f"{value.__module__}.{value.__qualname__}".encode()
    else:
        yield type(value).__qualname__.encode()
        made = value.__reduce_ex__(4)
        yield from _pieces(made if isinstance(made, str) else made[:3])


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:_SIZE]
