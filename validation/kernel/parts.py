"""The first packet at which the engine and a kernel in virtual time part, in drawn cells.

    python -m validation.kernel.parts virtual 66 131

Both send the same packets at the same instants until something differs: prints how many, and what
each sent around there, with the acknowledgements that the sender had just had. Times are from the
first packet with data; two that are less than .3 ms apart are the same.
"""

from __future__ import annotations

import argparse
import json
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from clift import _clift
from clift._clift import ACKNOWLEDGED, SENT, SENT_AGAIN
from validation.kernel import virtual
from validation.kernel.beside import KEPT
from validation.kernel.drawn import DrawnCell
from validation.kernel.flow import measure
from validation.kernel.forwarder import Forwarded, forward, wires
from validation.kernel.inside import chosen
from validation.kernel.ours import setup

# The application writes a little after the handshake, and all times are from its first packet.
_SAME_NS = 300_000
_BEFORE, _AFTER = 6, 5


class Sent(NamedTuple):
    """A packet with data: when it left the host, its first byte, how many."""

    at: int
    seq: int
    length: int

    def __str__(self) -> str:
        """One line."""
        return f"{self.at / 1e6:11.3f} ms  {self.seq:9} +{self.length}"


class Log(NamedTuple):
    """What a sender sent, and the acknowledgements that it had, each with its instant."""

    sent: list[Sent]
    acks: list[tuple[int, int]]


def engine(cell: DrawnCell, window: int | None) -> Log:
    """Result of CLIFT in a cell."""
    events = _clift.events(setup(cell, window=window))
    columns = [events[name].tolist() for name in ("time_ns", "kind", "seq", "len")]
    rows = list(zip(*columns, strict=True))
    sent = [Sent(at, seq, size) for at, kind, seq, size in rows
            if kind in (SENT, SENT_AGAIN) and size > 0]  # fmt: skip
    return _from_the_first(
        Log(sent, [(at, seq) for at, kind, seq, _ in rows if kind == ACKNOWLEDGED])
    )


def kernel(name: str, cells: str, number: int) -> Log:
    """Result of a kernel in a cell.

    Raises:
        RuntimeError: If the kernel or the measurement failed.
    """
    with tempfile.TemporaryDirectory(dir=Path.cwd() / "target") as folder:
        out = Path(folder, "log.json")
        module = [
            sys.executable,
            "-m",
            "validation.kernel.parts",
            "inside",
            cells,
            str(number),
            str(out),
        ]
        done: subprocess.CompletedProcess[str] = virtual.run(name, module)
        if done.returncode != 0:
            raise RuntimeError(f"cell {number} in {name}: {done.stderr[-2000:]}")
        found = json.loads(out.read_text())
    return _from_the_first(
        Log([Sent(*one) for one in found["sent"]], [tuple(it) for it in found["acks"]])
    )


def _inside(cell: DrawnCell, out: Path) -> None:
    """Runs in the kernel: logs what comes to both wires."""

    def logged(tuns: list[int], stop: int) -> Forwarded:
        pair = wires(cell)
        for wire in pair:
            wire.log = []
        found = forward(tuns, pair, stop, read_ns=0)
        ahead, back = ([(one.at, *_tcp(one.packet)) for one in wire.log or []] for wire in pair)
        first = next(seq for _, seq, _, _, syn in ahead if syn) + 1
        sent = [(at, (seq - first) % 2**32, size) for at, seq, _, size, _ in ahead if size]
        # What comes back waits for nothing but its own way.
        way = cell.rtt_ms * 500_000
        acks = [(at + way, (ack - first) % 2**32) for at, _, ack, _, syn in back if not syn]
        out.write_text(json.dumps({"sent": sent, "acks": acks}))
        return found

    measure(cell, forwarding=logged)


def _tcp(packet: bytes) -> tuple[int, int, int, bool]:
    """Sequence number, acknowledgement, bytes of data, whether it is a SYN."""
    begins = 4 * (packet[0] & 15)
    seq, ack, offset, flags = struct.unpack_from("!IIBB", packet, begins + 4)
    total = struct.unpack_from("!H", packet, 2)[0]
    return seq, ack, total - begins - 4 * (offset >> 4), bool(flags & 2)


def _from_the_first(log: Log) -> Log:
    """With times from the first packet with data."""
    begin = log.sent[0].at
    sent = [one._replace(at=one.at - begin) for one in log.sent]
    return Log(sent, [(at - begin, seq) for at, seq in log.acks])


def parting(ours: Log, theirs: Log) -> int | None:
    """The number of the first packet that is not the same.

    >>> one = Log([Sent(0, 0, 1448), Sent(9_000, 1448, 1448)], [])
    >>> parting(one, one), parting(one, Log([Sent(0, 0, 1448), Sent(399_000, 1448, 1448)], []))
    (None, 1)
    """
    for number, (one, other) in enumerate(zip(ours.sent, theirs.sent, strict=False)):
        if one[1:] != other[1:] or abs(one.at - other.at) >= _SAME_NS:
            return number
    longer = max(len(ours.sent), len(theirs.sent))
    shorter = min(len(ours.sent), len(theirs.sent))
    return shorter if longer > shorter else None


def _show(name: str, log: Log, number: int) -> None:
    """What a sender sent around a packet, among the acknowledgements that it had."""
    print(f"  {name}:")
    begin = max(0, number - _BEFORE)
    around = log.sent[begin : number + _AFTER]
    if not around:
        return
    lines = [
        (one.at, 1, f"{'>' if at == number else ' '} sends {one}")
        for at, one in enumerate(around, begin)
    ]
    lines += [
        (at, 0, f"    has   {at / 1e6:11.3f} ms  {seq:9} acknowledged")
        for at, seq in log.acks
        if around[0].at - 1_000_000 <= at <= around[-1].at
    ]
    for _, _, line in sorted(lines, key=lambda line: line[:2]):
        print(f"    {line}")


def main() -> int:
    """Parses the command line and does it."""
    if sys.argv[1:2] == ["inside"]:
        _, _, cells, number, out = sys.argv
        _inside(chosen(cells, int(number)), Path(out))
        return 0
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("kept", choices=[name for name, kept in KEPT.items() if kept.kernel])
    parser.add_argument("cells", nargs="+", type=int)
    arguments = parser.parse_args()
    kept = KEPT[arguments.kept]
    assert kept.kernel is not None
    reason = virtual.hindrance(kept.kernel)
    if reason is not None:
        print(f"skipped: {reason}")
        return 0
    for number in arguments.cells:
        cell = chosen(kept.cells, number)
        ours, theirs = engine(cell, kept.window), kernel(kept.kernel, kept.cells, number)
        found = parting(ours, theirs)
        if found is None:
            print(f"{cell.label}: all {len(ours.sent)} packets are the same")
            continue
        print(f"{cell.label}: part at packet {found} of {len(ours.sent)} and {len(theirs.sent)}")
        _show("engine", ours, found)
        _show("kernel", theirs, found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
