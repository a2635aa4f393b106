"""Two network namespaces with a TUN device each: two hosts with a wire that a program forwards."""

from __future__ import annotations

import ctypes
import fcntl
import os
import shutil
import struct
import subprocess
from pathlib import Path
from types import TracebackType

DEVICE = "sat0"
ADDRESSES = ("192.0.2.1", "192.0.2.2")
_NAMES = Path("/var/run/netns")
_TUN = Path("/dev/net/tun")
_CLONE_NEWNET = 0x40000000
_TUNSETIFF = 0x400454CA
_IFF_TUN, _IFF_NO_PI = 0x0001, 0x1000
_SETTINGS = ("net.ipv4.tcp_no_metrics_save=1", "net.ipv6.conf.all.disable_ipv6=1")


def hindrance(congestion: tuple[str, ...] = ()) -> str | None:
    """Says why namespaces, TUN devices or a congestion control cannot be had; None: they can."""
    if os.geteuid() != 0:
        return "not root"
    if shutil.which("ip") is None:
        return "no `ip` (iproute2)"
    if not _TUN.exists():
        return f"no {_TUN}"
    available = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
    try:
        missing = set(congestion) - set(available.read_text().split())
    except OSError as error:
        return str(error)
    if missing:
        return f"the kernel lacks {', '.join(sorted(missing))}"
    try:
        with Hosts(f"clift-try-{os.getpid()}"):
            return None
    except (OSError, subprocess.CalledProcessError) as error:
        return f"no network namespaces: {error}"


def enter(name: str) -> None:
    """Moves the calling thread into a network namespace."""
    libc = ctypes.CDLL(None, use_errno=True)
    with (_NAMES / name).open() as file:
        if libc.setns(file.fileno(), _CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), f"cannot enter the network namespace {name}")


class Hosts:
    """A sending and a receiving host; `tuns` are the ends of their wires, read without blocking.

    The calling thread is back in its own namespace afterwards.
    """

    def __init__(self, name: str, settings: tuple[str, ...] = ()) -> None:
        """`settings` of both hosts, as sysctl reads them."""
        self.settings = _SETTINGS + settings
        self.names = (f"{name}a", f"{name}b")
        self.tuns: list[int] = []

    def __enter__(self) -> Hosts:
        home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        try:
            for name, address, peer in zip(self.names, ADDRESSES, ADDRESSES[::-1], strict=True):
                _ip("netns", "add", name)
                enter(name)
                self.tuns.append(open_tun())
                for setting in self.settings:
                    _write_setting(setting)
                _ip("link", "set", "lo", "up")
                _ip("addr", "add", address, "peer", peer, "dev", DEVICE)
                _ip("link", "set", DEVICE, "mtu", "1500", "up")
        except BaseException:
            self._remove()
            raise
        finally:
            ctypes.CDLL(None, use_errno=True).setns(home, _CLONE_NEWNET)
            os.close(home)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._remove()

    def _remove(self) -> None:
        for tun in self.tuns:
            os.close(tun)
        self.tuns.clear()
        for name in self.names:
            if (_NAMES / name).exists():
                _ip("netns", "del", name)


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True)


def open_tun(device: str = DEVICE) -> int:
    """A TUN device in the namespace that the calling thread is in, read without blocking."""
    tun = os.open(_TUN, os.O_RDWR | os.O_NONBLOCK)
    request = struct.pack("16sH22x", device.encode(), _IFF_TUN | _IFF_NO_PI)
    fcntl.ioctl(tun, _TUNSETIFF, request)
    return tun


def _write_setting(setting: str) -> None:
    name, value = setting.split("=")
    file = Path("/proc/sys") / name.replace(".", "/")
    if file.exists():
        file.write_text(value)
