"""A trace of one's own, made here on the spot, under two transports."""

import tempfile
from pathlib import Path

import clift

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "mine.csv")
    rows = (f"{i},{0 if i % 97 == 0 else 36}\n" for i in range(120_000))  # ms; 0 is erased
    path.write_text("".join(rows))
    phy = clift.read_trace(path, unit="ms")
link = clift.tmt.apply(phy, "ARQ", rtt_ms=500)
for transport in ("newreno", "cubic"):
    run = clift.simulate(link, transport=transport, duration_s=100)
    print(f"{transport:8} {run.goodput_kbps:6.1f} kbit/s")
