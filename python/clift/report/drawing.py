"""Figures as PNG, drawn in processes of their own where the system can fork.

Matplotlib holds Python's lock while it draws, so that threads would gain nothing. A process that is
forked has the figure as it is, at no cost; it draws, hands the bytes over and ends. It never calls
the core, whose threads it does not have.
"""

from __future__ import annotations

import io
import os
import select
import signal
import sys
import warnings
from collections import deque
from collections.abc import Generator, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from clift.report.style import png

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_DRAWN, _FAILED = 0, 1


def pngs(
    figures: Iterable[tuple[str, Figure]], processes: int | None = None
) -> Generator[tuple[str, bytes]]:
    r"""Draws figures, each while the next ones are made.

    Args:
        figures: Names and figures.
        processes: How many to draw at a time; as many as there are cores unless given.

    Yields:
        Names and PNG files, in the same order. Whatever ends this ends the processes too.

    Example:
        >>> from clift.report.style import Picture
        >>> one, two = (drawn for _, drawn in pngs([("a", Picture()), ("b", Picture())]))
        >>> one[:4], one == two == _png(Picture())
        (b'\x89PNG', True)
    """
    most = len(os.sched_getaffinity(0)) if processes is None else processes
    under_way: deque[tuple[str, _Drawing]] = deque()
    try:
        for name, figure in figures:
            begun = _begun(figure) if most > 1 else None
            if begun is None:
                while under_way:
                    yield _next(under_way)
                yield name, _png(figure)
                continue
            under_way.append((name, begun))
            while under_way and (len(under_way) >= most or under_way[0][1].is_done()):
                yield _next(under_way)
        while under_way:
            yield _next(under_way)
    finally:
        for _, drawing in under_way:
            drawing.stop()


def _next(under_way: deque[tuple[str, _Drawing]]) -> tuple[str, bytes]:
    name, drawing = under_way[0]
    found = drawing.wait()
    under_way.popleft()
    return name, found


def _png(figure: Figure) -> bytes:
    out = io.BytesIO()
    png(figure, out)
    return out.getvalue()


class _Drawing:
    """A figure that another process draws.

    Args:
        process: The process.
        pipe: Where its bytes come from.
        figure: The figure, should the process fail.
    """

    def __init__(self, process: int, pipe: int, figure: Figure) -> None:
        self._process, self._figure = process, figure
        self._pipe = os.fdopen(pipe, "rb")

    def is_done(self) -> bool:
        """Whether it is drawn: nothing comes before."""
        return bool(select.select([self._pipe], [], [], 0)[0])

    def wait(self) -> bytes:
        """The file."""
        found = self._pipe.read()
        _, ended = os.waitpid(self._process, 0)
        # What is wrong with a figure is said where it can be seen.
        self._pipe.close()
        return found if ended == _DRAWN else _png(self._figure)

    def stop(self) -> None:
        """Ends the process, drawn or not."""
        with suppress(OSError):
            os.kill(self._process, signal.SIGKILL)
            os.waitpid(self._process, 0)
        self._pipe.close()


def _begun(figure: Figure) -> _Drawing | None:
    """Has a figure drawn by a process of its own; None where there can be none."""
    if sys.platform != "linux":  # elsewhere libraries may not be forked
        return None
    try:
        pipe, end = os.pipe()
    except OSError:
        return None
    # A signal that comes between fork and the child's own handlers would end in the parent's code.
    former = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    process = -1
    try:
        with warnings.catch_warnings():
            # Of threads that the child does not have: it uses nothing that could wait for them.
            warnings.simplefilter("ignore", DeprecationWarning)
            process = os.fork()
        if process == 0:
            _draw(figure, end, former)
    except OSError:
        os.close(pipe)
        return None
    finally:
        if process == 0:
            os._exit(_FAILED)
        signal.pthread_sigmask(signal.SIG_SETMASK, former)
        os.close(end)
    return _Drawing(process, pipe, figure)


def _draw(figure: Figure, end: int, former: set[int | signal.Signals]) -> None:
    """What the process does, which comes to its end here."""
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, former)
    with os.fdopen(end, "wb") as out:
        out.write(_png(figure))
    os._exit(_DRAWN)
