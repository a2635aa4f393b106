"""clift.deliver and clift.Reorder against the words of DESIGN section 5, LLDU by LLDU."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import clift
from clift.scheme import Scheme


def slow_deliver(
    ll: clift.LinkTrace, arrivals: list[int], packet_bytes: int, queue_packets: int | None
) -> list[tuple[int, int]]:
    """Every packet looks for its LLDUs one by one."""
    t, d, lost = ll.t_ns.tolist(), ll.d_ns.tolist(), ll.lost_ns.tolist()
    wanted = -(-packet_bytes // ll.lldu_bytes)
    free = 0
    departures: list[float] = []
    results: list[tuple[int, int]] = []
    for arrival in arrivals:
        waiting = sum(departure > arrival for departure in departures)
        if queue_packets is not None and waiting >= queue_packets:
            results.append((-1, 2))
            continue
        while free < len(t) and t[free] < arrival:
            free += 1
        own = range(free, min(free + wanted, len(t)))
        free = own.stop
        departures.append(t[own.start] if len(own) else float("inf"))
        censored = any(d[i] == 0 and lost[i] == 0 for i in own)
        if len(own) < wanted or censored:
            results.append((-1, 3))
        elif any(d[i] == 0 for i in own):
            results.append((-1, 1))
        else:
            results.append((max(t[i] + d[i] for i in own) + ll.rtt_ns // 2, 0))
    return results


@pytest.mark.parametrize("queue_packets", [None, 1, 4])
@pytest.mark.parametrize(
    "scheme",
    [clift.NoScheme(), clift.Fec(3, 4), clift.Arq(), clift.Arq(max_retx=1), clift.Harq2(3, 4)],
    ids=str,
)
def test_deliver_equals_a_walk_over_the_lldus(scheme: Scheme, queue_packets: int | None) -> None:
    random = np.random.default_rng(7)
    for _ in range(20):
        slots = int(random.integers(1, 300))
        t = np.cumsum(random.integers(1, 30, slots))
        d = random.integers(1, 50, slots) * (random.random(slots) > 0.1)
        ll = clift.tmt.apply(clift.PhyTrace(t, d), scheme, rtt_ms=0.0002)
        arrivals = np.sort(random.integers(0, t[-1] + 20, 60))
        delivered, fate = clift.deliver(ll, arrivals, 80, queue_packets)
        expected = slow_deliver(ll, arrivals.tolist(), 80, queue_packets)
        assert list(zip(delivered.tolist(), fate.tolist(), strict=True)) == expected


def test_a_buffer_in_order_waits_for_the_repair_of_an_earlier_packet() -> None:
    # The first slot's loss is known at 30, so the fourth slot repairs it: d' = 35.
    phy = clift.PhyTrace([0, 10, 20, 30, 40], [0, 5, 5, 5, 5], lldu_bytes=100)
    ll = clift.tmt.apply(phy, clift.Arq(), rtt_ms=0.00003, feedback_ms=0.00003)
    delivered, fate = clift.deliver(ll, [0, 0, 0], packet_bytes=100)
    assert (delivered.tolist(), fate.tolist()) == ([50, 30, 40], [0, 0, 0])
    in_order = clift.Reorder(packets=None)
    assert clift.deliver(ll, [0, 0, 0], 100, reorder=in_order)[0].tolist() == [50, 50, 50]
    two = clift.Reorder(packets=2)
    assert clift.deliver(ll, [0, 0, 0], 100, reorder=two)[0].tolist() == [50, 40, 40]


@pytest.mark.parametrize("flush_on_loss", [True, False])
def test_a_loss_flushes_a_buffer_if_it_is_to(flush_on_loss: bool) -> None:
    # d_nom = 90, so the second packet is given up at 100. The fourth, there since 35, is then
    # flushed, or waits for the third (110).
    phy = clift.PhyTrace([0, 10, 20, 30], [90, 0, 90, 5], lldu_bytes=100)
    ll = clift.tmt.apply(phy, clift.NoScheme(), rtt_ms=0)
    buffer = clift.Reorder(packets=125, flush_on_loss=flush_on_loss)
    delivered, fate = clift.deliver(ll, [0] * 4, 100, reorder=buffer)
    assert fate.tolist() == [0, 1, 0, 0]
    assert delivered.tolist() == [90, -1, 110, 100 if flush_on_loss else 110]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda ll: clift.deliver(ll, [5, 3]), "arrival 1: 3 ns"),
        (lambda ll: clift.deliver(ll, [-1]), "arrival 0: -1 ns is negative"),
        (lambda ll: clift.deliver(ll, [0.5]), "arrivals_ns holds float64"),
        (lambda ll: clift.deliver(ll, [0], packet_bytes=0), "packet_bytes = 0"),
        (lambda ll: clift.deliver(ll, [0], queue_packets=-1), "queue_packets = -1"),
        (lambda _: clift.Reorder(packets=0), "packets = 0"),
        (lambda _: clift.Reorder(key="ip"), "give 'link' or 'tcp'"),
    ],
)
def test_packets_that_cannot_be_sent_are_refused_with_the_reason(
    call: Callable[[clift.LinkTrace], object], message: str
) -> None:
    ll = clift.tmt.apply(clift.PhyTrace([0], [1]), clift.NoScheme())
    with pytest.raises(clift.CliftError, match=message):
        call(ll)


def test_behind_a_buffer_on_tcp_numbers_without_flushes_only_timeouts_repair() -> None:
    phy = clift.channel.bernoulli(slots=200_000, p=0.015, seed=1)
    ll = clift.tmt.apply(phy, clift.Arq(max_retx=1))
    waits = clift.Reorder(packets=None, flush_on_loss=False, key="tcp")
    flow = clift.simulate(ll, duration_s=20, reorder=waits).summary()["flows"][0]
    assert flow["fast_retransmits"] == flow["recovery_entries"] == 0 < flow["timeouts"]
    # A flush jumps over what was given up, and TCP hears of it.
    flow = clift.simulate(ll, duration_s=20, reorder=clift.Reorder(key="tcp")).summary()["flows"][0]
    assert flow["fast_retransmits"] > 0


def test_a_scenario_file_has_the_same_buffer(tmp_path: Path) -> None:
    path = tmp_path / "buffer.toml"
    path.write_text(
        """
        seed = 1
        duration = "10 s"
        scheme = "ARQ"
        [channel]
        model = "bernoulli"
        erasures = "2 %"
        length = "30 s"
        slot = "114783 ns"
        lldu = "33 B"
        decoding = "36 ms"
        [link]
        rtt = "500 ms"
        reorder = { packets = 20 }
        """
    )
    by_link = clift.Scenario.read(path)
    by_tcp = by_link.replace(**{"link.reorder.key": "tcp"})
    assert clift.simulate(by_link).summary() != clift.simulate(by_tcp).summary()
    with pytest.raises(clift.CliftError, match=r"link\.reorder\.key"):
        clift.simulate(by_link.replace(**{"link.reorder.key": "ip"}))
