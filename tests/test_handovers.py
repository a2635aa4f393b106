"""Handovers that a terminal knows beforehand, as a congestion control hears of them."""

from __future__ import annotations

import csv
import warnings
from pathlib import Path
from typing import Any

import pytest

import clift

ROOT = Path(__file__).parent.parent

KNOWN: list[tuple[int, int, int | None, int | None]] = []


@clift.register_congestion("hears")
class Hears:
    """Newreno that notes which handover comes next."""

    def on_ack(self, ack: Any, window: Any) -> None:
        for handover in (ack.last_handover, ack.handover):
            if handover is not None:
                own = (handover.at_ns, handover.gap_ns, handover.delay_ns, handover.rate_bps)
                if own not in KNOWN:
                    KNOWN.append(own)
        assert ack.handover is None or ack.handover.at_ns > ack.now_ns
        assert ack.last_handover is None or ack.last_handover.at_ns <= ack.now_ns
        if ack.fills_window:
            left = window.slow_start(ack.segments) if window.in_slow_start else ack.segments
            if left > 0:
                window.increase(window.cwnd, left)

    def on_loss(self, window: Any) -> int:
        return max(window.cwnd // 2, 2)


SKY = f"""
duration = "50 s"
[trace]
file = "{ROOT / "examples/leo_sky.csv"}"
time = "time_s:s"
rate = "rate_mbps:Mbit/s"
delay = "delay_ms:ms"
lldu = "1500 B"
[link]
rtt = "20 ms"
queue = "200 packets"
wrap = true
[return]
delay = "35 ms"
[transport]
congestion = "hears"
"""
RECEIVED = 2  # the kind of an event in `Run.events`
NTN = """
duration = "10 s"
[ntn]
preset = "nr-ntn-leo600"
handover_every = "3 s"
interruption = "200 ms"
[transport]
congestion = "hears"
# Without losses: a control hears nothing while lost segments are repaired.
cwnd_max = "40 packets"
"""


def run(text: str, changes: dict[str, Any] | None = None) -> clift.Run:
    """A run, whose handovers are in KNOWN."""
    KNOWN.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clift.simulate(clift.Scenario.parse(text, changes=changes))


def rows() -> list[tuple[float, float, float]]:
    """Time (s), rate (Mbit/s) and delay (ms) of the table."""
    with (ROOT / "examples/leo_sky.csv").open() as file:
        found = csv.DictReader(file)
        return [tuple(float(row[name]) for name in list(row)[:3]) for row in found]  # type: ignore[misc]


@pytest.mark.parametrize(
    ("live", "transport"),
    [(False, {"profile": "linux"}), (True, {"profile": "papers"}), (False, {"protocol": "quic"})],
)
def test_the_handovers_are_those_of_the_trace(live: bool, transport: dict[str, str]) -> None:
    changes = {"link.start": "20 s", "link.handover_every": "15 s", "link.live": live}
    run(SKY, changes | {f"transport.{key}": value for key, value in transport.items()})
    gaps = [row for row in rows() if row[1] == 0 and 20 < row[0] < 70]
    resumed = [row for row in rows() if row[1] > 0 and 20 < row[0] < 70]
    assert [at for at, *_ in KNOWN] == [round((row[0] - 20) * 1e9) for row in gaps]
    for (at, gap, delay, rate), (time, mbps, ms) in zip(KNOWN, resumed, strict=True):
        slot = 1500 * 8 / mbps * 1e3
        assert 0 <= at + gap - (time - 20) * 1e9 < slot
        assert delay is not None
        assert delay == pytest.approx((ms + 10) * 1e6, abs=1)
        assert rate == pytest.approx(mbps * 1e6, rel=1e-3)


def test_the_last_interval_of_a_sky_lasts_as_long_as_the_others() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trace = clift.Scenario.parse(SKY).phy_trace()
    assert trace is not None
    slot = 1500 * 8 / rows()[-2][1] * 1e3
    assert 0 <= 600e9 - trace.t_ns[-1] <= 1.01 * slot


def test_a_trace_that_repeats_repeats_its_handovers() -> None:
    # A pass takes 10 s; its handovers are at 0, 4 and 8 s.
    text = """
duration = "24 s"
channel = { model = "bernoulli", erasures = 0, rate = "12 Mbit/s", length = "10 s" }
link = { rtt = "20 ms", wrap = true, start = "1 s", handover_every = "4 s" }
transport.congestion = "hears"
"""
    run(text)
    assert [at // 10**9 for at, *_ in KNOWN] == [3, 7, 9, 13, 17, 19, 23]
    assert {known[1:] for known in KNOWN} == {(0, 11_000_000, 12_000_000)}


def test_given_times_and_delays_behind_the_link() -> None:
    times = {"link.handover_times": ["4 s", "2 s"], "duration": "6 s", "link.wrap": False}
    delays = {"link.delays": [[0, 5.0], [3, 80.0]]}
    run(SKY, times | delays)
    # The link has 10 ms, and 25.897 ms from its table.
    assert [(at, delay) for at, _, delay, _ in KNOWN] == [
        (2 * 10**9, 40_897_000),
        (4 * 10**9, 115_897_000),
    ]


def test_ntn_handovers_are_known_and_stop_the_link_then() -> None:
    made = run(NTN)
    assert [(at, gap) for at, gap, *_ in KNOWN] == [(n * 3 * 10**9, 200 * 10**6) for n in (1, 2, 3)]
    assert made.summary()["links"][0]["tbs_flushed"] > 0
    events = made.events().to_pylist()
    arrivals = [event["time_ns"] for event in events if event["kind"] == RECEIVED]
    for at, gap, delay, rate in KNOWN:
        assert delay is not None
        assert rate is None
        quiet = [time for time in arrivals if at + delay < time < at + gap + delay]
        assert not quiet
        assert any(at + gap + delay <= time < at + gap + 3 * delay for time in arrivals)


def test_a_control_that_ignores_them_has_the_run_of_one_that_knows_none() -> None:
    with_key = run(SKY, {"link.handover_every": "15 s"})
    assert KNOWN
    without = run(SKY)
    assert not KNOWN
    built_in = run(SKY, {"link.handover_every": "15 s", "transport.congestion": "newreno"})
    again = run(SKY, {"link.handover_every": "15 s"})
    for other in (without, built_in, again):
        assert other.summary() == with_key.summary()
        assert other.events().equals(with_key.events())


def test_each_path_has_its_own_handovers() -> None:
    link = """
[network.links.{name}]
from = "a"
to = "b"
duplex = true
channel = {{ model = "bernoulli", erasures = 0, rate = "5 Mbit/s" }}
link = {{ rtt = "40 ms", handover_times = ["{at} s"] }}
"""
    flow = (
        '[[flow]]\nfrom = "a"\nto = "b"\npaths = [["x"], ["y"]]\ntransport.congestion = "hears"\n'
    )
    text = 'duration = "5 s"\n' + link.format(name="x", at=1) + link.format(name="y", at=2) + flow
    run(text)
    assert sorted({at for at, *_ in KNOWN}) == [10**9, 2 * 10**9]


@pytest.mark.parametrize(
    ("text", "changes", "message"),
    [
        (
            SKY,
            {"link.handover_every": "0 s"},
            "link.handover_every: gives more than 1000000 handovers; give fewer",
        ),
        (
            SKY,
            {"link.handover_every": "15 s", "link.handover_times": ["3 s"]},
            "link.handover_every: `handover_times` already says when; leave one of them out",
        ),
        (
            NTN,
            {"link.handover_times": ["3 s"]},
            "link.handover_times: `ntn.handover_every` already says when; leave it out",
        ),
    ],
)
def test_wrong_handovers_are_refused(text: str, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(clift.CliftError) as caught:
        run(text, changes)
    assert message in str(caught.value)
