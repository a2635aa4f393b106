"""ns-2's TCP against a Linux kernel's, as text and as a picture."""

from __future__ import annotations

from math import nan
from textwrap import fill
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from clift._words import counted
from clift.papers.what_changed import LINUX, LINUX_2011, NS2, StackComparison
from clift.report.style import COLOURS, Picture
from clift.report.text import aligned, with_interval

_TASKS = {"bulk": "goodput (kbit/s)", "page": "page of 100 kB (s)"}


_PRINTED = {
    "bulk": "ns-2's TCP, as printed in the paper (IP packets)",
    "page": "ns-2's TCP, as printed in the paper",
}


def what_changed_text(change: StackComparison) -> str:
    """One table per task with one row per stack, and the concluding sentences."""
    tables = [_table(change, task, label) for task, label in _TASKS.items()]
    runs = {task: change.cell(task, change.schemes[0], LINUX).wanted for task in _TASKS}
    legend = (
        f"({counted(runs['bulk'], 'run')} of bulk data, {runs['page']} of a page, seed "
        f"{change.results.seed}; "
        "± and +/-: 95 % interval of the mean; no interval: too few runs to tell how far they "
        "spread)"
    )
    parts = [change.results.title, *tables, fill(legend, 98), _sentences(change)]
    return "\n\n".join(parts)


def _sentences(change: StackComparison) -> str:
    what, why = change.sentences()
    sentences = (what, change.pages(), why)
    wrapped = (fill(one, 98, break_on_hyphens=False) for one in sentences)
    return "\n".join(wrapped)


def _table(change: StackComparison, task: str, label: str) -> str:
    printed = [change.printed(task, scheme) for scheme in change.schemes]
    rows = [
        [f"TCP New Reno: {label}", *change.schemes],
        [_PRINTED[task], *("" if one is None else f"{one:g}" for one in printed)],
    ]
    for stack in change.stacks:
        found = [change.value(task, scheme, stack) for scheme in change.schemes]
        rows.append([_title(stack), *map(with_interval, found)])
    return aligned(rows, left=1)


def what_changed_json(change: StackComparison) -> list[dict[str, Any]]:
    """One dict per stack, scheme and task: mean and 95 % interval."""
    return [
        {
            "task": task,
            "scheme": scheme,
            "tcp": stack,
        }
        | change.value(task, scheme, stack).as_dict()
        for task in _TASKS
        for scheme in change.schemes
        for stack in change.stacks
    ]


def what_changed_figure(change: StackComparison) -> Figure:
    """Bars of each stack's schemes with 95 % intervals: goodput above, page times below."""
    figure = Picture(figsize=(12, 7), layout="constrained")
    figure.suptitle(change.results.title)
    width = 0.8 / len(change.schemes)
    for axes, (task, label) in zip(figure.subplots(2, 1, sharex=True), _TASKS.items(), strict=True):
        for place, scheme in enumerate(change.schemes):
            found = [change.value(task, scheme, stack) for stack in change.stacks]
            axes.bar(
                [at + (place - (len(change.schemes) - 1) / 2) * width for at in range(len(found))],
                [value.mean for value in found],
                width * 0.92,
                yerr=np.transpose([value.reach or (nan, nan) for value in found]),
                color=COLOURS[place],
                label=scheme,
                capsize=3,
            )
        axes.set(ylabel=label)
        axes.grid(visible=True, axis="y", alpha=0.3)
        axes.set_axisbelow(True)
    axes.set_xticks(
        range(len(change.stacks)),
        [fill(_title(stack), 16, break_on_hyphens=False) for stack in change.stacks],
    )
    figure.legend(
        *figure.axes[0].get_legend_handles_labels(),
        ncols=len(change.schemes),
        loc="outside lower center",
        frameon=False,
    )
    return figure


def _title(stack: str) -> str:
    known = {
        NS2: "ns-2's TCP (profile papers)",
        LINUX: "a Linux kernel (profile linux)",
        LINUX_2011: "Linux of 2011 (as its source has it)",
    }
    return known.get(stack, f"Linux, {stack}")
