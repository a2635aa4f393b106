"""A bulk flow of the kernel's TCP over a cell's path, in real time."""

from __future__ import annotations

import os
import socket
import struct
import threading
import time
import traceback
from dataclasses import dataclass
from pathlib import Path

from validation.kernel.cells import Cell
from validation.kernel.forwarder import forward, prefer_this_process
from validation.kernel.namespaces import ADDRESSES, Hosts, enter

_PORT = 5001
_TCP_INFO = 11
# Offsets in `struct tcp_info`.
_UNACKED, _CWND, _SSTHRESH, _RTT, _RETRANSMISSIONS = 24, 80, 76, 68, 100
_SEND_BUFFER = 4 << 20
_SAMPLE_NS = 100_000_000


@dataclass(frozen=True)
class Measured:
    """What a kernel did in a cell.

    Samples are taken every 100 ms: seconds since the start, congestion window, slow-start
    threshold, segments not acknowledged, smoothed round-trip time in microseconds, segments sent
    again.
    """

    goodput_kbps: float
    retransmissions: int
    timeouts: int
    recoveries: int
    undone: int
    lateness_ms: float
    samples: list[tuple[float, int, int, int, int, int]]


def measure(cell: Cell) -> Measured:
    """Runs the kernel's TCP over the cell's path. Needs root.

    Raises:
        OSError: If a namespace, a device or the congestion control cannot be had.
    """
    with Hosts(f"clift{os.getpid()}") as hosts:
        until = time.monotonic_ns() + round((cell.seconds + 3) * 1e9)
        lateness = os.pipe()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                os.write(lateness[1], struct.pack("q", forward(hosts.tuns, cell, until)))
                code = 0
            except BaseException:  # noqa: BLE001 - the child must not run the parent's code
                traceback.print_exc()
            finally:
                os._exit(code)
        os.close(lateness[1])
        try:
            flow = _Flow(cell, hosts)
            flow.run()
        finally:
            _, status = os.waitpid(child, 0)
        if status != 0:
            raise OSError("the forwarder failed")
        (late,) = struct.unpack("q", os.read(lateness[0], 8))
        os.close(lateness[0])
        return flow.measured(late / 1e6)


class _Flow:
    """Sender and receiver, each a thread in its namespace."""

    def __init__(self, cell: Cell, hosts: Hosts) -> None:
        self.cell = cell
        self.hosts = hosts
        self.received = 0
        self.start = 0
        self.samples: list[tuple[float, int, int, int, int, int]] = []
        self.counters: dict[str, int] = {}
        self.failures: list[BaseException] = []
        self.listening = threading.Event()

    def run(self) -> None:
        threads = [
            threading.Thread(target=self._guarded, args=(work, name))
            for work, name in zip((self._send, self._receive), self.hosts.names, strict=True)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self.failures:
            raise self.failures[0]

    def measured(self, lateness_ms: float) -> Measured:
        counters = self.counters
        undone = ("TCPFullUndo", "TCPPartialUndo", "TCPDSACKUndo", "TCPLossUndo")
        return Measured(
            goodput_kbps=self.received * 8 / 1e3 / self.cell.seconds,
            retransmissions=self.samples[-1][-1],
            timeouts=counters["TCPTimeouts"],
            recoveries=counters["TCPSackRecovery"],
            undone=sum(counters[name] for name in undone),
            lateness_ms=lateness_ms,
            samples=self.samples,
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
            listener.bind((ADDRESSES[1], _PORT))
            listener.listen(1)
            listener.settimeout(5)
            self.listening.set()
            connection, _ = listener.accept()
        with connection:
            buffer = bytearray(1 << 18)
            while (left := self._end - time.monotonic_ns()) > 0:
                connection.settimeout(left / 1e9)
                try:
                    count = connection.recv_into(buffer)
                except TimeoutError:
                    break
                if count == 0 or time.monotonic_ns() > self._end:
                    break
                self.received += count

    def _send(self) -> None:
        self.listening.wait()
        with socket.socket() as connection:
            connection.setsockopt(
                socket.IPPROTO_TCP, socket.TCP_CONGESTION, self.cell.congestion.encode()
            )
            # So much that the application never is the limit.
            connection.setsockopt(socket.SOL_SOCKET, 32, _SEND_BUFFER)  # SO_SNDBUFFORCE
            connection.settimeout(5)
            self.start = time.monotonic_ns()
            connection.connect((ADDRESSES[1], _PORT))
            data = bytes(1 << 16)
            sample_at = self.start
            while (now := time.monotonic_ns()) < self._end:
                if now >= sample_at:
                    self.samples.append(self._sample(connection, now))
                    sample_at = now + _SAMPLE_NS
                connection.settimeout(min(_SAMPLE_NS, max(self._end - now, 1)) / 1e9)
                try:
                    connection.send(data)
                except TimeoutError:
                    continue
            self.samples.append(self._sample(connection, now))
            self.counters = _counters()
            # The rest of the send buffer is not to be sent.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

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
