"""The wire between two hosts: drop-tail queue, transmitter, listed losses, delay, listed holds."""

from __future__ import annotations

import contextlib
import heapq
import os
import select
import time
from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

from validation.kernel.cells import AnyCell

# Longer IP packets carry data; a SYN or an ACK has at most 80 bytes.
_LONGEST_ACK = 100
_MORE_THAN_A_PACKET = 2048
# A receiving application that is woken up by a packet has read it by then; a kernel's own timers
# wait for a millisecond and more.
_READ_NS = 500_000


class Offered(NamedTuple):
    """A packet that came to a wire, and its fate: "sent", "lost", "dropped" or "held"."""

    at: int
    fate: str
    packet: bytes


@dataclass
class Wire:
    """One direction. Times are nanoseconds of the monotonic clock."""

    rate_bps: int
    delay_ns: int
    queue_packets: float = float("inf")
    lost: frozenset[int] = frozenset()
    held: frozenset[int] = frozenset()
    held_ns: int = 0
    free_at: int = 0
    data_packets: int = 0
    dropped: int = 0
    waiting: deque[int] = field(default_factory=deque)
    on_the_way: list[tuple[int, int, bytes]] = field(default_factory=list)
    taken: int = 0
    waited_ns: int = 0
    log: list[Offered] | None = None

    def take(self, now: int, packet: bytes) -> None:
        """A packet comes from the host: it waits, is sent, and may be lost or held back.

        >>> wire = Wire(rate_bps=8_000_000, delay_ns=0, queue_packets=1)
        >>> for _ in range(3):
        ...     wire.take(0, bytes(1000))
        >>> [due for due, _, _ in wire.on_the_way], wire.dropped
        ([1000000, 2000000], 1)
        """
        while self.waiting and self.waiting[0] <= now:
            self.waiting.popleft()
        starts = max(self.free_at, now)
        if starts > now:
            if len(self.waiting) >= self.queue_packets:
                self.dropped += 1
                self._note(now, "dropped", packet)
                return
            self.waiting.append(starts)
            self.waited_ns += starts - now
        self.free_at = starts + len(packet) * 8_000_000_000 // self.rate_bps
        due = self.free_at + self.delay_ns
        fate = "sent"
        if len(packet) > _LONGEST_ACK:
            number = self.data_packets
            self.data_packets += 1
            if number in self.lost:
                self._note(now, "lost", packet)
                return
            if number in self.held:
                due += self.held_ns
                fate = "held"
        self._note(now, fate, packet)
        self.taken += 1
        heapq.heappush(self.on_the_way, (due, self.taken, packet))

    def due(self, now: int) -> list[tuple[int, bytes]]:
        """Takes out what has arrived by now: when it should have, and the packet."""
        arrived = []
        while self.on_the_way and self.on_the_way[0][0] <= now:
            at, _, packet = heapq.heappop(self.on_the_way)
            arrived.append((at, packet))
        return arrived

    def _note(self, now: int, fate: str, packet: bytes) -> None:
        if self.log is not None:
            self.log.append(Offered(now, fate, packet))


def wires(cell: AnyCell) -> tuple[Wire, Wire]:
    """Data direction and way back of a cell."""
    lost, held = map(frozenset, cell.fates())
    delay = cell.rtt_ms * 500_000
    forward = Wire(cell.rate_bps, delay, cell.queue_packets, lost, held, cell.held_ms * 1_000_000)
    return forward, Wire(cell.rate_bps, delay)


class Forwarded(NamedTuple):
    """What a forwarder saw: the worst lateness, the time that packets waited, those marked."""

    late_ns: int
    waited_ns: int
    marked: int = 0


class Handed(NamedTuple):
    """What was handed to the receiving host last: when it was due, and when that happened."""

    due: int
    at: int

    def sent(self, now: int, read_ns: int = _READ_NS) -> int:
        """When something counts as sent that comes from the host now.

        >>> Handed(due=1_000_000, at=1_080_000).sent(1_250_000)
        1000000
        >>> Handed(due=1_000_000, at=1_080_000).sent(2_200_000)  # a timer of the kernel's
        2200000
        >>> Handed(due=1_000_000, at=1_000_000).sent(1_250_000, read_ns=0)
        1250000
        """
        return self.due if now - self.at < read_ns else now


def forward(
    tuns: list[int], pair: tuple[Wire, Wire], stop: int, read_ns: int = _READ_NS
) -> Forwarded:
    """Forwards between two hosts until `stop`, a file descriptor, can be read.

    A host answers while a packet is handed to it: what it sends then counts as sent when that
    packet was due. So a program that wakes up a little late does not decide whether a queue that
    empties in step with what comes has room. Some ACKs of the receiving host leave only when its
    application has read, which has to wake up first (`tcp_cleanup_rbuf`): they count so too, for
    `read_ns`. In virtual time reading takes none.
    """
    prefer_this_process()
    latest = 0
    receiver, handed = tuns[1], Handed(0, 0)
    while True:
        now = time.monotonic_ns()
        for wire, back, far in zip(pair, pair[::-1], tuns[::-1], strict=True):
            for at, packet in wire.due(now):
                latest = max(latest, now - at)
                _take_all(back, far, now)
                with contextlib.suppress(BlockingIOError):
                    os.write(far, packet)
                _take_all(back, far, at)
                if far == receiver:
                    handed = Handed(at, time.monotonic_ns())
        next_due = [wire.on_the_way[0][0] for wire in pair if wire.on_the_way]
        pause = max(min(next_due) - time.monotonic_ns(), 0) / 1e9 if next_due else None
        ready, _, _ = select.select([*tuns, stop], [], [], pause)
        if stop in ready:
            return Forwarded(latest, pair[0].waited_ns)
        now = time.monotonic_ns()
        for tun in ready:
            sent = handed.sent(now, read_ns) if tun == receiver else now
            _take_all(pair[tuns.index(tun)], tun, sent)


def _take_all(wire: Wire, tun: int, now: int) -> None:
    """All that a host has sent goes onto its wire."""
    with contextlib.suppress(BlockingIOError):
        while True:
            wire.take(now, os.read(tun, _MORE_THAN_A_PACKET))


def prefer_this_process() -> None:
    """Real-time priority, where it can be had: it sleeps nearly always and must wake in time."""
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
