"""Results as aligned text."""

from __future__ import annotations

from math import floor, log10

from clift.campaign.conclusion import conclude
from clift.campaign.metrics import metric
from clift.campaign.results import Cell, Comparison, Results
from clift.campaign.statistics import Estimate

_MOST_COLUMNS = 4
_FURTHER = {
    True: ["share_sent_again", "timeouts", "links.0.share_used"],
    False: ["share_sent_again", "timeouts", "links.0.share_used", "links.0.packet_delay_ms.p95"],
}


def report(results: Results) -> str:
    """All tables and the conclusion, as `clift run` prints them."""
    parts = [f"{results.title} (seed {results.seed})"]
    if not results.is_complete:
        parts[0] += f" - INTERRUPTED after {results.done} of {results.wanted} runs"
    compared = results.comparisons()
    for is_transfer in (True, False):
        cells = [
            (index, cell)
            for index, cell in enumerate(results.cells)
            if cell.is_transfer is is_transfer
        ]
        if cells:
            parts.append(_table(results, cells, compared))
    sentence = conclude(results)
    if sentence:
        parts.append(sentence)
    parts += _notes(results)
    return "\n\n".join(parts)


def _notes(results: Results) -> list[str]:
    """What a run says of itself, from the first cell whose first run says anything."""
    noted = [
        (cell, notes) for cell in results.cells if cell.first and (notes := cell.first.notes())
    ]
    if not noted:
        return []
    cell, notes = noted[0]
    where = ", ".join(cell.name(axis) for axis in cell.labels)
    others = f" (and in {len(noted) - 1} more cells)" if len(noted) > 1 else ""
    return [f"Note{f' on {where}' if where else ''}{others}: {notes[0]}."]


def aligned(rows: list[list[str]], left: int) -> str:
    """Rows with columns of equal width: the first `left` to the left, the others to the right.

    Example:
        >>> print(aligned([["scheme", "s"], ["ARQ", "12.1"]], left=1))
        scheme     s
        ARQ     12.1
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(
            text.ljust(width) if place < left else text.rjust(width)
            for place, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )
    return "\n".join(lines)


def with_interval(found: Estimate | None, scale: float = 1.0) -> str:
    """A mean with its interval, to the digits that the interval leaves.

    Example:
        >>> with_interval(Estimate(12.0672, 0.3124, 200)), with_interval(Estimate(4.57, None, 1))
        ('12.07 ± 0.31', '4.57')
        >>> with_interval(None), with_interval(Estimate(5.0, 0.0, 3))
        ('-', '5 ± 0')
    """
    if found is None:
        return "-"
    mean = found.mean * scale
    if not found.half_width:
        return f"{_plain(mean)}{'' if found.half_width is None else ' ± 0'}"
    half = found.half_width * scale
    digits = 1 - floor(log10(half))
    if mean:
        digits = min(digits, 3 - floor(log10(abs(mean))))
    digits = max(0, min(6, digits))
    return f"{mean:.{digits}f} ± {half:.{digits}f}"


def _plain(value: float) -> str:
    return f"{value:.4g}" if abs(value) < 10_000 else f"{value:.0f}"


def _table(results: Results, cells: list[tuple[int, Cell]], compared: list[Comparison]) -> str:
    here = {index for index, _ in cells}
    beside = {(value.cell, value.metric): value for value in compared if value.cell in here}
    metrics = list(dict.fromkeys([cells[0][1].primary, *(name for _, name in beside)]))
    further = [name for name in _FURTHER[cells[0][1].is_transfer] if name not in metrics]
    axes = [name for name, _ in results.axes if len({cell.labels[name] for _, cell in cells}) > 1]
    fixed = [f"{name} = {cells[0][1].labels[name]}" for name, _ in results.axes if name not in axes]
    # Many metrics of few cells are rows; few metrics of many cells are columns.
    if len(metrics) > _MOST_COLUMNS and len(cells) <= _MOST_COLUMNS:
        text = aligned(_metrics_as_rows(cells, axes, [*metrics, *further], beside), left=1)
    else:
        text = aligned(_cells_as_rows(cells, axes, metrics, further, beside), left=len(axes))
    return f"{', '.join(fixed)}\n{text}" if fixed else text


def _cells_as_rows(
    cells: list[tuple[int, Cell]],
    axes: list[str],
    metrics: list[str],
    further: list[str],
    beside: dict[tuple[int, str], Comparison],
) -> list[list[str]]:
    printed = {name for _, name in beside}
    head = [*axes, "runs"]
    for name in metrics:
        head += [_title(name), "printed", "diff"] if name in printed else [_title(name)]
    rows = [head + [_title(name) for name in further]]
    for index, cell in cells:
        row = [*(cell.labels[axis] for axis in axes), _runs(cell)]
        for name in metrics:
            scale = metric(name).scale
            row.append(with_interval(cell.estimate(name), scale))
            if name in printed:
                row += _printed(beside.get((index, name)), scale)
        rows.append(row + [_mean(cell.estimate(name), metric(name).scale) for name in further])
    return rows


def _metrics_as_rows(
    cells: list[tuple[int, Cell]],
    axes: list[str],
    metrics: list[str],
    beside: dict[tuple[int, str], Comparison],
) -> list[list[str]]:
    head = [""]
    runs = ["runs"]
    for _, cell in cells:
        head += [" ".join(cell.labels[axis] for axis in axes), "printed", "diff"]
        runs += [_runs(cell), "", ""]
    rows = [head, runs]
    for name in metrics:
        row = [_title(name)]
        for index, cell in cells:
            scale = metric(name).scale
            row.append(with_interval(cell.estimate(name), scale))
            row += _printed(beside.get((index, name)), scale)
        rows.append(row)
    return rows


def _title(name: str) -> str:
    shown = metric(name)
    return f"{shown.title} ({shown.unit})" if shown.unit else shown.title


def _runs(cell: Cell) -> str:
    """Runs done; with those that have the metric, where some do not (a file not through)."""
    found = len(cell.column(cell.primary))
    done = len(cell.values)
    return str(done) if found == done else f"{found} of {done}"


def _printed(value: Comparison | None, scale: float) -> list[str]:
    if value is None:
        return ["", ""]
    difference = value.difference
    return [
        f"{value.printed * scale:.6g}",
        "-" if difference is None else f"{difference:+.1%}",
    ]


def _mean(found: Estimate | None, scale: float) -> str:
    return "-" if found is None else _plain(found.mean * scale)
