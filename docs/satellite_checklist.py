"""Fills the table of docs/satellite-checklist.md from two results folders.

They are those of `clift run examples/quic_4_sat.toml -o results/sat --no-plots`, and of ten runs of
the test with losses (the page has the command); then
`python docs/satellite_checklist.py results/sat results/lossy` changes the page.
"""

from __future__ import annotations

import sys
from pathlib import Path

import study
from pages import ROOT, markdown, put

import clift
from clift.campaign.statistics import estimate

STUDY = ROOT / "examples/quic_4_sat.toml"
PAGE = ROOT / "docs/satellite-checklist.md"
SIZES = ("2 MB", "10 MB", "100 MB")
# Seconds that the draft names as objectives for each size; None where it says "to be defined".
OBJECTIVES: dict[str, tuple[int | None, ...]] = {
    "small, down": (3, 10, 85),
    "small, up": (10, 50, 420),
    "medium": (3, 5, 20),
    "congested": (3, 5, 20),
    "fade": (None, None, None),
    "large": (3, 5, 8),
    "large, lossy": (3, 6, 10),
}
SENDERS = {
    "QUIC, New Reno": "New Reno",
    "QUIC, CUBIC": "CUBIC",
    "QUIC, BBR": "BBR",
    "QUIC, CUBIC, 0-RTT and resumed": "resumed",
    "QUIC, CUBIC, fewer ACKs": "fewer ACKs",
    "TCP, CUBIC": "TCP CUBIC",
    "TCP, BBR": "TCP BBR",
}


Cell = tuple[str, str, str]
"""Test, size, sender."""


def times(folder: Path) -> dict[Cell, list[float]]:
    """Completion times by cell; empty if no run has completed."""
    found: dict[Cell, list[float]] = {}
    for row in study.rows(folder):
        own = found.setdefault((row["test"], row["size"], row["sender"]), [])
        if row["completion_s"] is not None:
            own.append(row["completion_s"])
    return found


def broken_off(found: dict[Cell, list[float]]) -> set[Cell]:
    """Cells in which the transport has closed the connection before the end."""
    runs = {}
    for cell in clift.Scenario.read(STUDY).cells():
        key = cell.labels["test"], cell.labels["size"], cell.labels["sender"]
        if not found[key]:
            [runs[key]] = cell.replications()
    ended = zip(runs, clift.run_many(list(runs.values())), strict=True)
    return {key for key, run in ended if run.summary()["flows"][0].get("broken_off")}


def table(found: dict[Cell, list[float]], broken: set[Cell]) -> str:
    """A row for each test and size: the objective, and the time of each sender."""
    head = ["test", "file", "objective (s)", *SENDERS.values()]
    lines = []
    met = of = 0
    for test, objectives in OBJECTIVES.items():
        for size, objective in zip(SIZES, objectives, strict=True):
            cells = [test, size, "" if objective is None else str(objective)]
            for sender in SENDERS:
                key = test, size, sender
                text, time = shown(found[key], "broken off" if key in broken else "-")
                is_met = objective is not None and time is not None and time <= objective
                cells.append(f"**{text}**" if is_met else text)
                met += is_met
                of += objective is not None
            lines.append(cells)
    return markdown(head, lines) + f"\n\nBold: the objective is met, in {met} of {of} times.\n"


def shown(values: list[float], without: str) -> tuple[str, float | None]:
    """A time as text, and its median: of several runs with the interval."""
    found = estimate(values)
    if found is None or found.median is None:
        return without, None
    text = f"{found.median:.2f}"
    if found.median_low is not None:
        text = f"{found.median:.1f} ({found.median_low:.1f} to {found.median_high:.1f})"
    return text, found.median


def main() -> None:
    """Fills."""
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    once, lossy = (times(Path(folder)) for folder in sys.argv[1:])
    put(PAGE, "results", table(once | lossy, broken_off(once)))


if __name__ == "__main__":
    main()
