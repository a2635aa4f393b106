"""Kuhn 2014's link under a real kernel: the measured cells, and profile `linux` in each.

    python -m validation.kernel.geo

`geo.csv` has what a Linux 6.18 kernel reached with a link trace as the wire between two network
namespaces, 100 s of bulk data a cell; its first line says how channel and link were made.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import clift
from validation.kernel import kept

FILE = Path(__file__).parent / "geo.csv"
WITHIN = 0.02
"""How far goodput may be off, as a share of the kernel's."""


@dataclass(frozen=True)
class Compared:
    """A cell: what the kernel reached, and what the engine does, kbit/s."""

    label: str
    kernel: float
    ours: float

    @property
    def difference(self) -> float:
        """Ours over the kernel's, less one."""
        return self.ours / self.kernel - 1


def compared() -> Iterator[Compared]:
    """Runs the engine in every cell."""
    for row in kept.read(FILE):
        share, burst = float(row["erased"]), float(row["burst"])
        phy = clift.channel.gilbert_elliott(
            slots=110_000,
            slot_ns=1_003_802,
            p=share,
            burst=burst,
            decode_ns=36_000_000,
            seed=int(row["seed"]),
        )
        run = clift.simulate(
            clift.tmt.apply(phy, row["scheme"], rtt_ms=500),
            transport={"reno": "newreno"}.get(row["congestion"], row["congestion"]),
            profile="linux",
            duration_s=100,
            queue_packets=None,
        )
        label = f"{row['scheme']}, {row['congestion']}, {share:.2%} erased, seed {row['seed']}"
        yield Compared(label, float(row["kernel_goodput"]), run.goodput_kbps)


def main() -> int:
    """Prints every cell; 1 if one is off by more than `WITHIN`."""
    cells = list(compared())
    for cell in cells:
        print(f"{cell.label:45} {cell.kernel:6.1f} {cell.ours:6.1f} {cell.difference:+.1%}")
    off = [cell for cell in cells if abs(cell.difference) > WITHIN]
    print(f"{len(cells) - len(off)} of {len(cells)} cells are within {WITHIN:.0%} of the kernel")
    return min(len(off), 1)


if __name__ == "__main__":
    sys.exit(main())
