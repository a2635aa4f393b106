"""The columns of a table, guessed from names and values, for the command that reads the table.

A guess is only suggested, never applied: a wrong unit changes every result.
"""

from __future__ import annotations

import csv
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace

# Rows that a guess of a unit looks at.
_ROWS = 500
_PATTERNS = {
    r"\d{4}-\d\d?-\d\d?([T ].*)?": "date",
    r"\d{4}\.\d\d\.\d\d_\d\d\.\d\d\.\d\d": "%Y.%m.%d_%H.%M.%S",
    r"\d{4}/\d\d/\d\d \d\d:\d\d:\d\d": "%Y/%m/%d %H:%M:%S",
    r"\d\d/\d\d/\d{4} \d\d:\d\d:\d\d": "%d/%m/%Y %H:%M:%S",
}
# Magnitudes of the time since 1970 in each unit.
_EPOCHS = ((1e17, "ns"), (1e14, "us"), (1e11, "ms"))
_RATE_UNITS = {"gb": "Gbit/s", "mb": "Mbit/s", "kb": "kbit/s", "bps": "bit/s"}
# Names of columns, the surest first.
_NAMES = {
    "time": ("time|timestamp|date|datetime|epoch|when|ts|t", ".*(time|date).*"),
    "rate": (
        ".*(throughput|bit_?rate|bandwidth|goodput|capacity).*",
        r".*([kmg]bps|[kmg]bit).*",
        ".*download.*",
        "(.*[^a-z])?rate([^a-z].*)?",
    ),
    "delay": (".*(rtt|latency|delay).*", "(.*[^a-z])?(ping|owd)([^a-z].*)?|ping(avg|med)"),
    "loss": ("loss|plr", ".*loss.*", "(.*[^a-z])?lost([^a-z].*)?"),
}


@dataclass(frozen=True, slots=True)
class Columns:
    """Values of the options that read a table; None where no column was found.

    Args:
        names: All columns of the table.
        time: Column and unit of times.
        rate: Column and unit of rates.
        received: Whether the rates leave out what was lost.
        delay: Column and unit of delays.
        round_trip: Whether the delays are round-trip times.
        loss: Column and unit of losses.
    """

    names: Sequence[str]
    time: str = "1:s"
    rate: str | None = None
    received: bool = False
    delay: str | None = None
    round_trip: bool = False
    loss: str | None = None

    @property
    def options(self) -> str:
        """The options as they are typed in a shell.

        Example:
            >>> Columns([], "when:date", "down:kbit/s", delay="ping:ms", round_trip=True).options
            '--time when:date --rate down:kbit/s --delay ping:ms --delay-is rtt'
        """
        words = ["--time", self.time]
        words += ["--rate", self.rate] if self.rate else []
        words += ["--rate-is", "received"] if self.received else []
        words += ["--delay", self.delay] if self.delay else []
        words += ["--delay-is", "rtt"] if self.round_trip else []
        words += ["--loss", self.loss] if self.loss else []
        return shlex.join(words)

    @property
    def listed(self) -> str:
        """The first columns, with their numbers."""
        named = (f"{number} `{name[:30]}`" for number, name in enumerate(self.names[:12], 1))
        return ", ".join(named) + (", ..." if len(self.names) > 12 else "")


def guessed(text: str) -> Columns | None:
    r"""Guess which column of a table holds what.

    Args:
        text: The beginning of a file.

    Returns:
        None if the text is not a table with a header or with several columns.

    Example:
        >>> guessed("time,throughput_mbps,loss\n2024-05-28T19:08:35,2.9,99\n").options
        '--time time:date --rate throughput_mbps:Mbit/s --rate-is received --loss loss:%'
        >>> guessed("Dear reader,\n") is None
        True
    """
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if not lines or "{" in lines[0] or not lines[0].replace("\t", "").isprintable():
        return None
    between = next((mark for mark in ",;\t" if mark in lines[0]), None)
    if between is None:
        rows = [line.split() for line in lines[:_ROWS]]
        # Prose has no numbers below its words.
        if len(rows) < 2 or sum(_number(field) is not None for field in rows[1]) < 2:
            return None
    else:
        read = csv.reader(lines[:_ROWS], delimiter=between)
        rows = [[field.strip() for field in row] for row in read]
    names = rows[0]
    if len([name for name in names if name]) < 2:
        return None
    if _number(names[0]) is not None or _pattern(names[0]):
        # No header: of bare numbers nothing is known but, perhaps, that the first are times.
        time = f"1:{_time_unit([row[0] for row in rows])}"
        return Columns([f"{name}" for name in names], time, "2:Mbit/s", delay="3:ms", loss="4:%")
    table = {
        name: [row[place] for row in rows[1:] if place < len(row)]
        for place, name in enumerate(names)
        if name
    }
    found = Columns(names)
    if name := _column(table, "time"):
        found = replace(found, time=f"{name}:{_time_unit(table.pop(name), name)}")
    if name := _column(table, "loss"):
        found = replace(found, loss=f"{name}{_loss_unit(name, table.pop(name))}")
    if name := _column(table, "rate"):
        counted = re.search("throughput|goodput|received|download", name, re.IGNORECASE)
        received = found.loss is not None and counted is not None
        unit = _rate_unit(name, table.pop(name))
        found = replace(found, rate=f"{name}:{unit}", received=received)
    if name := _column(table, "delay"):
        units = ("us", "ns", "ms")
        unit = next((one for one in units if re.search(f"[_( ]{one}", name, re.I)), "ms")
        both_ways = re.search("rtt|ping|latency", name, re.I) is not None
        found = replace(found, delay=f"{name}:{unit}", round_trip=both_ways)
    return found


def _column(table: dict[str, list[str]], what: str) -> str | None:
    """The first column whose name says that it holds this; the surest goes first."""
    for pattern in _NAMES[what]:
        for name, values in table.items():
            if re.fullmatch(pattern, name, re.IGNORECASE) and _holds(what, values):
                return name
    return None


def _holds(what: str, values: list[str]) -> bool:
    """Whether values are of this kind: dates or numbers."""
    some = [value for value in values[:20] if value]
    numbers = [value for value in some if _number(value) is not None]
    return bool(some) and (bool(numbers) or (what == "time" and _pattern(some[0]) is not None))


def _time_unit(values: list[str], name: str = "") -> str:
    first = next((value for value in values if value), "")
    if found := _pattern(first):
        return found
    size = abs(_number(first) or 0.0)
    named = next((unit for unit in ("ms", "us", "ns") if name.lower().endswith(unit)), "s")
    return next((unit for least, unit in _EPOCHS if size >= least), named)


def _pattern(value: str) -> str | None:
    """How a date is written."""
    return next((how for like, how in _PATTERNS.items() if re.fullmatch(like, value)), None)


def _rate_unit(name: str, values: list[str]) -> str:
    lower = name.lower()
    for mark, unit in _RATE_UNITS.items():
        if mark in lower:
            return unit
    most = max((_number(value) or 0.0 for value in values), default=0.0)
    return "Mbit/s" if most < 5_000 else "kbit/s" if most < 5e6 else "bit/s"


def _loss_unit(name: str, values: list[str]) -> str:
    if re.search(r"percent|pct|%", name, re.IGNORECASE):
        return ":%"
    if re.search(r"packet|pkt|count|number", name, re.IGNORECASE):
        return ":packets"
    most = max((_number(value) or 0.0 for value in values), default=0.0)
    return ":%" if 1.0 < most <= 100.0 else ":packets" if most > 100.0 else ""


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
