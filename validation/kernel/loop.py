"""Event loop for many sockets and a clock."""

from __future__ import annotations

import heapq
import select
import socket
import time
from typing import Any

_EDGES = select.EPOLLIN | select.EPOLLOUT | select.EPOLLET


class Loop:
    """Sockets that do not block, and times at which something is due.

    A socket is reported once when something new comes or goes (edges): the reported socket is to be
    worked off until it would block. So a program that must wait does wait, which a clock that
    stands still while programs compute depends on.

    >>> loop = Loop()
    >>> loop.at(time.monotonic_ns() + 3_000_000, "later")
    >>> loop.at(time.monotonic_ns() + 1_000_000, "sooner")
    >>> loop.wait(), loop.due(), loop.wait(), loop.due()
    (None, ['sooner'], None, ['later'])
    """

    def __init__(self) -> None:
        self._poll = select.epoll()
        self._times: list[tuple[int, int, Any]] = []
        self._number = 0

    def watch(self, one: socket.socket) -> None:
        """From now on it does not block, and is waited for."""
        one.setblocking(False)
        self._poll.register(one, _EDGES)

    def ask(self, one: socket.socket) -> None:
        """Is called once it takes more, and now if it does."""
        self._poll.modify(one, _EDGES)

    def at(self, when: int, what: Any) -> None:
        """Something is due at a time of the monotonic clock, ns."""
        self._number += 1
        heapq.heappush(self._times, (when, self._number, what))

    def due(self) -> list[Any]:
        """What is due by now, in order, and is forgotten."""
        now, found = time.monotonic_ns(), []
        while self._times and self._times[0][0] <= now:
            found.append(heapq.heappop(self._times)[2])
        return found

    def wait(self) -> None:
        """Until something comes or is due."""
        pause = None
        if self._times:
            # To the next microsecond: what is waited for is over then.
            pause = max(0, self._times[0][0] + 999 - time.monotonic_ns()) // 1000 / 1e6
        # An own poll loop counts milliseconds.
        select.select([self._poll], [], [], pause)
        self._poll.poll(0)
