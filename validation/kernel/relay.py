"""A proxy on a kernel: two sockets for each connection, joined in both directions.

It hears a SYN by a raw socket, as proxies on real gateways do, and opens its own connection then. A
listening socket learns of a connection a round trip later.
"""

from __future__ import annotations

import ctypes
import fcntl
import socket
import struct
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from validation.kernel.loop import Loop

_SIOCOUTQ = 0x5411
_ATTACH_FILTER = 26
# Of an IP packet with TCP: passed to a raw socket if SYN is set and ACK is not.
_SYN_ALONE = (
    (0xB1, 0, 0, 0),  # X = length of the IP header
    (0x50, 0, 0, 13),  # A = the flags of TCP
    (0x54, 0, 0, 0x12),  # A &= SYN | ACK
    (0x15, 0, 1, 0x02),  # only SYN?
    (0x06, 0, 0, 0xFFFF),
    (0x06, 0, 0, 0),
)
_PIECE = 1448 * 8
_LOOK_AGAIN_NS = 1_000_000
_SEND_BUFFER = 4 << 20


def room(outgoing: socket.socket, buffer: int) -> int:
    """Bytes that may be handed on: a send buffer holds what is not acknowledged."""
    held: int = struct.unpack("i", fcntl.ioctl(outgoing, _SIOCOUTQ, bytes(4)))[0]
    return buffer - held


def prepared(congestion: str) -> socket.socket:
    """A socket of TCP with that congestion control, which sends at once what it is handed."""
    made = socket.socket()
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())
    made.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER)
    return made


def listening(port: int, congestion: str) -> socket.socket:
    """A socket that listens, whose connections are `prepared` so."""
    made = prepared(congestion)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.bind(("", port))
    made.listen(64)
    return made


def hearing() -> socket.socket:
    """A raw socket that has each SYN which comes to this host."""
    made = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP)
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *one) for one in _SYN_ALONE))
    program = struct.pack("HP", len(_SYN_ALONE), ctypes.addressof(code))
    made.setsockopt(socket.SOL_SOCKET, _ATTACH_FILTER, program)
    return made


@dataclass
class _Lane:
    """One direction of a connection."""

    to: socket.socket
    held: bytearray = field(default_factory=bytearray)


class Relay:
    """Joins each connection that comes to a port with a new connection."""

    def __init__(
        self,
        listener: socket.socket,
        heard: socket.socket,
        fresh: Callable[[], socket.socket],
        to: tuple[str, int],
        buffer: int,
    ) -> None:
        """`heard` is of the listener's host; `fresh` makes a socket for a connection to `to`."""
        self._loop = Loop()
        self._listener, self._heard, self._fresh, self._to = listener, heard, fresh, to
        self._buffer = buffer
        self._by_port: dict[int, socket.socket] = {}
        self._lanes: list[tuple[socket.socket, _Lane]] = []
        self._loop.watch(listener)
        self._loop.watch(heard)

    def run(self) -> None:
        """Works until it is ended."""
        while True:
            self._loop.wait()
            self._loop.due()
            with suppress(BlockingIOError):
                while True:
                    self._open(self._heard.recv(256))
            with suppress(BlockingIOError):
                while True:
                    self._join(*self._listener.accept())
            waiting = [self._hand_on(source, lane) for source, lane in self._lanes]
            if any(waiting):
                self._loop.at(time.monotonic_ns() + _LOOK_AGAIN_NS, None)

    def _open(self, syn: bytes) -> None:
        start = (syn[0] & 15) * 4
        source, port = struct.unpack_from("!HH", syn, start)
        if port != self._listener.getsockname()[1] or source in self._by_port:
            return
        outgoing = self._by_port[source] = self._fresh()
        self._loop.watch(outgoing)
        outgoing.connect_ex(self._to)

    def _join(self, incoming: socket.socket, address: tuple[str, int]) -> None:
        outgoing = self._by_port[address[1]]
        incoming.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._loop.watch(incoming)
        self._lanes += [(incoming, _Lane(outgoing)), (outgoing, _Lane(incoming))]

    def _hand_on(self, source: socket.socket, lane: _Lane) -> bool:
        """All that came and has room; whether some waits for room."""
        while True:
            left = room(lane.to, self._buffer) - len(lane.held)
            if left < min(1448, self._buffer):
                return True
            try:
                piece = source.recv(min(left, _PIECE))
            except (BlockingIOError, ConnectionError):
                piece = b""
            lane.held += piece
            with suppress(BlockingIOError, BrokenPipeError):
                while lane.held:
                    del lane.held[: lane.to.send(lane.held)]
            if not piece:
                return False
