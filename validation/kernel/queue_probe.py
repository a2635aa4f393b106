"""A kernel's queue under given arrivals: `python -m validation.kernel.queue_probe NUMBER ...`.

Runs inside a kernel in virtual time (`virtual.py`) as root, where a program that waits is never
late. The packets of a cell, by its number in `queue_cells`, go into the queue before a wire of 12
Mbit/s (`shaped`); a packet was sent a time on that wire after it was handed on.
Writes a line a cell: its number, then as JSON the fate of each packet, and when.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import struct
import sys
import time

from validation.kernel.forwarder import prefer_this_process
from validation.kernel.namespaces import ADDRESSES, Hosts, enter
from validation.kernel.queue_cells import QueueCell, cells
from validation.kernel.shaped import HANDLE, shape
from validation.queues import RATE

_CE = 3
# After the last arrival, until the longest queue is empty, s.
_REST = 3
_HEADER = struct.Struct("!BBHHHBBH4s4s")
_PORTS = struct.Struct("!HHHHI")
_PACKET_BYTES = 2048
_SNDBUFFORCE = 32


def probe(cell: QueueCell) -> list[tuple[str, int]]:
    """The fate of each packet, "delivered", "marked" or "dropped", and when it was sent, ns.

    Raises:
        OSError: If the kernel lacks the queue.
    """
    with Hosts(f"clift{os.getpid()}") as hosts:
        enter(hosts.names[0])
        shape(cell.kernel_kind, cell.kernel_arguments, RATE)
        return _send(cell, hosts.tuns[0])


def _send(cell: QueueCell, tun: int) -> list[tuple[str, int]]:
    arrivals = cell.arrivals()
    fields = cell.fields(arrivals)
    fates = [("dropped", 0)] * len(arrivals)
    sockets = {flow: _socket(cell, flow) for _, flow, _ in arrivals}
    prefer_this_process()
    start = time.monotonic_ns() + 100_000_000
    coming = zip(arrivals, fields, strict=True)
    for number, ((at, flow, size), field) in enumerate(coming):
        _receive_until(tun, start, start + at, fates)
        sockets[flow].sendto(_packet(number, flow, size, field), (ADDRESSES[1], 0))
    _receive_until(tun, start, time.monotonic_ns() + _REST * 10**9, fates)
    return fates


def _receive_until(tun: int, start: int, until: int, fates: list[tuple[str, int]]) -> None:
    """Notes what leaves the device until a time of the monotonic clock."""
    while (left := until - time.monotonic_ns()) > 0:
        ready, _, _ = select.select([tun], [], [], left / 1e9)
        if not ready:
            continue
        now = time.monotonic_ns() - start
        with contextlib.suppress(BlockingIOError):
            while True:
                packet = os.read(tun, _PACKET_BYTES)
                number = _PORTS.unpack_from(packet, _HEADER.size)[-1]
                fate = "marked" if packet[1] & 3 == _CE else "delivered"
                fates[number] = (fate, now + len(packet) * 8 * 10**9 // RATE)


def _socket(cell: QueueCell, flow: int) -> socket.socket:
    """Sends the packets of a flow; fq_codel gets the flow, so that none share a queue."""
    made = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    made.setsockopt(socket.SOL_SOCKET, _SNDBUFFORCE, 1 << 28)
    if cell.kernel_kind == "fq_codel":
        made.setsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY, HANDLE << 16 | flow + 1)
    return made


def _packet(number: int, flow: int, size: int, field: int) -> bytes:
    """An IP packet of this many bytes; the kernel fills in the checksum."""
    ends = (socket.inet_aton(address) for address in ADDRESSES)
    header = _HEADER.pack(0x45, field, size, 0, 0, 64, socket.IPPROTO_UDP, 0, *ends)
    ports = _PORTS.pack(10_000 + flow, 9, size - _HEADER.size, 0, number)
    return (header + ports).ljust(size, b"\0")


def main() -> int:
    """Probes the cells that are asked for."""
    every = cells()
    for number in map(int, sys.argv[1:]):
        print(number, json.dumps(probe(every[number])), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
