"""Kinds of axes of a campaign: alternatives to choose from, or given conditions.

Given is a condition that one meets, and how the simulator reckons: nobody builds a link by the
choice of a profile, so that none is better than another.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import clift._clift as _clift

# Sections that describe the conditions of a link and its users, at any level of a key.
_SECTIONS = frozenset(
    ["channel", "trace", "feedback_channel", "feedback_trace", "application", "access", "leg"]
)
# Keys that say the same in sections of which the others are somebody's choice, besides every
# probability (`_probabilities`).
_KEYS = frozenset([
    "seed", "runs", "duration", "stop_when_done", "flows", "count", "start", "wrap", "length",
    "redraw", "preset", "rate", "rtt", "delay", "delays", "keep_order", "slot", "snr", "esn0",
    "packet_sigma", "attempt_sigma",
])  # fmt: skip
# Keys of [vary.sample] that say how it is drawn.
_OF_SAMPLE = frozenset(["method", "points", "seed"])
# How the simulator reckons. An axis that sets one of these compares reckonings, also if it sets
# beside.
_SETTINGS = frozenset(["profile", "overlap", "extra_lldu", "packing", "live"])


def conditions(vary: Mapping[str, Any], axes: Sequence[tuple[str, list[str]]]) -> frozenset[str]:
    """The axes whose points are given: a channel, a trace, a load, a delay, or a profile.

    An axis is a condition if every key that it sets is one, and a setting of the simulator if any
    key is; of an axis that is not in `vary` only the name is known.

    Args:
        vary: The section `[vary]`.
        axes: Names and labels.

    Example:
        >>> vary = {
        ...     "adaptive_harq": {"snr": ["7 dB", "10 dB"]},
        ...     "buffer": {"none": {}, "tcp": {"link": {"reorder": {"packets": 125}}}},
        ...     "sky": {"clear": {"channel.erasures": 0.01, "duration": "9 s"}},
        ...     "stack": {"2014": {"transport": {"profile": "papers", "congestion": "cubic"}}},
        ...     "link.rtt": {"from": "100 ms", "to": "1 s", "points": 2},
        ...     "zip": {"load": {"flows": [1, 2], "duration": ["9 s", "99 s"]}},
        ...     "sample": {"points": 2, "scheme": ["ARQ", "none"]},
        ... }
        >>> axes = [("snr", ["7 dB", "10 dB"]), ("buffer", ["none", "tcp"]), ("sky", ["clear"]),
        ...         ("stack", ["2014"]), ("rtt", ["100 ms", "1 s"]), ("sample", ["ARQ", "none"]),
        ...         ("load", ["1, 9 s", "2, 99 s"])]
        >>> sorted(conditions(vary, axes))
        ['load', 'rtt', 'sky', 'snr', 'stack']
    """
    return frozenset(
        name for name, labels in axes if _are_given(_keys(vary, name, labels) or [name])
    )


def _keys(vary: Mapping[str, Any], name: str, labels: list[str]) -> list[str]:
    """The dotted keys that the points of an axis set."""
    points = vary.get(name)
    if isinstance(points, dict) and set(labels) <= points.keys():
        return [key for label in labels for key, _ in leaves(points[label])]
    if name == "sample" and isinstance(points, dict):
        return [key for key, _ in leaves(points) if key not in _OF_SAMPLE]
    zipped = vary.get("zip")
    if isinstance(zipped, dict) and isinstance(zipped.get(name), dict):
        return [key for key, _ in leaves(zipped[name])]
    return [key for key, _ in leaves(vary) if key == name or key.endswith(f".{name}")]


def leaves(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted keys and values of a part of `[vary]`; a range is one value."""
    if not isinstance(value, Mapping) or {"from", "to"} <= value.keys():  # a range
        yield key, value
        return
    for name, inner in value.items():
        yield from leaves(inner, f"{key}.{name}" if key else name)


def _are_given(keys: Sequence[str]) -> bool:
    return any(key.split(".")[-1] in _SETTINGS for key in keys) or all(map(_is_condition, keys))


def _is_condition(key: str) -> bool:
    parts = key.split(".")
    key_is_given = parts[-1] in _KEYS or parts[-1] in _probabilities()
    return key_is_given or not _SECTIONS.isdisjoint(parts)


@cache
def _probabilities() -> frozenset[str]:
    """Keys that take one probability: how often something goes wrong is nobody's choice.

    >>> sorted({"missed_grant", "loss", "targets", "n_d"} & _probabilities())
    ['loss', 'missed_grant']
    """
    definitions = json.loads(_clift.scenario_schema())["$defs"]
    return frozenset(
        key
        for section in definitions.values()
        for key, taken in section.get("properties", {}).items()
        if any(one.get("$ref") == "#/$defs/Probability" for one in (taken, *taken.get("anyOf", ())))
    )
