"""The page of a study of 10,000 cells: its size, how fast it opens, how smoothly it answers.

    python validation/report_page.py [FOLDER]

The study is made up (labels, means and intervals drawn at random), as large as `clift run -o` would
leave it: a hundred metrics in every cell, and the first runs of 48 cells. The page is opened from
disk in headless Chromium (Debian's, by Playwright). Bounds: 5 MB, one second, 30 frames a second.
The processor time of the page's thread stands beside: on a busy machine only that says something of
the page.
"""

from __future__ import annotations

import itertools
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from clift.cli.main import run

CHROMIUM = "/usr/bin/chromium"
AXES = {
    "esn0": [f"{value / 10:g} dB" for value in range(50)],
    "rtt": [f"{value} ms" for value in range(100, 1100, 50)],
    "scheme": ["none", "ARQ", "FEC(10/12)", "HARQ(10/12)", "HARQ(10/15)"],
    "congestion": ["newreno", "cubic"],
}
MOST_BYTES, MOST_MS, FEWEST_FRAMES = 5_000_000, 1000, 30

# Runs in the page: points, zooms or chooses before every frame, and counts the frames.
FRAMES = """async step => {
  const plot = document.querySelector("#figure-metric .plot");
  const over = plot.querySelector(".u-over"), box = over.getBoundingClientRect();
  const choices = [...document.querySelectorAll("#choice-others select")];
  const steps = {
    hover: n => over.dispatchEvent(new MouseEvent("mousemove", {
      clientX: box.left + box.width * (n % 30) / 30, clientY: box.top + 100, bubbles: true })),
    zoom: n => plot.dispatchEvent(new KeyboardEvent("keydown", { key: n % 8 < 4 ? "+" : "-" })),
    choose: n => {
      const one = choices[n % choices.length];
      one.selectedIndex = n % one.options.length;
      one.dispatchEvent(new Event("change"));
    },
  };
  const begin = performance.now();
  for (let n = 0; n < 60; n++) {
    steps[step](n);
    await new Promise(requestAnimationFrame);
  }
  return 60000 / (performance.now() - begin);
}"""


def study(folder: Path) -> int:
    """Fills a folder; returns how many cells."""
    rng = np.random.default_rng(1)
    combinations = list(itertools.product(*AXES.values()))
    cells = len(combinations)
    labels = {
        name: pa.array([labels[place] for labels in combinations]).dictionary_encode()
        for place, name in enumerate(AXES)
    }
    names = ["goodput_kbps", "share_sent_again", "timeouts", "links.0.share_used"]
    names += [f"links.0.packet_delay_ms.{one}" for one in ("mean", "p95", "p99", "max")]
    names += [f"flows.0.number_{number}" for number in range(92)]
    index = np.repeat(np.arange(cells), len(names))
    mean = rng.gamma(4, 50, index.size)
    half = mean * 0.05
    summary = {
        name: column.take(pa.array(index)).cast(pa.string()) for name, column in labels.items()
    }
    summary |= {"metric": names * cells, "mean": mean, "half_width": half, "low": mean - half}
    summary |= {"high": mean + half, "median": mean, "p95": mean * 1.2}
    summary |= {"runs": np.full(index.size, 10)}
    tables = {"summary": pa.table(summary)}
    runs = np.repeat(np.arange(cells), 10)
    tables["runs"] = pa.table(
        {name: column.take(pa.array(runs)).cast(pa.string()) for name, column in labels.items()}
        | {
            "run": np.tile(np.arange(10), cells),
            "seed": rng.integers(0, 2**63, runs.size, np.uint64),
        }
    )
    at = np.repeat(np.arange(48), 1001)
    steps = np.abs(np.cumsum(rng.normal(size=at.size)))
    series = {"cell": at, "time_s": np.tile(np.linspace(0, 400, 1001), 48), "flow": at * 0}
    series |= {"cwnd_packets": steps, "queue_packets": steps * 2, "goodput_kbps": steps * 8}
    tables["series"] = pa.table(series)
    edges = np.tile(np.linspace(250, 2000, 401), 1)
    counts = rng.integers(0, 50, 48 * 400)
    bins = {"from_ms": np.tile(edges[:-1], 48), "to_ms": np.tile(edges[1:], 48), "segments": counts}
    tables["delays"] = pa.table({"cell": np.repeat(np.arange(48), 400)} | bins)
    log = {
        "time_s": np.tile(np.linspace(3, 9, 700), 48),
        "kind": rng.choice([0, 1, 4, 5], 48 * 700),
    }
    log |= {"seq": np.tile(np.arange(700) * 1448, 48), "around_a_loss": np.full(48 * 700, True)}
    tables["sequence"] = pa.table({"cell": np.repeat(np.arange(48), 700)} | log)
    for name, table in tables.items():
        pq.write_table(table, folder / f"{name}.parquet", compression="zstd")
    record: dict[str, Any] = {"clift": "0.0.0", "scenario": "large.toml", "title": "Large study"}
    record |= {"seed": 1, "changes": {}, "taken": {}, "complete": True, "text": "# Large?\n"}
    record |= {"runs_done": 10 * cells, "runs_wanted": 10 * cells, "printed": [], "conclusion": "x"}
    record["cells"] = [
        {"labels": dict(zip(AXES, one, strict=True)), "runs": 10} for one in combinations
    ]
    record["axes"] = [
        {"name": name, "labels": points, "condition": name in ("esn0", "rtt")}
        for name, points in AXES.items()
    ]
    record["compared"] = "scheme"
    (folder / "record.json").write_text(json.dumps(record))
    return cells


def busy_ms(protocol: Any) -> float:
    """Processor time of the page's thread so far."""
    known = protocol.send("Performance.getMetrics")["metrics"]
    return 1000 * float(next(one["value"] for one in known if one["name"] == "TaskDuration"))


def measure(page: Path) -> dict[str, float]:
    """How long the page takes to open, in ms, the best of three, and its frames a second."""
    from playwright.sync_api import sync_playwright

    found: dict[str, float] = {}
    with sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        opened, busy = [], []
        for _ in range(3):
            shown = browser.new_page(viewport={"width": 1280, "height": 900})
            protocol = shown.context.new_cdp_session(shown)
            protocol.send("Performance.enable", {"timeDomain": "threadTicks"})
            shown.goto(page.as_uri())
            timing = "performance.getEntriesByType('navigation')[0].loadEventEnd"
            opened.append(float(shown.evaluate(timing)))
            busy.append(busy_ms(protocol))
        found |= {"opens_ms": min(opened), "opens_busy_ms": min(busy)}
        for step in ("hover", "zoom", "choose"):
            before = busy_ms(protocol)
            found[f"{step}_frames_s"] = float(shown.evaluate(FRAMES, step))
            found[f"{step}_busy_ms_a_frame"] = (busy_ms(protocol) - before) / 60
        browser.close()
    return found


def main() -> int:
    """Makes the study and its page, measures, and says whether the bounds hold."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(made)
        cells = study(folder)
        begin = time.perf_counter()
        page = folder / "report.html"
        if run(["report", str(folder), "--force"]):
            return 1
        found = {"cells": float(cells), "making_s": time.perf_counter() - begin}
        found["bytes"] = float(page.stat().st_size)
        found |= measure(page)
    for name, value in found.items():
        print(f"{name:24} {value:12.1f}")
    frames = min(value for name, value in found.items() if name.endswith("frames_s"))
    holds = found["bytes"] < MOST_BYTES and found["opens_ms"] < MOST_MS and frames > FEWEST_FRAMES
    print("holds" if holds else "does not hold")
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
