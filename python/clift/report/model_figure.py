"""Picture of the analytical model over a swept parameter."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from clift.model import Prediction
from clift.report.style import COLOURS, Picture

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
