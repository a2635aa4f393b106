"""Converts keyword arguments of a run into changes of a scenario's tree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import clift._clift as _clift
from clift._keywords import BARE, KEYWORDS, SECTIONS
from clift._values import Node, only_with, plain
from clift.errors import ScenarioError
from clift.live.base import hop

Change = tuple[str, Node]
"""A dotted key and its value; None removes the key."""

_QUEUE = ("queue_packets", "queue_bytes")
_APPLICATION = ("file_bytes", "message_kbps", "message_bytes", "deadline_ms")
_ACCESS = ("access_kbps", "access_ms")
_PATH = ("path_ms", "path_in_order")
_OF_LINKS = {
    key
    for key in [*(keyword.key for keyword in KEYWORDS.values()), *BARE.values()]
    if key.startswith("link.")
}
# Keywords that are converted together, or that set several keys.
_TRANSPORT = ("transport", "congestion")
_TOGETHER = frozenset([*_QUEUE, *_APPLICATION, *_ACCESS, *_PATH, *_TRANSPORT, "return_link"])
# Values of `transport` other than names of TCP's congestion controls.
_PROTOCOLS = ("tcp", "quic", "udp")

# The keys of keywords and of bare names.
_KEYS = {name: keyword.key for name, keyword in KEYWORDS.items()} | BARE
# Keywords that set one key each; a link's keyword sets one key in each link.
_ALONE = {
    name: keyword.key
    for name, keyword in KEYWORDS.items()
    if name not in _TOGETHER and name != "reorder"
}


def node(name: str, value: Any) -> Node:
    """Convert the value of a keyword or a dotted key; None means not given.

    Raises:
        ScenarioError: If the keyword does not exist, or the value has the wrong type.

    Example:
        >>> node("duration_s", 9), node("link.rtt", "600 ms"), node("aqm", "codel")
        ('9000000000 ns', '600 ms', 'codel')
        >>> node("speed", 1)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        clift.errors.ScenarioError: speed: no such option; one of access_kbps, ...
    """
    keyword = KEYWORDS.get(name)
    if keyword is None:
        if name not in BARE and name.partition(".")[0] not in SECTIONS:
            known = ", ".join(sorted({*KEYWORDS, *BARE}))
            raise ScenarioError(f"{name}: no such option; one of {known}")
        return plain(name, value)
    if name == "transport" and isinstance(value, Mapping):
        return plain(name, value)
    if value is None and (keyword.usual is None or name == "queue_packets"):
        return None
    if name == "return_link":
        hop(name, value)
    return keyword.convert(name, value)


def changes(nodes: Mapping[str, Node], tree: Mapping[str, Node], of_links: bool) -> list[Change]:
    """Changes of a tree that the keywords make.

    Args:
        nodes: Values of keywords and dotted keys, in the given order.
        tree: The tree; keywords of links apply to each of its links.
        of_links: Whether the tree was made from links; then `simulate`'s defaults apply.

    Example:
        >>> changes({"wrap": True, "file_bytes": "9 B"}, {}, True)
        [('link.wrap', True), ('application', {'type': 'file', 'size': '9 B'})]
        >>> changes({"wrap": True}, {"path": [{"leg": {}}, {"ntn": {}}]}, True)
        [('path.1.link.wrap', True)]
    """
    hops = tree.get("path") or ()
    found: list[Change] = []
    made = list(hops or [tree])
    back = nodes.get("return_link")
    if back is not None:
        made.append(hop("return_link", back))
        found.append(("return", made[-1]))
    elif "return_link" in nodes and not of_links:
        found.append(("return", None))
    if of_links and nodes.get("reorder") is not None:
        own = any("reorder" in one.get("link", ()) for one in made)
        cure = "the link already has a re-sequencing buffer; remove one of them"
        only_with(own, [("reorder", True)], cure)
    keys = [(_KEYS.get(name, name), one) for name, one in nodes.items() if name not in _TOGETHER]
    if not _TOGETHER.isdisjoint(nodes):
        keys += _together(nodes, of_links)
    if len(made) == 1 and not hops:
        return found + keys
    links = [f"path.{place}." for place, one in enumerate(hops) if "leg" not in one] or [""]
    places = {"": [""], "link": links, "delays": links[-1:]}
    if back is not None:
        places |= {"link": [*links, "return."], "delays": [links[-1], "return."]}
    for key, value in keys:
        kind = key.partition(".")[0] if key in _OF_LINKS else ""
        if key in ("link.delays", "link.keep_order"):
            kind = "delays"
        found += ((f"{place}{key}", value) for place in places[kind])
    return found


def alone(nodes: Mapping[str, Node], links: int) -> list[Change] | None:
    """Changes by keywords that set one key each; None if any keyword does more.

    Args:
        nodes: Values of keywords and dotted keys.
        links: Number of links, including the return link.

    Example:
        >>> alone({"seed": 3, "wrap": True}, 1)
        [('seed', 3), ('link.wrap', True)]
        >>> alone({"wrap": True}, 2), alone({"file_bytes": "9 B"}, 1), alone({"link.wrap": 1}, 1)
        (None, None, None)
    """
    found = [(_ALONE.get(name, ""), value) for name, value in nodes.items()]
    if all(key and (links == 1 or key not in _OF_LINKS) for key, _ in found):
        return found
    return None


def _together(nodes: Mapping[str, Node], of_links: bool) -> list[Change]:
    """Changes by the keywords that are converted together, those of a link as for a single link."""
    names = nodes.keys()
    found: list[Change] = []
    if not names.isdisjoint(_TRANSPORT):
        found += _transport(nodes, of_links)
    if not names.isdisjoint(_QUEUE):
        found.append(("link.queue", _queue(nodes)))
    if not names.isdisjoint(_APPLICATION):
        found += _application(nodes, of_links)
    if not names.isdisjoint(_ACCESS):
        given = {name: nodes[name] for name in _ACCESS if name in nodes}
        if not of_links or any(node not in (None, "0 ns") for node in given.values()):
            found += ((KEYWORDS[name].key, node) for name, node in given.items())
    if not names.isdisjoint(_PATH):
        found += _delays(nodes, of_links)
    return found


def _transport(nodes: Mapping[str, Node], of_links: bool) -> list[Change]:
    named, congestion = nodes.get("transport"), nodes.get("congestion")
    found: list[Change] = []
    if isinstance(named, Mapping):
        found += ((f"transport.{key}", value) for key, value in named.items())
        named = None
    by_name = named is not None and named not in _PROTOCOLS
    twice = by_name and congestion is not None and named != KEYWORDS["transport"].usual
    cure = "`transport` names one already; say transport = 'tcp', or leave one of them out"
    only_with(twice, [("congestion", True)], cure)
    if named is not None and (not of_links or named in ("quic", "udp")):
        found.append(("transport.protocol", "tcp" if by_name else named))
    if congestion is not None or (by_name and named is not None):
        found.append(("transport.congestion", congestion if congestion is not None else named))
    elif "transport" not in nodes and not of_links:
        found.append(("transport.congestion", None))
    return found


def _delays(nodes: Mapping[str, Node], of_links: bool) -> list[Change]:
    steps = nodes.get("path_ms", ())
    there_are = any(delay for _, delay in steps)
    found: list[Change] = []
    if there_are:
        found.append(("link.delays", _clift.DelaySeries(steps)))
    elif steps and not of_links:
        found.append(("link.delays", None))
    if "path_in_order" in nodes and (there_are or not of_links):
        found.append(("link.keep_order", nodes["path_in_order"]))
    return found


def _queue(nodes: Mapping[str, Node]) -> Node:
    packets, size = nodes.get("queue_packets"), nodes.get("queue_bytes")
    if size is not None:
        other = packets not in (None, f"{KEYWORDS['queue_packets'].usual} packets")
        cure = "`queue_bytes` bounds the queue; leave one of them out"
        only_with(other, [("queue_packets", True)], cure)
        return size
    return packets or ("unlimited" if "queue_packets" in nodes else None)


def _application(nodes: Mapping[str, Node], of_links: bool) -> list[Change]:
    size, rate = nodes.get("file_bytes"), nodes.get("message_kbps")
    given = [(name, nodes.get(name) is not None) for name in ("message_bytes", "deadline_ms")]
    if of_links or size is not None:
        cure = "is for messages at a constant rate; give message_kbps beside it, or leave it out"
        only_with(rate is None, given, cure)
    if size is not None:
        cure = "a file, and messages at a constant rate: leave one of them out"
        only_with(rate is not None, [("file_bytes and message_kbps", True)], cure)
        return [("application", {"type": "file", "size": size})]
    if rate is not None:
        rest = {"message": nodes.get("message_bytes"), "deadline": nodes.get("deadline_ms")}
        told = {key: value for key, value in rest.items() if value is not None}
        return [("application", {"type": "constant rate", "rate": rate} | told)]
    if "file_bytes" in nodes or "message_kbps" in nodes:
        return [("application", {"type": "bulk"})]
    return [(KEYWORDS[name].key, nodes[name]) for name, _ in given if name in nodes]
