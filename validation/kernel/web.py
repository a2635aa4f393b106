"""A browser and a server that speak in a page's sizes over a kernel's sockets.

They follow what *Concepts: applications* says of a page: which object is asked for when and over
which connection, messages instead of TLS, frames of HTTP/2. Requests and answers one after the
other are a page over one connection, in which each object names the next. What is said at one time
goes to the kernel as one write. The first four bytes of a request are the number of its object.
"""

from __future__ import annotations

import csv
import fcntl
import io
import socket
import struct
import time
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from validation.kernel.loop import Loop

HELLO, FLIGHT, FINISHED = 184, 598, 52
"""Bytes of TLS: the client's hello, the server's answer, what goes with the first request."""
_FRAME, _HEADER = 16_384, 9
_STREAMS = 100
_SIOCOUTQNSD, _NOTSENT_LOWAT = 0x894B, 25
_MS = 1_000_000
_KIB = 1024


class Object(NamedTuple):
    """A part of a page; times in ms."""

    name: str
    bytes: int
    parent: int | None = None
    parse: float = 0
    think: float = 0
    request: int = 350


@dataclass(frozen=True)
class Manner:
    """How a page is loaded."""

    http: str
    connections: int
    tls: int

    @property
    def framed(self) -> bool:
        """Whether all goes in frames."""
        return self.http == "2"

    def asked(self, one: Object) -> int:
        """Bytes of a request."""
        return one.request + _HEADER * self.framed

    def answered(self, one: Object) -> int:
        """Bytes of an answer.

        >>> Manner("2", 1, 1).answered(Object("image", 16_385))
        16403
        """
        return one.bytes + _HEADER * -(-one.bytes // _FRAME) * self.framed


def read(text: str, think: float = 0) -> list[Object]:
    r"""The objects of a page's file, which take this many ms by default.

    >>> read("name,bytes,parent,parse_ms,think_ms,request_bytes\na,9,,,,\nb,8,a,5,,300\n", 7)[1]
    Object(name='b', bytes=8, parent=0, parse=5.0, think=7.0, request=300)
    """
    rows = list(csv.DictReader(io.StringIO(text)))
    names = [row["name"] for row in rows]
    return [
        Object(
            row["name"],
            int(row["bytes"]),
            names.index(row["parent"]) if row["parent"] else None,
            float(row["parse_ms"] or 0),
            float(row["think_ms"] or think),
            int(row["request_bytes"] or 350),
        )
        for row in rows
    ]


def desktop(think: float = 0) -> list[Object]:
    """The shape `desktop-2024`.

    >>> len(desktop()), sum(one.bytes for one in desktop()) // 1024
    (71, 2652)
    """
    kinds = (
        ("html", 1, 18, None, 0),
        ("style", 8, 78, 0, 50),
        ("script", 24, 613, 0, 50),
        ("image", 18, 1054, 0, 50),
        ("font", 4, 131, 1, 20),
        ("other", 16, 758, 9, 20),
    )
    return [
        Object(f"{name} {place + 1}", share, parent, parse, think)
        for name, count, kib, parent, parse in kinds
        for place, share in enumerate(_shares(count, kib * _KIB))
    ]


def three_gpp(think: float = 0) -> list[Object]:
    """The shape `3gpp`.

    >>> sum(one.bytes for one in three_gpp())
    41742
    """
    embedded = [Object(f"embedded {n}", 7_758, 0, 130, think) for n in (1, 2, 3, 4)]
    return [Object("main 1", 10_710, None, 0, think), *embedded]


def dialogue(count: int, request: int, answer: int, think: float, pause: float) -> list[Object]:
    """Requests and answers, one after the other."""
    return [
        Object(f"answer {n}", answer, n - 1 if n else None, pause if n else 0, think, request)
        for n in range(count)
    ]


def _shares(count: int, total: int) -> list[int]:
    """Parts of which the n-th is 1/n of the first, which has the rest.

    >>> _shares(2, 10)
    [7, 3]
    """
    parts = [10**9 // n for n in range(1, count + 1)]
    shares = [total * part // sum(parts) for part in parts]
    shares[0] += total - sum(shares)
    return shares


@dataclass(eq=False)
class _Line:
    """A connection, as one of its ends has it."""

    socket: socket.socket
    tls: int
    """Round trips of TLS to come."""
    secure: bool
    """TLS is not over before the first request."""
    open: bool = False
    ready: bool = False
    """It takes requests."""
    greeting: int = 0
    """Bytes that are still to come of what the server says in TLS."""
    over: deque[int] = field(default_factory=deque)
    """Objects that were asked for over it."""
    came: bytearray = field(default_factory=bytearray)
    """What came and is not worked off."""
    say: bytearray = field(default_factory=bytearray)
    """What the kernel has not taken."""
    sending: deque[tuple[int, int]] = field(default_factory=deque)
    """Objects that the server sends in turns, and bytes that are left of each."""

    def hear(self) -> None:
        """Takes all that came."""
        with suppress(OSError):
            while piece := self.socket.recv(1 << 16):
                self.came += piece

    def flush(self) -> None:
        """Writes what is to be said."""
        with suppress(OSError):
            while self.say:
                del self.say[: self.socket.send(self.say)]

    def unsent(self) -> int:
        """Bytes that were handed over and never sent."""
        held = fcntl.ioctl(self.socket, _SIOCOUTQNSD, bytes(4))
        return int(struct.unpack("i", held)[0]) + len(self.say)


class Browser:
    """Loads a page once."""

    def __init__(
        self, page: list[Object], manner: Manner, sockets: Iterable[socket.socket]
    ) -> None:
        """`sockets` are for its connections."""
        self.page, self.manner = page, manner
        self.asked: dict[int, int] = {}
        self.arrived: dict[int, int] = {}
        self._free = iter(sockets)
        self._lines: list[_Line] = []
        self._wanted: deque[int] = deque()
        self._left: dict[int, int] = {}
        self._loop = Loop()

    def load(self, server: tuple[str, int]) -> int:
        """Loads it from there; how long that took, ns."""
        began = time.monotonic_ns()
        self._want(began, None)
        while len(self.arrived) < len(self.page):
            for line in self._lines:
                line.hear()
                self._greet(line)
                if line.ready:
                    self._take(line)
            self._wanted += self._loop.due()
            self._ask(server)
            if len(self.arrived) < len(self.page):
                self._loop.wait()
        return max(self.arrived.values()) - began

    def took(self) -> list[int]:
        """From the request of each object to its last byte, ns."""
        return [self.arrived[number] - self.asked[number] for number in sorted(self.arrived)]

    def _want(self, now: int, parent: int | None) -> None:
        """The objects that a parent names are asked for in their time."""
        for number, one in enumerate(self.page):
            if one.parent == parent:
                self._loop.at(now + round(one.parse * _MS), number)

    def _ask(self, server: tuple[str, int]) -> None:
        at_once = _STREAMS if self.manner.framed else 1
        for line in self._lines:
            while line.ready and len(line.over) < at_once and self._wanted:
                self._ask_for(self._wanted.popleft(), line)
            line.flush()
        # Each opening connection is for one waiting request.
        opening = sum(not line.ready for line in self._lines)
        for _ in range(len(self._wanted) - opening):
            if len(self._lines) < self.manner.connections:
                made = next(self._free)
                self._loop.watch(made)
                made.connect_ex(server)
                self._lines.append(_Line(made, self.manner.tls, self.manner.tls > 0))

    def _ask_for(self, number: int, line: _Line) -> None:
        one = self.page[number]
        if line.secure:
            line.say += bytes(FINISHED)
            line.secure = False
        line.say += struct.pack("!I", number).ljust(self.manner.asked(one), b".")
        line.over.append(number)
        self._left[number] = self.manner.answered(one)
        self.asked[number] = time.monotonic_ns()

    def _greet(self, line: _Line) -> None:
        """TLS begins, or goes on."""
        if line.ready:
            return
        if not line.open:
            try:
                line.socket.getpeername()
            except OSError:
                return
            line.open = True
        heard = min(line.greeting, len(line.came))
        del line.came[:heard]
        line.greeting -= heard
        if line.greeting > 0:
            return
        if line.tls == 0:
            line.ready = True
            return
        line.tls -= 1
        line.greeting = FLIGHT
        line.say += bytes(HELLO)
        line.flush()

    def _take(self, line: _Line) -> None:
        if not self.manner.framed:
            if line.came:
                self._receive(line, line.over[0], len(line.came))
                line.came.clear()
            return
        # A frame: its length, its object, a byte, its data.
        while len(line.came) >= _HEADER:
            length, number = struct.unpack_from("!II", line.came)
            if len(line.came) < _HEADER + length:
                return
            del line.came[: _HEADER + length]
            self._receive(line, number, _HEADER + length)

    def _receive(self, line: _Line, number: int, size: int) -> None:
        self._left[number] -= size
        if self._left[number] == 0:
            self.arrived[number] = time.monotonic_ns()
            line.over.remove(number)
            self._want(self.arrived[number], number)


class Server:
    """Answers what browsers ask for on a port."""

    def __init__(self, page: list[Object], manner: Manner, listener: socket.socket) -> None:
        """`listener` is of any host."""
        self.page, self.manner = page, manner
        self._listener = listener
        self._lines: list[_Line] = []
        self._loop = Loop()
        self._loop.watch(listener)

    def run(self) -> None:
        """Works until it is ended."""
        while True:
            self._loop.wait()
            with suppress(BlockingIOError):
                while True:
                    self._accept(self._listener.accept()[0])
            for line in self._lines:
                line.hear()
                self._hear(line)
            for due in self._loop.due():
                self._answer(*due)
            for line in self._lines:
                self._fill(line)

    def _accept(self, made: socket.socket) -> None:
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self.manner.framed:
            # The kernel tells of a socket that has less than half of that not sent.
            low = 2 * _FRAME
            made.setsockopt(socket.IPPROTO_TCP, _NOTSENT_LOWAT, low)
        self._loop.watch(made)
        self._lines.append(_Line(made, self.manner.tls, self.manner.tls > 0))

    def _hear(self, line: _Line) -> None:
        while line.tls > 0 and len(line.came) >= HELLO:
            del line.came[:HELLO]
            line.tls -= 1
            line.say += bytes(FLIGHT)
        if line.tls == 0 and line.secure and len(line.came) >= FINISHED:
            del line.came[:FINISHED]
            line.secure = False
        if line.secure:
            return
        while len(line.came) >= 4:
            number = struct.unpack_from("!I", line.came)[0]
            one = self.page[number]
            if len(line.came) < self.manner.asked(one):
                return
            del line.came[: self.manner.asked(one)]
            self._loop.at(time.monotonic_ns() + round(one.think * _MS), (number, line))

    def _answer(self, number: int, line: _Line) -> None:
        size = self.page[number].bytes
        if self.manner.framed:
            line.sending.append((number, size))
        else:
            line.say += bytes(size)

    def _fill(self, line: _Line) -> None:
        """Hands over frames in turns while less than one has not left."""
        line.flush()
        while line.sending and line.unsent() < _FRAME:
            while line.sending and line.unsent() < _FRAME:
                number, left = line.sending.popleft()
                size = min(left, _FRAME)
                line.say += struct.pack("!IIx", size, number) + bytes(size)
                if left > size:
                    line.sending.append((number, left - size))
            line.flush()
        if line.sending:
            self._loop.ask(line.socket)
