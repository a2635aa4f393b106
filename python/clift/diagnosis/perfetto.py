"""A run as a trace for Perfetto (ui.perfetto.dev): units, packets and the sender's window."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import clift._clift as _clift
from clift.campaign.files import write_file
from clift.simulation import Run

# Processes of the trace.
_SENDER, _LINK, _PACKETS = 1, 2, 3
_KINDS = {_clift.UNIT_NEW: "data", _clift.UNIT_AGAIN: "data again", _clift.UNIT_REPAIR: "repair"}
# Colours of Chrome's palette.
_RECEIVED, _ERASED = "good", "terrible"
_WINDOWS = 1000


def write(run: Run, path: Path) -> int:
    """Write the trace of a run; return the number of its events.

    Args:
        run: The run; it is repeated and logged.
        path: The file, replaced as a whole.

    Raises:
        OSError: If the file is not writable.
    """
    count = 0

    def fill(file: IO[bytes]) -> None:
        nonlocal count
        file.write(b'{"displayTimeUnit":"ms","traceEvents":[\n')
        for count, event in enumerate(_events(run), 1):
            file.write((",\n" if count > 1 else "").encode() + json.dumps(event).encode())
        file.write(b"\n]}\n")

    write_file(path, fill)
    return count


def _events(run: Run) -> Iterator[dict[str, Any]]:
    """Events in the JSON format of Chrome's tracing; times in microseconds."""
    for process, name in ((_SENDER, "sender"), (_LINK, "link"), (_PACKETS, "packets")):
        yield {"ph": "M", "pid": process, "name": "process_name", "args": {"name": name}}
    yield from _windows(run)
    yield from _packets(run)
    yield from _units(run)


def _windows(run: Run) -> Iterator[dict[str, Any]]:
    every_ms = max(1.0, run.summary()["duration_s"] * 1e3 / _WINDOWS)
    table = run.series(every_ms).to_pydict()
    columns = ("time_s", "flow", "cwnd_packets", "in_flight_packets", "queue_packets")
    for time, flow, window, flight, queue in zip(*(table[name] for name in columns), strict=True):
        at = {"ph": "C", "ts": time * 1e6}
        values = {"window": window, "in flight": flight}
        yield {**at, "pid": _SENDER, "name": f"flow {flow} (packets)", "args": values}
        if flow == 0:
            yield {**at, "pid": _LINK, "name": "queue (packets)", "args": {"packets": queue}}


def _packets(run: Run) -> Iterator[dict[str, Any]]:
    """Each packet with data, from its transmission to its arrival or loss or the end of the run."""
    table = run.events().to_pydict()
    sent: dict[tuple[int, int], list[tuple[int, int]]] = {}
    columns = ("time_ns", "flow", "kind", "seq", "len")
    rows = zip(*(table[name] for name in columns), strict=True)
    for number, (time, flow, kind, seq, length) in enumerate(rows):
        if kind in (_clift.SENT, _clift.SENT_AGAIN):
            sent.setdefault((flow, seq), []).append((number, kind))
            name = f"{seq}" if kind == _clift.SENT else f"{seq} again"
            known = {"pid": _PACKETS, "tid": flow, "cat": "packet", "id": number}
            yield {**known, "ph": "b", "ts": time / 1e3, "name": name, "args": {"bytes": length}}
            yield {
                **{"ph": "s", "pid": _SENDER, "tid": flow, "cat": "flow", "id": f"{flow}.{seq}"},
                **{"ts": time / 1e3, "name": "packet"},
            }
            yield {
                **{"ph": "X", "pid": _SENDER, "tid": flow, "ts": time / 1e3, "dur": 1},
                **{"name": name, "args": {"first byte": seq, "bytes": length}},
            }
        elif sent.get((flow, seq)) and kind != _clift.ACKNOWLEDGED:
            fate = "lost" if kind == _clift.GONE else "arrived"
            yield from _end(flow, seq, sent[flow, seq].pop(0), time / 1e3, fate)
    ended = run.summary()["duration_s"] * 1e6
    for (flow, seq), left in sent.items():
        for packet in left:
            yield from _end(flow, seq, packet, ended, "under way")


def _end(
    flow: int, seq: int, packet: tuple[int, int], at: float, fate: str
) -> Iterator[dict[str, Any]]:
    """The end of a packet, and of its arrow. An arrow ends at a slice."""
    number, kind = packet
    name = f"{seq}" if kind == _clift.SENT else f"{seq} again"
    place = {"pid": _PACKETS, "tid": flow, "ts": at}
    args = {"fate": fate}
    yield {**place, "ph": "e", "cat": "packet", "id": number, "name": name, "args": args}
    yield {**place, "ph": "X", "dur": 1, "name": f"{name} {fate}"}
    arrow = {"ph": "f", "bp": "e", "cat": "flow", "id": f"{flow}.{seq}", "name": "packet"}
    yield {**place, **arrow}


def _units(run: Run) -> Iterator[dict[str, Any]]:
    """Each unit of a live link, from its transmission to the next."""
    table = run.units().to_pydict()
    times = table["time_ns"]
    columns = ("link", "kind", "unit", "attempt", "arrival_ns", "flow", "seq")
    rows = zip(*(table[name] for name in columns), strict=True)
    for number, (link, kind, unit, attempt, arrival, flow, seq) in enumerate(rows):
        start = times[number]
        after = times[number + 1] if number + 1 < len(times) else start
        lasts = min(max(after - start, 1), 10**6)
        erased = arrival < 0
        yield {
            **{"ph": "X", "pid": _LINK, "tid": link, "ts": start / 1e3, "dur": lasts / 1e3},
            **{"name": _KINDS[kind] + (", erased" if erased else "")},
            **{"cname": _ERASED if erased else _RECEIVED},
            **{"args": {"unit": unit, "attempt": attempt, "first byte": seq}},
        }
        if flow >= 0:
            yield {
                **{"ph": "t", "pid": _LINK, "tid": link, "cat": "flow", "id": f"{flow}.{seq}"},
                **{"ts": start / 1e3, "name": "packet"},
            }
