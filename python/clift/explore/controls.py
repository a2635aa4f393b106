"""Controls of the explorer: keys of a scenario, with steps and what the schema says of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import clift._clift as _clift
from clift.errors import ScenarioError
from clift.scenario import Scenario

_Control = dict[str, Any]


# Sections with links of their own kind, which have neither a scheme nor a round-trip time.
_OWN_LINKS = ["network", "hybrid", "ntn", "adaptive_harq", "carrier"]


def _numbers(unit: str, *values: float) -> list[str]:
    return [f"{value:g} {unit}" for value in values]


_DRAWN = ["bernoulli", "gilbert-elliott"]
_SHARES = (0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 30)
_BURSTS = (1.5, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500)
_KBPS = (64, 100, 150, 200, 263, 300, 400, 500, 700)
_MBPS = (1, 1.5, 2, 2.3, 3, 4, 5, 7, 10, 15, 20, 30)
_RTT_MS = (10, 20, 30, 40, 50, 75, 100, 150, 200, 250, 300, 400, 500, 560, 600, 700, 800, 1000)
_QUEUES = (5, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000, 2000, 5000)
_WINDOWS = (5, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000, 2000, 5000, 10000)
_TIMES_S = (10, 20, 30, 50, 60, 100, 150, 200, 300, 400, 600, 800)
_SIZES = ("30 kB", "100 kB", "1 MB", "10 MB")


def _steps(key: str, label: str, steps: Sequence[Any], **more: Any) -> _Control:
    """A slider over values of a key."""
    name = key.rpartition(".")[2]
    return {"id": name, "kind": "steps", "key": key, "label": label, "steps": [*steps], **more}


def _block(part: str, label: str, least: int, most: int, told: str) -> _Control:
    """A slider over a number in the name of a scheme."""
    told = f"{told} LLDU: link-layer data unit."
    of_scheme = {"id": part, "kind": "block", "part": part, "least": least, "most": most}
    of_scheme |= {"without": _OWN_LINKS}
    return of_scheme | {"label": label, "help": told}


def _application(kind: str, size: str | None) -> dict[str, str | None]:
    return {"application.type": kind, "application.size": size}


# `models`: the channels that have the key. `without`: sections that exclude it. `set`: keys that go
# with any of its values. `section`: what a choice replaces as a whole.
_CONTROLS: list[_Control] = [
    _steps("channel.erasures", "Erasures", _numbers("%", *_SHARES), models=_DRAWN),
    _steps(
        *("channel.burst", "Mean burst (slots)", _BURSTS),
        models=_DRAWN,
        set={"channel.model": "gilbert-elliott"},
    ),
    _steps("channel.esn0", "Es/N0", _numbers("dB", *np.arange(0, 15.5, 0.5)), models=["lms"]),
    _steps(
        *("channel.rate", "Rate"),
        [*_numbers("kbit/s", *_KBPS), *_numbers("Mbit/s", *_MBPS)],
        models=_DRAWN,
        set={"channel.slot": None},
    ),
    _steps(
        *("link.rtt", "Round-trip time", _numbers("ms", *_RTT_MS)),
        default="100 ms",
        without=_OWN_LINKS,
    ),
    _steps(
        *("link.queue", "Queue", [*_numbers("packets", *_QUEUES), "unlimited"]),
        default="1000 packets",
        without=["network"],
    ),
    {"id": "scheme", "kind": "scheme", "key": "scheme", "label": "Scheme", "without": _OWN_LINKS},
    _block("data", "N_D: data in a block (LLDUs)", 1, 60, "The k of FEC(k/n) and HARQ(k/n)."),
    _block(
        "repair", "N_R: repair in a block (LLDUs)", 0, 30, "The n - k of FEC(k/n) and HARQ(k/n)."
    ),
    _block(
        "extra", "N_S: extra repair of a round (LLDUs)", 0, 10, "Sent on request, with the missing."
    ),
    {"id": "live", "kind": "options", "key": "link.live", "label": "Repairs"}
    | {
        "without": _OWN_LINKS,
        "options": [
            {"text": "live", "set": {"link.live": True}},
            {"text": "precomputed", "set": {"link.live": None}},
        ],
    },
    {"id": "profile", "kind": "options", "key": "transport.profile", "label": "TCP of"},
    {"id": "congestion", "kind": "options", "key": "transport.congestion"}
    | {"label": "Congestion control"},
    _steps("transport.cwnd_max", "Largest window", _numbers("packets", *_WINDOWS)),
    {"id": "application", "kind": "options", "key": "application.type", "label": "Application"}
    | {"defaults": {"application.type": "bulk"}, "section": "application"}
    | {
        "options": [
            {"text": "endless transfer", "set": _application("bulk", None)},
            *({"text": f"file of {size}", "set": _application("file", size)} for size in _SIZES),
        ]
    },
    _steps("duration", "Simulated time", _numbers("s", *_TIMES_S), default="400 s"),
    _steps("seed", "Seed of the draws", range(1, 31), default=1),
]


def controls() -> list[_Control]:
    """The controls, with options and help from the schema of scenario files.

    Example:
        >>> found = {one["id"]: one for one in controls()}
        >>> [one["text"] for one in found["profile"]["options"]]
        ['papers', 'linux']
        >>> found["rate"]["help"]
        'Rate of the link, at one LLDU per slot; alternative to `slot`.'
    """
    schema = json.loads(_clift.scenario_schema())
    found = []
    for one in _CONTROLS:
        key = one.get("key")
        keyed: _Control = {"help": ""} | one
        if key:
            nodes = list(_nodes(schema, key))
            told = (str(node["description"]) for node in nodes if "description" in node)
            keyed["help"] = " ".join(next(told, "").split())
            if one["kind"] == "options" and "options" not in one:
                names = [name for node in nodes for name in _names(schema, node)]
                choices = (
                    {"text": name, "set": {key: name}, "in": _profiles(key, name)} for name in names
                )
                keyed["options"] = [option for option in choices if option["in"]]
                keyed["defaults"] = {"transport.profile": "linux", "transport.congestion": "cubic"}
        found.append(keyed)
    return found


def _profiles(key: str, name: str) -> list[str]:
    """The profiles of TCP that have a value, e.g. a congestion control."""
    found = []
    for profile in ("papers", "linux"):
        section, _, option = key.partition(".")
        try:
            Scenario({section: {"profile": profile} | {option: name}, "ntn": {}}).cells()
        except ScenarioError:
            continue
        found.append(profile)
    return found


def _alternatives(schema: dict[str, Any], node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The node and all that it refers to, or that may stand in its place."""
    yield node
    if "$ref" in node:
        yield from _alternatives(schema, schema["$defs"][node["$ref"].rpartition("/")[2]])
    for word in ("anyOf", "oneOf", "allOf"):
        for other in node.get(word, []):
            yield from _alternatives(schema, other)


def _nodes(schema: dict[str, Any], key: str) -> Iterator[dict[str, Any]]:
    """The nodes of a dotted key, in the order of the schema."""
    here = [schema]
    for part in key.split("."):
        there = [one for node in here for one in _alternatives(schema, node)]
        here = [one["properties"][part] for one in there if part in one.get("properties", {})]
    yield from here


def _names(schema: dict[str, Any], node: dict[str, Any]) -> list[str]:
    """The names that a node allows, each once."""
    found = [
        str(name)
        for one in _alternatives(schema, node)
        for name in (*one.get("enum", []), *([one["const"]] if "const" in one else []))
    ]
    return list(dict.fromkeys(found))
