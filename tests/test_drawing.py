"""Figures that other processes draw: the same bytes, in order, and nobody left behind."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from clift.campaign.locks import Locks
from clift.report.drawing import pngs
from clift.report.style import Picture, png


def _figures(count: int) -> Iterator[tuple[str, Picture]]:
    for number in range(count):
        figure = Picture(figsize=(2, 2))
        figure.subplots().plot([0, 1], [0, number])
        yield str(number), figure


def _here(figure: Picture) -> bytes:
    out = BytesIO()
    png(figure, out)
    return out.getvalue()


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


@pytest.mark.parametrize("processes", [1, 2, 9])
def test_figures_come_in_order_as_they_are_drawn_here(processes: int) -> None:
    expected = [(name, _here(figure)) for name, figure in _figures(5)]
    assert len({content for _, content in expected}) == 5
    assert list(pngs(_figures(5), processes)) == expected
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


HELD = """
import os, sys, time
from pathlib import Path
from clift.campaign.locks import Locks
from clift.report.drawing import pngs
from clift.report.style import Picture

class Slow(Picture):
    def draw(self, _renderer):
        print(os.getpid(), flush=True)
        time.sleep(600)

locks = Locks(Path(sys.argv[1]))
locks.take(0, 1)
list(pngs([("a", Slow()), ("b", Slow())], processes=2))
"""


def test_a_killed_parent_leaves_no_process_and_no_lock(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    command = [sys.executable, "-c", HELD, str(lock)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        children = [int(parent.stdout.readline()) for _ in range(2)]
        handles = [os.pidfd_open(child) for child in children]
        with Locks(lock) as ours:
            assert ours.holders(0, 1) == [parent.pid]  # no child has inherited it
            parent.kill()
            parent.wait()
            assert ours.take(0, 1)
        for handle in handles:  # a process that ends makes its handle readable
            assert select.select([handle], [], [], 300)[0]
            os.close(handle)
