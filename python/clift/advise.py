"""From a log of a link to the link-layer scheme and the transport that serve it best."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np

import clift._clift as _clift
from clift._parse import number, shown
from clift.design.objective import P99_DELAY
from clift.design.result import BEST, TWIN, Design, Ranked
from clift.design.study import design
from clift.errors import Interrupted, ScenarioError
from clift.imports import read_log
from clift.report.text import WIDTH
from clift.trace import PhyTrace

# The simpler come first: of equals the first is taken.
SCHEMES = ("none", "ARQ", "HARQ(10/12)")
TRANSPORTS = ("TCP cubic", "TCP bbr", "QUIC cubic", "QUIC bbr")
# A delay below this is no propagation delay: formats without one store 1 ns.
_LEAST_DELAY_NS = 100_000
_WINDOW_S = 10.0
# Fewer windows cannot reject at the level of 5 % over the rounds of a search.
_LEAST_WINDOWS = 6
_RUNS = 12
_VARIED_RUNS = 8


@dataclass(frozen=True, slots=True)
class Link:
    """What a log says about its link.

    Args:
        duration_s: Length of the log.
        rate_kbps: Mean rate of the slots.
        loss: Share of the slots that are erased.
        burst: Mean number of consecutive erased slots; None without losses.
        longest_burst: The longest run of erased slots.
        delay_ms: Median one-way delay; None if the log has none.
        longest_gap_s: Longest time without a slot.
        correlation_s: Time after which the received rate per second is no longer correlated.
        pieces: Number of independent pieces of the log.
    """

    duration_s: float
    rate_kbps: float
    loss: float
    burst: float | None
    longest_burst: int
    delay_ms: float | None
    longest_gap_s: float
    correlation_s: float
    pieces: int

    def __str__(self) -> str:
        lost = f"{self.loss:.3%} lost"
        if self.burst is not None:
            lost += f", in bursts of {self.burst:.1f} slots (longest {self.longest_burst})"
        delay = "no delay" if self.delay_ms is None else f"{self.delay_ms:.1f} ms one way (median)"
        return (
            f"Link: {self.duration_s:.0f} s, {self.rate_kbps:.0f} kbit/s, {lost}, {delay}, "
            f"longest gap without a slot {self.longest_gap_s:.2g} s. As evidence the log is worth "
            f"{self.pieces} independent pieces (windows of {_WINDOW_S:.0f} s; the received rate "
            f"is correlated over {self.correlation_s:.0f} s)."
        )


@dataclass(frozen=True, slots=True)
class Advice:
    """What `clift.advise` found.

    Args:
        link: What the log says about its link.
        notes: How the log was read: what was understood, assumed and warned of.
        answer: The answer in words.
        pair: The scheme and transport to take; None if the log cannot tell.
        changes: Whether other conditions change the answer: the condition and the pair there.
        found: The search, with a ranking of all pairs; None if the log is too short for one.
    """

    link: Link
    notes: dict[str, list[str]]
    answer: str
    pair: str | None
    changes: dict[str, str]
    found: Design | None

    def as_dict(self) -> dict[str, Any]:
        """What `clift advise --json` prints."""
        names = Link.__dataclass_fields__
        return {
            "answer": self.answer,
            "pair": self.pair,
            "link": {name: getattr(self.link, name) for name in names},
            "notes": self.notes,
            "changes": self.changes,
            "search": None if self.found is None else self.found.as_dict(),
        }

    def __str__(self) -> str:
        parts = [self.answer, str(self.link)]
        parts += [f"If {what}: {pair}." for what, pair in self.changes.items()]
        parts += [f"{kind}: {'; '.join(said)}." for kind, said in self.notes.items() if said]
        told = [fill(part, WIDTH, break_on_hyphens=False) for part in parts]
        return "\n\n".join(told + ([] if self.found is None else [str(self.found)]))


def advise(
    log: str | os.PathLike[str],
    rtt: str | None = None,
    task: str = "bulk",
    schemes: Sequence[str] = SCHEMES,
    transports: Sequence[str] = TRANSPORTS,
    margin: float = 0.05,
    threads: int | None = None,
    progress: bool = True,
    folder: str | os.PathLike[str] | None = None,
    force: bool = False,
) -> Advice:
    """Find the scheme and the transport that serve the link of a log best.

    Every pair runs over windows of the log that start at random times. All pairs meet the same
    windows, and most runs go to the best pairs (`clift.design`).

    Args:
        log: A trace of any format that `clift.read_trace` knows, or output of `ping`.
        rtt: Round-trip time of the link, for a log without delays.
        task: `bulk`, or a file with its size: `file=1MB`.
        schemes: Schemes to try, the simplest first.
        transports: Protocols and congestion controls to try, the simplest first: `TCP cubic`.
        margin: Pairs are equal if the interval of their difference lies within this share.
        threads: Number of parallel runs; default: all cores.
        progress: Whether to show a bar on a terminal.
        folder: Folder that keeps the trace and every run.
        force: Whether runs of another study are removed from the folder.

    Returns:
        The advice. Its `pair` is None if the log cannot tell.

    Raises:
        TraceError: If the log cannot be read, or is damaged.
        ScenarioError: If an argument is wrong, or the log has no delay and `rtt` is missing.
        Interrupted: On Ctrl-C before a run was done.

    Example:
        >>> import pathlib, tempfile
        >>> import clift
        >>> phy = clift.channel.bernoulli(slots=4000, p=0.02, seed=1)
        >>> with tempfile.TemporaryDirectory() as place:
        ...     log = pathlib.Path(place, "log.parquet")
        ...     phy.write(log)
        ...     told = clift.advise(log, rtt="500 ms", progress=False)
        >>> print(told.answer)
        Can't be told from this log: it is worth 0 independent pieces of 10 s, and 6 are needed. Log
        at least 60 s.
    """
    margin = number("margin", margin, 0.001, 0.5)
    application = _application(task)
    phy = read_log(Path(log))
    link = _described(phy)
    rtt = _rtt(Path(log), link, phy, rtt)
    if link.pieces < _LEAST_WINDOWS:
        seconds = max(_WINDOW_S, link.correlation_s) * _LEAST_WINDOWS
        answer = (
            f"Can't be told from this log: it is worth {link.pieces} independent pieces of "
            f"{_WINDOW_S:.0f} s, and {_LEAST_WINDOWS} are needed. Log at least {seconds:.0f} s."
        )
        return Advice(link, phy.notes, fill(answer, WIDTH), None, {}, None)
    made = None if folder is None else Path(folder)
    with tempfile.TemporaryDirectory() if made is None else nullcontext(str(made)) as place:
        Path(place).mkdir(parents=True, exist_ok=True)
        trace = Path(place, "log.parquet")
        phy.write(trace)
        scenario = {
            "name": Path(log).name,
            "trace": {"file": str(trace)},
            "link": {"rtt": rtt, "start": "random", "wrap": True},
            "application": application,
            "duration": f"{_WINDOW_S} s" if task == "bulk" else "60 s",
        }
        goal = "goodput" if task == "bulk" else "completion"
        space = {"scheme": list(schemes), "transport": list(transports)}
        pairs = len(set(schemes)) * len(set(transports))
        common: dict[str, Any] = {"tolerance": margin, "threads": threads, "progress": progress}
        found = design(
            scenario, goal, (), space, runs_budget=pairs * _RUNS, folder=made, force=force, **common
        )
        changes = _changes(scenario, goal, found, margin, common) if found.is_complete else {}
    pair, answer = _answer(found, margin)
    return Advice(link, phy.notes, answer, pair, changes, found)


def _application(task: str) -> dict[str, str]:
    kind, _, size = task.partition("=")
    if kind == "bulk" and not size:
        return {"type": "bulk"}
    if kind == "file" and size:
        return {"type": "file", "size": size}
    raise ScenarioError(f"task = {shown(task)}: give bulk, or a file such as file=1MB")


def _described(phy: PhyTrace) -> Link:
    stats = phy.stats()
    t_s, d_ns = phy.t_ns / 1e9, phy.d_ns
    duration_s = float(stats["duration_ns"]) / 1e9
    received = d_ns[d_ns > 0]
    median_ns = float(np.median(received)) if received.size else 0.0
    slot_bytes = phy.lldu_bytes if phy.slot_bytes is None else phy.slot_bytes
    sizes = np.broadcast_to(np.asarray(slot_bytes), t_s.shape)
    seconds = max(1, int(duration_s))
    bins = np.minimum((t_s - t_s[0]).astype(np.int64), seconds - 1)
    rate = np.bincount(bins, weights=np.where(d_ns > 0, sizes, 0), minlength=seconds)
    correlation_s = _correlation(rate.astype(np.float64))
    gaps = np.diff(t_s)
    bursts = stats["bursts"]
    return Link(
        duration_s=duration_s,
        rate_kbps=float(stats["rate_bps"] or 0) / 1000,
        loss=float(stats["erasure_rate"]),
        burst=bursts["mean"],
        longest_burst=int(bursts["longest"]),
        delay_ms=median_ns / 1e6 if median_ns >= _LEAST_DELAY_NS else None,
        longest_gap_s=float(gaps.max()) if gaps.size else 0.0,
        correlation_s=correlation_s,
        pieces=int(duration_s / max(_WINDOW_S, correlation_s)),
    )


def _correlation(rate: np.ndarray[Any, np.dtype[np.float64]]) -> float:
    """The integrated correlation time, summed up to the first lag without correlation."""
    centred = rate - rate.mean()
    power = float(centred @ centred)
    if power == 0:
        return 1.0
    total = 1.0
    for lag in range(1, len(rate) // 2):
        share = float(centred[:-lag] @ centred[lag:]) / power
        if share <= 0:
            break
        total += 2 * share
    return total


def _rtt(path: Path, link: Link, phy: PhyTrace, rtt: str | None) -> str:
    if rtt is not None:
        # A delay far below the round-trip time is one of decoding, which the link adds.
        if link.delay_ms is not None and link.delay_ms * 8 >= _clift.parse_time(rtt) / 1e6:
            raise ScenarioError(
                f"rtt = {shown(rtt)}: {path} holds the delay ({link.delay_ms:.1f} ms one way), "
                "which would count twice; omit rtt"
            )
        return rtt
    if link.delay_ms is not None:
        return "0 ms"
    if phy.rtt_ns:
        return f"{phy.rtt_ns} ns"
    raise ScenarioError(f"{path}: has no delay; give rtt, e.g. 600 ms for a geostationary link")


def _equals(found: Design, margin: float) -> list[Ranked]:
    """The first of the ranking and all pairs whose difference from it is surely in the margin."""
    ranking, values = found.ranking(), found.contests[0].race.values
    equals = ranking[:1]
    for one in ranking[1:]:
        both = zip(values[one.candidate], values[ranking[0].candidate], strict=False)
        within = one.low is not None and one.high is not None
        within = within and max(abs(one.low or 0), abs(one.high or 0)) <= margin
        if within or all(a == b for a, b in both):
            equals.append(one)
    return equals


def _answer(found: Design, margin: float) -> tuple[str | None, str]:
    ranking, goal = found.ranking(), found.objective
    first = ranking[0]
    so_far = "" if found.is_complete else f"After {found.done} of {found.budget} runs: "
    equals = _equals(found, margin)
    others = [one for one in ranking[1:] if one not in equals]
    rival = next((one for one in others if one.standing != TWIN), None)
    if first.standing != BEST and len(equals) < len(ranking):
        near = "" if rival is None else f" and {rival.label}{_interval(rival)}"
        last = {found.candidates[one].parameters["scheme"] for one in found.contests[0].race.last}
        scheme = f" The pairs of the last round all use the scheme {last.pop()}." * (len(last) == 1)
        return None, (
            f"{so_far}Can't be told from this log: the runs do not separate {first.label}{near}."
            f"{scheme} A longer log would tell more."
        )
    taken = min(equals, key=lambda one: one.candidate)
    said = f"{so_far}Take {taken.label}: {goal.name} {taken.value.mean:.4g} {goal.unit}"
    said += f" in {taken.runs} runs."
    if len(equals) > 1:
        same = ", ".join(one.label for one in equals if one is not taken)
        said += f" Equal within {margin:.0%}: {same}; {taken.label} is the simplest."
    if rival is not None:
        said += f" Next: {rival.label}{_interval(rival)}."
    contest = found.contests[0]
    delay = contest.mean(taken.candidate, P99_DELAY)
    used = contest.mean(taken.candidate, "links.0.share_used")
    if delay is not None and used is not None:
        said += f" Cost: packet delay up to {delay:.0f} ms (99 %), {used:.0%} of the link used."
    return taken.label, said


def _interval(one: Ranked) -> str:
    if one.low is None or one.high is None:
        return "" if one.share is None else f" ({one.share:+.1%}, no interval)"
    return f" ({one.low:+.1%} to {one.high:+.1%})"


def _changes(
    scenario: dict[str, Any], goal: str, found: Design, margin: float, common: dict[str, Any]
) -> dict[str, str]:
    """The answer among the first two pairs under other queues."""
    first = found.ranking()[0]
    rival = next((one for one in found.ranking()[1:] if one.standing != TWIN), None)
    if rival is None:
        return {}
    chosen = [found.candidates[one.candidate].parameters for one in (first, rival)]
    space = {name: list(dict.fromkeys(str(one[name]) for one in chosen))
             for name in ("scheme", "transport")}  # fmt: skip
    pairs = len(space["scheme"]) * len(space["transport"])
    changes = {}
    for packets in (20, 500):
        link = scenario["link"] | {"queue": f"{packets} packets"}
        try:
            other = design(
                scenario | {"link": link}, goal, (), space, runs_budget=pairs * _VARIED_RUNS,
                **common,
            )  # fmt: skip
        except Interrupted:
            break
        pair, _ = _answer(other, margin)
        changes[f"the queue holds {packets} packets"] = pair or "can't be told"
    return changes
