"""The engine beside ns-2 and ns-3: the same bulk flows over the same wired link."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from bench.process import Measured, measure

ROOT = Path(__file__).parent.parent
BUILD = ROOT / "target" / "bench"
NS3_LIBRARIES = [
    "core",
    "network",
    "internet",
    "point-to-point",
    "applications",
    "traffic-control",
    "bridge",
]


# Bytes of an LLDU of the link trace that takes the wired link's place: a packet each.
LLDU = "1500"


@dataclass(frozen=True)
class Case:
    """Bulk flows over one link; the window is limited to pipe and queue on every side."""

    name: str
    rate: int
    rtt_ms: int
    seconds: float
    queue: int
    window: int
    loss: float
    flows: int

    def arguments(self, seconds: float, congestion: str) -> list[str]:
        """The command line that all three programs take."""
        values = (self.rate, self.rtt_ms, seconds, self.queue, self.window, self.loss, self.flows)
        return [*map(str, values), congestion]


CASES = (
    Case("50 Mbit/s, 100 s, no loss", 50_000_000, 500, 100, 200, 2283, 0, 1),
    Case("2.3 Mbit/s, 400 s, 1 % loss", 2_300_000, 500, 400, 192, 288, 0.01, 1),
    Case("the same for 8000 s", 2_300_000, 500, 8000, 192, 288, 0.01, 1),
    Case("50 Mbit/s, 100 s, 10 flows", 50_000_000, 500, 100, 200, 228, 0, 10),
)


def report() -> None:
    """Prints time a packet, ratio and memory for each case."""
    ours = build_ours()
    ns2 = shutil.which("ns")
    ns3 = build_ns3("bulk")
    print("engine, CUBIC over a wired link (start-up taken off; ratio: times as fast as);")
    print("trace: the engine over a link trace in its place, which is made on the way")
    print(f"{'case':28} {'':6} {'packets':>9} {'s':>8} {'ns/packet':>10} {'MB':>6} {'ratio':>7}")
    for case in CASES:
        own = measure(
            [ours, *case.arguments(case.seconds, "cubic")], [ours, *case.arguments(1e-3, "cubic")]
        )
        rows = [("CLIFT", own, _packets(own))]
        if case.flows == 1:
            over_trace = measure(
                [ours, *case.arguments(case.seconds, "cubic"), LLDU],
                [ours, *case.arguments(1e-3, "cubic"), LLDU],
            )
            rows.append(("trace", over_trace, _packets(over_trace)))
        if ns2:
            script = str(ROOT / "bench" / "ns2" / "bulk.tcl")
            other = measure(
                [ns2, script, *case.arguments(case.seconds, "cubic")],
                [ns2, script, *case.arguments(1e-3, "cubic")],
            )
            rows.append(("ns-2", other, _packets(other)))
        if ns3:
            other = measure(
                [ns3, *case.arguments(case.seconds, "TcpCubic")],
                [ns3, *case.arguments(1e-3, "TcpCubic")],
                runs=1,
            )
            rows.append(("ns-3", other, _packets(other)))
        for name, measured, packets in rows:
            _row(case.name, name, measured, packets, own.seconds / rows[0][2])
    if not ns2:
        print("ns-2 is not installed: apt install ns2")
    if not ns3:
        print("ns-3 is not installed: apt install libns3-dev")


def _packets(measured: Measured) -> int:
    # ns-2 echoes its commands between what it is asked to print.
    return next(int(word) for word in measured.stdout.split() if word.isdigit())


def _row(case: str, name: str, measured: Measured, packets: int, own_per_packet: float) -> None:
    per_packet = measured.seconds / packets
    ratio = "" if name == "CLIFT" else f"{per_packet / own_per_packet:7.1f}"
    print(
        f"{case:28} {name:6} {packets:9d} {measured.seconds:8.3f} {per_packet * 1e9:10.0f} "
        f"{measured.peak_mb:6.1f} {ratio:>7}"
    )


def build_ours() -> str:
    """Builds the example `bulk`; returns its path."""
    command = ["cargo", "build", "--release", "--quiet", "--example", "bulk", "-p", "clift"]
    subprocess.run(command, cwd=ROOT, check=True)
    return str(ROOT / "target" / "release" / "examples" / "bulk")


def build_ns3(program: str, newest: bool = False) -> str | None:
    """Builds a program of bench/ns3 against ns-3; returns its path, None without ns-3.

    It is Debian's, or with `newest` that of the wheel, if `make hosts-deps` installed it.
    """
    wheels = sorted(ROOT.glob("target/ns3/venv/lib/python3*/site-packages/ns3")) if newest else []
    if wheels:
        version = next(wheels[0].glob("lib64/libns3.*-core.so")).name[3:-8]
        names = [f"-l{version}-{name}" for name in (*NS3_LIBRARIES, "stats")]
        place = [f"-I{wheels[0]}/include", f"-L{wheels[0]}/lib64", f"-Wl,-rpath,{wheels[0]}/lib64"]
        libraries = ["-std=c++20", *place, *names]
    elif Path("/usr/include/ns3").is_dir():
        libraries = ["-std=c++17", *(f"-lns3-{name}" for name in NS3_LIBRARIES)]
    else:
        return None
    BUILD.mkdir(parents=True, exist_ok=True)
    binary = BUILD / f"ns3_{program}"
    source = ROOT / "bench" / "ns3" / f"{program}.cc"
    subprocess.run(["g++", "-O2", str(source), "-o", str(binary), *libraries], check=True)
    return str(binary)
