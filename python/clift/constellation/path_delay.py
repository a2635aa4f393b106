"""One-way delay between two places over a constellation, over time."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

import clift._parse as _parse
from clift._arrays import Floats
from clift.constellation.ground import Place, Station, serving
from clift.constellation.orbits import LIGHT_KM_S, PRESETS, Walker, preset
from clift.constellation.route import Grid
from clift.errors import ScenarioError

_MOST_STEPS = 1_000_000
_NAMES = ", ".join(map(repr, PRESETS))


@dataclass(frozen=True)
class Change:
    """A change of route between two steps.

    Attributes:
        time_s: The first step on the new route.
        step_ms: Change of the delay. If negative, packets sent now overtake packets sent just
            before.
        kind: `handover` if another satellite serves an end, else `route`.
    """

    time_s: float
    step_ms: float
    kind: str


@dataclass(frozen=True)
class Delays:
    """Delay and route over time.

    Attributes:
        time_s: Instants, rising.
        delay_ms: One-way propagation delay from the first of them on.
        routes: Satellites from the first place to the second, for each instant; None if the file
            does not have them.
        uplink_ms: Of the delay, from the ground to the first satellite; None likewise.
        downlink_ms: Of the delay, from the last satellite to the ground; None likewise.
    """

    time_s: Floats
    delay_ms: Floats
    routes: tuple[tuple[int, ...], ...] | None = None
    uplink_ms: Floats | None = None
    downlink_ms: Floats | None = None

    def __len__(self) -> int:
        return len(self.time_s)

    def changes(self) -> list[Change]:
        """Changes of the route; none if the routes are not known."""
        if self.routes is None:
            return []
        found = []
        for number in range(1, len(self)):
            before, after = self.routes[number - 1], self.routes[number]
            if before == after:
                continue
            ends = (before[0], before[-1]) != (after[0], after[-1])
            step = float(self.delay_ms[number] - self.delay_ms[number - 1])
            kind = "handover" if ends else "route"
            found.append(Change(float(self.time_s[number]), step, kind))
        return found


def delays(
    constellation: Walker | str,
    start: Place,
    end: Place,
    duration_s: float = 600.0,
    *,
    step_s: float = 1.0,
    start_s: float = 0.0,
    min_elevation_deg: float | None = None,
    keep: bool = True,
) -> Delays:
    """One-way delay from a place on the ground to another: up, from satellite to satellite, down.

    Orbits are circles around a spherical Earth that turns under them; the route between the
    two serving satellites has the shortest delay at each step. The delay is propagation only.

    Args:
        constellation: The satellites, or the name of a preset (`leo66`).
        start: Latitude and longitude in degrees, as a pair or as text ("43.6,1.44").
        end: The other place.
        duration_s: Length of the table.
        step_s: Time between two rows.
        start_s: Time of the first row on the constellation's clock (`Walker.positions`).
        min_elevation_deg: Minimum elevation of a serving satellite; default: the constellation's.
        keep: If True, a station stays on its satellite down to that elevation; else it uses the
            highest at every step.

    Raises:
        ScenarioError: If a number is not valid, no satellite is high enough, or no route exists.

    Example:
        >>> from clift import constellation
        >>> table = constellation.delays(
        ...     "leo66", (43.6, 1.44), (34.05, -118.2), 600, start_s=2760
        ... )
        >>> len(table), round(float(table.delay_ms.min()), 1), round(float(table.delay_ms.max()), 1)
        (601, 67.6, 88.8)
        >>> [(one.time_s, round(one.step_ms, 1), one.kind) for one in table.changes()][:2]
        [(151.0, -14.0, 'handover'), (181.0, -2.7, 'route')]
    """
    walker = preset(constellation) if isinstance(constellation, str) else constellation
    cure = f"give a constellation (clift.constellation.walker makes one) or {_NAMES}"
    walker = _parse.of_type("constellation", walker, Walker, cure)
    _parse.flag("keep", keep)
    places = (Station.of(start), Station.of(end))
    least = walker.min_elevation_deg if min_elevation_deg is None else min_elevation_deg
    times = _times(duration_s, step_s, start_s, least)
    grid = Grid(walker)
    serves: list[int | None] = [None, None]
    rows = np.empty((len(times), 3))
    routes = []
    for number, time in enumerate(times):
        satellites = walker.positions(time)
        distances = []
        for index, place in enumerate(places):
            distance, elevation = place.view(time, satellites)
            found = serving(elevation, serves[index], least, keep)
            if found is None:
                raise ScenarioError(
                    f"{time - start_s:g} s: no satellite stands {least:g} deg high over {place} "
                    f"(the highest {elevation.max():.1f}); give a smaller elevation or more of them"
                )
            serves[index] = found
            distances.append(float(distance[found]))
        first, last = serves
        assert first is not None and last is not None  # noqa: PT018 - set just above
        way = grid.shortest(grid.lengths_ms(satellites), first, last)
        if way is None:
            raise ScenarioError(
                f"{time - start_s:g} s: no links lead from satellite {first} to satellite {last}; "
                "give a larger polar_limit_deg or more satellites"
            )
        up, down = (distance / LIGHT_KM_S * 1e3 for distance in distances)
        rows[number] = (up + way[0] + down, up, down)
        routes.append(way[1])
    return Delays(times - start_s, rows[:, 0], tuple(routes), rows[:, 1], rows[:, 2])


def _times(duration_s: float, step_s: float, start_s: float, least_deg: float) -> Floats:
    for name, value, least in (
        ("duration_s", duration_s, 0.0),
        ("step_s", step_s, 1e-3),
        ("start_s", start_s, 0.0),
    ):
        _parse.number(name, value, least, 1e9, "a time in s")
    _parse.number("min_elevation_deg", least_deg, 0, 90)
    steps = math.floor(duration_s / step_s + 1e-9)
    if steps > _MOST_STEPS:
        raise ScenarioError(f"{steps} steps; give at most {_MOST_STEPS}, with a larger step_s")
    return start_s + step_s * np.arange(steps + 1, dtype=np.float64)
