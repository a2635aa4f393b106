"""Logs of a link in a host: arrivals and fates, in nanoseconds.

A log has a line for each arrival, `arrival PACKET NS BYTES TAKEN FLOW FIRST END` (TAKEN 0: queued),
and a line for each later event of a packet, `departed|delivered|lost|ended PACKET NS`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import clift._clift as _clift
from clift.scenario import Scenario


class Arrival(NamedTuple):
    """Arrival of a packet at a link: time (ns), size, and the byte range of its stream."""

    at_ns: int
    size: int
    flow: int
    first: int
    end: int


@dataclass(frozen=True)
class Log:
    """Log of one direction of a host.

    Attributes:
        arrivals: The packets in order of arrival; the index is a packet's number.
        events: Kind, packet and time (ns) of all other events.
        tells_departures: True if the log has departures.
    """

    arrivals: list[Arrival]
    events: list[tuple[str, int, int]]
    tells_departures: bool = True

    @classmethod
    def read(cls, path: Path) -> Log:
        """Reads a log; an incomplete last line is ignored."""
        arrivals, events = [], []
        for line in path.read_text().splitlines():
            match line.split():
                case ["arrival", _, at, size, _, flow, first, end]:
                    arrivals.append(Arrival(int(at), int(size), int(flow), int(first), int(end)))
                case [kind, packet, at] if kind != "arrival":
                    events.append((kind, int(packet), int(at)))
        return cls(arrivals, events)

    def disagreements(self, scenario: Scenario, direction: int) -> list[str]:
        """Differences to the link alone with the same arrivals; empty if there are none.

        Args:
            scenario: The cell that the host ran.
            direction: 0 for the forward path, 1 for the return path.
        """
        alone = _clift.replay(scenario.setup(), direction, self.arrivals)
        last = max((at for _, _, at in self.events), default=0)
        logged = set(self.events)
        # A packet that was dropped has no event in a log; its arrival says so.
        untold = {"dropped"} if self.tells_departures else {"dropped", "departed"}
        expected = {event for event in alone if event[0] not in untold}
        wrong = sorted(logged - expected, key=lambda event: event[2])
        missing = sorted((e for e in expected - logged if e[2] < last), key=lambda event: event[2])
        return [f"packet {n} was {kind} at {at} ns in the host only" for kind, n, at in wrong] + [
            f"packet {n} should be {kind} at {at} ns" for kind, n, at in missing
        ]

    def delays_ms(self, least: int) -> list[float]:
        """One-way delays of the packets delivered that have more bytes than `least`, ms."""
        return [
            (at - self.arrivals[packet].at_ns) / 1e6
            for kind, packet, at in self.events
            if kind == "delivered" and self.arrivals[packet].size > least
        ]


def same(one: Sequence[Arrival], other: Sequence[Arrival]) -> int:
    """Number of equal arrivals in two hosts from the first on, to the microsecond.

    Example:
        >>> a = [Arrival(0, 40, 0, 0, 0), Arrival(5000, 1500, 0, 0, 1448)]
        >>> same(a, a), same(a, [a[0], a[1]._replace(at_ns=9000)])
        (2, 1)
    """
    pairs = zip(one, other, strict=False)
    for number, (mine, theirs) in enumerate(pairs):
        if mine.size != theirs.size or abs(mine.at_ns - theirs.at_ns) > 1000:
            return number
    return min(len(one), len(other))
