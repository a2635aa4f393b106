"""An access link of a constellation that reassigns its satellites at fixed times.

At each reconfiguration the terminal gets another satellite, and delay and rate change together
after a gap without transmission. `sky` draws such a link as a table, and `write_sky` stores it as
a CSV file that `[trace]` reads as a series.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

import clift._output as output
import clift._parse as _parse
from clift._arrays import Floats
from clift.errors import TraceError


class Reconfigured(NamedTuple):
    """How an access link changes from one reconfiguration to the next.

    Args:
        period_s: Time between reconfigurations.
        delay_ms: Least and largest one-way delay of an interval; uniform between them.
        gap_ms: Least and largest time without transmission at a reconfiguration; uniform between
            them. Packets wait, so the first one is late by as much.
        loss: Probability of a loss.
        rate_spread: The rate of an interval is the mean rate times 1 - spread to 1 + spread.
    """

    period_s: float
    delay_ms: tuple[float, float]
    gap_ms: tuple[float, float]
    loss: float
    rate_spread: float


STARLINK_2024 = Reconfigured(
    # The log below changes at 9, 24, 39, ... s.
    period_s=15.0,
    # Fitted to the downlink of the first 54 s of the log of Tian et al. 2024 (irtt, a packet every
    # 10 ms, 100 s): the range of the medians of its intervals.
    delay_ms=(15.7, 31.6),
    # The same: the largest delay within 0.5 s of a reconfiguration, above the median that follows.
    gap_ms=(38.0, 73.0),
    # The same: 22 of 5400 packets.
    loss=0.0041,
    # Not fitted: the log has no rates. An assumption.
    rate_spread=0.3,
)
"""Starlink, as one log of 2024 shows it; `validation/leo_sky.py` has the fit and its check."""


@dataclass(frozen=True)
class Sky:
    """An access link over time; a row holds until the next one.

    Args:
        time_s: Start of each row.
        rate_mbps: Rate; 0 in a gap.
        delay_ms: One-way delay.
        loss: Probability of a loss.
    """

    time_s: Floats
    rate_mbps: Floats
    delay_ms: Floats
    loss: Floats


def sky(
    duration_s: float,
    rate_mbps: float,
    seed: int,
    law: Reconfigured = STARLINK_2024,
) -> Sky:
    """Draws an access link: a row for each gap, one for the rest of each interval, one for the end.

    Args:
        duration_s: How long.
        rate_mbps: Mean rate.
        seed: Seed of the draws.
        law: How the link changes.

    Raises:
        ScenarioError: If a number is not valid.

    Example:
        >>> from clift import constellation
        >>> table = constellation.sky(60, 100, seed=1)
        >>> [round(time, 3) for time in table.time_s[::2].tolist()]
        [0.0, 15.0, 30.0, 45.0, 60.0]
        >>> table.rate_mbps[::2].tolist(), bool((table.rate_mbps[1::2] > 69).all())
        ([0.0, 0.0, 0.0, 0.0, 0.0], True)
    """
    if not isinstance(law, Reconfigured):
        raise _parse.fault("law", law, "give a clift.constellation.Reconfigured")
    duration_s = _parse.number("duration_s", duration_s, law.period_s, 1e6)
    rate_mbps = _parse.number("rate_mbps", rate_mbps, 0.001, 1e6)
    draws = np.random.default_rng(_parse.whole("seed", seed, 0, 2**63))
    count = int(np.ceil(duration_s / law.period_s))
    starts = np.arange(count) * law.period_s
    gaps = draws.uniform(*law.gap_ms, count) / 1e3
    delays = draws.uniform(*law.delay_ms, count)
    rates = rate_mbps * draws.uniform(1 - law.rate_spread, 1 + law.rate_spread, count)
    # A reader takes the last row to last as long as a gap, so the last interval needs an end.
    return Sky(
        time_s=np.append(np.column_stack([starts, starts + gaps]).ravel(), count * law.period_s),
        rate_mbps=np.append(np.column_stack([np.zeros(count), rates]).ravel(), 0.0),
        delay_ms=np.append(np.repeat(delays, 2), delays[-1]),
        loss=np.full(2 * count + 1, law.loss),
    )


def write_sky(table: Sky, path: str | os.PathLike[str]) -> None:
    """Writes a table: columns `time_s`, `rate_mbps`, `delay_ms` and `loss`.

    Args:
        table: The table.
        path: The file; a failed write leaves an existing file unchanged.

    Raises:
        TraceError: If writing fails.
    """
    path = Path(path)
    rows = zip(table.time_s, table.rate_mbps, table.delay_ms, table.loss, strict=True)
    lines = [f"{time:.3f},{rate:.3f},{delay:.3f},{loss:g}" for time, rate, delay, loss in rows]
    text = "\n".join(["time_s,rate_mbps,delay_ms,loss", *lines]) + "\n"
    output.write(path, text.encode(), TraceError)
