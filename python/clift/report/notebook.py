"""A campaign in a notebook: a table of its cells, and the conclusion."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from clift._words import counted
from clift.campaign.conclusion import conclude
from clift.campaign.metrics import metric
from clift.campaign.results import Cell, Results
from clift.report.text import with_interval

# A longer table would hide the rest of the notebook.
_MOST_ROWS = 60
_SHOWN = (
    *("completion_s", "goodput_kbps", "share_sent_again", "timeouts", "links.0.share_used"),
    "links.0.packet_delay_ms.p95",
)


def html(results: Results) -> str:
    """One row per cell: labels, runs, means with 95 % intervals, printed values; the conclusion.

    Args:
        results: The campaign.

    Example:
        >>> from clift.campaign.values import Values
        >>> cells = [Cell({"scheme": "<b>"}, True, 2, Values({0: {"completion_s": 4.0}}))]
        >>> text = html(Results("x", 1, [("scheme", ["<b>"])], cells, []))
        >>> "<th>&lt;b&gt;</th><td>1</td><td>4</td>" in text, "INTERRUPTED after 1 of 2" in text
        (True, True)
    """
    cells = results.cells[:_MOST_ROWS]
    columns = [name for name in _SHOWN if any(cell.estimate(name) is not None for cell in cells)]
    printed = {
        (one.cell, one.metric): one.printed
        for one in results.comparisons()
        if one.metric in columns and one.cell < len(cells)
    }
    beside = [name for name in columns if any(of == name for _, of in printed)]
    axes = [name for name, _ in results.axes]
    heads = [*axes, "runs"]
    for name in columns:
        heads.append(metric(name).heading)
        heads += ["printed"] if name in beside else []
    rows = [_row("th", heads)]
    for index, cell in enumerate(cells):
        texts = [str(len(cell.values))]
        for name in columns:
            texts.append(with_interval(cell.estimate(name), metric(name).scale))
            if name in beside:
                value = printed.get((index, name))
                texts.append("" if value is None else f"{value * metric(name).scale:g}")
        rows.append(_cell_row(cell, axes, texts))
    caption = f"{results.title} (seed {results.seed})"
    if not results.is_complete:
        caption += f", INTERRUPTED after {results.done} of {counted(results.wanted, 'run')}"
    if len(results.cells) > len(cells):
        caption += f"; the first {len(cells)} of {len(results.cells)} cells"
    sentence = conclude(results)
    conclusion = f"<p>{escape(sentence)}</p>" if sentence else ""
    return (
        f"<table><caption>{escape(caption)}</caption><thead>{rows[0]}</thead>"
        f"<tbody>{''.join(rows[1:])}</tbody></table>{conclusion}"
    )


def _cell_row(cell: Cell, axes: list[str], texts: Iterable[str]) -> str:
    labels = "".join(f"<th>{escape(cell.labels.get(axis, ''))}</th>" for axis in axes)
    return f"<tr>{labels}{_row('td', texts)[4:]}"


def _row(tag: str, texts: Iterable[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(text)}</{tag}>' for text in texts)}</tr>"
