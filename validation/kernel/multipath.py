"""Multipath TCP of a kernel beside CLIFT's: goodput, and the share of each path.

    python -m validation.kernel.multipath              # with the measurements there are
    python -m validation.kernel.multipath --measure    # of a kernel in virtual time; half an hour

`multipath.csv` keeps what a kernel 7.2 did in the cells of `multipath_cells`. Linux has no coupled
control: those of multipath-tcp.org were built into it. They count acknowledgements, as their source
does, or segments acknowledged, as the RFC has it; `counts` says which.
"""

from __future__ import annotations

import argparse
import json
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import clift
from validation.kernel import kept, virtual
from validation.kernel.multipath_cells import Cell, cells
from validation.kernel.multipath_hosts import Measured

TABLE = Path(__file__).with_name("multipath.csv")
KERNEL = "7.2-mptcp"
# Of Linux.
SCHEDULER = "least linger"
COUPLED = ("lia", "olia", "balia")
_DRAWS = 12


class Did(NamedTuple):
    """Goodput, that of the TCP beside it, in kbit/s, and the first path's share of the payload."""

    goodput_kbps: float
    share: float
    rival_kbps: float


def scenario(cell: Cell, window: int, scheduler: str) -> str:
    """A cell as a scenario of CLIFT, with the window that the kernel announced at most."""
    links = []
    for number, path in enumerate(cell.paths[:1] if cell.shared else cell.paths):
        rate = f'rate = "{path.mbps} Mbit/s", delay = "{path.delay_ms} ms"'
        fates = f"lost_data = {cell.lost(number)}"
        if path.out_until_s:
            fates = f'outages = [["{path.out_from_s} s", "{path.out_until_s} s"]]'
        links.append(
            f'[network.links.p{number}]\nfrom = "a"\nto = "b"\n'
            f'leg = {{ {rate}, queue = "{path.queue} packets", {fates} }}\n'
            f"return.leg = {{ {rate} }}\n"
        )
    linux = "linux = { window_growth = false }"
    names = [["p0" if cell.shared else f"p{number}"] for number in range(len(cell.paths))]
    way = f"route = {names[0]}"
    if len(names) > 1:
        way = f'paths = {names}\npath_scheduler = "{scheduler}"'
    fixed = "" if cell.buffer is None else f', receive_window = "{window} B"'
    flow = (
        f'[[flow]]\nfrom = "a"\nto = "b"\n{way}\n'
        f'transport = {{ congestion = "{cell.congestion}", {linux}{fixed} }}\n'
    ).replace("'", '"')
    rival = f'[[flow]]\nfrom = "a"\nto = "b"\ntransport = {{ congestion = "newreno", {linux} }}\n'
    return f'duration = "{cell.seconds} s"\n{"".join(links)}{flow}{rival if cell.shared else ""}'


def engine(cell: Cell, window: int, scheduler: str = SCHEDULER) -> Did:
    """What CLIFT does in a cell."""
    run = clift.simulate(tomllib.loads(scenario(cell, window, scheduler))).summary()
    flow, *rivals = run["flows"]
    carried = [path["path_bytes"] for path in flow.get("paths", [])] or [1]
    rival = sum(float(other["goodput_kbps"]) for other in rivals)
    return Did(float(flow["goodput_kbps"]), carried[0] / sum(carried), rival)


def draws(cell: Cell, window: int) -> list[float]:
    """Goodput in kbit/s over other draws of the losses: what one run can be."""
    tables = tomllib.loads(scenario(cell, window, SCHEDULER))
    for link, path in zip(tables["network"]["links"].values(), cell.paths, strict=True):
        link["leg"] |= {"loss": path.loss, "lost_data": []}
    runs = (clift.simulate(tables | {"seed": seed}) for seed in range(1, _DRAWS + 1))
    return sorted(float(run.goodput_kbps) for run in runs)


class Row(NamedTuple):
    """A cell, what coupled controls count in it, and what the kernel did."""

    cell: Cell
    counts: str
    kernel: Measured


def recorded() -> Iterator[Row]:
    """The cells that were measured."""
    known = {cell.label: cell for cell in cells()}
    for row in kept.read(TABLE):
        figures = (float(row["goodput_kbps"]), float(row["share"]), float(row["rival_kbps"]))
        measured = Measured(*figures, int(row["window"]), row["kernel"])
        yield Row(known[row["cell"]], row["counts"], measured)


def measure_all() -> None:
    """Measures the cells without coupling that the table does not have, in virtual time."""
    rows = kept.read(TABLE)
    have = {row["cell"] for row in rows}
    for number, cell in enumerate(cells()):
        if cell.label in have or cell.congestion in COUPLED:
            continue
        module = [sys.executable, "-m", "validation.kernel.multipath_hosts", str(number)]
        done = virtual.run(KERNEL, module)
        if done.returncode:
            raise RuntimeError(f"{cell.label}: {done.stderr[-2000:]}")
        did = Measured(**json.loads(done.stdout.splitlines()[-1]))
        print(cell.label, *did, flush=True)
        rows.append(row_of(cell, did, ""))
        kept.write(TABLE, rows)


def row_of(cell: Cell, did: Measured, counts: str) -> dict[str, str]:
    """A row of the table."""
    return {
        "cell": cell.label,
        "counts": counts,
        "goodput_kbps": f"{did.goodput_kbps:.1f}",
        "share": f"{did.share:.4f}",
        "rival_kbps": f"{did.rival_kbps:.1f}",
        "window": str(did.window),
        "kernel": did.kernel,
    }


def main() -> int:
    """Compares, and measures first if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measure", action="store_true", help="measure missing cells first")
    parser.add_argument("--scheduler", default=SCHEDULER, help="CLIFT's path scheduler")
    given = parser.parse_args()
    if given.measure:
        if reason := virtual.hindrance(KERNEL):
            print(f"error: {reason}", file=sys.stderr)
            return 2
        measure_all()
    print(f"{'cell':<24} {'counts':<9} kernel   CLIFT    off   over the first path")
    off, shares = [], []
    for cell, counts, kernel in recorded():
        ours = engine(cell, kernel.window, given.scheduler)
        ratio = ours.goodput_kbps / kernel.goodput_kbps - 1
        words = f"{cell.label:<24} {counts:<9} {kernel.goodput_kbps:6.0f} {ours.goodput_kbps:7.0f} "
        words += f"{ratio:+7.1%}   {kernel.share:4.0%} {ours.share:4.0%}"
        if cell.shared:
            words += f"   beside it {kernel.rival_kbps:.0f} {ours.rival_kbps:.0f}"
        elif cell.congestion in COUPLED:
            few, *_, many = draws(cell, kernel.window)
            words += f"   of {_DRAWS} draws {few:.0f} to {many:.0f}"
        else:
            off.append(abs(ratio))
            shares.append(abs(ours.share - kernel.share))
        print(words, flush=True)
    for limit in (0.05, 0.1):
        within, alike = (sum(one <= limit for one in them) for them in (off, shares))
        print(f"within {limit:.0%} without coupling: goodput {within}, share {alike} of {len(off)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
