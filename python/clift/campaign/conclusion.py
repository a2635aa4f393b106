"""One sentence on which alternative does best, and where that cannot be told."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean

from clift.campaign.metrics import metric
from clift.campaign.results import Cell, Results
from clift.campaign.statistics import differs

Condition = tuple[str | None, ...]

# In the place of what somebody is ahead of, where that cannot be told.
_OPEN = "?"


@dataclass(frozen=True, slots=True)
class _Lead:
    """How far the best is ahead of the next: from, to, and of what."""

    low: float
    high: float
    word: str


def conclude(results: Results) -> str:
    """Which label of the axis compared is best in each condition, and by how much.

    Two alternatives count as different only if the 95 % interval of their paired difference
    excludes zero. A file that was not through counts with the time that it had, so that what is
    best has all of its own through. What an interrupt left without a second run is passed over.

    Args:
        results: What was measured.

    Returns:
        A sentence; empty if no alternatives vary or nothing is done.
    """
    axis = compared_axis(results)
    if axis is None:
        return ""
    verdicts: dict[str, dict[Condition, _Lead]] = {}
    for condition, cells in conditions(results, axis).items():
        found = _verdict(cells, axis)
        if found is not None:
            verdicts.setdefault(found[0], {})[condition] = found[1]
    labels = [names for name, names in results.axes if name != axis and len(names) > 1]
    parts = [f"{verdict}{_listed(_merged(where, labels))}" for verdict, where in verdicts.items()]
    sentence = "; ".join(parts)
    if not sentence:
        return ""
    if not results.is_complete:
        return f"So far: {sentence}."
    if sentence.startswith(("no ", "none ")):  # labels and axes stay as written in the file
        sentence = f"N{sentence[1:]}"
    return f"{sentence}."


def compared_axis(results: Results) -> str | None:
    """The axis whose labels are alternatives: `scheme`, else the first that is no condition."""
    varying = _varying(results)
    if "scheme" in varying:
        return "scheme"
    return next((name for name in varying if name not in results.conditions), None)


def coloured_axis(results: Results) -> str | None:
    """The axis that plots tell apart by colour: the one compared, else the first that varies."""
    return compared_axis(results) or next(iter(_varying(results)), None)


def _varying(results: Results) -> list[str]:
    return [name for name, labels in results.axes if len(labels) > 1]


def conditions(results: Results, axis: str | None) -> dict[Condition, list[Cell]]:
    """The cells by their names on the other axes (those that vary), in order."""
    varying = {name for name, labels in results.axes if len(labels) > 1}
    grouped: dict[Condition, list[Cell]] = {}
    for cell in results.cells:
        key = tuple(cell.name(name) for name in cell.labels if name != axis and name in varying)
        grouped.setdefault(key, []).append(cell)
    return grouped


def _verdict(cells: list[Cell], axis: str) -> tuple[str, _Lead] | None:
    """The best label and how far it is ahead of the next one."""
    if len(cells) < 2 or not all(cell.values for cell in cells):
        return None
    primary = cells[0].primary
    shown = metric(primary)
    ranked = sorted(cells, key=lambda cell: fmean(_times(cell).values()))
    if shown.better == "more":
        ranked.reverse()
    winner, second = ranked[:2]
    if not _is_through(winner):
        return "none is called best, as some files were not through", _Lead(0.0, 0.0, _OPEN)
    best, next_best = fmean(_times(winner).values()), fmean(_times(second).values())
    gap = abs(best - next_best) / next_best if next_best else 0.0
    different = differs(_times(winner), _times(second))
    if different is None and len(winner.values) < winner.wanted:
        return None
    if different is False or gap < 0.005:  # it would read as 0 %
        names = sorted((winner.name(axis), second.name(axis)))
        return f"no clear difference between {names[0]} and {names[1]}", _Lead(gap, gap, "")
    word = "less time" if shown.better == "less" else f"more {shown.title}"
    if not _is_through(second):
        word += " or better"
    if different is None:
        word += ", a single run"
    return f"{winner.name(axis)} is best", _Lead(gap, gap, word)


def _times(cell: Cell) -> dict[int, float]:
    """What a cell is judged by, of each run; the whole run where a file was not through."""
    return {
        run: values[cell.primary if cell.primary in values else "duration_s"]
        for run, values in cell.values.items()
    }


def _is_through(cell: Cell) -> bool:
    return len(cell.column(cell.primary)) == len(cell.values)


def _merged(
    where: dict[Condition, _Lead], labels: list[list[str]]
) -> list[tuple[Condition, _Lead]]:
    """Conditions that differ in one axis only and cover all of its labels become one."""
    for place in reversed(range(len(labels))):
        groups: dict[tuple[Condition, str], list[Condition]] = {}
        for condition, lead in where.items():
            rest = (*condition[:place], None, *condition[place + 1 :])
            groups.setdefault((rest, lead.word), []).append(condition)
        merged: dict[Condition, _Lead] = {}
        for (rest, word), members in groups.items():
            leads = [where[member] for member in members]
            if len(members) == len(labels[place]):
                low, high = min(x.low for x in leads), max(x.high for x in leads)
                merged[rest] = _Lead(low, high, word)
            else:
                merged.update(zip(members, leads, strict=True))
        where = merged
    return list(where.items())


def _listed(where: list[tuple[Condition, _Lead]]) -> str:
    parts = []
    for condition, lead in where:
        place = " ".join(label for label in condition if label is not None)
        low, high = f"{lead.low * 100:.0f}", f"{lead.high * 100:.0f}"
        span = f"{low} %" if low == high else f"{low} to {high} %"
        much = f"({span} {lead.word})" if lead.word else f"({span} apart)"
        parts.append(f"{place} {much if lead.word != _OPEN else ''}".strip())
    if not any(label for condition, _ in where for label in condition):
        return f" {parts[0]}".rstrip()
    several = len(parts) > 1
    listed = ", ".join(parts[:-1]) + " and " + parts[-1] if several else parts[0]
    return f" for {listed}"
