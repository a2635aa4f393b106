"""Writes the tables of docs/evidence/ntn.md: effects of K_offset, grants, handovers and BBR.

`python docs/ntn_table.py` runs the simulations (half a minute) and writes them; `--check` only says
whether they are up to date.
"""

from __future__ import annotations

import math
from typing import Any

from pages import ROOT, markdown, refresh

import clift

PAGE = ROOT / "docs" / "evidence" / "ntn.md"
SEEDS = range(1, 6)
LEO, GEO = "nr-ntn-leo600", "nr-ntn-geo"
GRANTS: dict[str, dict[str, Any]] = {
    "always": {},
    "configured": {"grants": "configured"},
    "requested": {"grants": "requested"},
    "requested, `first_grant` 4": {"grants": "requested", "first_grant": 4},
    "requested, no reports": {"grants": "requested", "buffer_status": False},
}


def mean(link: clift.NtnLink, of: str, **options: Any) -> float:
    """Mean over the seeds of a number of a run of one connection, by default over CUBIC."""
    options = {"transport": "cubic", "profile": "linux", "queue_packets": 300, **options}
    runs = clift.run_many(
        [clift.Scenario(link, seed=seed, **options) for seed in SEEDS], progress=False
    )
    found = [getattr(run, of) if hasattr(run, of) else run.summary()[of] for run in runs]
    return math.fsum(found) / len(found)


def mbps(link: clift.NtnLink, **options: Any) -> str:
    """Goodput of bulk data over 60 s, in Mbit/s."""
    return f"{mean(link, 'goodput_kbps', duration_s=60, **options) / 1e3:.2f}"


def seconds(link: clift.NtnLink, size: int, **options: Any) -> str:
    """Completion time of a file."""
    return f"{mean(link, 'completion_s', duration_s=60, file_bytes=size, **options):.2f}"


def offset() -> str:
    """A satellite overhead, and one at the edge of the same cell."""
    body = [
        [
            str(processes),
            *(
                mbps(clift.NtnLink(LEO, delay_ms=delay, harq_processes=processes, **held))
                for delay in (4, 12.885)
                for held in ({"k_offset_ms": 0}, {})
            ),
        ]
        for processes in (16, 32)
    ]
    head = ["processes", "4 ms, none", "4 ms, 26 ms", "12.885 ms, none", "12.885 ms, 26 ms"]
    return markdown(head, body)


def feedback() -> str:
    """GEO with feedback in some of 32 processes."""
    links = [clift.NtnLink(GEO, silent_processes=silent) for silent in (0, 1, 16, 31)]
    links.append(clift.NtnLink(GEO, harq_feedback=False))
    rows = [["AM", *(mbps(link, queue_packets=3000) for link in links)]]
    return markdown(["without feedback", "0", "1", "16", "31", "all"], rows)


def grants() -> str:
    """An upload, and a download whose acknowledgements go up."""
    body = []
    for name, how in GRANTS.items():
        cells = [name]
        for preset in (LEO, GEO):
            up = clift.NtnLink(preset, harq_feedback=preset != GEO, bler=0.01, **how)
            down = clift.NtnLink(preset, harq_feedback=preset != GEO, bler=0.01)
            cells += [
                seconds(up, 10_000),
                seconds(down, 100_000, return_link=up),
                mbps(up, queue_packets=3000),
            ]
        body.append(cells)
    columns = ["10 kB up, s", "100 kB down, s", "bulk up, Mbit/s"]
    head = ["grants", *(f"{orbit}: {column}" for orbit in ("LEO", "GEO") for column in columns)]
    return markdown(head, body)


def handovers() -> str:
    """LEO with a handover every 15 s."""
    body = []
    for rlc in ("am", "um"):
        for transport in ("cubic", "bbr"):
            cells = [f"{rlc.upper()}, {transport.upper()}"]
            for how in (
                {},
                {"handover_every_s": 15, "interruption_ms": 20},
                {"handover_every_s": 15, "interruption_ms": 100},
                {"handover_every_s": 15, "interruption_ms": 500},
            ):
                cells.append(mbps(clift.NtnLink(LEO, rlc=rlc, **how), transport=transport))
            body.append(cells)
    return markdown(["goodput, Mbit/s", "none", "20 ms", "100 ms", "500 ms"], body)


def bbr() -> str:
    """CUBIC and BBR over GEO without HARQ feedback."""
    body = []
    for name, how in (
        ("0", {"bler": 0.0}),
        ("0.1 %", {"bler": 0.001}),
        ("1 %", {"bler": 0.01}),
        ("3 %", {"bler": 0.03}),
        ("10 %", {"bler": 0.1}),
        ("10 %, `in_order` false", {"bler": 0.1, "in_order": False}),
        ("10 %, `t_status_prohibit` 100 ms", {"bler": 0.1, "t_status_prohibit_ms": 100}),
    ):
        link = clift.NtnLink(GEO, harq_feedback=False, **how)
        cells = [name, mbps(link, queue_packets=3000)]
        scenario = {"profile": "linux", "queue_packets": 3000, "duration_s": 60}
        runs = clift.run_many(
            [clift.Scenario(link, transport="bbr", seed=seed, **scenario) for seed in SEEDS],
            progress=False,
        )
        delays = [run.summary()["links"][0]["packet_delay_ms"] for run in runs]
        # Both ways: the way back has no queue.
        trips = [delay["mean"] / 1e3 + 0.27073 for delay in delays]
        again = sum(run.summary()["retransmissions"] for run in runs) / len(runs)
        cells.append(f"{math.fsum(run.goodput_kbps for run in runs) / len(runs) / 1e3:.2f}")
        body.append([*cells, f"{math.fsum(trips) / len(trips):.2f}", f"{again:.0f}"])
    head = ["block errors", "CUBIC", "BBR", "BBR, mean round trip, s", "BBR, packets sent again"]
    return markdown(head, body)


def main() -> None:
    """Writes or checks the page."""
    tables = (offset, feedback, grants, handovers, bbr)
    refresh(PAGE, {make.__name__: f"{make()}\n" for make in tables})


if __name__ == "__main__":
    main()
