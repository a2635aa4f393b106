"""Scenarios: everything that decides a run, from a file or from keyword arguments."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self, Unpack

from clift import _clift
from clift._options import NAMES, Keywords, Options
from clift.errors import ScenarioError
from clift.live.base import AnyLink, a_link

# A scenario file is a page of text; what is larger is another kind of file.
_MOST_BYTES = 256 * 1024

# Keyword arguments of `simulate` as keys and units of a scenario file.
_KEYS: dict[str, tuple[str, str]] = {
    "transport": ("transport.congestion", ""),
    "profile": ("transport.profile", ""),
    "duration_s": ("duration", " s"),
    "packet_bytes": ("transport.packet", " B"),
    "queue_packets": ("link.queue", " packets"),
    "delayed_ack": ("transport.delayed_ack", ""),
    "initial_window": ("transport.initial_window", " packets"),
    "cwnd_max_packets": ("transport.cwnd_max", " packets"),
    "receive_window_bytes": ("transport.receive_window", " B"),
    "timestamps": ("transport.timestamps", ""),
    "sack": ("transport.sack", ""),
    "start_offset_s": ("link.start", " s"),
    "wrap": ("link.wrap", ""),
    "seed": ("seed", ""),
    "flows": ("flows", ""),
    "access_kbps": ("access.rate", " kbit/s"),
    "access_ms": ("access.delay", " ms"),
}


class Scenario:
    """Everything that decides a run.

    Args:
        link: A link trace or a live link, or several in series, that packets cross in order.
        options: The keyword arguments of `clift.simulate`.

    Example:
        >>> import clift
        >>> phy = clift.channel.bernoulli(slots=20_000, p=0.02, seed=1)
        >>> ll = clift.tmt.apply(phy, clift.Arq())
        >>> scenario = clift.Scenario(ll, transport="newreno", file_bytes=20_000)
        >>> scenarios = [scenario.replace(start_offset_s=offset) for offset in range(3)]
        >>> [run.summary()["completion_s"] is not None for run in clift.run_many(scenarios)]
        [True, True, True]
    """

    __slots__ = ("_source",)

    _source: _FromLinks | _FromFile

    def __init__(self, link: AnyLink | Sequence[AnyLink], **options: Unpack[Keywords]) -> None:
        links = tuple(a_link("link", one) for one in _several(link))
        if not links:
            raise ScenarioError("link: give one or more")
        self._source = _FromLinks(links, _options(Options(), dict(options)))

    @classmethod
    def read(cls, path: str | os.PathLike[str], changes: Mapping[str, Any] | None = None) -> Self:
        """Reads a scenario file.

        Args:
            path: The file (TOML; docs/reference/scenario.md lists every key).
            changes: Dotted keys and the values that take the place of those in the file.

        Raises:
            ScenarioError: If the file cannot be read or is wrong: file, line, key and cure.

        Example:
            >>> import pathlib, tempfile
            >>> import clift
            >>> folder = tempfile.TemporaryDirectory()
            >>> path = pathlib.Path(folder.name, "x.toml")
            >>> _ = path.write_text('''
            ... duration = "5 s"
            ... [channel]
            ... model = "bernoulli"
            ... erasures = "2 %"
            ... rate = "263 kbit/s"
            ... [vary]
            ... scheme = ["ARQ", "HARQ(10/12)"]
            ... ''')
            >>> scenario = clift.Scenario.read(path)
            >>> [cell.labels for cell in scenario.cells()]
            [{'scheme': 'ARQ'}, {'scheme': 'HARQ(10/12)'}]
            >>> clift.Scenario.read(path, {"scheme": "ARC"})  # doctest: +ELLIPSIS
            Traceback (most recent call last):
            clift.errors.ScenarioError: ...: scheme: ARC: unknown scheme; write none, ...
            >>> folder.cleanup()
        """
        text = _text(Path(path))
        sets = tuple((key, _toml(value)) for key, value in (changes or {}).items())
        return cls._of(_FromFile.parse(Path(path), text, sets))

    @classmethod
    def _of(cls, source: _FromLinks | _FromFile) -> Self:
        scenario = cls.__new__(cls)
        scenario._source = source
        return scenario

    def replace(self, **changes: Any) -> Self:
        """The same scenario with other values.

        Args:
            changes: Keyword arguments of `clift.simulate`; of a scenario file also its dotted
                keys: `replace(**{"link.rtt": "600 ms"})`.

        Raises:
            ScenarioError: If there is no such keyword or key, or its value cannot be.
        """
        return self._of(self._source.replaced(changes))

    def cells(self) -> list[Self]:
        """The cells of a campaign, each a scenario without anything that varies."""
        return [self._of(cell) for cell in self._source.cells()]

    @property
    def size(self) -> int:
        """Runs in all: of every cell, with their replications."""
        return self._source.size()

    def replications(self) -> list[Self]:
        """The runs of a single cell, each with its own seed."""
        return [self._of(run) for run in self._source.replications()]

    @property
    def labels(self) -> dict[str, str]:
        """Axis and label of a cell; empty where nothing varies."""
        return self._source.labels()

    @property
    def name(self) -> str | None:
        """The title, if it has one."""
        return self._source.name()

    def __repr__(self) -> str:
        return f"Scenario({self._source.described()})"


class _FromLinks:
    """Link traces and keyword arguments."""

    __slots__ = ("links", "options")

    def __init__(self, links: tuple[AnyLink, ...], options: Options) -> None:
        self.links = links
        self.options = options

    def setup(self) -> _clift.Setup:
        return self.options.setup(self.links)

    def replaced(self, changes: dict[str, Any]) -> _FromLinks:
        return _FromLinks(self.links, _options(self.options, changes))

    def cells(self) -> Iterator[_FromLinks]:
        yield self

    def replications(self) -> Iterator[_FromLinks]:
        yield self

    def size(self) -> int:
        return 1

    def labels(self) -> dict[str, str]:
        return {}

    def name(self) -> None:
        return None

    def described(self) -> str:
        return ", ".join(repr(link) for link in self.links)


class _FromFile:
    """A scenario file; `cell` and `replication` are None where they are not chosen yet."""

    __slots__ = ("cell", "file", "path", "replication", "sets", "store", "text")

    def __init__(
        self,
        path: Path,
        text: str,
        sets: tuple[tuple[str, str], ...],
        file: _clift.ScenarioFile,
        store: _clift.TraceStore,
        cell: int | None = None,
        replication: int | None = None,
    ) -> None:
        self.path = path
        self.text = text
        self.sets = sets
        self.file = file
        self.store = store
        self.cell = cell
        self.replication = replication

    @classmethod
    def parse(cls, path: Path, text: str, sets: tuple[tuple[str, str], ...]) -> _FromFile:
        file = _clift.ScenarioFile(str(path), text, list(sets))
        return cls(path, text, sets, file, _clift.TraceStore(path.parent))

    def chosen(self, cell: int, replication: int | None = None) -> _FromFile:
        return _FromFile(self.path, self.text, self.sets, self.file, self.store, cell, replication)

    def setup(self) -> _clift.Setup:
        cell, replication = self.only_cell(), self.only_replication()
        return self.file.setup(cell, replication, self.store)

    def only_cell(self) -> int:
        if self.cell is None and len(self.file) > 1:
            raise ScenarioError(
                f"{self.path} has {len(self.file)} cells; run scenario.cells() with run_many"
            )
        return self.cell or 0

    def only_replication(self) -> int:
        runs = self.file.runs(self.only_cell())
        if self.replication is None and runs > 1:
            raise ScenarioError(
                f"{self.path} asks for {runs} runs; run scenario.replications() with run_many"
            )
        return self.replication or 0

    def replaced(self, changes: dict[str, Any]) -> _FromFile:
        sets = dict(self.sets)
        for name, value in changes.items():
            sets.update(_as_keys(name, value))
        source = _FromFile.parse(self.path, self.text, tuple(sets.items()))
        if self.cell is None:
            return source
        labels = self.file.labels(self.cell)
        for cell in range(len(source.file)):
            if set(source.file.labels(cell)) <= set(labels):
                return source.chosen(cell, self.replication)
        raise ScenarioError(f"{self.path}: the change leaves no cell {dict(labels)}")

    def cells(self) -> Iterator[_FromFile]:
        if self.cell is not None:
            yield self
            return
        for cell in range(len(self.file)):
            yield self.chosen(cell)

    def replications(self) -> Iterator[_FromFile]:
        cell = self.only_cell()
        if self.replication is not None:
            yield self
            return
        for replication in range(self.file.runs(cell)):
            yield self.chosen(cell, replication)

    def size(self) -> int:
        if self.replication is not None:
            return 1
        cells = range(len(self.file)) if self.cell is None else (self.cell,)
        return sum(self.file.runs(cell) for cell in cells)

    def labels(self) -> dict[str, str]:
        if self.cell is None and len(self.file) > 1:
            return {}
        return dict(self.file.labels(self.cell or 0))

    def config(self) -> dict[str, Any]:
        config: dict[str, Any] = json.loads(self.file.config(self.cell or 0))
        return config

    def name(self) -> str | None:
        name: str | None = self.config()["name"]
        return name

    def described(self) -> str:
        labels = ", ".join(f"{axis}={label}" for axis, label in self.labels().items())
        return f"{self.path}{', ' if labels else ''}{labels}"


def _several(link: Any) -> Iterable[Any]:
    """What is given for one link or many, one by one."""
    if isinstance(link, Iterable) and not isinstance(link, str | AnyLink):
        return link
    return (link,)


def _options(options: Options, changes: dict[str, Any]) -> Options:
    if not changes.keys() <= NAMES:
        unknown = next(name for name in changes if name not in NAMES)
        raise ScenarioError(f"{unknown}: no such option; one of {', '.join(sorted(NAMES))}")
    return replace(options, **changes)


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            raw = file.read(_MOST_BYTES + 1)
    except OSError as error:
        reason = error.strerror or error
        raise ScenarioError(f"{path}: {reason}; give a scenario file (TOML)") from None
    if len(raw) > _MOST_BYTES:
        raise ScenarioError(
            f"{path}: too large for a scenario (at most {_MOST_BYTES // 1024} KiB); is it a trace?"
        )
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise ScenarioError(f"{path} line {line}: not UTF-8 text; save it as UTF-8") from None


def _as_keys(name: str, value: Any) -> dict[str, str]:
    """A keyword argument of `simulate`, or a dotted key, as changes of a scenario file."""
    if name == "file_bytes":
        if value is None:
            return {"application": '{ type = "bulk" }'}
        return {"application": f'{{ type = "file", size = "{value} B" }}'}
    if name == "linux" and isinstance(value, Mapping):
        return {f"transport.linux.{part}": _toml(on) for part, on in value.items()}
    if name == "queue_packets" and value is None:
        return {"link.queue": "unlimited"}
    key, unit = _KEYS.get(name, (name, ""))
    if unit and not isinstance(value, str):
        return {key: f"{_decimal(value)}{unit}"}
    if name == "delayed_ack" and not isinstance(value, bool | str):
        return {key: f"{_decimal(value)} ms"}
    return {key: _toml(value)}


def _decimal(value: float) -> str:
    """A number without exponent, as quantities are written."""
    return f"{value:.9f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def _toml(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
