"""Scenarios: everything that determines a run, from a file, a dict, or links and arguments."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self, Unpack

import clift._clift as _clift
from clift._changes import alone, changes, node
from clift._keywords import KEYWORDS, Keywords
from clift._parse import COUNT, Fixed, fault, same, whole
from clift._parse import text as one_text
from clift._values import Node, plain, respelled
from clift.columns import guessed
from clift.errors import ScenarioError
from clift.live.base import AnyLink, Live, hop
from clift.trace import PhyTrace

Source = str | Mapping[str, Node] | tuple[AnyLink, ...]
"""Text of a file, a tree, or links."""

# A scenario file is a page of text; a larger file is something else.
_MOST_BYTES = 256 * 1024
# Cells beyond this number are created on access.
_LISTED = 10_000


class Scenario(Fixed):
    """Everything that determines a run, or a campaign of runs.

    Args:
        source: A link trace or a live link, or several in series, which packets cross in order; or
            a dict with the sections and keys of a scenario file, with a trace object wherever a
            file may stand.
        options: Keyword arguments of `clift.simulate`, and keys of a scenario file such as `runs`
            and `vary`.

    Raises:
        ScenarioError: If a keyword does not exist, or its value has the wrong type; further checks
            happen when the scenario runs.

    Example:
        >>> import clift
        >>> phy = clift.channel.bernoulli(slots=20_000, p=0.02, seed=1)
        >>> ll = clift.tmt.apply(phy, clift.Arq())
        >>> scenario = clift.Scenario(ll, transport="newreno", file_bytes=20_000)
        >>> scenarios = [scenario.replace(start_offset_s=offset) for offset in range(3)]
        >>> [run.summary()["completion_s"] is not None for run in clift.run_many(scenarios)]
        [True, True, True]
        >>> live = clift.Scenario({"trace": {"file": phy}, "link": {"live": True}})
        >>> both = live.replace(duration_s=9, vary={"scheme": ["ARQ", "HARQ(10/12)"]})
        >>> [cell.labels for cell in both.cells()]
        [{'scheme': 'ARQ'}, {'scheme': 'HARQ(10/12)'}]
    """

    __slots__ = (
        *("_cell", "_core", "_file", "_given", "_is_checked", "_nodes", "_replication"),
        *("_sets", "_source"),
    )

    def __init__(
        self,
        source: AnyLink | Sequence[AnyLink] | Mapping[str, Any],
        **options: Unpack[Keywords],
    ) -> None:
        made: Source
        if isinstance(source, Mapping):
            made = plain("scenario", source)
        else:
            made = tuple(_several(source))
            for link in made:
                hop("link", link)
            if not made:
                raise ScenarioError("link: give one or more")
        self._fill(made, dict(options), {name: node(name, one) for name, one in options.items()})
        if isinstance(source, Mapping):
            self._checked()

    def _fill(
        self,
        source: Source,
        given: dict[str, Any],
        nodes: dict[str, Node],
        file: str = "",
        sets: tuple[tuple[str, str], ...] = (),
        cell: int | None = None,
        replication: int | None = None,
        core: _clift.Scenario | None = None,
    ) -> Self:
        self._source = source
        self._given = given  # keywords and dotted keys, in the given order
        self._nodes = nodes  # their values in the scenario
        self._file = file
        self._sets = sets  # changes made while reading the file
        self._cell = cell  # chosen cell of a campaign; None: not chosen
        self._replication = replication
        self._core = core  # created on first use
        self._is_checked = False
        return self

    @classmethod
    def read(cls, path: str | os.PathLike[str], changes: Mapping[str, Any] | None = None) -> Self:
        """Read a scenario file.

        Args:
            path: The file (TOML; docs/reference/scenario.md lists every key).
            changes: Dotted keys with values that replace those in the file.

        Raises:
            ScenarioError: If the file is not readable or not valid: file, line, key and cure.

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
        if not isinstance(path, str | os.PathLike):
            raise fault("path", path, "give the path of a scenario file")
        text = _text(Path(path))
        try:
            return cls.parse(text, str(path), changes)
        except ScenarioError as error:
            # Only a file that is not TOML may be a table: both may have commas.
            if ": not TOML: " in str(error) and _is_table(Path(path), text):
                raise ScenarioError(
                    f"{path}: a table, not a scenario; `clift advise {path}` chooses from a log, "
                    "and `clift trace import` makes a trace of it"
                ) from None
            raise

    @classmethod
    def parse(cls, text: str, file: str = "", changes: Mapping[str, Any] | None = None) -> Self:
        """Parse a scenario from the text of a file.

        Args:
            text: TOML, as in a file.
            file: Name to use in errors; files named in the text are relative to its folder.
            changes: Dotted keys with values that replace those in the text.

        Raises:
            ScenarioError: If the text is not valid: line, key and cure.

        Example:
            >>> import clift
            >>> clift.Scenario.parse('duration = "5"', "x.toml")  # doctest: +ELLIPSIS
            Traceback (most recent call last):
            clift.errors.ScenarioError: x.toml line 1: duration: `5` has no unit; ...
        """
        told = {} if changes is None else changes
        if not isinstance(told, Mapping):
            raise fault("changes", changes, "give a dict of dotted keys and their values")
        for key, value in told.items():
            if isinstance(value, Mapping):
                cure = f"a table; give each of its keys, e.g. {key}.{next(iter(value), 'key')}"
                raise ScenarioError(f"changes: {key}: {cure}")
        sets = tuple((str(key), _toml(value)) for key, value in told.items())
        source, name = one_text("text", text, "the text of a file"), one_text("file", file, "text")
        scenario = cls.__new__(cls)._fill(source, {}, {}, name, sets)
        scenario._checked()
        return scenario

    def replace(self, **options: Any) -> Self:
        """A copy with other values.

        Args:
            options: Keyword arguments of `clift.simulate`, and dotted keys of a scenario file:
                `replace(**{"link.rtt": "600 ms"})`. Changing a varied key fixes it.

        Raises:
            ScenarioError: If a keyword or key does not exist, or its value has the wrong type.
        """
        given, nodes = self._given.copy(), self._nodes.copy()
        for name, value in options.items():
            given.pop(name, None), nodes.pop(name, None)  # the last change applies last
            given[name], nodes[name] = value, node(name, value)
        changed = self._like(self._source, given, nodes, self._file, self._sets)
        if self._cell is None:
            changed._core = self._core_with({name: nodes[name] for name in options})
            if not isinstance(self._source, tuple):
                changed._checked()
            return changed
        labels = self.labels
        core = changed._checked()
        for cell in range(len(core)):
            if set(core.labels(cell)) <= set(labels.items()):
                return changed._chosen(cell, self._replication)
        raise ScenarioError(f"{self._who()}: the change leaves no cell {labels}")

    def _like(self, *parts: Any) -> Self:
        return type(self).__new__(type(self))._fill(*parts)

    def _chosen(self, cell: int, replication: int | None = None) -> Self:
        parts = (self._source, self._given, self._nodes, self._file, self._sets)
        chosen = self._like(*parts, cell, replication, self._core)
        chosen._is_checked = self._is_checked and self._core is not None
        return chosen

    def moved(self, file: str) -> Self:
        """A copy whose file names are relative to another file.

        Args:
            file: Name to use in errors, in the folder of the files.
        """
        return self._like(self._source, self._given, self._nodes, file, self._sets)

    def cells(self) -> Sequence[Self]:
        """The cells of a campaign, each a scenario without variation.

        Beyond 10,000 cells, each is created on access and not kept.
        """
        if self._cell is not None:
            return [self]
        count = len(self._checked())
        if count > _LISTED:
            return _Cells(self, range(count))
        return [self._chosen(cell) for cell in range(count)]

    def replications(self) -> list[Self]:
        """The runs of a single cell, each with its seed."""
        if self._replication is not None:
            return [self]
        cell = self._only_cell()
        return [self._chosen(cell, run) for run in range(self._checked().runs(cell))]

    def replication(self, number: int) -> Self:
        """One run of a single cell by its number, which may exceed the cell's number of runs."""
        chosen = whole("number", number, 0, COUNT)
        cell = self._only_cell()
        self._checked()
        return self._chosen(cell, chosen)

    @property
    def size(self) -> int:
        """Total number of runs, over all cells and replications."""
        return 1 if self._replication is not None else sum(self.sizes)

    @property
    def sizes(self) -> list[int]:
        """Number of runs of every cell."""
        core = self._checked()
        return core.all_runs() if self._cell is None else [core.runs(self._cell)]

    @property
    def labels(self) -> dict[str, str]:
        """Axes and labels of a cell; empty if nothing varies."""
        core = self._checked()
        if self._cell is None and len(core) > 1:
            return {}
        return dict(core.labels(self._cell or 0))

    @property
    def axes(self) -> list[tuple[str, list[str]]]:
        """Varied axes of the campaign: names and labels."""
        return self._checked().axes()

    @property
    def printed(self) -> list[dict[str, Any]]:
        """Values printed in a paper, from `[[printed]]`."""
        printed: list[dict[str, Any]] = json.loads(self._checked().printed())
        return printed

    @property
    def config(self) -> dict[str, Any]:
        """Sections and keys of the (first) cell with every default filled in."""
        config: dict[str, Any] = json.loads(self.config_text)
        return config

    @property
    def config_text(self) -> str:
        """The configuration as JSON, in which each in-memory object has a unique name."""
        return self._checked().config(self._cell or 0)

    @property
    def nodes(self) -> tuple[Any, ...]:
        """Input of the core: sections and keys, and their changes, with in-memory objects."""
        return self.tree, self._nodes

    @property
    def source(self) -> tuple[Any, ...]:
        """Origin of the whole campaign: text, dict or links, and every change."""
        return self._source, self._given, self._sets

    @property
    def name(self) -> str | None:
        """The title, if any."""
        name: str | None = self.config["name"]
        return name

    @property
    def file(self) -> str:
        """Name of the scenario's file; empty if it has none."""
        return self._file

    @property
    def changes(self) -> dict[str, str]:
        """Changes made while reading the file: dotted keys and values."""
        return dict(self._sets)

    @property
    def text(self) -> str:
        """The text of the file; without a file, the first cell as JSON."""
        return self._source if isinstance(self._source, str) else json.dumps(self.config)

    @property
    def tree(self) -> Mapping[str, Node]:
        """Sections and keys as given, before any change; links as hops."""
        if isinstance(self._source, tuple):
            hops = [hop("link", link) for link in self._source]
            return hops[0] if len(hops) == 1 else {"path": hops}
        if isinstance(self._source, str):
            try:
                return tomllib.loads(self._source)
            except tomllib.TOMLDecodeError:  # a newer TOML than Python's parser supports
                return {}
        return self._source

    @property
    def varied(self) -> dict[str, Any]:
        """The section `[vary]` as given, before any change."""
        return self._nodes.get("vary") or self.tree.get("vary") or {}

    @property
    def is_transfer(self) -> bool:
        """True if every flow of the cell ends: a file, a page, a number of requests."""
        return self._checked().is_transfer(self._only_cell())

    @property
    def seed(self) -> int:
        """Seed of the run."""
        _, cell, replication = self.task()
        return self._checked().seed(cell, replication)

    def seeds(self) -> Callable[[int, int], int]:
        """Function that returns the seed of a run, given the number of its cell and of the run."""
        core, own = self._checked(), self._cell
        return lambda cell, run: core.seed(cell if own is None else own, run)

    @property
    def shared(self) -> str | None:
        """Random input that all runs of the cell share, although each could have its own.

        `trace`: from a file or an object; `channel`: one draw of it (`redraw = false`, or its own
        `seed`); None: every run draws everything again.
        """
        return self._checked().shared(self._only_cell())

    def window(self) -> tuple[int, int, bool] | None:
        """Part of the shared trace that a run uses.

        Returns:
            Trace time of the start in ns, length of the trace in ns, and whether it repeats. None
            unless runs start at random times.

        Raises:
            ScenarioError: If the trace is too short for a run, or there are several cells or runs.
            TraceError: If a trace cannot be read or made.
        """
        core, cell, replication = self.task()
        return core.window(cell, replication)

    def setup(self) -> _clift.Setup:
        """Input of the engine.

        Raises:
            ScenarioError: If the scenario is not valid, or has several cells or runs.
            TraceError: If a trace is not readable or not valid.
        """
        core, cell, replication = self.task()
        try:
            return core.setup(cell, replication)
        except ScenarioError as error:
            raise self.explained(error) from None

    def routes(self) -> list[tuple[str, list[str], list[str]]]:
        """Routes of the flows through a network, in the first run of the (first) cell.

        Returns:
            Of each flow its name, else its number, and the names of the links that its packets
            cross, there and back. Empty without a network.

        Raises:
            TraceError: If a trace is not readable or not valid.

        Example:
            >>> import clift
            >>> leg = {"rate": "1 Mbit/s"}
            >>> link = {"from": "a", "to": "b", "duplex": True, "leg": leg}
            >>> scenario = {"network": {"links": {"ab": link}}, "flow": [{"from": "b", "to": "a"}]}
            >>> clift.Scenario(scenario).routes()
            [('0', ['ab'], ['ab'])]
        """
        if self.config["network"] is None:
            return []
        core = self._checked()
        return core.setup(self._cell or 0, self._replication or 0).routes()

    def phy_trace(self) -> PhyTrace | None:
        """PHY trace of the first link; None if it has none.

        Raises:
            TraceError: If it is not readable or not valid.
        """
        core, cell, replication = self.task()
        inner = core.phy_trace(cell, replication)
        return None if inner is None else PhyTrace.of(inner)

    def overridden(self) -> list[str]:
        """Keys with a value that no cell has, as `[vary]` sets them in every cell, one line each.

        What `replace` varies is left out: it is there to replace what the scenario says.

        Example:
            >>> import clift
            >>> channel = {"model": "bernoulli", "erasures": 0, "slot": "1 ms"}
            >>> both = {"channel": channel, "scheme": "ARQ", "vary": {"scheme": ["none", "ARQ"]}}
            >>> clift.Scenario(both).overridden()
            ['scheme: not used, as [vary] sets this key in every cell']
        """
        return self._checked().overridden()

    def taken(self) -> list[str]:
        """Values that links took from their traces as defaults, one line each.

        Raises:
            TraceError: If a trace is not readable or not valid.
        """
        core, cell, _ = self.task()
        return core.taken(cell)

    def in_effect(self) -> dict[str, tuple[str, str]]:
        """Round-trip time, queue, LLDU size and decoding time of the links, with their origins.

        Returns:
            Value and origin by dotted key; the origin is a line of the file, `--set`, a preset, the
            trace or a default. For a campaign, values that differ between cells are listed.

        Raises:
            TraceError: If a trace is not readable or not valid.

        Example:
            >>> import clift
            >>> channel = {"model": "bernoulli", "erasures": 0, "slot": "1 ms"}
            >>> clift.Scenario({"channel": channel}).in_effect()["link.rtt"]
            ('100 ms', 'default')
        """
        core = self._checked()
        return _joined(core.in_effect(cell) for cell in self._numbers())

    def explain(self) -> dict[str, tuple[str, str]]:
        """Every key in effect: value and origin by dotted key, as in `in_effect`."""
        core = self._checked()
        cells = []
        for cell in self._numbers():
            origins = dict(core.origins(cell))
            values = dict(_leaves("", json.loads(core.settled(cell))))
            found = {
                key: (key, value, origins.get(key, "default")) for key, value in values.items()
            }
            found |= {own[0]: own for own in core.in_effect(cell)}
            cells.append(found.values())
        return _joined(cells)

    def _numbers(self) -> Iterable[int]:
        return range(len(self._checked())) if self._cell is None else (self._cell,)

    def task(self) -> tuple[_clift.Scenario, int, int]:
        """The core's scenario, not yet checked, with the numbers of its cell and run."""
        cell = self._only_cell()
        return self._made(), cell, self._only_replication(cell)

    def explained(self, error: ScenarioError) -> ScenarioError:
        """Reword an error of the core in terms of the scenario's keywords or file."""
        given = {name: value for name, value in self._given.items() if name in KEYWORDS}
        if not isinstance(self._source, tuple):
            return respelled(error, {name: KEYWORDS[name] for name in given}, given)
        keywords = dict(KEYWORDS)
        for link in self._source:
            if isinstance(link, Live):
                keywords, given = link.keywords | keywords, dict(link.values()) | given
        return respelled(error, keywords, given)

    def _only_cell(self) -> int:
        if self._cell is None and not self._is_single("vary"):
            count = len(self._checked())
            if count > 1:
                cure = "run scenario.cells() with run_many"
                raise ScenarioError(f"{self._who()} has {count} cells; {cure}")
        return self._cell or 0

    def _only_replication(self, cell: int) -> int:
        if self._replication is None and not self._is_single("runs"):
            runs = self._checked().runs(cell)
            if runs > 1:
                cure = "run scenario.replications() with run_many"
                raise ScenarioError(f"{self._who()} asks for {runs} runs; {cure}")
        return self._replication or 0

    def _is_single(self, key: str) -> bool:
        """True if `key` does not make several runs, as far as is known without parsing."""
        nodes = self._nodes
        return isinstance(self._source, tuple) and "vary" not in nodes and key not in nodes

    def _who(self) -> str:
        return self._file or "the scenario"

    def _made(self) -> _clift.Scenario:
        if self._core is None:
            # Text goes to the core alone: its parser, unlike Python's, limits nesting.
            is_text, of_links = isinstance(self._source, str), isinstance(self._source, tuple)
            tree = self.tree if self._nodes or not is_text else {}
            content = self._source if is_text else tree
            changed = changes(self._nodes, tree, of_links)
            self._core = _clift.Scenario(self._file, content, list(self._sets), changed)
        return self._core

    def _core_with(self, nodes: Mapping[str, Node]) -> _clift.Scenario | None:
        """A copy with other keyword values, if each changes a single key.

        A sweep over links has many scenarios that differ only in a seed or a start.
        """
        if not isinstance(self._source, tuple):
            return None
        links = len(self._source) + (self._nodes.get("return_link") is not None)
        changed = alone(nodes, links)
        if changed is None:
            return None
        try:
            return self._made().changed(changed)
        except ScenarioError:
            return None  # the error is raised when the scenario runs

    def _checked(self) -> _clift.Scenario:
        core = self._made()
        if self._is_checked:  # called for every run of a campaign
            return core
        try:
            core.read()
        except ScenarioError as error:
            raise self.explained(error) from None
        self._is_checked = True
        return core

    def __repr__(self) -> str:
        if isinstance(self._source, tuple):
            return f"Scenario({', '.join(map(repr, self._source))})"
        labels = ", ".join(f"{axis}={label}" for axis, label in self.labels.items())
        return f"Scenario({self._who()}{', ' if labels else ''}{labels})"

    def _parts(self) -> tuple[Any, ...]:
        """Constructor arguments, for equality, hash and pickling."""
        chosen = (self._cell, self._replication)
        return self._source, self._given, self._file, self._sets, *chosen

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Scenario):
            return NotImplemented
        return self is other or same(self._parts(), other._parts())

    def __hash__(self) -> int:
        return hash((self._file, self._sets, self._cell, self._replication))

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), *self._parts())


class _Cells(Sequence[Any]):
    """The cells of a large campaign, each created on access."""

    __slots__ = ("_numbers", "_scenario")

    def __init__(self, scenario: Scenario, numbers: range) -> None:
        self._scenario, self._numbers = scenario, numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, place: Any) -> Any:
        numbers = self._numbers[place]
        if isinstance(numbers, range):
            return _Cells(self._scenario, numbers)
        return self._scenario._chosen(numbers)


def _restored(kind: type[Scenario], source: Source, given: dict[str, Any], *parts: Any) -> Scenario:
    nodes = {name: node(name, value) for name, value in given.items()}
    return kind.__new__(kind)._fill(source, given, nodes, *parts)


def _joined(cells: Iterable[Iterable[tuple[str, str, str]]]) -> dict[str, tuple[str, str]]:
    """Values and origins over several cells, each once."""
    found: dict[str, tuple[list[str], list[str]]] = {}
    for cell in cells:
        for key, *pair in cell:
            for known, new in zip(found.setdefault(key, ([], [])), pair, strict=True):
                known += [] if new in known else [new]
    return {key: (" | ".join(values), ", ".join(of)) for key, (values, of) in found.items()}


def _leaves(key: str, value: Any) -> Iterable[tuple[str, str]]:
    """Dotted keys and values; None values are omitted.

    Example:
        >>> list(_leaves("", {"link": {"wrap": True, "rtt": None}, "path": [{"leg": {"loss": 0}}]}))
        [('link.wrap', 'true'), ('path.0.leg.loss', '0')]
    """
    below: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, dict):
        below = value.items()
    elif isinstance(value, list) and any(isinstance(one, dict) for one in value):
        below = enumerate(value)
    elif value is not None and value != []:
        yield key, value if isinstance(value, str) else json.dumps(value)
    for name, one in below:
        yield from _leaves(f"{key}.{name}" if key else str(name), one)


def _several(link: Any) -> Iterable[Any]:
    """The links of an argument that is one link or several."""
    try:
        return (link,) if isinstance(link, str | AnyLink) else iter(link)
    except TypeError:
        return (link,)


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            raw = file.read(_MOST_BYTES + 1)
    except (OSError, ValueError) as error:  # a name with a null byte raises ValueError
        reason = getattr(error, "strerror", None) or error
        raise ScenarioError(f"{path}: {reason}; give a scenario file (TOML)") from None
    if raw.startswith(b"PAR1"):
        raise ScenarioError(
            f"{path}: a Parquet file, not a scenario; name the trace in one (file in [trace]), or "
            f"use clift tmt {path}"
        )
    if len(raw) > _MOST_BYTES:
        raise ScenarioError(
            f"{path}: too large for a scenario (at most {_MOST_BYTES // 1024} KiB); is it a trace?"
        )
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise ScenarioError(f"{path} line {line}: not UTF-8 text; save it as UTF-8") from None


def _is_table(path: Path, text: str) -> bool:
    if path.suffix.lower() in (".csv", ".tsv"):
        return True
    return path.suffix.lower() != ".toml" and guessed(text) is not None


def _toml(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
