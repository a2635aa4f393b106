"""One sentence on which alternative does best, and where that cannot be told."""

from __future__ import annotations

from clift.campaign.metrics import metric
from clift.campaign.results import Cell, Results
from clift.campaign.statistics import differs


def conclude(results: Results) -> str:
    """Which label of the axis compared is best in each condition, and by how much.

    The axis is `scheme` if that varies, else the first that does. Two alternatives count as
    different only if the 95 % interval of their paired difference excludes zero.

    Args:
        results: What was measured.

    Returns:
        A sentence; empty if nothing varies or nothing is done.
    """
    axis = compared_axis(results)
    if axis is None:
        return ""
    verdicts: dict[str, list[str]] = {}
    for condition, cells in conditions(results, axis).items():
        verdict, detail = _verdict(cells, axis)
        if verdict:
            where = ", ".join(condition)
            verdicts.setdefault(verdict, []).append(f"{where} ({detail})" if where else detail)
    parts = [f"{verdict} for {'; '.join(where)}" for verdict, where in verdicts.items()]
    if not parts:
        return ""
    sentence = ". ".join(parts) if len(parts) == 1 else " | ".join(parts)
    return sentence[0].upper() + sentence[1:] + "."


def compared_axis(results: Results) -> str | None:
    """The axis whose labels are alternatives: `scheme`, else the first that varies."""
    varying = [name for name, labels in results.axes if len(labels) > 1]
    if "scheme" in varying:
        return "scheme"
    return varying[0] if varying else None


def conditions(results: Results, axis: str | None) -> dict[tuple[str, ...], list[Cell]]:
    """The cells by their labels on the other axes (those that vary), in order."""
    varying = {name for name, labels in results.axes if len(labels) > 1}
    grouped: dict[tuple[str, ...], list[Cell]] = {}
    for cell in results.cells:
        key = tuple(
            label for name, label in cell.labels.items() if name != axis and name in varying
        )
        grouped.setdefault(key, []).append(cell)
    return grouped


def _verdict(cells: list[Cell], axis: str) -> tuple[str, str]:
    """The best label and how far it is ahead of the next one."""
    primary = cells[0].primary
    shown = metric(primary)
    ranked = [
        (found.mean, cell) for cell in cells if (found := cell.estimate(primary)) is not None
    ]
    ranked.sort(key=lambda pair: pair[0], reverse=shown.better == "more")
    if len(ranked) < 2:
        return "", ""
    (best, winner), (next_best, second) = ranked[0], ranked[1]
    gap = abs(best - next_best) / next_best if next_best else 0.0
    numbers = f"{best:.3g} against {next_best:.3g} {shown.unit}"
    different = differs(winner.column(primary), second.column(primary))
    names = sorted((winner.labels[axis], second.labels[axis]))
    if different is False or gap == 0:
        return f"no clear difference between {names[0]} and {names[1]}", numbers
    doubt = ", one run" if different is None else ""
    word = "sooner" if shown.better == "less" else "more"
    return f"{winner.labels[axis]} is best", f"{numbers}, {gap:.0%} {word}{doubt}"
