"""What is wrong in an argument is refused in one line that names it and the cure."""

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clift
from clift import constellation
from clift.land_mobile import LandMobile

PHY = clift.channel.bernoulli(slots=5_000, p=0.02, seed=1)
LINK = clift.tmt.apply(PHY, clift.Arq())
HERE, THERE = "43.6,1.44", "34.05,-118.2"


def refused(call: Callable[[], object], expected: str) -> None:
    with pytest.raises(clift.CliftError) as error:
        call()
    assert str(error.value).startswith(expected)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        (PHY, "link = PhyTrace(5000 slots of 33 bytes): a PHY trace is not a link; apply a sch"),
        ([LINK, PHY], "link = PhyTrace(5000 slots of 33 bytes): a PHY trace is not a link; apply"),
        (None, "link = None: give a link trace (clift.tmt.apply makes one) or a live link"),
        (3, "link = 3: give a link trace"),
        ([], "link: give one or more"),
    ],
)
def test_values_that_are_not_links_are_refused(link: Any, expected: str) -> None:
    refused(lambda: clift.simulate(link), expected)
    refused(lambda: clift.Scenario(link), expected)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"reorder": 5}, "reorder = 5: give a clift.Reorder or None"),
        ({"reorder": "tcp"}, "reorder = 'tcp': give a clift.Reorder or None"),
        ({"return_link": 3}, "return_link = 3: give a link trace"),
        ({"return_link": PHY}, "return_link = PhyTrace(5000 slots of 33 bytes): a PHY trace is no"),
        ({"transport": 3}, "transport = 3: give a name such as 'cubic'"),
        ({"profile": "bsd"}, "profile = 'bsd': give 'papers' or 'linux'"),
        ({"overlap": 1}, "overlap = 1: give 'free' or 'papers'"),
        ({"wrap": "x"}, "wrap = 'x': give True or False"),
        ({"stop_when_done": 3}, "stop_when_done = 3: give True or False"),
        ({"timestamps": "no"}, "timestamps = 'no': give True or False"),
        ({"sack": 1}, "sack = 1: give True or False"),
        ({"extra_lldu": "no"}, "extra_lldu = 'no': give True or False"),
        ({"path_in_order": "no"}, "path_in_order = 'no': give True or False"),
        ({"path_ms": np.zeros((0, 2))}, "path_ms: give a time in ms, or rows of (time_s, delay_ms"),
        ({"path_ms": []}, "path_ms: give a time in ms, or rows of (time_s, delay_ms"),
        ({"path_ms": True}, "path_ms: give a time in ms"),
        ({"duration_s": "60 s"}, "duration_s = '60 s': give a time in s, 0 or more"),
        ({"duration_s": 1e300}, "duration_s = 1e+300: give a time in s, at most 2.3e+09 (73 year"),
        ({"access_kbps": 1e300}, "access_kbps = 1e+300: give a rate in kbit/s below 1e+12"),
        ({"flows": 1.5}, "flows = 1.5: give a whole number from 1 to 100000"),
        ({"seed": float("inf")}, "seed = inf: give a whole number from 0"),
        ({"message_bytes": 100}, "message_bytes: is for messages at a constant rate; give message"),
        (
            {"deadline_ms": 100},
            "deadline_ms: is for messages at a constant rate; give message_kbps",
        ),
        ({"queue_packets": 50, "queue_bytes": 9_000}, "queue_packets: `queue_bytes` bounds the qu"),
    ],
)
def test_options_of_a_run(options: dict[str, Any], expected: str) -> None:
    refused(lambda: clift.simulate(LINK, **({"duration_s": 1} | options)), expected)


def adaptive(**options: Any) -> clift.AdaptiveHarqLink:
    return clift.AdaptiveHarqLink(**options)


@pytest.mark.parametrize(
    ("make", "options", "expected"),
    [
        (adaptive, {"information": np.zeros(2)}, "information = array([0., 0.]): a mean mutual i"),
        (adaptive, {"information": [1e-6]}, "information = [1e-06]: a mean mutual information "),
        (adaptive, {"snr_db": -40, "duration_s": 2}, "snr_db = -40: -40 dB gives the channel"),
        (adaptive, {"channel": LandMobile("its", -40)}, "channel = <clift.land_mobile.LandMobile "),
        (
            adaptive,
            {"information": [0.5], "first": 600},
            "first = 600: give a number above 0 and",
        ),
        (adaptive, {"first": "x"}, "first = 'x': give a number"),
        (adaptive, {"snr_db": "13 dB"}, "snr_db = '13 dB': give a level in dB from -100 to 100"),
        (adaptive, {"preset": 3}, "preset = 3: give the name of a channel"),
        (adaptive, {"channel": "its"}, "channel = 'its': give a clift.land_mobile.LandMobile"),
        (adaptive, {"reorder": 5}, "reorder = 5: give a clift.Reorder or None"),
        (adaptive, {"targets": 0.5}, "targets = 0.5: give a list of probabilities"),
        (adaptive, {"targets": "abc"}, "targets = 'abc': give a list of probabilities"),
        (adaptive, {"keep_order": "x"}, "keep_order = 'x': give True or False"),
        (adaptive, {"max_retransmissions": -1}, "max_retransmissions = -1: give a whole number "),
        (adaptive, {"targets": [0.5] * 4, "first": 2.0}, "first = 2.0: `targets` say how much is"),
        (adaptive, {"targets": [0.5] * 4, "increment": 1}, "increment = 1: `targets` say how much"),
        (adaptive, {"information": [0.5], "snr_db": 3}, "snr_db: `information` says what the cha"),
        (adaptive, {"information": [0.5], "seed": 3}, "seed: `information` says what the channel"),
        (adaptive, {"channel": LandMobile("its"), "snr_db": 3}, "snr_db: `channel` says what"),
        (adaptive, {"every_ms": 2}, "every_ms: is for `information`; give that beside it"),
        (clift.HybridLink, {"losses": "x"}, "losses = 'x': give a PHY trace; clift.channel make"),
        (clift.HybridLink, {"losses": PHY, "p": 0.5}, "p = 0.5: the trace or channel already"),
        (clift.HybridLink, {"p": "1 %"}, "p = '1 %' is not a probability; give a number from 0"),
        (clift.HybridLink, {"p": 2}, "p = 2 is not a probability; give a number from 0 to 1"),
        (clift.HybridLink, {"k": -1}, "k = -1: give a whole number from 0 to"),
        (clift.HybridLink, {"frames": -2}, "frames = -2: give a whole number from 0 to"),
        (clift.HybridLink, {"in_order": "yes"}, "in_order = 'yes': give True or False"),
        (clift.NtnLink, {"phy": "x"}, "phy = 'x': give a PHY trace; clift.channel makes one"),
        (clift.NtnLink, {"preset": 3}, "preset = 3: give the name of a preset, e.g. nr-"),
        (clift.NtnLink, {"harq_feedback": "no"}, "harq_feedback = 'no': give True or False"),
        (clift.NtnLink, {"in_order": "yes"}, "in_order = 'yes': give True or False"),
        (clift.NtnLink, {"keep_order": "x"}, "keep_order = 'x': give True or False"),
        (clift.NtnLink, {"return_delay_ms": -1}, "return_delay_ms = -1: give a time in ms, 0 or"),
        (clift.NtnLink, {"tb_bytes": 10**12}, "tb_bytes = 1000000000000: give a whole number fr"),
        (clift.NtnLink, {"bler": "10 %"}, "bler = '10 %' is not a probability"),
        (clift.NtnLink, {"bler": [0.1, "x"]}, "bler = 'x' is not a probability"),
        (clift.NtnLink, {"bler": []}, "bler = []: give a list of probabilities"),
        (clift.NtnLink, {"max_retx": "all"}, "max_retx = 'all': give a whole number from 1 to"),
        (clift.NtnLink, {"phy": PHY, "slot_ms": 1}, "slot_ms = 1: the trace or channel beside it"),
        (
            clift.NtnLink,
            {"rlc": "um", "t_poll_retransmit_ms": 9},
            "t_poll_retransmit_ms = 9: belongs to",
        ),
        (clift.NtnLink, {"discard_ms": np.ones(2)}, "discard_ms = array([1., 1.]): give a time"),
        (clift.NtnLink, {"max_retx": np.ones(2)}, "max_retx = array([1., 1.]): give a whole num"),
        (adaptive, {"information": [0.5], "snr_db": np.ones(2)}, "snr_db = array([1., 1.]): give"),
        (clift.NtnLink, {"slot_ms": 0}, "slot_ms = 0: the slot of 0 ns; give a time above 0"),
        (
            clift.NtnLink,
            {"harq_feedback": False, "max_transmissions": 3},
            "max_transmissions = 3: is of HARQ feedback, which harq_feedback = false switches off",
        ),
    ],
)
def test_links(make: Callable[..., object], options: dict[str, Any], expected: str) -> None:
    refused(lambda: make(**options), expected)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"phy": LINK}, "phy = LinkTrace("),
        ({"scheme": 3}, "scheme = 3: give a scheme such as clift.Arq(), or its text 'ARQ'"),
        ({"rtt_ms": 1e300}, "rtt_ms = 1e+300: give a time in ms, at most 2.3e+12 (73 years)"),
        ({"feedback_ms": 1}, "feedback_ms = 1: "),
        ({"reorder": 5}, "reorder = 5: give a clift.Reorder or None"),
        ({"feedback_loss": 2}, "feedback_loss = 2 is not a probability; give a number from 0 to 1"),
        ({"feedback_loss": "x"}, "feedback_loss = 'x': give a probability or a PHY trace"),
        ({"send_buffer": 0}, "send_buffer = 0: give a whole number from 1 to 4294967295"),
    ],
)
def test_a_scheme_over_a_trace(options: dict[str, Any], expected: str) -> None:
    refused(lambda: clift.LiveLink(**({"phy": PHY, "scheme": "ARQ"} | options)), expected)
    if options.keys() <= {"phy", "scheme", "rtt_ms", "feedback_ms"}:
        arguments = {"phy": PHY, "scheme": "ARQ"} | options
        refused(lambda: clift.tmt.apply(**arguments), expected)


def test_feedback_may_be_as_fast_as_the_round_trip() -> None:
    assert clift.LiveLink(PHY, "ARQ", rtt_ms=500, feedback_ms=500).feedback_ms == 500
    assert len(clift.tmt.apply(PHY, "ARQ", rtt_ms=500, feedback_ms=500)) > 0


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: clift.Reorder(flush_on_loss="x"), "Reorder: flush_on_loss = 'x': give True or F"),
        (lambda: clift.Reorder(flush_when_full=2), "Reorder: flush_when_full = 2: give True or F"),
        (lambda: clift.Arq(max_retx="x"), "Arq: max_retx = 'x': give a whole number from 0"),
        (lambda: clift.Harq2("10", 12), "Harq2(10, 12): a block carries k of n LLDUs"),
        (lambda: clift.deliver(PHY, [0]), "ll = PhyTrace(5000 slots of 33 bytes): a PHY trace"),
        (lambda: clift.deliver(LINK, [0], reorder=5), "reorder = 5: give a clift.Reorder"),
        (lambda: clift.deliver(LINK, [0], seed="x"), "seed = 'x': give a whole number"),
        (lambda: LandMobile("its", "5 dB"), "esn0_db = '5 dB': give a level in dB from -100"),
        (lambda: LandMobile("its", interleaving_ms="x"), "interleaving_ms = 'x': give a time"),
        (lambda: LandMobile("its").awgn_information("a"), "esn0_db = 'a': give levels in dB"),
        (lambda: LandMobile("its").awgn_per("a"), "esn0_db = 'a': give levels in dB"),
        (lambda: LandMobile("its").level_cdf("a"), "level_db = 'a': give levels in dB"),
        (lambda: LandMobile("its").levels("a"), "count = 'a': give a whole number from 1"),
        (lambda: LandMobile("its").road("a"), "count = 'a': give a whole number from 1"),
        (lambda: LandMobile("its").trace("a"), "duration_s = 'a': give a time in s, 0 or more"),
        (lambda: LandMobile("its").trace(1, "a"), "seed = 'a': give a whole number from 0"),
        (lambda: LandMobile("its").decode(["a"], [1]), "time_s = ['a']: give instants in seconds"),
        (lambda: clift.channel.bernoulli(slots="x"), "slots = 'x': give a whole number from 1"),
        (
            lambda: clift.channel.bernoulli(),
            "slots = None: give the number of slots, or a trace as `on`",
        ),
        (lambda: clift.channel.bernoulli(9, p="x"), "p = 'x' is not a probability"),
        (lambda: clift.channel.bernoulli(9, seed="x"), "seed = 'x': give a whole number from 0"),
        (lambda: clift.channel.bernoulli(on=3), "on = 3: give a PHY trace or None"),
        (lambda: clift.channel.gilbert_elliott(9, alpha="x"), "alpha = 'x' is not a probability"),
        (lambda: constellation.delays(3, HERE, THERE), "constellation = 3: give a constellation"),
        (
            lambda: constellation.delays("leo66", HERE, THERE, "60 s"),
            "duration_s = '60 s': give a time in s from 0",
        ),
        (
            lambda: constellation.delays("leo66", HERE, THERE, 60, min_elevation_deg="x"),
            "min_elevation_deg = 'x': give a number from 0 to 90",
        ),
        (
            lambda: constellation.delays("leo66", HERE, THERE, 60, keep="x"),
            "keep = 'x': give True or False",
        ),
        (
            lambda: constellation.walker(6, 11, altitude_km="500", inclination_deg=86),
            "altitude_km = '500': give a number from 100 to 100000",
        ),
        (
            lambda: constellation.walker("6", 11, altitude_km=500, inclination_deg=86),
            "planes = '6': give a whole number from 1",
        ),
        (lambda: clift.run_many(3), "scenarios = 3: give a list of clift.Scenario"),
        (lambda: clift.run_many([3]), "scenarios[0] = 3: give a list of clift.Scenario"),
        (lambda: clift.run_many([], threads="x"), "threads = 'x': give a whole number from 1"),
    ],
)
def test_calls(call: Callable[[], object], expected: str) -> None:
    refused(call, expected)


@pytest.mark.parametrize("until_s", [-1, float("nan"), float("inf"), 1e30, "x"])
def test_logs_of_a_run(until_s: Any) -> None:
    run = clift.simulate(LINK, duration_s=1)
    refused(lambda: run.units(until_s), f"until_s = {until_s!r}: give a time in s")
    refused(lambda: run.series(until_s), f"interval_ms = {until_s!r}: give a time in ms")


def test_messages_fill_a_packet_by_default() -> None:
    def payloads(**options: Any) -> float:
        run = clift.simulate(LINK, duration_s=2, message_kbps=40, **options)
        messages = run.summary()["flows"][0]["messages"]
        return float(messages["sent"])

    assert payloads(transport="udp") == payloads(transport="udp", message_bytes=1472)
    assert payloads() == payloads(message_bytes=1448)
    assert payloads(timestamps=False) == payloads(timestamps=False, message_bytes=1460)
    assert payloads() != payloads(message_bytes=724)


def test_a_queue_in_bytes_takes_the_place_of_the_usual_one() -> None:
    def longest(**options: Any) -> int:
        run = clift.simulate(LINK, duration_s=1, initial_window=40, **options)
        return int(run.summary()["links"][0]["longest_queue"])

    assert longest() > 30
    assert longest(queue_bytes=9_000) == 6


@pytest.mark.parametrize(
    ("link", "changes"),
    [
        (clift.LiveLink(PHY, clift.Arq(), rtt_ms=100), {"feedback_ms": 200}),
        (clift.NtnLink("nr-ntn-leo600", bler=[0.1, 0.01]), {"rlc": "um"}),
        (clift.HybridLink(n=11), {"losses": PHY}),
        (adaptive(information=[0.5, 0.6]), {"information": [0.5, 0.7]}),
        (adaptive(information=np.full(9, 0.5)), {"delay_ms": np.array([(0, 80), (1, 79)])}),
    ],
)
def test_live_links_are_values(link: Any, changes: dict[str, Any]) -> None:
    changed = link.replace(**changes)
    name, value = next(iter(changes.items()))
    assert getattr(changed, name) is value
    assert changed != link == link.replace()
    assert hash(link) == hash(link.replace())
    assert changed.replace(**changes) == changed != 3
    with pytest.raises(AttributeError):
        setattr(link, name, value)
    refused(lambda: link.replace(bogus=3), "bogus = 3: unknown parameter; use one of ")


@pytest.mark.parametrize(
    "link",
    [
        LINK,
        clift.HybridLink(n=11),
        clift.HybridLink(losses=PHY),
        clift.LiveLink(PHY, "ARQ", feedback_loss=PHY),
        clift.NtnLink(bler=[0.1, 0.01]),
        adaptive(delay_ms=np.array([(0, 80), (1, 79)])),
        adaptive(information=np.full(9_000, 0.5), every_ms=1),
    ],
)
def test_links_and_runs_can_be_copied_and_sent_to_another_process(link: Any) -> None:
    scenario = clift.Scenario(link, duration_s=1, path_ms=np.array([(0, 1), (0.5, 2)]))
    run = clift.simulate(scenario)
    for value in (link, scenario, run):
        for twin in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
            assert twin == value
            assert hash(twin) == hash(value)
            assert repr(twin) == repr(value)
    sent = pickle.loads(pickle.dumps(run))
    assert sent.goodput_kbps == run.goodput_kbps
    assert sent.completion_s == run.completion_s
    assert sent.summary() == clift.simulate(sent.scenario).summary()
    assert sent.events() == run.events()
    assert clift.simulate(scenario.replace(seed=2)) != run != 3


def test_a_trace_goes_to_another_process_with_all_that_it_says() -> None:
    own = {"decode_ns": 7, "period_ns": 40, "rtt_ns": 3, "description": "d", "source": "s"}
    phy = clift.PhyTrace([0, 10, 20], [5, 0, 6], 99, **own)
    for twin in (copy.copy(phy), copy.deepcopy(phy), pickle.loads(pickle.dumps(phy))):
        assert twin == phy
        assert {name: getattr(twin, name) for name in own} == own
        assert (twin.t_ns.tolist(), twin.d_ns.tolist(), twin.lldu_bytes) == (
            *([0, 10, 20], [5, 0, 6]),
            99,
        )
    assert phy != clift.PhyTrace([0, 10, 20], [5, 0, 7], 99, **own)
    assert phy != clift.PhyTrace([0, 10, 20], [5, 0, 6], 99, **(own | {"source": None}))
    assert phy != 3
    sent = pickle.loads(pickle.dumps(LINK))
    assert sent.stats() == LINK.stats()
    assert sent.lost_ns.tolist() == LINK.lost_ns.tolist()
    assert sent.transmissions.tolist() == LINK.transmissions.tolist()
    assert sent != clift.tmt.apply(PHY, "ARQ", rtt_ms=400)


def test_the_repr_of_a_live_link_shows_its_arguments() -> None:
    live = clift.LiveLink(PHY, "ARQ", flush_ms=5)
    phy = "PhyTrace(5000 slots of 33 bytes)"
    assert repr(live) == f"LiveLink(phy={phy}, scheme='ARQ', flush_ms=5)"
    ntn = clift.NtnLink(rlc="um", harq_feedback=False, t_reordering_ms=7)
    shown = "NtnLink(preset='nr-ntn-geo', rlc='um', harq_feedback=False, t_reordering_ms=7)"
    assert repr(ntn) == shown
    assert eval(shown, {"NtnLink": clift.NtnLink}) == ntn


def test_a_table_of_delays_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "delays.csv"
    path.write_text("time_s,delay_ms\n0,80\n1,79.5\n", encoding="utf-8-sig")
    assert constellation.read(path).delay_ms.tolist() == [80, 79.5]
    path.write_text("time_s,delay_ms\n0,80\n1,1e30\n")
    expected = f"{path}: line 3: delay_ms = 1e30; give a time below 73 years"
    refused(lambda: constellation.read(path), expected)
    refused(lambda: clift.simulate(LINK, path_ms=path), expected)
    path.write_text("time_s,delay_ms\n0,80\n1e30,80\n")
    refused(lambda: constellation.read(path), f"{path}: line 3: time_s = 1e30; give a time below")


def read(folder: Path, text: str, changes: dict[str, Any] | None = None) -> clift.Run:
    path = folder / "x.toml"
    path.write_text('duration = "1 s"\n' + text)
    return clift.simulate(clift.Scenario.read(path, changes))


def test_faults_that_show_only_in_the_run_have_a_cure(tmp_path: Path) -> None:
    blocks = '[ntn]\n[channel]\nmodel = "bernoulli"\nerasures = 0\nslot = "1 ms"\nlldu = "4 B"\n'
    expected = f"{tmp_path}/x.toml: ntn: a transport block of 4 bytes has no room beside headers of"
    refused(lambda: read(tmp_path, blocks), expected)
    with pytest.raises(clift.SimulationError, match=r"longer trace or channel"):
        read(tmp_path, '[adaptive_harq]\nlength = "0.5 s"\n')
    channel = '[channel]\nmodel = "bernoulli"\nerasures = 0\nslot = "1 ms"\n'
    (tmp_path / "delays.csv").write_text("time_s,delay_ms\n0,1e30\n")
    far = f"{tmp_path}/delays.csv: line 2: delay_ms = 1e30; give a time below 73 years"
    refused(lambda: read(tmp_path, 'link.delays = "delays.csv"\n' + channel), far)


def test_text_files_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    for text, options in (
        ("t_ns,d_ns\n0,5\n10,0\n20,5\n", {}),
        ("0,5\n10,0\n20,5\n", {"format": "columns", "unit": "ns"}),
        ("1\n0\n1\n", {"format": "loss", "slot_ns": 10, "decode_ns": 5}),
        ("1 1\n1 0\n", {"format": "runs", "slot_ns": 10, "decode_ns": 5}),
    ):
        path.write_text(text, encoding="utf-8-sig")
        assert clift.read_trace(path, **options).d_ns.tolist() == [5, 0, 5]


@pytest.mark.parametrize("number", ["", [], {}, -1, 10**30, 1.5, "x", None])
def test_a_replication_has_a_whole_number(number: Any) -> None:
    scenario = clift.Scenario(LINK)
    refused(lambda: scenario.replication(number), f"number = {number!r}: give a whole number from")


def test_outputs_of_a_run_have_paths() -> None:
    run = clift.simulate(LINK, duration_s=1)
    for write in (run.capture, run.qlog, run.perfetto):
        refused(lambda write=write: write(b"x"), "path = b'x' is not a file path")
