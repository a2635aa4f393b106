"""Converts keyword arguments of a run into changes of a scenario's tree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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


def changes(
    nodes: Mapping[str, Node], tree: Mapping[str, Node], of_links: bool
) -> Iterator[Change]:
    """Changes of a tree that the keywords make.

    Args:
        nodes: Values of keywords and dotted keys, in the given order.
        tree: The tree; keywords of links apply to each of its links.
        of_links: Whether the tree was made from links; then `simulate`'s defaults apply.

    Example:
        >>> list(changes({"wrap": True, "file_bytes": "9 B"}, {}, True))
        [('link.wrap', True), ('application', {'type': 'file', 'size': '9 B'})]
        >>> list(changes({"wrap": True}, {"path": [{"leg": {}}, {"ntn": {}}]}, True))
        [('path.1.link.wrap', True)]
    """
    hops = tree.get("path") or ()
    links = [f"path.{place}." for place, one in enumerate(hops) if "leg" not in one] or [""]
    places = {"": [""], "link": links, "delays": links[-1:]}
    made = list(hops or [tree])
    if nodes.get("return_link") is not None:
        back = hop("return_link", nodes["return_link"])
        yield "return", back
        made.append(back)
        places = {**places, "link": [*links, "return."], "delays": [links[-1], "return."]}
    elif "return_link" in nodes and not of_links:
        yield "return", None
    own = any("reorder" in one.get("link", ()) for one in made)
    cure = "the link already has a re-sequencing buffer; remove one of them"
    only_with(of_links and own, [("reorder", nodes.get("reorder") is not None)], cure)
    for key, value in _keys(nodes, of_links):
        kind = key.partition(".")[0] if key in _OF_LINKS else ""
        if key in ("link.delays", "link.keep_order"):
            kind = "delays"
        for place in places[kind]:
            yield f"{place}{key}", value


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


def _keys(nodes: Mapping[str, Node], of_links: bool) -> Iterator[Change]:
    """Keys and values of the given keywords, those of a link as for a single link."""
    for name, value in nodes.items():
        if name not in _TOGETHER:
            keyword = KEYWORDS.get(name)
            yield keyword.key if keyword else BARE.get(name, name), value
    if not _TOGETHER.isdisjoint(nodes):
        yield from _together(nodes, of_links)


def _together(nodes: Mapping[str, Node], of_links: bool) -> Iterator[Change]:
    if not nodes.keys().isdisjoint(_TRANSPORT):
        yield from _transport(nodes, of_links)
    if not nodes.keys().isdisjoint(_QUEUE):
        yield "link.queue", _queue(nodes)
    if not nodes.keys().isdisjoint(_APPLICATION):
        yield from _application(nodes, of_links)
    given = {name: nodes[name] for name in _ACCESS if name in nodes}
    if not of_links or any(node not in (None, "0 ns") for node in given.values()):
        yield from ((KEYWORDS[name].key, node) for name, node in given.items())
    yield from _delays(nodes, of_links)


def _transport(nodes: Mapping[str, Node], of_links: bool) -> Iterator[Change]:
    named, congestion = nodes.get("transport"), nodes.get("congestion")
    if isinstance(named, Mapping):
        yield from ((f"transport.{key}", value) for key, value in named.items())
        named = None
    by_name = named is not None and named not in _PROTOCOLS
    twice = by_name and congestion is not None and named != KEYWORDS["transport"].usual
    cure = "`transport` names one already; say transport = 'tcp', or leave one of them out"
    only_with(twice, [("congestion", True)], cure)
    if named is not None and (not of_links or named in ("quic", "udp")):
        yield "transport.protocol", "tcp" if by_name else named
    if congestion is not None or (by_name and named is not None):
        yield "transport.congestion", congestion if congestion is not None else named
    elif "transport" not in nodes and not of_links:
        yield "transport.congestion", None


def _delays(nodes: Mapping[str, Node], of_links: bool) -> Iterator[Change]:
    steps = nodes.get("path_ms", ())
    there_are = any(delay for _, delay in steps)
    if there_are:
        yield "link.delays", _clift.DelaySeries(steps)
    elif steps and not of_links:
        yield "link.delays", None
    if "path_in_order" in nodes and (there_are or not of_links):
        yield "link.keep_order", nodes["path_in_order"]


def _queue(nodes: Mapping[str, Node]) -> Node:
    packets, size = nodes.get("queue_packets"), nodes.get("queue_bytes")
    if size is not None:
        other = packets not in (None, f"{KEYWORDS['queue_packets'].usual} packets")
        cure = "`queue_bytes` bounds the queue; leave one of them out"
        only_with(other, [("queue_packets", True)], cure)
        return size
    return packets or ("unlimited" if "queue_packets" in nodes else None)


def _application(nodes: Mapping[str, Node], of_links: bool) -> Iterator[Change]:
    size, rate = nodes.get("file_bytes"), nodes.get("message_kbps")
    given = [(name, nodes.get(name) is not None) for name in ("message_bytes", "deadline_ms")]
    if of_links or size is not None:
        cure = "is for messages at a constant rate; give message_kbps beside it, or leave it out"
        only_with(rate is None, given, cure)
    if size is not None:
        cure = "a file, and messages at a constant rate: leave one of them out"
        only_with(rate is not None, [("file_bytes and message_kbps", True)], cure)
        yield "application", {"type": "file", "size": size}
    elif rate is not None:
        rest = {"message": nodes.get("message_bytes"), "deadline": nodes.get("deadline_ms")}
        told = {key: value for key, value in rest.items() if value is not None}
        yield "application", {"type": "constant rate", "rate": rate} | told
    elif "file_bytes" in nodes or "message_kbps" in nodes:
        yield "application", {"type": "bulk"}
    else:
        yield from ((KEYWORDS[name].key, nodes[name]) for name, _ in given if name in nodes)
