"""Live links from Python: the same as TMT when saturated, and what scenario files make of them."""

import json
from pathlib import Path

import numpy as np
import pytest

import clift
from clift._clift import SENT, SENT_AGAIN, UNIT_AGAIN
from clift.scheme import Scheme

SCHEMES: list[Scheme] = [
    clift.NoScheme(),
    clift.Fec(4, 6),
    clift.Fec(3, 4, interleave=3),
    clift.Arq(),
    clift.Arq(max_retx=1),
    clift.Harq2(4, 5, extra=1, max_rounds=2),
]


@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
def test_with_data_always_waiting_packets_go_as_over_the_link_trace(scheme: Scheme) -> None:
    phy = clift.channel.gilbert_elliott(
        slots=5000, alpha=0.95, beta=0.6, slot_ns=1_000_000, decode_ns=3_000_000, seed=2
    )
    arrivals = np.zeros(3000, dtype=np.int64)
    ll = clift.tmt.apply(phy, scheme, rtt_ms=40)
    live = clift.LiveLink(phy, scheme, rtt_ms=40)
    open_ns, open_fate = clift.deliver(ll, arrivals, packet_bytes=80)
    live_ns, live_fate = clift.deliver(live, arrivals, packet_bytes=80)
    known = open_fate != 3
    assert known.sum() > 500
    assert (live_ns[known] == open_ns[known]).all()
    assert (live_fate[known] == open_fate[known]).all()


def test_units_are_logged_and_counted() -> None:
    phy = clift.channel.bernoulli(slots=200_000, slot_ns=1_000_000, p=0.05, seed=1)
    run = clift.simulate(
        clift.LiveLink(phy, "ARQ"), profile="papers", file_bytes=200_000, duration_s=150
    )
    units = run.units()
    link = run.summary()["links"][0]
    kind, arrival = (units[name].to_numpy() for name in ("kind", "arrival_ns"))
    assert len(units) == link["units_sent"]
    assert int((kind == UNIT_AGAIN).sum()) == link["units_sent_again"]
    # ARQ repeats what was erased, until it gets through.
    assert int((arrival < 0).sum()) == link["units_sent_again"]
    assert abs((arrival < 0).mean() - 0.05) < 0.02
    assert run.summary()["bytes_in_order"] == 200_000
    assert run.units() == run.units()
    assert clift.simulate(clift.tmt.apply(phy, "ARQ"), duration_s=5).units().num_rows == 0


def test_sampling_and_logging_change_nothing() -> None:
    phy = clift.channel.bernoulli(slots=100_000, slot_ns=300_000, p=0.05, seed=1)
    live = clift.LiveLink(phy, "HARQ(10/12)", flush_ms=7, feedback_loss=0.2, send_buffer=200)
    run = clift.simulate(live, profile="papers", duration_s=25)
    again = clift.simulate(live, profile="papers", duration_s=25)
    assert run.summary() == again.summary()
    summary = run.summary()
    series = run.series(interval_ms=12.5).to_pydict()
    assert series["time_s"][-1] == summary["duration_s"] == 25.0
    for name in ("bytes_in_order", "segments_sent", "retransmissions", "timeouts"):
        assert series[name][-1] == summary[name], name
    kind = run.events()["kind"].to_numpy()
    sent, sent_again = int((kind == SENT).sum()), int((kind == SENT_AGAIN).sum())
    assert (sent + sent_again, sent_again) == (summary["segments_sent"], summary["retransmissions"])
    assert run.units().num_rows == summary["links"][0]["units_sent"]
    assert summary["links"][0]["feedback_lost"] > 0


def test_a_return_trace_loses_reports() -> None:
    phy = clift.channel.bernoulli(slots=100_000, slot_ns=1_000_000, p=0.05, seed=1)
    clear = clift.PhyTrace([0, 10_000_000], [1, 1])
    never = clift.PhyTrace([0, 10_000_000], [0, 0])

    def completion(feedback_loss: float | clift.PhyTrace) -> float | None:
        live = clift.LiveLink(phy, "ARQ", feedback_loss=feedback_loss)
        return clift.simulate(live, file_bytes=50_000, duration_s=60).completion_s

    assert completion(clear) == completion(0.0)
    slow, fast = completion(0.5), completion(0.0)
    assert slow is not None
    assert fast is not None
    assert slow > fast
    # What is never reported is never repeated by the link; TCP does it.
    nothing = clift.LiveLink(phy, "ARQ", feedback_loss=never)
    run = clift.simulate(nothing, file_bytes=50_000, duration_s=99)
    assert run.summary()["links"][0]["units_sent_again"] == 0


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"scheme": "ARC"}, "ARC: unknown scheme"),
        ({"rtt_ms": -1}, "rtt_ms = -1: give a time in ms"),
        ({"flush_ms": float("nan")}, "flush_ms = nan: give a time in ms"),
        ({"feedback_loss": 1.5}, "1.5 is not a probability"),
        ({"feedback_loss": "often"}, "feedback_loss = 'often': give a probability or a PHY trace"),
        (
            {"feedback_loss": clift.PhyTrace([0], [1])},
            "has one slot, and so no period to repeat with",
        ),
        ({"send_buffer": 0}, "send_buffer = 0: give a whole number from 1"),
        ({"receive_buffer": 1.5}, "receive_buffer = 1.5: give a whole number from 1"),
        ({"phy": [1, 2]}, "give a PHY trace"),
    ],
)
def test_invalid_arguments_are_refused(options: dict[str, object], expected: str) -> None:
    given = {"phy": clift.PhyTrace([0, 10], [1, 1]), "scheme": "ARQ"} | options
    with pytest.raises(clift.ScenarioError) as error:
        clift.LiveLink(**given)  # type: ignore[arg-type]
    assert expected in str(error.value)


def test_options_that_do_not_apply_are_refused() -> None:
    phy = clift.channel.bernoulli(slots=10_000, p=0.05, seed=1)
    live = clift.LiveLink(phy, "ARQ", reorder=clift.Reorder(packets=None))
    with pytest.raises(clift.ScenarioError, match="overlap"):
        clift.simulate(live, duration_s=1, overlap="papers")
    with pytest.raises(clift.ScenarioError, match="already has a re-sequencing buffer"):
        clift.simulate(live, duration_s=1, reorder=clift.Reorder())


def test_a_live_scenario_equals_its_keywords(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text(
        """
        duration = "20 s"
        scheme = "HARQ(10/12)"
        [channel]
        model = "bernoulli"
        erasures = "3 %"
        slot = "1 ms"
        lldu = "33 B"
        decoding = "5 ms"
        length = "30 s"
        [link]
        live = true
        flush = "10 ms"
        rtt = "100 ms"
        [application]
        size = "100 kB"
        type = "file"
        """
    )
    scenario = clift.Scenario.read(path)
    run = clift.simulate(scenario)
    phy = clift.channel.bernoulli(
        slots=30_000, slot_ns=1_000_000, p=0.03, decode_ns=5_000_000, seed=1
    )
    live = clift.LiveLink(phy, "HARQ(10/12)", rtt_ms=100, flush_ms=10)
    alone = clift.simulate(live, file_bytes=100_000, duration_s=20)
    assert json.loads(json.dumps(run.summary())) == alone.summary()
    assert run.summary()["links"][0]["blocks_flushed"] > 0


def test_the_round_trip_of_a_live_link_is_that_of_its_signature_unless_measured() -> None:
    plain = clift.channel.bernoulli(slots=100, seed=1)
    assert clift.LiveLink(plain, "ARQ").tree["link"]["rtt"] == "500000000 ns"
    assert clift.LiveLink(plain, "ARQ") == clift.LiveLink(plain, "ARQ").replace(flush_ms=None)
    assert repr(clift.LiveLink(plain, "ARQ")) == f"LiveLink(phy={plain!r}, scheme='ARQ')"
    measured = clift.PhyTrace(plain.t_ns, plain.d_ns, rtt_ns=24_000_000)
    assert "rtt" not in clift.LiveLink(measured, "ARQ").tree["link"]
