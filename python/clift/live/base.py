"""What every live link has in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clift.link_trace import LinkTrace

if TYPE_CHECKING:
    from clift import _clift


class Live:
    """A link layer that runs with its traffic: what has nothing to send stays idle.

    Live links are descriptions: each run, and each `clift.deliver`, starts a fresh one.
    """

    __slots__ = ("_inner",)

    _inner: _clift.Medium


AnyLink = LinkTrace | Live
"""What `clift.simulate` and `clift.deliver` take as a link."""
