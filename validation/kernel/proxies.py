"""Split TCP on a real kernel: two sockets joined by a relay, over a live link, beside the engine.

    python -m validation.kernel.proxies             # the kept measurements
    python -m validation.kernel.proxies --measure   # measure missing cells (root; some minutes)

Source and proxy stand 10 ms apart (20 Mbit/s, a TUN wire of `forwarder.py`); the proxy sends over
the link of `clift live`, and the destination is its other end. The relay is a loop around `recv`
and `send` that hands on no more than the send buffer of the cell (by SIOCOUTQ). It opens its own
connection when the source's is accepted, which is a round trip of the wire (20 ms) later than the
engine's proxy, which does so at the SYN. What is compared is the time from the source's first SYN
to the last byte at the destination. A run whose link was late is made again, up to three times.
`proxies.csv` keeps what was measured.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import random
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from validation.kernel.forwarder import Wire
from validation.kernel.relay import room
from validation.kernel.wired import neighbour, own_namespace, tun

if TYPE_CHECKING:
    import clift

ROOT = Path(__file__).parents[2]
FILE = Path(__file__).parent / "proxies.csv"
MODULE = "validation.kernel.proxies"
NEAR = ("10.99.0.1", "10.99.0.2")
NEAR_BPS, NEAR_MS = 20_000_000, 10
PORT = 5001
BOUND = 0.10
TRIES = 3
_CHUNK = 1448 * 8


class Cell(NamedTuple):
    """A link, a file and a proxy."""

    congestion: str
    scheme: str
    erasures: float
    file_kb: int
    buffer_kb: int

    def text(self) -> str:
        """The scenario of the link, without the proxy."""
        loss = f'erasures = {self.erasures}\nburst = 4\nmodel = "gilbert-elliott"'
        if self.erasures == 0:
            loss = 'erasures = 0\nmodel = "bernoulli"'
        return f"""
duration = "60 s"
seed = 1
scheme = "{self.scheme}"
[channel]
{loss}
rate = "2340 kbit/s"
lldu = "33 B"
decoding = "1 ms"
[link]
rtt = "500 ms"
queue = "300 packets"
wrap = true
live = true
"""

    def engine(self) -> clift.Scenario:
        """The same with source, wire and proxy, for the engine."""
        import clift  # the hosts' processes start faster without

        name = "newreno" if self.congestion == "reno" else self.congestion
        near = f'rate = "{NEAR_BPS // 1_000_000} Mbit/s", delay = "{NEAR_MS} ms"'
        text = (
            self.text()
            + f"""
[application]
type = "file"
size = "{self.file_kb} kB"
[transport]
congestion = "{name}"
[[path]]
leg = {{ {near} }}
[[path]]
pep = {{ buffer = "{self.buffer_kb} kB", receive_buffer = "8 MB" }}
"""
        )
        head, _, link = text.partition("scheme = ")
        scheme, _, rest = link.partition("[channel]")
        channel, _, rest = rest.partition("[link]")
        usage, _, rest = rest.partition("[application]")
        hop = f"[[path]]\nscheme = {scheme}[path.channel]{channel}[path.link]{usage}"
        return clift.Scenario.parse(head + "[application]" + rest + hop)


CELLS = (
    Cell("cubic", "none", 0, 100, 8000),
    Cell("cubic", "none", 0, 1000, 8000),
    Cell("cubic", "none", 0, 3000, 8000),
    Cell("reno", "none", 0, 1000, 8000),
    Cell("bbr", "none", 0, 1000, 8000),
    Cell("cubic", "ARQ", 0.01, 100, 8000),
    Cell("cubic", "ARQ", 0.01, 1000, 8000),
    Cell("reno", "ARQ", 0.01, 3000, 8000),
    Cell("cubic", "HARQ(10/12)", 0.01, 300, 8000),
    Cell("reno", "HARQ(10/12)", 0.01, 1000, 8000),
    Cell("cubic", "none", 0, 1000, 64),
    Cell("cubic", "none", 0, 300, 32),
)
# Drawn before anything was compared: losses behind the proxy, for TCP itself or for the scheme.
SEED = "proxies under loss 1"
CHANNELS = range(1, 21)


def lossy() -> list[Cell]:
    """Ten cells with losses, drawn once by seed.

    An erasure probability of .0002 in bursts of 4 LLDUs loses about .25 % of the packets of 1500
    bytes where nothing repairs them.

    >>> len(set(lossy()))
    10
    """
    draw = random.Random(SEED)
    found: list[Cell] = []
    for at in range(10):
        scheme = ("none", "none", "ARQ", "HARQ(10/12)", "HARQ(10/15)")[at % 5]
        erasures = draw.choice((0.0002, 0.001) if scheme == "none" else (0.005, 0.02))
        control = draw.choice(("cubic", "reno", "bbr"))
        found.append(Cell(control, scheme, erasures, draw.choice((300, 1000, 3000)), 8000))
    return found


def engine(cell: Cell, seed: int = 1) -> float:
    """Completion in the engine over the channel of that seed, s."""
    import clift

    found = clift.simulate(cell.engine().replace(seed=seed)).completion_s
    assert found is not None
    return found


def live(cell: Cell) -> tuple[float, bool]:
    """Completion on this kernel, s, and whether the link was in time.

    Raises:
        OSError: If the run failed.
    """
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "link.toml").write_text(cell.text())
        me = f"{sys.executable} -m {MODULE} --role"
        size = cell.file_kb * 1000
        command = [sys.executable, "-m", "clift", "live", "--congestion", cell.congestion]
        command += ["--report", str(place / "report.json")]
        command += ["--serve", f"{me} serve {place} {size}", str(place / "link.toml"), "--"]
        command += [*me.split(), "relay", str(place), str(size), "{peer}"]
        command += [str(cell.buffer_kb * 1000), cell.congestion]
        ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        try:
            started = int((place / "started").read_text())
            arrived = int((place / "arrived").read_text())
        except (OSError, ValueError):
            raise OSError(ran.stderr or ran.stdout) from None
        counts = json.loads((place / "report.json").read_text()).get("counts", ran.returncode == 0)
        return (arrived - started) / 1e9, bool(counts)


def measure_all() -> None:
    """Measures the cells that are not kept yet, and keeps them."""
    rows = kept()
    done = {tuple(row[name] for name in Cell._fields) for row in rows}
    kernel = re.match(r"[0-9.]+", platform.release())
    for cell in (*CELLS, *lossy()):
        if tuple(map(str, cell)) in done:
            continue
        for _ in range(TRIES):
            took, counts = live(cell)
            if counts:
                break
        found = {"live_s": f"{took:.3f}", "counts": str(counts)}
        words = {name: str(value) for name, value in cell._asdict().items()}
        rows.append({**words, **found, "kernel": f"Linux {kernel[0] if kernel else '?'}"})
        print(*rows[-1].values(), flush=True)
        with FILE.open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0], lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


def kept() -> list[dict[str, str]]:
    """The rows that were measured."""
    if not FILE.exists():
        return []
    with FILE.open() as file:
        return list(csv.DictReader(file))


# --- the hosts: what runs in the namespaces of `clift live` ---


def serve(place: Path, size: int) -> None:
    """The destination: notes when the last byte is there."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("", PORT))
        listener.listen(1)
        (place / "listening").touch()
        connection, _ = listener.accept()
    with connection:
        left, buffer = size, bytearray(1 << 18)
        while left > 0 and (count := connection.recv_into(buffer)):
            left -= count
        now = time.monotonic_ns()
        if left == 0:
            (place / "arriving").write_text(str(now))
            (place / "arriving").rename(place / "arrived")
        while connection.recv_into(buffer):
            pass


def relay(place: Path, size: int, peer: str, buffer: int, congestion: str) -> None:
    """The proxy, and beside it the source on a separate host behind a wire."""
    outgoing = socket.socket()
    outgoing.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    own_namespace()
    near = tun("near0", NEAR[1], NEAR[0])
    with socket.socket() as listener:
        listener.bind((NEAR[1], PORT))
        listener.listen(1)
        wire, back = (Wire(NEAR_BPS, NEAR_MS * 1_000_000) for _ in range(2))
        child = neighbour(near, NEAR, (wire, back), lambda: _source(place, size, congestion))
        incoming, _ = listener.accept()
    outgoing.connect((peer, PORT))
    for piece in _pieces(incoming, outgoing, buffer):
        outgoing.sendall(piece)
    outgoing.shutdown(socket.SHUT_WR)
    deadline = time.monotonic() + 60
    while not (place / "arrived").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(child, signal.SIGTERM)
    os.waitpid(child, 0)


def _pieces(incoming: socket.socket, outgoing: socket.socket, buffer: int) -> Iterator[bytes]:
    """What may be handed on: the send buffer holds what is not acknowledged."""
    while True:
        left = room(outgoing, buffer)
        if left < min(1448, buffer):
            select.select([], [], [], 0.001)
            continue
        piece = incoming.recv(min(left, _CHUNK))
        if not piece:
            return
        yield piece


def _source(place: Path, size: int, congestion: str) -> None:
    """What the source's host does; it keeps the connection until it is asked to end."""
    with socket.socket() as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())
        (place / "started").write_text(str(time.monotonic_ns()))
        connection.connect((NEAR[1], PORT))
        connection.sendall(bytes(size))
        connection.shutdown(socket.SHUT_WR)
        signal.pause()


def main() -> int:
    """Prints the cells; 1 if fewer than nine in ten are within the bound."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--role", nargs="+", help=argparse.SUPPRESS)
    given = parser.parse_args()
    match given.role:
        case ["serve", place, size]:
            serve(Path(place), int(size))
            return 0
        case ["relay", place, size, peer, buffer, congestion]:
            relay(Path(place), int(size), peer, int(buffer), congestion)
            return 0
    if given.measure:
        measure_all()
    cells = {tuple(map(str, cell)): cell for cell in (*CELLS, *lossy())}
    off, outside = [], 0
    for row in kept():
        cell, took = cells[tuple(row[name] for name in Cell._fields)], float(row["live_s"])
        words = f"{', '.join(map(str, cell))}: kernel {took:.3f} s, engine"
        if cell in lossy():
            # The relay connects later, so that its packets meet other losses.
            drawn = sorted(engine(cell, seed) for seed in CHANNELS)
            outside += not drawn[0] <= took <= drawn[-1]
            print(f"{words} {drawn[0]:.3f} to {drawn[-1]:.3f} s, median {median(drawn):.3f} s")
            continue
        off.append(abs(engine(cell) / took - 1))
        print(f"{words} {engine(cell):.3f} s {'' if row['counts'] == 'True' else 'late'}")
    within = sum(one <= BOUND for one in off)
    print(f"{within} of {len(off)} cells within {BOUND:.0%}, median {median(off):.1%}")
    print(f"{outside} of {len(lossy())} cells with losses outside the engine's range")
    return int(within < 0.9 * len(off) or outside > 1)


if __name__ == "__main__":
    sys.exit(main())
