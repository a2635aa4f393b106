"""Figures 5 and 6 of Kuhn 2014 as artefacts: the closed forms and TMT."""

from __future__ import annotations

import numpy as np

from clift.campaign.statistics import Estimate
from clift.model_check import Row as Check
from clift.model_check import check
from clift.papers.artefact import Effort, Outcome, Row, Rows
from clift.papers.registry import parameters
from clift.papers.verdict import Verdict, at_least, every

METRICS = {"efficiency": "efficiency", "recovery delay ms": "recovery_delay_ms"}
DECODE_NS = 1
"""The paper ignores decoding time; this is the minimum that a trace can hold."""
Point = tuple[str, float, list[Check]]
"""A scheme at an erasure probability: each metric by the closed form and by TMT."""
FREQUENT = 0.15
"""Erasures are frequent in the upper half of the figures' range; the text gives no limit."""


def figure_5(effort: Effort, _profile: str) -> Outcome:
    """Figure 5: does the model agree with TMT?

    Example:
        >>> figure_5(Effort(runs=1, duration_s=250), "papers").claims["fits"].holds
        True
    """
    drawn = _points(5, effort)
    verdicts = [
        row.verdict
        for _, _, checks in drawn
        for row in checks
        if row.metric in METRICS and row.verdict != "too rare"
    ]
    off = sum(verdict == "DIFFERS" for verdict in verdicts)
    found = f"{len(verdicts) - off} of {len(verdicts)} comparisons agree"
    return Outcome(_rows(drawn), {"fits": Verdict(bool(verdicts) and off == 0, found)})


def figure_6(effort: Effort, _profile: str) -> Outcome:
    """Figure 6: when is which scheme better?

    Example:
        >>> figure_6(Effort(runs=2, duration_s=250), "papers").claims["frequent"].holds
        True
    """
    rows = _rows(_points(6, effort))
    return Outcome(rows, claims(rows))


def claims(rows: Rows) -> dict[str, Verdict]:
    """Claims of section 3.6.2, for simulated points.

    Erasures are rarest at the first point and frequent from 0.15 on.
    """
    schemes = rows.values("scheme")
    harq = next(scheme for scheme in schemes if str(scheme).startswith("HARQ"))
    points = rows.values("p")
    first = min(points)
    arq, other = (rows.at("efficiency", scheme=one, p=first) for one in ("ARQ", harq))
    frequent = [p for p in points if p >= FREQUENT]
    gains = [
        [rows.at("recovery_delay_ms", scheme=one, p=p) for one in ("ARQ", harq)] for p in frequent
    ]
    less = ", ".join(f"{ours.mean:.0f} beside {arq.mean:.0f} ms" for arq, ours in gains)
    return {
        "rare": Verdict(
            at_least(arq, other), f"p = {first:.3f}: {arq.mean:.3f} beside {other.mean:.3f}"
        ),
        "frequent": Verdict(every(at_least(arq, ours) for arq, ours in gains), less),
    }


def _points(number: int, effort: Effort) -> list[Point]:
    """The schemes of a figure at points that lie evenly in p, over which the figure is drawn."""
    figure = parameters("ijscn2014")["figure"][str(number)]
    alpha, slot_ns = figure["alpha"], figure["slot_ns"]
    low, high = ((1 - alpha) / (2 - alpha - beta) for beta in figure["beta"])
    p = np.linspace(low, high, 200)
    p = p[np.linspace(0, len(p) - 1, effort.runs).round().astype(int)]
    return [
        (
            scheme,
            float(share),
            check(
                scheme,
                alpha,
                float(1 - (1 - alpha) * (1 - share) / share),
                rtt_ms=figure["rtt_ms"],
                slot_ns=slot_ns,
                decode_ns=DECODE_NS,
                slots=round(effort.duration_s * 1e9 / slot_ns),
                seed=effort.seed,
            ),
        )
        for scheme in figure["schemes"]
        for share in p
    ]


def _rows(drawn: list[Point]) -> Rows:
    """One row per simulated point, with the closed form as its reference."""
    return Rows(
        Row(
            {"scheme": scheme, "p": round(p, 4)},
            METRICS[check.metric],
            Estimate(float(check.simulated), _half(check.within), 20),
            beside=float(check.model),
        )
        for scheme, p, checks in drawn
        for check in checks
        if check.metric in METRICS and np.isfinite(check.simulated)
    )


def _half(within: float) -> float | None:
    return float(within) if np.isfinite(within) else None
