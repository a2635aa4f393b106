"""Traces from measurements: logs of any known kind, time series, modems, ping, packet captures."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import clift._clift as _clift
from clift._parse import real, shown
from clift.columns import Columns, guessed
from clift.errors import TraceError
from clift.trace import Path, PhyTrace, file_name, whole_bytes


def read_log(path: Path, **keys: Any) -> PhyTrace:
    r"""Read any log or trace that CLIFT knows, whose content or suffix determines the format.

    This is the one function that detects formats: CLIFT's own files, mahimahi, output of `ping`
    (with times of `-D`, of `ts`, or dates), JSON of irtt, of iperf3 and of a Starlink dish
    (`get_history`), and RINEX.

    Args:
        path: The file.
        keys: Keys of `[trace]` in a scenario file, where the file does not say enough:
            `direction="up"` for irtt, `rate="5 Mbit/s"` for slots at a rate,
            `cn0="G05 S1C:dBHz"` and `symbol_rate="5 MBd"` for RINEX.

    Returns:
        The trace; `PhyTrace.notes` lists what was understood and assumed.

    Raises:
        TraceError: If the format is unknown, the file is damaged or a key is missing: file, line,
            fault and cure, which is the command that reads the file if there is one.

    Example:
        >>> import pathlib, tempfile
        >>> import clift
        >>> folder = tempfile.TemporaryDirectory()
        >>> path = pathlib.Path(folder.name, "history.json")
        >>> _ = path.write_text(
        ...     '{"dishGetHistory": {"current": "2", "popPingDropRate": [0, 1],'
        ...     ' "popPingLatencyMs": [40, 40]}}'
        ... )
        >>> clift.read_log(path).d_ns
        array([20000000,        0])
        >>> folder.cleanup()
    """
    return read_excerpt(path, None, **keys)


def read_excerpt(path: Path, most: int | None, **keys: Any) -> PhyTrace:
    """As `read_log`, for a description of the link: series without their pauses.

    Args:
        path: The file.
        most: Of a series with more slots only parts that are spread over it are read; None: the
            whole log, with its pauses.
        keys: As for `read_log`.
    """
    start = _start(path).removeprefix(b"\xef\xbb\xbf")
    if start.startswith(_GZIP):
        raise TraceError(f"{path}: compressed; unpack it first: gunzip -k {path}")
    if all(word in start for word in _IPERF):
        raise TraceError(f"{path}: text of iperf3; run it with -J, whose JSON is read")
    named = any(keys.get(key) is not None for key in ("time", "receiver", "format"))
    if not named and _TCPDUMP.match(start):
        raise TraceError(
            f"{path}: text of tcpdump; capture at both ends with -w, and give both files: "
            "clift trace capture SENDER RECEIVER -o OUTPUT"
        )
    if named or start.startswith(_CAPTURES):
        return imported(path, keys, most)
    try:
        kind = _clift.format_of(file_name("path", path))
    except TraceError:
        if (table := _as_table(path)) is None:
            raise
        raise table from None
    is_foreign = kind == "text" and not start.startswith((b"#", b"t_ns"))
    if is_foreign and (table := _as_table(path)) is not None:
        raise table
    return imported(path, keys, most)


_CAPTURES = (b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\xc3\xd4", b"\x4d\x3c\xb2\xa1", b"\xa1\xb2\x3c\x4d",
             b"\x0a\x0d\x0d\x0a")  # fmt: skip
"""First bytes of pcap, in both byte orders with microseconds and nanoseconds, and of pcapng."""
_BEGINNING = 1 << 16
_GZIP = b"\x1f\x8b"
_IPERF = (b"[ ID]", b"Interval", b"Transfer")
_TCPDUMP = re.compile(rb"(\d+-\d+-\d+ )?\d+[:.]\d[\d:.]* (\S+ +(In|Out) +)?(IP6?|ARP)\b[ ,]")
"""A line of tcpdump, with a time of day or of the epoch, and with the interface of `-i any`."""


def _start(path: Path, size: int = 1 << 12) -> bytes:
    """The first bytes of a file; empty for a pipe, whose bytes can be read only once."""
    name = file_name("path", path)
    try:
        if not pathlib.Path(name).is_file():
            return b""
        with pathlib.Path(name).open("rb") as file:
            return file.read(size)
    except OSError:
        return b""


class TableError(TraceError):
    """The file is a table, so its columns must be named.

    Attributes:
        table: The columns, guessed.
    """

    def __init__(self, path: Path, table: Columns) -> None:
        self.table = table
        super().__init__(self.message(path, f"clift trace import {path} {table.options} -o OUTPUT"))

    def message(self, path: Path, command: str) -> str:
        """The message, with a command that names the columns."""
        table = f"{path}: a table of {self.table.listed}"
        if fault := self.table.fault:
            return f"{table}; {fault}"
        if self.table.spans:
            return (
                f"{table}; nothing says what they hold, so add it, as --rate N:Mbit/s, --delay "
                f"N:ms or --loss N:% for column N, to this, and check the unit: {command}"
            )
        parts = []
        if self.table.unsure:
            parts.append("no name says the unit of " + _listed(self.table.unsure))
        if self.table.unused:
            parts.append("unused: " + _listed(self.table.unused))
        guess = "; ".join(["a guess", *parts])
        return f"{table}; say which is what, with its unit ({guess}): {command}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name[:30]}`" for name in names[:6])


def _as_table(path: Path) -> TableError | None:
    """The error that says how a table in columns is imported, if the file looks like one."""
    start = _start(path, _BEGINNING)
    if len(start) == _BEGINNING:
        # The last line is cut off.
        start = start[: start.rfind(b"\n") + 1] or start
    table = guessed(start.decode("utf-8-sig", "replace"))
    return None if table is None else TableError(path, table)


def imported(path: Path, keys: Mapping[str, Any], most: int | None = None) -> PhyTrace:
    """The trace of a section `[trace]` with these keys."""
    names = _keywords(keys)
    given = {
        key: _plain(names.get(key, key), value) for key, value in keys.items() if value is not None
    }
    described = {"file": file_name("path", path), **given}
    if "receiver" not in given and _start(path).startswith(_CAPTURES):
        raise TraceError(
            f"{path}: a capture of packets; a trace needs those of sender and receiver: "
            f"clift trace capture {path} RECEIVER -o OUTPUT"
        )
    try:
        return PhyTrace.of(_clift.import_trace(described, most))
    except TraceError as error:
        key, colon, rest = str(error).partition(": ")
        if colon and key in names:
            raise TraceError(f"{names[key]}: {rest}") from None
        raise


def read(kind: str, arguments: Mapping[str, Any]) -> PhyTrace:
    """The trace of a log of one kind, from the arguments of its function, the file first."""
    (_, path), *others = arguments.items()
    return imported(path, {"format": kind} | {_KEYS.get(name, name): one for name, one in others})


_KEYS = {"from_address": "from", "lldu_bytes": "lldu", "errors": "loss"}
"""Keys of `[trace]`, where Python has another name."""


def _keywords(keys: Mapping[str, Any]) -> dict[str, str]:
    """Python names of the keys of `[trace]`, where they differ."""
    modem = {} if keys.get("symbol_rate") is None else {"loss": "errors"}
    return {"from": "from_address", "lldu": "lldu_bytes", **modem}


def _plain(argument: str, value: Any) -> str | bool | float:
    """A value of a key, which the compiled part checks."""
    if argument in _FILES:
        return file_name(argument, value)
    if argument == "lldu_bytes" and not isinstance(value, str):
        return f"{whole_bytes(argument, value)} B"
    if argument in _NUMBERED and isinstance(value, int):
        return str(value)
    if isinstance(value, str | bool | np.bool_):
        return value if isinstance(value, str) else bool(value)
    number = real(value)
    if number is None:
        raise TraceError(f"{argument} = {shown(value)}: give text or a number")
    return number


_FILES = ("losses", "receiver", "modcod_table")
_NUMBERED = ("loss", "errors", "modcod")
"""Columns without a unit, which may be given by number."""
