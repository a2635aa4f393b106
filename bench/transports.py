"""What a packet of each transport costs, and what a queue's management adds."""

from __future__ import annotations

from time import process_time
from typing import Any

import clift

TRANSPORTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("TCP cubic", {"transport": "cubic"}),
    ("TCP bbr", {"transport": "bbr"}),
    ("TCP bbr3", {"transport": "bbr3"}),
    ("QUIC cubic", {"transport": "quic", "congestion": "cubic"}),
    ("QUIC clift-cubic", {"transport": "quic", "congestion": "clift-cubic"}),
    ("QUIC bbr", {"transport": "quic", "congestion": "bbr"}),
)
MANAGEMENT = ("none", "codel", "fq-codel", "pie", "dualpi2")


def report() -> None:
    """Prints CPU time a packet, each beside the first of its table."""
    phy = clift.channel.bernoulli(slots=20_000, slot_ns=1_200_000, p=0, lldu_bytes=1500)
    link = clift.tmt.apply(phy, "none")
    options: dict[str, Any] = {"duration_s": 60, "wrap": True, "queue_packets": 1000}
    print("a packet of bulk data, 10 Mbit/s, RTT 500 ms, link trace, 60 s")
    _table([(name, clift.Scenario(link, **options, **own)) for name, own in TRANSPORTS])
    print("the same where TCP's window leaves no queue, 10 Mbit/s, RTT 40 ms, by its management")
    _table([(name, _managed(name)) for name in MANAGEMENT])


def _managed(name: str) -> clift.Scenario:
    # This number of packets in flight fills nine tenths of the pipe: no queue drops any.
    leg = {"rate": "10 Mbit/s", "delay": "20 ms", "queue": "1000 packets", "aqm": name}
    return clift.Scenario({"path": [{"leg": leg}]}, duration_s=120, cwnd_max_packets=30)


def _table(cases: list[tuple[str, clift.Scenario]]) -> None:
    costs = [_cost(scenario) for _, scenario in cases]
    print(f"{'':20} {'packets':>8} {'ns a packet':>12} {'ratio':>6}")
    for (name, _), (packets, nanoseconds) in zip(cases, costs, strict=True):
        print(f"{name:20} {packets:8} {nanoseconds:12.0f} {nanoseconds / costs[0][1]:6.2f}")


def _cost(scenario: clift.Scenario) -> tuple[int, float]:
    """Packets sent, and nanoseconds of CPU time for each: the least of five runs."""
    spent = []
    for _ in range(5):
        begun = process_time()
        run = clift.simulate(scenario)
        spent.append(process_time() - begun)
    packets = run.summary()["segments_sent"]
    return packets, min(spent) / packets * 1e9
