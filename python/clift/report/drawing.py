"""Draws figures as PNG in separate processes where the system can fork.

Matplotlib holds Python's lock while it draws, so threads would not help. A forked process has the
figure at no cost; it draws, returns the bytes and ends. It never calls the core, because it does
not have the core's threads. It closes every file that it inherits, because an inherited lock on a
results folder lasts as long as its last holder, and the kernel kills it if this process dies.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import sys
import warnings
from collections import deque
from collections.abc import Generator, Iterable
from contextlib import suppress

from matplotlib.figure import Figure

from clift.report.style import png

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_DRAWN, _FAILED = 0, 1
# prctl(2): the signal that the kernel sends to this process when its parent ends.
_PR_SET_PDEATHSIG = 1


def pngs(
    figures: Iterable[tuple[str, Figure]], processes: int | None = None
) -> Generator[tuple[str, bytes]]:
    r"""Draw figures in the background while the next ones are made.

    Args:
        figures: Names and figures.
        processes: Number of parallel drawings; default: number of cores.

    Yields:
        Names and PNG files, in the same order. When the generator ends, so do its processes.

    Example:
        >>> from clift.report.style import Picture
        >>> one, two = (drawn for _, drawn in pngs([("a", Picture()), ("b", Picture())]))
        >>> one[:4], one == two == png(Picture())
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
                yield name, png(figure)
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


class _Drawing:
    """A figure that a process is drawing.

    Args:
        process: The process.
        pipe: Pipe for its bytes.
        figure: The figure, in case the process fails.
    """

    def __init__(self, process: int, pipe: int, figure: Figure) -> None:
        self._process, self._figure = process, figure
        self._pipe = os.fdopen(pipe, "rb")

    def is_done(self) -> bool:
        """True if the process is finished."""
        return bool(select.select([self._pipe], [], [], 0)[0])

    def wait(self) -> bytes:
        """The PNG file."""
        found = self._pipe.read()
        _, ended = os.waitpid(self._process, 0)
        # Draw here to raise the error of the figure in this process.
        self._pipe.close()
        return found if ended == _DRAWN else png(self._figure)

    def stop(self) -> None:
        """End the process, finished or not."""
        with suppress(OSError):
            os.kill(self._process, signal.SIGKILL)
            os.waitpid(self._process, 0)
        self._pipe.close()


def _begun(figure: Figure) -> _Drawing | None:
    """Start a process that draws a figure; None if forking is not possible."""
    if sys.platform != "linux":  # other systems' libraries do not survive a fork
        return None
    try:
        pipe, end = os.pipe()
    except OSError:
        return None
    # A signal between fork and the child's own handlers would run the parent's handlers.
    former = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    process, parent, libc = -1, os.getpid(), ctypes.CDLL(None)
    try:
        with warnings.catch_warnings():
            # Warning about threads that the child lacks: the child waits for none of them.
            warnings.simplefilter("ignore", DeprecationWarning)
            process = os.fork()
        if process == 0:
            libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() == parent:  # otherwise the parent ended before the call
                _close_all_but(end)
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


def _close_all_but(kept: int) -> None:
    """Close every file of this process except stdin, stdout, stderr and one other."""
    os.closerange(3, kept)
    os.closerange(kept + 1, os.sysconf("SC_OPEN_MAX"))


def _draw(figure: Figure, end: int, former: set[int | signal.Signals]) -> None:
    """Body of the process; does not return."""
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, former)
    with os.fdopen(end, "wb") as out:
        out.write(png(figure))
    os._exit(_DRAWN)
