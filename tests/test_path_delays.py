"""Delays that vary behind a link: satellites move, packets overtake one another."""

from pathlib import Path

import pytest

import clift

PHY = clift.channel.bernoulli(slots=11_000, slot_ns=1_000_000, p=0.0, lldu_bytes=1500, seed=1)
LINK = clift.tmt.apply(PHY, clift.NoScheme(), rtt_ms=20)
OPTIONS = {"transport": "cubic", "duration_s": 10, "cwnd_max_packets": 250}


def delays(path_ms: object, in_order: bool = False) -> dict[str, float]:
    run = clift.simulate(LINK, path_ms=path_ms, path_in_order=in_order, **OPTIONS)
    summary = run.summary()
    return {
        "goodput": run.goodput_kbps,
        "fastest": summary["flows"][0]["segment_delay_ms"]["min"],
        "slowest": summary["flows"][0]["segment_delay_ms"]["max"],
        "again": summary["retransmissions"],
        "reordered": summary["flows"][0]["reordering_degree"],
    }


def test_a_steady_delay_is_the_same_as_a_longer_link() -> None:
    longer = clift.tmt.apply(PHY, clift.NoScheme(), rtt_ms=120)
    alone = clift.simulate(longer, **OPTIONS).summary()
    behind = clift.simulate(LINK, path_ms=50, **OPTIONS).summary()
    for key in ("goodput_kbps", "bytes_in_order", "segments_sent", "retransmissions"):
        assert alone[key] == behind[key], key


def test_a_shorter_path_reorders_unless_it_keeps_order(tmp_path: Path) -> None:
    rows = [(0, 80), (5, 30)]  # the pipe is full by then
    free, ordered = delays(rows), delays(rows, in_order=True)
    # 50 packets arrive in the 50 ms by which the path got shorter, ahead of 50 that left before.
    assert 45 <= free["reordered"] <= 50
    assert free["again"] > 0
    assert ordered["reordered"] == 0
    assert ordered["again"] == 0
    path = tmp_path / "delays.csv"
    path.write_text("time_s,delay_ms\n" + "".join(f"{t},{d}\n" for t, d in rows))
    assert delays(path) == free


def test_a_kernel_refuses_a_segment_that_its_retransmission_overtook() -> None:
    # Every 33rd millisecond's packet is 70 ms late, and the queue overflows in slow start.
    rows = [(ms / 1000, 80 if ms % 33 == 0 else 10) for ms in range(10_000)]
    options = OPTIONS | {"path_ms": rows, "cwnd_max_packets": None, "queue_packets": 50}
    linux = clift.simulate(LINK, profile="linux", **options).summary()
    assert linux["stale_segments"] == linux["flows"][0]["stale_segments"] > 0
    # What was refused had to come again, and so was sent again.
    assert linux["stale_segments"] < linux["retransmissions"]
    papers = clift.simulate(LINK, profile="papers", **options).summary()
    assert papers["stale_segments"] == 0


def test_a_constellation_moves_the_link() -> None:
    way = clift.constellation.delays(
        clift.constellation.preset("leo66"), (43.6, 1.44), (34.05, -118.2), duration_s=10
    )
    measured = delays(way)
    assert way.delay_ms.min() + 10 <= measured["fastest"] < measured["slowest"]


def test_wrong_delays_say_so() -> None:
    for wrong in (-1, [(0, float("nan"))], [(1, 5), (0, 5)], "no-such.csv", [(0, 1, 2)]):
        with pytest.raises(clift.CliftError, match=r"path_ms|row|no-such\.csv"):
            delays(wrong)
