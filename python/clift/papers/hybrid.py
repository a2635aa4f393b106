"""Figures 3 to 8 of Al Fawal 2003: TCP over hybrid FEC/ARQ-SR."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import clift.model as model
from clift.campaign.statistics import Estimate
from clift.errors import ScenarioError
from clift.live import HybridLink
from clift.papers.registry import parameters
from clift.papers.verdict import averaged
from clift.scenario import Scenario
from clift.simulation import Progress, Run, run_many

PAPER = "wiopt2003"
FIGURES = (3, 4, 5, 6, 7, 8)


@dataclass(frozen=True, slots=True)
class Cell:
    """One point of a figure.

    Args:
        n: N, units of a frame; K is 10.
        delta: Number of retransmissions of a frame.
        delay_ms: D, one way over the wireless link.
        p: Probability that a unit is lost.
        flows: Connections.
        in_order: True if the link delivers in order.
        sack: TCP with SACK (ns-2's `TCP/Linux` reno towards `Sack1/DelAck`), or without
            (`TCP/Newreno` towards `TCPSink/DelAck`, as the paper).
    """

    n: int
    delta: int
    delay_ms: int
    p: float = 0.01
    flows: int = 10
    in_order: bool = True
    sack: bool = False

    def scenario(
        self, seed: int, duration_s: float | None = None, profile: str = "papers"
    ) -> Scenario:
        """The run of figure 2 of the paper.

        Args:
            seed: Of the run.
            duration_s: Simulated time; default: the paper's 2000 s.
            profile: Of the TCP; a kernel's has its own SACK and delayed ACK.
        """
        paper = parameters(PAPER)
        network = paper["network"]
        link = HybridLink(
            n=self.n,
            persistency=self.delta,
            delay_ms=self.delay_ms,
            p=self.p,
            in_order=self.in_order,
            **paper["link"],
        )
        sack = self.sack or profile != "papers"
        tcp = {"transport": "newreno", "profile": profile, "sack": sack, "timestamps": sack}
        return Scenario(
            link,
            flows=self.flows,
            delayed_ack=network["delayed_ack_ms"] if profile == "papers" else None,
            duration_s=network["duration_s"] if duration_s is None else duration_s,
            seed=seed,
            **network["run"] | tcp,
        )

    def utilisation(self, run: Run, profile: str = "papers") -> float:
        """Share of the wireless link that carries TCP data: in-order packets over its rate."""
        paper = parameters(PAPER)
        packet = paper["network"]["run"]["packet_bytes"]
        headers = 52 if self.sack or profile != "papers" else 40
        rate = paper["link"]["rate_kbps"]
        return float(run.goodput_kbps * packet / (packet - headers) / rate)

    def ceiling(self) -> float:
        """Capacity of a link that is always busy: K/N over the transmissions of a frame, times the
        share of delivered packets."""  # noqa: D205, D209
        link = parameters(PAPER)["link"]
        found = model.hybrid(link["k"], self.n, link["frames"], self.delta, self.p)
        return float(found.useful_share)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a figure.

    Attributes:
        label: Name of the line.
        cells: Its points, from left to right.
        found: Utilisation at each, with its 95 % interval over the runs.
    """

    label: str
    cells: tuple[Cell, ...]
    found: tuple[Estimate, ...]

    def mean(self, place: int) -> float:
        """Utilisation at a point."""
        return self.found[place].mean


def measure(
    cells: Sequence[Cell],
    runs: int = 10,
    duration_s: float | None = None,
    seed: int = 1,
    progress: bool | Progress = False,
    profile: str = "papers",
) -> list[Estimate]:
    """Utilisation at each cell, with its 95 % interval over runs with different seeds.

    Args:
        cells: The cells.
        runs: Runs of each; run i has seed + i, in every cell.
        duration_s: Simulated time; default: the paper's 2000 s.
        seed: Of the first run.
        progress: As for `clift.run_many`.
        profile: Of the TCP.

    Example:
        >>> [found] = measure([Cell(n=13, delta=0, delay_ms=20)], runs=2, duration_s=100)
        >>> 0.7 < found.mean < 10 / 13
        True
    """
    if runs < 1:
        raise ScenarioError(f"runs = {runs}: give at least 1")
    seeds = range(seed, seed + runs)
    todo = [cell.scenario(seed, duration_s, profile) for cell in cells for seed in seeds]
    done = iter(run_many(todo, progress=progress))
    return [averaged([cell.utilisation(next(done), profile) for _ in seeds]) for cell in cells]


def lines(spec: dict[str, Any], sack: bool) -> list[tuple[str, tuple[Cell, ...]]]:
    """Label and cells of the lines of a figure, from its parameters."""
    swept = "n" if len(spec["n"]) > 1 else "delta"
    other = "delta" if swept == "n" else "n"
    orders = spec.get("in_order", [True])
    found = []
    for in_order, delay, held in product(orders, spec["delay_ms"], spec[other]):
        cells = tuple(
            Cell(
                **{swept: value, other: held},
                delay_ms=delay,
                p=spec["p"],
                flows=spec.get("flows", 10),
                in_order=in_order,
                sack=sack,
            )
            for value in spec[swept]
        )
        parts = [f"D = {delay} ms"] if len(spec["delay_ms"]) > 1 else [f"{other} = {held}"]
        if len(orders) > 1:
            parts.append("in order" if in_order else "as they come")
        found.append((", ".join(parts), cells))
    return found
