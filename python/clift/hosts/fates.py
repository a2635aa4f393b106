"""What happened on a link, as hosts log it: arrivals and fates, in nanoseconds.

A log has a line for each arrival, `arrival PACKET NS BYTES TAKEN FLOW FIRST END` (TAKEN 0: queued),
and for each thing that happened to a packet, `departed|delivered|lost|ended PACKET NS`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import clift._clift as _clift
from clift.scenario import Scenario


class Arrival(NamedTuple):
    """A packet that came to a link: when (ns), its size, and what of a stream it carries."""

    at_ns: int
    size: int
    flow: int
    first: int
    end: int


@dataclass(frozen=True)
class Log:
    """What a host logged of one direction.

    Attributes:
        arrivals: The packets in order of arrival; the index is a packet's number.
        events: Kind, packet and time (ns) of all else.
        tells_departures: Whether departures are among them.
    """

    arrivals: list[Arrival]
    events: list[tuple[str, int, int]]
    tells_departures: bool = True

    @classmethod
    def read(cls, path: Path) -> Log:
        """Reads a log; a last line that was cut short is left out."""
        arrivals, events = [], []
        for line in path.read_text().splitlines():
            match line.split():
                case ["arrival", _, at, size, _, flow, first, end]:
                    arrivals.append(Arrival(int(at), int(size), int(flow), int(first), int(end)))
                case [kind, packet, at] if kind != "arrival":
                    events.append((kind, int(packet), int(at)))
        return cls(arrivals, events)

    def disagreements(self, scenario: Scenario, direction: int) -> list[str]:
        """What the link alone, given the same arrivals, says otherwise; empty: nothing.

        Args:
            scenario: The cell that the host ran.
            direction: 0 the way there, 1 the way back.
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
    """How many arrivals two hosts have in common from the first on, to the microsecond.

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
