"""Routes that change within a run, beside a reference that moves each packet from node to node."""

from __future__ import annotations

import heapq
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import clift

MS = 1_000_000
RECEIVED = 2  # the kind of an event in `Run.events`
# The way by b takes 20 ms, from 1 s on 70 ms, from 2 s on 15 ms; the way by c 32 ms.
DIAMOND = """
duration = "3 s"
[network]
routing = "delay"
reroute_every = "1 s"
[network.links]
ab = { from = "a", to = "b", leg = { delay = "10 ms" } }
ac = { from = "a", to = "c", leg = { delay = "12 ms" } }
bc = { from = "b", to = "c", leg = { delay = "5 ms" } }
bd = { from = "b", to = "d", leg = { delays = [[0, 10], [1, 60], [2, 5]] } }
cd = { from = "c", to = "d", leg = { delay = "20 ms" } }
da = { from = "d", to = "a", leg = { delay = "1 ms" } }
[[flow]]
from = "a"
to = "d"
transport.protocol = "udp"
application = { type = "constant rate", rate = "1.6 Mbit/s", message = "1000 B" }
"""


def arrivals(text: str) -> dict[int, int]:
    """The arrival of each message of a run in ns, by the time at which it was sent."""
    run = clift.simulate(clift.Scenario.parse(text))
    events = [event for event in run.events().to_pylist() if event["len"] > 0]
    sent = {event["seq"]: event["time_ns"] for event in events if event["kind"] == 0}
    received = {event["seq"]: event["time_ns"] for event in events if event["kind"] == RECEIVED}
    return {sent[seq]: at for seq, at in received.items()}


def test_two_ways_swap_their_rank() -> None:
    """Messages leave every 5 ms; their arrivals follow from the delays by hand."""
    arrived = arrivals(DIAMOND)
    taken = {sent / MS: (at - sent) / MS for sent, at in arrived.items()}
    assert {taken[ms] for ms in range(0, 990, 5)} == {20}
    # At 1 s that of 985 ms was between b and d; b forwards the next two by c.
    assert [taken[ms] for ms in (985, 990, 995)] == [20, 35, 35]
    assert {taken[ms] for ms in range(1000, 2000, 5)} == {32}
    assert {taken[ms] for ms in range(2000, 2980, 5)} == {15}
    # The message of 1985 ms arrives at 2017 ms, after that of 2000 ms.
    late = [
        early for early, next_one in pairwise(sorted(arrived)) if arrived[next_one] < arrived[early]
    ]
    assert late == [1995 * MS]
    overtaken = [ms for ms in range(1950, 2000, 5) if ms + taken[ms] > 2000 + taken[2000]]
    assert overtaken == [1985, 1990, 1995]


def test_links_of_any_kind_hand_packets_to_the_new_route() -> None:
    """As above, over slots of .12 ms with delays behind them, and queues that manage themselves."""
    legs = DIAMOND.replace('delay = "20 ms"', 'delay = "20 ms", rate = "1 Gbit/s", aqm = "codel"')
    legs = legs.replace('delay = "12 ms"', 'delay = "12 ms", rate = "1 Gbit/s", aqm = "fq-codel"')
    slots = (
        'channel = { model = "bernoulli", erasures = 0, rate = "100 Mbit/s", decoding = "1 us" }'
    )
    link = f'{slots}, link = {{ rtt = "0 ms", delays = [[0, 10], [1, 60], [2, 5]] }}'
    arrived = arrivals(legs.replace("leg = { delays = [[0, 10], [1, 60], [2, 5]] }", link))
    by_hand = arrivals(DIAMOND)
    assert len(arrived) > 590
    assert all(0 <= at - by_hand[sent] < 0.3 * MS for sent, at in arrived.items())


def tcp(
    changes: dict[str, Any], text: str = DIAMOND, rated: tuple[str, ...] = ("ab", "ac")
) -> clift.Run:
    """A run of TCP without end over links of which some have a rate."""
    text = text.replace('type = "constant rate", rate = "1.6 Mbit/s", message = "1000 B"', "")
    rates = {f"network.links.{link}.leg.rate": "8 Mbit/s" for link in rated}
    changes = rates | {"flow.0.transport.protocol": "tcp"} | changes
    return clift.simulate(clift.Scenario.parse(text, changes=changes))


def test_a_swap_reorders_the_segments_of_tcp() -> None:
    window = {"flow.0.transport.cwnd_max": "20 packets"}
    [moved] = tcp(window).summary()["flows"]
    [still] = tcp(window | {"network.reroute_every": "10 s"}).summary()["flows"]
    # Without the second choice the delay itself falls at 2 s.
    assert moved["reordering_degree"] > 0
    [steady] = tcp(window | {"network.links.bd.leg.delays": [[0, 10]]}).summary()["flows"]
    assert steady["reordering_degree"] == 0
    assert moved["goodput_kbps"] > still["goodput_kbps"]


def test_routes_that_stay_change_nothing() -> None:
    still = {"network.links.bd.leg.delays": [[0, 10], [1, 11]], "duration": "5 s"}
    without = DIAMOND.replace('reroute_every = "1 s"\n', "")
    assert tcp(still).events().equals(tcp(still, without).events())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"network.reroute_every": "0 s"},
            "network.reroute_every: is zero; give a time above zero",
        ),
        (
            {"network.routing": "links"},
            "network.reroute_every: routes of fewest links do not change",
        ),
    ],
)
def test_wrong_reroutings_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(clift.CliftError) as caught:
        tcp(changes)
    assert message in str(caught.value)


def test_causes_and_captures_need_routes_that_stay(tmp_path: Path) -> None:
    text = DIAMOND.replace('type = "constant rate", rate = "1.6 Mbit/s", message = "1000 B"', "")
    rate = {"network.links.ab.leg.rate": "8 Mbit/s", "network.links.ac.leg.rate": "8 Mbit/s"}
    changes = rate | {"flow.0.transport.protocol": "tcp"}
    run = clift.simulate(clift.Scenario.parse(text, changes=changes))
    with pytest.raises(clift.CliftError, match="the routes change within the run; leave"):
        run.why()
    with pytest.raises(clift.CliftError, match="but the routes change; leave"):
        run.capture(tmp_path / "x.pcapng")


def test_every_way_that_a_flow_may_take_needs_a_rate() -> None:
    with pytest.raises(clift.CliftError, match="nothing on the path limits the rate"):
        tcp({}, rated=("ab", "bd"))


Links = list[tuple[int, int, list[tuple[int, int]]]]


def delay(table: list[tuple[int, int]], at: int) -> int:
    """Delay of a link in ns at an instant."""
    return [ns for begins, ns in table if begins <= at][-1]


def next_link(links: Links, node: int, last: int, at: int) -> int:
    """The link by which a node forwards: least delay, fewest links, first (Dijkstra)."""
    cost = {last: (0, 0)}
    reached = [(0, 0, last)]
    while reached:
        ns, count, to = heapq.heappop(reached)
        if (ns, count) > cost[to]:
            continue
        for begin, end, table in links:
            further = (ns + delay(table, at), count + 1)
            if end == to and further < cost.get(begin, (1 << 60, 0)):
                cost[begin] = further
                heapq.heappush(reached, (*further, begin))
    for number, (begin, end, table) in enumerate(links):
        if begin == node and end in cost:
            ns, count = cost[end]
            if (ns + delay(table, at), count + 1) == cost[node]:
                return number
    raise AssertionError(node)


def walk(links: Links, sent: int, every: int) -> int:
    """The arrival at node 1 of a packet that node 0 sends."""
    node, now = 0, sent
    while node != 1:
        begin, end, table = links[next_link(links, node, 1, now // every * every)]
        assert begin == node
        node, now = end, now + delay(table, now)
    return now


@st.composite
def networks(draw: st.DrawFn) -> Links:
    """Up to six nodes and the links between them, with delays that change at drawn times."""
    nodes = draw(st.integers(3, 6))
    pairs = draw(st.lists(st.tuples(*[st.integers(0, nodes - 1)] * 2), min_size=4, max_size=14))
    links = []
    for begin, end in [(0, 2), (2, 1), *pairs]:
        # Of a microsecond: no packet is at a node when routes are chosen.
        steps = draw(st.lists(st.integers(1, 90), max_size=3, unique=True))
        times = [0, *(step * 10 * MS for step in sorted(steps))]
        table = [(at, draw(st.integers(1, 300)) * 100_000 + 1_000) for at in times]
        if begin != end:
            links.append((begin, end, table))
    return links


@settings(max_examples=60, deadline=None)
@given(links=networks(), every_ms=st.integers(20, 400))
def test_drawn_networks_agree_with_the_reference(links: Links, every_ms: int) -> None:
    text = [
        'duration = "1 s"',
        "[network]",
        'routing = "delay"',
        f'reroute_every = "{every_ms} ms"',
    ]
    for number, (begin, end, table) in enumerate(links):
        rows = [[at / 1e9, ns / MS] for at, ns in table]
        ends = f'from = "n{begin}"\nto = "n{end}"'
        text.append(f"[network.links.l{number:02}]\n{ends}\nleg.delays = {rows}")
    text.append("""[network.links.zz]
from = "n1"
to = "n0"
leg.delay = "1 ms"
[[flow]]
from = "n0"
to = "n1"
transport.protocol = "udp"
application = { type = "constant rate", rate = "2 Mbit/s", message = "1000 B" }
""")
    arrived = arrivals("\n".join(text))
    # The link back from the last node is never on a way to it.
    expected = {sent: walk(links, sent, every_ms * MS) for sent in range(0, 1000 * MS, 4 * MS)}
    assert len(arrived) > 100
    in_time = {sent: at for sent, at in expected.items() if at <= 1000 * MS}
    assert arrived == in_time
