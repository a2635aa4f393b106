"""Cells over two paths: a few chosen ones, and cells drawn by seed before they were compared.

Paths are a geostationary satellite (600 ms there and back), a constellation in low orbit (50 ms)
and a 5G access (30 ms), at 0.5 to 20 Mbit/s.
"""

from __future__ import annotations

import random
from typing import NamedTuple

_PACKET = 1500
LARGE = 8_000_000
_ROUND_TRIPS_MS = {"GEO": 600, "LEO": 50, "5G": 30}


class Access(NamedTuple):
    """A wire in each direction; the way back has no queue and loses nothing."""

    mbps: float
    delay_ms: int
    queue: int
    loss: float = 0.0
    out_from_s: float = 0.0
    out_until_s: float = 0.0


class Cell(NamedTuple):
    """A connection over its paths, or over one.

    `buffer` is the receiver's, as an application sets it, in bytes; unless given, the kernel lets
    it grow. With `shared`, all paths are the first one's wire, and a TCP under Reno is beside them.
    """

    name: str
    congestion: str
    paths: tuple[Access, ...]
    seconds: int = 20
    buffer: int | None = None
    shared: bool = False

    @property
    def label(self) -> str:
        """Name and control.

        >>> chosen()[0].label
        'fast alone, reno'
        """
        return f"{self.name}, {self.congestion}"

    def lost(self, number: int) -> list[int]:
        """Data packets that a path loses, by their number in order of transmission.

        >>> path = Access(10, 25, 100, 0.01)
        >>> cell = Cell("x", "reno", (path, path))
        >>> 120 < len(cell.lost(0)) < 220, cell.lost(0) != cell.lost(1)
        (True, True)
        """
        path = self.paths[number]
        draw = random.Random(f"{self.name} {number}")
        most = int(path.mbps * 1e6 * self.seconds / (8 * _PACKET)) + 100
        return [packet for packet in range(most) if path.loss and draw.random() < path.loss]


def chosen() -> list[Cell]:
    """Two accesses of equal and of different delay, one after the other, and a failure."""
    fast, slow, alike = Access(8, 15, 60), Access(4, 150, 120), Access(6, 30, 60)
    fails = fast._replace(out_from_s=8, out_until_s=1000)
    pairs = {
        "fast alone": (fast,),
        "slow alone": (slow,),
        "alike": (alike, alike),
        "fast and slow": (fast, slow),
        "slow and fast": (slow, fast),
        "fast fails": (fails, slow),
    }
    return [
        Cell(name, congestion, paths)
        for name, paths in pairs.items()
        for congestion in ("reno", "cubic")
    ]


def drawn() -> list[Cell]:
    """Sixteen cells without coupling; every second one has a small receive buffer.

    >>> cells = drawn()
    >>> cells[1].name, cells[1].congestion, cells[1].buffer < LARGE
    ('drawn 1', 'reno', True)
    """
    draw = random.Random("multipath 1")
    kinds = (("GEO", "LEO"), ("LEO", "GEO"), ("5G", "LEO"), ("LEO", "5G"))
    found = []
    for number in range(16):
        paths = tuple(_path(draw, kind, number % 4 >= 2) for kind in kinds[number // 4])
        most = sum(path.mbps for path in paths) * 1e6 / 8
        held = most * 2 * max(path.delay_ms for path in paths) / 1000
        small = round(held * _between(draw, 0.2, 1))
        buffer = small if number % 2 else LARGE
        found.append(Cell(f"drawn {number}", ("reno", "cubic")[number // 2 % 2], paths, 30, buffer))
    return found


def _between(draw: random.Random, low: float, high: float) -> float:
    return low * (high / low) ** draw.random()


def _path(draw: random.Random, kind: str, lossy: bool) -> Access:
    mbps, rtt = round(_between(draw, 0.5, 20), 2), _ROUND_TRIPS_MS[kind]
    queue = max(10, round(_between(draw, 0.2, 2) * mbps * 1000 * rtt / 8 / _PACKET))
    loss = round(_between(draw, 0.0005, 0.01), 4) if lossy else 0.0
    return Access(mbps, rtt // 2, queue, loss)


def coupled() -> list[Cell]:
    """Coupled controls: losses decide, or one bottleneck that a TCP shares.

    >>> len(coupled())
    18
    """
    draw = random.Random("multipath, coupled 1")
    found = []
    pairs = (("LEO", "LEO"), ("LEO", "LEO"), ("5G", "LEO"), ("GEO", "LEO"))
    for number, (first, second) in enumerate(pairs):
        equal = round(_between(draw, 0.001, 0.01), 4)
        other = equal if number == 0 else round(equal * _between(draw, 0.1, 10), 5)
        paths = tuple(
            Access(20, _ROUND_TRIPS_MS[kind] // 2, 200, loss)
            for kind, loss in ((first, equal), (second, other))
        )
        found.append((f"losses {number}", paths, False))
    for number in range(2):
        path = Access(round(_between(draw, 2, 20), 2), (25, 15)[number], 0)
        queue = max(10, round(_between(draw, 0.5, 2) * path.mbps * 2000 * path.delay_ms / 12000))
        path = path._replace(queue=queue)
        found.append((f"one bottleneck {number}", (path, path), True))
    return [
        Cell(name, law, paths, 120 if shared else 60, LARGE, shared)
        for name, paths, shared in found
        for law in ("lia", "olia", "balia")
    ]


def cells() -> list[Cell]:
    """All cells; a cell's number is its place."""
    return chosen() + drawn() + coupled()
