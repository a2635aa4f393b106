"""Notes on the limits of a campaign's means and intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import ceil, floor, log10
from pathlib import Path

import numpy as np

from clift._words import counted
from clift.campaign.results import Cell, Results
from clift.campaign.statistics import FEWEST_INDEPENDENT
from clift.scenario import Scenario

# Starts are random, so the proposal exceeds the minimum.
_AIM = FEWEST_INDEPENDENT + 1
# Runs from which on more of them say little more of one trace.
_USUAL_RUNS = 12
_MOST_RUNS = 1000
AS_IT_SAYS = "as the trace says"
"""How the note of a value ends that was taken from a trace."""


def caveats(results: Results) -> list[str]:
    """All notes, one sentence each: first on shared draws, then those of the runs.

    What was taken from a trace as it says is left out: the record has it by key.
    """
    scenarios = (cell.scenario for cell in results.drawn if cell.scenario is not None)
    found = [given(results), two_bbrs(scenarios), *map("{}.".format, overridden(results))]
    found += [f"{note}." for note in notes(results) if not note.endswith(AS_IT_SAYS)]
    return [one for one in found if one]


def overridden(results: Results) -> list[str]:
    """Keys of the scenario with a value that no cell has, as [vary] sets them."""
    made = (cell.scenario for cell in results.drawn if cell.scenario is not None)
    return next((scenario.overridden() for scenario in made), [])


def notes(results: Results) -> list[str]:
    """Notes of the first runs of the first cells, without repetitions."""
    return list(dict.fromkeys(note for _, found in noted(results) for note in found))


def noted(results: Results) -> list[tuple[Cell, list[str]]]:
    """The first cells whose first run has notes, with these.

    With several traces each note names its own.
    """
    cells = [cell for cell in results.drawn if cell.first is not None]
    traces = [_trace(cell) for cell in cells]
    prefixes = [f"{name}: " if name and len(set(traces)) > 1 else "" for name in traces]
    told = [
        (cell, [f"{prefix}{note}" for note in cell.first.notes()] if cell.first else [])
        for cell, prefix in zip(cells, prefixes, strict=True)
    ]
    return [(cell, found) for cell, found in told if found]


def _trace(cell: Cell) -> str:
    config = {} if cell.scenario is None else cell.scenario.config
    file = (config.get("trace") or {}).get("file")
    return Path(file).name if file else ""


def two_bbrs(scenarios: Iterable[Scenario]) -> str:
    """Which `bbr` is which, where both TCP and QUIC have it; else empty."""
    used = set()
    for scenario in scenarios:
        config = scenario.config
        for one in [config["transport"], *(flow["transport"] for flow in config["flow"])]:
            used.add((one["protocol"], one["congestion"]))
    if not {("tcp", "bbr"), ("quic", "bbr")} <= used:
        return ""
    return "bbr is the Linux kernel's BBR, version 1, over TCP, and quinn's BBR over QUIC."


def several(results: Results) -> list[int]:
    """The cells with more than one run."""
    return np.flatnonzero(results.counts() > 1).tolist()


def given(results: Results) -> str:
    """Draws that all runs share and the effect on intervals; empty if they share none."""
    kept = () if results.is_large else results.cells
    if exact := [cell for cell in kept if cell.is_exact]:
        return _once(exact, len(exact) == len(results.cells))
    cells = [cell for at in several(results) if (cell := results.cells[at]).shared]
    if not cells:
        return ""
    what = "trace" if any(cell.shared == "trace" for cell in cells) else "channel"
    started = [cell for cell in cells if cell.windows]
    worth = [(found, cell) for cell in started if (found := cell.independent(cell.values))]
    if not worth:
        return (
            f"Given this {what}: all runs start at one time of it, so that the intervals say how "
            "runs over it differ, and nothing about another."
        )
    least, cell = min(worth, key=lambda pair: pair[0])
    runs = len(cell.values)
    overlap = " and overlap" if least < runs else ""
    said = (
        f"Given this {what}: runs start at random times of it{overlap}; {runs} of them count as "
        f"{least:.1f} independent ones"
    )
    if least >= FEWEST_INDEPENDENT:
        return f"{said}."
    return f"{said}, too few for an interval. {_cure(cell, what)}"


def _once(cells: list[Cell], are_all: bool) -> str:
    """That one run is exact for what is given, and what would be evidence beyond it."""
    what = "trace" if any(cell.shared == "trace" for cell in cells) else "channel"
    lasts = max(max(cell.column("duration_s").values(), default=0.0) for cell in cells)
    who = "Nothing is drawn" if are_all else f"In {counted(len(cells), 'cell')} nothing is drawn"
    draw = "" if what == "trace" else " or redraw = true"
    return (
        f"{who}: every run over this {what} is the same, so that one was run, and its numbers are "
        f"exact for this {what}. Of others it says nothing; {_USUAL_RUNS} windows of it (start = "
        f'"random", runs = {_USUAL_RUNS}, {ceil(_USUAL_RUNS * lasts / 60)} min of trace or more)'
        f"{draw}, another trace, or a channel drawn for each run would."
    )


def _cure(cell: Cell, what: str) -> str:
    """Remedy for a missing interval: more runs, or shorter ones."""
    window = next(iter(cell.windows.values()))
    lasts = float(np.mean(list(cell.column("duration_s").values())))

    def shared(length: float) -> float:
        return overlap(length, window.length_s, window.wraps)

    share = shared(lasts)
    wanted = _AIM * (1 - share) / (1 - _AIM * share) if _AIM * share < 1 else _MOST_RUNS
    if wanted < _MOST_RUNS:
        # The number suffices on average; the drawn starts happen to overlap.
        more = max(_USUAL_RUNS, ceil(wanted), 2 * len(cell.values))
        return f"At least {more} runs of this length would give one."
    runs = max(_USUAL_RUNS, len(cell.values))
    most = longest(shared, (runs - _AIM) / (_AIM * (runs - 1)), lasts)
    of_them = f", {runs} of them," if runs > len(cell.values) else ""
    return (
        f"Runs of at most {most:g} s of this {what}{of_them} would give one, or a longer {what}; "
        "more alone would not."
    )


def overlap(length: float, period: float, wraps: bool) -> float:
    """The share of their time that two runs have in common, on average over where they start.

    Args:
        length: Of a run.
        period: Of the trace.
        wraps: Whether the trace repeats, so that a run may start anywhere in it.

    Example:
        >>> overlap(10, 100, True), round(overlap(10, 110, False), 4), overlap(100, 100, False)
        (0.1, 0.0967, 1.0)
    """
    if wraps:
        return min(1.0, length / period)
    room = period - length
    if room <= 0:
        return 1.0
    if room <= length:
        return 1 - room / (3 * length)
    return length / room - (length / room) ** 2 / 3


def longest(shared: Callable[[float], float], most: float, lasts: float) -> float:
    """The longest run of which two share at most so much, rounded down to two figures.

    Args:
        shared: What two runs share, by their length.
        most: What they may share.
        lasts: How long they are now.

    Example:
        >>> longest(lambda length: length / 90, 0.18, 60)
        16.0
    """
    low, high = 0.0, lasts
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if shared(middle) <= most else (low, middle)
    unit: float = 10.0 ** (floor(log10(low)) - 1)
    return round(floor(low / unit + 1e-9) * unit, 9)
