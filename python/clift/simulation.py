"""Runs: a scenario through the engine, one or many at a time."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from html import escape
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import clift._clift as _clift
import clift._parse as _parse
from clift._bar import bar
from clift._keywords import KEYWORDS, Keywords
from clift._parse import Fixed
from clift._words import counted
from clift.errors import Interrupted, ScenarioError, SimulationError
from clift.live import AnyLink
from clift.scenario import Scenario
from clift.summary import Summary

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from matplotlib.figure import Figure

Progress = Callable[[int, int], object]

# What a notebook shows of a run.
_SHOWN = (
    *("duration_s", "goodput_kbps", "completion_s", "share_sent_again", "timeouts", "fairness"),
    *("links.0.packet_delay_ms.mean", "links.0.packet_delay_ms.p95", "links.0.share_used"),
)

# So many setups are made and handed to the engine at a time.
_CHUNK = 4096


class Kept(NamedTuple):
    """What is kept of the outcome of a run that goes to another process."""

    goodput_kbps: float
    completion_s: float | None
    text: str
    by_name: dict[str, float]

    def numbers(self) -> dict[str, float]:
        """All finite numbers."""
        return dict(self.by_name)

    def summary(self) -> Summary:
        """Everything measured."""
        summary: Summary = json.loads(self.text)
        return summary


class Run(Fixed):
    """What a run measured. `clift.simulate` and `clift.run_many` return runs.

    Example:
        >>> import clift
        >>> phy = clift.channel.bernoulli(slots=20_000, p=0.02, seed=1)
        >>> run = clift.simulate(clift.tmt.apply(phy, clift.Arq()), duration_s=10)
        >>> run.goodput_kbps > 0, run.summary()["duration_s"]
        (True, 10.0)
        >>> run.series(interval_ms=1000).num_rows
        11
    """

    __slots__ = ("_outcome", "scenario")

    scenario: Scenario

    def __init__(self, scenario: Scenario, outcome: _clift.Outcome | Kept) -> None:
        self.scenario = scenario
        self._outcome = outcome

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Run):
            return NotImplemented
        return self.scenario == other.scenario and self.summary() == other.summary()

    def __hash__(self) -> int:
        return hash(self.scenario)

    def __reduce__(self) -> tuple[Any, ...]:
        text = json.dumps(self.summary())
        kept = Kept(self.goodput_kbps, self.completion_s, text, self.numbers())
        return type(self), (self.scenario, kept)

    @property
    def goodput_kbps(self) -> float:
        """In-order bytes at the receivers of all flows x 8 over the duration, kbit/s."""
        return self._outcome.goodput_kbps

    @property
    def completion_s(self) -> float | None:
        """From the first segment sent to the last byte at the receiver, of the slowest flow.

        None unless every flow had a file and got it through.
        """
        return self._outcome.completion_s

    def summary(self) -> Summary:
        """Everything measured, as a dict that JSON can hold: totals, then each flow and link.

        `clift.summary` has its keys with their types.
        """
        summary: Summary = self._outcome.summary()
        return summary

    def numbers(self) -> dict[str, float]:
        """All finite numbers of the summary by their dotted names, e.g. `flows.0.timeouts`.

        Of more than a hundred flows there are `flows.least.timeouts`, `flows.median.timeouts` and
        `flows.most.timeouts`; `summary` has those of each.
        """
        return self._outcome.numbers()

    def retransmission_shares(self) -> dict[int, float] | None:
        """Shares of the LLDUs of the first link's trace by retransmissions; None without one.

        Example:
            >>> import clift
            >>> phy = clift.channel.bernoulli(slots=20_000, p=0.02, seed=1)
            >>> link = clift.tmt.apply(phy, clift.Arq())
            >>> found = clift.simulate(link, duration_s=1).retransmission_shares()
            >>> found == {int(n): share for n, share in link.stats()["retransmissions"].items()}
            True
        """
        if isinstance(self._outcome, Kept):
            trace = self.scenario.setup().link_trace()
            shares = {} if trace is None else trace.stats()["retransmissions"]
            return None if trace is None else {int(n): share for n, share in shares.items()}
        return self._outcome.retransmission_shares()

    def notes(self) -> list[str]:
        """What about the run is due to its settings rather than to the link, a line each.

        What links took from their traces because the scenario does not say it. For profile papers:
        a flow that was stuck in one recovery, as ns-2's TCP is where its window overshoots a deep
        queue (docs/concepts/tcp.md); losses that are mostly TCP's own, where a tenth of all
        segments and more fell to full queues, and fewer to the links. `clift.simulate` gives them
        as warnings, but for values that were given in the place of measured ones.
        """
        taken = self.scenario.taken()
        if not self._is_as_in_the_papers():
            return taken
        summary = self.summary()
        found = _losses_of_its_own(summary)
        for number, flow in enumerate(summary["flows"]):
            arrived, in_order = flow["segment_delay_ms"], flow["in_order_delay_ms"]
            if not arrived or arrived["count"] < 1000:
                continue
            handed_on = in_order["count"] if in_order else 0
            if 2 * handed_on < arrived["count"]:
                found.append(
                    f"flow {number}: of {arrived['count']} segments that arrived {handed_on} had "
                    "none missing before them; ns-2's TCP (profile papers) stays so for minutes "
                    "where its window overshoots queue and path: bound cwnd_max by what they "
                    "hold, or take profile linux"
                )
        return taken + found

    def _is_as_in_the_papers(self) -> bool:
        config = self.scenario.config
        flows = [config["transport"], *(flow["transport"] for flow in config["flow"])]
        return any(
            flow["profile"] == "papers" or (flow["profile"] is None and not flow["sack"])
            for flow in flows
            if flow["protocol"] == "tcp"
        )

    def series(self, interval_ms: float = 100, flows: int | None = None) -> pa.Table:
        """Time series: the run is done again and sampled.

        Args:
            interval_ms: Time between samples.
            flows: Only of so many flows, the first ones; None: of all.

        Returns:
            A table with a row for each flow and instant: time_s, flow, cwnd_packets,
            ssthresh_packets, srtt_ms, in_flight_packets, goodput_kbps, queue_packets and more.

        Raises:
            ScenarioError: If the interval is not above zero, or `flows` below 1.
        """
        import pyarrow as pa

        # Below a microsecond there would be no end of samples.
        interval_ns = _parse.nanoseconds("interval_ms", interval_ms, "ms", 1000)
        some = None if flows is None else _parse.whole("flows", flows, 1, 2**32 - 1)
        return pa.table(_clift.series(self.scenario.setup(), interval_ns, some))

    def events(self) -> pa.Table:
        """What happened to every segment: the run is done again and logged.

        Returns:
            A table of time_ns, flow, kind (0 sent, 1 sent again, 2 received, 3 received in vain,
            4 gone, 5 acknowledged), seq and len.
        """
        import pyarrow as pa

        return pa.table(_clift.events(self.scenario.setup()))

    def units(self, until_s: float | None = None) -> pa.Table:
        """What live links sent, unit by unit: the run is done again and logged.

        Args:
            until_s: Only what was sent up to then; None: all.

        Returns:
            A table of time_ns (start of the slot), link (number of the hop, forward ones first),
            kind (0 new data, 1 data sent again, 2 repair), unit (number of the data unit; of a
            repair unit its block), attempt (how often it was sent before; of a repair unit the
            round that asked for it, 0: none), arrival_ns (at the far end; -1: erased),
            first_packet and last_packet (what it carries or repairs, in order of admission to the
            link), and flow, seq and len of the first of these (flow -1: an acknowledgement or a
            SYN). Empty without a live link.

            A unit is an LLDU; of a `HybridLink` a frame, of an `NtnLink` a transport block (kind 1
            are HARQ's retransmissions and repetitions, with their `attempt`, and blocks that begin
            with what RLC sends again, with attempt 0), of an `AdaptiveHarqLink` an attempt at a
            packet (kind 2 from the second on), whose arrival is -1 unless it decodes the packet.

        Raises:
            ScenarioError: If `until_s` is no time.
        """
        import pyarrow as pa

        last = None if until_s is None else _parse.nanoseconds("until_s", until_s, "s")
        return pa.table(_clift.units(self.scenario.setup(), last))

    def capture(self, path: str | os.PathLike[str], snap_bytes: int = 80) -> int:
        """What packet sniffers would have seen, as pcapng: the run is done again and written.

        Interfaces are `sender`, `link` (packets as they begin to be sent over the first link, or
        the first leg) and `receiver`, each with a network of its own so that Wireshark tells them
        apart. Each packet has its fate, time in the queue and units on the link as a comment. Times
        are simulated, in nanoseconds; headers and checksums are whole, payloads are zeros. The file
        is replaced whole or not at all; memory follows the packets on their way.

        Args:
            path: The file, whose name ends in `.pcapng`.
            snap_bytes: Bytes kept of each packet; 80 hold every header, 65535 all of it.

        Returns:
            Packets written, once for each interface that saw them.

        Raises:
            ScenarioError: If the name or `snap_bytes` is wrong.
            TraceError: If the file cannot be written.

        Example:
            >>> import clift, tempfile
            >>> phy = clift.channel.bernoulli(slots=20_000, p=0.02, seed=1)
            >>> run = clift.simulate(clift.tmt.apply(phy, clift.Arq()), duration_s=10)
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     run.capture(f"{folder}/x.pcapng") > 3 * run.summary()["segments_sent"]
            True
        """
        return _clift.capture(self.scenario.setup(), os.fspath(path), snap(snap_bytes))

    def qlog(self, path: str | os.PathLike[str], flow: int = 0) -> int:
        """What the sender of a QUIC flow logs, as qlog: the run is done again and written.

        The file is what quinn-proto writes of a connection: qlog 0.3 in JSON text sequences (RFC
        7464), which qvis and other tools read. It has packets sent, received and lost, with their
        numbers and sizes, and round-trip time, window and bytes in flight as they change; no
        frames. Times are milliseconds of simulated time. The file is replaced whole or not at all,
        and memory does not grow with the run.

        Args:
            path: The file, whose name ends in `.sqlog` or `.qlog`.
            flow: Which flow, counted from 0.

        Returns:
            Bytes written.

        Raises:
            ScenarioError: If the name is wrong, there is no such flow, or it is not QUIC.
            TraceError: If the file cannot be written.

        Example:
            >>> import clift, tempfile
            >>> link = clift.tmt.apply(clift.channel.bernoulli(slots=50_000, p=0.02, seed=1), "ARQ")
            >>> run = clift.simulate(link, transport="quic", file_bytes=30_000, duration_s=5)
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     run.qlog(f"{folder}/x.sqlog") > 1000
            True
        """
        name = os.fspath(path)
        is_qlog(name)
        return _clift.connection_log(
            self.scenario.setup(), _parse.whole("flow", flow, 0, 2**32 - 1), name
        )

    def to_pandas(self, name: str = "series") -> pd.DataFrame:
        """A table of the run as a data frame of pandas, which has to be installed.

        Args:
            name: `series` (over time), `events` (of segments) or `units` (of live links).

        Raises:
            ScenarioError: If there is no such table, or no pandas.

        Example:
            >>> import clift
            >>> phy = clift.channel.bernoulli(slots=20_000, p=0.02, seed=1)
            >>> run = clift.simulate(clift.tmt.apply(phy, clift.Arq()), duration_s=10)
            >>> run.to_pandas("segments")
            Traceback (most recent call last):
            clift.errors.ScenarioError: name = 'segments': give one of series, events, units
        """
        tables: dict[str, Callable[[], pa.Table]]
        tables = {"series": self.series, "events": self.events, "units": self.units}
        if not isinstance(name, str) or name not in tables:
            raise ScenarioError(f"name = {name!r}: give one of {', '.join(tables)}")
        return data_frame(tables[name]())

    def plot(self) -> Figure:
        """Goodput beside what the link could carry, window, round-trip time, delay and queue.

        All over time, flow by flow; what there is nothing of is left out.

        Example:
            >>> import clift
            >>> phy = clift.channel.bernoulli(slots=20_000, p=0.02, seed=1)
            >>> run = clift.simulate(clift.tmt.apply(phy, clift.Arq()), duration_s=10)
            >>> [axes.get_ylabel() for axes in run.plot().axes][0]
            'goodput (kbit/s)'
        """
        from clift.report import over_time

        interval_ms = max(10.0, 5 * self.summary()["duration_s"])  # two hundred samples
        return over_time.draw(self, self.series(interval_ms))

    def _repr_html_(self) -> str:
        from clift.campaign.metrics import measured_by, metric

        found = measured_by(self, of_link=False)
        rows = []
        for name in _SHOWN:
            if name in found:
                shown = metric(name)
                value = f"{found[name] * shown.scale:.4g} {shown.unit}".rstrip()
                title = escape(f"{shown.title[0].upper()}{shown.title[1:]}")
                rows.append(f"<tr><th>{title}</th><td>{escape(value)}</td></tr>")
        return f"<table><caption>{escape(repr(self.scenario))}</caption>{''.join(rows)}</table>"

    def __repr__(self) -> str:
        return f"Run({self.scenario!r}: {self.goodput_kbps:.1f} kbit/s)"


def snap(snap_bytes: int) -> int:
    """Bytes kept of a packet.

    Raises:
        ScenarioError: If that is not 20 to 65535.
    """
    if not isinstance(snap_bytes, int) or not 20 <= snap_bytes <= 65_535:
        raise ScenarioError(f"snap_bytes = {snap_bytes!r}: give 20 to 65535 bytes")
    return snap_bytes


def is_qlog(path: str) -> None:
    """Refuses a file whose name is not one of a qlog.

    Raises:
        ScenarioError: If it does not end in .sqlog or .qlog.
    """
    if not path.lower().endswith((".sqlog", ".qlog")):
        raise ScenarioError(
            f"{path}: logs of QUIC are written as qlog; give a name that ends in .sqlog"
        )


def data_frame(table: pa.Table) -> pd.DataFrame:
    """A table as a data frame of pandas.

    Raises:
        ScenarioError: If there is no pandas.
    """
    try:
        return table.to_pandas()
    except ImportError:
        raise ScenarioError("to_pandas: needs pandas; pip install 'clift[pandas]'") from None


def _losses_of_its_own(summary: Summary) -> list[str]:
    queues = sum(hop["packets_dropped"] for hop in summary["links"])
    links = sum(hop["packets_lost"] for hop in summary["links"])
    sent = summary["segments_sent"]
    if sent < 1000 or queues < sent / 10 or queues < links:
        return []
    return [
        f"{queues} of {sent} segments fell to a full queue, {links} to the link: the losses are "
        "mostly TCP's own; ns-2's (profile papers) overshoots so where a kernel's (profile linux) "
        "does not, unless cwnd_max is what path and queue hold"
    ]


def simulate(
    scenario: AnyLink | Sequence[AnyLink] | Scenario | Mapping[str, Any] | str | os.PathLike[str],
    progress: Callable[[float, float], object] | None = None,
    **options: Unpack[Keywords],
) -> Run:
    """Runs a scenario.

    Args:
        scenario: A link trace or a live link (or several, crossed in series), a `clift.Scenario`,
            the path of a scenario file, or a dict with its sections and keys. The other arguments
            stand beside a link; given with a scenario they change it.
        progress: Called about 20 times a second with the simulated time in seconds and the
            goodput so far in kbit/s.
        options: The options below.

    Options (defaults in brackets):
        transport ("cubic"): TCP's `newreno`, `cubic`, `hybla`, `westwood`, `compound`, `bbr`; or
        `tcp`, `quic`, `udp`, of which the first two take a congestion ("cubic"). Over QUIC
        `newreno`, `cubic` and `bbr` are quinn's, `clift-newreno`, `clift-cubic`, `hybla`,
        `westwood` and `compound` ours; its own options are dotted keys of `[transport.quic]`.
        profile ("linux"): whose details, those of a kernel of today or, with "papers", those of the
        papers' ns-2, which has no `bbr`.
        duration_s (400), packet_bytes (1500; IP packet, headers included), seed (1).
        queue_packets (1000; None: no bound) or queue_bytes (None): drop-tail queue of the link.
        delayed_ack (None: off in the profile papers, as the kernel does it in linux): False is off,
        True is 40 ms, a number is ms. initial_window (None: 2 in papers, 10 in linux),
        cwnd_max_packets (None: no bound; the papers' TCP can get stuck in recovery once it
        overshoots a deep queue, see `Run.notes`), receive_window_bytes (None), timestamps (True).
        sack (True): False is ns-2's `Agent/TCP/Newreno` (RFC 6582), for `newreno` in the profile
        papers. linux (None): a dict that switches parts of that profile, e.g.
        {"rack": False, "max_reordering": 3}; the reference of scenario files (`[transport.linux]`)
        lists them.
        file_bytes (None): send a file instead of bulk data; or message_kbps: messages at a constant
        rate, of message_bytes (None: what a packet carries), each with a deadline_ms (None).
        start_offset_s (0): trace time at which the run starts. wrap (False): repeat the trace.
        flows (1), access_kbps (None), access_ms (0): wired legs at every source and at the
        destination.
        path_ms (0): one-way delay behind the links, both ways: a number, rows of
        (time_s, delay_ms), a CSV file of those, or what `clift.constellation.delays` gives. Where
        it gets shorter packets overtake one another, unless path_in_order (False). Without a
        return_link the way back takes as long as the way there, hop by hop in reverse.
        packing (None: as the trace says, else "packet"; or "bytes"): what packets share.
        overlap ("free" or "papers"), extra_lldu (False), lldu_header_bytes (0),
        packet_header_bytes (0), reorder (None): how packets are put onto the link.
        return_link (None): a link for the way back; a fixed RTT/2 without it.
        stop_when_done (None): end once every flow has finished; True for files.

    Returns:
        The run.

    Raises:
        ScenarioError: If the scenario is wrong.
        SimulationError: If the trace ends while a packet waits for a slot.

    Example:
        >>> import clift
        >>> phy = clift.channel.gilbert_elliott(slots=20_000, alpha=0.99, beta=0.5, seed=1)
        >>> ll = clift.tmt.apply(phy, clift.Harq2(10, 12), rtt_ms=500)
        >>> run = clift.simulate(ll, transport="newreno", file_bytes=50_000)
        >>> 2 < run.completion_s < 10
        True
    """
    made = chosen(scenario, dict(options))
    watch = None
    if progress is not None:
        watch = _watch(progress)
    run = Run(made, _clift.run(made.setup(), watch))
    for note in run.notes():
        # A value that was given in the place of a measured one is no surprise to who gave it.
        if not note.endswith("are not used"):
            warnings.warn(note, stacklevel=2)
    return run


# The options in the place of `**options`, for `help()`.
_OPTIONS = [
    Parameter(name, Parameter.KEYWORD_ONLY, default=keyword.usual)
    for name, keyword in KEYWORDS.items()
]
_PLAIN = list(signature(simulate).parameters.values())[:-1]
_SPELLED_OUT = signature(simulate).replace(parameters=[*_PLAIN, *_OPTIONS])
simulate.__signature__ = _SPELLED_OUT  # type: ignore[attr-defined]


def run_many(
    scenarios: Iterable[Scenario],
    progress: bool | Progress = True,
    threads: int | None = None,
) -> list[Run]:
    """Runs many scenarios on all cores; results do not depend on how many there are.

    Args:
        scenarios: What to run.
        progress: True shows a bar on a terminal; a function is called with runs done and to do.
        threads: How many to run at a time; all cores unless given.

    Returns:
        The runs in the order of the scenarios, each equal to `simulate` of it alone.

    Raises:
        ScenarioError: If a scenario is wrong.
        SimulationError: If a run cannot go on; the others are done, and in its attribute `runs`.
        Interrupted: On Ctrl-C; what is done is in its attribute `runs`.

    Example:
        >>> import clift
        >>> phy = clift.channel.bernoulli(slots=20_000, p=0.02, seed=1)
        >>> ll = clift.tmt.apply(phy, clift.Arq())
        >>> a, b = clift.run_many([clift.Scenario(ll, duration_s=5, seed=s) for s in (1, 2)])
        >>> a.summary() == clift.simulate(ll, duration_s=5, seed=1).summary()
        True
    """
    todo = _scenarios(scenarios)
    cores = len(os.sched_getaffinity(0))
    if threads is not None:
        cores = _parse.whole("threads", threads, 1, 10_000, ", or None for all cores")
    runs: list[Run | None] = []
    failures: list[str] = []
    with _bar(progress, len(todo)) as report:
        try:
            for first in range(0, len(todo), _CHUNK):
                chunk = todo[first : first + _CHUNK]
                _run_chunk(chunk, cores, runs, failures, lambda done: report(done, len(todo)))
        except KeyboardInterrupt:
            runs += [None] * (len(todo) - len(runs))
            done = sum(run is not None for run in runs)
            message = f"interrupted after {done} of {counted(len(todo), 'run')}"
            raise Interrupted(message, runs) from None
    if failures:
        more = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
        raise SimulationError(failures[0] + more, runs)
    return [run for run in runs if run is not None]


def _run_chunk(
    scenarios: list[Scenario],
    threads: int,
    runs: list[Run | None],
    failures: list[str],
    report: Callable[[int], object],
) -> None:
    before = len(runs)
    tasks = [scenario.task() for scenario in scenarios]
    try:
        outcomes, stopped = _clift.run_many(tasks, threads, lambda done: report(before + done))
    except ScenarioError as error:
        raise scenarios[error.task].explained(error) from None
    for number, (scenario, outcome) in enumerate(zip(scenarios, outcomes, strict=True), before):
        if isinstance(outcome, str):
            failures.append(f"run {number}: {outcome}")
        runs.append(Run(scenario, outcome) if isinstance(outcome, _clift.Outcome) else None)
    if stopped is not None:
        raise stopped
    report(len(runs))


def _scenarios(scenarios: Iterable[Scenario]) -> list[Scenario]:
    cure = "give a list of clift.Scenario"
    try:
        todo = list(scenarios)
    except TypeError:
        raise _parse.fault("scenarios", scenarios, cure) from None
    return [_parse.of_type(f"scenarios[{n}]", one, Scenario, cure) for n, one in enumerate(todo)]


def chosen(
    scenario: AnyLink | Sequence[AnyLink] | Scenario | Mapping[str, Any] | str | os.PathLike[str],
    options: dict[str, Any],
) -> Scenario:
    """The scenario that is meant: links, a file, a dict or a scenario, with keyword arguments."""
    if isinstance(scenario, str | os.PathLike):
        scenario = Scenario.read(scenario)
    if isinstance(scenario, Scenario):
        return scenario.replace(**options) if options else scenario
    return Scenario(scenario, **options)


def _watch(progress: Callable[[float, float], object]) -> Callable[[int, int], object]:
    def watch(now_ns: int, bytes_in_order: int) -> object:
        goodput = bytes_in_order * 8e6 / now_ns if now_ns else 0.0
        return progress(now_ns / 1e9, goodput)

    return watch


def _bar(progress: bool | Progress, total: int) -> AbstractContextManager[Progress]:
    if callable(progress):
        return nullcontext(progress)
    if not progress:
        return nullcontext(lambda _done, _total: None)
    return bar("running", total)
