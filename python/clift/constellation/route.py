"""Shortest route between two satellites over the available links."""

from __future__ import annotations

import heapq
import math

import numpy as np

from clift._arrays import Floats, Ints
from clift.constellation.orbits import EARTH_KM, LIGHT_KM_S, Walker

# Below this height the atmosphere bends and weakens a link between satellites.
_CLEARANCE_KM = 80.0


class Grid:
    """Links of a constellation. Their lengths change over time; the pairs do not.

    Args:
        constellation: The satellites.
    """

    def __init__(self, constellation: Walker) -> None:
        self._constellation = constellation
        self._pairs, self._aside = constellation.links()
        self._of: list[list[tuple[int, int]]] = [[] for _ in range(constellation.count)]
        for number, (one, other) in enumerate(self._pairs.tolist()):
            self._of[one].append((other, number))
            self._of[other].append((one, number))

    def lengths_ms(self, satellites: Floats) -> Floats:
        """Propagation time of each link; infinite if it is down.

        Links between planes are down if an end is beyond the polar limit. Any link is down if it
        passes through the atmosphere.
        """
        one, other = satellites[self._pairs[:, 0]], satellites[self._pairs[:, 1]]
        length = np.linalg.norm(other - one, axis=1)
        radius = self._constellation.radius_km
        # Both ends are on the same sphere, so the middle of the chord is nearest to the Earth.
        nearest = np.sqrt(np.maximum(radius**2 - (length / 2) ** 2, 0))
        limit = radius * math.sin(math.radians(self._constellation.polar_limit_deg))
        polar = np.maximum(np.abs(one[:, 2]), np.abs(other[:, 2])) >= limit
        polar &= self._aside & (self._constellation.polar_limit_deg < 90)
        down = (nearest < EARTH_KM + _CLEARANCE_KM) | polar
        return np.where(down, math.inf, length / LIGHT_KM_S * 1e3)

    def pairs_up(self, satellites: Floats) -> Ints:
        """Pairs of satellites with an available link."""
        return self._pairs[np.isfinite(self.lengths_ms(satellites))]

    def shortest(
        self, lengths_ms: Floats, start: int, end: int
    ) -> tuple[float, tuple[int, ...]] | None:
        """Time and satellites of the quickest route (Dijkstra); None without a route.

        Example:
            >>> from clift.constellation import preset
            >>> constellation = preset("leo66")
            >>> grid = Grid(constellation)
            >>> grid.shortest(grid.lengths_ms(constellation.positions(0.0)), 0, 2)[1]
            (0, 1, 2)
        """
        lengths = lengths_ms.tolist()
        best = {start: 0.0}
        before: dict[int, int] = {}
        waiting = [(0.0, start)]
        done: set[int] = set()
        while waiting:
            time, here = heapq.heappop(waiting)
            if here == end:
                way = [end]
                while way[-1] != start:
                    way.append(before[way[-1]])
                return time, tuple(reversed(way))
            if here in done:
                continue
            done.add(here)
            for other, link in self._of[here]:
                there = time + lengths[link]
                if there < best.get(other, math.inf):
                    best[other], before[other] = there, here
                    heapq.heappush(waiting, (there, other))
        return None
