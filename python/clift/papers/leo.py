"""Tables 1 and 2 of Tauran 2017: TCP over adaptive HARQ, with and without a re-ordering buffer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

import clift.constellation as constellation
from clift.campaign.statistics import Estimate, estimate
from clift.errors import ScenarioError
from clift.live import AdaptiveHarqLink
from clift.papers.registry import parameters
from clift.reorder import Reorder
from clift.scenario import Scenario
from clift.simulation import Run, run_many

PAPER = "tauran2017"
TABLES = (1, 2)
"""Without and with the re-ordering buffer."""


@dataclass(frozen=True)
class Cell:
    """A transport at an SNR, in one of the tables.

    Attributes:
        table: 1 or 2.
        snr_db: of the channel.
        transport: `newreno` or `cubic`.
        values: results of each run, by name: the table's columns, `load_mbps` (coded bits
            on the air) and `events_per_s` (entries into recovery and timeouts).
        printed: the paper's values by name.
    """

    table: int
    snr_db: int
    transport: str
    values: dict[str, list[float]]
    printed: dict[str, float]

    def estimate(self, name: str) -> Estimate:
        """Mean over the runs, and its 95 % interval."""
        found = estimate(self.values[name])
        if found is None:
            raise ScenarioError("a cell without runs has no mean; give 1 seed or more")
        return found

    def ratio(self, name: str) -> float:
        """Mean divided by the print; for a success rate, the ratio of the failures."""
        mean, printed = self.estimate(name).mean, self.printed[name]
        return (100 - mean) / (100 - printed) if name == "success_percent" else mean / printed


def table_cells(
    tables: Sequence[int] = TABLES,
    seeds: int = 8,
    first_seed: int = 1,
    *,
    snr_db: Sequence[int] | None = None,
    duration_s: float | None = None,
    delayed_ack: bool = False,
    profile: str = "papers",
    link: Callable[[int, float], AdaptiveHarqLink] | None = None,
) -> list[Cell]:
    """Runs the cells of the tables.

    Args:
        tables: 1 without, 2 with the re-ordering buffer.
        seeds: Runs of each cell; run r of every cell has the same channel.
        first_seed: Seed of the first run; the others follow.
        snr_db: The rows; default: all.
        duration_s: Length of each run; default: the paper's 600 s.
        delayed_ack: Acknowledge every second packet, or after 40 ms.
        profile: TCP profile, as for `clift.simulate`.
        link: Function that returns the link for a seed and an Es/N0 in dB; default: the paper's.

    Example:
        >>> cells = table_cells([1], seeds=1, snr_db=[13], duration_s=20)
        >>> [(cell.transport, cell.printed["goodput_kbps"]) for cell in cells]
        [('newreno', 346), ('cubic', 511)]
    """
    paper = parameters(PAPER)
    setup = paper["scenario"]
    rows = setup["snr_db"] if snr_db is None else list(snr_db)
    if not set(rows) <= set(setup["snr_db"]) or not set(tables) <= set(TABLES):
        raise ScenarioError(f"{PAPER}: tables 1 and 2 have rows of {setup['snr_db']} dB")
    duration = setup["duration_s"] if duration_s is None else duration_s
    names = range(first_seed, first_seed + seeds)
    make = link or paper_link(duration)
    links = {(snr, seed): make(seed, snr) for snr in rows for seed in names}
    keys = [(t, snr, tcp) for t in tables for snr in rows for tcp in setup["transports"]]
    scenarios = [
        scenario(links[snr, seed], table, transport, seed, duration, delayed_ack, profile)
        for table, snr, transport in keys
        for seed in names
    ]
    runs = run_many(scenarios, False)
    return [
        Cell(
            table,
            snr,
            transport,
            _values(runs[place * seeds : (place + 1) * seeds]),
            _printed(paper, table, snr, transport),
        )
        for place, (table, snr, transport) in enumerate(keys)
    ]


def paper_link(duration_s: float = 600) -> Callable[[int, float], AdaptiveHarqLink]:
    """Return a function that makes the paper's link for a seed and an Es/N0 in dB.

    Example:
        >>> paper_link(duration_s=1)(1, 13).snr_db
        13
    """
    setup = parameters(PAPER)["scenario"]
    with resources.as_file(resources.files("clift.papers") / setup["delays"]) as file:
        delays = constellation.read(file)

    def link(seed: int, snr_db: float) -> AdaptiveHarqLink:
        return AdaptiveHarqLink(
            "its", snr_db, setup["rate_kbps"], delays, duration_s=duration_s, seed=seed
        )

    return link


def scenario(
    link: AdaptiveHarqLink,
    table: int,
    transport: str,
    seed: int,
    duration_s: float,
    delayed_ack: bool = False,
    profile: str = "papers",
) -> Scenario:
    """A run of a table.

    Args:
        link: Link from the function that `paper_link` returns.
        table: 1 without, 2 with the re-ordering buffer.
        transport: `newreno` or `cubic`.
        seed: Of the run.
        duration_s: Of the run.
        delayed_ack: Acknowledge every second packet, or after 40 ms.
        profile: TCP profile; `linux` has its own initial window and timestamps.

    Example:
        >>> scenario(paper_link(5)(1, 13), 2, "cubic", 1, 5).seed
        1
    """
    setup = parameters(PAPER)["scenario"]
    of_ns2 = profile == "papers"
    return Scenario(
        link,
        transport=transport,
        profile=profile,
        initial_window=setup["initial_window"] if of_ns2 else None,
        timestamps=not of_ns2,
        delayed_ack=delayed_ack,
        duration_s=duration_s,
        reorder=Reorder(packets=setup["reorder_packets"], key="tcp") if table == 2 else None,
        seed=seed,
        **setup["run"],
    )


def _values(runs: Sequence[Run]) -> dict[str, list[float]]:
    rows = [_measured(run.summary()) for run in runs]
    return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}


def _measured(summary: Mapping[str, Any]) -> dict[str, float]:
    flow, link = summary["flows"][0], summary["links"][0]
    ended = link["packets_delivered"] + link["packets_lost"]
    # Packets that the queue drops never enter the link.
    sent = max(1, link["packets_offered"] - link["packets_dropped"])
    return {
        "goodput_kbps": summary["goodput_kbps"],
        "success_percent": 100 * link["packets_delivered"] / max(1, ended),
        "rto_percent": 100 * flow["timeouts"] / sent,
        "dupack_percent": 100 * flow["recovery_entries"] / sent,
        "spurious_percent": 100 * flow["spurious_retransmissions"] / sent,
        "load_mbps": link["harq_coded_bits"] / summary["duration_s"] / 1e6,
        "events_per_s": (flow["recovery_entries"] + flow["timeouts"]) / summary["duration_s"],
    }


def _printed(paper: dict[str, Any], table: int, snr: int, transport: str) -> dict[str, float]:
    row = next(row for row in paper["table"][table - 1]["rows"] if row[0] == snr)
    of_transport = row[1 + paper["scenario"]["transports"].index(transport) :: 2]
    return dict(zip(paper["columns"]["names"], of_transport, strict=True))
