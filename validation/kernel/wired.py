"""A separate host behind a wire, for programs on a host of `clift live`."""

from __future__ import annotations

import ctypes
import fcntl
import os
import signal
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

from validation.kernel.forwarder import Wire, forward

_TUNSETIFF, _TUN_NO_PI = 0x400454CA, 0x1001
_NEWUSER, _NEWNET = 0x10000000, 0x40000000


def own_namespace() -> None:
    """Moves into a network namespace in which this process may do everything.

    A socket stays in the namespace that it was made in: those made before are on the host of the
    link.
    """
    user, group = os.geteuid(), os.getegid()
    _unshare(_NEWUSER | _NEWNET)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"0 {user} 1")
    Path("/proc/self/gid_map").write_text(f"0 {group} 1")


def tun(name: str, address: str, peer: str) -> int:
    """A TUN device that is up, read without blocking."""
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, _TUNSETIFF, struct.pack("16sH22x", name.encode(), _TUN_NO_PI))
    for arguments in (
        ("link", "set", "lo", "up"),
        ("addr", "add", address, "peer", peer, "dev", name),
        ("link", "set", name, "mtu", "1500", "up"),
    ):
        subprocess.run(["ip", *arguments], check=True, capture_output=True)
    return device


def neighbour(
    near: int, addresses: tuple[str, str], pair: tuple[Wire, Wire], work: Callable[[], None]
) -> int:
    """Starts a host at the other end of a wire, whose near end is `near`.

    Args:
        near: The device of `tun`.
        addresses: Of the new host, and of this one.
        pair: The wire from the new host, and the one to it.
        work: What runs on the new host.

    Returns:
        Its process, which lives until SIGTERM ends it, once it is there.
    """
    ready, told = os.pipe()
    child = os.fork()
    if child == 0:
        _unshare(_NEWNET)
        far = tun("near1", *addresses)
        stop, _ = os.pipe()
        forwarder = os.fork()
        if forwarder == 0:
            forward([far, near], pair, stop)
            os._exit(0)
        signal.signal(signal.SIGTERM, lambda *_: _end(forwarder))
        os.write(told, b".")
        work()
        signal.pause()
    os.close(told)
    if not os.read(ready, 1):
        raise OSError("the host at the other end of the wire did not start")
    return child


def _end(forwarder: int) -> None:
    os.kill(forwarder, signal.SIGKILL)
    os._exit(0)


def _unshare(what: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(what) != 0:
        raise OSError(ctypes.get_errno(), "cannot make a network namespace")
