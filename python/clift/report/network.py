"""A network as lines of text, and as a picture."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any, NamedTuple


class Edge(NamedTuple):
    """A link of a network.

    Args:
        name: Name of the link.
        source: Node at which it begins.
        target: Node at which it ends.
        is_both: Whether packets cross it in both directions.
    """

    name: str
    source: str
    target: str
    is_both: bool


def edges(config: Mapping[str, Any]) -> list[Edge]:
    """The links of a scenario's network; empty if it has none.

    Args:
        config: Its sections and keys, as `Scenario.config` gives them.
    """
    links = (config.get("network") or {}).get("links", {})
    return [
        Edge(name, link["from"], link["to"], bool(link["duplex"] or link["return"]))
        for name, link in links.items()
    ]


def lines(links: Iterable[Edge], routes: Iterable[tuple[str, list[str], list[str]]]) -> list[str]:
    r"""A network in lines: each link, and each flow with its route.

    Args:
        links: The links.
        routes: Of each flow its name and the links that its packets cross, there and back. Flows
            one behind the other with equal routes share a line.

    Example:
        >>> net = [Edge("up", "a", "b", True), Edge("down", "b", "c", False)]
        >>> print("\n".join(lines(net, [("0", ["up", "down"], ["isl"])])))
        link up: a <-> b
        link down: b --> c
        flow 0: by up, down; back by isl
    """
    found = [
        f"link {one.name}: {one.source} {'<->' if one.is_both else '-->'} {one.target}"
        for one in links
    ]
    alike: list[tuple[list[str], list[str], list[str]]] = []
    for name, there, back in routes:
        if alike and alike[-1][1:] == (there, back):
            alike[-1][0].append(name)
        else:
            alike.append(([name], there, back))
    for names, there, back in alike:
        who = f"flow {names[0]}" if len(names) == 1 else f"flows {names[0]} to {names[-1]}"
        found.append(f"{who}: by {', '.join(there)}; back by {', '.join(back)}")
    return found


# Sizes of the picture, in its units.
_STEP, _ROW, _EDGE = 190, 90, 70


def svg(links: list[Edge]) -> str:
    """The network as SVG: a column of nodes for each number of links from the first node.

    Args:
        links: The links; at least one.

    Example:
        >>> picture = svg([Edge("up", "a", "b", True), Edge("down", "b", "c", False)])
        >>> picture.count("<circle"), picture.count("<line"), ">down</text>" in picture
        (3, 2, True)
    """
    places = _places(links)
    width = 2 * _EDGE + _STEP * max(x for x, _ in places.values())
    height = 2 * _EDGE + _ROW * max(y for _, y in places.values())

    def at(node: str) -> tuple[float, float]:
        x, y = places[node]
        return _EDGE + _STEP * x, _EDGE + _ROW * y

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" font-family="sans-serif" font-size="13" text-anchor="middle">',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="21" refY="4" markerWidth="8" '
        'markerHeight="8" orient="auto-start-reverse"><path d="M0 0L8 4L0 8z" fill="#555"/>'
        "</marker></defs>",
    ]
    seen: dict[frozenset[str], int] = {}
    for one in links:
        (x, y), (to_x, to_y) = at(one.source), at(one.target)
        beside = seen.setdefault(frozenset((one.source, one.target)), 0)
        seen[frozenset((one.source, one.target))] += 1
        start = ' marker-start="url(#tip)"' if one.is_both else ""
        # Links between the same nodes lie one below the other.
        shift = 14 * beside
        parts.append(
            f'<line x1="{x:g}" y1="{y + shift:g}" x2="{to_x:g}" y2="{to_y + shift:g}" '
            f'stroke="#555" marker-end="url(#tip)"{start}/>'
            f'<text x="{(x + to_x) / 2:g}" y="{(y + to_y) / 2 - 6 + 2 * shift:g}" '
            f'fill="#0072b2">{escape(one.name)}</text>'
        )
    for node in places:
        x, y = at(node)
        parts.append(
            f'<circle cx="{x:g}" cy="{y:g}" r="14" fill="#eef4fa" stroke="#0072b2"/>'
            f'<text x="{x:g}" y="{y + 32:g}" fill="#111">{escape(node)}</text>'
        )
    return "".join([*parts, "</svg>"])


def _places(links: list[Edge]) -> dict[str, tuple[int, float]]:
    """Column and row of each node; columns are centred.

    A link leads to the right: the first column has the nodes at which no link ends.
    """
    onward: dict[str, list[str]] = {}
    for one in links:
        onward.setdefault(one.source, []).append(one.target)
        onward.setdefault(one.target, [])
    ends = {one.target for one in links}
    columns = dict.fromkeys((node for node in onward if node not in ends), 0)
    reached = list(columns)
    for first in [None, *onward]:
        if first is not None and first not in columns:
            columns[first] = 0
            reached.append(first)
        for node in reached:
            for other in onward[node]:
                if other not in columns:
                    columns[other] = columns[node] + 1
                    reached.append(other)
    rows: dict[int, list[str]] = {}
    for node, column in columns.items():
        rows.setdefault(column, []).append(node)
    tallest = max(map(len, rows.values()))
    return {
        node: (column, (tallest - len(nodes)) / 2 + row)
        for column, nodes in rows.items()
        for row, node in enumerate(nodes)
    }
