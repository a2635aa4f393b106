"""Traces from measurements: logs of any known kind, time series, modems, ping, packet captures."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any, Literal

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
    if keys.keys() & {"time", "receiver", "format"} or start.startswith(_CAPTURES):
        return _imported(path, most, **keys)
    try:
        kind = _clift.format_of(file_name("path", path))
    except TraceError:
        if (table := _as_table(path)) is None:
            raise
        raise table from None
    is_foreign = kind == "text" and not start.startswith((b"#", b"t_ns"))
    if is_foreign and (table := _as_table(path)) is not None:
        raise table
    return _imported(path, most, **keys)


_CAPTURES = (b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\xc3\xd4", b"\x4d\x3c\xb2\xa1", b"\xa1\xb2\x3c\x4d",
             b"\x0a\x0d\x0d\x0a")  # fmt: skip
"""First bytes of pcap, in both byte orders with microseconds and nanoseconds, and of pcapng."""
_GZIP = b"\x1f\x8b"
_IPERF = (b"[ ID]", b"Interval", b"Transfer")


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
        parts = []
        if self.table.unsure:
            parts.append("no name says the unit of " + _listed(self.table.unsure))
        if self.table.unused:
            parts.append("without " + _listed(self.table.unused))
        guess = ", ".join(["guessed here", *parts])
        return f"{table}; say which is what, with its unit ({guess}): {command}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name[:30]}`" for name in names[:6])


def _as_table(path: Path) -> TableError | None:
    """The error that says how a table in columns is imported, if the file looks like one."""
    table = guessed(_start(path, 1 << 16).decode("utf-8-sig", "replace"))
    return None if table is None else TableError(path, table)


def import_series(
    path: Path,
    *,
    time: str,
    rate: str | None = None,
    rate_is: Literal["sent", "received"] | None = None,
    delay: str | None = None,
    loss: str | int | None = None,
    delay_is: Literal["one-way", "rtt"] = "one-way",
    lldu_bytes: int | None = None,
    seed: int = 1,
    keep_order: bool = True,
    clock_offset: str | None = None,
    missing: str | None = None,
    max_hold: str | None = None,
) -> PhyTrace:
    r"""Make a trace from a log of rate, delay and loss over time.

    A row holds until the next one. The rate determines the number of slots: each starts one LLDU
    transmission time after the one before it, also across rows. The delay of a row is the `d` of
    its slots, so `rtt_ns` of the trace is 0. A row without rate (or 0) or without delay is an
    outage: time passes without slots. Losses are drawn at random.

    A column is given by its number from 1 or its name in the header, and its unit: `"4:ms"`,
    `"rtt:ms"`. A value with a unit applies to the whole series: `"20 ms"`.

    Args:
        path: The file: commas, semicolons, tabs or white space between the columns.
        time: Column of times in `s`, `ms`, `us` or `ns`, as `date` (ISO 8601) or with a pattern:
            `"7:ms"`, `"when:date"`, `"1:%Y.%m.%d_%H.%M.%S"`.
        rate: Column in bit/s, kbit/s, Mbit/s, Gbit/s, B/s, kB/s or MB/s, or a rate. Default: one
            slot per row.
        rate_is: Data that the rate counts: `"sent"` (the default), or `"received"`, to which the
            lost data is added, so that the loss counts once.
        delay: Column in s, ms, us or ns, or a time. Default: 1 ns.
        loss: Column of shares from 0 to 1 (`"6"`), per cent (`"6:%"`) or counts of a row
            (`"6:packets"`), or a value (`"2 %"`). Default: no losses.
        delay_is: `"rtt"`: the delays are round-trip times; half of each is used.
        lldu_bytes: Payload of a slot in bytes; default: 1500.
        seed: Seed of the losses.
        keep_order: A packet never arrives before one sent earlier.
        clock_offset: Time added to every delay, such as `"-3 ms"`.
        missing: Marker of a missing value, as are an empty field, `-`, `NaN`, `NA` and `null`.
        max_hold: Longest time for which a row holds, such as `"5 s"`; then an outage begins. For
            logs with pauses. Default: until the next row.

    Returns:
        The trace; `PhyTrace.notes` lists what was understood and assumed.

    Raises:
        TraceError: If the file is not such a series: file, line, fault and cure.

    Example:
        >>> import pathlib, tempfile
        >>> import clift
        >>> folder = tempfile.TemporaryDirectory()
        >>> path = pathlib.Path(folder.name, "log.csv")
        >>> _ = path.write_text("s,down\n0,12\n0.5,-\n1,6\n")
        >>> phy = clift.import_series(path, time="s:s", rate="down:kbit/s", delay="20 ms",
        ...                           lldu_bytes=250)
        >>> phy.t_ns // 10**6, phy.d_ns // 10**6
        (array([   0,  166,  333, 1000, 1333]), array([20, 20, 20, 20, 20]))
        >>> phy.notes["understood"][2]
        'rate is column 2 `down` in kbit/s'
        >>> folder.cleanup()
    """
    return _imported(
        path,
        format="series",
        time=time,
        rate=rate,
        rate_is=rate_is,
        max_hold=max_hold,
        delay=delay,
        loss=None if loss is None else str(loss),
        delay_is=delay_is,
        lldu=None if lldu_bytes is None else _bytes(lldu_bytes),
        seed=seed,
        keep_order=keep_order,
        clock_offset=clock_offset,
        missing=missing,
    )


def import_modem(
    path: Path,
    *,
    time: str,
    symbol_rate: str,
    esn0: str | None = None,
    cn0: str | None = None,
    modcod: str | int | None = None,
    modcod_table: Path | None = None,
    frame_symbols: int | None = None,
    margin: str | None = None,
    acm_delay: str | None = None,
    errors: str | int | None = None,
    delay: str | None = None,
    delay_is: Literal["one-way", "rtt"] = "one-way",
    seed: int = 1,
    keep_order: bool = True,
    clock_offset: str | None = None,
    missing: str | None = None,
) -> PhyTrace:
    r"""Make a trace of frames from a modem's log of Es/N0 or C/N0, MODCOD and frame errors.

    A row holds until the next one. Frames follow one another; each lasts as long as its symbols and
    carries the bytes of its MODCOD (`PhyTrace.slot_bytes`). Coding is constant
    (`modcod="QPSK 3/4"`), variable (`modcod="5"`, the column of MODCODs) or adaptive (without
    `modcod`). Adaptive coding selects the most efficient MODCOD whose threshold + `margin` is at
    most the Es/N0 of `acm_delay` before the frame starts, or the MODCOD with the lowest threshold.
    A frame is lost if the Es/N0 of its row is below its MODCOD's threshold, or missing; with
    `errors`, at the logged rate.

    Columns are written as for `import_series`; a value with a unit stands for all rows.

    Args:
        path: The log.
        time: Column of times, such as `"1:s"` or `"when:date"`.
        symbol_rate: Symbol rate, such as `"5 MBd"`.
        esn0: Column or value of Es/N0, `"4:dB"`.
        cn0: Column or value of C/N0, `"4:dBHz"`, converted to Es/N0 by the symbol rate.
        modcod: A MODCOD, or a column of names (`QPSK 3/4`, `8psk_2/3`) or of DVB-S2's numbers, 1 to
            28. A row without one sends nothing.
        modcod_table: `"dvb-s2"` (ETSI EN 302 307-1, table 13), `"dvb-s2x"` (that and EN 302 307-2,
            table 20a; the default), `"dvb-s2-short"` (five MODCODs with the frame error rates of a
            decoder), or a file of TOML or CSV with `name`, `efficiency` in bit/symbol,
            `threshold_db` and perhaps `symbols` of a frame and, in TOML, `curve`.
        frame_symbols: Symbols per frame, if they differ from the table's.
        margin: Margin of adaptive coding, such as `"1 dB"`; default: none.
        acm_delay: Age of the Es/N0 that adaptive coding uses, such as `"500 ms"`; default: 0.
        errors: Column of frame errors as shares (`"6"`), per cent (`"6:%"`) or counts
            (`"6:packets"`); with a column of MODCODs only.
        delay: Column or value of the delay in addition to a frame's own duration.
        delay_is: `"rtt"`: the delays are round-trip times; half of each is used.
        seed: Seed of the frame errors.
        keep_order: A frame never arrives before one sent earlier.
        clock_offset: Time added to every delay.
        missing: Marker of a missing value, as are an empty field, `-`, `NaN`, `NA` and `null`.

    Returns:
        The trace; `PhyTrace.notes` lists what was understood and assumed, and the number of frames
        of each MODCOD.

    Raises:
        TraceError: If the file is not such a log: file, line, fault and cure.

    Example:
        >>> import pathlib, tempfile
        >>> import clift
        >>> folder = tempfile.TemporaryDirectory()
        >>> path = pathlib.Path(folder.name, "modem.csv")
        >>> _ = path.write_text("s,esn0\n0,10\n1,2.5\n2,10\n")
        >>> phy = clift.import_modem(path, time="s:s", esn0="esn0:dB", symbol_rate="50 kBd",
        ...                          margin="1 dB")
        >>> phy.slot_bytes
        array([5370, 5370, 5370, 5370, 4421, 4421, 5370, 5370])
        >>> phy.notes["understood"][-1]
        'frames: 16APSK 2/3 6, QPSK 11/20 2'
        >>> folder.cleanup()
    """
    return _imported(
        path,
        format="series",
        time=time,
        symbol_rate=symbol_rate,
        esn0=esn0,
        cn0=cn0,
        modcod=None if modcod is None else str(modcod),
        modcod_table=None if modcod_table is None else file_name("modcod_table", modcod_table),
        frame_symbols=frame_symbols,
        margin=margin,
        acm_delay=acm_delay,
        loss=None if errors is None else str(errors),
        delay=delay,
        delay_is=delay_is,
        seed=seed,
        keep_order=keep_order,
        clock_offset=clock_offset,
        missing=missing,
    )


def import_ping(
    path: Path,
    *,
    interval: str | None = None,
    rate: str | None = None,
    lldu_bytes: int = 1500,
    keep_order: bool = True,
) -> PhyTrace:
    r"""Make a trace from output of `ping`: round-trip times and unanswered probes.

    The format is that of iputils, with and without `-D` and `-O`; BusyBox, BSD and macOS print
    similar lines. Dates before the lines, as of `ts`, are times too.

    This direction gets half of each round-trip time: `rtt_ns` of the trace is the smallest
    round-trip time, and `d` is half of the excess over it, plus 1 ns. An unanswered probe counts as
    lost in this direction, although its answer may have been lost on the way back. A
    probe's sending time is the time of its line minus its round-trip time (`-D`), or probes are
    evenly spaced.

    Args:
        path: Output of one run of ping.
        interval: Time between probes, such as `"200 ms"`, if the lines have no times. Default: from
            the summary, else 1 s.
        rate: Make slots at this rate, e.g. `"5 Mbit/s"`, each with the fate of the nearest probe.
            Default: one slot per probe.
        lldu_bytes: Payload of a slot in bytes.
        keep_order: A packet never arrives before one sent earlier.

    Returns:
        The trace; `PhyTrace.notes` lists what was understood and assumed.

    Raises:
        TraceError: If the file is not output of ping: file, line, fault and cure.

    Example:
        >>> import pathlib, tempfile
        >>> import clift
        >>> folder = tempfile.TemporaryDirectory()
        >>> path = pathlib.Path(folder.name, "ping.log")
        >>> _ = path.write_text(
        ...     "64 bytes from 192.0.2.1: icmp_seq=1 ttl=52 time=600 ms\n"
        ...     "64 bytes from 192.0.2.1: icmp_seq=3 ttl=52 time=620 ms\n"
        ... )
        >>> phy = clift.import_ping(path, interval="200 ms")
        >>> phy.t_ns // 10**6, phy.d_ns, phy.rtt_ns
        (array([  0, 200, 400]), array([       1,        0, 10000001]), 600000000)
        >>> folder.cleanup()
    """
    return _imported(
        path,
        format="ping",
        interval=interval,
        rate=rate,
        lldu=_bytes(lldu_bytes),
        keep_order=keep_order,
    )


def import_captures(
    sender: Path,
    receiver: Path,
    *,
    clock_offset: str | None = None,
    nat: bool = False,
    from_address: str | None = None,
    rate: str | None = None,
    lldu_bytes: int | None = None,
    keep_order: bool = False,
) -> PhyTrace:
    """Make a trace of delay and loss from captures of the same packets at both ends of a link.

    Each IP packet in the sender's capture, of the direction that crosses the link, becomes a slot.
    Its `d` is the time until it appears in the receiver's capture, or 0 if it never does. Packets
    are matched by addresses, ports, protocol, IP identification, lengths, TCP sequence numbers and
    timestamps, and a hash of the payload. Packets at the beginning or end that the receiver's
    capture may have missed are left out, not counted as lost.

    Args:
        sender: pcap or pcapng of Ethernet (also with VLANs), raw IP, Linux cooked or loopback
            frames.
        receiver: Capture at the other end.
        clock_offset: Time added to every delay, such as `"3 ms"` if the receiver's clock is 3 ms
            behind. Without it, a negative smallest delay makes delays relative to the smallest, and
            `PhyTrace.notes` says so.
        nat: Addresses and ports change on the way, so they are not compared.
        from_address: Use only packets of the sender's capture from this address, such as
            `"10.0.0.1"`. Default: all packets, at least half of which must be in both captures.
        rate: Make slots at this rate, e.g. `"5 Mbit/s"`, each with the fate of the nearest packet.
            Default: one slot per packet.
        lldu_bytes: Payload of a slot in bytes; default: 1500, or the longest IP packet if longer.
        keep_order: A packet never arrives before one sent earlier; default: as measured.

    Raises:
        TraceError: If a file is not a capture or damaged, or no packet is in both captures.

    Example:
        >>> import clift
        >>> try:
        ...     clift.import_captures("sender.pcap", "receiver.pcap")
        ... except clift.TraceError as error:
        ...     print(error)
        sender.pcap: cannot be opened: No such file or directory
    """
    return _imported(
        sender,
        format="capture",
        receiver=file_name("receiver", receiver),
        clock_offset=clock_offset,
        **({} if from_address is None else {"from": from_address}),
        nat=nat,
        rate=rate,
        lldu=None if lldu_bytes is None else _bytes(lldu_bytes),
        keep_order=keep_order,
    )


def _imported(path: Path, most: int | None = None, /, **keys: Any) -> PhyTrace:
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


def _keywords(keys: Mapping[str, Any]) -> dict[str, str]:
    """Python names of the keys of `[trace]`, where they differ."""
    modem = {"loss": "errors"} if "symbol_rate" in keys else {}
    return {"from": "from_address", "lldu": "lldu_bytes", **modem}


def _plain(argument: str, value: Any) -> str | bool | float:
    """A value of a key, which the compiled part checks."""
    if isinstance(value, os.PathLike):
        return file_name(argument, value)
    if isinstance(value, str | bool | np.bool_):
        return value if isinstance(value, str) else bool(value)
    number = real(value)
    if number is None:
        raise TraceError(f"{argument} = {shown(value)}: give text or a number")
    return number


def _bytes(size: int) -> str:
    return f"{whole_bytes('lldu_bytes', size)} B"
