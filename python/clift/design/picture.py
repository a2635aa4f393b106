"""Pictures of a search: who wins where, and goodput against delay and capacity used."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.patheffects import withStroke

from clift.design.result import BEST, Design, Ranked
from clift.design.text import runner_up
from clift.report.style import COLOURS, Picture

# Further winners share a colour.
_LIGHT = (*COLOURS[:6], "#F0E442", "#999999")
_OTHER = "#DDDDDD"
_NONE = "#FFFFFF"
_MOST_FRONTS = 4
_MAP, _FRONTS = (
    "design-map",
    ("design-front", *(f"design-front-{n}" for n in range(1, _MOST_FRONTS))),
)
PICTURES = (_MAP, *_FRONTS)
"""Names of the pictures."""
# Candidates on a front that are named.
_NAMED = 12


def draw(design: Design) -> Iterator[tuple[str, Figure]]:
    """Every picture with its name, one after the other."""
    if len(design.contests) > 1:
        yield _MAP, winners(design)
    for place, name in enumerate(_FRONTS[: len(design.contests)]):
        yield name, front(design, place)


def winners(design: Design) -> Figure:
    """A map of the winner over two conditions, a panel for each point of the others.

    A cell says whose it is, and by how much it is ahead of the next that differs. Hatched is where
    it is not sure that none of the last round is better, so that nobody is surely behind.
    """
    across, up, rest = _places(design)
    found = design.winners
    firsts = [one.label for one in found if one is not None]
    legend = sorted(dict.fromkeys(firsts), key=lambda label: -firsts.count(label))
    colours = {label: _LIGHT[place] for place, label in enumerate(legend[: len(_LIGHT)])}
    panels = list(product(*(design.axes[axis][1] for axis in rest)))
    columns = min(len(panels), 3)
    rows = -(-len(panels) // columns)
    wide, high = _labels(design, across), _labels(design, up)
    size = (
        max(6.0, columns * (1.0 + 1.12 * len(wide))),
        rows * (0.9 + 0.62 * len(high)) + 1.2 + 0.22 * len(legend) / 2,
    )
    figure = Picture(figsize=size, layout="constrained")
    goal = design.objective
    word = "most" if goal.better == "more" else "least"
    limits = "".join(f", {limit.text}" for limit in design.constraints)
    figure.suptitle(f"{design.title}: who has the {word} {goal.title}{limits}", wrap=True)
    axes_of = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).flat
    for axes, panel in zip(axes_of, panels, strict=False):
        for place, contest in enumerate(design.contests):
            labels = contest.condition
            if tuple(labels[axis] for axis in rest) != panel and any(labels):
                continue
            x = wide.index(labels[across] or "") if across is not None else 0
            y = high.index(labels[up] or "") if up is not None else 0
            _cell(axes, x, y, found[place], _next(design, place), colours)
        axes.set_title(
            ", ".join(
                f"{design.axes[axis][0]} {one}" for axis, one in zip(rest, panel, strict=True)
            )
        )
        _ticks(design, axes, across, up)
    for axes in list(axes_of)[len(panels) :]:
        axes.set_visible(False)
    patches = [Patch(facecolor=colours.get(one, _OTHER), label=one) for one in legend]
    if any(one is not None and one.standing != BEST for one in found):
        undecided = Patch(facecolor="white", hatch="///", edgecolor="black", label="not decided")
        patches.append(undecided)
    figure.legend(
        handles=patches, loc="outside lower center", ncols=min(3, len(patches)), frameon=False
    )
    return figure


def _cell(
    axes: Axes,
    x: int,
    y: int,
    first: Ranked | None,
    ahead: float | None,
    colours: dict[str, str],
) -> None:
    colour = _NONE if first is None else colours.get(first.label, _OTHER)
    told = first is not None and first.standing == BEST
    axes.add_patch(
        Rectangle(
            (x - 0.5, y - 0.5),
            *(1, 1),
            facecolor=colour,
            alpha=0.85 if told else 0.5,
            edgecolor="white" if told else "black",
            hatch="" if told else "///",
            linewidth=1.0,
        )
    )
    text = "none" if first is None else first.label.replace(", ", ",\n")
    if told and ahead is not None:
        text += f"\n{ahead:+.0%}"
    axes.text(
        *(x, y, text),
        ha="center",
        va="center",
        fontsize=7,
        bbox={"facecolor": "white", "alpha": 0.75, "edgecolor": "none", "pad": 1.0},
    )


def _next(design: Design, place: int) -> float | None:
    """How much more (or less) the first has than the next that differs, as a share."""
    second = runner_up(design, place)
    if second is None or second.share is None or second.share <= -1:
        return None
    return 1 / (1 + second.share) - 1


def _places(design: Design) -> tuple[int | None, int | None, list[int]]:
    """Which axes go across and up: of those with several points the two with numbers most."""
    whole = [len(labels) for _, labels in design.axes]
    if not any(any(contest.condition) for contest in design.contests):
        return None, None, []
    several = [place for place, many in enumerate(whole) if many > 1]
    ranked = sorted(several, key=lambda place: (not _is_number(design, place), place))
    across = ranked[0] if ranked else None
    up = ranked[1] if len(ranked) > 1 else None
    return across, up, [place for place in several if place not in (across, up)]


def _is_number(design: Design, place: int) -> bool:
    return all(re.match(r"[-+.\d]", label) for label in design.axes[place][1])


def _labels(design: Design, place: int | None) -> list[str]:
    return [""] if place is None else design.axes[place][1]


def _ticks(design: Design, axes: Axes, across: int | None, up: int | None) -> None:
    wide, high = _labels(design, across), _labels(design, up)
    axes.set_xticks(range(len(wide)), wide)
    axes.set_yticks(range(len(high)), high)
    axes.set_xlim(-0.5, len(wide) - 0.5)
    axes.set_ylim(-0.5, len(high) - 0.5)
    axes.tick_params(length=0)
    if across is not None:
        axes.set_xlabel(design.axes[across][0])
    if up is not None:
        axes.set_ylabel(design.axes[up][0])


def front(design: Design, contest: int = 0) -> Figure:
    """Goodput against delay, by colour the capacity used; those on the front are named.

    The first twelve of the front are named. Small points were set aside. Each is drawn where it
    stands beside the first of the front by the runs that both have; who had too few is not there.
    """
    figure = Picture(figsize=(9, 5.6), layout="constrained")
    axes = figure.subplots()
    points = design.points(contest)
    compared = design.compared(contest)
    on = compared.members
    place = design.where(contest)
    figure.suptitle(f"{design.title}{f' ({place})' if place else ''}: goodput, delay, capacity")
    table = np.array([points[one] for one in points]).reshape(-1, 3)
    alive = set(design.contests[contest].race.alive)
    sizes = [60.0 if one in alive else 18.0 for one in points]
    edges = ["black" if one in on else "none" for one in points]
    dots = axes.scatter(
        table[:, 1] / 1000,
        table[:, 0],
        c=table[:, 2] * 100,
        s=sizes,
        cmap="viridis",
        edgecolors=edges,
        linewidths=1.4,
    )
    figure.colorbar(dots, ax=axes, label="link used (%)")
    # Candidates at one point, as those that do the same in every run, share its label.
    named: dict[tuple[str, str], list[int]] = {}
    for number, one in enumerate(on[:_NAMED], 1):
        named.setdefault((f"{points[one][0]:.3g}", f"{points[one][1]:.3g}"), []).append(number)
    for numbers in named.values():
        goodput, delay, _ = points[on[numbers[0] - 1]]
        axes.annotate(
            *(", ".join(map(str, numbers)), (delay / 1000, goodput), (6, 6)),
            textcoords="offset points",
            fontsize=8,
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
        )
    left = compared.left_out
    left_out = f"; {left} with too few runs are not compared" if left else ""
    handles = [
        Line2D([], [], ls="", marker=f"${number}$", color="black", markersize=7,
               label=f"{design.candidates[one].label} ({compared.points[one].runs} runs)")
        for number, one in enumerate(on[:_NAMED], 1)
    ]  # fmt: skip
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=3,
        frameon=False,
        fontsize=8,
        title="no other has more goodput, less delay and less of the link, by the runs that both "
        f"have{left_out}",
    )
    axes.set(xlabel="99th percentile of the segments' delay (s)", ylabel="goodput (kbit/s)")
    if len(table) and table[:, 1].min() > 0 and table[:, 1].max() > 20 * table[:, 1].min():
        axes.set_xscale("log")
    axes.grid(visible=True, alpha=0.3)
    return figure
