"""User-written parts in Python: schemes, congestion controls, schedulers, queues, applications.

A part is registered under a name for the lifetime of the process. Scenarios then use that name
wherever they may use a built-in part. `docs/guides/extend-in-python.md` has an example of each.

CLIFT passes values to a part by the names of its parameters. It fills in some names itself (`rng`,
`rtt_ns`, ...; each function below lists them). All other parameters come from the scenario:
`repeat(3)`, `repeat(times 3)`, or keys of `[application]` or `[carrier.scheduler]`. `rng` is a
`numpy.random.Generator` seeded from the run's seed, so runs with the same seed are equal. A
`ScenarioError` tells if the name is taken, or the part is not valid.
"""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from traceback import walk_tb
from types import CodeType
from typing import Any, NamedTuple, TypeVar

import numpy as np

import clift._clift as _clift
from clift._parse import fault
from clift.errors import CliftError, ScenarioError, SimulationError
from clift.trace import PhyTrace

Part = TypeVar("Part", bound=Callable[..., Any])

_NAME = re.compile(r"[A-Za-z_][\w.-]*")
_COLUMNS = ("t_ns", "d_ns", "lost_ns", "transmissions", "slots_used")


class Registered(NamedTuple):
    """A registered part."""

    kind: str
    """`scheme`, `congestion control`, `path scheduler`, `carrier scheduler`, `queue` or
    `application`."""
    name: str
    digest: str
    """A hash of its file, or of its source if it has no file."""
    plugin: Path | None
    """The plugin that registered it, if any."""


class Plugin(NamedTuple):
    """A plugin file, as it was when it was loaded."""

    path: Path
    content: bytes


_REGISTERED: list[Registered] = []
_PLUGINS: dict[str, Plugin] = {}
_loading: list[Path] = []


def register_scheme(name: str) -> Callable[[Part], Part]:
    """Register a scheme: a function over the arrays of a PHY trace, or a class called per slot.

    A **function** takes `phy` (a `clift.PhyTrace`), and may take `rtt_ns`, `feedback_ns`,
    `decode_ns` (nominal decoding time) and `rng`, filled in by CLIFT; its draws are the same for
    every run with the same text. It returns a dict with one value per data LLDU, in order: `t_ns`
    (start of the slot of its first transmission), `d_ns` (time from then until its delivery; 0: not
    delivered), and optionally `lost_ns` (time from `t_ns` until it is given up; 0: not given up),
    `transmissions` (default 1) and `slots_used` (a number; default: every slot). It makes link
    traces, for links that are not live.

    A **class** is instantiated once per link, and may take `rtt_ns`, `feedback_ns`, `decode_ns` and
    `rng` in `__init__`. It has

    - `wants(data_waits)`: the earliest time in ns at which it wants a slot (0: the next slot), or
      None to wait for new data;
    - `carry(slot)`: decides what a `slot` carries: `slot.send_new()` returns the number of the data
      unit that it sends; `slot.send_again(unit, times)`, `slot.send_repair(block, first, last)`. It
      calls `slot.arrived(unit)` or `slot.give_up(unit)` once per data unit. It may read
      `slot.t_ns`, `slot.d_ns` (0: erased), `slot.data_waits`; `slot.report_ns()` is when the sender
      learns the slot's fate. A scheme must not use `d_ns` before that time.

    It works on links with `live = true`, and on link traces, for which data always wait.

    Args:
        name: Name of the scheme; scenarios write `scheme = "name"`, or `"name(3)"` with parameters.

    Returns:
        A decorator.

    Example:
        >>> import clift
        >>> @clift.register_scheme("half")
        ... def half(phy, decode_ns):
        ...     "Every second slot carries data."
        ...     t, d = phy.t_ns[::2], phy.d_ns[::2]
        ...     return {"t_ns": t, "d_ns": d, "lost_ns": (d == 0) * decode_ns}
        >>> phy = clift.channel.bernoulli(slots=1000, p=0.1, seed=1)
        >>> len(clift.tmt.apply(phy, "half"))
        500
        >>> clift.tmt.apply(phy, "half(3)")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        clift.errors.ScenarioError: half(3): `3` means nothing here; it has no parameters; ...
    """

    def make(
        part: Any, seed: int, times: tuple[int, int, int], given: dict[str, Any], phy: Any
    ) -> Any:
        found = dict(zip(("rtt_ns", "feedback_ns", "decode_ns"), times, strict=True))
        if phy is None:
            return _call(part, given, seed, found)
        columns = _call(part, given, seed, found | {"phy": PhyTrace.of(phy)})
        return _columns(f"scheme `{name}`", columns)

    def check(part: Any) -> None:
        if inspect.isclass(part):
            _has(part, "scheme slot by slot", "wants", "carry")
        elif "phy" not in inspect.signature(part).parameters:
            raise fault("part", part, "the parameter phy (the PHY trace) is missing; add it")

    filled = ("phy", "rtt_ns", "feedback_ns", "decode_ns", "rng")
    return _decorator("scheme", name, filled, (), make, check)


def register_congestion(name: str) -> Callable[[Part], Part]:
    """Register a congestion control: a class, instantiated once per connection.

    `__init__` may take `mss_bytes` (payload of a full packet) and `rng`, filled in by CLIFT; all
    other parameters need defaults. The class has

    - `on_ack(ack, window)`: called for an ACK outside recovery that acknowledges new data; sets
      `window.cwnd`, or calls `window.slow_start(segments)` (which returns the segments left over)
      and `window.increase(count, segments)` (one more segment per `count`). `ack.segments` newly
      acknowledged, `ack.fills_window` (a window may grow only then), `ack.rtt_ns`, `ack.srtt_ns`,
      `ack.now_ns`, `ack.in_flight` before the ACK, `ack.first` and `ack.next`: segment numbers;
      `ack.handover` and `ack.last_handover`: the next and the last handover that the terminal
      knows (`at_ns`, `gap_ns`, `delay_ns`, `rate_bps` of the link after it), or None;
    - `on_loss(window)`: called when a loss is detected; returns the new window in segments;
    - `on_timeout(window)`: called when the retransmission timer expires; returns the threshold.
      Default: `on_loss`.

    `window.cwnd`, `window.ssthresh` (None before the first loss), `window.in_slow_start`. The
    control works in the profiles `linux` and `papers`; only `linux` sets `ack.rtt_ns` and
    `ack.srtt_ns`.

    Args:
        name: Name of the control; scenarios write `transport.congestion = "name"`.

    Returns:
        A decorator.

    Example:
        >>> import clift
        >>> @clift.register_congestion("steady")
        ... class Steady:
        ...     "A window of 20 segments."
        ...     def on_ack(self, ack, window):
        ...         window.cwnd = 20
        ...     def on_loss(self, window):
        ...         return 20
        >>> phy = clift.channel.bernoulli(slots=20_000, p=0.02, seed=1)
        >>> run = clift.simulate(clift.tmt.apply(phy, clift.Arq()), transport="steady",
        ...                      duration_s=10)
        >>> max(run.series().column("cwnd_packets").to_pylist())
        20.0
    """

    def make(part: Any, seed: int, mss_bytes: int) -> Any:
        return _call(part, {}, seed, {"mss_bytes": mss_bytes})

    filled, methods = ("mss_bytes", "rng"), ("on_ack", "on_loss")
    return _decorator("congestion control", name, filled, methods, make, keys=False)


def register_path_scheduler(name: str) -> Callable[[Part], Part]:
    """Register a path scheduler: a class, instantiated once per connection over several paths.

    `__init__` may take `rng`, filled in by CLIFT; all other parameters need defaults. The class has
    `choose(paths, segments, window)`: returns the path that carries the next segment, one with
    room; a list of paths with room, and each of them carries it; or None, and the segment waits
    until a window opens. What another path gave up has only the first of a list.

    - `paths`: those that are open, in order of their numbers, without those that seem to have
      failed; at least one. A path has `number`, `room` (segments that it takes at once), `srtt_ns`,
      `deviation_ns`, `cwnd` and `in_flight` (segments);
    - `segments`: how many segments wait that no path has; None: data without end;
    - `window`: the shared receive window in segments.

    Args:
        name: Name of the scheduler; a flow over several paths writes `path_scheduler = "name"`.

    Returns:
        A decorator.

    Example:
        >>> import clift
        >>> @clift.register_path_scheduler("widest")
        ... class Widest:
        ...     "The path with the most room."
        ...     def choose(self, paths, segments, window):
        ...         widest = max(paths, key=lambda path: path.room)
        ...         return widest if widest.room > 0 else None
        >>> scenario = clift.Scenario.parse('''
        ... duration = "5 s"
        ... [network.links]
        ... a = { from = "x", to = "y", duplex = true, leg = { rate = "4 Mbit/s" } }
        ... b = { from = "x", to = "y", duplex = true, leg = { rate = "2 Mbit/s" } }
        ... [[flow]]
        ... from = "x"
        ... to = "y"
        ... paths = [["a"], ["b"]]
        ... path_scheduler = "widest"
        ... ''')
        >>> clift.simulate(scenario).goodput_kbps > 4000
        True
    """

    def make(part: Any, seed: int) -> Any:
        return _call(part, {}, seed, {})

    return _decorator("path scheduler", name, ("rng",), ("choose",), make, keys=False)


def register_carrier_scheduler(name: str) -> Callable[[Part], Part]:
    """Register a scheduler of a carrier: a class, instantiated once per carrier.

    `__init__` may take `terminals` (their number), `slot_bytes`, `slot_ns` (duration of a slot),
    `delay_ns` (propagation, one way) and `rng`, filled in by CLIFT. All other parameters are keys
    of `[carrier.scheduler]`. The class has `assign(frame, waiting, room)`: called at the start of a
    frame with its number (frame 0 starts at 0) and, for each terminal, the bytes that wait, those
    to be sent again included, and the bytes that a slot carries now (fewer in a fade; up to date
    where bytes wait), both numpy arrays. It returns a list with the terminal of each slot of the
    frame, counted from 0, or None; slots after the end of the list have no terminal. A slot of a
    terminal without data stays unused. The class may have

    - `frame_slots`: slots of a frame, read after `__init__`. Default: 1;
    - `served(terminal, bytes)`: called for each slot that carried bytes of its terminal;
    - `is_busy`: read after `assign`; if true, `assign` is called for the next frame even if no
      bytes wait. Default: False.

    Args:
        name: Name of the scheduler; scenarios write `carrier.scheduler = { type = "name" }`.

    Returns:
        A decorator.

    Example:
        >>> import clift
        >>> @clift.register_carrier_scheduler("longest-queue")
        ... class LongestQueue:
        ...     "Each slot goes to the terminal with most bytes."
        ...     def assign(self, frame, waiting, room):
        ...         return [waiting.argmax()]
        >>> scenario = clift.Scenario.parse('''
        ... duration = "5 s"
        ... flows = 3
        ... [carrier]
        ... terminals = 3
        ... rate = "6 Mbit/s"
        ... scheduler = { type = "longest-queue" }
        ... ''')
        >>> clift.simulate(scenario).goodput_kbps > 5000
        True
    """
    filled = ("terminals", "slot_bytes", "slot_ns", "delay_ns", "rng")

    def make(part: Any, seed: int, carrier: tuple[int, ...], given: dict[str, Any]) -> Any:
        return _call(part, given, seed, dict(zip(filled[:-1], carrier, strict=True)))

    return _decorator("carrier scheduler", name, filled, ("assign",), make)


def register_queue(name: str) -> Callable[[Part], Part]:
    """Register a queue: a class, instantiated once per link or leg.

    `__init__` may take `rng`, filled in by CLIFT. The class has

    - `enqueue(packet)`: called for an arriving packet that fits the limit (`queue` of the link);
      packets beyond the limit are dropped before. Returns False to drop the packet;
    - `dequeue(now_ns)`: returns the packet to send now; None only if no packet waits.

    `packet.size_bytes` (IP packet), `packet.flow`, `packet.arrived_ns`, `packet.number`;
    `packet.drop()` drops a waiting packet.

    Args:
        name: Name of the queue; scenarios write `link.aqm = "name"`, or `"name(5)"` with
            parameters.

    Returns:
        A decorator.

    Example:
        >>> import clift
        >>> @clift.register_queue("newest-first")
        ... class Stack:
        ...     "The newest packet first."
        ...     def __init__(self):
        ...         self.waiting = []
        ...     def enqueue(self, packet):
        ...         self.waiting.append(packet)
        ...     def dequeue(self, now_ns):
        ...         return self.waiting.pop() if self.waiting else None
        >>> phy = clift.channel.bernoulli(slots=20_000, p=0.02, seed=1)
        >>> ll = clift.tmt.apply(phy, clift.Arq())
        >>> run = clift.simulate(ll, duration_s=10, **{"link.aqm": "newest-first"})
        >>> run.goodput_kbps > 0
        True
    """

    def make(part: Any, seed: int, given: dict[str, Any]) -> Any:
        return _call(part, given, seed, {})

    return _decorator("queue", name, ("rng",), ("enqueue", "dequeue"), make)


def register_application(name: str) -> Callable[[Part], Part]:
    """Register an application: a generator, or a class instantiated once per flow.

    Both may take `start_ns`, `payload_bytes` (payload of a packet) and `rng`, filled in by CLIFT.
    All other parameters are keys of `[application]`.

    A **generator** yields `(bytes, at_ns)`: the bytes to send now, and the later time at which it
    continues (None, or the generator's end: no more data). The first time is the start of the flow.

    A **class** has `send(now_ns)`, which returns such a pair, and may have

    - `arrived(now_ns, start, end)`: called when the bytes from `start` to `end` arrive; over TCP in
      order;
    - `report()`: returns messages sent, received and in time, and a list of their delays in ns, for
      the summary of the run.

    `math.inf` bytes: it always has more data.

    Args:
        name: Name of the application; scenarios write `application.type = "name"`.

    Returns:
        A decorator.

    Example:
        >>> import clift
        >>> @clift.register_application("bursts")
        ... def bursts(start_ns, rng, burst_bytes=5000, pause_ms=200.0):
        ...     "Bursts after pauses of random length."
        ...     at_ns = start_ns
        ...     while True:
        ...         at_ns += 1 + int(1e6 * rng.exponential(pause_ms))
        ...         yield burst_bytes, at_ns
        >>> phy = clift.channel.bernoulli(slots=200_000, p=0.02, seed=1)
        >>> application = {"application.type": "bursts", "application.pause_ms": 500}
        >>> run = clift.simulate(clift.tmt.apply(phy, clift.Arq()), duration_s=20, **application)
        >>> 100_000 < run.summary()["flows"][0]["bytes_in_order"] < 400_000
        True
    """

    def make(part: Any, seed: int, start_ns: int, payload_bytes: int, given: dict[str, Any]) -> Any:
        made = _call(part, given, seed, {"start_ns": start_ns, "payload_bytes": payload_bytes})
        return _Steps(made) if inspect.isgenerator(made) else made

    def check(part: Any) -> None:
        if inspect.isclass(part):
            _has(part, "application", "send")
        elif not inspect.isgeneratorfunction(part):
            raise fault("part", part, "give a class with a method send, or a generator")

    filled = ("start_ns", "payload_bytes", "rng")
    return _decorator("application", name, filled, (), make, check)


def _decorator(
    kind: str,
    name: str,
    filled: tuple[str, ...],
    methods: tuple[str, ...],
    make: Callable[..., Any],
    check: Callable[[Any], object] = id,
    keys: bool = True,
) -> Callable[[Part], Part]:
    """The decorator of a kind of part.

    Args:
        kind: The kind.
        name: Name of the part.
        filled: Parameters that CLIFT fills in.
        methods: Methods that the part has.
        make: Makes an instance from the part and the values that the core gives.
        check: Refuses a part that is not valid.
        keys: Whether a scenario sets the other parameters; otherwise each needs a default.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise fault("name", name, "give a letter, then letters, digits, -, . or _")

    def register(part: Part) -> Part:
        parameters = _parameters(part, filled)
        if not keys and (needed := [one for one, needed in parameters.items() if needed]):
            raise fault("part", part, f"{needed[0]} is not filled in; give it a default")
        check(part)
        _has(part, kind, *methods)
        settings = list(parameters.items()) if keys else []
        _clift.register(kind, name, _summary(part), settings, partial(make, part))
        _REGISTERED.append(Registered(kind, name, _digest(part), None))
        return part

    return register


class _Steps:
    """An application made from a generator."""

    def __init__(self, steps: Iterator[Any]) -> None:
        self._steps = steps

    def send(self, now_ns: int) -> Any:  # noqa: ARG002 - the generator keeps its own time
        return next(self._steps, (0, None))


def load_plugin(path: str | os.PathLike[str]) -> None:
    """Load a file that registers parts, as `clift run --plugin FILE` does.

    The file runs once; loading the same content again does nothing. Saved runs of a study depend on
    the file's content: a changed file starts the study again. CLIFT does not track what the file
    imports, so keep everything that affects results in the file.

    Args:
        path: A Python file.

    Raises:
        ScenarioError: If the file does not exist, fails, or registers nothing.

    Example:
        >>> import clift
        >>> clift.load_plugin("missing.py")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        clift.errors.ScenarioError: plugin missing.py: No such file or directory; ...
    """
    cure = "give a Python file that registers parts"
    if not isinstance(path, str | os.PathLike):
        raise fault("path", path, cure)
    file = Path(path)
    try:
        # A device may have no end, and a FIFO no writer.
        if file.exists() and not file.is_file():
            raise ValueError("not a regular file")
        content = file.read_bytes()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise ScenarioError(f"plugin {file}: {why}; {cure}") from None
    load_content(file, content)


def load_content(path: Path, content: bytes) -> None:
    """Load the content of a plugin, unless it is already loaded.

    Raises:
        ScenarioError: If the content fails, or registers nothing.
    """
    key = _hash(content)
    if key in _PLUGINS:
        return
    name = f"clift_plugin_{key}"
    spec = importlib.util.spec_from_loader(name, loader=None, origin=str(path))
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    module.__file__ = str(path)
    sys.modules[name] = module
    before = len(_REGISTERED)
    _loading.append(path)
    try:
        exec(compile(content, str(path), "exec"), module.__dict__)
    except CliftError as error:
        raise ScenarioError(f"{path}: {error}") from error
    except Exception as error:
        raise ScenarioError(f"{path}: {where(error, path)}{_told(error)}") from error
    finally:
        _loading.pop()
        for place in range(before, len(_REGISTERED)):
            _REGISTERED[place] = _REGISTERED[place]._replace(digest=key, plugin=path)
    if len(_REGISTERED) == before:
        cure = "decorate a part with @clift.register_scheme(name) or one of its like"
        raise ScenarioError(f"{path}: registers nothing; {cure}")
    _PLUGINS[key] = Plugin(path, content)


def where(error: BaseException, path: Path) -> str:
    """The line of a file at which an exception was raised: `line 3: `, or empty text."""
    lines = [error.lineno] if isinstance(error, SyntaxError) else []
    frames = walk_tb(error.__traceback__)
    lines += [line for frame, line in frames if frame.f_code.co_filename == str(path)]
    return f"line {lines[-1]}: " if lines else ""


def explained(error: BaseException) -> str | None:
    """The exception of a plugin with its place, in one line; None if no plugin raised it."""
    files = {str(plugin.path) for plugin in _PLUGINS.values()}
    names = [frame.f_code.co_filename for frame, _ in walk_tb(error.__traceback__)]
    if not (found := [name for name in names if name in files]):
        return None
    return f"{found[-1]}: {where(error, Path(found[-1]))}{_told(error)}"


def _told(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def used(text: str) -> list[Registered]:
    """The registered parts named in the JSON of a configuration."""
    lower = text.lower()
    return [
        one
        for one in _REGISTERED
        if any(f'"{one.name.lower()}{end}' in lower for end in ('"', "("))
    ]


def digests(text: str) -> list[str]:
    """Digests of the parts that a configuration names, which also decide its results."""
    return [f"{one.kind} {one.name} {one.digest}" for one in used(text)]


def plugins_of(texts: Iterable[str]) -> list[Plugin]:
    """The plugins of the parts that configurations name, for use in another process.

    Raises:
        ScenarioError: If a part does not come from a plugin, so other processes cannot load it.
    """
    found: dict[str, Plugin] = {}
    for one in {one for text in texts for one in used(text)}:
        if one.plugin is None:
            raise ScenarioError(
                f"{one.kind} `{one.name}`: known in this process only; put it into a file and load "
                'that with clift.load_plugin("own.py"), so that workers get it'
            )
        found[one.digest] = _PLUGINS[one.digest]
    return [found[key] for key in sorted(found)]


def _digest(part: Any) -> str:
    """A hash of the file of a part, or of its source, or of its byte code."""
    try:
        file = inspect.getsourcefile(part)
        if file is not None and Path(file).is_file():
            return _hash(Path(file).read_bytes())
        return _hash(inspect.getsource(part).encode())
    except (OSError, TypeError):
        pass
    functions = vars(part).values() if inspect.isclass(part) else [part]
    codes = [one.__code__ for one in functions if inspect.isfunction(one)]
    defaults = [repr(one.__defaults__) for one in functions if inspect.isfunction(one)]
    return _hash("\n".join([*map(_code, codes), *defaults]).encode())


def _code(code: CodeType) -> str:
    inner = [_code(one) if isinstance(one, CodeType) else repr(one) for one in code.co_consts]
    return f"{code.co_code.hex()} {code.co_names} {inner}"


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]


def _summary(part: Any) -> str:
    return (inspect.getdoc(part) or "").split("\n\n")[0]


def _parameters(part: Any, filled: tuple[str, ...]) -> dict[str, bool]:
    """The parameters that a scenario sets, and whether each is required."""
    cure = "give a class, or a function where allowed"
    if not callable(part):
        raise fault("part", part, cure)
    try:
        found = inspect.signature(part).parameters.values()
    except (TypeError, ValueError):
        raise fault("part", part, cure) from None
    for one in found:
        if one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD, one.POSITIONAL_ONLY):
            raise fault("part", part, f"parameter {one.name}: name each, without * and /")
    return {one.name: one.default is one.empty for one in found if one.name not in filled}


def _has(part: Any, what: str, *methods: str) -> None:
    for method in methods:
        if not callable(getattr(part, method, None)):
            raise fault("part", part, f"the method {method} of a {what} is missing; add it")


def _call(part: Any, given: dict[str, Any], seed: int, found: dict[str, Any]) -> Any:
    """Instantiate a part with the values that its signature asks for."""
    wanted = inspect.signature(part).parameters
    filled = {name: value for name, value in found.items() if name in wanted}
    if "rng" in wanted:
        filled["rng"] = np.random.default_rng(seed)
    return part(**given, **filled)


def _columns(what: str, columns: Any) -> tuple[Any, ...]:
    """Check the columns that a scheme returned."""
    if not isinstance(columns, Mapping):
        message = f"returned {type(columns).__name__}; give a dict with t_ns and d_ns"
        raise SimulationError(f"{what}: {message}")
    for name in columns:
        if name not in _COLUMNS:
            raise SimulationError(f"{what}: returned {name!r}; give {', '.join(_COLUMNS)}")
    for name in _COLUMNS[:2]:
        if name not in columns:
            raise SimulationError(f"{what}: {name} is missing; return {', '.join(_COLUMNS[:2])}")
    count = np.size(columns["t_ns"])
    zeros, ones = np.zeros(count, np.int64), np.ones(count, np.int64)
    slots = columns.get("slots_used")
    if slots is not None and (isinstance(slots, bool) or not isinstance(slots, int | np.integer)):
        raise SimulationError(f"{what}: slots_used = {slots!r}; give a whole number")
    if slots is not None and slots < 0:
        raise SimulationError(f"{what}: slots_used = {slots}; give 0 or more")
    lost, times = columns.get("lost_ns", zeros), columns.get("transmissions", ones)
    return columns["t_ns"], columns["d_ns"], lost, times, None if slots is None else int(slots)
