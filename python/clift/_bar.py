"""A progress bar on a terminal's stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def bar(text: str, total: int) -> Iterator[Callable[..., None]]:
    """Show progress and the remaining time; show nothing if stderr is not a terminal.

    Args:
        text: Label of the bar.
        total: Number of steps.

    Yields:
        A function that takes finished steps, all steps, and a note to show.

    Example:
        >>> with bar("counting", 2) as report:
        ...     report(1, 2)
    """
    if not sys.stderr.isatty() or total == 0:
        yield lambda _done, _total, _note="": None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as Remaining

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        Remaining(),
        TextColumn("{task.fields[note]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(text, total=total, note="")

        def report(done: int, _total: int, note: str = "") -> None:
            progress.update(task, completed=done, note=note)

        yield report
