"""Figures that other processes draw: the same bytes, in order, and nobody left behind."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

from clift.campaign.locks import Locks
from clift.report.drawing import pngs
from clift.report.style import Picture, png


def _figures(count: int) -> Iterator[tuple[str, Picture]]:
    for number in range(count):
        figure = Picture(figsize=(2, 2))
        figure.subplots().plot([0, 1], [0, number])
        yield str(number), figure


def _children() -> bool:
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return False
    return True


class Slow(Picture):
    """Takes longer to draw than anybody waits."""

    def draw(self, _renderer: Any) -> None:
        time.sleep(600)


class Wrong(Picture):
    """Cannot be drawn."""

    def draw(self, _renderer: Any) -> None:
        raise ZeroDivisionError


def test_figures_come_in_order_as_they_are_drawn_here() -> None:
    expected = [(name, png(figure)) for name, figure in _figures(4)]
    assert len({content for _, content in expected}) == 4
    for processes in (1, 2, 9):
        assert list(pngs(_figures(4), processes)) == expected
        assert not _children()


def test_any_stop_leaves_no_process() -> None:
    begun = time.monotonic()
    drawn = pngs([*_figures(1), ("slow", Slow()), ("slower", Slow())], processes=3)
    assert next(drawn)[0] == "0"
    drawn.close()
    assert not _children()
    assert time.monotonic() - begun < 300


def test_ctrl_c_leaves_no_process() -> None:
    def figures() -> Iterator[tuple[str, Picture]]:
        yield "slow", Slow()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(pngs(figures(), processes=2))
    assert not _children()


def test_errors_of_a_figure_reach_the_caller() -> None:
    with pytest.raises(ZeroDivisionError):
        list(pngs([("wrong", Wrong())], processes=2))
    assert not _children()


class Noted(Picture):
    """Writes the process that draws it to stdout, and takes longer than anybody waits."""

    def draw(self, _renderer: Any) -> None:
        # In one write, since two processes share the pipe.
        os.write(1, b"%d\n" % os.getpid())
        time.sleep(600)


def _hold(lock: Path, out: int) -> NoReturn:
    """Body of a process that holds a lock while two others draw."""
    try:
        os.dup2(out, 1)
        locks = Locks(lock)
        locks.take(0, 1)
        list(pngs([("a", Noted()), ("b", Noted())], processes=2))
    finally:
        os._exit(1)


def test_a_killed_parent_leaves_no_process_and_no_lock(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    told, out = os.pipe()
    # A fork spares the import of the package.
    parent = os.fork()
    if parent == 0:
        _hold(lock, out)
    os.close(out)
    try:
        with os.fdopen(told) as lines, Locks(lock) as ours:
            children = [int(lines.readline()) for _ in range(2)]
            handles = [os.pidfd_open(child) for child in children]
            assert ours.holders(0, 1) == [parent]  # no child has inherited it
            os.kill(parent, signal.SIGKILL)
            os.waitpid(parent, 0)
            parent = 0
            assert ours.take(0, 1)
        for handle in handles:  # a process that ends makes its handle readable
            assert select.select([handle], [], [], 300)[0]
            os.close(handle)
    finally:
        if parent:
            os.kill(parent, signal.SIGKILL)
            os.waitpid(parent, 0)
