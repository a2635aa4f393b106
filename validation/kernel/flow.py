"""A flow of the kernel's TCP over a cell's path, in real time."""

from __future__ import annotations

import os
import socket
import struct
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from validation.kernel.cells import PACKET, AnyCell
from validation.kernel.forwarder import Forwarded, forward, prefer_this_process, wires
from validation.kernel.namespaces import ADDRESSES, Hosts, enter

_PORT = 5001
_TCP_INFO = 11
# Offsets in `struct tcp_info`.
_UNACKED, _CWND, _SSTHRESH, _RTT, _RETRANSMISSIONS = 24, 80, 76, 68, 100
# Congestion controls that decide at the receiver how marks are echoed.
_ECHOES = ("dctcp",)
_SEND_BUFFER = 4 << 20
# A kernel has one version of BBR, and calls it so.
_KERNELS_NAME = {"bbr3": "bbr"}
_SNDBUFFORCE, _MAX_PACING_RATE = 32, 47
# Far above every link's rate, in bytes/s: it only turns the kernel's own pacing on.
_NO_BOUND = 10**10 // 8
_SAMPLE_NS = 100_000_000
_FORWARDED = struct.Struct("qqq")


@dataclass(frozen=True)
class Measured:
    """Result of a kernel in a cell.

    The mean queue is in packets, over the whole run; the completion is that of a file, from the
    first SYN until its last byte is in the application's hands. Samples are taken every 100 ms:
    seconds since the start, congestion window, slow-start threshold, segments not acknowledged,
    smoothed round-trip time in microseconds, segments sent again. `marked` counts packets that the
    path marked (ECN).
    """

    goodput_kbps: float
    retransmissions: int
    timeouts: int
    recoveries: int
    undone: int
    lateness_ms: float
    mean_queue: float
    completion_s: float | None
    samples: list[tuple[float, int, int, int, int, int]]
    marked: int = 0


def measure(
    cell: AnyCell,
    settings: tuple[str, ...] = (),
    forwarding: Callable[[list[int], int], Forwarded] | None = None,
) -> Measured:
    """Runs the kernel's TCP over the cell's path. Needs root.

    Args:
        cell: What is sent, and the path.
        settings: Of both hosts, as sysctl reads them.
        forwarding: What forwards between the hosts' devices until the second argument can be read;
            unless given, the cell's wires.

    Raises:
        OSError: If a namespace, a device or the congestion control cannot be had.
    """

    def forward_wires(tuns: list[int], stop: int) -> Forwarded:
        return forward(tuns, wires(cell), stop)

    return measure_together([cell], settings, forwarding or forward_wires)[0]


def measure_together(
    cells: Sequence[AnyCell],
    settings: tuple[str, ...],
    forwarding: Callable[[list[int], int], Forwarded],
) -> list[Measured]:
    """Runs a flow for each cell at once, over one path. What the path counts is of all of them."""
    with Hosts(f"clift{os.getpid()}", settings) as hosts:
        result, stop = os.pipe(), os.pipe()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                forwarded = forwarding(hosts.tuns, stop[0])
                os.write(result[1], _FORWARDED.pack(*forwarded))
                code = 0
            except BaseException:  # noqa: BLE001 - the child must not run the parent's code
                traceback.print_exc()
            finally:
                os._exit(code)
        os.close(result[1])
        flows = [_Flow(cell, hosts, _PORT + at) for at, cell in enumerate(cells)]
        try:
            for flow in flows:
                flow.start_threads()
            for flow in flows:
                flow.wait()
        finally:
            os.write(stop[1], b".")
            _, status = os.waitpid(child, 0)
            for end in stop:
                os.close(end)
        if status != 0:
            raise OSError("the forwarder failed")
        forwarded = Forwarded(*_FORWARDED.unpack(os.read(result[0], _FORWARDED.size)))
        os.close(result[0])
        return [flow.measured(forwarded) for flow in flows]


class _Flow:
    """Sender and receiver, each a thread in its namespace."""

    def __init__(self, cell: AnyCell, hosts: Hosts, port: int) -> None:
        self.cell = cell
        self.hosts = hosts
        self.port = port
        self.received = 0
        self.start = 0
        self.samples: list[tuple[float, int, int, int, int, int]] = []
        self.counters: dict[str, int] = {}
        self.failures: list[BaseException] = []
        self.listening = threading.Event()
        self.completed = threading.Event()
        self.ended = 0

    def start_threads(self) -> None:
        self.threads = [
            threading.Thread(target=self._guarded, args=(work, name))
            for work, name in zip((self._send, self._receive), self.hosts.names, strict=True)
        ]
        for thread in self.threads:
            thread.start()

    def wait(self) -> None:
        for thread in self.threads:
            thread.join()
        if self.failures:
            raise self.failures[0]

    def measured(self, forwarded: Forwarded) -> Measured:
        counters = self.counters
        took = (self.ended - self.start) / 1e9
        is_file = self.cell.file_bytes is not None
        undone = ("TCPFullUndo", "TCPPartialUndo", "TCPDSACKUndo", "TCPLossUndo")
        return Measured(
            goodput_kbps=self.received * 8 / 1e3 / (took if is_file else self.cell.seconds),
            retransmissions=self.samples[-1][-1],
            timeouts=counters["TCPTimeouts"],
            recoveries=counters["TCPSackRecovery"],
            undone=sum(counters[name] for name in undone),
            lateness_ms=forwarded.late_ns / 1e6,
            mean_queue=forwarded.waited_ns / 1e9 / took,
            completion_s=took if is_file and self.completed.is_set() else None,
            samples=self.samples,
            marked=forwarded.marked,
        )

    def _guarded(self, work: object, name: str) -> None:
        try:
            enter(name)
            prefer_this_process()
            assert callable(work)
            work()
        except BaseException as error:  # noqa: BLE001 - raised again by run()
            self.failures.append(error)
            self.listening.set()

    @property
    def _end(self) -> int:
        return self.start + round(self.cell.seconds * 1e9)

    def _receive(self) -> None:
        with socket.socket() as listener:
            if self.cell.congestion in _ECHOES:
                control = self.cell.congestion.encode()
                listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control)
            listener.bind((ADDRESSES[1], self.port))
            listener.listen(1)
            listener.settimeout(5)
            self.listening.set()
            connection, _ = listener.accept()
        with connection:
            buffer = bytearray(1 << 18)
            size = self.cell.file_bytes
            while (left := self._end - time.monotonic_ns()) > 0:
                connection.settimeout(left / 1e9)
                try:
                    count = connection.recv_into(buffer)
                except TimeoutError:
                    break
                self.ended = time.monotonic_ns()
                if count == 0 or self.ended > self._end:
                    break
                self.received += count
                if size is not None and self.received >= size:
                    self.completed.set()
                    return
            self.ended = self._end

    @property
    def _held_bytes(self) -> int:
        """Packets that path and queue hold."""
        cell = self.cell
        return cell.rate_bps * cell.rtt_ms // 8000 + cell.queue_packets * PACKET

    def _send(self) -> None:
        self.listening.wait()
        with socket.socket() as connection:
            control = _KERNELS_NAME.get(self.cell.congestion, self.cell.congestion)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control.encode())
            # So much that the application never is the limit.
            buffer = max(_SEND_BUFFER, 4 * self._held_bytes)
            connection.setsockopt(socket.SOL_SOCKET, _SNDBUFFORCE, buffer)
            if self.cell.paced:
                pace = struct.pack("Q", _NO_BOUND)
                connection.setsockopt(socket.SOL_SOCKET, _MAX_PACING_RATE, pace)
            connection.settimeout(5)
            self.start = time.monotonic_ns()
            connection.connect((ADDRESSES[1], self.port))
            self._hand_over(connection)
            self.samples.append(self._sample(connection, time.monotonic_ns()))
            self.counters = _counters()
            # The rest of the send buffer is not to be sent.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def _hand_over(self, connection: socket.socket) -> None:
        """Bulk data until the end, or a file until it has arrived."""
        left = self.cell.file_bytes
        data = memoryview(bytes(1 << 16))
        sample_at = self.start
        while (now := time.monotonic_ns()) < self._end:
            if now >= sample_at:
                self.samples.append(self._sample(connection, now))
                sample_at = now + _SAMPLE_NS
            pause = min(_SAMPLE_NS, max(self._end - now, 1)) / 1e9
            if left == 0:
                if self.completed.wait(pause):
                    return
                continue
            connection.settimeout(pause)
            try:
                sent = connection.send(data if left is None else data[:left])
            except TimeoutError:
                continue
            left = None if left is None else left - sent
            if left == 0:
                # As the engine's file does; else Nagle's rule may hold back a last short segment.
                connection.shutdown(socket.SHUT_WR)

    def _sample(self, connection: socket.socket, now: int) -> tuple[float, int, int, int, int, int]:
        info = connection.getsockopt(socket.IPPROTO_TCP, _TCP_INFO, 232)
        fields = (_CWND, _SSTHRESH, _UNACKED, _RTT, _RETRANSMISSIONS)
        cwnd, ssthresh, unacked, rtt, again = (
            struct.unpack_from("I", info, offset)[0] for offset in fields
        )
        return (now - self.start) / 1e9, cwnd, ssthresh, unacked, rtt, again


def _counters() -> dict[str, int]:
    """The namespace's TCP counters."""
    names, values = Path("/proc/thread-self/net/netstat").read_text().splitlines()[:2]
    return dict(zip(names.split()[1:], map(int, values.split()[1:]), strict=True))
