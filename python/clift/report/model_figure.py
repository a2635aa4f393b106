"""Pictures of the analytical model, with or without simulation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from clift.report.style import COLOURS, Picture

if TYPE_CHECKING:
    from clift.model import Prediction
    from clift.papers.analytical import Curve

_NAMES = {
    "p": "erasure probability",
    "burst": "mean burst (slots)",
    "alpha": "alpha: probability of staying good",
    "beta": "beta: probability of staying bad",
    "p_good": "erasure probability in the good state",
    "p_bad": "erasure probability in the bad state",
}


def sweep_figure(name: str, values: Any, found: list[tuple[str, Prediction]]) -> Figure:
    """Efficiency and recovery delay of schemes over a swept parameter.

    Args:
        name: Name of the parameter.
        values: Values of the parameter.
        found: Scheme and its prediction at these values.
    """
    figure = Picture(figsize=(11, 4.5), layout="constrained")
    axes = figure.subplots(1, 2)
    for axis, key, title in (
        (axes[0], "efficiency", "throughput efficiency"),
        (axes[1], "recovery_delay_ms", "recovery delay (ms)"),
    ):
        for place, (scheme, one) in enumerate(found):
            colour = COLOURS[place % len(COLOURS)]
            axis.plot(values, np.ravel(getattr(one, key)), color=colour, label=scheme)
        axis.set(xlabel=_NAMES[name], ylabel=title)
        axis.grid(visible=True, alpha=0.3)
    axes[0].legend(frameon=False)
    return figure


def paper_figure(title: str, curves: list[Curve]) -> Figure:
    """Figure 5 or 6 of Kuhn 2014: (a) efficiency and (b) recovery delay over the erasure rate.

    Lines: exact model (dashed: HARQ-II with interrupted blocks). Points: simulation with 99 %
    intervals. Dotted: formulas printed in the paper.

    Args:
        title: Title of the picture.
        curves: One per scheme, by model and simulation.
    """
    figure = Picture(figsize=(13, 6.2), layout="constrained")
    figure.suptitle(title)
    axes = figure.subplots(1, 2)
    for axis, key, label in (
        (axes[0], "efficiency", "(a) throughput efficiency"),
        (axes[1], "recovery_delay_ms", "(b) recovery delay (ms)"),
    ):
        for place, curve in enumerate(curves):
            colour = COLOURS[place % len(COLOURS)]
            model = np.ravel(getattr(curve.model, key))
            axis.plot(curve.p, model, color=colour, label=f"{curve.scheme}: model")
            if curve.cut_apart is not None:
                cut = np.ravel(getattr(curve.cut_apart, key))
                label_cut = f"{curve.scheme}: interrupted blocks"
                axis.plot(curve.p, cut, "--", color=colour, linewidth=1.2, label=label_cut)
            printed = "printed_efficiency" if key == "efficiency" else "printed_delay_ms"
            values = np.ravel(getattr(curve.model, printed))
            axis.plot(curve.p, values, ":", color=colour, linewidth=1.2, label="_as printed")
            at, simulated, within = curve.points(key)
            axis.errorbar(
                at,
                simulated,
                yerr=within,
                fmt="o",
                markersize=5,
                markerfacecolor="white",
                color=colour,
                capsize=2,
                label=f"{curve.scheme}: TMT",
            )
        axis.set(xlabel="erasure probability", ylabel=label)
        axis.grid(visible=True, alpha=0.3)
        top = axis.secondary_xaxis("top", functions=_bursts(curves[0]))
        top.set_xlabel("mean burst (slots)")
    axes[0].plot([], [], ":", color="gray", label="formula printed in the paper")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


def _bursts(curve: Curve) -> tuple[Any, Any]:
    """Erasure probability to mean burst and back: p / (1 - p) = (1 - alpha) burst."""
    becoming_bad = 1 - curve.alpha

    def burst(p: Any) -> Any:
        p = np.clip(p, 1e-9, 1 - 1e-9)
        return p / (1 - p) / becoming_bad

    def share(length: Any) -> Any:
        odds = np.maximum(length, 0) * becoming_bad
        return odds / (1 + odds)

    return burst, share
