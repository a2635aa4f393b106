"""Base classes of the live links."""

from __future__ import annotations

import dataclasses
from functools import lru_cache, partial
from typing import Any, ClassVar, Self, TypeVar, dataclass_transform

import numpy as np

import clift._clift as _clift
from clift._parse import Fixed, TraceDefault, fault, nanoseconds, of_type, same
from clift._values import Convert, Keyword, entries, milliseconds, nested, only_with, respelled
from clift.errors import ScenarioError
from clift.land_mobile import LandMobile
from clift.link_trace import LinkTrace
from clift.trace import PhyTrace

L = TypeVar("L", bound="Live")

_APPLY = "apply a scheme: clift.tmt.apply(phy, ...) or clift.LiveLink(phy, ...)"


def key(key: str, convert: Convert, *, default: Any = dataclasses.MISSING, held: str = "") -> Any:
    """An argument of a link: as `clift._values.Keyword`; without a default it must be given."""
    usual = None if default is dataclasses.MISSING else default
    keyword = Keyword(key, convert, usual, held)
    return dataclasses.field(default=default, metadata={"keyword": keyword})


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(key,))
def link(kind: type[L]) -> type[L]:
    """A class of links, whose arguments are its fields."""
    made: Any = dataclasses.dataclass(frozen=True, slots=True, eq=False, repr=False)(kind)
    fields = dataclasses.fields(made)
    made.keywords = {one.name: one.metadata["keyword"] for one in fields}
    return made  # type: ignore[no-any-return] # it is of that kind


class Live(Fixed):
    """A link layer that carries the traffic of a run; idle slots stay unused.

    A live link is a description, a frozen dataclass of its arguments: each run and each
    `clift.deliver` starts a fresh link. Two with the same arguments are equal.

    Attributes:
        tree: The link as a hop of a scenario: sections and keys as in a file, with in-memory
            objects instead of files.
        keywords: Key of each argument.
        always: Constant entries of the tree.
        shown: Arguments that `repr` shows even at their defaults.

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
        if not varies:  # no overtaking with a constant delay
            found = {key: node for key, node in found.items() if not key.endswith(".keep_order")}
        tree = nested(self.always, {key: node for key, node in found.items() if node is not None})
        object.__setattr__(self, "tree", tree)
        try:
            _clift.Scenario("", tree, [], []).check()
        except ScenarioError as error:
            raise respelled(error, self.keywords, dict(self.values())) from None

    def _beyond(self) -> dict[str, Any]:
        """Keys that do not follow from a single argument."""
        return {}

    def replace(self, **changes: Any) -> Self:
        """A copy with other parameters.

        Raises:
            ScenarioError: If a parameter does not exist, or the new link is not valid.
        """
        for name in changes:
            if name not in self.keywords:
                known = ", ".join(self.keywords)
                raise fault(name, changes[name], f"unknown parameter; use one of {known}")
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
        """Each of these arguments, and whether it differs from its default."""
        return [(name, self._is_given(name)) for name in names]

    def _is_given(self, name: str) -> bool:
        value, usual = getattr(self, name), self.keywords[name].usual
        if isinstance(usual, TraceDefault):
            return not isinstance(value, TraceDefault)
        return not same(value, usual)


class OverSlots(Live):
    """A scheme over the slots of a PHY trace."""

    __slots__ = ()

    phy: PhyTrace
    rtt_ms: float

    def _beyond(self) -> dict[str, Any]:
        # Omitted from the tree, the key would have another default than the argument.
        said = isinstance(self.phy, PhyTrace) and self.phy.rtt_ns is not None
        usual = isinstance(self.rtt_ms, TraceDefault) and not said
        return {"link.rtt": milliseconds("rtt_ms", int(self.rtt_ms))} if usual else {}


class Adaptive(Live):
    """Adaptive HARQ over a preset channel, a channel object, or measured information."""

    __slots__ = ()

    preset: str
    snr_db: float
    channel: LandMobile | None
    information: Any
    every_ms: float

    @property
    def mean_information(self) -> float:
        """E[MI]: the channel's mean mutual information per coded bit.

        Computed in closed form, not from one realisation; for `information`, its mean.
        """
        if self.information is not None:
            return self._measured().mean()
        channel = self.channel
        return _mean_information(channel or LandMobile(self.preset, self.snr_db))

    def _beyond(self) -> dict[str, Any]:
        own = self.information is not None
        if own and self.channel is not None:
            raise ScenarioError("channel and information: both define the channel; give only one")
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


_mean_information = lru_cache(maxsize=64)(LandMobile.mean_information)


class Ntn(Live):
    """3GPP NR user-plane layers over a long link."""

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
"""Links that `clift.simulate` and `clift.deliver` accept."""


def hop(name: str, value: Any) -> dict[str, Any]:
    """The hop of a scenario for a link argument.

    Raises:
        ScenarioError: If the value is not a link.

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
        raise fault(name, value, f"a PHY trace is not a link; {_APPLY}")
    cure = "give a link trace (clift.tmt.apply makes one) or a live link (e.g. clift.LiveLink)"
    raise fault(name, value, cure)
