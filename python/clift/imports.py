"""Traces from what others measured: time series in columns, captures of packets."""

from __future__ import annotations

import os
from typing import Any, Literal

import clift._clift as _clift
from clift.trace import Path, PhyTrace


def import_series(
    path: Path,
    *,
    time: str,
    rate: str | None = None,
    delay: str | None = None,
    loss: str | int | None = None,
    delay_is: Literal["one-way", "rtt"] = "one-way",
    lldu_bytes: int = 1500,
    seed: int = 1,
    keep_order: bool = True,
    clock_offset: str | None = None,
    missing: str | None = None,
) -> PhyTrace:
    r"""A trace from rate, delay and loss over time, as logs of links have them.

    A row holds until the next one. The rate says how many slots there are: one follows another at
    the transmission time of an LLDU, over the borders of rows too. The delay of a row is the `d`
    of its slots, so `rtt_ns` of the trace is 0. A row without rate (or 0) or without delay is an
    outage: time passes without slots. Losses are drawn.

    A column is given by its number from 1 or its name in the header, and its unit: `"4:ms"`,
    `"rtt:ms"`. A value with a unit stands for the whole series: `"20 ms"`.

    Args:
        path: The file: commas, semicolons, tabs or white space between the columns.
        time: Column of times in `s`, `ms`, `us` or `ns`, as `date` (ISO 8601) or with a pattern:
            `"7:ms"`, `"when:date"`, `"1:%Y.%m.%d_%H.%M.%S"`.
        rate: Column in bit/s, kbit/s, Mbit/s, Gbit/s, B/s, kB/s or MB/s, or a rate. Left out: a
            slot a row.
        delay: Column in s, ms, us or ns, or a time. Left out: 1 ns.
        loss: Column of shares from 0 to 1 (`"6"`), per cent (`"6:%"`) or counts of a row
            (`"6:packets"`), or a value (`"2 %"`). Left out: none.
        delay_is: `"rtt"`: half of the delay is taken.
        lldu_bytes: Payload of a slot.
        seed: Names the draws of losses.
        keep_order: What left earlier never arrives later.
        clock_offset: Added to every delay, such as `"-3 ms"`.
        missing: What stands for a missing value beside nothing, `-`, `NaN`, `NA` and `null`.

    Returns:
        The trace; `PhyTrace.notes` says what was understood and assumed.

    Raises:
        TraceError: If the file does not hold such a series: file, line, what is wrong, the cure.

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
        delay=delay,
        loss=None if loss is None else str(loss),
        delay_is=delay_is,
        lldu=_bytes(lldu_bytes),
        seed=seed,
        keep_order=keep_order,
        clock_offset=clock_offset,
        missing=missing,
    )


def import_captures(
    sender: Path,
    receiver: Path,
    *,
    clock_offset: str | None = None,
    nat: bool = False,
    rate: str | None = None,
    lldu_bytes: int | None = None,
    keep_order: bool = False,
) -> PhyTrace:
    """A trace of delay and loss from captures of the same packets at both ends of a link.

    Every IP packet that the sender's capture has, of a direction that crosses the link, is a slot;
    its `d` is the time until the receiver's capture has it, 0 if never. Packets are matched by
    addresses, ports, protocol, IP identification, lengths, TCP sequence numbers and timestamps and
    a hash of the payload. Packets that the receiver's capture may have missed at its beginning or
    end are left out, not lost.

    Args:
        sender: pcap or pcapng of Ethernet (VLANs too), raw IP, Linux cooked or loopback frames.
        receiver: The same at the other end.
        clock_offset: Added to every delay, such as `"3 ms"` if the receiver's clock is behind by
            that. If the smallest delay is below zero without it, delays are counted from the
            smallest, which `PhyTrace.notes` then says.
        nat: Addresses and ports change on the way and are not compared.
        rate: Slots at this rate, e.g. `"5 Mbit/s"`, each with the fate of the nearest packet. Left
            out: a slot a packet.
        lldu_bytes: Payload of a slot; the longest IP packet if left out.
        keep_order: What left earlier never arrives later, instead of as measured.

    Raises:
        TraceError: If a file is no capture or damaged, or no packet is in both.

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
        receiver=os.fspath(receiver),
        clock_offset=clock_offset,
        nat=nat,
        rate=rate,
        lldu=None if lldu_bytes is None else _bytes(lldu_bytes),
        keep_order=keep_order,
    )


def _imported(path: Path, **keys: Any) -> PhyTrace:
    """The trace that a `[trace]` with these keys describes."""
    given = {key: value for key, value in keys.items() if value is not None}
    return PhyTrace.of(_clift.import_trace({"file": os.fspath(path), **given}))


def _bytes(size: int) -> str:
    return f"{size} B"
