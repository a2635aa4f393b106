"""Every metric of `Run.summary()`: a value computed by hand, or an independent count."""

from __future__ import annotations

import pickle
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clift
import clift.campaign
from clift import _clift
from clift._clift import (
    ACKNOWLEDGED,
    GONE,
    RECEIVED,
    RECEIVED_IN_VAIN,
    SENT,
    SENT_AGAIN,
    UNIT_AGAIN,
    UNIT_NEW,
)
from clift.campaign.metrics import measured_by
from clift.report.flows import of_flows

MS = 1_000_000
PACKET = 1500


def all_alike(ms: float, count: int) -> dict[str, float]:
    names = ("min", "mean", "p50", "p85", "p95", "p99", "max")
    return {"count": count, **dict.fromkeys(names, ms)}


def datagrams(**options: Any) -> clift.Run:
    """Eleven messages, one every 20 ms from 0 on, each a packet of 150 bytes in two LLDUs of 100.

    Slots are at 4 ms and every 5 ms from there: packet n takes those at 20 n + 4 and 20 n + 9.
    An LLDU takes 2 ms, so that a packet takes 11 ms, but for one of packet 1, which takes 75 ms
    (there at 104 ms), and one of packet 5, which is lost. The run ends before packet 10 leaves.
    """
    d = np.full(60, 2 * MS)
    d[5], d[21] = 75 * MS, 0
    phy = clift.PhyTrace((4 + 5 * np.arange(60)) * MS, d, lldu_bytes=100)
    ll = clift.tmt.apply(phy, clift.NoScheme(), rtt_ms=0)
    return clift.simulate(
        ll,
        transport="udp",
        packet_bytes=150,
        message_bytes=122,
        message_kbps=122 * 8 / 20,
        duration_s=0.203,
        **options,
    )


def test_a_link_by_hand() -> None:
    summary = datagrams().summary()
    link = summary["links"][0]
    late = {"count": 9, "min": 11.0, "p50": 11.0, "p85": 11.0, "p95": 84.0, "p99": 84.0}
    assert link == {
        "kind": "link",
        "packets_offered": 11,
        "packets_delivered": 9,
        "packets_dropped": 0,
        "packets_lost": 1,
        "packets_pending": 1,
        "packets_overtaken": 1,  # packet 1, by 2, 3 and 4
        "packets_held": 0,
        "reorder_flushes": 0,
        "lldus_taken": 20,
        "bytes_delivered": 9 * 150,
        "capacity_kbps": pytest.approx(40 * 100 * 8e-3 / summary["duration_s"]),
        "share_used": 20 / 40,  # slots from 4 to 199 ms
        "share_waiting": None,
        "share_beside": 0.0,
        "share_padding": 50 / 200,
        "mean_coding_ratio": 150 / 200,
        "longest_queue": 1,
        "packet_delay_ms": {**late, "mean": pytest.approx((8 * 11 + 84) / 9), "max": 84.0},
        "queueing_delay_ms": all_alike(4.0, 9),
    }


def test_a_flow_of_messages_by_hand() -> None:
    summary = datagrams(deadline_ms=12).summary()
    flow = summary["flows"][0]
    assert flow["messages"]["sent"] == 11
    assert flow["messages"]["received"] == 9
    assert flow["messages"]["in_time"] == 8
    # The last one is under way.
    assert flow["messages"]["share_in_time"] == 8 / 10
    assert flow["messages"]["delay_ms"]["max"] == 84.0
    assert flow["messages"]["delay_ms"]["min"] == 11.0
    for of in (flow, summary):
        assert of["ip_bytes_sent"] == 11 * 150
        assert of["ip_bytes_received"] == 9 * 150
        assert of["bytes_in_order"] == 9 * 122
        assert of["throughput_kbps"] == pytest.approx(11 * 150 * 8 / 203, rel=1e-12)
        assert of["ip_throughput_kbps"] == pytest.approx(9 * 150 * 8 / 203, rel=1e-12)
        assert of["goodput_kbps"] == pytest.approx(9 * 122 * 8 / 203, rel=1e-12)
    assert summary["duration_s"] == 0.203


@pytest.mark.parametrize(("deadline_ms", "in_time"), [(11, 8), (11 - 1e-6, 0), (84, 9), (83, 8)])
def test_a_message_that_takes_exactly_its_deadline_is_in_time(
    deadline_ms: float, in_time: int
) -> None:
    messages = datagrams(deadline_ms=deadline_ms).summary()["flows"][0]["messages"]
    assert messages["in_time"] == in_time


@pytest.mark.parametrize(
    ("packets", "held", "flushes", "overtaken"),
    [
        (None, 3, 0, 0),  # 2, 3 and 4 wait for packet 1
        (2, 2, 1, 1),  # 3 fills the buffer: 2 and 3 go on, 4 is not held, 1 comes late
        (3, 3, 1, 1),
        (4, 3, 0, 0),
    ],
)
def test_a_re_sequencing_buffer_by_hand(
    packets: int | None, held: int, flushes: int, overtaken: int
) -> None:
    link = datagrams(reorder=clift.Reorder(packets=packets)).summary()["links"][0]
    found = [link[name] for name in ("packets_held", "reorder_flushes", "packets_overtaken")]
    assert found == [held, flushes, overtaken]


def test_a_link_counts_what_its_packets_went_through() -> None:
    phy = clift.channel.gilbert_elliott(
        slots=20_000, alpha=0.95, beta=0.6, slot_ns=5 * MS, lldu_bytes=100, seed=2
    )
    ll = clift.tmt.apply(phy, clift.Arq(max_retx=1), rtt_ms=40)
    run = clift.simulate(
        ll,
        transport="udp",
        packet_bytes=150,
        message_bytes=5 * 122,  # five packets at once, more than the queue takes
        message_kbps=5 * 122 * 8 / 40,
        duration_s=50,
        queue_packets=4,
    )
    link = run.summary()["links"][0]
    arrivals = np.repeat(np.arange(0, 50_001, 40) * MS, 5)
    delivered_ns, fate = clift.deliver(ll, arrivals, packet_bytes=150, queue_packets=4)
    there = (fate == 0) & (delivered_ns <= 50_000 * MS)
    assert link["packets_offered"] == len(arrivals)
    assert link["packets_dropped"] == (fate == 2).sum() > 100
    assert link["packets_delivered"] == there.sum() > 100
    assert link["packets_lost"] == (fate == 1).sum() > 50
    assert (
        link["packets_pending"]
        == len(arrivals) - (fate == 2).sum() - (fate == 1).sum() - there.sum()
    )
    assert link["longest_queue"] == 4 != link["packets_pending"]
    assert link["bytes_delivered"] == 150 * there.sum()
    delays = (delivered_ns - arrivals)[there] / 1e6
    assert link["packet_delay_ms"]["count"] == there.sum()
    assert link["packet_delay_ms"]["mean"] == pytest.approx(delays.mean())
    assert link["packet_delay_ms"]["min"] == delays.min()
    assert link["packet_delay_ms"]["max"] == delays.max()
    # In the order of delivery, packets behind one that was offered later.
    order = np.flatnonzero(there)[np.argsort(delivered_ns[there], kind="stable")]
    overtaken = (order < np.maximum.accumulate(order)).sum()
    assert link["packets_overtaken"] == overtaken > 10


def figures(delays: list[int]) -> dict[str, Any]:
    """What a summary says of delays in ns: quantiles by nearest rank."""
    ordered = sorted(delays)
    ranks = {q: ordered[-(-q * len(ordered) // 100) - 1] for q in (50, 85, 95, 99)}
    shown = {"min": ordered[0], "mean": np.mean(ordered), "max": ordered[-1]}
    shown |= {f"p{q}": delay for q, delay in ranks.items()}
    return {"count": len(ordered)} | {
        name: pytest.approx(delay / 1e6) for name, delay in shown.items()
    }


class Counts:
    """What `Run.events` shows of a flow."""

    def __init__(self, run: clift.Run, flow: int = 0) -> None:
        events = run.events()
        columns = {name: events.column(name).to_numpy() for name in events.column_names}
        here = columns["flow"] == flow
        # A handshake counts in the bytes of IP that were sent, but not as segments: 60 of the SYN,
        # 52 of the ACK that ends it.
        empty = here & (columns["len"] == 0) & (columns["kind"] == SENT)
        self.handshake_bytes = [0, 60, 60 + 52][int(empty.sum())]
        here &= (columns["len"] > 0) | (columns["kind"] == ACKNOWLEDGED)
        self.time, self.kind, self.seq, self.len = (
            columns[name][here] for name in ("time_ns", "kind", "seq", "len")
        )
        self.header = PACKET - int(self.len.max())

    def number(self, *kinds: int) -> int:
        return int(np.isin(self.kind, kinds).sum())

    def ip_bytes(self, *kinds: int) -> int:
        payload = int(self.len[np.isin(self.kind, kinds)].sum())
        return payload + self.header * self.number(*kinds) + self.handshake_bytes * (SENT in kinds)

    def in_order(self) -> int:
        received = self.kind == RECEIVED
        reached, waiting = 0, dict(zip(self.seq[received], self.len[received], strict=True))
        while reached in waiting:
            reached += int(waiting.pop(reached))
        return reached

    def delays(self) -> tuple[list[int], list[int]]:
        """First transmission to first arrival, and to delivery in order, of each segment."""
        sent = self.kind == SENT
        left = dict(zip(self.seq[sent].tolist(), self.time[sent].tolist(), strict=True))
        got = self.kind == RECEIVED
        arrived, in_order, waiting, reached = [], [], {}, 0
        rows = (column[got].tolist() for column in (self.time, self.seq, self.len))
        for time, seq, length in zip(*rows, strict=True):
            arrived.append(time - left[seq])
            waiting[seq] = length
            while reached in waiting:
                in_order.append(time - left[reached])
                reached += waiting.pop(reached)
        return arrived, in_order

    def reordering(self) -> int:
        """The farthest that a segment arrived behind later ones, in packets."""
        seq = self.seq[self.kind == RECEIVED]
        return int((np.maximum.accumulate(seq) - seq).max() // self.len.max())

    def sent_at(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        return self.time[np.isin(self.kind, [SENT, SENT_AGAIN])]

    def duplicate_acks(self) -> int:
        """ACKs that tell nothing new while data are in flight."""
        acked = self.seq[self.kind == ACKNOWLEDGED]
        return int((acked[1:] <= np.maximum.accumulate(acked)[:-1]).sum())

    def by_retransmissions(self) -> list[int]:
        sent = Counter(self.seq[np.isin(self.kind, [SENT, SENT_AGAIN])].tolist())
        again = Counter(min(times - 1, 7) for times in sent.values())
        return [again[times] for times in range(8)]


def lossy() -> clift.LinkTrace:
    phy = clift.channel.gilbert_elliott(slots=400_000, alpha=0.998, beta=0.6, seed=4)
    return clift.tmt.apply(phy, clift.NoScheme(), rtt_ms=100)


@pytest.mark.parametrize(
    "options",
    [
        {"transport": "newreno", "profile": "papers"},
        {"transport": "cubic", "profile": "papers"},
        # An acknowledgement that opens the receive window is no duplicate, which events don't show.
        {"transport": "cubic", "linux": {"window_growth": False}},
        {"transport": "bbr", "linux": {"window_growth": False}},
    ],
    ids=str,
)
def test_a_flow_counts_what_its_events_show(options: dict[str, Any]) -> None:
    run = clift.simulate(lossy(), file_bytes=1_000_000, duration_s=300, **options)
    counts, summary = Counts(run), run.summary()
    flow = summary["flows"][0]
    for of in (summary, flow):
        assert of["segments_sent"] == counts.number(SENT, SENT_AGAIN)
        assert of["retransmissions"] == counts.number(SENT_AGAIN) > 10
        assert of["spurious_retransmissions"] == counts.number(RECEIVED_IN_VAIN)
        assert of["ip_bytes_sent"] == counts.ip_bytes(SENT, SENT_AGAIN)
        assert of["ip_bytes_received"] == counts.ip_bytes(RECEIVED)
        assert of["bytes_in_order"] == counts.in_order() == 1_000_000
        assert of["duplicate_acks"] == counts.duplicate_acks() > 0
        assert of["throughput_kbps"] == pytest.approx(
            8 * counts.ip_bytes(SENT, SENT_AGAIN) / of_seconds(summary, of) / 1e3
        )
        assert of["ip_throughput_kbps"] == pytest.approx(
            8 * counts.ip_bytes(RECEIVED) / of_seconds(summary, of) / 1e3
        )
        assert of["goodput_kbps"] == pytest.approx(8e3 / of_seconds(summary, of))
        last_byte = counts.time[counts.kind == RECEIVED].max()
        assert of["completion_s"] == pytest.approx(last_byte / 1e9)
        acked = counts.time[(counts.kind == ACKNOWLEDGED) & (counts.seq == 1_000_000)][0]
        assert of["completion_acked_s"] == pytest.approx(acked / 1e9)
        assert of["completion_acked_s"] > of["completion_s"]
    assert flow["segments_by_retransmissions"] == counts.by_retransmissions()
    arrived, in_order = counts.delays()
    assert flow["segment_delay_ms"] == figures(arrived)
    assert flow["in_order_delay_ms"] == figures(in_order)


def test_reordering_by_the_events() -> None:
    phy = clift.channel.gilbert_elliott(slots=400_000, alpha=0.99, beta=0.6, seed=4)
    ll = clift.tmt.apply(phy, clift.Arq(), rtt_ms=100)
    run = clift.simulate(ll, transport="newreno", duration_s=30)
    assert run.summary()["flows"][0]["reordering_degree"] == Counts(run).reordering() > 3


def of_seconds(summary: dict[str, Any], of: dict[str, Any]) -> float:
    """How long the run lasted; a flow lasts until its file has arrived."""
    seconds: float = summary["duration_s"] if of is summary else of["completion_s"]
    return seconds


def clear(lost: list[int]) -> clift.LinkTrace:
    """A link with a slot a ms that loses what goes out in these slots, a packet each."""
    d = np.full(60_000, MS)
    d[lost] = 0
    phy = clift.PhyTrace(np.arange(60_000) * MS, d, lldu_bytes=PACKET)
    return clift.tmt.apply(phy, clift.NoScheme(), rtt_ms=40)


NOTHING_WRONG = {
    "retransmissions": 0,
    "spurious_retransmissions": 0,
    "stale_segments": 0,
    "timeouts": 0,
    "fast_retransmits": 0,
    "recovery_entries": 0,
    "window_reductions": 0,
    "undo_events": 0,
}


def test_recoveries_by_hand() -> None:
    def run(lost: list[int]) -> clift.Run:
        # A flow bounded by its window, so that nothing waits for a slot for long.
        options = {"transport": "newreno", "profile": "papers", "cwnd_max_packets": 40}
        return clift.simulate(clear(lost), file_bytes=300 * 1448, duration_s=60, **options)

    # Three packets of one window, later one more: two recoveries, four fast retransmits.
    lost = [85, 86, 87, 712]
    # The last packet: nothing comes back for it, so that only the timeout repairs it.
    lost.append(-(-int(Counts(run(lost)).sent_at()[-1]) // MS))
    finished = run(lost)
    summary = finished.summary()
    for of in (summary, summary["flows"][0]):
        assert {name: of[name] for name in NOTHING_WRONG} == NOTHING_WRONG | {
            "retransmissions": 5,
            "timeouts": 1,
            "fast_retransmits": 4,
            "recovery_entries": 2,
            "window_reductions": 3,
        }
    assert summary["flows"][0]["segments_by_retransmissions"] == [295, 5, 0, 0, 0, 0, 0, 0]
    assert summary["links"][0]["packets_lost"] == 5


@pytest.mark.parametrize(
    ("profile", "sent_again", "undone"),
    [("papers", 20, 0), ("linux", 1, 1)],  # F-RTO of linux sees that nothing was lost
)
def test_a_needless_timeout_by_hand(profile: str, sent_again: int, undone: int) -> None:
    # From 2 s on the way takes 600 ms instead of 20: the whole window of 20 packets is late.
    run = clift.simulate(
        clear([]),
        transport="newreno",
        profile=profile,
        duration_s=20,
        path_ms=[(0, 20), (2, 600)],
        cwnd_max_packets=20,
    )
    summary = run.summary()
    for of in (summary, summary["flows"][0]):
        assert {name: of[name] for name in NOTHING_WRONG} == NOTHING_WRONG | {
            "retransmissions": sent_again,
            "spurious_retransmissions": sent_again,
            "timeouts": 1,
            "window_reductions": 1,
            "undo_events": undone,
        }
    assert summary["flows"][0]["start_s"] == 0.0


@pytest.mark.parametrize(
    ("options", "application", "window"),
    [
        ({}, (0.0, 0.02), (0.0, 0.02)),
        ({"receive_window_bytes": 20 * 1448}, (0.0, 0.02), (0.9, 1.0)),
        ({"message_kbps": 1000.0}, (0.9, 1.0), (0.0, 0.0)),
        ({"profile": "papers", "cwnd_max_packets": 20}, (0.0, 0.02), (0.8, 1.0)),
        ({"transport": {"protocol": "quic", "receive_window": "60 kB"}}, (0.0, 0.02), (0.5, 1.0)),
        ({"transport": {"protocol": "quic"}}, (0.0, 0.02), (0.0, 0.0)),
        ({"transport": "udp", "message_kbps": 1000.0}, (1.0, 1.0), (0.0, 0.0)),
    ],
)
def test_a_flow_says_what_limits_it(
    options: dict[str, object], application: tuple[float, float], window: tuple[float, float]
) -> None:
    """20 segments in 41 ms are half of what the link takes, 1 Mbit/s a twelfth."""
    run = clift.simulate(clear([]), duration_s=20, **options)
    summary = run.summary()
    for of in (summary, summary["flows"][0]):
        assert application[0] <= of["share_application_limited"] <= application[1]
        assert window[0] <= of["share_window_limited"] <= window[1]


@pytest.mark.filterwarnings("ignore:.*link.packing")
def test_padding_and_capacity_of_a_link() -> None:
    """A packet of 1500 bytes takes two LLDUs of 1228, one a ms."""
    phy = clift.PhyTrace(np.arange(20_000) * MS, np.full(20_000, MS), lldu_bytes=1228)
    for scheme in (clift.NoScheme(), None):
        link = clift.LiveLink(phy, "none", rtt_ms=40) if scheme is None else phy
        link = link if scheme is None else clift.tmt.apply(link, scheme, rtt_ms=40)
        run = clift.simulate(link, transport="udp", message_kbps=1000, message_bytes=1472,
                             duration_s=10)  # fmt: skip
        [found] = run.summary()["links"]
        assert found["share_padding"] == pytest.approx(1 - 1500 / 2456)
        assert found["capacity_kbps"] == pytest.approx(1228 * 8, rel=0.001)


def test_totals_are_sums_over_flows_and_fairness_is_jains() -> None:
    run = clift.simulate(lossy(), transport="newreno", duration_s=20, flows=3)
    summary = run.summary()
    flows = summary["flows"]
    counts = [Counts(run, flow) for flow in range(3)]
    assert [flow["bytes_in_order"] for flow in flows] == [one.in_order() for one in counts]
    for name in (*NOTHING_WRONG, "ip_bytes_sent", "ip_bytes_received", "segments_sent"):
        assert summary[name] == sum(flow[name] for flow in flows)
    got = np.array([one.in_order() for one in counts], dtype=float)
    assert len(set(got)) == 3
    assert summary["fairness"] == pytest.approx(got.sum() ** 2 / (3 * (got**2).sum()))
    assert summary["goodput_kbps"] == pytest.approx(got.sum() * 8 / 20 / 1e3)
    # Nobody had a file.
    assert summary["completion_s"] is summary["completion_acked_s"] is None


def test_a_run_ends_with_its_slowest_flow() -> None:
    run = clift.simulate(lossy(), transport="newreno", file_bytes=200_000, duration_s=99, flows=3)
    summary = run.summary()
    for name, kind in (("completion_s", RECEIVED), ("completion_acked_s", ACKNOWLEDGED)):
        flows = [flow[name] for flow in summary["flows"]]
        assert len(set(flows)) == 3
        assert summary[name] == max(flows)
        ends = [one.time[one.kind == kind] for one in (Counts(run, flow) for flow in range(3))]
        assert flows == pytest.approx([float(end.max()) / 1e9 for end in ends])


def test_a_leg_by_hand() -> None:
    # 33 messages of 122 + 28 bytes, one every 3 ms from 0 on; the leg of 100 kbit/s takes 12 ms for
    # each, so that it sends 8 in the first 96 ms, and the ninth is under way when the run ends.
    run = clift.simulate(
        clear([]),
        transport="udp",
        packet_bytes=150,
        message_bytes=122,
        message_kbps=122 * 8 / 3,
        duration_s=0.098,
        access_kbps=100,
        access_ms=1,
    )
    summary = run.summary()
    assert [hop["kind"] for hop in summary["links"]] == ["link", "leg"]
    link, leg = summary["links"]
    assert summary["segments_sent"] == 33
    # At 13, 25, ... ms at the link, which has a slot there, and 21 ms later at the last leg.
    assert link["packets_offered"] == 8
    assert link["packets_delivered"] == 6
    assert link["queueing_delay_ms"] == all_alike(0.0, 6)
    assert link["packet_delay_ms"] == all_alike(21.0, 6)
    assert leg == {
        "kind": "leg",
        "packets_offered": 6,
        "packets_dropped": 0,
        "packets_lost": 0,
        "packets_pending": 1,
        "bytes_sent": 6 * 150,
        # Five packets of 12 ms from 34 ms on, and a third of the next, of 98 ms.
        "share_used": pytest.approx((5 + 1 / 3) * 12 / 98),
        "longest_queue": 0,
    }


def test_live_links_count_their_units() -> None:
    phy = clift.channel.bernoulli(slots=40_000, slot_ns=MS, p=0.05, lldu_bytes=100, seed=1)
    run = clift.simulate(
        clift.LiveLink(phy, "ARQ", rtt_ms=40),
        profile="papers",
        file_bytes=200_000,
        duration_s=39,
    )
    link, units = run.summary()["links"][0], run.units()
    kind, arrival = (units.column(name).to_numpy() for name in ("kind", "arrival_ns"))
    assert link["lldus_taken"] == (kind == UNIT_NEW).sum()
    assert link["units_sent"] == len(units)
    assert link["units_sent_again"] == (kind == UNIT_AGAIN).sum() == (arrival < 0).sum()
    assert link["share_used"] == pytest.approx(
        len(units) / (1000 * run.summary()["duration_s"]), rel=1e-3
    )
    assert link["mean_coding_ratio"] == pytest.approx(link["bytes_delivered"] / len(units) / 100)
    first = units.column("first_packet").to_numpy()
    assert link["packets_delivered"] == first.max() + 1


def test_the_catalogue_names_everything_in_a_summary() -> None:
    places: dict[str, set[str]] = {}
    for where, name, title, *_ in _clift.metrics():
        assert title
        for place in where:
            assert name not in places.setdefault(place, set()), name
            places[place].add(name)
    summary = datagrams(deadline_ms=11).summary()
    flow, (link,), (leg,) = summary["flows"][0], summary["links"], summary["return_links"]
    lists = {"flows", "links", "return_links"}
    # What a run has of its applications alone, tests/test_applications.py looks at.
    own = {"page_load_s", "mos", "video_quality_kbps", "video_rate_kbps", "share_stalled"}
    own |= {"conference_rate_kbps", "share_frozen", "mean_completion_s"}
    own |= {"median_completion_s", "p95_completion_s", "completed_flows"}
    assert places["run"] - own == summary.keys() - lists
    assert places["flow"] == flow.keys() - {"messages"}
    assert places["messages"] == flow["messages"].keys()
    assert places["link"] == link.keys() - {"kind"}
    assert places["leg"] == leg.keys() - {"kind"}
    assert places["delay"] == link["packet_delay_ms"].keys()


MANY = """
duration = "2 s"
runs = 2
flows = 120
scheme = "ARQ"
[channel]
model = "bernoulli"
slot = "1 ms"
erasures = "1 %"
[link]
rtt = "50 ms"
[application]
type = "file"
size = "2 kB"
"""


def test_many_flows_have_a_range_in_results_and_numbers_of_their_own_in_a_summary() -> None:
    results = clift.campaign.run(clift.Scenario.parse(MANY))
    run = results.cells[0].first
    assert run is not None
    flows, numbers = run.summary()["flows"], run.numbers()
    assert len(flows) == 120
    for name in ("goodput_kbps", "retransmissions", "completion_s"):
        measured = [flow[name] for flow in flows if flow[name] is not None]
        told = [numbers[f"flows.{word}.{name}"] for word in ("least", "median", "most")]
        assert told == [min(measured), pytest.approx(float(np.median(measured))), max(measured)]
    assert not [name for name in numbers if name.startswith("flows.0.")]
    assert pickle.loads(pickle.dumps(run)).numbers() == numbers
    # The shares that papers print are of all flows.
    once = sum(flow["segments_by_retransmissions"][0] for flow in flows)
    all_of = sum(sum(flow["segments_by_retransmissions"]) for flow in flows)
    assert measured_by(run)["segments_sent_once_share"] == once / all_of
    # Tables and pictures of results show the ends.
    text = str(results)
    assert "least of a flow" in text
    assert "most of a flow" in text
    assert len(of_flows(results.cells[0])) == 3
    assert set(run.series(interval_ms=100, flows=3)["flow"].to_pylist()) == {0, 1, 2}
    with pytest.raises(clift.ScenarioError, match="flows"):
        run.series(flows=0)


def test_few_flows_have_a_bar_each() -> None:
    text = MANY.replace("120", "3")
    cell = clift.campaign.run(clift.Scenario.parse(text)).cells[0]
    assert list(of_flows(cell)) == ["flow 0", "flow 1", "flow 2"]


@pytest.mark.parametrize("aqm", ["codel", "pie", "fq-codel", "dualpi2"])
def test_a_log_is_in_order_of_time_though_a_queue_tells_its_drops_later(aqm: str) -> None:
    leg = {"rate": "5 Mbit/s", "delay": "30 ms", "queue": "60 packets", "aqm": aqm}
    run = clift.simulate(clift.Scenario({"path": [{"leg": leg}]}, duration_s=20, flows=2))
    events = run.events()
    times, kinds = (events.column(name).to_numpy() for name in ("time_ns", "kind"))
    assert np.all(np.diff(times) >= 0)
    # Every packet of the leg carries data but for the two SYNs and what completes handshakes.
    dropped = run.summary()["links"][0]["packets_dropped"]
    assert dropped > 5
    assert np.count_nonzero(kinds == GONE) == dropped


def test_the_capacity_of_a_stretch_is_that_of_its_slots_with_any_scheme(tmp_path: Path) -> None:
    log = "time,rate,loss\n" + "".join(f"{10 * at},{1 + at % 3},{at % 4}\n" for at in range(30))
    (tmp_path / "log.csv").write_text(log)
    columns = {"time": "time:s", "rate": "rate:Mbit/s", "loss": "loss:%"}
    trace = {"file": str(tmp_path / "log.csv"), **columns}
    # 20 s of 10 s each at 1, 2, 3, 1, ... Mbit/s.
    for start, expected in ((0, 1500), (55, 1750), (122, 1700)):
        for scheme in ("none", "ARQ", "FEC(10/12)", "HARQ(10/12)"):
            link = {"rtt": "100 ms", "start": f"{start} s"}
            made = clift.Scenario({"trace": trace, "link": link, "scheme": scheme}, duration_s=20)
            [measured] = clift.simulate(made).summary()["links"]
            assert measured["capacity_kbps"] == pytest.approx(expected, rel=4e-3)
