"""A Linux kernel in virtual time: User-Mode Linux whose clock stands still while it computes.

A measurement in real time is as good as the machine is idle. Here the kernel runs as a program
(`ARCH=um`), without root, and its clock jumps from one timer to the next
(`time-travel=inf-cpu`): no wake-up is late, and a run of 60 s takes as long as its work. It can
also be a kernel that the machine does not run, with controls and queues which that one lacks.

    python -m validation.kernel.virtual build NAME TREE   # an unpacked source tree of Linux
    python -m validation.kernel.virtual run NAME COMMAND ...

The first leaves `target/uml/NAME`; it changes the tree's `CONFIG_HZ` to 250, which Debian's
kernels have and `timer_ticks` counts by, or to `--hz`. The second runs a command as root of such a
kernel, in the same folder of the same files, and ends with its exit code. A tree comes with
Debian's packages `linux-source-*`; building needs bison, flex and bc, and some eight minutes on two
cores.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

HERE = Path(__file__).parent
KERNELS = HERE.parents[1] / "target/uml"
MEMORY = "2G"
# Ticks per second of a kernel's clock.
HZ = 250
# Until somebody looks after a kernel that does not end: real time, s.
PATIENCE = 3600

_START = """#!/bin/sh
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs run /run
mkdir -p /dev/net /dev/pts /dev/shm /run/netns
mount -t tmpfs shm /dev/shm
mount -t devpts pts /dev/pts
[ -e /dev/net/tun ] || mknod /dev/net/tun c 10 200
ln -sf /proc/self/fd /dev/fd
ip link set lo up
cd {folder}
{command} > {out}/stdout 2> {out}/stderr < /dev/null
echo $? > {out}/exit
poweroff -f
"""


def build(name: str, tree: Path, hz: int = HZ) -> Path:
    """Builds a source tree of Linux with that `CONFIG_HZ`; returns the program.

    Raises:
        subprocess.CalledProcessError: If the tree cannot be built; `make` has said why.
    """
    machine = tree / "arch/um/Kconfig"
    text = machine.read_text()
    machine.write_text(re.sub(r"(config HZ\n\tint\n\tdefault) \d+", rf"\g<1> {hz}", text))
    make = ["make", "-s", "-j2", "ARCH=um"]
    subprocess.run([*make, "defconfig"], cwd=tree, check=True)
    with (tree / ".config").open("a") as file:
        file.write((HERE / "virtual.config").read_text())
    subprocess.run([*make, "olddefconfig"], cwd=tree, check=True)
    subprocess.run([*make, "linux"], cwd=tree, check=True)
    KERNELS.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy2(tree / "linux", KERNELS / name))


def hindrance(name: str) -> str | None:
    """Why a command cannot run in the kernel of that name; None: it can."""
    if not (KERNELS / name).exists():
        return f"no {KERNELS / name}: build it with `python -m validation.kernel.virtual build`"
    return None


def run(
    name: str, command: Sequence[str], patience: float = PATIENCE
) -> subprocess.CompletedProcess[str]:
    """Runs a command as root of a kernel in virtual time, in this folder and on these files.

    Args:
        name: Of a kernel that `build` left.
        command: A program and its arguments. Its clock begins at any time and jumps whenever all
            that runs there waits: what polls without waiting never ends.
        patience: Until a kernel that does not end is ended: real time, s.

    Returns:
        Exit code, stdout and stderr of the command.

    Raises:
        RuntimeError: If the kernel ended without the command's exit code.
        subprocess.TimeoutExpired: If it did not end.
    """
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        start = out / "start"
        words = _START.format(
            folder=shlex.quote(str(Path.cwd())),
            command=shlex.join(command),
            out=shlex.quote(folder),
        )
        start.write_text(words)
        start.chmod(0o755)
        kernel = [str(KERNELS / name), "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "rw"]
        kernel += [f"mem={MEMORY}", "con=null", "con0=null,fd:1", f"init={start}"]
        console = subprocess.run(
            [*kernel, "time-travel=inf-cpu", "seccomp=auto"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=patience,
            check=False,
        )
        if not (out / "exit").exists():
            said = console.stdout.decode(errors="replace").splitlines()[-5:]
            raise RuntimeError(f"the kernel {name} ended early: " + " | ".join(said))
        code = int((out / "exit").read_text())
        said, talk = ((out / name).read_text() for name in ("stdout", "stderr"))
        return subprocess.CompletedProcess(list(command), code, said, talk)


def asked(
    doc: str | None,
    here: Callable[..., Mapping[str, object]],
    measure: Callable[[str, list[int]], object],
    numbers: tuple[str, ...],
    count: int,
) -> int | None:
    """Measures what a comparison's command line asks for.

    Args:
        doc: Of the comparison's module; the first line describes the command.
        here: What a cell of those numbers does in this kernel.
        measure: Stores what cells, by their numbers, do in the kernel of that name.
        numbers: Names of `here`'s numbers.
        count: Cells, which are all measured if the command names none.

    Returns:
        Exit code; None: a comparison is wanted.
    """
    parser = argparse.ArgumentParser(description=doc.splitlines()[0] if doc else None)
    parser.add_argument("--measure", nargs="+", metavar=("KERNEL", "NUMBER"),
                        help="a kernel of virtual.py, and numbers of cells")  # fmt: skip
    parser.add_argument("--here", nargs=len(numbers), type=int, metavar=numbers,
                        help="a cell in this kernel, as root")  # fmt: skip
    given = parser.parse_args()
    if given.here is not None:
        print(json.dumps({**here(*given.here), "kernel": f"Linux {platform.release()}"}))
        return 0
    if given.measure:
        name, *cells = given.measure
        if reason := hindrance(name):
            print(reason, file=sys.stderr)
            return 2
        measure(name, [int(number) for number in cells] or list(range(count)))
    return None


def main() -> int:
    """Builds a kernel, or runs a command in one."""
    parser = argparse.ArgumentParser(description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    building = verbs.add_parser("build", help="build a source tree of Linux")
    building.add_argument("name")
    building.add_argument("tree", type=Path)
    building.add_argument("--hz", type=int, default=HZ, help="ticks per second of its clock")
    running = verbs.add_parser("run", help="run a command in virtual time")
    running.add_argument("name")
    running.add_argument("command", nargs=argparse.REMAINDER)
    given = parser.parse_args()
    if given.verb == "build":
        print(build(given.name, given.tree, given.hz))
        return 0
    if reason := hindrance(given.name):
        print(reason, file=sys.stderr)
        return 2
    done = run(given.name, given.command)
    sys.stdout.write(done.stdout)
    sys.stderr.write(done.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
