"""From a log of a link to the link-layer scheme and the transport that serve it best."""

from __future__ import annotations

import os
import re
import shlex
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np

import clift._clift as _clift
from clift._parse import number, shown
from clift._words import counted
from clift.advise.answer import Advice, Alternative, alternatives, answered, in_unit
from clift.advise.folder import TRACE, check, write_trace
from clift.advise.link import Link, described
from clift.advise.variants import changes, variants
from clift.campaign.files import sha256
from clift.campaign.record import prepare as writable
from clift.design.result import Design
from clift.design.space import Candidate, candidates
from clift.design.study import design
from clift.errors import CliftError, ScenarioError, TraceError
from clift.imports import TableError, read_excerpt
from clift.scenario import Scenario
from clift.trace import PhyTrace

SCHEMES = ("none", "ARQ", "HARQ(10/12)")
"""Schemes that are tried, the simplest first: of equals the first is taken."""
TRANSPORTS = ("TCP cubic", "TCP bbr", "QUIC cubic", "QUIC bbr")
"""Transports that are tried, the simplest first."""

_PAGE = "desktop-2024"
# Fewer windows cannot reject at the level of 5 % over the rounds of a search.
_LEAST_WINDOWS = 6
# A log with more losses is not one of a link in use.
_ALL_LOST = 0.98
# A run lasts at least this long, and at least this number of round trips. Slow start and the first
# losses decide so short a run, so it lasts up to `_SETTLED` if the log holds `_WINDOWS` such runs.
_WINDOW_S, _ROUND_TRIPS, _SETTLED, _WINDOWS = 10.0, 30.0, 100.0, 10.0
# A transfer with an end has as much time, then counts as unfinished.
_TIMEOUT_S = 60.0
# Runs of each pair in the first answer, and the bounds of their mean number in the whole search.
_FIRST, _FEWEST, _MOST = 2, 6, 12
# Processor time that a search may take, in s, and what a packet takes over TCP and over QUIC.
_COST_S, _PACKET_S, _QUIC_PACKET_S = 40.0, 1.5e-6, 1.2e-5
# Runs of each pair under each other condition, and pairs compared there.
_VARIED_RUNS, _VARIED_PAIRS = 12, 4
# A longer log is used in part, so that its schemes take seconds.
_MOST_SLOTS = 20_000_000
_PACKET = 1500
# What messages of readers ask for, and options with which the log is read.
_MISSING = {
    r"give symbol_rate$": {"symbol_rate": "10 kBd"},
    r'cn0 must name .*? e\.g\. "([^"]+)"': {"cn0": "{}", "symbol_rate": "10 kBd", "rtt": "600 ms"},
    r"give direction": {"direction": "down", "rate": "20 Mbit/s"},
}
_LEAST_QUEUE = 50


def advise(
    log: str | os.PathLike[str],
    rtt: str | None = None,
    task: str = "bulk",
    schemes: Sequence[str] = SCHEMES,
    transports: Sequence[str] | None = None,
    tolerance: float = 0.05,
    queue: int | None = None,
    threads: int | None = None,
    progress: bool = True,
    folder: str | os.PathLike[str] | None = None,
    force: bool = False,
    told: Callable[[Link | str], object] | None = None,
    **columns: Any,
) -> Advice:
    """Find the scheme and the transport that serve the link of a log best.

    Every pair runs over windows of the log that start at random times. All pairs meet the same
    windows, and most runs go to the best pairs (`clift.design`). The first pairs are then compared
    with other queues, round-trip times and losses.

    Args:
        log: A log or trace of any kind that `clift.read_log` knows, or a table with `columns`.
        rtt: Round-trip time of the link, for a log without delays.
        task: `bulk` (goodput), a file with its size (`file=1MB`), `page` (loading time of a web
            page), or `call` (mean opinion score of a voice call over UDP).
        schemes: Schemes to try, the simplest first; `FEC` and `HARQ` alone stand for several
            blocks, as in `clift.design`.
        transports: Protocols and congestion controls to try, the simplest first: `TCP cubic`.
            Default: `TRANSPORTS`. A call has none.
        tolerance: Pairs are equal if the interval of their difference lies within this share.
        queue: Packets that the queue before the link holds. Default: those of one round trip at
            the mean rate, 50 at least.
        threads: Number of parallel runs; default: all cores.
        progress: Whether to show a bar on a terminal.
        folder: Folder that keeps the trace and every run.
        force: Whether runs of another study are removed from the folder, and files that CLIFT did
            not write there are overwritten.
        told: Called before the answer, with the link, and with text on the first pairs after few
            runs.
        columns: Keys of `[trace]` in a scenario file, as for `clift.read_log`: `time`, `rate`,
            `delay`, `loss` and others of a table, `rate="20 Mbit/s"` for a log of probes.

    Returns:
        The advice. Its `pair` is None if the log cannot tell.

    Raises:
        TraceError: If the log cannot be read, or is damaged.
        ScenarioError: If an argument is wrong, the log has no delay and `rtt` is missing, or the
            folder has other files under names that are written, such as the log.
        Interrupted: On Ctrl-C before a run was done.

    Example:
        >>> import pathlib, tempfile
        >>> import clift
        >>> phy = clift.channel.bernoulli(slots=4000, p=0.02, seed=1)
        >>> with tempfile.TemporaryDirectory() as place:
        ...     log = pathlib.Path(place, "log.parquet")
        ...     phy.write(log)
        ...     found = clift.advise(log, rtt="500 ms", progress=False)
        >>> print(found.answer)
        Can't be told from this log: it is worth 0 independent runs of 15 s, and 6 are needed. Log
        at least 90 s.
    """
    tolerance = number("tolerance", tolerance, 0.001, 0.5)
    application, goal = _task(task)
    columns = {key: value for key, value in columns.items() if value is not None}
    path = Path(log)
    made = None if folder is None else Path(folder)
    if made is not None:
        check(made, force, [path])
    space = _space(task, schemes, transports)
    phy, digest = _unchanged(path, columns)
    rtt, total_s = _round_trip(path, phy, rtt, columns)
    link, runs = _described(phy, space, total_s, task)
    queue = queue or max(_LEAST_QUEUE, round(125 * (link.rate_kbps or 0) * total_s / _PACKET))
    until = "" if task in ("bulk", "call") else f", unfinished after {_TIMEOUT_S:.0f} s"
    setting = {
        "task": f"{task}{until}",
        "round-trip time": f"{1000 * total_s:.4g} ms",
        "queue": f"{queue} packets before the link",
    }
    if task == "bulk" and link.window_s < _ROUND_TRIPS * total_s:
        trips = link.window_s / total_s
        setting["length"] = (
            f"{link.window_s:.3g} s a run, {trips:.0f} round trips, since more take too long here: "
            "it shows the start of a transfer"
        )
    notes = _notes(path, phy)
    if len(phy) > _MOST_SLOTS:
        phy = _spread(phy)
        used_s = (phy.t_ns[-1] - phy.t_ns[0]) / 1e9
        setting["runs"] = f"over {used_s:.0f} s in parts that are spread evenly over the log"
    known = (path.name, digest, link, notes, setting)
    if told is not None:
        told(link)
    if useless := _useless(link):
        return Advice(*known, useless, None, [], {}, phy)
    with tempfile.TemporaryDirectory() if made is None else nullcontext(str(made)) as place:
        writable(Path(place))
        trace = write_trace(phy, Path(place), TRACE, force)
        scenario: dict[str, Any] = {
            "name": path.name,
            "trace": {"file": trace.name},
            "link": {"rtt": rtt, "start": "random", "wrap": True, "queue": f"{queue} packets"},
            "application": application,
            "transport": {"protocol": "udp" if task == "call" else "tcp"},
            "duration": f"{_TIMEOUT_S if until else link.window_s} s",
        }
        placed = Scenario(scenario).moved(str(trace))

        def search(each: int, force: bool) -> Design:
            budget = each * len(candidates(space))
            return design(
                *(placed, goal, (), space), runs_budget=budget, folder=place, force=force,
                tolerance=tolerance, threads=threads, progress=progress,
            )  # fmt: skip

        found = search(_FIRST, force)
        if told is not None:
            told(_so_far(found))
        if found.is_complete:
            found = search(runs, False)
        taken, pair, answer = answered(found, link, is_start="length" in setting)
        listed = alternatives(found, taken)
        changed = {}
        # Without any data nothing would change that the variants could show.
        if found.is_complete and any(found.contests[0].race.values[taken.candidate]):
            changed = changes(
                list(variants(scenario, phy, link, queue, Path(place))),
                _contenders(found, listed),
                *(found.objective, tolerance, _VARIED_RUNS, threads, progress),
                is_taken=pair is not None,
            )
    return Advice(*known, answer, pair, listed, changed, phy, found)


def _space(
    task: str, schemes: Sequence[str], transports: Sequence[str] | None
) -> dict[str, list[str]]:
    space = {"scheme": list(schemes)}
    if task != "call":
        space["transport"] = list(TRANSPORTS if transports is None else transports)
    elif transports is not None:
        listed = shown(",".join(transports))
        raise ScenarioError(f"transports = {listed}: a call goes over UDP; leave them out")
    # Their names are checked before a log is read.
    channel = {"model": "bernoulli", "erasures": "2 %", "slot": "1 ms", "lldu": "1 kB"}
    any_link = Scenario({"channel": channel, "link": {"rtt": "1 s"}})
    for name, values in space.items():
        for value in values:
            try:
                pairs = {one.label: one.changes for one in candidates({name: [value]})}
                any_link.replace(vary={"pair": pairs}).cells()
            except ScenarioError as error:
                why = re.sub(r"^[a-z.]+( = '.*')?: ", "", str(error))
                raise ScenarioError(f"{name}s = {shown(value)}: {why}") from None
    if (count := len(candidates(space))) < 2:
        what = "scheme" if task == "call" else "pair of a scheme and a transport"
        listed = shown(",".join(space["scheme"]))
        raise ScenarioError(
            f"schemes = {listed}: {counted(count, what)} to choose among; give more"
        )
    return space


def _described(
    phy: PhyTrace, space: Mapping[str, Sequence[str]], total_s: float, task: str
) -> tuple[Link, int]:
    """What the log says about its link, and the mean number of runs of a pair."""
    window_s = max(_WINDOW_S, _ROUND_TRIPS * total_s)
    if task == "bulk":
        log_s = float(phy.t_ns[-1] - phy.t_ns[0]) / 1e9
        window_s = max(window_s, min(_SETTLED * total_s, log_s / _WINDOWS))
    link = described(phy, round(window_s, 1))
    runs, window_s = _affordable(link, space, link.window_s)
    return replace(link, window_s=window_s, pieces=link.worth(window_s)), runs


def _spread(phy: PhyTrace) -> PhyTrace:
    """Parts of a long trace, spread evenly over it, one behind another."""
    parts = _clift.spread(len(phy), int(phy.t_ns[-1] - phy.t_ns[0]), _MOST_SLOTS)
    first, end = np.array(parts).T
    slots = np.concatenate([np.arange(*part) for part in parts])
    lengths = phy.t_ns[end] - phy.t_ns[first]
    moved = phy.t_ns[first] - (np.cumsum(lengths) - lengths)
    return PhyTrace(
        phy.t_ns[slots] - np.repeat(moved, end - first),
        phy.d_ns[slots],
        phy.lldu_bytes if phy.slot_bytes is None else phy.slot_bytes[slots],
        decode_ns=phy.decode_ns,
        rtt_ns=phy.rtt_ns,
        packing=cast(Any, phy.packing),
        source=phy.source,
    )


def _task(task: str) -> tuple[dict[str, str], str]:
    """Application and goal of a task."""
    kind, _, size = task.partition("=")
    match kind, bool(size):
        case "bulk", False:
            return {"type": "bulk"}, "goodput"
        case "file", True:
            if not _parsed("task", task, size, _clift.parse_size):
                raise ScenarioError(f"task = {shown(task)}: a file of 0 bytes; give 1 B or more")
            return {"type": "file", "size": size}, "completion"
        case "page", False:
            return {"type": "page", "shape": _PAGE}, "completion"
        case "call", False:
            return {"type": "voice"}, "mos"
    raise ScenarioError(f"task = {shown(task)}: give bulk, file=1MB (with a size), page or call")


def _parsed(name: str, given: str, text: str, parse: Callable[[str], int]) -> int:
    """The value of a text, with an error that names the argument."""
    try:
        return parse(text)
    except CliftError as error:
        raise ScenarioError(f"{name} = {shown(given)}: {error}") from None


def _unchanged(path: Path, columns: dict[str, Any]) -> tuple[PhyTrace, str]:
    """The trace of a log and the SHA-256 of the same content.

    The hash is empty for a pipe, which cannot be read twice.
    """
    if not path.is_file():
        return _read(path, columns), ""
    before, digest = path.stat(), ""
    with suppress(OSError):  # which the reader reports
        digest = sha256(path)
    phy, after = _read(path, columns), path.stat()
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise ScenarioError(f"{path}: changed while it was read; copy a log that still grows")
    return phy, digest


def _notes(path: Path, phy: PhyTrace) -> dict[str, list[str]]:
    """How the log was read; of a format without notes, what it is."""
    if phy.notes["understood"] or not path.is_file():
        return phy.notes
    text = f"{_clift.format_of(str(path))}, {len(phy)} slots of {phy.lldu_bytes} bytes"
    return phy.notes | {"understood": [text]}


def _read(path: Path, columns: dict[str, Any]) -> PhyTrace:
    given = {"format": "series", **columns} if "time" in columns else columns
    try:
        return read_excerpt(path, _MOST_SLOTS, **given)
    except TableError as error:  # a TraceError, so that it comes first
        table, more = error.table, {}
        if not table.spans:
            more = {} if table.rate or table.level else {"rate": "20 Mbit/s"}
            more |= {} if table.delay else {"rtt": "600 ms" if table.level else "50 ms"}
        told = {name: value for name, value in given.items() if name != "format"}
        command = f"{_command(path, more | told)} {table.options}"
        raise TraceError(error.message(path, command)) from None
    except TraceError as error:
        if path.suffix == ".toml":
            cure = f"`clift run {path}` runs it, `clift design {path}` chooses for it"
            raise TraceError(f"{path}: a scenario, not a log; {cure}") from None
        if re.search(r"does not determine the format|writes the format", str(error)):
            known = [name for name, *_, by_content in _clift.trace_formats() if by_content]
            raise TraceError(
                f"{path}: not a log that is recognised; known by their content are "
                f"{', '.join(known)}, traces and tables; if it is one, give its format"
            ) from None
        for pattern, example in _MISSING.items():
            if found := re.search(pattern, str(error)):
                more = {name: value.format(*found.groups()) for name, value in example.items()}
                raise TraceError(f"{error}; e.g. {_command(path, more | given)}") from None
        raise


def _command(path: Path, options: Mapping[str, Any]) -> str:
    """A command that would work."""
    words = ["clift", "advise", str(path)]
    for name, value in options.items():
        if name == "keep_order":
            words += [] if value else ["--no-keep-order"]
        else:
            given = str(value).removesuffix(" B") if name == "lldu" else str(value)
            words += [f"--{name.replace('_', '-')}", given]
    return shlex.join(words)


def _round_trip(
    path: Path, phy: PhyTrace, rtt: str | None, columns: dict[str, Any]
) -> tuple[str, float]:
    """The round-trip time of the link beside the delays of the trace, and that of both in s."""
    link = described(phy)
    if link.loss == 1:
        level = [text for text in phy.notes["understood"] if text.startswith("Es/N0 is from")]
        if level and "cn0" in columns:
            raise ScenarioError(
                f"{path}: every frame is lost: {level[0]}. A tenth of the symbol rate "
                f"({shown(columns['symbol_rate'])}) adds 10 dB"
            )
        raise ScenarioError(f"{path}: every slot is lost; check what the loss counts")
    if link.rate_kbps is None:
        again = _command(path, columns | {"rate": "20 Mbit/s"} | ({"rtt": rtt} if rtt else {}))
        raise ScenarioError(f"{path}: has probes, but no rate of the link; give it, e.g. {again}")
    measured_ns = phy.rtt_ns or 0
    median_s = 0.0 if link.delay_ms is None else 2 * link.delay_ms[1] / 1000
    if rtt is not None:
        seconds = _parsed("rtt", rtt, rtt, _clift.parse_time) / 1e9
        # A far shorter delay is one of processing.
        if median_s * 4 >= seconds:
            raise ScenarioError(
                f"rtt = {shown(rtt)}: {path} holds the delay ({500 * median_s:.1f} ms one way), "
                "which would count twice; omit rtt"
            )
        return rtt, seconds + median_s
    if measured_ns:
        # The way back takes half of it.
        return f"{measured_ns} ns", max(median_s, measured_ns / 1e9) / 2 + measured_ns / 2e9
    if median_s:
        return "0 ms", median_s
    said = "\n".join(phy.notes["understood"])
    known = re.search(r"round-trip time that TCP measured is (.+)", said)
    again = _command(path, columns | {"rtt": known[1] if known else "50 ms"})
    what = "the least that TCP measured" if known else "600 ms for a geostationary link"
    raise ScenarioError(f"{path}: has no delay; give the round-trip time, e.g. {again} ({what})")


def _affordable(
    link: Link, space: Mapping[str, Sequence[str]], window_s: float
) -> tuple[int, float]:
    """Mean number of runs of a pair, and length of a run, within the time that a search may take.

    It depends on the rate, not on a clock, so that a search comes out the same on every machine.
    """
    packets = 125 * (link.rate_kbps or 0) * window_s / _PACKET
    quic = [one.upper().startswith("QUIC") for one in space.get("transport", [""])]
    each = sum(_QUIC_PACKET_S if one else _PACKET_S for one in quic) * packets
    # A family of schemes is many of them.
    cost = len(candidates({"scheme": space["scheme"]})) * each
    runs = int(min(_MOST, max(_FEWEST, _COST_S / max(cost, 1e-9))))
    shorter = min(1.0, _COST_S / max(cost * runs, 1e-9))
    return runs, round(max(window_s * shorter, _WINDOW_S / 10), 1)


def _useless(link: Link) -> str:
    """The answer if the log is worth too few runs, or nothing arrives; empty if neither."""
    if link.loss > _ALL_LOST:
        return (
            f"Can't be told from this log: {link.loss:.1%} of its slots are lost. Check what the "
            "loss counts, and for a modem the symbol rate."
        )
    if link.pieces >= _LEAST_WINDOWS:
        return ""
    seconds = max(link.window_s, link.correlation_s) * _LEAST_WINDOWS
    runs = "1 independent run" if link.pieces == 1 else f"{link.pieces} independent runs"
    return (
        f"Can't be told from this log: it is worth {runs} of {link.window_s:.3g} s, and "
        f"{_LEAST_WINDOWS} are needed. Log at least {seconds:.0f} s."
    )


def _so_far(found: Design) -> str:
    first, goal = found.ranking()[0], found.objective
    return (
        f"First of {len(found.candidates)} pairs after {found.done} runs: {first.label}, "
        f"{goal.title} {in_unit(goal, first.value.mean)}. Ctrl-C answers from the runs that are "
        "done."
    )


def _contenders(found: Design, listed: Sequence[Alternative]) -> list[Candidate]:
    """The pair taken, and the best with other schemes and transports.

    A pair that does the same as a simpler one follows it: of equal ones the first is named.
    """
    places = {one.label: place for place, one in enumerate(found.candidates)}
    twin = found.contests[0].race.twin
    pairs = [places[one.pair] for one in listed[:_VARIED_PAIRS]]
    both = [one for pair in pairs[1:] for one in (twin.get(pair), pair) if one is not None]
    return [found.candidates[one] for one in dict.fromkeys([pairs[0], *both])]
