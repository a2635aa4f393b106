"""clift.AdaptiveHarqLink: what it is made of, and what a run over it counts."""

from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

import clift
from clift.delays import delay_steps
from clift.land_mobile import LandMobile

ROOT = Path(__file__).parent.parent


def test_mean_information_is_the_mean_over_long_traces() -> None:
    channel = LandMobile("its", 10)
    traces = [channel.information(60, seed=seed).mean() for seed in range(1, 6)]
    error = np.std(traces, ddof=1) / len(traces) ** 0.5
    closed = clift.AdaptiveHarqLink(snr_db=10, duration_s=1).mean_information
    assert abs(closed - np.mean(traces)) < 3.5 * error + 0.002
    # An independent realisation (2400 s) at 7, 10 and 13 dB.
    for snr_db, mean in ((7, 0.733), (10, 0.832), (13, 0.902)):
        closed = clift.AdaptiveHarqLink(snr_db=snr_db, duration_s=1).mean_information
        assert closed == pytest.approx(mean, abs=0.006)


def test_a_run_counts_every_packet_and_every_coded_bit() -> None:
    link = clift.AdaptiveHarqLink(snr_db=7, duration_s=40)
    run = clift.simulate(link, transport="newreno", packet_bytes=1040, duration_s=40)
    counts = run.summary()["links"][0]
    decoded = [counts[f"harq_decoded_after_{n}"] for n in range(4)]
    assert sum(decoded) == counts["packets_delivered"]
    assert counts["harq_failures"] == counts["packets_lost"] > 0
    ended = counts["packets_delivered"] + counts["packets_lost"]
    assert (
        counts["packets_offered"] == ended + counts["packets_dropped"] + counts["packets_pending"]
    )
    # Attempts of the packets that ended; those under way are few.
    again = sum(n * count for n, count in enumerate(decoded)) + 3 * counts["harq_failures"]
    assert 0 <= counts["harq_retransmissions"] - again <= 3 * counts["packets_pending"]
    first, increment = (round(8320 * x / link.mean_information) for x in (1.0, 0.47))
    firsts = counts["packets_offered"] - counts["packets_dropped"]
    expected = firsts * first + counts["harq_retransmissions"] * increment
    assert abs(counts["harq_coded_bits"] - expected) <= counts["longest_queue"] * first
    shares = counts["share_used"] + counts["share_beside"]
    assert shares * 50e6 * 40 == pytest.approx(counts["harq_coded_bits"], rel=1e-3)


def test_the_seed_of_the_link_is_its_channel_and_that_of_the_run_its_thresholds() -> None:
    link = clift.AdaptiveHarqLink(snr_db=10, duration_s=20)
    goodput = clift.simulate(link, duration_s=20).goodput_kbps
    assert clift.simulate(link.replace(), duration_s=20).goodput_kbps == goodput
    assert clift.simulate(link, duration_s=20, seed=2).goodput_kbps != goodput
    assert clift.simulate(link.replace(seed=2), duration_s=20).goodput_kbps != goodput
    # A channel that is not named is the run's.
    physical = link.replace(packet_sigma=0, seed=1)
    runs = [clift.simulate(physical, duration_s=20, seed=seed).summary() for seed in (1, 2)]
    assert runs[0] == runs[1]


def test_its_buffer_is_that_of_a_run_and_two_are_refused() -> None:
    link = clift.AdaptiveHarqLink(snr_db=10, duration_s=20)
    own = link.replace(reorder=clift.Reorder(key="tcp"))
    given = clift.simulate(link, duration_s=20, reorder=clift.Reorder(key="tcp")).summary()
    assert clift.simulate(own, duration_s=20).summary() == given
    by_link = clift.simulate(link, duration_s=20, reorder=clift.Reorder()).summary()
    assert by_link != given
    with pytest.raises(clift.ScenarioError, match="already has a re-sequencing buffer"):
        clift.simulate(own, duration_s=20, reorder=clift.Reorder())


def test_packets_overtake_where_the_path_gets_shorter_unless_it_keeps_order() -> None:
    steps = [(0, 80), (1, 60)]
    # Decoded at once: the path remains.
    easy = {"packet_sigma": 0, "first": 100, "rate_kbps": 1e9, "duration_s": 3}
    free = clift.AdaptiveHarqLink(delay_ms=steps, **easy)
    arrivals = [980_000_000, 999_000_000, 1_001_000_000, 1_030_000_000]
    delivered, fate = clift.deliver(free, arrivals, packet_bytes=1)
    assert fate.tolist() == [0] * 4
    assert (delivered // 1_000_000).tolist() == [1060, 1079, 1061, 1090]
    delivered, _ = clift.deliver(free.replace(keep_order=True), arrivals, packet_bytes=1)
    assert (delivered // 1_000_000).tolist() == [1060, 1079, 1079, 1090]


def test_targets_decode_as_often_as_they_say() -> None:
    link = clift.AdaptiveHarqLink(
        snr_db=10, targets=[0.7, 0.5], max_retransmissions=1, packet_sigma=0, duration_s=120
    )
    arrivals = np.arange(0, 119_000_000_000, 10_000_000)
    _, fate = clift.deliver(link, arrivals, packet_bytes=1000)
    # The second attempt meets a channel that remembers the first, so it falls short.
    assert 0.7 < (fate == 0).mean() < 0.85
    once = link.replace(targets=[0.7], max_retransmissions=0)
    assert (clift.deliver(once, arrivals, packet_bytes=1000)[1] == 0).mean() == pytest.approx(
        0.7, abs=0.02
    )


def test_information_of_ones_own_takes_the_place_of_the_channel() -> None:
    channel = LandMobile("its", 10)
    own = clift.AdaptiveHarqLink(snr_db=10, duration_s=20, seed=4)
    values = channel.information(20, seed=4)
    given = clift.AdaptiveHarqLink(
        information=values,
        first=own.first * values.mean(dtype=float) / own.mean_information,
        increment=own.increment * values.mean(dtype=float) / own.mean_information,
    )
    assert given.mean_information == pytest.approx(values.mean(dtype=float))
    runs = [clift.simulate(link, duration_s=20).summary() for link in (own, given)]
    assert runs[0] == runs[1]
    # Twice as slow a channel is another one.
    slow = given.replace(every_ms=2)
    assert clift.simulate(slow, duration_s=20).summary() != runs[0]


def test_measured_levels_become_information() -> None:
    channel = LandMobile("its")
    # Half the way over the threshold, half under it.
    values = channel.awgn_information(np.repeat([10.0, -20.0], 500))
    assert values[0] > 0.98
    assert values[-1] < 0.02
    link = clift.AdaptiveHarqLink(
        information=values, first=0.6, increment=0.1, packet_sigma=0, delay_ms=0
    )
    fates = clift.deliver(link, np.arange(0, 900_000_000, 50_000_000), packet_bytes=1000)[1]
    assert fates.tolist() == [0] * 10 + [fates[-1]] * 8
    assert fates[-1] != 0
    with pytest.raises(clift.ScenarioError, match="level is not a number"):
        channel.awgn_information([3, np.nan])


def test_a_run_that_outlasts_the_channel_is_refused_unless_it_wraps() -> None:
    link = clift.AdaptiveHarqLink(duration_s=5)
    with pytest.raises(clift.SimulationError, match=r"5\.000 s"):
        clift.simulate(link, duration_s=10)
    assert clift.simulate(link, duration_s=10, wrap=True).goodput_kbps > 0


def test_delays_come_from_a_constellation_or_its_file(tmp_path: Path) -> None:
    file = tmp_path / "delays.csv"
    file.write_text("time_s,delay_ms,satellite\n0.000,88.7843,7\n1.000,88.7505,7\n")
    assert delay_steps(file) == [(0, 88_784_300), (1_000_000_000, 88_750_500)]
    places = ("leo66", "43.6,1.44", "34.05,-118.2")
    table = clift.constellation.delays(*places, 2, start_s=2760)
    assert np.abs(np.subtract(delay_steps(table)[:2], delay_steps(file))).max() <= 50
    with pytest.raises(clift.TraceError, match=r"nowhere\.csv"):
        delay_steps(tmp_path / "nowhere.csv")


def test_the_delays_of_seed_004_are_those_of_the_preset() -> None:
    kept = clift.constellation.read(files("clift.papers") / "leo66_toulouse_losangeles.csv")
    made = clift.constellation.delays("leo66", "43.6,1.44", "34.05,-118.2", 600, start_s=2760)
    assert np.abs(kept.delay_ms - made.delay_ms).max() < 6e-5


@pytest.mark.filterwarnings("ignore:full queues dropped")  # as the paper has it
def test_the_example_file_equals_its_python_form() -> None:
    scenario = clift.Scenario.read(ROOT / "examples" / "leo.toml", {"duration": "20 s"})
    assert scenario.size == 24
    cells = {(cell.labels["snr"], cell.labels["buffer"]): cell for cell in scenario.cells()}
    buffers = {"none": None, "tcp": clift.Reorder(packets=125, key="tcp")}
    for snr_db, buffer in ((7, "tcp"), (13, "none"), (13, "tcp")):
        for replication in cells[f"{snr_db} dB", buffer].replications()[:1]:
            seed = replication.seed
            here = clift.simulate(
                clift.AdaptiveHarqLink(snr_db=snr_db, seed=seed, duration_s=120),
                transport="cubic",
                profile="papers",
                packet_bytes=1040,
                initial_window=2,
                cwnd_max_packets=1000,
                queue_packets=1000,
                timestamps=False,
                duration_s=20,
                reorder=buffers[buffer],
                seed=seed,
            )
            there = clift.simulate(replication)
            assert there.summary() == here.summary()
            assert there.events() == here.events()


def test_every_key_of_a_scenario_file_is_an_argument(tmp_path: Path) -> None:
    delays = tmp_path / "delays.csv"
    delays.write_text("time_s,delay_ms\n0,60\n3,50\n6,70\n")
    path = tmp_path / "x.toml"
    path.write_text(
        'duration = "10 s"\nseed = 5\n[transport]\ncongestion = "cubic"\n[adaptive_harq]\n'
        'snr = "9 dB"\nrate = "20 Mbit/s"\ndelays = "delays.csv"\nkeep_order = true\n'
        "packet_sigma = 0.1\nmax_retx = 2\n"
        'step = "25 ms"\nlength = "20 s"\nseed = 3\n'
    )
    link = clift.AdaptiveHarqLink(
        snr_db=9,
        rate_kbps=20_000,
        delay_ms=delays,
        duration_s=20,
        seed=3,
        packet_sigma=0.1,
        max_retransmissions=2,
        step_ms=25,
        keep_order=True,
    )
    run = {"transport": "cubic", "duration_s": 10, "seed": 5}
    changed: list[tuple[dict[str, object], dict[str, object]]] = [
        ({}, {}),
        ({"preset": "internet"}, {"preset": "internet"}),
        ({"first": 1.3, "increment": 0.3}, {"first": 1.3, "increment": 0.3}),
        ({"targets": "[0.6, 0.5, 0.9]"}, {"targets": [0.6, 0.5, 0.9]}),
        ({"keep_order": False}, {"keep_order": False}),
        ({"packet_sigma": 0}, {"packet_sigma": 0}),
        ({"attempt_sigma": 0.2}, {"attempt_sigma": 0.2}),
        ({"repairs": "compete", "rate": "1 Mbit/s"}, {"repairs": "compete", "rate_kbps": 1000}),
    ]
    seen = set()
    for keys, arguments in changed:
        scenario = clift.Scenario.read(path, {f"adaptive_harq.{k}": v for k, v in keys.items()})
        there = clift.simulate(scenario).summary()
        assert there == clift.simulate(link.replace(**arguments), **run).summary()
        seen.add(there["bytes_in_order"])
    assert len(seen) >= len(changed) - 1


def test_retransmissions_that_compete_cost_time_where_the_link_is_full() -> None:
    link = clift.AdaptiveHarqLink(snr_db=7, rate_kbps=1000, duration_s=40)
    share = {}
    for repairs in ("beside", "compete"):
        run = clift.simulate(
            link.replace(repairs=repairs),
            transport="udp",
            message_bytes=1000,
            message_kbps=900,
            duration_s=40,
        )
        counts = run.summary()["links"][0]
        ended = counts["packets_delivered"] + counts["packets_lost"] + counts["packets_dropped"]
        assert counts["packets_offered"] == ended + counts["packets_pending"]
        share[repairs] = counts["share_used"], counts["share_beside"]
    # Beside it, more is carried than there is time for.
    used, beside = share["beside"]
    assert 0.9 < used <= 1 < used + beside - 0.2
    assert share["compete"] == (pytest.approx(1, abs=1e-3), 0)


def test_a_packet_header_is_sent_with_every_attempt(tmp_path: Path) -> None:
    link = clift.AdaptiveHarqLink(duration_s=5, packet_sigma=0)
    options = {
        "packet_bytes": 1000,
        "transport": "udp",
        "message_kbps": 100,
        "message_bytes": 972,
        "duration_s": 5,
    }
    with_header = clift.simulate(link, packet_header_bytes=40, **options).summary()["links"][0]
    without = clift.simulate(link, **options).summary()["links"][0]
    assert with_header["harq_coded_bits"] / without["harq_coded_bits"] == pytest.approx(
        1.04, abs=1e-3
    )
    path = tmp_path / "x.toml"
    path.write_text(
        'duration = "5 s"\n[transport]\nprotocol = "udp"\npacket = "1000 B"\n'
        '[application]\ntype = "constant rate"\nrate = "100 kbit/s"\n'
        '[adaptive_harq]\npacket_sigma = 0\nlength = "5 s"\nseed = 1\n'
        '[link]\npacket_header = "40 B"\n'
    )
    counts = clift.simulate(clift.Scenario.read(path)).summary()["links"][0]
    assert counts["harq_coded_bits"] == with_header["harq_coded_bits"]


def test_a_missing_file_of_delays_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text('duration = "1 s"\n[adaptive_harq]\ndelays = "nowhere.csv"\n')
    with pytest.raises(clift.TraceError, match=r"nowhere\.csv"):
        clift.simulate(path)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: clift.AdaptiveHarqLink(preset="moon"), "its"),
        (lambda: clift.AdaptiveHarqLink(snr_db=float("nan")), "snr_db = nan"),
        (lambda: clift.AdaptiveHarqLink(rate_kbps=0), "rate_kbps"),
        (lambda: clift.AdaptiveHarqLink(delay_ms=-1), "delay_ms"),
        (lambda: clift.AdaptiveHarqLink(delay_ms=[(0, 1, 2)]), "rows of"),
        (lambda: clift.AdaptiveHarqLink(delay_ms=[(1, 80), (0, 80)]), "sort by time"),
        (lambda: clift.AdaptiveHarqLink(delay_ms=np.empty((0, 2))), "at least one"),
        (lambda: clift.AdaptiveHarqLink(duration_s=0), "duration_s"),
        (lambda: clift.AdaptiveHarqLink(first=0), "first"),
        (lambda: clift.AdaptiveHarqLink(increment=-1), "increment"),
        (lambda: clift.AdaptiveHarqLink(packet_sigma=-1), "packet_sigma"),
        (lambda: clift.AdaptiveHarqLink(attempt_sigma=11), "attempt_sigma"),
        (lambda: clift.AdaptiveHarqLink(information=[0.5, 1.5]), "slot 1"),
        (lambda: clift.AdaptiveHarqLink(information=[]), "list of numbers"),
        (lambda: clift.AdaptiveHarqLink(information=[[0.5]]), "list of numbers"),
        (lambda: clift.AdaptiveHarqLink(information=["x"]), "list of numbers"),
        (lambda: clift.AdaptiveHarqLink(information=[0.5], every_ms=0), "every_ms = 0"),
        (
            lambda: clift.AdaptiveHarqLink(information=[0.5], channel=LandMobile("its")),
            "give only one",
        ),
        (lambda: clift.AdaptiveHarqLink(repairs="later"), "give 'beside' or 'compete'"),
        (lambda: clift.AdaptiveHarqLink(max_retransmissions=8), "from 0 to 7"),
        (lambda: clift.AdaptiveHarqLink(step_ms=0), "step_ms"),
        (lambda: clift.AdaptiveHarqLink(targets=[0.5]), "1 for 4 attempts"),
        (lambda: clift.AdaptiveHarqLink(targets=[0.5, 0.5, 0.5, 2]), "not a probability"),
    ],
)
def test_invalid_arguments_are_refused_with_the_reason(
    call: Callable[[], object], message: str
) -> None:
    with pytest.raises(clift.ScenarioError, match=message):
        call()
