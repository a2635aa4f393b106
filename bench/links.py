"""Links that run with their traffic: what a packet costs, TCP and engine included, and a unit.

ns-2's own link layers do something else, so there is no yardstick; the aims are 1 s for the LEO
run at full load and 0.5 s for the ten connections.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from typing import Any

import clift
from clift.papers.hybrid import Cell
from clift.papers.leo import paper_link

RUNS = 3


def report() -> None:
    """Prints CPU seconds, nanoseconds a packet and a unit of each case."""
    print(f"{'live links, CPU time of one run':<52}{'s':>6}{'ns a packet':>13}{'ns a unit':>11}")
    for name, scenario in _cases():
        seconds = []
        for _ in range(RUNS):
            started = time.process_time()
            run = clift.simulate(scenario)
            seconds.append(time.process_time() - started)
        link = run.summary()["links"][0]
        spent = statistics.median(seconds)
        packets, units = link["packets_offered"], _units(link)
        per_unit = f"{spent / units * 1e9:.0f}" if units else ""
        print(f"{name:<52}{spent:6.2f}{spent / packets * 1e9:13.0f}{per_unit:>11}")


def _cases() -> Iterator[tuple[str, clift.Scenario]]:
    leo = paper_link()(1, 13)
    buffer = clift.Reorder(packets=125, key="tcp")
    common: dict[str, Any] = {"packet_bytes": 1040, "duration_s": 600, "queue_packets": 1000}
    full = {"transport": "udp", "message_bytes": 1000, "message_kbps": 36_000}
    yield "adaptive HARQ, LEO, 600 s at 36 of 50 Mbit/s", clift.Scenario(leo, **common, **full)
    yield (
        "the same, repairs compete",
        clift.Scenario(leo.replace(repairs="compete"), **common, **full),
    )
    yield (
        "the same, CUBIC, buffer (Tauran 2017, table 2)",
        clift.Scenario(leo, transport="cubic", reorder=buffer, timestamps=False, **common),
    )
    yield (
        "hybrid FEC/ARQ-SR, ten connections, 2000 s",
        Cell(n=11, delta=5, delay_ms=200).scenario(1),
    )
    bulk: dict[str, Any] = {"profile": "linux", "duration_s": 599}
    for lldu_bytes in (1500, 100):
        slot_ns = round(lldu_bytes * 8 / 50e6 * 1e9)
        slots = int(600e9 / slot_ns)
        phy = clift.channel.bernoulli(
            slots=slots, slot_ns=slot_ns, p=0.01, decode_ns=5_000_000, lldu_bytes=lldu_bytes
        )
        for scheme in ("FEC(10/12)", "ARQ", "HARQ(10/12)"):
            link = clift.LiveLink(phy, scheme, rtt_ms=40)
            yield (
                f"{scheme}, LLDUs of {lldu_bytes} B, 600 s, 50 Mbit/s",
                clift.Scenario(link, **bulk),
            )
    yield (
        "NR over LEO 600 km, 32 processes, 600 s, 10 Mbit/s",
        clift.Scenario(clift.NtnLink("nr-ntn-leo600"), **bulk | {"duration_s": 600}),
    )


def _units(link: dict[str, Any]) -> int:
    """What was sent, by the word that this kind of link has for it."""
    words = ("units_sent", "tbs_sent", "lldus_taken")
    return next(int(link[word]) for word in words if word in link)
