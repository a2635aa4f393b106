"""Multipath TCP of this kernel beside CLIFT's: two hosts with two wires between them.

    python -m validation.kernel.multipath --measure    # needs root; half a minute per cell and run
    python -m validation.kernel.multipath

The kernel's figures are kept in multipath.csv. Its scheduler differs from those of CLIFT: it
fills the send buffers of subflows by their rates, within the shared window.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import os
import select
import socket
import subprocess
import sys
import threading
import time
import tomllib
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import clift
from validation.kernel import kept, namespaces
from validation.kernel.forwarder import Wire, prefer_this_process

TABLE = Path(__file__).with_name("multipath.csv")
_MPTCP = 262  # IPPROTO_MPTCP
_RUNS = 2
_SECONDS = 20
_PORT = 5001
_LIMITS = "16777216"


class Access(NamedTuple):
    """A wire in each direction; the way back has no queue."""

    mbps: float
    delay_ms: int
    queue: int
    out_from_s: float = 0.0
    out_until_s: float = 0.0


class Cell(NamedTuple):
    """A connection over two paths, or over one."""

    name: str
    congestion: str
    paths: tuple[Access, ...]

    def scenario(self) -> str:
        """The same as a scenario of CLIFT."""
        links = []
        for number, path in enumerate(self.paths):
            outage = (
                f', outages = [["{path.out_from_s} s", "{path.out_until_s} s"]]'
                if path.out_until_s
                else ""
            )
            leg = (
                f'rate = "{path.mbps} Mbit/s", delay = "{path.delay_ms} ms", '
                f'queue = "{path.queue} packets"{outage}'
            )
            links.append(
                f'[network.links.p{number}]\nfrom = "a"\nto = "b"\nleg = {{ {leg} }}\n'
                f'return.leg = {{ rate = "{path.mbps} Mbit/s", delay = "{path.delay_ms} ms" }}\n'
            )
        names = [[f"p{number}"] for number in range(len(self.paths))]
        way = f"paths = {names}" if len(names) > 1 else f"route = {names[0]}"
        way = way.replace("'", '"')
        # The header and the options of a data sequence signal.
        packet = 1500 - (20 if len(names) > 1 else 0)
        return (
            f'duration = "{_SECONDS} s"\n{"".join(links)}[[flow]]\nfrom = "a"\nto = "b"\n{way}\n'
            f'transport = {{ congestion = "{self.congestion}", packet = "{packet} B", '
            f"linux = {{ window_growth = false }} }}\n"
        )


_FAST, _SLOW = Access(8, 15, 60), Access(4, 150, 120)


def cells() -> list[Cell]:
    """Two accesses of equal and of different delay, one after the other, and a failure."""
    alike = Access(6, 30, 60)
    fails = Access(8, 15, 60, 8, 1000)
    pairs = {
        "fast alone": (_FAST,),
        "slow alone": (_SLOW,),
        "alike": (alike, alike),
        "fast and slow": (_FAST, _SLOW),
        "slow and fast": (_SLOW, _FAST),
        "fast fails": (fails, _SLOW),
    }
    return [
        Cell(name, congestion, paths)
        for name, paths in pairs.items()
        for congestion in ("reno", "cubic")
    ]


def engine(cell: Cell) -> float:
    """Goodput in kbit/s."""
    summary = clift.simulate(tomllib.loads(cell.scenario())).summary()
    return float(summary["goodput_kbps"])


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


class _Hosts:
    """Two namespaces, and for each wire a device in each."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.names = tuple(f"clift-mp-{os.getpid()}{end}" for end in "ab")
        self.tuns: list[tuple[int, int]] = []

    def address(self, end: int, wire: int) -> str:
        return f"192.0.2.{10 * wire + end + 1}"

    def __enter__(self) -> _Hosts:
        home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        ends: list[list[int]] = []
        try:
            for end, name in enumerate(self.names):
                _ip("netns", "add", name)
                namespaces.enter(name)
                for setting in (
                    "net.ipv4.tcp_no_metrics_save=1",
                    "net.ipv6.conf.all.disable_ipv6=1",
                    "net.ipv4.conf.all.rp_filter=0",
                    "net.ipv4.conf.default.rp_filter=0",
                    # A larger first send buffer would hold what the first path has not sent.
                    f"net.ipv4.tcp_wmem=4096 16384 {_LIMITS}",
                    f"net.ipv4.tcp_rmem=4096 131072 {_LIMITS}",
                ):
                    key, value = setting.split("=")
                    Path("/proc/sys", *key.split(".")).write_text(value)
                _ip("link", "set", "lo", "up")
                ends.append([])
                for wire in range(self.count):
                    device = f"sat{wire}"
                    ends[end].append(namespaces.open_tun(device))
                    own, peer = self.address(end, wire), self.address(1 - end, wire)
                    _ip("addr", "add", own, "peer", peer, "dev", device)
                    _ip("link", "set", device, "mtu", "1500", "up")
                    if wire > 0:
                        # A subflow from this address leaves by its own wire.
                        table = str(100 + wire)
                        _ip("rule", "add", "from", own, "table", table)
                        _ip("route", "add", "default", "dev", device, "table", table)
                if self.count > 1:
                    _ip("mptcp", "limits", "set", "subflows", "2", "add_addr_accepted", "2")
                if self.count > 1 and end == 0:
                    for wire in range(1, self.count):
                        own = self.address(end, wire)
                        _ip("mptcp", "endpoint", "add", own, "dev", f"sat{wire}", "subflow")
        except BaseException:
            self._remove()
            raise
        finally:
            _back(home)
        self.tuns = list(zip(*ends, strict=True))
        return self

    def __exit__(self, *_: object) -> None:
        for tun in (tun for pair in self.tuns for tun in pair):
            os.close(tun)
        self._remove()

    def _remove(self) -> None:
        for name in self.names:
            subprocess.run(["ip", "netns", "delete", name], check=False, capture_output=True)


def _back(home: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(home, 0x40000000) != 0:
        raise OSError(ctypes.get_errno(), "cannot leave a network namespace")
    os.close(home)


def _forward(cell: Cell, tuns: list[tuple[int, int]], stop: int) -> None:
    """Forwards over all wires until `stop` can be read."""
    prefer_this_process()
    began = time.monotonic_ns()
    lines: list[tuple[Access | None, Wire, int, int]] = []
    for path, (a, b) in zip(cell.paths, tuns, strict=True):
        rate, delay = int(path.mbps * 1e6), path.delay_ms * 1_000_000
        lines.append((path, Wire(rate, delay, path.queue), a, b))
        lines.append((None, Wire(rate, delay), b, a))
    inputs = [line[2] for line in lines]
    while True:
        now = time.monotonic_ns()
        due = [line[1].on_the_way[0][0] for line in lines if line[1].on_the_way]
        wait = max(0, min(due) - now) / 1e9 if due else 0.1
        ready, _, _ = select.select([*inputs, stop], [], [], wait)
        if stop in ready:
            return
        now = time.monotonic_ns()
        for access, wire, source, target in lines:
            with contextlib.suppress(BlockingIOError):
                while source in ready:
                    packet = os.read(source, 2048)
                    at = (wire.free_at if wire.free_at > now else now) - began
                    out = access is not None and (
                        access.out_from_s * 1e9 <= at < access.out_until_s * 1e9
                    )
                    wire.take(now, packet)
                    if out and wire.on_the_way and wire.on_the_way[-1][2] is packet:
                        wire.on_the_way.pop()
            for _, packet in wire.due(now):
                with contextlib.suppress(BlockingIOError):
                    os.write(target, packet)


def measure(cell: Cell) -> float:
    """Goodput of the kernel in kbit/s. Needs root."""
    with _Hosts(len(cell.paths)) as hosts:
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                _forward(cell, hosts.tuns, read)
                code = 0
            finally:
                os._exit(code)
        try:
            return _flow(cell, hosts)
        finally:
            os.write(write, b".")
            os.waitpid(child, 0)
            os.close(read)
            os.close(write)


def _flow(cell: Cell, hosts: _Hosts) -> float:
    protocol = _MPTCP if len(cell.paths) > 1 else socket.IPPROTO_TCP
    got = [0]
    opened, ready = threading.Event(), threading.Event()
    ends = [0.0]

    def receive() -> None:
        namespaces.enter(hosts.names[1])
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol) as listener:
            listener.bind((hosts.address(1, 0), _PORT))
            listener.listen()
            ready.set()
            connection, _ = listener.accept()
            with connection:
                opened.wait()
                connection.settimeout(0.2)
                while (left := ends[0] - time.monotonic()) > 0:
                    connection.settimeout(left)
                    try:
                        got[0] += len(connection.recv(1 << 20))
                    except TimeoutError:
                        return

    def send() -> None:
        namespaces.enter(hosts.names[0])
        ready.wait()
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol) as sender:
            sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, cell.congestion.encode())
            ends[0] = time.monotonic() + _SECONDS
            sender.bind((hosts.address(0, 0), 0))
            sender.connect((hosts.address(1, 0), _PORT))
            opened.set()
            block = bytes(1 << 16)
            sender.settimeout(0.2)
            while time.monotonic() < ends[0]:
                with contextlib.suppress(TimeoutError, BrokenPipeError, ConnectionResetError):
                    sender.send(block)

    threads = [threading.Thread(target=receive), threading.Thread(target=send)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return got[0] * 8 / _SECONDS / 1000


def measure_all() -> None:
    """Measures the cells and runs that the table does not have."""
    rows = kept.read(TABLE) if TABLE.exists() else []
    have = {(row["cell"], row["congestion"], row["run"]) for row in rows}
    for cell in cells():
        for run in range(_RUNS):
            if (cell.name, cell.congestion, str(run)) in have:
                continue
            goodput = measure(cell)
            print(f"{cell.name}, {cell.congestion}, run {run}: {goodput:.0f} kbit/s", flush=True)
            rows.append(
                {
                    "cell": cell.name,
                    "congestion": cell.congestion,
                    "run": str(run),
                    "goodput_kbps": f"{goodput:.1f}",
                    "kernel": kept.release(),
                }
            )
            kept.write(TABLE, rows)


def main() -> int:
    """Compares, and measures first if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measure", action="store_true", help="measure this kernel first")
    if parser.parse_args().measure:
        if hindrance := namespaces.hindrance(("reno", "cubic")):
            print(f"error: {hindrance}", file=sys.stderr)
            return 2
        measure_all()
    rows = kept.read(TABLE)
    print("cell             control  kernel  CLIFT  difference")
    for cell in cells():
        kernel = [
            float(row["goodput_kbps"])
            for row in rows
            if (row["cell"], row["congestion"]) == (cell.name, cell.congestion)
        ]
        if kernel:
            mean, ours = fmean(kernel), engine(cell)
            print(
                f"{cell.name:<16} {cell.congestion:<7} {mean:7.0f} {ours:6.0f} "
                f"{ours / mean - 1:+10.1%}"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
