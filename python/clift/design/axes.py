"""What of a scenario's `[vary]` is a choice of the link, and what a condition that it meets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clift._keywords import SECTIONS
from clift.campaign.axes import leaves
from clift.design.space import Candidate, is_chosen
from clift.errors import ScenarioError

_CURE = "give one, or --space"


def split(
    vary: Mapping[str, Any],
) -> tuple[dict[str, Any], dict[str, list[Any]], list[list[Candidate]]]:
    """Divides the section `[vary]`.

    A scheme, its parameters and a re-sequencing buffer are chosen. All else is met: a channel, a
    load, and the TCP that the users of a link have.

    Args:
        vary: The section.

    Returns:
        What is met, as a section; values of keys that are chosen; and custom axes that are
        chosen, point by point.

    Example:
        >>> met, keys, axes = split({
        ...     "scheme": ["ARQ", "FEC(10/12)"], "flows": [1, 4],
        ...     "hybrid": {"n": [10, 12], "loss": [0.1, 0.2]},
        ...     "buffer": {"none": {}, "small": {"link": {"reorder": {"packets": 9}}}}})
        >>> met
        {'flows': [1, 4], 'hybrid': {'loss': [0.1, 0.2]}}
        >>> keys, [[one.label for one in axis] for axis in axes]
        ({'scheme': ['ARQ', 'FEC(10/12)'], 'hybrid.n': [10, 12]}, [['none', 'small']])
    """
    keys: dict[str, list[Any]] = {}
    axes: list[list[Candidate]] = []
    met: dict[str, Any] = {}
    for name, inner in vary.items():
        if name in ("zip", "sample") and isinstance(inner, Mapping):
            axes_of = inner.values() if name == "zip" else [inner]
            for key in [key for one in axes_of for key, _ in leaves(one)]:
                if is_chosen([key]):
                    raise ScenarioError(f"vary.{name}: a search takes lists of `{key}`; {_CURE}")
            met[name] = inner
            continue
        if name.partition(".")[0] in SECTIONS:
            left = _without(name, inner, keys)
            if left is not None:
                met[name] = left
            continue
        points = inner if isinstance(inner, Mapping) else {}
        changes = {label: dict(leaves(point)) for label, point in points.items()}
        if is_chosen([key for point in changes.values() for key in point]):
            axes.append(
                [
                    Candidate(str(label), {name: str(label)}, point)
                    for label, point in changes.items()
                ]
            )
        else:
            met[name] = inner
    return met, keys, axes


def _without(key: str, value: Any, chosen: dict[str, list[Any]]) -> Any:
    """The part of an axis, or of axes, under a key of the scenario; None if there is none."""
    if isinstance(value, Mapping) and {"from", "to"} <= value.keys():
        if is_chosen([key]):
            raise ScenarioError(f"vary.{key}: a search takes a list of values; {_CURE}")
        return value
    if not isinstance(value, Mapping):
        if is_chosen([key]) and isinstance(value, list):
            chosen[key] = value
            return None
        return value
    left = {name: _without(f"{key}.{name}", one, chosen) for name, one in value.items()}
    left = {name: one for name, one in left.items() if one is not None}
    return left or None
