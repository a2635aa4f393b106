"""Traffic of this machine's kernel for live links: TCP connections and their results.

    python -m clift.hosts.traffic serve RESULT
    python -m clift.hosts.traffic send RESULT ADDRESS --seconds 60

RESULT is a file of both hosts, so that the receiver's counts need not cross the link. `send` prints
one line of JSON: the data that the receiving application got, and the counters of the sending
host's kernel. Both take `--flows N`, the number of connections, which begin together.
"""

from __future__ import annotations

import argparse
import json
import socket
import struct
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

PORT = 5001
_TCP_INFO = 11
_RETRANSMISSIONS = 100  # its offset in `struct tcp_info`
_PATIENCE_S = 10
_HEAD = 32  # bytes of the instant and the number that a connection begins with
_CHUNK = bytes(64 * 1024)
# Timers of a kernel expire on ticks of 4 ms, distant ones on every 8th or 64th tick. Ticks are
# counted from 300 s before the clock's zero: the 56th is the first whose number 64 divides.
_TICKS_NS, _FIRST_NS = 64 * 4_000_000, 56 * 4_000_000
# A window of 1000 packets and more; the kernel keeps as much again for itself.
_SEND_BUFFER = 8 << 20


def serve(result: Path, flows: int) -> None:
    """Takes connections, counts what comes in time, and writes bytes and last instant of each.

    A connection begins with an instant of the clock that both hosts share, and its number: what
    comes later does not count. Zero: everything does.
    """
    with (
        socket.create_server(("", PORT), backlog=flows) as server,
        ThreadPoolExecutor(flows) as threads,
    ):
        counting = [threads.submit(_count, server.accept()[0]) for _ in range(flows)]
        counts = dict(one.result() for one in counting)
    partial = result.with_suffix(".partial")
    partial.write_text(json.dumps([counts[number] for number in range(flows)]))
    partial.replace(result)


def _count(connection: socket.socket) -> tuple[int, tuple[int, float]]:
    """Number of a connection, its bytes, and when the last of them came."""
    with connection:
        head = connection.recv(_HEAD, socket.MSG_WAITALL)
        if len(head) < _HEAD:
            raise OSError("the receiving host ended early")
        end, number = head.split()
        until = float(end) or None
        total, last = 0, time.monotonic()
        # A sender aborts the connection at the end of its time.
        with suppress(ConnectionResetError, TimeoutError):
            while True:
                connection.settimeout(None if until is None else max(until - last, 1e-3))
                data = connection.recv(1 << 20)
                now = time.monotonic()
                if not data or (until is not None and now > until):
                    break
                total, last = total + len(data), now
    return int(number), (total, last)


def send(
    result: Path, address: str, seconds: float, size: int, congestion: str | None, flows: int
) -> dict[str, Any]:
    """Sends for a time or a number of bytes and returns the results.

    Returns:
        `timeouts` of this host's kernel, and for each of `flows` its `goodput_kbps` as the
        receiving application counts it over the time (from the connection's first packet for a
        file), `completion_s` of a file, `retransmissions`.
    """
    before = _timeouts()
    # In step with the engine's ticks, so that timers do not differ by the phase of the host's.
    time.sleep((_FIRST_NS - time.monotonic_ns()) % _TICKS_NS / 1e9)
    began = time.monotonic()

    def one(number: int) -> int:
        return _send(number, address, began + seconds, size, congestion)

    with ThreadPoolExecutor(flows) as threads:
        again = list(threads.map(one, range(flows)))
    timeouts = _timeouts() - before
    found = []
    for retransmissions, (total, last) in zip(again, _counted(result), strict=True):
        took = last - began if size else seconds
        numbers = {"goodput_kbps": total * 8 / 1e3 / took, "retransmissions": retransmissions}
        found.append(numbers | ({"completion_s": took} if size else {}))
    return {"flows": found, "timeouts": timeouts}


def _send(number: int, address: str, end: float, size: int, congestion: str | None) -> int:
    """Sends over one connection, and returns the kernel's count of retransmissions."""
    with socket.socket() as connection:
        if congestion:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER)
        connection.connect((address, PORT))
        left = size
        # In one segment with the first data: one more packet would meet other draws of the link.
        head = f"{0 if size else end:.6f} {number}".ljust(_HEAD).encode()
        connection.sendall(head, socket.MSG_MORE)
        while left > 0 or (not size and time.monotonic() < end):
            if size:
                left -= connection.send(_CHUNK[:left])
                continue
            connection.settimeout(max(end - time.monotonic(), 0.01))
            try:
                connection.send(_CHUNK)
            except TimeoutError:
                break
        if size:
            connection.settimeout(None)
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(1):
                pass
        info = connection.getsockopt(socket.IPPROTO_TCP, _TCP_INFO, 256)
        if not size:
            # Data in the send buffer must not be sent any more.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    (again,) = struct.unpack_from("I", info, _RETRANSMISSIONS)
    return int(again)


def _counted(result: Path) -> list[tuple[int, float]]:
    """Bytes and last instant of each connection, once the receiving host has written them."""
    deadline = time.monotonic() + _PATIENCE_S
    while not result.exists():
        if time.monotonic() > deadline:
            raise OSError("the receiving host wrote no result")
        time.sleep(0.01)
    found: list[tuple[int, float]] = json.loads(result.read_text())
    return found


def _timeouts() -> int:
    """Retransmission timeouts of this host's kernel so far."""
    lines = Path("/proc/self/net/netstat").read_text().splitlines()
    for names, values in zip(lines[::2], lines[1::2], strict=True):
        table = dict(zip(names.split(), values.split(), strict=True))
        if "TCPTimeouts" in table:
            return int(table["TCPTimeouts"])
    return 0


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m clift.hosts.traffic")
    commands = parser.add_subparsers(dest="command", required=True)
    serving, sending = commands.add_parser("serve"), commands.add_parser("send")
    for command in (serving, sending):
        command.add_argument("result", type=Path)
        command.add_argument("--flows", type=int, default=1)
    sending.add_argument("address")
    sending.add_argument("--seconds", type=float, default=10)
    sending.add_argument("--bytes", type=int, default=0)
    sending.add_argument("--congestion")
    given = parser.parse_args()
    if given.command == "serve":
        serve(given.result, given.flows)
        return
    options = (given.address, given.seconds, given.bytes, given.congestion, given.flows)
    print(json.dumps(send(given.result, *options)))  # noqa: T201


if __name__ == "__main__":
    main()
