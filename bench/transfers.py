"""Many short transfers, and how the cost of a packet grows with the length of a run."""

from __future__ import annotations

import os
import random
import time

import clift

SCHEMES = ("none", "ARQ", "HARQ(10/12)", "HARQ(10/15)", "FEC(10/12)")
TRANSFERS = 12_000


def report() -> None:
    """Prints the time of 12,000 page fetches and the cost of a packet from 10^4 to 10^7."""
    slots = int(700e9 / 1_003_802)
    phy = clift.channel.gilbert_elliott(slots=slots, alpha=0.98979, beta=0.5, seed=1)
    links = [clift.tmt.apply(phy, scheme) for scheme in SCHEMES]
    offsets = random.Random(1)
    scenarios = [
        clift.Scenario(
            links[i % len(links)],
            transport="cubic",
            file_bytes=100_000,
            start_offset_s=offsets.uniform(0, 250),
            duration_s=400,
        )
        for i in range(TRANSFERS)
    ]
    started = time.perf_counter()
    runs = clift.run_many(scenarios, progress=False)
    seconds = time.perf_counter() - started
    done = sum(run.completion_s is not None for run in runs)
    print(
        f"{TRANSFERS} transfers of 100 kB, 5 schemes, {os.cpu_count()} cores: {seconds:.2f} s "
        f"({done} completed)"
    )
    print("cost of a packet over the length of a run (50 Mbit/s, RTT 500 ms, wrapped link trace)")
    for packets in (10**4, 10**5, 10**6, 10**7):
        _cost(packets)


def _cost(packets: int) -> None:
    slot_ns = 240_000  # 1500 bytes at 50 Mbit/s
    phy = clift.channel.bernoulli(slots=20_000, slot_ns=slot_ns, p=0, lldu_bytes=1500)
    link = clift.tmt.apply(phy, "none")
    window = {"cwnd_max_packets": 2283, "queue_packets": 1000}
    seconds = packets * slot_ns / 1e9 + 5  # 5 s of slow start
    started = time.perf_counter()
    run = clift.simulate(link, transport="cubic", duration_s=seconds, wrap=True, **window)
    spent = time.perf_counter() - started
    sent = run.summary()["segments_sent"]
    print(f"  {sent:>10} packets: {spent / sent * 1e9:6.0f} ns a packet")
