"""A path whose queue is the kernel's: what a host sends waits there before the wire."""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import socket
import subprocess
import time
from collections import deque

from validation.kernel.forwarder import Forwarded, Wire, prefer_this_process
from validation.kernel.namespaces import DEVICE, open_tun
from validation.kernel.shaped import shape

_CLONE_NEWNET = 0x40000000
_IP = 0x0800
_CE = 3
_SNDBUFFORCE = 32
_PACKET_BYTES = 2048


def forward_through(
    queue: tuple[str, list[str]], rate_bps: int, delay_ns: int, tuns: list[int], stop: int
) -> Forwarded:
    """Forwards between two hosts until `stop` can be read, data through a queue of the kernel's.

    The calling process moves into a new network namespace. The way back is a wire of the
    same rate and delay, whose queue has no bound.

    Raises:
        OSError: If the kernel lacks the queue.
    """
    gate = _Gate(queue, rate_bps)
    back = Wire(rate_bps, delay_ns)
    on_the_way: deque[tuple[int, bytes]] = deque()
    marked = latest = 0
    prefer_this_process()
    while True:
        now = time.monotonic_ns()
        while on_the_way and on_the_way[0][0] <= now:
            due, packet = on_the_way.popleft()
            latest = max(latest, now - due)
            _hand(tuns[1], packet)
        for _, packet in back.due(now):
            _hand(tuns[0], packet)
        next_due = [way[0][0] for way in (on_the_way, back.on_the_way) if way]
        pause = max(min(next_due) - now, 0) / 1e9 if next_due else None
        ready, _, _ = select.select([*tuns, gate.tun, stop], [], [], pause)
        if stop in ready:
            return Forwarded(latest, 0, marked)
        now = time.monotonic_ns()
        for packet in _all(tuns[1]):
            back.take(now, packet)
        for packet in _all(tuns[0]):
            gate.send(packet)
        for packet in _all(gate.tun):
            marked += packet[1] & 3 == _CE
            on_the_way.append((now + len(packet) * 8 * 10**9 // rate_bps + delay_ns, packet))


class _Gate:
    """A TUN device with the queue, and what puts packets there."""

    def __init__(self, queue: tuple[str, list[str]], rate_bps: int) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.unshare(_CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "cannot have a network namespace")
        self.tun = open_tun()
        subprocess.run(["ip", "link", "set", DEVICE, "mtu", "1500", "up"], check=True)
        shape(*queue, rate_bps)
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
        self.socket.setsockopt(socket.SOL_SOCKET, _SNDBUFFORCE, 1 << 28)

    def send(self, packet: bytes) -> None:
        """Into the queue, which may drop it."""
        with contextlib.suppress(OSError):
            self.socket.sendto(packet, (DEVICE, _IP, 0, 0, b""))


def _hand(tun: int, packet: bytes) -> None:
    with contextlib.suppress(BlockingIOError):
        os.write(tun, packet)


def _all(tun: int) -> list[bytes]:
    packets = []
    with contextlib.suppress(BlockingIOError):
        while True:
            packets.append(os.read(tun, _PACKET_BYTES))
    return packets
