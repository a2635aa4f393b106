"""A trace of 10^8 slots: read from Parquet, put through ARQ, written back; time and peak memory."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import clift
from bench.process import measure

SLOTS = 10**8


def report() -> None:
    """Prints the peak memory and the time of ``clift tmt`` on 10^8 slots."""
    with tempfile.TemporaryDirectory() as folder:
        phy, link = Path(folder) / "phy.parquet", Path(folder) / "link.parquet"
        clift.channel.bernoulli(slots=SLOTS, slot_ns=114_783, p=0.05, seed=1).write(phy)
        command = [sys.executable, "-m", "clift", "tmt", str(phy), "--scheme", "ARQ"]
        measured = measure([*command, "-o", str(link)], runs=1, warm_up=False)
        size = (phy.stat().st_size + link.stat().st_size) / 1e6
    print(
        f"{SLOTS:.0e} slots from Parquet through ARQ and back: {measured.seconds:.1f} s, "
        f"peak {measured.peak_mb / 1024:.2f} GiB ({size:.0f} MB of files)"
    )
