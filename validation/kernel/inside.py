"""What runs inside a kernel in virtual time: one cell of a set, its result as a line of JSON.

python -m validation.kernel.virtual run 7.2 python -m validation.kernel.inside drawn 3
"""

from __future__ import annotations

import dataclasses
import json
import platform
import subprocess
import sys
from functools import partial

from validation.kernel import virtual
from validation.kernel.controls import controls
from validation.kernel.drawn import DrawnCell, drawn
from validation.kernel.flow import Measured, measure
from validation.kernel.forwarder import Forwarded, forward, wires
from validation.kernel.named import named
from validation.kernel.unseen import (
    EIGHTH,
    FIFTH,
    FOURTH,
    SECOND,
    SEVENTH,
    SIXTH,
    THIRD,
    bbr_files,
    unseen,
)

SETS = {
    "drawn": drawn,
    "controls": controls,
    "named": named,
    "unseen": partial(unseen, SECOND),
    "third": partial(unseen, THIRD),
    "fourth": partial(unseen, FOURTH),
    "fifth": partial(unseen, FIFTH),
    "sixth": partial(unseen, SIXTH),
    "seventh": partial(unseen, SEVENTH),
    "eighth": partial(unseen, EIGHTH),
    "bbr-files": bbr_files,
}
"""Cells by the name of their set."""


def chosen(cells: str, number: int) -> DrawnCell:
    """The cell of that number in a set.

    >>> chosen("unseen", 158).label
    '158: hybla, 0.567 Mbit/s, 30 ms, queue 2, 2158 kB'
    """
    (cell,) = (it for it in SETS[cells]() if it.number == number)
    return cell


def measure_in(kernel: str, cells: str, number: int) -> tuple[str, Measured]:
    """Measures a cell in a kernel in virtual time; no lateness, the same result each time.

    Args:
        kernel: Name of a kernel that `virtual.build` left.
        cells: Name of a set.
        number: Of the cell in it.

    Returns:
        The kernel's version, and what it did.

    Raises:
        RuntimeError: If the kernel or the measurement failed.
    """
    module = [sys.executable, "-m", "validation.kernel.inside", cells, str(number)]
    done: subprocess.CompletedProcess[str] = virtual.run(kernel, module)
    if done.returncode != 0:
        raise RuntimeError(f"cell {number} in {kernel}: {done.stderr[-2000:]}")
    found = json.loads(done.stdout.splitlines()[-1])
    return found.pop("release"), Measured(**found)


def main(cells: str, number: int) -> None:
    """Measures a cell in this kernel and prints what it did, without the samples."""
    cell = chosen(cells, number)

    def without_wait(tuns: list[int], stop: int) -> Forwarded:
        return forward(tuns, wires(cell), stop, read_ns=0)

    measured = dataclasses.replace(measure(cell, forwarding=without_wait), samples=[])
    print(json.dumps(dataclasses.asdict(measured) | {"release": platform.release()}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
