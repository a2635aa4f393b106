"""What every live link has in common, and what some have beyond their arguments."""

from __future__ import annotations

import dataclasses
from functools import lru_cache, partial
from typing import Any, ClassVar, Self

import numpy as np

import clift._clift as _clift
from clift._parse import Fixed, Usual, fault, nanoseconds, of_type, same
from clift._values import Keyword, entries, milliseconds, nested, only_with, respelled
from clift.errors import ScenarioError
from clift.land_mobile import LandMobile
from clift.link_trace import LinkTrace
from clift.trace import PhyTrace

_APPLY = "apply a scheme: clift.tmt.apply(phy, ...) or clift.LiveLink(phy, ...)"


class Live(Fixed):
    """A link layer that runs with its traffic: what has nothing to send stays idle.

    Live links are descriptions, frozen dataclasses of their arguments: each run, and each
    `clift.deliver`, starts a fresh one. Two of the same arguments are equal.

    Attributes:
        tree: The hop of a scenario that the link is: sections and keys as in a file, and objects
            in memory in the place of files.
        keywords: Where each argument goes in it.
        always: What stands in it whatever the arguments.
        shown: Arguments that `repr` shows even if they are the default.

    Example:
        >>> import clift
        >>> geo = clift.NtnLink("nr-ntn-geo", bler=0.1)
        >>> geo.replace(rlc="um")
        NtnLink(preset='nr-ntn-geo', rlc='um', bler=0.1)
        >>> geo.replace(rlc="um").replace(rlc="am") == geo
        True
        >>> geo.tree
        {'ntn': {'bler': [0.1]}}
    """

    __slots__ = ("tree",)

    tree: dict[str, Any]
    keywords: ClassVar[dict[str, Keyword]]
    always: ClassVar[dict[str, Any]]
    shown: ClassVar[tuple[str, ...]]

    def __post_init__(self) -> None:
        found = entries(self.keywords, dict(self.values()))
        found |= self._beyond()
        varies = [key for key in found if key.endswith("delays")]
        if not varies:  # then nothing overtakes
            found = {key: node for key, node in found.items() if not key.endswith(".keep_order")}
        tree = nested(self.always, {key: node for key, node in found.items() if node is not None})
        object.__setattr__(self, "tree", tree)
        try:
            _clift.Scenario("", tree, [], []).check()
        except ScenarioError as error:
            raise respelled(error, self.keywords, dict(self.values())) from None

    def _beyond(self) -> dict[str, Any]:
        """Keys that do not each follow from one argument."""
        return {}

    def replace(self, **changes: Any) -> Self:
        """The same link with other parameters.

        Raises:
            ScenarioError: If there is no parameter of that name, or can be no such link.
        """
        for name in changes:
            if name not in self.keywords:
                known = ", ".join(self.keywords)
                raise fault(name, changes[name], f"no parameter; one of {known}")
        return dataclasses.replace(self, **changes)  # type: ignore[type-var]

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(same(ours, getattr(other, name)) for name, ours in self.values())

    def __hash__(self) -> int:
        plain = (str, int, float, bool, type(None))
        shared = [(name, value) for name, value in self.values() if isinstance(value, plain)]
        return hash((type(self), *shared))

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), **dict(self.values())), ()

    def __repr__(self) -> str:
        given = dict(self.given(*self.keywords))
        arguments = (
            f"{name}={value!r}"
            for name, value in self.values()
            if given[name] or name in self.shown
        )
        return f"{type(self).__name__}({', '.join(arguments)})"

    def values(self) -> list[tuple[str, Any]]:
        """Name and value of each argument."""
        return [(name, getattr(self, name)) for name in self.keywords]

    def given(self, *names: str) -> list[tuple[str, bool]]:
        """Each of these arguments, and whether it is another than the default."""
        return [(name, self._is_given(name)) for name in names]

    def _is_given(self, name: str) -> bool:
        value, usual = getattr(self, name), self.keywords[name].usual
        if isinstance(usual, Usual):
            return not isinstance(value, Usual)
        return not same(value, usual)


class OverSlots(Live):
    """A scheme over the slots of a PHY trace."""

    __slots__ = ()

    phy: PhyTrace
    rtt_ms: float

    def _beyond(self) -> dict[str, Any]:
        # Left out of the tree it would be another time than the default of the argument.
        said = isinstance(self.phy, PhyTrace) and self.phy.rtt_ns is not None
        usual = isinstance(self.rtt_ms, Usual) and not said
        return {"link.rtt": milliseconds("rtt_ms", int(self.rtt_ms))} if usual else {}


class Adaptive(Live):
    """Adaptive HARQ: its channel may be a preset, one's own, or measured information."""

    __slots__ = ()

    preset: str
    snr_db: float
    channel: LandMobile | None
    information: Any
    every_ms: float

    @property
    def mean_information(self) -> float:
        """E[MI]: the channel's mean mutual information per coded bit.

        From its closed form, not that of one realisation; of `information` its mean.
        """
        if self.information is not None:
            return self._measured().mean()
        channel = self.channel
        return _mean_information(channel or LandMobile(self.preset, self.snr_db))

    def _beyond(self) -> dict[str, Any]:
        own = self.information is not None
        if own and self.channel is not None:
            raise ScenarioError("channel and information: both say what the channel is; give one")
        made, drawn = self.given("preset", "snr_db"), self.given("duration_s", "seed")
        cure = "`information` says what the channel is; leave one of them out"
        only_with(own, made + drawn, cure)
        cure = "`channel` says what the channel is; leave one of them out"
        only_with(self.channel is not None, made, cure)
        cure = "is for `information`; give that beside it, or leave it out"
        only_with(not own, self.given("every_ms"), cure)
        if own:
            return {"adaptive_harq.information": self._measured(), "adaptive_harq.every": None}
        if self.channel is None:
            return {}
        cure = "give a clift.land_mobile.LandMobile, or name one as `preset`"
        return {"adaptive_harq.channel": of_type("channel", self.channel, LandMobile, cure).tree}

    def _measured(self) -> _clift.MiTrace:
        try:
            values = np.ascontiguousarray(self.information, np.float32)
        except (TypeError, ValueError):
            values = np.empty((0, 0), np.float32)
        if values.ndim != 1 or values.size == 0:
            raise ScenarioError("information: give a list of numbers from 0 to 1, one per step")
        return _clift.MiTrace(nanoseconds("every_ms", self.every_ms, "ms", 1), values)


@lru_cache(maxsize=64)
def _mean_information(channel: LandMobile) -> float:
    return channel.mean_information()


class Ntn(Live):
    """The 3GPP view: NR user-plane layers over a long link."""

    __slots__ = ()

    @staticmethod
    def presets() -> list[str]:
        """Names of the presets.

        Example:
            >>> import clift
            >>> clift.NtnLink.presets()
            ['nr-ntn-geo', 'nr-ntn-leo600', 'nr-ntn-leo1200', 'nr-terrestrial']
        """
        return _clift.ntn_presets()


AnyLink = LinkTrace | Live
"""What `clift.simulate` and `clift.deliver` take as a link."""


def hop(name: str, value: Any) -> dict[str, Any]:
    """The hop of a scenario that an argument is.

    Raises:
        ScenarioError: If it is no link.

    Example:
        >>> hop("return_link", 3)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        clift.errors.ScenarioError: return_link = 3: give a link trace (clift.tmt.apply makes ...
    """
    if isinstance(value, Live):
        return value.tree
    if isinstance(value, LinkTrace):
        return {"link_trace": value}
    if isinstance(value, PhyTrace):
        raise fault(name, value, f"a PHY trace is no link yet; {_APPLY}")
    cure = "give a link trace (clift.tmt.apply makes one) or a live link (e.g. clift.LiveLink)"
    raise fault(name, value, cure)
