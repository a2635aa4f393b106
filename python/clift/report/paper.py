"""Figures of a study as SVG and PDF, in a paper's column or page width."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import partial
from math import ceil
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import clift._output as output
from clift._arrays import Floats
from clift._clift import UNIT_AGAIN, UNIT_NEW, UNIT_REPAIR, __version__
from clift.campaign.metrics import metric
from clift.report import panels
from clift.report.page.assemble import GENERATOR
from clift.report.page.content import asked_for, scale, shortened
from clift.report.page.study import Study
from clift.report.page.write import check
from clift.report.panels import Style
from clift.report.plots import Line, Panel, Plot, Put, grouped, of_first_runs
from clift.report.style import COLOURS

# Inches: width of a column and of a two-column page in IEEE and ACM style;
COLUMN, PAGE = 3.5, 7.16
_LONGEST_LABEL = 24
# Formats, and their metadata for the creation time: omitted, so that equal studies give equal
# bytes.
_DATES = {"svg": "Date", "pdf": "CreationDate"}
_MOST_METRICS = 4
# Embed whole fonts, not outlines (Type 3), which publishers refuse. The same study gives the same
# bytes.
_STYLE: dict[Any, Any] = {
    "pdf.fonttype": 42,
    "svg.hashsalt": "clift",
    "text.parse_math": False,  # a label with a dollar sign is not a formula
    "font.size": 8,
    "figure.titlesize": 8,
    "axes.titlesize": 8,
    "legend.fontsize": 7,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "lines.linewidth": 1.1,
    "lines.markersize": 3.5,
    "axes.linewidth": 0.6,
    "grid.linewidth": 0.4,
}
_PRINT = Style(0.75, 1.5, 3, (COLUMN, PAGE), False, _STYLE)


def write(study: Study, folder: Path, force: bool = False) -> list[Path]:
    """Write every figure of a study as SVG and as PDF.

    Args:
        study: The study.
        folder: Output folder; created if missing.
        force: Whether to overwrite files that this function did not write.

    Returns:
        The files.

    Raises:
        ScenarioError: If another file is in the way, or a file is not writable.
    """
    pictures = draw(study)
    made = [(name, suffix, folder / f"{name}.{suffix}") for name in pictures for suffix in _DATES]
    for _, _, path in made:
        check(path, _is_ours, force)
    with output.written(folder):
        folder.mkdir(parents=True, exist_ok=True)
    creator = {"Creator": f"{GENERATOR} {__version__}"}
    with mpl.rc_context(_STYLE):
        drawn: dict[str, Figure] = {}
        for name, suffix, path in made:
            if name not in drawn:
                drawn = {name: pictures[name]()}
            out = io.BytesIO()
            drawn[name].savefig(out, format=suffix, metadata=creator | {_DATES[suffix]: None})
            output.write(path, out.getvalue())
    return [path for _, _, path in made]


def _is_ours(content: bytes) -> bool:
    return f">{GENERATOR} ".encode() in content or f"/Creator ({GENERATOR} ".encode() in content


def draw(study: Study) -> dict[str, Callable[[], Figure]]:
    """Drawing function of each figure: metrics, delays, lines over time, sequences."""
    estimates = dict(study.estimates())
    printed = {name for _, name, _, _ in study.printed()}
    names = asked_for(study, estimates)
    judged = [name for place, name in enumerate(names) if place == 0 or name in printed]
    found: dict[str, Callable[[], Figure]] = {
        f"metric-{name.replace('.', '-')}": partial(_against, study, name, estimates[name])
        for name in judged[:_MOST_METRICS]
    }
    for name, plot in (*of_first_runs(study), ("units", _repairs(study))):
        if plot.panels:
            found[name] = partial(panels.draw, plot, _PRINT)
    return found


def along(study: Study) -> int | None:
    """The axis of the abscissa: preferably a condition with numbers."""
    varying = study.varying

    def rank(number: int) -> tuple[bool, bool, bool]:
        axis = study.axes[number]
        return (axis.name == study.compared, scale(axis.labels) is None, not axis.is_condition)

    return min(varying, key=rank, default=None)


def _against(study: Study, name: str, found: dict[str, Floats]) -> Figure:
    shown, axis = metric(name), along(study)
    prints = {cell: value for cell, of, value, _ in study.printed() if of == name}
    places = np.zeros(study.size)
    labels: list[str] | None = ["all runs"]
    x = ""
    if axis is not None:
        known, one = scale(study.axes[axis].labels), study.axes[axis]
        labels = None if known else list(one.labels)
        places = np.asarray(known[0] if known else range(len(one.labels)), float)[
            study.places[axis]
        ]
        x = f"{one.name} ({known[1]})" if known and known[1] else one.name

    def line(cells: list[int], _: int | None, place: int, lines: int) -> Put:
        aside = (place - (lines - 1) / 2) * 0.12 if labels else 0.0
        cells = sorted(cells, key=lambda cell: places[cell])
        mean, low, high = (found[part][cells] * shown.scale for part in ("mean", "low", "high"))
        known = [cell for cell in cells if cell in prints]

        def put(axes: Axes, look: dict[str, Any]) -> None:
            errors = np.nan_to_num([mean - low, high - mean]).clip(0)
            look = look | ({"ls": "none"} if labels else {})
            axes.errorbar(places[cells] + aside, mean, errors, capsize=2, elinewidth=0.7, **look)
            axes.plot(
                places[known] + aside,
                [prints[cell] * shown.scale for cell in known],
                "D",
                markerfacecolor="none",
                markeredgecolor="black",
                label="printed" if known else None,
            )
            if labels:
                axes.set_xlim(-0.5, len(labels) - 0.5)

        return put

    there = [(cell, None) for cell in range(study.size) if not np.isnan(found["mean"][cell])]
    drawn = grouped(study, there, line, axis)
    # A long name must not take the place of the plot, nor many names.
    every = max(1, ceil(len(labels or ()) / 40))
    ticks = [
        "" if place % every else shortened(one, _LONGEST_LABEL)
        for place, one in enumerate(labels or ())
    ]
    plot = Plot(
        shown.title,
        x,
        shown.heading,
        drawn,
        share_y=True,
        from_zero=True,
        ticks=[ticks] * len(drawn) if labels else None,
    )
    return panels.draw(plot, _PRINT)


def _repairs(study: Study) -> Plot:
    """One panel per cell: its units around a loss, named as the link names them."""
    drawn = []
    for cell, log in study.of_cells("units"):

        def put(axes: Axes, _: dict[str, Any], log: dict[str, Any] = log) -> None:
            time, kind, number = log["time_s"], log["kind"], log["number"]
            erased = np.isnan(log["arrival_s"].astype(float))
            styles = (
                (kind == UNIT_REPAIR, "repair", "^", 3, 2.5),
                (kind == UNIT_NEW, "first transmission", ".", 0, 1.5),
                (kind == UNIT_AGAIN, "retransmission", "x", 1, 3.5),
            )
            for here, name, marker, colour, size in styles:
                if here.any():
                    look: dict[str, Any] = {
                        "color": COLOURS[colour],
                        "label": name,
                        "markersize": size,
                    }
                    axes.plot(time[here], number[here], marker, **look)
            if erased.any():
                look = {"color": COLOURS[6], "markerfacecolor": "none", "markersize": 4.5}
                axes.plot(time[erased], number[erased], "o", label="erased", **look)
            back = log["of_the_loss"] & ~erased
            look = {"color": COLOURS[4], "markersize": 3.5}
            label = "arrival of the lost packet"
            axes.plot(log["arrival_s"][back], number[back], "v", label=label, **look)

        title = f"{study.name(cell)}: {log['unit'][0]}s"
        drawn.append(Panel(title, [cell], [Line("", 0, 0, put)]))
    return Plot("units around a loss", "time (s)", "unit, by number", drawn)
