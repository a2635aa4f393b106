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
    # Names of time zones stand in the pattern: a log whose zone changes is refused.
    r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d ([A-Z]{2,5})": r"%Y-%m-%d %H:%M:%S \1",
    r"[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d ([A-Z]{2,5} )?\d{4}": (
        r"%a %b %e %H:%M:%S \1%Y"
    ),
    r"\d{4}-\d\d?-\d\d?([T ].*)?": "date",
    r"\d{4}\.\d\d\.\d\d_\d\d\.\d\d\.\d\d": "%Y.%m.%d_%H.%M.%S",
    r"\d{4}/\d\d/\d\d \d\d:\d\d:\d\d": "%Y/%m/%d %H:%M:%S",
    r"\d\d/\d\d/\d{4} \d\d:\d\d:\d\d": "%d/%m/%Y %H:%M:%S",
    r"\d\d\.\d\d\.\d{4} \d\d:\d\d:\d\d": "%d.%m.%Y %H:%M:%S",
    r"\d\d:\d\d:\d\d": "%H:%M:%S",
}
# A row without a delay is an outage, and one without a loss has none, which a ping beside every
# tenth row does not show.
_EVERY_ROW = ("delay", "loss")
# Magnitudes of the time since 1970 in each unit.
_EPOCHS = ((1e17, "ns"), (1e14, "us"), (1e11, "ms"))
_TIME_UNITS = {
    "ms": "ms|msec|millis|milliseconds?",
    "us": "us|usec|micros|microseconds?",
    "ns": "ns|nsec|nanos|nanoseconds?",
    "s": "s|sec|secs|seconds?",
}
# A time of day without its day, and a number with its unit beside it.
_CLOCK = r"\d\d?:\d\d(:\d\d)?([.,]\d+)?( ?[AP]M)?"
_DATE = "2024-05-28T14:00:05"
_BESIDE = r"[+-]?\d+([.,]\d+)? *[a-z\u00b5\u03bc%][a-z/%]*"
# A Starlink dish logs what it carried, not what it could carry.
_TRAFFIC = ".*(up|down)link_throughput.*"
# Names of columns, the surest first.
_NAMES = {
    "time": (
        "time|timestamp|date|datetime|epoch|when|utc|ts|t|sec|secs|seconds",
        ".*(timestamp|datetime).*",
        "(.*[^a-z])?(time|date|clock)([^a-z].*)?",
    ),
    "rate": (
        ".*(throughput|bit_?rate|data.?rate|datenrate|bandwidth|goodput|capacity).*",
        r".*([kmg]bps|[kmg]bit).*",
        ".*download.*",
        "(.*[^a-z])?rate([^a-z].*)?",
    ),
    "delay": (
        ".*(rtt|latency|delay|round.?trip).*",
        "(.*[^a-z])?(ping|owd)([^a-z].*)?|ping(avg|med)",
    ),
    "loss": ("loss|plr", ".*loss.*", "(.*[^a-z])?(lost|drop_rat(e|io))([^a-z].*)?"),
    "esn0": (r".*es[_ /-]?n[0o]([^a-z].*)?",),
    "cn0": (r".*c[_ /-]?n[0o]([^a-z].*)?",),
    "modcod": (".*modcod.*",),
}
# The same by a unit in brackets or parentheses, for names in any language.
_UNITS = {
    "time": r".*[\[(]\s*(s|sec|seconds)\s*[\])]",
    "rate": r".*[\[(]\s*[kmg]?(bit/s|bps|b/s)\s*[\])]",
    "delay": r".*[\[(]\s*(m|n|u|\u00b5|\u03bc)s\s*[\])]",
    "loss": r".*[\[(]\s*%\s*[\])]",
}
# A decimal comma, where commas do not separate columns, as in the core.
_COMMA = re.compile(r"([+-]?\d*),(\d+(?:[eE][+-]?\d+)?)")


@dataclass(frozen=True, slots=True)
class Columns:
    """Values of the options that read a table; None where no column was found.

    Args:
        names: All columns of the table.
        time: Column and unit of times; None if no column holds times.
        rate: Column and unit of rates.
        received: Whether the rates leave out what was lost.
        delay: Column and unit of delays.
        round_trip: Whether the delays are round-trip times.
        loss: Column and unit of losses.
        level: Option and column of the Es/N0 or C/N0 of a modem, where no column holds a rate.
        modcod: Column of the MODCODs beside it.
        unused: Other columns of numbers.
        unread: Columns of a rate, delay or loss whose fields hold units, each with such a field.
        apart: Columns of a date and of a time of day, which nothing joins.
        unsure: Columns whose unit no name says.
        is_empty: Whether there is no row below the header.
        spans: Of a table without a header, the least and the most of each column of numbers.
    """

    names: Sequence[str]
    time: str | None = "1:s"
    rate: str | None = None
    received: bool = False
    delay: str | None = None
    round_trip: bool = False
    loss: str | None = None
    level: tuple[str, str] | None = None
    modcod: str | None = None
    unused: Sequence[str] = ()
    unread: Sequence[tuple[str, str]] = ()
    apart: Sequence[str] = ()
    unsure: Sequence[str] = ()
    is_empty: bool = False
    spans: Sequence[str] = ()

    @property
    def fault(self) -> str | None:
        """Why no command reads the table as the log of a link; None if one does."""
        if self.is_empty:
            return "no row is below the header; give a log with rows"
        if self.apart:
            named = " and ".join(f"`{name[:30]}`" for name in self.apart)
            return f"date and time of day are apart, in {named}: join them, e.g. {_DATE}"
        if self.unread:
            named = ", ".join(f"`{name[:30]}` has `{field[:30]}`" for name, field in self.unread)
            return (
                f"{named}: write the unit into the name of the column, and numbers into its fields"
            )
        if not (self.rate or self.delay or self.loss or self.level or self.spans):
            return (
                "no name of a column tells a rate, delay, loss, Es/N0 or C/N0: this is not the log "
                "of a link, or name its columns"
            )
        if self.time is None:
            return f"no column holds times; write seconds, or dates such as {_DATE}"
        return None

    @property
    def options(self) -> str:
        """The options as they are typed in a shell.

        Example:
            >>> Columns([], "when:date", "down:kbit/s", delay="ping:ms", round_trip=True).options
            '--time when:date --rate down:kbit/s --delay ping:ms --delay-is rtt'
        """
        words = ["--time", self.time] if self.time else []
        words += ["--rate", self.rate] if self.rate else []
        words += ["--rate-is", "received"] if self.received else []
        words += ["--delay", self.delay] if self.delay else []
        words += ["--delay-is", "rtt"] if self.round_trip else []
        words += ["--loss", self.loss] if self.loss else []
        words += [*self.level, "--symbol-rate", "10 kBd"] if self.level else []
        words += ["--modcod", self.modcod] if self.modcod else []
        return shlex.join(words)

    @property
    def listed(self) -> str:
        """The first columns, with their numbers."""
        if not any(self.names):
            spans = f" ({', '.join(self.spans[:8])})" if self.spans else ""
            return f"{len(self.names)} columns without a header{spans}"
        named = (f"{number} `{name[:30]}`" for number, name in enumerate(self.names[:12], 1))
        return "columns " + ", ".join(named) + (", ..." if len(self.names) > 12 else "")


def guessed(text: str) -> Columns | None:
    r"""Guess which column of a table holds what.

    Args:
        text: The beginning of a file.

    Returns:
        None if the text is not a table with a header or with several columns.

    Example:
        >>> guessed("time,throughput_mbps,loss\n2024-05-28T19:08:35,2.9,99\n").options
        '--time time:date --rate throughput_mbps:Mbit/s --rate-is received --loss loss:%'
        >>> guessed("s,EsN0_dB,MODCOD\n0,7.5,QPSK 3/4\n").options
        "--time 1:s --esn0 EsN0_dB:dB --symbol-rate '10 kBd' --modcod MODCOD"
        >>> guessed("time_s,rate_mbps\n").fault
        'no row is below the header; give a log with rows'
        >>> guessed("Dear reader,\n") is None
        True
    """
    rows = _rows(text)
    if not rows:
        return None
    names = rows[0]
    if len([name for name in names if name]) < 2:
        return None
    if _number(names[0]) is not None or _pattern(names[0]):
        return _bare(rows)
    table: dict[str, list[str]] = {}
    for place, title in enumerate(names):
        if title:
            table.setdefault(title, [row[place] for row in rows[1:] if place < len(row)])
    found = Columns(names, apart=_apart(table), unread=_unread(table), is_empty=not rows[1:])
    found = replace(found, time=_times(table, names))
    if name := _column(table, "loss"):
        found = replace(found, loss=_typed(name, names) + _loss_unit(name, table.pop(name)))
    found = _delay(_rate(found, table), table)
    if found.rate is None:
        found = _modem(found, table)
    return replace(found, unused=[name for name, values in table.items() if _holds("", values)])


def _bare(rows: list[list[str]]) -> Columns:
    """The columns of a table without a header: of bare numbers only times show, as they rise."""
    columns = list(zip(*(row for row in rows if len(row) == len(rows[0])), strict=True))
    time, spans = None, []
    for place, fields in enumerate(columns, 1):
        numbers = [number for field in fields if (number := _number(field)) is not None]
        if numbers:
            spans.append(f"{place} from {min(numbers):.10g} to {max(numbers):.10g}")
        rises = len(numbers) == len(fields) and numbers == sorted(numbers) != numbers[::-1]
        if time is None and (rises or _pattern(fields[0])):
            time = f"{place}:{_time_unit(list(fields))}"
    rest = [span for span in spans if time is None or span.split()[0] != time.split(":")[0]]
    return Columns([""] * len(columns), time, spans=spans if rest else ())


def _rate(found: Columns, table: dict[str, list[str]]) -> Columns:
    """With the column of rates, which leaves the table."""
    if (name := _column(table, "rate")) is None:
        return found
    values, unit = table.pop(name), _rate_unit(name)
    arrived = re.search("throughput|goodput|recei|download|(^|[^a-z])rx|empfang", name, re.I)
    # Counts of losses do not say which share of a received rate is missing.
    shares = found.loss is not None and not found.loss.endswith(":packets")
    return replace(
        found,
        rate=f"{_typed(name, found.names)}:{unit or _likely_rate_unit(values)}",
        received=shares and arrived is not None,
        unsure=[*found.unsure, *([] if unit else [name])],
    )


def _delay(found: Columns, table: dict[str, list[str]]) -> Columns:
    """With the column of delays, which leaves the table."""
    if (name := _column(table, "delay")) is None:
        return found
    table.pop(name)
    unit = _unit_of_time(name)
    return replace(
        found,
        delay=f"{_typed(name, found.names)}:{unit or 'ms'}",
        round_trip=re.search("rtt|ping|latency|round.?trip|umlauf", name, re.I) is not None,
        unsure=[*found.unsure, *([] if unit else [name])],
    )


def _apart(table: dict[str, list[str]]) -> list[str]:
    """Columns of a date without its time of day, and of times of day."""
    kinds = (r"[\d./-]{8,10}", _CLOCK)
    found = []
    for kind in kinds:
        named = (name for name, values in table.items() if values and _named(values[0], kind))
        found.append(next((name for name in named if _numbers(table[name]) == 0), ""))
    return found if all(found) else []


def _unread(table: dict[str, list[str]]) -> list[tuple[str, str]]:
    """Columns of a rate, delay or loss by their names, with a field that holds its unit."""
    named = [pattern for what in ("rate", "delay", "loss") for pattern in _NAMES[what]]
    return [
        (name, values[0])
        for name, values in table.items()
        if values and _named(values[0], _BESIDE) and any(_named(name, one) for one in named)
    ]


def _rows(text: str) -> list[list[str]]:
    """The fields of each row; empty if the text is not a table."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if not lines or "{" in lines[0] or not lines[0].replace("\t", "").isprintable():
        return []
    fields = re.split("[;\t]", lines[0])
    decimal = len(fields) > 1 and all(_COMMA.fullmatch(one) for one in fields if "," in one)
    # Of equally frequent separators, the same as in the core.
    between = max("\t;" if decimal else "\t;,", key=lines[0].count)
    if between not in lines[0]:
        rows = [line.split() for line in lines[:_ROWS]]
        # Prose has no numbers below its words.
        if len(rows) < 2 or sum(_number(_pointed(field)) is not None for field in rows[1]) < 2:
            return []
    else:
        read = csv.reader(lines[:_ROWS], delimiter=between)
        rows = [[field.strip() for field in row] for row in read]
    return rows if between == "," else [[_pointed(field) for field in row] for row in rows]


def _modem(found: Columns, table: dict[str, list[str]]) -> Columns:
    """With the columns of a modem's log, whose rates follow from its MODCODs."""
    for option, unit in (("esn0", "dB"), ("cn0", "dBHz")):
        if name := _column(table, option):
            table.pop(name)
            found = replace(found, level=(f"--{option}", f"{_typed(name, found.names)}:{unit}"))
            break
    else:
        return found
    for name in [name for name in table if _named(name, _NAMES["modcod"][0])]:
        table.pop(name)
        found = replace(found, modcod=_typed(name, found.names))
    return found


def _typed(name: str, names: Sequence[str]) -> str:
    """How a command names a column: by its number where the name is ambiguous or hard to type."""
    plain = name.isprintable() and '"' not in name and names.count(name) == 1
    return name if plain else str(names.index(name) + 1)


def _times(table: dict[str, list[str]], names: Sequence[str]) -> str | None:
    """The column of times, which leaves the table, with its unit: by name, by dates, else 1."""
    dated = (name for name, values in table.items() if any(map(_pattern, values[:1])))
    if name := _column(table, "time") or next(dated, None):
        return f"{_typed(name, names)}:{_time_unit(table.pop(name), name)}"
    first = names[0]
    values = table.get(first, [])
    if values and not _numbers(values):
        return None
    time = f"1:{_time_unit(values, first)}"
    others = (pattern for what in ("rate", "delay", "loss") for pattern in _NAMES[what])
    if not any(_named(first, pattern) for pattern in others):
        table.pop(first, None)
    return time


def _column(table: dict[str, list[str]], what: str) -> str | None:
    """The first column whose name says that it holds this; the surest goes first."""
    for pattern in filter(None, (*_NAMES[what], _UNITS.get(what))):
        for name, values in table.items():
            is_traffic = what == "rate" and _named(name, _TRAFFIC)
            is_rare = what in _EVERY_ROW and 2 * _numbers(values) < len(values)
            if _named(name, pattern) and _holds(what, values) and not (is_traffic or is_rare):
                return name
    return None


def _named(name: str, pattern: str) -> bool:
    return re.fullmatch(pattern, name, re.IGNORECASE) is not None


def _pointed(field: str) -> str:
    """A number with a decimal point instead of its comma; other text as it is."""
    return field.replace(",", ".") if _COMMA.fullmatch(field) else field


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
    return next((unit for least, unit in _EPOCHS if size >= least), _unit_of_time(name) or "s")


def _unit_of_time(name: str) -> str | None:
    """The unit that the name of a column ends in, or has in its middle."""
    lower = re.sub("[\u00b5\u03bc]", "u", name.lower())
    found = (
        unit
        for unit, like in _TIME_UNITS.items()
        if re.search(rf"[_(\[ ]({like})([^a-z]|$)", lower)
    )
    return next(found, None)


def _pattern(value: str) -> str | None:
    """How a date is written."""
    found = ((re.fullmatch(like, value), how) for like, how in _PATTERNS.items())
    return next((one.expand(how) for one, how in found if one), None)


def _rate_unit(name: str) -> str | None:
    """The unit that the name of a column says."""
    # Bytes and bits differ in the case of one letter.
    if exact := re.search(r"(?<![A-Za-z])([kKM]?)B(/s|ps)", name):
        return f"{exact[1].lower() if exact[1] == 'K' else exact[1]}B/s"
    lower = name.lower()
    if size := re.search("(?<![a-z])([km]?)bytes?(?![a-z])", lower):
        return f"{size[1].replace('m', 'M')}B/s"
    if size := re.search("([kmg])b(?!yte)", lower):
        return f"{size[1] if size[1] == 'k' else size[1].upper()}bit/s"
    return "bit/s" if re.search("bps|bit/s|b/s", lower) else None


def _likely_rate_unit(values: list[str]) -> str:
    most = max((_number(value) or 0.0 for value in values), default=0.0)
    return "Mbit/s" if most <= 1000 else "kbit/s" if most < 5e6 else "bit/s"


def _loss_unit(name: str, values: list[str]) -> str:
    if re.search(r"percent|pct|%", name, re.IGNORECASE):
        return ":%"
    if re.search(r"(packet|pkt)s|lost.?(packet|pkt)|count|number", name, re.IGNORECASE):
        return ":packets"
    most = max((_number(value) or 0.0 for value in values), default=0.0)
    return ":%" if 1.0 < most <= 100.0 else ":packets" if most > 100.0 else ""


def _numbers(values: list[str]) -> int:
    return sum(_number(value) is not None for value in values)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
