"""Figures of a study as SVG and PDF, in a paper's column or page width."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import partial
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

import clift._output as output
from clift._clift import UNIT_AGAIN, UNIT_NEW, UNIT_REPAIR, __version__
from clift.campaign.metrics import metric
from clift.report.page.assemble import GENERATOR
from clift.report.page.content import asked_for, distributions, over_time, repairs, scale, sequences
from clift.report.page.study import Study
from clift.report.page.write import check
from clift.report.sequence import segments
from clift.report.style import COLOURS, DASHES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

# Inches: width of a column and of a two-column page in IEEE and ACM style; height of a panel.
COLUMN, PAGE = 3.5, 7.16
_PANEL = 1.75
_LONGEST_LABEL = 24
# Formats, and their metadata for the creation time: omitted, so that equal studies give equal
# bytes.
_DATES = {"svg": "Date", "pdf": "CreationDate"}
_MOST_PANELS = 12
_MOST_METRICS = 4
_MARKERS = ("o", "s", "^", "v")
# Embed whole fonts, not outlines (Type 3), which publishers refuse. The same study gives the same
# bytes.
_STYLE: dict[Any, Any] = {
    "pdf.fonttype": 42,
    "svg.hashsalt": "clift",
    "text.parse_math": False,  # a label with a dollar sign is not a formula
    "font.size": 8,
    "axes.titlesize": 8,
    "legend.fontsize": 7,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "lines.linewidth": 1.1,
    "lines.markersize": 3.5,
    "axes.linewidth": 0.6,
    "grid.linewidth": 0.4,
}


class Line(NamedTuple):
    """A line of a panel: its name, its look (a number), and its drawing function."""

    name: str
    look: int
    draw: Callable[[Axes, dict[str, Any]], object]


class Panel(NamedTuple):
    """A panel: its title and its lines."""

    title: str
    lines: list[Line]


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
    pictures = (
        ("delay-cdf", "one-way delay (ms)", "share of segments", _delays(study)),
        ("rate", "time (s)", "goodput (kbit/s)", _over_time(study, "rate")),
        ("window", "time (s)", "window (packets)", _over_time(study, "window")),
        ("queue", "time (s)", "queue (packets)", _over_time(study, "queue")),
        ("sequence", "time (s)", "sequence number (kB)", _sequences(study)),
        ("units", "time (s)", "unit, by number", _repairs(study)),
    )
    for name, x, y, panels in pictures:
        if panels:
            found[name] = partial(_figure, panels, x, y)
    return found


def along(study: Study) -> int | None:
    """The axis of the abscissa: preferably a condition with numbers."""
    varying = study.varying

    def rank(number: int) -> tuple[bool, bool, bool]:
        axis = study.axes[number]
        return (axis.name == study.compared, scale(axis.labels) is None, not axis.is_condition)

    return min(varying, key=rank, default=None)


def _against(study: Study, name: str, found: dict[str, NDArray[np.float64]]) -> Figure:
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

    def line(cells: list[int], aside: float) -> Callable[[Axes, dict[str, Any]], object]:
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

        return put

    there = [cell for cell in range(study.size) if not np.isnan(found["mean"][cell])]
    panels = _grouped(study, there, [] if axis is None else [axis], line, bool(labels))
    return _figure(panels, x, shown.heading, labels, from_zero=True)


def _grouped(
    study: Study,
    cells: list[int],
    without: list[int],
    line: Callable[[list[int], float], Callable[[Axes, dict[str, Any]], object]],
    aside: bool = False,
) -> list[Panel]:
    """One panel per condition, with one line per alternative."""
    names = [axis.name for axis in study.axes]
    compared = None if study.compared is None else names.index(study.compared)
    if compared in without:
        compared = None
    others = [axis for axis in study.varying if axis != compared and axis not in without]
    groups: dict[tuple[int, ...], dict[int, list[int]]] = {}
    for cell in cells:
        key = tuple(int(study.places[axis][cell]) for axis in others)
        look = 0 if compared is None else int(study.places[compared][cell])
        groups.setdefault(key, {}).setdefault(look, []).append(cell)
    panels = []
    for key, lines in groups.items():
        title = ", ".join(
            study.axes[axis].names[place] for axis, place in zip(others, key, strict=True)
        )
        middle = (len(lines) - 1) / 2
        panels.append(
            Panel(
                title,
                [
                    Line(
                        "" if compared is None else study.axes[compared].names[look],
                        look,
                        line(members, (place - middle) * 0.12 if aside else 0.0),
                    )
                    for place, (look, members) in enumerate(lines.items())
                ],
            )
        )
    return panels


def _delays(study: Study) -> list[Panel]:
    found = {cell: (x, y) for cell, x, y in distributions(study)}

    def line(cells: list[int], _: float) -> Callable[[Axes, dict[str, Any]], object]:
        x, y = found[cells[0]]
        return lambda axes, look: axes.step(x, y, where="post", **(look | {"marker": None}))

    return _grouped(study, list(found), [], line)


def _over_time(study: Study, what: str) -> list[Panel]:
    """First flow of each cell."""
    found = {cell: drawn[what] for cell, flow, drawn in over_time(study) if flow == 0}
    if not any(np.nanmax(y, initial=0) > 0 for _, y in found.values()):
        return []

    def line(cells: list[int], _: float) -> Callable[[Axes, dict[str, Any]], object]:
        x, y = found[cells[0]]
        return lambda axes, look: axes.plot(x, y, **(look | {"marker": None}))

    return _grouped(study, list(found), [], line)


def _sequences(study: Study) -> list[Panel]:
    """One panel per cell."""
    panels = []
    for cell, log in sequences(study):

        def put(axes: Axes, _: dict[str, Any], log: dict[str, Any] = log) -> None:
            segments(axes, log["time_s"], log["kind"], log["seq"], size=0.5)

        panels.append(Panel(study.name(cell), [Line("", 0, put)]))
    return panels


def _repairs(study: Study) -> list[Panel]:
    """One panel per cell: its units around a loss, named as the link names them."""
    panels = []
    for cell, log in repairs(study):

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

        panels.append(Panel(f"{study.name(cell)}: {log['unit'][0]}s", [Line("", 0, put)]))
    return panels


def _fill(axes: Axes, panel: Panel, titled: bool) -> None:
    for line in panel.lines:
        look = {
            "color": COLOURS[line.look % len(COLOURS)],
            "ls": DASHES[line.look // len(COLOURS) % len(DASHES)],
            "marker": _MARKERS[line.look % len(_MARKERS)],
            "label": line.name or None,
        }
        line.draw(axes, look)
    if titled:
        axes.set_title(panel.title)
    axes.grid(visible=True, alpha=0.4)


def _figure(
    panels: list[Panel], x: str, y: str, labels: list[str] | None = None, from_zero: bool = False
) -> Figure:
    """Panels side by side: one in column width, several in page width."""
    drawn = panels[:_MOST_PANELS]
    columns = 1 if len(drawn) <= 1 else 2 if len(drawn) in (2, 4) else 3
    rows = max(1, ceil(len(drawn) / columns))
    width = COLUMN if columns == 1 else PAGE
    figure = Figure(figsize=(width, 0.55 + rows * (_PANEL + 0.25)), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False, sharey=from_zero)
    legend: dict[str, Any] = {}
    for place, axes in enumerate(grid.flat):
        if place >= len(drawn):
            axes.set_visible(False)
            continue
        _fill(axes, drawn[place], len(drawn) > 1)
        if labels is not None:
            every = max(1, ceil(len(labels) / 40))
            # A long name must not take the place of the plot.
            shown = [
                one if len(one) <= _LONGEST_LABEL else f"{one[: _LONGEST_LABEL - 1]}…"
                for one in labels[::every]
            ]
            is_wide = columns * sum(map(len, shown)) * 0.07 > width
            slant = {"rotation": 35, "ha": "right", "rotation_mode": "anchor"} if is_wide else {}
            axes.set_xticks(range(0, len(labels), every), shown, **slant)
            axes.set_xlim(-0.5, len(labels) - 0.5)
        if place + columns >= len(drawn):
            axes.set_xlabel(x)
        if place % columns == 0:
            axes.set_ylabel(y)
        handles, names = axes.get_legend_handles_labels()
        legend |= {name: handle for handle, name in zip(handles, names, strict=True)}
    if from_zero and drawn:
        grid[0, 0].set_ylim(0)
    if legend:
        longest = max(map(len, legend))
        across = max(1, min(len(legend), int(width / (0.45 + 0.06 * longest))))
        figure.legend(
            list(legend.values()),
            list(legend),
            loc="outside lower center",
            ncols=across,
            frameon=False,
        )
    if len(panels) > len(drawn):
        figure.suptitle(f"the first {len(drawn)} of {len(panels)} conditions", fontsize=7)
    return figure
