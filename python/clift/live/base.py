"""What every live link has in common."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from clift import _parse
from clift.link_trace import LinkTrace
from clift.trace import PhyTrace

if TYPE_CHECKING:
    from clift import _clift

_APPLY = "apply a scheme: clift.tmt.apply(phy, ...) or clift.LiveLink(phy, ...)"


class Live:
    """A link layer that runs with its traffic: what has nothing to send stays idle.

    Live links are descriptions, frozen dataclasses of their arguments: each run, and each
    `clift.deliver`, starts a fresh one. Two of the same arguments are equal.

    Example:
        >>> import clift
        >>> geo = clift.NtnLink("nr-ntn-geo", bler=0.1)
        >>> geo.replace(rlc="um")
        NtnLink('nr-ntn-geo', rlc='um', bler=0.1)
        >>> geo.replace(rlc="um").replace(rlc="am") == geo
        True
    """

    __slots__ = ("_inner",)

    _inner: _clift.Medium

    def replace(self, **changes: Any) -> Self:
        """The same link with other parameters.

        Raises:
            ScenarioError: If there is no parameter of that name, or can be no such link.
        """
        known = [field.name for field in dataclasses.fields(self)]  # type: ignore[arg-type]
        for name in changes:
            if name not in known:
                raise _parse.fault(name, changes[name], f"no parameter; one of {', '.join(known)}")
        return dataclasses.replace(self, **changes)  # type: ignore[type-var]

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(_same(ours, getattr(other, name)) for name, ours in self._values())

    def __hash__(self) -> int:
        plain = (str, int, float, bool, type(None))
        shared = [(name, value) for name, value in self._values() if isinstance(value, plain)]
        return hash((type(self), *shared))

    def __deepcopy__(self, _memo: object) -> Self:
        return self  # nobody can change it

    def __reduce__(self) -> tuple[Any, ...]:
        # What the engine made of the arguments is made again where they are unpacked.
        return _made, (type(self), dict(self._values()))

    def _values(self) -> list[tuple[str, Any]]:
        """Name and value of each argument."""
        fields = dataclasses.fields(self)  # type: ignore[arg-type]
        return [(field.name, getattr(self, field.name)) for field in fields]

    def _given(self, *names: str) -> list[tuple[str, bool]]:
        """Each of these arguments, and whether it is another than the default."""
        usual = {field.name: field.default for field in dataclasses.fields(self)}  # type: ignore[arg-type]
        return [(name, not _same(getattr(self, name), usual[name])) for name in names]

    def _changed(self, always: tuple[str, ...]) -> str:
        """The arguments that are not the default, and those of `always`, as they were given."""
        values = self._values()
        given = self._given(*(name for name, _ in values))
        return ", ".join(
            f"{name}={value!r}"
            for (name, value), (_, changed) in zip(values, given, strict=True)
            if changed or name in always
        )


AnyLink = LinkTrace | Live
"""What `clift.simulate` and `clift.deliver` take as a link."""


def a_link(name: str, value: Any) -> AnyLink:
    """The link that an argument is.

    Raises:
        ScenarioError: If it is none.

    Example:
        >>> a_link("return_link", 3)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        clift.errors.ScenarioError: return_link = 3: give a link trace (clift.tmt.apply makes ...
    """
    if isinstance(value, AnyLink):
        return value
    if isinstance(value, PhyTrace):
        raise _parse.fault(name, value, f"a PHY trace is no link yet; {_APPLY}")
    cure = "give a link trace (clift.tmt.apply makes one) or a live link (e.g. clift.LiveLink)"
    raise _parse.fault(name, value, cure)


def a_phy(name: str, value: Any) -> _clift.PhyTrace:
    """The PHY trace that an argument is.

    Raises:
        ScenarioError: If it is none.

    Example:
        >>> a_phy("losses", "x")
        Traceback (most recent call last):
        clift.errors.ScenarioError: losses = 'x': give a PHY trace; clift.channel makes one
    """
    return _parse.of_type(name, value, PhyTrace, "give a PHY trace; clift.channel makes one")._inner


def _made(kind: type[Live], arguments: dict[str, Any]) -> Live:
    return kind(**arguments)


def _same(one: Any, other: Any) -> bool:
    """Whether two arguments are equal, arrays as a whole and whatever holds the same numbers."""
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return isinstance(one, np.ndarray) == isinstance(other, np.ndarray) and np.array_equal(
            one, other
        )
    return bool(one == other)
