"""Runs scenarios in the engine, one or many at a time."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from html import escape
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import pyarrow as pa

import clift._clift as _clift
import clift._parse as _parse
from clift._bar import bar
from clift._keywords import KEYWORDS, Keywords
from clift._output import written
from clift._parse import Fixed
from clift._words import counted
from clift.errors import Interrupted, ScenarioError, SimulationError, TraceError
from clift.live import AnyLink
from clift.scenario import Scenario
from clift.summary import Summary
from clift.trace import file_name

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

Progress = Callable[[int, int], object]

# Metrics that a notebook shows of a run.
_SHOWN = (
    *("duration_s", "goodput_kbps", "completion_s", "share_sent_again", "timeouts", "fairness"),
    *("links.0.packet_delay_ms.mean", "links.0.packet_delay_ms.p95", "links.0.share_used"),
)

# Number of setups that are prepared and passed to the engine at a time.
_CHUNK = 4096

# From these shares on, padding on the way back limits what is acknowledged.
_MUCH_PADDING = 0.5
_NEARLY_FULL = 0.8


class StoredOutcome(NamedTuple):
    """Results of a run that is sent to another process."""

    goodput_kbps: float
    completion_s: float | None
    text: str
    by_name: dict[str, float]

    def numbers(self) -> dict[str, float]:
        """All finite numbers."""
        return dict(self.by_name)

    def summary(self) -> Summary:
        """All results."""
        summary: Summary = json.loads(self.text)
        return summary


class Run(Fixed):
    """Results of a run, returned by `clift.simulate` and `clift.run_many`.

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

    def __init__(self, scenario: Scenario, outcome: _clift.Outcome | StoredOutcome) -> None:
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
        kept = StoredOutcome(self.goodput_kbps, self.completion_s, text, self.numbers())
        return type(self), (self.scenario, kept)

    @property
    def goodput_kbps(self) -> float:
        """Goodput in kbit/s: in-order bytes at the receivers of all flows x 8 / duration."""
        return self._outcome.goodput_kbps

    @property
    def completion_s(self) -> float | None:
        """Time in s from the first segment sent to the last byte received, of the slowest flow.

        None unless every flow sent a file and completed it.
        """
        return self._outcome.completion_s

    def summary(self) -> Summary:
        """All results, as a JSON-serialisable dict: totals, then each flow and link.

        `clift.summary` documents its keys and their types.
        """
        return self._outcome.summary()

    def numbers(self) -> dict[str, float]:
        """All finite numbers of the summary by dotted name, e.g. `flows.0.timeouts`.

        With more than a hundred flows it has `flows.least.timeouts`, `flows.median.timeouts` and
        `flows.most.timeouts` instead; `summary` has each flow.
        """
        return self._outcome.numbers()

    def retransmission_shares(self) -> dict[int, float] | None:
        """Shares of the first link trace's LLDUs by retransmissions; None without a trace.

        Example:
            >>> import clift
            >>> phy = clift.channel.bernoulli(slots=20_000, p=0.02, seed=1)
            >>> link = clift.tmt.apply(phy, clift.Arq())
            >>> found = clift.simulate(link, duration_s=1).retransmission_shares()
            >>> found == {int(n): share for n, share in link.stats()["retransmissions"].items()}
            True
        """
        if isinstance(self._outcome, StoredOutcome):
            trace = self.scenario.setup().link_trace()
            if trace is None:
                return None
            shares = json.loads(trace.stats())["retransmissions"]
            return {int(n): share for n, share in shares.items()}
        return self._outcome.retransmission_shares()

    def notes(self) -> list[str]:
        """Effects in the run that come from its settings rather than from the link, one line each.

        Values that links took from their traces as defaults. A return link whose slots are full of
        padding, so that it limits acknowledgements. QUIC connections that an end broke off. For
        profile papers: a flow that was stuck in one recovery, as ns-2's TCP is if its
        window overshoots a deep queue (docs/concepts/tcp.md); losses that TCP itself caused, if
        full queues dropped at least a tenth of all segments and more than the links lost.
        `clift.simulate` issues them as warnings, except for values that were given explicitly
        instead of measured ones.
        """
        taken = self.scenario.taken()
        config = self.scenario.config
        flows = [config["transport"], *(flow["transport"] for flow in config["flow"])]
        is_of_papers = any(
            flow["protocol"] == "tcp" and profile_of(flow) == "papers" for flow in flows
        )
        if config["return"] is not None or config["network"] is not None:
            taken = _full_of_padding(self.numbers()) + taken
        # The summary of many flows takes long, and other transports are never broken off.
        if not is_of_papers and all(flow["protocol"] != "quic" for flow in flows):
            return taken
        summary = self.summary()
        taken += [
            f"{flow.get('name') or f'flow {number}'}: broken off {flow['broken_off']}"
            for number, flow in enumerate(summary["flows"])
            if "broken_off" in flow
        ]
        if not is_of_papers:
            return taken
        found = _losses_of_its_own(summary)
        for number, flow in enumerate(summary["flows"]):
            arrived, in_order = flow["segment_delay_ms"], flow["in_order_delay_ms"]
            if not arrived or arrived["count"] < 1000:
                continue
            handed_on = in_order["count"] if in_order else 0
            if 2 * handed_on < arrived["count"]:
                found.append(
                    f"flow {number}: only {handed_on} of {arrived['count']} segments arrived in "
                    "order; ns-2's TCP (profile papers) stays in recovery for minutes if its "
                    "window overshoots queue and path: limit cwnd_max to what they hold, or use "
                    "profile linux"
                )
        return taken + found

    def series(self, interval_ms: float = 100, flows: int | None = None) -> pa.Table:
        """Time series. The run is repeated and sampled.

        Args:
            interval_ms: Time between samples.
            flows: Number of flows to include, the first ones; None: all.

        Returns:
            A table with one row per flow and instant: time_s, flow, cwnd_packets, ssthresh_packets,
            srtt_ms, in_flight_packets, goodput_kbps, queue_packets and more.

        Raises:
            ScenarioError: If the interval is not above zero, or `flows` below 1.
        """
        # Below a microsecond the number of samples would explode.
        interval_ns = _parse.nanoseconds("interval_ms", interval_ms, "ms", 1000)
        some = None if flows is None else _parse.whole("flows", flows, 1, 2**32 - 1)
        return pa.table(_clift.series(self.scenario.setup(), interval_ns, some))

    def events(self) -> pa.Table:
        """Events of every segment. The run is repeated and logged.

        Returns:
            A table of time_ns, flow, kind (0 sent, 1 retransmitted, 2 received, 3 received again, 4
            dropped or lost, 5 acknowledged), seq and len. A lost acknowledgement has len 0.
        """
        return pa.table(_clift.events(self.scenario.setup()))

    def units(self, until_s: float | None = None) -> pa.Table:
        """Transmissions of live links, unit by unit. The run is repeated and logged.

        Args:
            until_s: End of the log, in s; None: the whole run.

        Returns:
            A table of time_ns (start of the slot), link (number of the hop, forward ones first),
            kind (0 new data, 1 retransmission, 2 repair), unit (number of the data unit; for a
            repair unit, its block), attempt (number of earlier transmissions; for a repair unit,
            the round that requested it, 0: none), arrival_ns (at the far end; -1: erased),
            first_packet and last_packet (packets that it carries or repairs, in order of admission
            to the link), and flow, seq and len of the first of these (flow -1: an ACK or a SYN).
            Empty without a live link.

            A unit is an LLDU; on a `HybridLink` a frame; on an `NtnLink` a transport block (kind 1:
            HARQ retransmissions and repetitions, with their `attempt`, and blocks that begin with
            RLC retransmissions, with attempt 0); on an `AdaptiveHarqLink` an attempt at a packet
            (kind 2 from the second on), whose arrival is -1 unless it decodes the packet.

        Raises:
            ScenarioError: If `until_s` is not a time.
        """
        last = None if until_s is None else _parse.nanoseconds("until_s", until_s, "s")
        return pa.table(_clift.units(self.scenario.setup(), last))

    def why(self, at: str | float | None = None) -> dict[str, Any]:
        """Why the run has no more goodput. The run is repeated and watched.

        The budget divides the capacity of the hop with the least capacity (of those that limit the
        paths of a flow over several, together): the goodput and the causes add up to it. Slots that
        carried something are charged to what they carried, or to their erasure; idle slots to what
        kept the senders from sending at that time. After a window cut, that is the cut, until the
        window is as large as before (docs/guides/why.md).

        Args:
            at: Instant, in s or as text ("132 s"); None: no instant.

        Returns:
            A JSON-able dict: `capacity_kbps`, `goodput_kbps`, `budget` (a list of `cause`,
            `title`, `kbps`, `share`), `hops` (the same of each hop, with its `hop` and `name`),
            `limited_by` (the cause that cost most), `cuts` (how many,
            by trigger and truth), `costliest` (the ten cuts with the largest estimated cost, and
            the packet that led to each), and with `at` `moment`: idle and erased capacity around
            it, and what kept each sender from sending.

        Raises:
            ScenarioError: If `at` is not a time of the run, or no hop has a rate.

        Example:
            >>> import clift
            >>> phy = clift.channel.bernoulli(slots=20_000, p=0.02, seed=1)
            >>> run = clift.simulate(clift.LiveLink(phy, "ARQ"), duration_s=2)
            >>> found = run.why(at=1.5)
            >>> costs = sum(part["kbps"] for part in found["budget"])
            >>> abs(found["goodput_kbps"] + costs - found["capacity_kbps"]) < 1e-6
            True
            >>> found["moment"]["senders"][0]["cause"]
            'false_loss'
        """
        found: dict[str, Any] = _clift.why(self.scenario.setup(), self._instant(at), False)
        return found

    def _instant(self, at: str | float | None) -> int | None:
        if at is None:
            return None
        at_ns = _clift.parse_time(at) if isinstance(at, str) else _parse.nanoseconds("at", at, "s")
        ended = self.summary()["duration_s"]
        if at_ns > ended * 1e9:
            raise ScenarioError(f"at = {at!r}: the run ends at {ended:g} s; give an earlier time")
        return at_ns

    def capture(self, path: str | os.PathLike[str], snap_bytes: int = 80) -> int:
        """Write the packets at three capture points as pcapng. The run is repeated, twice.

        Interfaces are `sender`, `link` (packets at the start of transmission on the first link or
        leg) and `receiver`, each with its own network so that Wireshark distinguishes them. Over
        several paths each path has its own: `sender 0`, `sender 1`. A comment gives each packet's
        fate, queueing time, units on the link and the window cuts that it led to, numbered as by
        `why`. Times are simulated, in nanoseconds; headers and checksums are complete, payloads are
        zeros. The file is replaced as a whole or not at all. Memory grows with the packets in
        flight.

        Args:
            path: The file, whose name ends in `.pcapng`.
            snap_bytes: Bytes kept per packet; 80 hold every header, 65535 the whole packet.

        Returns:
            Number of packets written, one per interface that saw the packet.

        Raises:
            ScenarioError: If the name or `snap_bytes` is wrong.
            TraceError: If the file is not writable.

        Example:
            >>> import clift, tempfile
            >>> phy = clift.channel.bernoulli(slots=20_000, p=0.02, seed=1)
            >>> run = clift.simulate(clift.tmt.apply(phy, clift.Arq()), duration_s=10)
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     run.capture(f"{folder}/x.pcapng") > 3 * run.summary()["segments_sent"]
            True
        """
        return _clift.capture(self.scenario.setup(), file_name("path", path), snap(snap_bytes))

    def qlog(self, path: str | os.PathLike[str], flow: int = 0) -> int:
        """Write the log of a QUIC flow's sender as qlog. The run is repeated.

        quinn-proto writes the file: qlog 0.3 in JSON text sequences (RFC 7464), which qvis and
        other tools read. It has the packets sent, received and lost, with numbers and sizes, and
        the changes of round-trip time, window and bytes in flight; no frames. Times are simulated,
        in milliseconds. The file is replaced as a whole or not at all; memory does not grow with
        the run.

        Args:
            path: The file, whose name ends in `.sqlog` or `.qlog`.
            flow: Number of the flow, counted from 0.

        Returns:
            Bytes written.

        Raises:
            ScenarioError: If the name is not valid, or the flow does not exist or is not QUIC.
            TraceError: If the file is not writable.

        Example:
            >>> import clift, tempfile
            >>> link = clift.tmt.apply(clift.channel.bernoulli(slots=50_000, p=0.02, seed=1), "ARQ")
            >>> run = clift.simulate(link, transport="quic", file_bytes=30_000, duration_s=5)
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     run.qlog(f"{folder}/x.sqlog") > 1000
            True
        """
        name = file_name("path", path)
        if not name.lower().endswith((".sqlog", ".qlog")):
            cure = "give a name that ends in .sqlog"
            raise ScenarioError(f"{name}: logs of QUIC are written as qlog; {cure}")
        return _clift.connection_log(
            self.scenario.setup(), _parse.whole("flow", flow, 0, 2**32 - 1), name
        )

    def perfetto(self, path: str | os.PathLike[str]) -> int:
        """Write packets, units of live links and windows as a trace. The run is repeated.

        The format is the JSON of Chrome's tracing, which ui.perfetto.dev opens. Arrows join a
        packet with the units that carry it. Times are simulated. The file is replaced as a whole or
        not at all.

        Args:
            path: The file.

        Returns:
            Number of events written.

        Raises:
            TraceError: If the file is not writable.

        Example:
            >>> import clift, tempfile
            >>> phy = clift.channel.bernoulli(slots=20_000, p=0.02, seed=1)
            >>> run = clift.simulate(clift.LiveLink(phy, "ARQ"), duration_s=2)
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     run.perfetto(f"{folder}/x.json") > run.summary()["segments_sent"]
            True
        """
        from clift.diagnosis.perfetto import write

        file = Path(file_name("path", path))
        with written(file, TraceError):
            return write(self, file)

    def p1203(
        self,
        resolutions: Sequence[str],
        flow: int = 0,
        fps: float = 25.0,
        display: str = "1920x1080",
        device: str = "pc",
        audio_kbps: float | None = None,
    ) -> dict[str, Any]:
        """What a viewer saw of a video, as input of a P.1203 tool in mode 0.

        CLIFT does not compute the score: the recommendation's own implementation (`itu_p1203`) may
        be used for non-commercial research only. Its command reads this dict as JSON:
        `p1203-standalone FILE`. The segments are those played until the end of the run, the last
        one cut there; start-up is a stall at time 0. Codecs are H.264 and AAC-LC.

        Args:
            resolutions: Resolution of each rate of the ladder, e.g. `["640x360", "1280x720"]`.
            flow: Number of the flow.
            fps: Frames per second.
            display: Resolution of the display.
            device: "pc" or "mobile".
            audio_kbps: Rate of the audio; None: without audio, which the tool takes for the best.

        Returns:
            A JSON-able dict of `IGen`, `I11`, `I13` and `I23`: times in s of playing time, rates in
            kbit/s.

        Raises:
            ScenarioError: If the flow has no video, or an argument is wrong.

        Example:
            >>> import clift
            >>> application = {"type": "video", "ladder": ["1 Mbit/s", "3 Mbit/s"], "length": "8 s"}
            >>> leg = {"leg": {"rate": "2 Mbit/s", "delay": "20 ms"}}
            >>> values = {"application": application, "path": [leg], "duration": "60 s"}
            >>> found = clift.simulate(clift.Scenario(values)).p1203(["640x360", "1280x720"])
            >>> found["I13"]["segments"][1]["resolution"], found["I13"]["segments"][1]["bitrate"]
            ('640x360', 1000.0)
            >>> [start for start, _ in found["I23"]["stalling"]]
            [0.0]
        """
        from clift.p1203 import record

        outcome = self._outcome
        if isinstance(outcome, StoredOutcome):
            outcome = _clift.run(self.scenario.setup())
        video = outcome.video(_parse.whole("flow", flow, 0, _parse.COUNT))
        if video is None:
            raise ScenarioError(f'flow = {flow}: has no video; give a flow with type = "video"')
        return record(video, flow, resolutions, fps, display, device, audio_kbps)

    def to_pandas(self, name: str = "series") -> pd.DataFrame:
        """A table of the run as a pandas data frame; needs pandas.

        Args:
            name: `series` (over time), `events` (of segments) or `units` (of live links).

        Raises:
            ScenarioError: If the table does not exist, or pandas is not installed.

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
        """Plot goodput and link capacity, window, round-trip time, delay and queue.

        All over time and per flow; empty panels are omitted.

        Example:
            >>> import clift
            >>> phy = clift.channel.bernoulli(slots=20_000, p=0.02, seed=1)
            >>> run = clift.simulate(clift.tmt.apply(phy, clift.Arq()), duration_s=10)
            >>> [axes.get_ylabel() for axes in run.plot().axes][0]
            'goodput (kbit/s)'
        """
        from clift.report import over_time

        interval_ms = max(10.0, 5 * self.summary()["duration_s"])  # 200 samples
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
    """Check the number of bytes kept per packet.

    Raises:
        ScenarioError: If it is not 20 to 65535.
    """
    if not isinstance(snap_bytes, int) or not 20 <= snap_bytes <= 65_535:
        raise ScenarioError(f"snap_bytes = {snap_bytes!r}: give 20 to 65535 bytes")
    return snap_bytes


def data_frame(table: pa.Table) -> pd.DataFrame:
    """A table as a pandas data frame.

    Raises:
        ScenarioError: If pandas is not installed.
    """
    try:
        return table.to_pandas()
    except ImportError:
        raise ScenarioError(
            "to_pandas: pandas is not installed; pip install 'clift[pandas]'"
        ) from None


def profile_of(transport: Mapping[str, Any]) -> str:
    """The profile of a flow's TCP, given or by default."""
    return str(transport["profile"] or ("linux" if transport["sack"] else "papers"))


def _full_of_padding(numbers: Mapping[str, float]) -> list[str]:
    """Return links that short packets fill, as each of them takes a whole LLDU.

    The words have no numbers, so that they are the same in all cells.
    """
    found = [
        name.removeprefix("return_links.").removesuffix(".share_padding")
        for name, share in numbers.items()
        if name.startswith("return_links.") and name.endswith(".share_padding")
        if share >= _MUCH_PADDING
    ]
    return [
        f"return link {link} is nearly full, mostly of padding, as each packet, such as an ACK, "
        'begins a new LLDU; this limits the flows; with packing = "bytes" in '
        f"[{'' if link.isdigit() else f'network.links.{link}.'}return.link], packets share LLDUs"
        for link in found
        if numbers[f"return_links.{link}.share_used"] >= _NEARLY_FULL
    ]


def _losses_of_its_own(summary: Summary) -> list[str]:
    queues = sum(hop["packets_dropped"] for hop in summary["links"])
    links = sum(hop["packets_lost"] for hop in summary["links"])
    sent = summary["segments_sent"]
    if sent < 1000 or queues < sent / 10 or queues < links:
        return []
    return [
        f"full queues dropped {queues} of {sent} segments, the links lost {links}: TCP itself "
        "caused most losses; ns-2's TCP (profile papers) overshoots where a Linux kernel's "
        "(profile linux) does not; limit cwnd_max to what path and queue hold"
    ]


def simulate(
    scenario: AnyLink | Sequence[AnyLink] | Scenario | Mapping[str, Any] | str | os.PathLike[str],
    progress: Callable[[float, float], object] | None = None,
    **options: Unpack[Keywords],
) -> Run:
    """Run a scenario.

    Args:
        scenario: A link trace or a live link (or several, crossed in series), a `clift.Scenario`,
            the path of a scenario file, or a dict with its sections and keys. The other arguments
            describe a run over a link; with a scenario they change it.
        progress: Function that is called about 20 times a second with the simulated time in s and
            the goodput so far in kbit/s.
        options: The options below.

    Options are the keys of a scenario file, with its units: a section as a dict
    (`transport={"congestion": "cubic"}`), a key of `[link]` or `[transport]` by its bare name
    (`aqm="codel"`), or any key dotted (`**{"link.aqm": "codel"}`). The following names are short
    forms for numbers, with the unit in the name.

    Short forms (defaults in brackets):
        transport ("cubic"): TCP's `newreno`, `cubic`, `hybla`, `westwood`, `compound`, `bbr`; or
        `tcp`, `quic`, `udp`. `tcp` and `quic` take a congestion ("cubic"). Over QUIC `newreno`,
        `cubic` and `bbr` are quinn's; `clift-newreno`, `clift-cubic`, `hybla`, `westwood` and
        `compound` are CLIFT's. Further options are dotted keys of `[transport.quic]`. profile
        ("linux"): TCP stack: "linux" (a Linux kernel) or "papers" (ns-2, which the papers used;
        without `bbr`). duration_s (400), packet_bytes (1500; IP packet including headers), seed
        (1). queue_packets (1000; None: no bound) or queue_bytes (None): drop-tail queue of the
        link. delayed_ack (None: off in profile papers, as in the kernel in linux): False is off,
        True is 40 ms, a number is ms. initial_window (None: 2 in papers, 10 in linux),
        cwnd_max_packets (None: no bound; the papers' TCP can stay in recovery once it overshoots a
        deep queue, see `Run.notes`), receive_window_bytes (None), timestamps (True). sack (True):
        False is ns-2's `Agent/TCP/Newreno` (RFC 6582), for `newreno` in profile papers. linux
        (None): a dict that switches parts of that profile, e.g. {"rack": False, "max_reordering":
        3}; the reference of scenario files (`[transport.linux]`) lists them. file_bytes (None):
        send a file instead of bulk data; or message_kbps: messages at a constant rate, of
        message_bytes (None: payload of a packet), each with a deadline_ms (None). start_offset_s
        (0): trace time at which the run starts. wrap (False): repeat the trace. flows (1),
        access_kbps (None), access_ms (0): wired legs at every source and at the destination.
        path_ms (0): one-way delay behind the links, both ways: a number, rows of (time_s,
        delay_ms), a CSV file of rows, or the table that `clift.constellation.delays` returns. If it
        decreases, later packets overtake earlier ones, unless path_in_order (False) is set. Without
        a return_link the way back takes as long as the way there, hop by hop in reverse. packing
        (None: the trace's, else "packet"; or "bytes"): whether packets share LLDUs. overlap ("free"
        or "papers"), extra_lldu (False), lldu_header_bytes (0), packet_header_bytes (0), reorder
        (None): how the link carries packets. return_link (None): a link for the way back; without
        it, a fixed RTT/2. stop_when_done (None): end once every flow has finished; default: True
        for files.

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
        >>> page = {"type": "file", "size": "50 kB"}
        >>> same = clift.simulate(ll, congestion="newreno", application=page)
        >>> same.completion_s == run.completion_s
        True
    """
    made = chosen(scenario, dict(options))
    watch = None if progress is None else _watch(progress)
    run = Run(made, _clift.run(made.setup(), watch))
    for note in run.notes():
        # No warning about a value that the caller gave explicitly instead of a measured one.
        if not note.endswith(("is not used", "are not used")):
            warnings.warn(note, stacklevel=2)
    return run


# The signature that `help()` shows lists the options instead of `**options`.
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
    """Run many scenarios on all cores; results do not depend on the number of cores.

    Args:
        scenarios: Scenarios to run.
        progress: True shows a bar on a terminal; a function is called with finished and all runs.
        threads: Number of parallel runs; default: all cores.

    Returns:
        The runs in the order of the scenarios, each equal to `simulate` of that scenario.

    Raises:
        ScenarioError: If a scenario is not valid.
        SimulationError: If a run fails; its attribute `runs` has the other runs.
        Interrupted: On Ctrl-C; its attribute `runs` has the finished runs.

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
    tasks, told = map(Scenario.task, scenarios), lambda done: report(before + done)
    try:
        outcomes, stopped = _clift.run_many(tasks, len(scenarios), threads, told)
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
    for number, one in enumerate(todo):
        if not isinstance(one, Scenario):
            raise _parse.fault(f"scenarios[{number}]", one, cure)
    return todo


def chosen(
    scenario: AnyLink | Sequence[AnyLink] | Scenario | Mapping[str, Any] | str | os.PathLike[str],
    options: dict[str, Any],
) -> Scenario:
    """The scenario for links, a file, a dict or a scenario, changed by keyword arguments."""
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
