"""Congestion windows over time beside ns-2's, the same packets lost in both.

    python validation/tcp_windows.py              # draws docs/images/tcp_windows.png
    python validation/tcp_windows.py out.png      # draws another file

2.3 Mbit/s, round-trip time 500 ms, a queue of 191 packets; on the left nothing is lost but what
overflows the queue, on the right one packet in a thousand. Needs ns-2 (`ns`, the Debian package
`ns2`); without it, it says so and draws nothing.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import matplotlib as mpl
import numpy as np
from numpy.typing import NDArray

import clift
from clift import _clift

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench" / "ns2"))
import compare  # noqa: E402

RATE, RTT_MS, BUFFER, SECONDS = 2_300_000, 500, 192, 100
#: Title, loss probability, most segments in the window: 288 fill the pipe and the queue.
PATHS = (("no loss, window up to 400", 0.0, 400), ("loss 0.001, window up to 288", 1e-3, 288))

Windows = tuple[NDArray[np.float64], NDArray[np.float64]]


def main() -> int:
    """Draws the windows; returns the exit code."""
    if shutil.which("ns") is None:
        print("tcp_windows: skipped, ns-2 is not installed (Debian: apt install ns2)")
        return 0
    target = ROOT / "docs" / "images" / "tcp_windows.png"
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else target)
    return 0


def losses(p: float) -> list[int]:
    """The positions of the packets to lose."""
    return [n for n in range(RATE * SECONDS // 12_000 + 1000) if compare.lost(1, n, p)]


def ours(variant: str, p: float, window: int) -> Windows:
    """Times and windows by CLIFT, every 0.1 s.

    While rate halving leads down to the new window, ns-2 shows how much may be in flight.
    """
    leg = {"rate": f"{RATE} bit/s", "delay": f"{RTT_MS * 500_000} ns"}
    # A drop-tail queue of ns-2 with limit B lets B - 1 packets wait.
    scenario = clift.Scenario(
        {
            "path": [{"leg": leg | {"queue": f"{BUFFER - 1} packets"}}],
            "return": {"path": [{"leg": leg}]},
        },
        transport=variant,
        cwnd_max_packets=window,
        duration_s=SECONDS,
    )
    setup = scenario.setup().with_fates(losses(p))
    series = _clift.series(setup, 100_000_000)
    cwnd, in_flight = (np.asarray(series[f"{name}_packets"]) for name in ("cwnd", "in_flight"))
    return np.asarray(series["time_s"]), np.maximum(cwnd, in_flight)


def theirs(variant: str, p: float, window: int, scratch: Path) -> Windows:
    """Times and windows by ns-2, every 0.1 s."""
    compare.ns2(
        losses(p),
        ca=variant,
        rate=RATE,
        rtt=RTT_MS,
        buffer=BUFFER,
        window=window,
        duration=SECONDS,
        cwnd=scratch,
    )
    time, cwnd = np.loadtxt(scratch, unpack=True)
    return time, cwnd


def draw(target: Path) -> None:
    """A row for each variant, a column for each path; ns-2 broad and grey, CLIFT thin on top."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(5, 2, figsize=(9, 10), sharex=True, layout="constrained")
    with tempfile.TemporaryDirectory() as folder:
        for row, variant in zip(axes, compare.VARIANTS, strict=True):
            for axis, (title, p, window) in zip(row, PATHS, strict=True):
                mine = ours(variant, p, window)
                other = theirs(variant, p, window, Path(folder) / "cwnd.txt")
                print(f"{variant:9} loss {p:<6g} {apart(mine, other):.1%} of the instants differ")
                axis.plot(*other, color="0.75", linewidth=4, label="ns-2.35")
                axis.plot(*mine, color="C3", linewidth=1, label="CLIFT")
                axis.set_ylim(bottom=0)
                axis.set_title(f"{variant}: {title}", fontsize=9)
            row[0].set_ylabel("window, packets")
    for axis in axes[-1]:
        axis.set_xlabel("time, s")
    axes[0][0].legend(loc="lower right", fontsize=8)
    target.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(target, dpi=80)
    print(target)


def apart(mine: Windows, other: Windows) -> float:
    """The share of common instants at which the windows are more than three segments apart."""
    windows = dict(zip(np.round(mine[0], 3), mine[1], strict=True))
    times = np.round(other[0], 3)
    pairs = [(windows[at], cwnd) for at, cwnd in zip(times, other[1], strict=True) if at in windows]
    return sum(abs(a - b) > 3 for a, b in pairs) / len(pairs)


if __name__ == "__main__":
    sys.exit(main())
