"""A kernel's queue before a wire: a token bucket of one packet, `tbf`, with the queue as its leaf.

The bucket hands a packet on when a wire would begin to send it, and takes the next one from the
queue at once. What leaves a TUN device has no link-layer header that would count.
"""

from __future__ import annotations

import os
import socket
import struct
import subprocess

from validation.kernel.namespaces import DEVICE

HANDLE = 0x10
"""The queue's, as tc has it before the colon."""
_BURST = 1504
# Of rtnetlink.
_NEWQDISC, _KIND, _OPTIONS, _NESTED = 36, 1, 2, 0x8000
_REQUEST_CREATE_ACK = 0x1 | 0x4 | 0x400
_DUALPI2_LIMIT = 1


def shape(kind: str, arguments: list[str], rate_bps: int) -> None:
    """Puts a wire of that rate and the queue before it on the TUN device of this namespace.

    Raises:
        OSError: If the kernel lacks the queue.
    """
    _tc("root", "handle", "1:", "tbf", "rate", f"{rate_bps}bit", "burst", f"{_BURST}",
        "limit", "10000000")  # fmt: skip
    if kind == "dualpi2":
        _dualpi2(int(arguments[1]))
    else:
        _tc("parent", "1:1", "handle", f"{HANDLE:x}:", kind, *arguments)


def _tc(*words: str) -> None:
    done = subprocess.run(
        ["tc", "qdisc", "add", "dev", DEVICE, *words], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise OSError(f"tc {' '.join(words)}: {done.stderr.strip()}")


def _dualpi2(limit: int) -> None:
    """Sets DualPI2 by netlink: Debian 12's `tc` does not know it."""
    index = socket.if_nametoindex(DEVICE)
    body = struct.pack("BxxxiIII", socket.AF_UNSPEC, index, HANDLE << 16, 0x10001, 0)
    body += _attribute(_KIND, b"dualpi2\0")
    body += _attribute(_OPTIONS | _NESTED, _attribute(_DUALPI2_LIMIT, struct.pack("I", limit)))
    head = struct.pack("IHHII", 16 + len(body), _NEWQDISC, _REQUEST_CREATE_ACK, 1, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as link:
        link.bind((0, 0))
        link.send(head + body)
        error = -struct.unpack_from("i", link.recv(4096), 16)[0]
    if error:
        raise OSError(error, f"dualpi2: {os.strerror(error)}")


def _attribute(kind: int, value: bytes) -> bytes:
    return struct.pack("HH", 4 + len(value), kind) + value + bytes(-len(value) % 4)
