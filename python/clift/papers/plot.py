"""A table or figure of a paper as a picture: measured with intervals, printed as diamonds."""

from __future__ import annotations

from collections import Counter
from itertools import cycle
from typing import TYPE_CHECKING, Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from clift._words import counted
from clift.report.style import COLOURS, DASHES, Picture
from clift.report.style import heading as title

if TYPE_CHECKING:
    from clift.papers.artefact import Outcome, Result, Row

FLAT = 4
MOST_LINES = 8
"""Above this number of lines, the legend lists colours and dashes separately."""
_NAMES = {"papers": "ns-2's TCP", "linux": "a Linux kernel"}
_UNITS = {
    "percent": "%",
    "kbps": "kbit/s",
    "mbps": "Mbit/s",
    "ms": "ms",
    "s": "s",
    "db": "dB",
    "packets": "packets",
}
_WORDS = {"esn0": "Es/N0", "snr": "Es/N0", "ip": "IP", "rto": "RTO", "cwnd": "window", "n": "N"}


def paper_plot(result: Result) -> Figure:
    """Draw an artefact: one row per metric, one column per TCP profile.

    Args:
        result: Results of the artefact.
    """
    outcomes = result.outcomes
    first = result.first
    panels = list(dict.fromkeys(curve.panel for curve in first.curves))
    counts = Counter(row.metric for row in first.rows)
    most = max(counts.values())
    # A single number needs no panel next to lines.
    metrics = [metric for metric, count in counts.items() if count > 1 or most == 1]
    shown = panels or metrics
    columns = len(outcomes)
    if columns == 1 and len(shown) > 1:
        across = min(3, len(shown))
        return _draw(result, shown, bool(panels), -(-len(shown) // across), across)
    return _draw(result, shown, bool(panels), len(shown), columns)


def _draw(result: Result, shown: list[str], over_time: bool, rows: int, columns: int) -> Figure:
    artefact, effort = result.artefact, result.effort
    figure = Picture(figsize=(6.4 * columns + 0.4, 1.6 + 3.6 * rows), layout="constrained")
    title(
        figure,
        f"{artefact.paper}, {artefact.name}: {artefact.title}",
        f"one run of {effort.duration_s:g} s, seed {effort.seed}" if over_time else _means(result),
    )
    grid = figure.subplots(rows, columns, squeeze=False)
    by_row = len(result.outcomes) == columns and rows == len(shown)
    for empty in [] if by_row else list(grid.flat)[len(shown) :]:
        empty.set_visible(False)
    for place, what in enumerate(shown):
        for across, (profile, outcome) in enumerate(result.outcomes.items()):
            axes = grid[place][across] if by_row else grid.flat[place]
            if len(result.outcomes) > 1:
                axes.set_title(_NAMES[profile], fontsize=11)
            if over_time:
                _over_time(axes, outcome, what)
            else:
                _points(axes, result, outcome, what)
            axes.set_ylabel(_label(what))
            axes.grid(visible=True, alpha=0.3)
        if by_row and columns > 1:
            _same_height(list(grid[place]))
    handles, labels = _legend(grid[0][0], over_time, result)
    if labels:
        most = max(map(len, labels))
        ncols = max(1, min(len(labels), int(figure.get_figwidth() / (0.6 + 0.085 * most))))
        figure.legend(handles, labels, loc="outside lower center", ncols=ncols, frameon=False)
    return figure


def _means(result: Result) -> str:
    effort = result.effort
    if result.artefact.is_of_model:
        points = counted(effort.runs, "point")
        return f"{points}, {effort.duration_s:g} s of slots each{_marks(result)}"
    runs = f"{counted(effort.runs, 'run')} of {effort.duration_s:g} s"
    return f"mean of {runs}, 95 % intervals{_marks(result)}"


def _same_height(row: list[Axes]) -> None:
    """One scale for adjacent panels, unless that would flatten one of them."""
    tops = [axes.get_ylim()[1] for axes in row]
    if max(tops) < FLAT * min(tops):
        for axes in row:
            if axes.get_yscale() == "linear":
                axes.set_ylim(top=max(tops))


def _legend(axes: Axes, over_time: bool, result: Result) -> tuple[list[Artist], list[str]]:
    """One entry per line, or the colours and dashes alone if each stands for a label."""
    handles, labels = axes.get_legend_handles_labels()
    names = result.artefact.lines
    if over_time or len(names) < 2 or len(labels) <= MOST_LINES:
        return list(handles), labels
    rows = result.first.rows
    heads = list(dict.fromkeys(_line(row, names[:1]) for row in rows))
    tails = list(dict.fromkeys(_line(row, names[1:]) for row in rows))
    found: list[Artist] = [
        Line2D([], [], color=colour, marker="o", markersize=4)
        for _, colour in zip(heads, cycle(COLOURS), strict=False)
    ]
    found += [Line2D([], [], color="gray", linestyle=_dash(place)) for place in range(len(tails))]
    return found, [*heads, *tails]


def _dash(place: int) -> Any:
    """Dash pattern; eight are distinguishable."""
    more = ((0, (5, 1, 1, 1, 1, 1)), (0, (8, 3)), (0, (1, 3)), (0, (3, 1, 1, 3)))
    return DASHES[place] if place < len(DASHES) else more[(place - len(DASHES)) % len(more)]


def _marks(result: Result) -> str:
    """Meaning of the diamonds, if there are any."""
    rows = result.first.rows
    parts = []
    if any(row.printed is not None for row in rows):
        parts.append("diamonds: printed")
        if any(row.printed is not None and row.fitted for row in rows):
            parts.append("hollow ones used in a fit")
    if any(row.beside is not None for row in rows):
        parts.append(f"hollow diamonds: {result.artefact.reference}")
    return "; " + ", ".join(parts) if parts else ""


def _over_time(axes: Axes, outcome: Outcome, panel: str) -> None:
    curves = [curve for curve in outcome.curves if curve.panel == panel]
    for curve, colour in zip(curves, cycle(COLOURS), strict=False):
        axes.plot(curve.time_s, curve.values, color=colour, linewidth=0.8, label=curve.label)
    axes.set_xlabel("time (s)")
    axes.set_ylim(bottom=0)


def _points(axes: Axes, result: Result, outcome: Outcome, metric: str) -> None:
    artefact = result.artefact
    lines: dict[str, list[Row]] = {}
    for row in outcome.rows:
        if row.metric == metric:
            lines.setdefault(_line(row, artefact.lines), []).append(row)
    ticks = list(dict.fromkeys(row.labels[artefact.x] for row in outcome.rows))
    is_word = any(isinstance(tick, str) for tick in ticks)
    many = len({row.labels.get(artefact.lines[0]) for row in outcome.rows}) if artefact.lines else 0
    colours: dict[str, str] = {}
    tails: dict[str, int] = {}
    for place, (name, rows) in enumerate(lines.items()):
        head = name.split(", ")[0]
        two = len(artefact.lines) > 1 and many > 1
        colour = colours.setdefault(head if two else name, COLOURS[len(colours) % len(COLOURS)])
        dash = _dash(place // len(COLOURS))
        if two:
            dash = _dash(tails.setdefault(name.partition(", ")[2], len(tails)))
        at = [
            ticks.index(row.labels[artefact.x]) if is_word else row.labels[artefact.x]
            for row in rows
        ]
        nudge = 0.06 * (place - (len(lines) - 1) / 2) if is_word else 0.0
        xs = [float(x) + nudge for x in at]
        means = [row.found.mean for row in rows]
        halves = [row.found.half_width or 0.0 for row in rows]
        style = "none" if is_word else dash
        axes.errorbar(xs, means, yerr=halves, linestyle=style, marker="o", markersize=4, capsize=2,
                      linewidth=1.2, color=colour, label=name or None)  # fmt: skip
        for x, row in zip(xs, rows, strict=True):
            _diamond(axes, x, row, colour)
    if is_word:
        axes.set_xticks(range(len(ticks)), [str(tick) for tick in ticks])
    elif all(isinstance(tick, int) for tick in ticks):
        axes.set_xticks(ticks)
    axes.set_xlabel("" if is_word else _label(artefact.x))
    positive = [row.found.mean for row in outcome.rows if row.metric == metric]
    if metric == "erasure_rate" and max(positive) > 0:
        axes.set_yscale("log")  # points without erasures lie below the axis
    elif metric != "success_percent":
        axes.set_ylim(bottom=0)


def _diamond(axes: Axes, x: float, row: Row, colour: str) -> None:
    """The printed value, or as a hollow diamond another reference value."""
    base = row.printed if row.printed is not None else row.beside
    if base is not None:
        face = "none" if row.printed is None or row.fitted else colour
        axes.plot([x], [base], "D", markersize=6, color=colour, markerfacecolor=face, alpha=0.6)


def _line(row: Row, names: tuple[str, ...]) -> str:
    parts = []
    for name in names:
        value = row.labels.get(name)
        is_bare = isinstance(value, str) and name not in ("buffer", "delayed_ack")
        *words, unit = name.split("_")
        if is_bare:
            parts.append(str(value))
        elif unit in _UNITS and words:
            parts.append(f"{' '.join(words)} {value} {_UNITS[unit]}")
        else:
            parts.append(f"{name.replace('_', ' ')} {value}")
    return ", ".join(parts)


def _label(name: str) -> str:
    """Name of a metric in words, with its unit.

    >>> _label("goodput_kbps"), _label("esn0_db"), _label("utilisation")
    ('goodput (kbit/s)', 'Es/N0 (dB)', 'utilisation')
    """
    if " " in name:
        return name
    *words, last = name.split("_")
    if last not in _UNITS or not words:
        return " ".join(_WORDS.get(word, word) for word in [*words, last])
    return f"{' '.join(_WORDS.get(word, word) for word in words)} ({_UNITS[last]})"
