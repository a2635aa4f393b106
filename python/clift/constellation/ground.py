"""Ground stations: their position and their serving satellite."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from clift._arrays import Floats
from clift.constellation.orbits import EARTH_KM, ROTATION
from clift.errors import ScenarioError

Place = tuple[float, float] | str
"""Latitude and longitude in degrees, as a pair or as text."""


@dataclass(frozen=True)
class Station:
    """A place on the ground: latitude and longitude in degrees, north and east."""

    latitude_deg: float
    longitude_deg: float

    @classmethod
    def of(cls, place: Place) -> Station:
        """A place given as a pair or as text.

        Raises:
            ScenarioError: If the place is not valid.

        Example:
            >>> Station.of("43.6, 1.44")
            Station(latitude_deg=43.6, longitude_deg=1.44)
        """
        parts = place.split(",") if isinstance(place, str) else place
        try:
            latitude, longitude = (float(part) for part in parts)
        except (TypeError, ValueError):
            raise ScenarioError(
                f'`{place}` is not a place; give latitude and longitude, e.g. "43.6,1.44"'
            ) from None
        if not (-90 <= latitude <= 90 and -180 <= longitude <= 360):
            raise ScenarioError(
                f"`{place}` is not a place; give latitude -90 to 90, longitude -180 to 360"
            )
        return cls(latitude, longitude)

    def position(self, time_s: float) -> Floats:
        """Kilometres (x, y, z) in the frame of the satellites; longitude 0 is at x at time 0."""
        latitude = math.radians(self.latitude_deg)
        longitude = math.radians(self.longitude_deg) + ROTATION * time_s
        return EARTH_KM * np.array(
            [
                math.cos(latitude) * math.cos(longitude),
                math.cos(latitude) * math.sin(longitude),
                math.sin(latitude),
            ]
        )

    def view(self, time_s: float, satellites: Floats) -> tuple[Floats, Floats]:
        """Distance in km and elevation in degrees of each satellite."""
        here = self.position(time_s)
        toward = satellites - here
        distance = np.linalg.norm(toward, axis=1)
        return distance, np.degrees(np.arcsin(toward @ here / (distance * EARTH_KM)))

    def __str__(self) -> str:
        return f"{self.latitude_deg:g},{self.longitude_deg:g}"


def serving(elevation_deg: Floats, before: int | None, least_deg: float, keep: bool) -> int | None:
    """The satellite that serves a station.

    Args:
        elevation_deg: Elevation of each satellite.
        before: The previous serving satellite.
        least_deg: Minimum elevation.
        keep: If True, stay on that satellite down to the minimum; else always use the highest.

    Returns:
        Number of the satellite, or None if none is high enough.
    """
    if keep and before is not None and elevation_deg[before] >= least_deg:
        return before
    highest = int(np.argmax(elevation_deg))
    return highest if elevation_deg[highest] >= least_deg else None
