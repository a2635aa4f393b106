"""The 3GPP link from Python."""

import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clift

EXAMPLE = Path(__file__).parent.parent / "examples" / "ntn_study.py"


def counts(run: clift.Run) -> dict[str, int]:
    return run.summary()["links"][0]


def test_processes_limit_the_rate_of_a_long_link() -> None:
    for processes in (8, 16, 32):
        link = clift.NtnLink("nr-ntn-geo", harq_processes=processes, bler=0, processing_ms=4)
        run = clift.simulate(link, transport="newreno", profile="linux", duration_s=100)
        # Slots of 1 ms; 2 ms to decode, 541.46 ms under way, 4 ms to act.
        ceiling = processes * 1250 * 8 / 548
        assert 0.75 * ceiling < run.goodput_kbps < ceiling
        seen = counts(run)
        assert seen["stalled_slots"] + seen["tbs_sent"] == pytest.approx(100_000, rel=0.2)


def test_the_layers_follow_their_options() -> None:
    options = {"transport": "cubic", "profile": "linux", "duration_s": 20}
    am = counts(clift.simulate(clift.NtnLink("nr-ntn-leo600", harq_feedback=False), **options))
    assert am["rlc_pdus_sent_again"] > 0
    assert am["packets_lost"] == 0
    um = clift.NtnLink("nr-ntn-leo600", rlc="um", harq_feedback=False)
    lossy = counts(clift.simulate(um, **options))
    assert lossy["packets_lost"] >= lossy["sdus_incomplete"] > 0
    once = counts(
        clift.simulate(
            clift.NtnLink("nr-ntn-leo600", harq_feedback=False, max_retx=1, bler=0.4), **options
        )
    )
    assert once["sdus_given_up"] > 0
    assert am == counts(
        clift.simulate(clift.NtnLink("nr-ntn-leo600", harq_feedback=False), **options)
    )


def test_feedback_errors_cost_slots_with_am_and_packets_with_um() -> None:
    def run(rlc: str, **errors: float) -> tuple[float, dict[str, int]]:
        link = clift.NtnLink("nr-ntn-leo600", rlc=rlc, **errors)
        run = clift.simulate(link, transport="cubic", profile="linux", duration_s=20, seed=1)
        return run.goodput_kbps, counts(run)

    errors = {"missed_grant": 0.02, "missed_feedback": 0.01, "ack_to_nack": 0.05}
    lossy = {"nack_to_ack": 0.1, "dtx_to_ack": 0.1}
    plain, seen = run("am")
    assert "missed_grants" not in seen
    costly, seen = run("am", **errors)
    assert costly < 0.97 * plain
    sent = seen["tbs_sent"] + seen["tbs_sent_again"]
    assert seen["missed_grants"] == pytest.approx(0.02 * sent, rel=0.3)
    assert seen["acks_read_as_nack"] > 5 * seen["missed_feedback"] / 2 > 0
    assert seen["nacks_read_as_ack"] == seen["dtx_read_as_ack"] == 0
    assert seen["packets_lost"] == 0
    assert run("um", **errors)[0] == pytest.approx(costly, rel=0.08)
    repaired, seen = run("am", **errors, **lossy)
    assert seen["nacks_read_as_ack"] > 0 < seen["dtx_read_as_ack"]
    assert seen["tbs_failed"] >= seen["nacks_read_as_ack"]
    assert seen["packets_lost"] == 0 < seen["rlc_pdus_sent_again"]
    broken, seen = run("um", **errors, **lossy)
    assert seen["packets_lost"] > 0
    assert broken < repaired / 2


def test_a_scenario_file_says_the_same(tmp_path: Path) -> None:
    file = tmp_path / "leo.toml"
    file.write_text(
        """
seed = 3
duration = "5 s"
[ntn]
preset = "nr-ntn-leo600"
bler = [0.3, 0.1]
missed_grant = 0.02
missed_feedback = "3 %"
ack_to_nack = 0.04
nack_to_ack = 0.05
dtx_to_ack = 0.06
status_delay = "9 ms"
[transport]
congestion = "cubic"
profile = "linux"
"""
    )
    link = clift.NtnLink(
        "nr-ntn-leo600",
        bler=[0.3, 0.1],
        missed_grant=0.02,
        missed_feedback=0.03,
        ack_to_nack=0.04,
        nack_to_ack=0.05,
        dtx_to_ack=0.06,
        status_delay_ms=9,
    )
    options = {"transport": "cubic", "profile": "linux", "duration_s": 5, "seed": 3}
    expected = counts(clift.simulate(link, **options))
    assert counts(clift.simulate(file)) == expected
    wrong = ["missed_grants", "missed_feedback", "acks_read_as_nack", "nacks_read_as_ack"]
    assert all(expected[name] > 0 for name in wrong)
    text = file.read_text()
    for key in ("missed_grant", "ack_to_nack", "nack_to_ack", "status_delay"):
        kept = [line for line in text.splitlines() if not line.startswith(key)]
        file.write_text("\n".join(kept))
        assert counts(clift.simulate(file)) != expected


def test_a_phy_trace_and_a_moving_satellite_drive_it() -> None:
    phy = clift.PhyTrace(
        np.arange(50_000) * 1_000_000, np.tile([2_000_000, 2_000_000, 0], 16_667)[:50_000], 1250
    )
    delay = [(0, 12), (1, 11), (2, 10)]
    link = clift.NtnLink("nr-ntn-leo600", phy=phy, delay_ms=delay, max_transmissions=1, rlc="um")
    arrivals = np.array([0, 10, 20, 1_000, 2_000]) * 1_000_000
    delivered, fate = clift.deliver(link, arrivals, packet_bytes=1000)
    # Slots 0, 10, 20 (erased), 1000, 2000 (erased).
    assert fate.tolist() == [0, 0, 1, 0, 1]
    assert (delivered[[0, 1]] - arrivals[[0, 1]] == 14_000_000).all()
    assert delivered[3] - arrivals[3] >= 13_000_000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"preset": "nr-ntn-meo"}, "one of nr-ntn-geo"),
        ({"rlc": "tm"}, "give 'am' or 'um'"),
        ({"bler": 1.5}, "not a probability"),
        ({"bler": 1, "max_retx": math.inf}, "every block is in error"),
        ({"harq_processes": 0}, "from 1 to"),
        ({"rlc": "um", "poll_pdu": 4}, "belongs to rlc"),
        ({"slot_ms": 0}, "above 0"),
        ({"nack_to_ack": -0.1}, "not a probability"),
        ({"missed_grant": 1, "max_retx": math.inf}, "every grant is missed"),
        ({"tb_bytes": 6}, "no room"),
        ({"delay_ms": "x.csv"}, "x.csv"),
        ({"t_reordering_ms": -1}, "0 or more"),
    ],
)
def test_invalid_arguments_are_refused_with_the_reason(options: dict, message: str) -> None:
    with pytest.raises(clift.CliftError, match=message):
        clift.NtnLink(**options)


def test_rules_for_link_traces_are_refused() -> None:
    with pytest.raises(clift.ScenarioError, match="overlap"):
        clift.simulate(clift.NtnLink(), overlap="papers", duration_s=1)


@pytest.mark.long  # tests/test_run_command.py runs it without its picture
def test_the_study_runs(tmp_path: Path) -> None:
    picture = tmp_path / "ntn.png"
    command = [sys.executable, str(EXAMPLE), "--seconds", "3", "--picture", str(picture)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert len(done.stdout.splitlines()) == 17
    assert picture.stat().st_size > 10_000


LAND_MOBILE = """
duration = "30 s"
application.type = "bulk"
[ntn]
preset = "nr-ntn-leo600"
max_transmissions = 2
[channel]
model = "lms"
loo = { direct = "0 dB", psi = "2 dB", multipath = "-10 dB", correlation = "5 m" }
esn0 = "-2 dB"
interleaving = "0 ms"
lldu = "1250 B"
slot = "1 ms"
"""


def test_soft_combining_loses_fewer_blocks_than_transmissions_alone() -> None:
    scenario = clift.Scenario.parse(LAND_MOBILE)
    failed = {}
    for combining in (None, "chase", "incremental"):
        changes = {} if combining is None else {"ntn.combining": combining}
        link = clift.simulate(scenario.replace(**changes)).summary()["links"][0]
        failed[combining] = link["tbs_failed"] / link["tbs_sent"]
    assert failed[None] > 0.1
    assert failed["incremental"] <= failed["chase"] < 0.7 * failed[None]


def test_soft_combining_needs_a_land_mobile_channel() -> None:
    alone = LAND_MOBILE.split("[channel]")[0] + 'combining = "chase"\n'
    bernoulli = alone + '[channel]\nmodel = "bernoulli"\nerasures = 0.1\nslot = "1 ms"\n'
    for text in (alone, bernoulli):
        with pytest.raises(clift.ScenarioError, match=r"combining.*needs a land mobile channel"):
            clift.simulate(clift.Scenario.parse(text))


def waits(tree: dict[str, Any], duration_s: float = 20) -> tuple[dict[str, Any], dict[str, float]]:
    """The first link of a run, and its budget by cause, in shares of the capacity."""
    run = clift.simulate(clift.Scenario(tree, duration_s=duration_s))
    budget = {part["cause"]: part["share"] for part in run.why()["budget"]}
    return counts(run), budget


@pytest.mark.parametrize("terminals", range(1, 6))
def test_a_cell_that_waits_for_harq_limits_itself_with_any_number_of_terminals(
    terminals: int,
) -> None:
    tree = {
        "flows": terminals,
        "link": {"queue": "300 packets"},
        "ntn": {"preset": "nr-ntn-leo600", "processes": 4, "terminals": terminals},
        "transport": {"protocol": "udp"},
        "application": {"type": "constant rate", "rate": "10 Mbit/s"},
    }
    link, budget = waits(tree)
    # 4 processes of each of the terminals, and a period of 32 slots.
    assert link["share_used"] == pytest.approx(terminals * 4 / 32, abs=0.002)
    assert link["share_used"] + link["share_waiting"] == pytest.approx(1, abs=0.0005)
    assert budget["link"] == pytest.approx(link["share_waiting"], abs=0.0005)
    assert budget.get("application", 0) < 0.0005
    of_queue = [
        counts(clift.simulate(clift.Scenario(tree | {"link": {"queue": queue}}, duration_s=20)))
        for queue in ("50 packets", "300 packets")
    ]
    assert of_queue[0]["share_waiting"] == of_queue[1]["share_waiting"] == link["share_waiting"]


def test_a_longer_queue_does_not_change_what_limits_tcp() -> None:
    found = []
    for queue in ("50 packets", "300 packets"):
        tree = {"flows": 6, "ntn": {"preset": "nr-ntn-geo", "terminals": 3}}
        link, budget = waits(tree | {"link": {"queue": queue}}, 60)
        found.append(link["share_waiting"])
        assert max(budget, key=budget.__getitem__) == "link"
    assert found[0] == pytest.approx(found[1], abs=0.01)
    assert found[0] == pytest.approx(0.8, abs=0.02)


def test_an_interruption_by_a_handover_is_the_links() -> None:
    handovers = {"handover_every": "5 s", "interruption": "500 ms"}
    link, budget = waits(
        {
            "link": {"queue": "300 packets"},
            "ntn": {"preset": "nr-ntn-leo600", **handovers},
            "transport": {"protocol": "udp"},
            "application": {"type": "constant rate", "rate": "12 Mbit/s"},
        },
        60,
    )
    # 11 interruptions in a minute: the one at its end has no slots any more.
    assert link["share_waiting"] == pytest.approx(11 * 0.5 / 60, abs=0.0001)
    assert budget["link"] == pytest.approx(11 * 0.5 / 60, abs=0.0001)
    assert budget.get("application", 0) < 0.0005


@pytest.mark.parametrize("buffer", ["send_buffer", "receive_buffer"])
@pytest.mark.parametrize("scheme", ["ARQ", "HARQ(10/12)"])
def test_a_full_buffer_of_a_live_link_is_the_links(buffer: str, scheme: str) -> None:
    channel = {"model": "bernoulli", "erasures": 0, "rate": "4 Mbit/s", "lldu": "500 B"}
    size = 100 if scheme == "ARQ" else 10
    link, budget = waits(
        {
            "scheme": scheme,
            "channel": channel,
            "link": {"rtt": "500 ms", "live": True, "queue": "50 packets", buffer: size},
            "transport": {"protocol": "udp"},
            "application": {"type": "constant rate", "rate": "6 Mbit/s"},
        },
        40,
    )
    # Slots of 1 ms; a unit is kept for a round trip.
    units = 100 if scheme == "ARQ" else 10 * 12
    assert link["share_used"] == pytest.approx(units / 500, rel=0.05)
    assert link["share_used"] + link["share_waiting"] == pytest.approx(1, abs=0.0005)
    assert budget["link"] == pytest.approx(link["share_waiting"], abs=0.0005)
    assert budget.get("application", 0) < 0.0005


def test_a_moment_names_the_link_only_while_it_waits() -> None:
    # 2 Mbit/s of 10, and half a second without slots every 5 s.
    ntn = {"preset": "nr-ntn-leo600", "handover_every": "5 s", "interruption": "500 ms"}
    tree = {
        "ntn": ntn,
        "transport": {"protocol": "udp"},
        "application": {"type": "constant rate", "rate": "2 Mbit/s"},
    }
    run = clift.simulate(clift.Scenario(tree, duration_s=20))
    cause = {
        at: run.why(at=at)["moment"]["senders"][0]["cause"] for at in ("10.25 s", "13 s", "15.25 s")
    }
    assert cause == {"10.25 s": "link", "13 s": "application", "15.25 s": "link"}
