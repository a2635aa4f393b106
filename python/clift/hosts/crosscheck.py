"""One scenario in every available host: CLIFT's engine, ns-2, ns-3, this machine's kernel.

Each host runs the scenario's TCP flows over its link, by its own TCP: the engine that of the
scenario's profile, ns-2 its `Agent/TCP/Linux`, which profile `papers` models, ns-3 its own, the
kernel Linux's, which profile `linux` models. The module checks that the link gives every packet the
same fate as it does alone, and reports the first packet at which a host differs from the engine
with the profile that models the host's TCP.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import clift._clift as _clift
from clift.errors import ScenarioError
from clift.hosts.fates import Arrival, Log, same
from clift.hosts.live import hindrances, run_live
from clift.scenario import Scenario
from clift.simulation import profile_of, simulate
from clift.trace import read_trace

HOSTS = ("engine", "ns2", "ns3", "live")
HEADERS = 40
"""Bytes of IP and TCP headers."""
TIMESTAMPS = 12
"""Bytes of the option with timestamps."""
_LONGEST_ACK = 100
MOST_SEGMENTS = 3_000_000
"""Maximum number of segments for a comparison: logs of more do not fit in memory."""


class MissingHostError(Exception):
    """A host is not installed or cannot run the scenario; the text has the reason."""


@dataclass(frozen=True)
class Flow:
    """The flows of a scenario, all of one kind, as hosts need them.

    Attributes:
        count: Number of flows, all of which start at 0.
        congestion: Congestion control, as in scenarios.
        packet: Bytes of a full IP packet.
        size: Bytes of the file; None for bulk data.
        duration_s: Seconds.
        window: Maximum window in packets; None for no limit.
        initial_window: Packets; None for the profile's default.
        delayed_ack_ms: Delay of an acknowledgement; None for no delay, in profile `papers`.
        profile: ``"papers"`` or ``"linux"``.
        timestamps: True if segments carry timestamps.
        sack: True if acknowledgements carry SACK blocks.
    """

    count: int
    congestion: str
    packet: int
    size: int | None
    duration_s: float
    window: int | None
    initial_window: int | None
    delayed_ack_ms: float | None
    profile: str
    timestamps: bool
    sack: bool

    @property
    def payload(self) -> int:
        """Bytes of data in a full packet."""
        return self.packet - HEADERS - (TIMESTAMPS if self.timestamps else 0)

    @classmethod
    def of(cls, scenario: Scenario) -> Flow:
        """The flows of a cell.

        Raises:
            MissingHostError: If they are not TCP flows of one kind without access legs.
        """
        config = scenario.config
        transport, application = config["transport"], config["application"]
        if transport["protocol"] != "tcp" or application["type"] not in ("bulk", "file"):
            raise MissingHostError("hosts run TCP flows with bulk data or a file")
        if config["flow"] or config["access"]:
            raise MissingHostError("hosts run flows of one kind (`flows`), without access legs")
        size = application.get("size")
        delayed = transport["delayed_ack"]
        return cls(
            count=config["flows"] or 1,
            congestion=transport["congestion"],
            packet=_clift.parse_size(transport["packet"]),
            size=None if size is None else _clift.parse_size(size),
            duration_s=_clift.parse_time(config["duration"]) / 1e9,
            window=_bound(transport["cwnd_max"]),
            initial_window=_bound(transport["initial_window"]),
            delayed_ack_ms=_clift.parse_time(delayed) / 1e6 if _is_time(delayed) else None,
            profile=profile_of(transport),
            timestamps=transport["timestamps"],
            sack=transport["sack"],
        )


@dataclass(frozen=True)
class HostResult:
    """Results of a host.

    Attributes:
        tcp: Its TCP.
        goodputs_kbps: Goodput of each flow.
        numbers: Metrics of all flows together.
        there: Arrivals and fates of the forward link, if the host logs them.
        back: The same of the return link.
    """

    tcp: str
    goodputs_kbps: list[float]
    numbers: dict[str, float | None]
    there: Log | None = None
    back: Log | None = None

    def row(self) -> dict[str, Any]:
        """What `crosscheck` returns of it, without comparisons."""
        total, squares = (sum(value**n for value in self.goodputs_kbps) for n in (1, 2))
        count = len(self.goodputs_kbps)
        fairness = total**2 / (count * squares) if count > 1 and squares else None
        return {"tcp": self.tcp, "goodput_kbps": total, "fairness": fairness, **self.numbers}


def crosscheck(
    scenario: Scenario,
    hosts: tuple[str, ...] = HOSTS,
    tell: Callable[[str], None] = lambda _: None,
) -> dict[str, dict[str, Any]]:
    r"""Runs a scenario in every available host.

    Args:
        scenario: One cell; its first replication is run.
        hosts: Names out of `HOSTS`.
        tell: Called with a line for each omitted host and the reason.

    Returns:
        For each host `tcp` (the TCP that it runs), `goodput_kbps` (the sum over the flows),
        `fairness` of the flows' goodput (Jain's index; None for one flow), `completion_s` (of the
        last flow; None unless files), `retransmissions`, `timeouts` and `delay_ms` (mean one-way
        delay of data packets over the link); `fates` (`packets`, `agree`) where the host logs them,
        and `parts`: the first packet at which it and the engine differ (`packet`, `at_s`, `why`),
        None if there is none. If the scenario has profile `linux`, ns-2 runs what the scenario says
        with profile `papers`, which models its TCP, and is compared with the engine's run of that,
        `engine_papers`.

    Raises:
        ScenarioError: If the scenario has several cells, is wrong, or makes the engine send more
            than `MOST_SEGMENTS` segments.

    Example:
        >>> import clift
        >>> text = '[[path]]\nleg = { rate = "2 Mbit/s", delay = "9 ms", queue = "20 packets" }'
        >>> found = crosscheck(clift.Scenario.parse(text), hosts=("engine",))
        >>> round(found["engine"]["goodput_kbps"])
        1931
    """
    cells = scenario.cells()
    if len(cells) != 1:
        axes = ", ".join(cells[0].labels)
        raise ScenarioError(f"has {len(cells)} cells; choose one by --set: {axes}")
    cell = cells[0].replication(0)
    cell.setup()
    found: dict[str, dict[str, Any]] = {}
    engine = _engine(cell, tell)
    nothing = {"fates": None, "parts": None}
    if "engine" in hosts:
        found["engine"] = engine.row() | nothing
    runners = {"ns2": _ns2, "ns3": _ns3, "live": _live}
    with tempfile.TemporaryDirectory() as folder:
        for name in (name for name in hosts if name in runners):
            beside = engine
            try:
                own, flow = cell, Flow.of(cell)
                if name == "ns2" and flow.profile == "linux":
                    own = cell.replace(**{"transport.profile": "papers"})
                    flow = Flow.of(own)
                    beside = _engine(own, tell)
                if name in ("ns2", "ns3"):
                    own = _without_parquet(own, Path(folder))
                ran = runners[name](own, flow, engine, tell)
            except (MissingHostError, ScenarioError) as error:
                tell(f"{name} is left out: {error}")
                continue
            if beside is not engine:
                found["engine_papers"] = beside.row() | nothing
            compared = {"fates": _fates(cell, ran), "parts": _parts(beside, ran)}
            found[name] = ran.row() | compared
    return found


def _without_parquet(cell: Scenario, folder: Path) -> Scenario:
    """The cell with its trace as text: the adapters of ns-2 and ns-3 are linked without Parquet."""
    file = str((cell.config["trace"] or {}).get("file"))
    if not cell.file or not file.endswith(".parquet"):
        return cell
    read_trace(Path(cell.file).parent / file).write(folder / "trace.csv")
    # A file again, which hosts read, with a change that they are given.
    changes = cell.changes | {"trace.file": str(folder / "trace.csv")}
    cells = Scenario.read(cell.file, changes).cells()
    return next(one for one in cells if one.labels == cell.labels).replication(0)


# --- the hosts ---


def _engine(cell: Scenario, tell: Callable[[str], None]) -> HostResult:
    # The notes of a run appear once, not as warnings.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        run = simulate(cell)
    for note in run.notes():
        tell(f"engine: {note}")
    summary = run.summary()
    if (sent := summary["segments_sent"]) > MOST_SEGMENTS:
        raise ScenarioError(
            f"the engine sends {sent} segments, and hosts are compared over {MOST_SEGMENTS} at "
            "most; set a shorter duration, or bound transport.cwnd_max"
        )
    events = run.events()
    headers = HEADERS + (TIMESTAMPS if cell.config["transport"]["timestamps"] else 0)
    arrivals = [
        Arrival(at, length + headers, 0, seq, seq + length)
        for at, kind, seq, length in zip(
            *(events[name].to_pylist() for name in ("time_ns", "kind", "seq", "len")), strict=True
        )
        if kind in (_clift.SENT, _clift.SENT_AGAIN) and length
    ]
    links: Any = summary["links"]
    numbers: dict[str, float | None] = {
        name: summary[name] for name in ("completion_s", "retransmissions", "timeouts")
    }
    numbers["delay_ms"] = _delay(links)
    goodputs: list[float] = [flow["goodput_kbps"] for flow in summary["flows"]]
    transport = cell.config["transport"]
    tcp = f"CLIFT, profile {profile_of(transport)}" if transport["protocol"] == "tcp" else "none"
    return HostResult(tcp, goodputs, numbers, Log(arrivals, []))


_NS2 = {"newreno": "reno", **{name: name for name in ("cubic", "hybla", "westwood", "compound")}}
# Every packet is full. ns-2's first packet has 40 bytes by default and
# counts as data. The control takes its segment size when it is selected: the payload.
_SCRIPT = """
load {plugin}
set ns [new Simulator]
set sender [$ns node]
set receiver [$ns node]
$ns clift-link $sender $receiver {{{scenario}}} -log log {options}
for {{set flow 0}} {{$flow < {count}}} {{incr flow}} {{
    set tcp [new Agent/TCP/Linux]
    lappend tcps $tcp
    $tcp set timestamps_ {timestamps}
    $tcp set window_ {window}
    $tcp set packetSize_ {payload}
    $tcp set syn_ false
    $tcp set useHeaders_ false
    {initial}
    set sink [new {sink}]
    {delayed}
    $sink set ts_echo_rfc1323_ {timestamps}
    $ns attach-agent $sender $tcp
    $ns attach-agent $receiver $sink
    $ns connect $tcp $sink
    $ns at 0 "$tcp select_ca {variant}"
    $ns at 0 "$tcp set packetSize_ {packet}"
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    $ns at 0 "$ftp {start}"
}}
proc finish {{}} {{
    global ns tcps sender receiver
    foreach {{from to}} [list $sender $receiver $receiver $sender] {{
        [[$ns link $from $to] set link_] flush
    }}
    foreach tcp $tcps {{ puts "result [$tcp set nrexmitpack_] [$tcp set nrexmit_]" }}
    exit 0
}}
$ns at {until} finish
$ns run
"""


def _ns2(cell: Scenario, flow: Flow, _: HostResult, __: Callable[[str], None]) -> HostResult:
    _need_sack(flow)
    plugin = _built("target/ns2/clift.so", "CLIFT_NS2", "make ns2")
    program = shutil.which("ns")
    if program is None:
        raise MissingHostError("there is no `ns` (Debian: apt install ns2)")
    if flow.congestion not in _NS2:
        raise MissingHostError(f"ns-2 has no {flow.congestion}")
    payload = flow.payload
    packets = None if flow.size is None else math.ceil(flow.size / payload)
    delayed = flow.delayed_ack_ms
    path, changes = _source(cell)
    keys = " ".join(f"{{{text}}}" for change in changes for text in change)
    script = _SCRIPT.format(
        count=flow.count,
        plugin=plugin,
        scenario=path,
        options=f"-set {{{keys}}}",
        window=flow.window or 100_000,
        payload=payload,
        packet=flow.packet,
        timestamps=str(flow.timestamps).lower(),
        initial=f"$tcp set windowInit_ {flow.initial_window}" if flow.initial_window else "",
        sink="Agent/TCPSink/Sack1" + ("/DelAck" if delayed else ""),
        delayed=f"$sink set interval_ {delayed / 1e3}" if delayed else "",
        variant=_NS2[flow.congestion],
        start="start" if packets is None else f"produce {packets}",
        until=flow.duration_s,
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "x.tcl").write_text(script)
        longest = 60 + flow.duration_s
        try:
            done = subprocess.run(
                [program, "x.tcl"], cwd=folder, capture_output=True, text=True, timeout=longest
            )
        except subprocess.TimeoutExpired:
            why = "; its Westwood+ never does if its first packet is lost"
            known = why if flow.congestion == "westwood" else ""
            raise MissingHostError(f"ns did not end within {longest:g} s{known}") from None
        results = [line.split() for line in done.stdout.splitlines() if line.startswith("result")]
        if done.returncode != 0 or not results:
            raise MissingHostError(
                f"ns failed: {(done.stderr or done.stdout).strip().splitlines()[:1]}"
            )
        there, back = Log.read(folder / "log"), Log.read(folder / "log.back")
    goodputs, completions = [], []
    for arrived in _arrived(there, flow.count):
        complete = packets is not None and len(arrived) >= packets
        completions.append(max(arrived.values()) / 1e9 if complete else None)
        in_order = next(number for number in itertools.count() if number not in arrived)
        size = flow.size if flow.size and complete else in_order * payload
        goodputs.append(size * 8e-3 / (completions[-1] or flow.duration_s))
    numbers = {
        "completion_s": _last(completions),
        "retransmissions": sum(int(again) for _, again, _ in results),
        "timeouts": sum(int(timeouts) for _, _, timeouts in results),
        "delay_ms": _mean(there),
    }
    tcp = f"ns-2, Agent/TCP/Linux {_NS2[flow.congestion]}"
    return HostResult(tcp, goodputs, numbers, there, back)


def _ns3(cell: Scenario, flow: Flow, engine: HostResult, _: Callable[[str], None]) -> HostResult:
    _need_sack(flow)
    program = _ns3_program("clift-bulk")
    known = {"newreno", "cubic", "hybla", "westwood", "bbr"}
    if not flow.timestamps:
        raise MissingHostError("ns-3's TCP has timestamps here")
    if flow.congestion not in known:
        raise MissingHostError(f"ns-3 has no {flow.congestion}")
    options = {
        "flows": flow.count,
        "congestion": flow.congestion,
        "duration": flow.duration_s,
        "bytes": flow.size or 0,
        "packet": flow.packet,
        "initialWindow": flow.initial_window or (2 if flow.profile == "papers" else 10),
        "window": flow.window or 0,
        "delayedAck": int(flow.profile == "linux" or flow.delayed_ack_ms is not None),
        "minRto": "200ms",
    }
    path, changes = _source(cell)
    link = [f"--scenario={path}", "--changes=" + ";".join(f"{k}={v}" for k, v in changes)]
    command = [str(program), *link, "--json"]
    command += [f"--{name}={value}" for name, value in options.items()]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise MissingHostError(f"ns-3 failed: {done.stderr.strip()[:200]}")
    printed = json.loads(done.stdout)
    log = _ns3_fates(engine, link)
    names = ("completion_s", "retransmissions", "timeouts")
    numbers = {name: printed.get(name) for name in names}
    numbers["delay_ms"] = printed.get("packet_delay_ms")
    return HostResult(f"ns-{program.parent.name}'s own", printed["goodputs_kbps"], numbers, log)


def _ns3_fates(engine: HostResult, link: list[str]) -> Log:
    """ns-3's device under the packets that CLIFT's engine sends."""
    arrivals = engine.there.arrivals if engine.there else []
    text = "".join(f"{a.at_ns} {a.size} {a.first} {a.end}\n" for a in arrivals)
    command = [str(_ns3_program("clift-fates")), *link]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    kinds = {"0": "delivered", "1": "lost"}
    rows = (line.split() for line in done.stdout.splitlines())
    events = [
        (kinds[fate], number, int(at)) for number, (fate, at) in enumerate(rows) if fate in kinds
    ]
    return Log(arrivals, sorted(events, key=lambda event: event[2]), tells_departures=False)


def _need_sack(flow: Flow) -> None:
    if not flow.sack:
        raise MissingHostError("only the engine and a kernel run TCP without SACK here")


def _live(cell: Scenario, flow: Flow, _: HostResult, tell: Callable[[str], None]) -> HostResult:
    if lines := hindrances():
        raise MissingHostError(lines[0])
    if not flow.timestamps:
        raise MissingHostError("the kernel's TCP has timestamps")
    if flow.profile != "linux":
        tell("live: the scenario has profile `papers`; profile `linux` models the kernel's TCP")
    if flow.window is not None:
        tell(f"live: cwnd_max of {flow.window} packets does not limit the kernel's window")
    # A host's namespace is its own, and the sender's word is enough.
    settings = "" if flow.sack else "echo 0 > /proc/sys/net/ipv4/tcp_sack && "
    names = {"newreno": "reno"}
    congestion = names.get(flow.congestion, flow.congestion)
    traffic = [sys.executable, "-m", "clift.hosts.traffic"]
    how = ["{peer}", "--congestion", congestion, "--flows", str(flow.count)]
    how += ["--bytes", str(flow.size)] if flow.size else ["--seconds", f"{flow.duration_s}"]
    tell(f"live: takes {'as long as the file' if flow.size else f'{flow.duration_s:g} s'}")
    with tempfile.TemporaryDirectory() as name:
        log, output, counted = (Path(name, file) for file in ("log", "result", "counted"))
        # Commands run as the caller, who may not be us.
        Path(name).chmod(0o777)
        command = [*traffic, "send", str(counted), *how]
        shell = ["sh", "-c", f'{settings}exec "$@" > {output}', "sh", *command]
        # The channel must last a little longer than the flow.
        longer = cell.replace(duration_s=flow.duration_s + 5)
        try:
            serve = [*traffic, "serve", str(counted), "--flows", str(flow.count)]
            run = run_live(longer, shell, serve, congestion, log)
        except ScenarioError as error:
            raise MissingHostError(str(error)) from None
        if run.code != 0:
            raise MissingHostError(f"the sender ended with exit code {run.code}")
        for fault in run.faults():
            tell(f"live: this run does not count: {fault}")
        sent = json.loads(output.read_text())
        there, back = Log.read(log), Log.read(log.with_name("log.back"))
    numbers = {
        "completion_s": _last([one.get("completion_s") for one in sent["flows"]]),
        "retransmissions": sum(one["retransmissions"] for one in sent["flows"]),
        "timeouts": sent["timeouts"],
        "delay_ms": _mean(there),
    }
    goodputs = [one["goodput_kbps"] for one in sent["flows"]]
    return HostResult(f"Linux {platform.release()}", goodputs, numbers, there, back)


# --- comparing ---


def _fates(cell: Scenario, ran: HostResult) -> dict[str, Any] | None:
    """True if the link gave every packet the fate that it gives it alone."""
    wrong: list[str] = []
    packets = 0
    for direction, log in enumerate((ran.there, ran.back)):
        if log is None:
            continue
        packets += len(log.arrivals)
        wrong += log.disagreements(cell, direction)
    return {"packets": packets, "agree": not wrong, "first": wrong[0] if wrong else None}


def _parts(engine: HostResult, ran: HostResult) -> dict[str, Any] | None:
    """The first data packet at which a host and the engine differ, and a possible reason."""
    if engine.there is None or ran.there is None or ran.back is None:
        return None
    ours = [packet for packet in engine.there.arrivals if packet.size > _LONGEST_ACK]
    theirs = [packet for packet in ran.there.arrivals if packet.size > _LONGEST_ACK]
    number = same(ours, theirs)
    if number == min(len(ours), len(theirs)):
        return None
    mine, other = ours[number], theirs[number]
    return {"packet": number, "at_s": mine.at_ns / 1e9, "why": _why(number, mine, other)}


def _why(number: int, mine: Arrival, other: Arrival) -> str:
    if mine.size != other.size:
        return f"segments of {other.size} bytes, the engine's of {mine.size} (MSS or options)"
    later = (other.at_ns - mine.at_ns) / 1e6
    if number == 0:
        return f"its first data leaves {later:+.3f} ms later (handshake)"
    how = "a timer, or what it sends for an acknowledgement" if abs(later) > 1 else "a clock's step"
    return f"it sends {later:+.3f} ms later than the engine ({how})"


def _arrived(log: Log, flows: int) -> list[dict[int, int]]:
    """For each flow the number of each segment that was delivered, and when first, ns."""
    arrived: list[dict[int, int]] = [{} for _ in range(flows)]
    for kind, number, at in log.events:
        packet = log.arrivals[number]
        if kind == "delivered" and packet.end > packet.first:
            arrived[packet.flow].setdefault(packet.first, at)
    return arrived


def _last(completions: list[float | None]) -> float | None:
    """The completion of all flows; None if one did not complete."""
    there = [at for at in completions if at is not None]
    return max(there) if len(there) == len(completions) else None


def _delay(links: list[dict[str, Any]]) -> float | None:
    """The mean one-way delay over the only link."""
    delays = links[0].get("packet_delay_ms") if len(links) == 1 else None
    return delays["mean"] if delays else None


def _mean(log: Log) -> float | None:
    delays = log.delays_ms(_LONGEST_ACK)
    return fmean(delays) if delays else None


# --- where things are ---


def _source(cell: Scenario) -> tuple[Path, list[tuple[str, str]]]:
    """The file of a cell, and the keys that select the cell in it.

    Raises:
        MissingHostError: If the scenario was not read from a file.
    """
    if not cell.file or not Path(cell.file).exists():
        raise MissingHostError("hosts read scenarios from files, and this one is not from a file")
    chosen = {key: str(value) for key, value in cell.changes.items()} | cell.labels
    return Path(cell.file).absolute(), list(chosen.items())


def _built(path: str, variable: str, target: str) -> Path:
    """Path of a build result; an environment variable can name another path."""
    named = os.environ.get(variable)
    for place in (named, *(Path(base, path) for base in (Path.cwd(), *Path(__file__).parents))):
        if place is not None and Path(place).exists():
            return Path(place).absolute()
    raise MissingHostError(
        f"{path} is not built; `{target}` in CLIFT's source makes it, {variable} names it"
    )


def _ns3_program(name: str) -> Path:
    folder = _built("target/ns3", "CLIFT_NS3", "make ns3")
    found = sorted(folder.glob(f"*/{name}")) or sorted(folder.glob(name))
    if not found:
        raise MissingHostError(f"{folder} has no {name}; `make ns3` makes it")
    return found[-1]


def _bound(text: str | None) -> int | None:
    return int(text.split()[0]) if text and text.split()[0].isdigit() else None


def _is_time(value: object) -> bool:
    return isinstance(value, str) and value.split()[-1] in ("ms", "s", "us", "ns")
