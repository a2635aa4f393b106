"""Causes of a run as a picture: the use of the capacity, and when it was idle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import clift._clift as _clift
from clift.report.style import COLOURS
from clift.simulation import Run

if TYPE_CHECKING:
    from clift.diagnosis.replay import Edits

# Bars of the time panel, and cuts that it marks.
_BARS = 120
_MARKED = 5
# Shares of a panel's width that the number of a bar and the upright name of a cut take.
_NUMBER = 0.3
_NAME = 0.018


def draw(run: Run, found: dict[str, Any], edits: Edits | None = None) -> Figure:
    """Draw the causes of a run.

    Args:
        run: The run.
        found: What `Run.why` returned.
        edits: What differs in another run, whose goodput is drawn beside that of this one.

    Example:
        >>> import clift
        >>> phy = clift.channel.bernoulli(slots=20_000, p=0.02, seed=1)
        >>> run = clift.simulate(clift.LiveLink(phy, "ARQ"), duration_s=2)
        >>> [axes.get_xlabel() for axes in draw(run, run.why()).axes]
        ['kbit/s', 'time (s)']
    """
    ratios = [len(found["budget"]) + 1, 6] + [6] * (edits is not None)
    figure = Figure(figsize=(9, 6.5 + 3 * (edits is not None)), layout="constrained")
    parts, time, *beside = figure.subplots(len(ratios), 1, height_ratios=ratios)
    _parts(parts, found)
    _time(time, run, found)
    if edits is not None:
        _beside(beside[0], run, found, edits)
    return figure


def _parts(axes: Axes, found: dict[str, Any]) -> None:
    rows = [("goodput", found["goodput_kbps"])]
    rows += [(part["title"], part["kbps"]) for part in found["budget"]]
    capacity = found["capacity_kbps"]
    left = 0.0
    for place, (_, kbps) in enumerate(rows):
        axes.barh(place, kbps, left=left, color=COLOURS[0] if place == 0 else COLOURS[1])
        begin, left = left, left + kbps
        # Behind the bar, before it, or inside it if it fills the panel.
        at, side, colour = left, "left", "black"
        if capacity - left < _NUMBER * capacity:
            is_before = begin >= _NUMBER * capacity
            at, side = begin if is_before else left, "right"
            colour = "black" if is_before else "white"
        axes.text(
            at,
            place,
            f"  {kbps:.1f} kbit/s ({100 * kbps / capacity:.1f} %)  ",
            va="center",
            ha=side,
            color=colour,
            fontsize=8,
        )
    axes.set_yticks(range(len(rows)), [title for title, _ in rows])
    axes.invert_yaxis()
    axes.set_xlim(0, capacity)
    axes.set_xlabel("kbit/s")
    axes.set_title(f"Use of the capacity, {capacity:.4g} kbit/s", loc="left")


def _time(axes: Axes, run: Run, found: dict[str, Any]) -> None:
    line = _clift.why(run.scenario.setup(), None, True)["line"]
    edges = np.linspace(0, found["duration_s"], _BARS + 1)
    step = edges[1] - edges[0]

    def rates(name: str) -> Any:
        return np.diff(np.interp(edges, line["time_s"], line[name])) / step

    capacity, idle = rates("capacity_kbit"), rates("idle_kbit")
    axes.stairs(capacity, edges, fill=True, color="0.85", label="idle")
    axes.stairs(capacity - idle, edges, fill=True, color=COLOURS[5], label="carried")
    marked = [cut for cut in found["costliest"][:_MARKED] if cut["cost_kbps"] > 0]
    marked.sort(key=lambda cut: cut["at_s"])
    places = _apart([cut["at_s"] for cut in marked], _NAME * found["duration_s"])
    for cut, place in zip(marked, places, strict=True):
        is_false = cut["cause"] == "false_loss"
        axes.axvline(cut["at_s"], color=COLOURS[1] if is_false else COLOURS[6], linewidth=1)
        axes.annotate(
            f"cut:{cut['number']}",
            (place, capacity.max()),
            (1, 2),
            textcoords="offset points",
            fontsize=7,
            rotation=90,
        )
    if "moment" in found:
        axes.axvline(found["moment"]["at_s"], color=COLOURS[2], linestyle="--", label="asked")
    axes.set_xlim(0, found["duration_s"])
    axes.set_ylim(0, 1.35 * capacity.max())
    axes.set_xlabel("time (s)")
    axes.set_ylabel("kbit/s")
    axes.set_title("When it was idle, and the cuts that cost most", loc="left")
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=3, fontsize=8, frameon=False)


def _apart(places: list[float], least: float) -> list[float]:
    """The sorted places, moved on where they are too close.

    Example:
        >>> _apart([1.0, 1.5, 9.0], 2.0)
        [1.0, 3.0, 9.0]
    """
    found: list[float] = []
    for place in places:
        found.append(max(place, found[-1] + least) if found else place)
    return found


def _beside(axes: Axes, run: Run, found: dict[str, Any], edits: Edits) -> None:
    """Goodput over time of the run and of the one with the change."""
    from clift.diagnosis.replay import setup

    end = found["duration_s"]
    for made, name, colour in (
        (run.scenario.setup(), "this run", COLOURS[0]),
        (setup(run.scenario, edits), "with the change", COLOURS[2]),
    ):
        series = _clift.series(made, max(1000, round(end * 1e9 / _BARS)), None)
        time = np.asarray(series["time_s"])
        instants, place = np.unique(time, return_inverse=True)
        goodput = np.bincount(place, np.nan_to_num(np.asarray(series["goodput_kbps"])))
        axes.plot(instants, goodput, label=name, color=colour, linewidth=1)
    axes.set_xlim(0, end)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("time (s)")
    axes.set_ylabel("kbit/s")
    gained = found["replay"]["goodput_kbps"] - run.goodput_kbps
    axes.set_title(f"Goodput with the change: {gained:+.4g} kbit/s over the run", loc="left")
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2, fontsize=8, frameon=False)
