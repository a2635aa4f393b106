"""Delays over constellations of satellites: a source of time-varying propagation.

`walker` returns a constellation, `delays` the one-way delay between two places over it. `write` and
`read` store such tables as CSV files. `sky` draws an access link that is reassigned at fixed times.
Satellites are numbered plane by plane.

>>> from clift import constellation
>>> table = constellation.delays("leo66", "43.6,1.44", "34.05,-118.2", 60, start_s=2760)
>>> table.routes[0]
(7, 18, 29, 40, 41, 42, 43)
"""

from clift.constellation.access import STARLINK_2024, Reconfigured, Sky, sky, write_sky
from clift.constellation.ground import Station
from clift.constellation.orbits import PRESETS, Walker, preset, walker
from clift.constellation.path_delay import Change, Delays, delays
from clift.constellation.route import Grid
from clift.constellation.table import read, write

__all__ = [
    "PRESETS",
    "STARLINK_2024",
    "Change",
    "Delays",
    "Grid",
    "Reconfigured",
    "Sky",
    "Station",
    "Walker",
    "delays",
    "preset",
    "read",
    "sky",
    "walker",
    "write",
    "write_sky",
]
