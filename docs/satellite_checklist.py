"""Fills the table of docs/satellite-checklist.md from a results folder.

The folder is that of `clift run examples/quic_4_sat.toml -o results/sat --no-plots`; then
`python docs/satellite_checklist.py results/sat` changes the page.
"""

from __future__ import annotations

from pathlib import Path

import study
from pages import ROOT, put

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


def table(folder: Path) -> str:
    """A row for each test and size: the objective, and the time of each sender."""
    times: dict[tuple[str, str, str], float | None] = {}
    for row in study.rows(folder):
        times[row["test"], row["size"], row["sender"]] = row["completion_s"]
    head = ["test", "file", "objective (s)", *SENDERS.values()]
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    met = of = 0
    for test, objectives in OBJECTIVES.items():
        for size, objective in zip(SIZES, objectives, strict=True):
            cells = [test, size, "" if objective is None else str(objective)]
            for sender in SENDERS:
                time = times[test, size, sender]
                text = "-" if time is None else f"{time:.1f}"
                is_met = None not in (objective, time) and time <= objective  # type: ignore[operator]
                cells.append(f"**{text}**" if is_met else text)
                met += is_met
                of += objective is not None
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + f"\n\nBold: the objective is met, in {met} of {of} times.\n"


def main() -> None:
    """Fills."""
    put(PAGE, "results", table(study.folder()))


if __name__ == "__main__":
    main()
