"""Draws the figure of the README: goodput of a long transfer by rate, scheme and TCP.

`python docs/finding.py` runs examples/rates.toml (672 runs, half a minute on two idle cores) and
writes docs/images/finding.svg; `python docs/finding.py FOLDER` takes results that are there.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pyarrow.parquet as pq

from clift.cli.main import run

ROOT = Path(__file__).parent.parent
TITLES = {
    "ns-2-newreno": "ns-2, New Reno\n(on which the papers built)",
    "linux-newreno": "Linux, New Reno",
    "linux-cubic": "Linux, CUBIC",
    "linux-bbr": "Linux, BBR",
}
COLOURS = {"ARQ": "#0072b2", "HARQ(10/12)": "#d55e00", "HARQ(10/15)": "#009e73"}
UNITS = {"kbit/s": 1e-3, "Mbit/s": 1.0}


def mbps(label: str) -> float:
    """Rate of a label such as `263 kbit/s` in Mbit/s."""
    number, unit = label.split()
    return float(number) * UNITS[unit]


def draw(runs: list[dict[str, object]], path: Path) -> None:
    """Draws medians as lines and every run as a dot, as shares of the channel's rate."""
    plt.rcParams.update({"font.size": 9, "svg.hashsalt": "finding", "svg.fonttype": "none"})
    figure, panels = plt.subplots(1, 4, figsize=(10, 3.1), sharey=True, layout="constrained")
    for panel, (tcp, title) in zip(panels, TITLES.items(), strict=True):
        for scheme, colour in COLOURS.items():
            shares: dict[float, list[float]] = {}
            for one in runs:
                if (one["tcp"], one["scheme"]) == (tcp, scheme):
                    rate = mbps(str(one["rate"]))
                    shares.setdefault(rate, []).append(float(one["goodput_kbps"]) / 10 / rate)
            rates = sorted(shares)
            panel.plot(rates, [np.median(shares[it]) for it in rates], color=colour, label=scheme)
            for rate in rates:
                dots = [rate] * len(shares[rate])
                panel.plot(dots, shares[rate], ".", color=colour, markersize=3, alpha=0.6)
        panel.set(xscale="log", ylim=(0, 100), title=title, xlabel="rate (Mbit/s)")
        panel.set_xticks([0.1, 1, 10], ["0.1", "1", "10"])
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("goodput (% of the rate)")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    figure.savefig(path, metadata={"Date": None})


def main() -> int:
    """Runs the study unless results are given, and draws them; returns the exit code."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(sys.argv[1]) if sys.argv[1:] else Path(made) / "rates"
        if not sys.argv[1:]:
            example = ROOT / "examples" / "rates.toml"
            if code := run(["run", str(example), "-o", str(folder), "--no-plots"]):
                return code
        draw(pq.read_table(folder / "runs.parquet").to_pylist(), ROOT / "docs/images/finding.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main())
