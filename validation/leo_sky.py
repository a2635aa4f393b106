"""Fits the law of `clift.constellation.sky` to a log, and checks it on the rest of the log.

    python -m validation.leo_sky combined.csv

The log is that of Tian et al. 2024 (github.com/yeliqseu/ebpf-trace-emu, traces/): one-way delays
and losses of a packet every 10 ms for 100 s, in both directions, in one table with the columns
`send_time_s`, `down_delay_ms`, `down_lost`, `up_delay_ms` and `up_lost`. The fit uses the downlink
until 54 s.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np

from clift.constellation import STARLINK_2024

_FIRST, _PERIOD, _FITTED_UNTIL = 9.0, 15.0, 54.0


def main() -> None:
    """Prints the fit, and what the rest of the log has."""
    with Path(sys.argv[1]).open() as file:
        rows = list(csv.DictReader(file))
    time = np.array([float(row["send_time_s"]) for row in rows])
    for way in ("down", "up"):
        delay = np.array([float(row[f"{way}_delay_ms"]) for row in rows])
        lost = np.array([int(row[f"{way}_lost"]) for row in rows])
        for name, first, last in (
            ("fitted", 0.0, _FITTED_UNTIL),
            ("held out", _FITTED_UNTIL, 100.0),
        ):
            starts = [at for at in np.arange(_FIRST - _PERIOD, 100, _PERIOD) if at < last]
            medians, excess = [], []
            for start in starts:
                within = (time >= max(start, first)) & (time < min(start + _PERIOD, last))
                if within.sum() < 300:
                    continue
                median = float(np.median(delay[within]))
                medians.append(median)
                change = (time >= start - 0.5) & (time < start + 0.5)
                if start >= first and change.any():
                    excess.append(float(delay[change].max()) - median)
            share = lost[(time >= first) & (time < last)].mean()
            print(
                f"{way}, {name}: medians {', '.join(f'{one:.1f}' for one in medians)} ms; "
                f"late by {', '.join(f'{one:.0f}' for one in excess)} ms; loss {share:.2%}"
            )
    print(STARLINK_2024)


if __name__ == "__main__":
    main()
