"""Figures 5 and 6 of Kuhn 2014, each by the closed form and by TMT."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import clift.model as model
from clift.errors import ScenarioError
from clift.model_check import Row, check
from clift.papers.registry import parameters

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from clift.model import Prediction

DECODE_NS = 1
"""The paper ignores decoding time; this is the minimum that a trace can hold."""


@dataclass(frozen=True)
class Curve:
    """A scheme over the sweep of a figure.

    Attributes:
        scheme: its text.
        alpha: of the chain.
        beta: of the chain at each point of the model.
        p: erasure probability at each of them.
        model: the closed form; HARQ-II with blocks in consecutive slots.
        cut_apart: HARQ-II with blocks cut apart by other blocks' rounds, as TMT does.
        checks: (p, cross-check) at the points that were simulated.
    """

    scheme: str
    alpha: float
    beta: NDArray[np.float64]
    p: NDArray[np.float64]
    model: Prediction
    cut_apart: Prediction | None
    checks: list[tuple[float, list[Row]]]

    def points(self, key: str) -> tuple[list[float], list[float], list[float]]:
        """Erasure probability, simulated value and half width of the interval at each point."""
        metric = {"efficiency": "efficiency", "recovery_delay_ms": "recovery delay ms"}[key]
        found = [(p, row) for p, rows in self.checks for row in rows if row.metric == metric]
        found = [(p, row) for p, row in found if np.isfinite(row.simulated)]
        return (
            [p for p, _ in found],
            [row.simulated for _, row in found],
            [row.within if np.isfinite(row.within) else 0.0 for _, row in found],
        )


def curves(
    number: int,
    points: int = 9,
    slots: int | None = None,
    seed: int = 1,
    progress: Callable[[str], None] | None = None,
) -> list[Curve]:
    """A figure by both methods.

    Args:
        number: 5 or 6.
        points: number of simulated points of the sweep.
        slots: slots simulated at each, for each scheme; default: the paper's 500 s.
        seed: seed of the random draws.
        progress: called with the name of each simulation.

    >>> [curve.scheme for curve in curves(6, points=0)]
    ['FEC(38/51)', 'ARQ', 'HARQ(38/51, rounds 2)']
    """
    figure = parameters("ijscn2014")["figure"].get(str(number))
    if figure is None:
        raise ScenarioError(f"figure {number}: only 5 and 6 of ijscn2014 are of the model")
    alpha, (low, high) = figure["alpha"], figure["beta"]
    slot_ns, rtt_ms = figure["slot_ns"], figure["rtt_ms"]
    if slots is None:
        slots = round(figure["trace_s"] * 1e9 / slot_ns)
    # Evenly in p, which is what the figures are drawn over.
    p = np.linspace(_share(alpha, low), _share(alpha, high), 200)
    beta = 1 - (1 - alpha) * (1 - p) / p
    chosen = np.linspace(0, len(p) - 1, points).round().astype(int)
    drawn = []
    for scheme in figure["schemes"]:
        whole, cut = (
            model.predict(
                scheme,
                alpha,
                beta,
                rtt_ms=rtt_ms,
                slot_ns=slot_ns,
                decode_ns=DECODE_NS,
                cut_apart=cut_apart,
            )
            for cut_apart in (False, True)
        )
        checks = []
        for place in chosen:
            if progress:
                progress(f"{scheme} at p = {p[place]:.3f}")
            rows = check(
                scheme,
                alpha,
                float(beta[place]),
                rtt_ms=rtt_ms,
                slot_ns=slot_ns,
                decode_ns=DECODE_NS,
                slots=slots,
                seed=seed,
            )
            checks.append((float(p[place]), rows))
        is_harq = scheme.startswith("HARQ")
        drawn.append(Curve(scheme, alpha, beta, p, whole, cut if is_harq else None, checks))
    return drawn


def _share(alpha: float, beta: float) -> float:
    return (1 - alpha) / (2 - alpha - beta)
