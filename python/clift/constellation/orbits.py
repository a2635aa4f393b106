"""Walker constellations: positions of the satellites and links between them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

import clift._parse as _parse
from clift._arrays import Flags, Floats, Ints
from clift.errors import ScenarioError

EARTH_KM = 6371.0
"""Mean radius of the Earth."""
GRAVITY = 398600.4418
"""Gravitational parameter of the Earth, km^3/s^2 (WGS 84)."""
ROTATION = 7.2921159e-5
"""Angular speed of the Earth, rad/s (WGS 84)."""
LIGHT_KM_S = 299792.458
"""Speed of light."""

_MOST_SATELLITES = 20_000


@dataclass(frozen=True)
class Walker:
    """Circular orbits in evenly spaced planes, with links to the neighbours fore, aft and aside.

    `walker` returns one.
    """

    planes: int
    per_plane: int
    altitude_km: float
    inclination_deg: float
    pattern: str
    phasing: float
    spacing_deg: float
    polar_limit_deg: float
    min_elevation_deg: float

    @property
    def count(self) -> int:
        """Number of satellites."""
        return self.planes * self.per_plane

    @property
    def radius_km(self) -> float:
        """Of the orbits."""
        return EARTH_KM + self.altitude_km

    @property
    def period_s(self) -> float:
        """Of the orbits: 2 pi sqrt(a^3 / GM)."""
        return 2 * math.pi * math.sqrt(self.radius_km**3 / GRAVITY)

    def positions(self, time_s: float) -> Floats:
        """Positions of the satellites in a frame that does not rotate with the Earth.

        Args:
            time_s: Since satellite 0 crossed the equator northwards, over longitude 0.

        Returns:
            Kilometres, a row (x, y, z) for each satellite, plane by plane.
        """
        plane, slot = np.divmod(np.arange(self.count), self.per_plane)
        along = 2 * math.pi * ((slot + self._offset(plane)) / self.per_plane)
        along = along + 2 * math.pi * time_s / self.period_s
        node = np.radians(self.spacing_deg) * plane
        tilt = math.radians(self.inclination_deg)
        x, y = np.cos(along), np.sin(along)
        return self.radius_km * np.stack(
            [
                x * np.cos(node) - y * math.cos(tilt) * np.sin(node),
                x * np.sin(node) + y * math.cos(tilt) * np.cos(node),
                y * math.sin(tilt),
            ],
            axis=1,
        )

    def below(self, time_s: float) -> Floats:
        """Latitude and longitude in degrees of the place below each satellite, a row each."""
        x, y, z = self.positions(time_s).T
        latitude = np.degrees(np.arcsin(z / self.radius_km))
        longitude = np.degrees(np.arctan2(y, x) - ROTATION * time_s)
        return np.stack([latitude, np.mod(longitude + 180, 360) - 180], axis=1)

    def links(self) -> tuple[Ints, Flags]:
        """The grid of links between satellites.

        Returns:
            Pairs of satellite numbers, a row each, and whether a pair is of two planes (such links
            are off beyond `polar_limit_deg`).
        """
        pairs, aside = [], []
        for plane in range(self.planes):
            start = plane * self.per_plane
            # Two in a plane have one link, not two.
            for slot in range(self.per_plane if self.per_plane > 2 else self.per_plane - 1):
                pairs.append((start + slot, start + (slot + 1) % self.per_plane))
                aside.append(False)
            for slot in range(self.per_plane):
                beside = self._beside(plane, slot)
                if beside is not None:
                    pairs.append((start + slot, beside))
                    aside.append(True)
        return np.array(pairs, np.int64).reshape(-1, 2), np.array(aside, bool)

    def _beside(self, plane: int, slot: int) -> int | None:
        """Satellite of the next plane with the nearest phase."""
        after = (plane + 1) % self.planes
        if after == 0 and (self.pattern == "star" or self.planes < 3):
            return None  # across the seam of a star, satellites move in opposite directions
        ahead = float(self._offset(np.array(after)) - self._offset(np.array(plane)))
        shift = -math.floor(ahead + 0.5) if abs(ahead) != 0.5 else 0
        return after * self.per_plane + (slot + shift) % self.per_plane

    def _offset(self, plane: Ints) -> Floats:
        """Phase by which the satellites of a plane are ahead, in slots from 0 to 1."""
        return np.mod(plane * self.phasing / self.planes, 1.0)


def walker(
    planes: int,
    per_plane: int,
    *,
    altitude_km: float,
    inclination_deg: float,
    pattern: str = "delta",
    phasing: float = 0.0,
    spacing_deg: float | None = None,
    polar_limit_deg: float = 90.0,
    min_elevation_deg: float = 10.0,
) -> Walker:
    """A Walker constellation.

    Args:
        planes: Number of orbital planes.
        per_plane: Satellites in each.
        altitude_km: Above a spherical Earth of 6371 km.
        inclination_deg: Of the planes.
        pattern: `delta`: ascending nodes all around; `star`: over half the circle; the first
            and the last plane then move in opposite directions and are not linked.
        phasing: Walker's F: satellites of the next plane are F / (planes x per_plane) of a turn
            ahead.
        spacing_deg: Between neighbouring ascending nodes; 360 (delta) or 180 (star) degrees over
            the number of planes unless given.
        polar_limit_deg: Links between planes are off where either end is beyond this latitude.
        min_elevation_deg: Of a satellite over a ground station that it serves.

    Raises:
        ScenarioError: If a number is not valid, or the Earth is between neighbours in a plane.

    Example:
        >>> from clift import constellation
        >>> shell = constellation.walker(
        ...     24, 22, altitude_km=550, inclination_deg=53, phasing=1
        ... )
        >>> shell.count, round(shell.period_s / 60, 1)
        (528, 95.5)
        >>> shell.positions(0.0).shape
        (528, 3)
    """
    planes = _parse.whole("planes", planes, 1, _MOST_SATELLITES)
    per_plane = _parse.whole("per_plane", per_plane, 1, _MOST_SATELLITES)
    if planes * per_plane > _MOST_SATELLITES:
        raise ScenarioError(f"{planes * per_plane} satellites; give at most {_MOST_SATELLITES}")
    _parse.choice("pattern", pattern, ("delta", "star"))
    altitude_km = _parse.number("altitude_km", altitude_km, 100, 100_000)
    inclination_deg = _parse.number("inclination_deg", inclination_deg, 0, 180)
    phasing = _parse.number("phasing", phasing, 0, planes)
    polar_limit_deg = _parse.number("polar_limit_deg", polar_limit_deg, 0, 90)
    min_elevation_deg = _parse.number("min_elevation_deg", min_elevation_deg, 0, 90)
    usual = (360 if pattern == "delta" else 180) / planes
    spacing = usual if spacing_deg is None else _parse.number("spacing_deg", spacing_deg, 0, 360)
    radius = EARTH_KM + altitude_km
    if per_plane > 1 and radius * math.cos(math.pi / per_plane) < EARTH_KM:
        enough = math.ceil(math.pi / math.acos(EARTH_KM / radius))
        raise ScenarioError(
            f"{per_plane} satellites in a plane at {altitude_km:g} km do not see each other; "
            f"give {enough} or more (or 1)"
        )
    return Walker(
        planes,
        per_plane,
        altitude_km,
        inclination_deg,
        pattern,
        phasing,
        spacing,
        polar_limit_deg,
        min_elevation_deg,
    )


def preset(name: str) -> Walker:
    """A constellation by its name.

    Raises:
        ScenarioError: If the name is unknown.

    Example:
        >>> from clift import constellation
        >>> constellation.preset("leo66").count
        66
    """
    if not isinstance(name, str) or name not in PRESETS:
        raise ScenarioError(
            f"constellation preset `{name}` does not exist; choose one of {', '.join(PRESETS)}"
        )
    return PRESETS[name]


PRESETS = {
    # 66 satellites, arranged as Iridium's (86.4 degrees, planes 31.6 degrees apart, 8.2 degrees
    # of elevation), at the 800 km of Tauran 2017.
    "leo66": walker(
        6,
        11,
        altitude_km=800,
        inclination_deg=86.4,
        pattern="star",
        phasing=3,
        spacing_deg=31.6,
        polar_limit_deg=70,
        min_elevation_deg=8.2,
    ),
}
