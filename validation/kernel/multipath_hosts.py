"""A kernel's Multipath TCP: two hosts with a wire for each path, or one wire that the paths share.

    python -m validation.kernel.virtual run 7.2-mptcp python -m validation.kernel.multipath_hosts 3

measures cell 3 in this kernel, as root, and prints a line of JSON. In virtual time the result is
the same each time.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from validation.kernel import kept, namespaces
from validation.kernel.forwarder import Wire, prefer_this_process
from validation.kernel.multipath_cells import Access, Cell, cells

_MPTCP = 262  # IPPROTO_MPTCP
_PORT, _RIVALS_PORT = 5001, 5002
_LIMITS = "16777216"
_RCVBUFFORCE = 33


class Measured(NamedTuple):
    """What a kernel did in a cell.

    Goodputs in kbit/s, that of the TCP over one path beside it last; the share of the first path
    of the payload that the paths carried; the largest window announced, in bytes.
    """

    goodput_kbps: float
    share: float
    rival_kbps: float
    window: int
    kernel: str


class _Hosts:
    """Two namespaces, and for each wire a device in each."""

    def __init__(self, cell: Cell) -> None:
        self.wires = [0 if cell.shared else number for number in range(len(cell.paths))]
        self.names = tuple(f"clift-mp-{os.getpid()}{end}" for end in "ab")
        self.tuns: list[tuple[int, int]] = []

    def address(self, end: int, path: int) -> str:
        return f"192.0.2.{10 * path + end + 1}"

    def __enter__(self) -> _Hosts:
        home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        ends: list[list[int]] = []
        try:
            for end, name in enumerate(self.names):
                _ip("netns", "add", name)
                namespaces.enter(name)
                self._set()
                ends.append([namespaces.open_tun(f"sat{wire}") for wire in sorted({*self.wires})])
                for path, wire in enumerate(self.wires):
                    self._connect(end, path, f"sat{wire}")
        except BaseException:
            self._remove()
            raise
        finally:
            _back(home)
        self.tuns = list(zip(*ends, strict=True))
        return self

    @staticmethod
    def _set() -> None:
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
            if (file := Path("/proc/sys", *key.split("."))).exists():
                file.write_text(value)
        _ip("link", "set", "lo", "up")
        _ip("mptcp", "limits", "set", "subflows", "2", "add_addr_accepted", "2")

    def _connect(self, end: int, path: int, device: str) -> None:
        own, peer = self.address(end, path), self.address(1 - end, path)
        _ip("addr", "add", own, "peer", peer, "dev", device)
        _ip("link", "set", device, "mtu", "1500", "up")
        if path > 0:
            # A subflow from this address leaves by its own wire.
            table = str(100 + path)
            _ip("rule", "add", "from", own, "table", table)
            _ip("route", "add", "default", "dev", device, "table", table)
            if end == 0:
                _ip("mptcp", "endpoint", "add", own, "dev", device, "subflow")

    def __exit__(self, *_: object) -> None:
        for tun in (tun for pair in self.tuns for tun in pair):
            os.close(tun)
        self._remove()

    def _remove(self) -> None:
        for name in self.names:
            subprocess.run(["ip", "netns", "delete", name], check=False, capture_output=True)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


def _back(home: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(home, 0x40000000) != 0:
        raise OSError(ctypes.get_errno(), "cannot leave a network namespace")
    os.close(home)


class _Seen:
    """What a forwarder reads in headers: payload per path, and the largest window announced."""

    def __init__(self) -> None:
        self.payload = [0, 0]
        self.window = 0
        self.shift = 0

    def data(self, packet: bytes) -> None:
        """A packet reaches the receiver."""
        head = 4 * (packet[0] & 15)
        if int.from_bytes(packet[head + 2 : head + 4]) == _PORT:
            options = 4 * (packet[head + 12] >> 4)
            self.payload[packet[15] // 10] += len(packet) - head - options

    def ack(self, packet: bytes) -> None:
        """A packet leaves the receiver."""
        head = 4 * (packet[0] & 15)
        if int.from_bytes(packet[head : head + 2]) != _PORT:
            return
        if packet[head + 13] & 2:
            place = packet.find(b"\x03\x03", head + 20)
            self.shift = packet[place + 2]
            return
        window = int.from_bytes(packet[head + 14 : head + 16]) << self.shift
        self.window = max(self.window, window)


def _forward(cell: Cell, tuns: list[tuple[int, int]], stop: int) -> _Seen:
    """Forwards over all wires until `stop` can be read."""
    prefer_this_process()
    began = time.monotonic_ns()
    seen = _Seen()
    lines: list[tuple[Access | None, Wire, int, int]] = []
    for number, (path, (a, b)) in enumerate(zip(cell.paths, tuns, strict=False)):
        rate, delay = int(path.mbps * 1e6), path.delay_ms * 1_000_000
        lines.append((path, Wire(rate, delay, path.queue, frozenset(cell.lost(number))), a, b))
        lines.append((None, Wire(rate, delay), b, a))
    inputs = [line[2] for line in lines]
    while True:
        now = time.monotonic_ns()
        due = [line[1].on_the_way[0][0] for line in lines if line[1].on_the_way]
        wait = max(0, min(due) - now) / 1e9 if due else None
        ready, _, _ = select.select([*inputs, stop], [], [], wait)
        if stop in ready:
            return seen
        now = time.monotonic_ns()
        for path, wire, source, target in lines:
            with contextlib.suppress(BlockingIOError):
                while source in ready:
                    packet = os.read(source, 2048)
                    at = (wire.free_at if wire.free_at > now else now) - began
                    out = path is not None and (
                        path.out_from_s * 1e9 <= at < path.out_until_s * 1e9
                    )
                    wire.take(now, packet)
                    if out and wire.on_the_way and wire.on_the_way[-1][2] is packet:
                        wire.on_the_way.pop()
                    if path is None:
                        seen.ack(packet)
            for _, packet in wire.due(now):
                if path is not None:
                    seen.data(packet)
                with contextlib.suppress(BlockingIOError):
                    os.write(target, packet)


def measure(cell: Cell) -> Measured:
    """What this kernel does in a cell. Needs root."""
    with _Hosts(cell) as hosts:
        stop, result = os.pipe(), os.pipe()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                seen = _forward(cell, hosts.tuns, stop[0])
                os.write(result[1], json.dumps([seen.payload, seen.window]).encode())
                code = 0
            finally:
                os._exit(code)
        try:
            goodput, rival = _flows(cell, hosts)
        finally:
            os.write(stop[1], b".")
            os.waitpid(child, 0)
        payload, window = json.loads(os.read(result[0], 4096))
        for end in (*stop, *result):
            os.close(end)
        share = payload[0] / sum(payload)
        return Measured(goodput, share, rival, window, kept.release())


def _flows(cell: Cell, hosts: _Hosts) -> tuple[float, float]:
    """Goodput over all paths, and that of one TCP beside them, in kbit/s."""
    protocol = _MPTCP if len(cell.paths) > 1 else socket.IPPROTO_TCP
    flows = [_Flow(cell, hosts, _PORT, protocol, cell.congestion)]
    if cell.shared:
        flows.append(_Flow(cell, hosts, _RIVALS_PORT, socket.IPPROTO_TCP, "reno"))
    threads = [threading.Thread(target=work) for flow in flows for work in flow.work()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    goodputs = [flow.received * 8 / cell.seconds / 1000 for flow in flows]
    return goodputs[0], sum(goodputs[1:])


class _Flow:
    """Data without end from one host to the other."""

    def __init__(
        self, cell: Cell, hosts: _Hosts, port: int, protocol: int, congestion: str
    ) -> None:
        self.cell, self.hosts, self.port = cell, hosts, port
        self.protocol, self.congestion = protocol, congestion
        self.received, self.end = 0, 0.0
        self.listening, self.began = threading.Event(), threading.Event()

    def work(self) -> tuple[Callable[[], None], Callable[[], None]]:
        return self._receive, self._send

    def _socket(self) -> socket.socket:
        return socket.socket(socket.AF_INET, socket.SOCK_STREAM, self.protocol)

    def _receive(self) -> None:
        namespaces.enter(self.hosts.names[1])
        with self._socket() as listener:
            if self.cell.buffer is not None:
                listener.setsockopt(socket.SOL_SOCKET, _RCVBUFFORCE, self.cell.buffer)
            listener.bind((self.hosts.address(1, 0), self.port))
            listener.listen()
            self.listening.set()
            connection, _ = listener.accept()
            with connection:
                self.began.wait()
                while (left := self.end - time.monotonic()) > 0:
                    connection.settimeout(left)
                    try:
                        self.received += len(connection.recv(1 << 20))
                    except TimeoutError:
                        return

    def _send(self) -> None:
        namespaces.enter(self.hosts.names[0])
        self.listening.wait()
        with self._socket() as sender:
            control = self.congestion.encode()
            sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control)
            self.end = time.monotonic() + self.cell.seconds
            sender.bind((self.hosts.address(0, 0), 0))
            self.began.set()
            sender.connect((self.hosts.address(1, 0), self.port))
            block = bytes(1 << 16)
            sender.settimeout(0.2)
            while time.monotonic() < self.end:
                with contextlib.suppress(TimeoutError, BrokenPipeError, ConnectionResetError):
                    sender.send(block)


if __name__ == "__main__":
    print(json.dumps(measure(cells()[int(sys.argv[1])])._asdict()))
