"""Scenario files and scenarios in Python: what they mean, and the messages of wrong ones."""

import copy
import json
import pickle
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from small_study import CHANNEL

import clift
from clift import _clift
from clift._keywords import KEYWORDS, LinuxParts
from clift.campaign import run_campaign
from clift.cli.main import run

ROOT = Path(__file__).parent.parent


@pytest.fixture
def link() -> clift.LinkTrace:
    phy = clift.channel.gilbert_elliott(slots=60_000, alpha=0.99, beta=0.5, seed=3)
    return clift.tmt.apply(phy, clift.Arq(), rtt_ms=500)


def scenario_file(folder: Path, text: str) -> Path:
    path = folder / "x.toml"
    path.write_text(text + CHANNEL)
    return path


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[link]\nrat = 1", "x.toml line 2: link.rat: unknown key, one of rtt,"),
        ("seeed = 1", "x.toml line 1: seeed: unknown key, one of name,"),
        ("duration = 5", "x.toml line 1: duration: `5` has no unit; write a time as e.g."),
        ('scheme = "HARQ(12/10)"', "x.toml line 1: scheme: HARQ(12/10): 12/10 sends fewer"),
        ("[vary]\nscheme = []", "x.toml line 2: vary.scheme: the list is empty"),
        ("[[printed]]\nmetric = 'speed'\nvalue = 1", "no metric `speed`"),
    ],
)
def test_errors_name_file_line_key_and_cure(tmp_path: Path, text: str, expected: str) -> None:
    path = scenario_file(tmp_path, text)
    with pytest.raises(clift.ScenarioError) as error:
        run_campaign(clift.Scenario.read(path))
    assert expected in str(error.value)
    assert "\n" not in str(error.value)


def test_a_missing_trace_file_is_reported_with_file_line_and_key(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.toml"
    path.write_text('duration = "5 s"\n\n[trace]\nfile = "gone.csv"\n')
    line = f"{path} line 4: trace.file: {tmp_path}/gone.csv: cannot be opened: No such file"
    with pytest.raises(clift.TraceError) as error:
        clift.simulate(clift.Scenario.read(path))
    assert str(error.value).startswith(line)
    assert run(["run", str(path)]) == 2
    assert line in capsys.readouterr().err
    (tmp_path / "here.csv").write_text("5\n7\n")
    rest = 'file = "here.csv"\nformat = "delay-loss"\ninterval = "1 ms"\n'
    path.write_text(f'[trace]\nlosses = "gone"\n{rest}')
    with pytest.raises(clift.TraceError, match=r"line 2: trace\.losses: .*gone: cannot be opened"):
        clift.simulate(clift.Scenario.read(path))
    with pytest.raises(clift.TraceError, match=r"^trace\.file: gone\.csv: cannot be opened"):
        clift.simulate({"trace": {"file": "gone.csv"}})


def test_a_trace_whose_share_is_one_slot_cannot_repeat(tmp_path: Path) -> None:
    clift.PhyTrace([0, 10, 20], [5, 5, 5], 1500).write(tmp_path / "phy.csv")
    text = 'trace.file = "phy.csv"\ntrace.share = 10\nlink.wrap = true\n'
    with pytest.raises(clift.ScenarioError, match=r"line 3: link\.wrap: a trace of one slot"):
        clift.simulate(clift.Scenario.parse(text, str(tmp_path / "x.toml")))


def test_unreadable_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(clift.ScenarioError, match=r"missing\.toml: No such file"):
        clift.Scenario.read(tmp_path / "missing.toml")
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"name = '\n\xff'")
    with pytest.raises(clift.ScenarioError, match=r"binary.toml line 2: not UTF-8"):
        clift.Scenario.read(binary)
    large = tmp_path / "large.toml"
    with large.open("wb") as out:
        out.truncate(10 * 1024**3)  # sparse
    with pytest.raises(clift.ScenarioError, match="too large for a scenario"):
        clift.Scenario.read(large)
    with pytest.raises(clift.ScenarioError, match="Is a directory"):
        clift.Scenario.read(tmp_path)


def test_a_file_and_keyword_arguments_give_the_same_run(tmp_path: Path) -> None:
    head = 'duration = "30 s"\nscheme = "HARQ(10/12)"\nseed = 5\nlink.rtt = "500 ms"'
    path = scenario_file(tmp_path, head)
    from_file = clift.simulate(path)
    phy = clift.channel.bernoulli(
        slots=90 * 10**9 // 1_003_802, slot_ns=1_003_802, p=0.02, decode_ns=36_000_000, seed=5
    )
    ll = clift.tmt.apply(phy, "HARQ(10/12)", rtt_ms=500)
    assert from_file.summary() == clift.simulate(ll, duration_s=30, seed=5).summary()


def test_a_land_mobile_channel_of_a_file_is_that_of_the_library(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text("""
    duration = "30 s"
    scheme = "ARQ"
    seed = 5
    link.rtt = "500 ms"
    [channel]
    model = "lms"
    preset = "distribution"
    environment = "intermediate-tree-shadowed"
    esn0 = "12 dB"
    speed = "30 km/h"
    interleaving = "20 ms"
    rate = "264 kbit/s"
    code = "turbo-264-1/3"
    """)
    phy = clift.channel.lms(
        "distribution",
        12,
        20,
        duration_s=90,
        seed=5,
        environment="intermediate-tree-shadowed",
        speed_kmh=30,
        slot_ns=1_000_000,
        code="turbo-264-1/3",
    )
    assert 0.01 < phy.stats()["erasure_rate"] < 0.5
    expected = clift.simulate(clift.tmt.apply(phy, "ARQ", rtt_ms=500), duration_s=30, seed=5)
    assert clift.simulate(path).summary() == expected.summary()
    # Each replication has its own drive; they share one where the file says so.
    path.write_text(path.read_text().replace("seed = 5", "runs = 2"))

    def drives(**changes: Any) -> list[list[int]]:
        runs = clift.Scenario.read(path).replace(**changes).replications()
        return [run.phy_trace().d_ns.tolist() for run in runs]

    own, other = drives()
    assert own != other
    own, other = drives(**{"link.start": "random"})
    assert own != other
    shared, same = drives(**{"channel.redraw": False})
    assert shared == same


def test_replace_takes_keywords_and_dotted_keys(tmp_path: Path) -> None:
    path = scenario_file(tmp_path, 'duration = "30 s"\n[vary]\nscheme = ["ARQ", "none"]')
    cell = clift.Scenario.read(path).cells()[1]
    same = cell.replace(duration_s=20.5, transport="newreno", **{"link.rtt": "600 ms"})
    assert same.labels == {"scheme": "none"}
    assert clift.simulate(same).summary()["duration_s"] == 20.5
    arq = clift.Scenario.read(path).cells()[0]
    page = arq.replace(file_bytes=10_000, queue_packets=None, delayed_ack=True)
    assert clift.simulate(page).completion_s is not None
    with pytest.raises(clift.ScenarioError, match=r"link\.rat: unknown key"):
        cell.replace(**{"link.rat": "600 ms"})


def test_a_dict_a_text_and_a_file_give_the_same_run(tmp_path: Path) -> None:
    text = 'duration = "5 s"\nscheme = "ARQ"\nseed = 5'
    path = scenario_file(tmp_path, text)
    expected = clift.simulate(path).summary()
    assert clift.simulate(clift.Scenario.parse(path.read_text())).summary() == expected
    assert clift.simulate(tomllib.loads(path.read_text())).summary() == expected
    assert clift.simulate(path, duration_s=5, seed=5).summary() == expected


def test_every_keyword_changes_a_file_as_it_changes_links(link: clift.LinkTrace) -> None:
    """`replace` of a scenario of links, of a dict and of a text do the same."""
    phy = clift.channel.bernoulli(slots=60_000, slot_ns=1_003_802, p=0.02, seed=5)
    others: dict[str, Any] = {
        "transport": "newreno", "congestion": "hybla", "profile": "papers",
        "duration_s": 7, "packet_bytes": 1000,
        "queue_packets": 20, "queue_bytes": 20_000, "delayed_ack": 30, "initial_window": 4,
        "cwnd_max_packets": 9, "receive_window_bytes": 30_000, "timestamps": False,
        "sack": False, "linux": {"rack": False}, "file_bytes": 20_000, "message_bytes": 700,
        "message_kbps": 50, "deadline_ms": 900, "start_offset_s": 3, "wrap": True, "seed": 9,
        "flows": 2, "access_kbps": 300, "access_ms": 15, "path_ms": [(0, 20), (2, 25)],
        "path_in_order": True, "overlap": "papers", "extra_lldu": True, "lldu_header_bytes": 3,
        "packet_header_bytes": 20, "packing": "bytes", "reorder": clift.Reorder(),
        "return_link": link, "stop_when_done": True,
    }  # fmt: skip
    beside = {
        "linux": {"profile": "linux"},
        "sack": {"transport": "newreno"},
        "message_bytes": {"message_kbps": 50},
        "deadline_ms": {"message_kbps": 50},
        "path_in_order": {"path_ms": [(0, 25), (2, 5)]},
    }
    assert others.keys() == KEYWORDS.keys()
    ll = clift.tmt.apply(phy, "ARQ", rtt_ms=500)
    of_links = clift.Scenario(ll, duration_s=5)
    tree = {"duration": "5 s", "scheme": "ARQ", "trace": {"file": phy}, "link": {"rtt": "500 ms"}}
    of_dict = clift.Scenario(tree)
    for name, value in others.items():
        options = beside.get(name, {}) | {name: value}
        run = clift.simulate(of_links.replace(**options)).summary()
        assert clift.simulate(of_dict.replace(**options)).summary() == run, name
        assert clift.simulate(of_dict.replace(**options).replace(seed=9)).summary() is not None


def test_a_keyword_resets_what_another_set(tmp_path: Path) -> None:
    path = scenario_file(tmp_path, 'duration = "5 s"\nscheme = "ARQ"')
    plain = clift.Scenario.read(path)
    set_ = plain.replace(initial_window=9, reorder=clift.Reorder(), cwnd_max_packets=3)
    assert clift.simulate(set_).summary() != clift.simulate(plain).summary()
    back = set_.replace(initial_window=None, reorder=None, cwnd_max_packets=None)
    assert clift.simulate(back).summary() == clift.simulate(plain).summary()


def test_links_of_python_make_campaigns(link: clift.LinkTrace) -> None:
    scenario = clift.Scenario(
        link,
        duration_s=5,
        name="of links",
        runs=2,
        vary={"transport.congestion": ["newreno", "cubic"], "load": {"light": {"flows": 1}}},
    )
    assert scenario.size == 4
    with pytest.raises(clift.ScenarioError, match=r"has 2 cells; run scenario\.cells\(\)"):
        clift.simulate(scenario)
    results = run_campaign(scenario)
    assert results.is_complete
    assert results.title == "of links"
    assert [cell.labels["congestion"] for cell in results.cells] == ["newreno", "cubic"]
    alone = clift.simulate(link, transport="newreno", duration_s=5).goodput_kbps
    assert results.cells[0].values[0]["goodput_kbps"] == alone
    cubic = scenario.replace(transport="cubic")
    assert [cell.labels for cell in cubic.cells()] == [{"load": "light"}]


def test_scenarios_are_values(tmp_path: Path) -> None:
    path = scenario_file(tmp_path, 'duration = "2 s"\n[vary]\nscheme = ["ARQ", "none"]')
    of_file = clift.Scenario.read(path).cells()[1].replace(seed=4)
    of_links = clift.Scenario(clift.HybridLink(n=11), duration_s=2, path_ms=[(0, 1), (1, 2)])
    for scenario in (of_file, of_links):
        expected = clift.simulate(scenario).summary()
        for twin in (
            copy.copy(scenario),
            copy.deepcopy(scenario),
            pickle.loads(pickle.dumps(scenario)),
        ):
            assert twin.labels == scenario.labels
            assert clift.simulate(twin).summary() == expected


def test_python_takes_the_keys_and_units_of_a_scenario_file() -> None:
    channel = tomllib.loads(CHANNEL)
    section = tomllib.loads("""
duration = "3 s"
link = { queue = "20 packets", aqm = "codel", rtt = "300 ms" }
transport = { congestion = "newreno", packet = "1000 B", ecn = true }
""")
    bare = {
        "duration": "3 s",
        "queue": "20 packets",
        "aqm": "codel",
        "rtt": "300 ms",
        "transport": {"congestion": "newreno", "packet": "1000 B"},
        "ecn": True,
    }
    assert clift.Scenario(channel, **bare).config == clift.Scenario(channel | section).config
    with pytest.raises(clift.ScenarioError, match=r"link.aqm: .*red"):
        clift.simulate(clift.Scenario(channel, aqm="red"))


def test_several_cells_or_runs_want_run_many(tmp_path: Path) -> None:
    path = scenario_file(tmp_path, 'runs = 2\nduration = "5 s"\n[vary]\nscheme = ["ARQ", "none"]')
    scenario = clift.Scenario.read(path)
    with pytest.raises(clift.ScenarioError, match=r"has 2 cells; run scenario\.cells\(\)"):
        clift.simulate(scenario)
    with pytest.raises(clift.ScenarioError, match="asks for 2 runs"):
        clift.simulate(scenario.cells()[0])
    runs = clift.run_many(scenario.cells()[0].replications(), progress=False)
    assert runs[0].summary() != runs[1].summary()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"duration_s": -1}, "duration_s = -1: give a time in s"),
        ({"duration_s": float("nan")}, "duration_s = nan"),
        ({"duration_s": "10"}, "duration_s = '10'"),
        ({"duration_s": 0}, "duration"),
        ({"packet_bytes": 0}, "packet_bytes = 0: 0 bytes is not a valid TCP packet size"),
        ({"packet_bytes": 40}, "40"),
        ({"flows": 0}, "flows = 0"),
        ({"seed": -1}, "seed = -1"),
        ({"file_bytes": 1.5}, "file_bytes = 1.5"),
        ({"access_kbps": 0}, "access_kbps = 0"),
        ({"transport": "vegas"}, "vegas"),
        ({"profile": "windows"}, "windows"),
        ({"sack": False}, "`sack = false` supports newreno only"),
        (
            {"linux": {"rack": False}, "profile": "papers"},
            "linux = {'rack': False}: belongs to profile = \"linux\"",
        ),
        ({"linux": ["rack"], "profile": "linux"}, "linux = ['rack']: give a dict"),
        (
            {"linux": {"rak": False}, "profile": "linux"},
            "linux = {'rak': False}: rak: unknown key, one of handshake, rack,",
        ),
        (
            {"linux": {"rack": 3}, "profile": "linux"},
            "linux = {'rack': 3}: rack: integer `3` is not valid here; give true or",
        ),
        (
            {"linux": {"max_reordering": -1}, "profile": "linux"},
            "max_reordering: integer `-1` is not valid here; give",
        ),
        ({"linux": {"max_reordering": 1}, "profile": "linux"}, "max_reordering = 1: give 3"),
        ({"overlap": "maybe"}, "overlap = 'maybe'"),
        ({"speed": 1}, "speed: no such option; one of access_kbps"),
    ],
)
def test_wrong_options_are_named(
    link: clift.LinkTrace, options: dict[str, Any], expected: str
) -> None:
    with pytest.raises(clift.ScenarioError) as error:
        clift.simulate(link, **options)
    assert expected in str(error.value)


def test_without_sack_a_scenario_file_says_the_same(tmp_path: Path) -> None:
    transport = '[transport]\ncongestion = "newreno"\nsack = false\ntimestamps = false'
    path = scenario_file(tmp_path, f'duration = "30 s"\n{transport}')
    unsacked = clift.simulate(path)
    cell = clift.Scenario.read(path).cells()[0]
    sacked = clift.simulate(cell.replace(sack=True))
    assert unsacked.summary() != sacked.summary()
    assert unsacked.summary() == clift.simulate(cell.replace(sack=False)).summary()


@pytest.mark.parametrize("part", LinuxParts.__annotations__)
def test_parts_of_the_kernel_by_themselves(tmp_path: Path, part: str) -> None:
    """From Python, from a file and as a change of one, each part does the same."""
    usual = {"max_reordering": 300, "pacing": False}.get(part, True)
    other = 3 if part == "max_reordering" else not usual
    head = 'duration = "30 s"\nscheme = "ARQ"\nseed = 5\nlink.rtt = "500 ms"'
    text = f'{head}\n[transport]\nprofile = "linux"'
    toml = str(other).lower()
    path = scenario_file(tmp_path, f"{text}\n[transport.linux]\n{part} = {toml}")
    switched = clift.simulate(path).summary()
    plain = clift.Scenario.read(scenario_file(tmp_path, text)).cells()[0]
    assert clift.simulate(plain.replace(linux={part: other})).summary() == switched
    assert clift.simulate(plain.replace(linux={part: usual})).summary() != switched or part in {
        # Nothing that they act on happens in this run.
        "frto",
        "slow_start_after_idle",
        "tail_loss_probe",
    }
    phy = clift.channel.bernoulli(
        slots=90 * 10**9 // 1_003_802, slot_ns=1_003_802, p=0.02, decode_ns=36_000_000, seed=5
    )
    ll = clift.tmt.apply(phy, clift.Arq(), rtt_ms=500)
    run = clift.simulate(ll, profile="linux", linux={part: other}, duration_s=30, seed=5)
    assert run.summary() == switched


def test_without_sack_a_syn_goes_first() -> None:
    phy = clift.channel.bernoulli(slots=2000, slot_ns=1_003_802, p=0.0, decode_ns=1, seed=1)
    clean = clift.tmt.apply(phy, clift.NoScheme(), rtt_ms=500)
    # 1052 bytes take 32 slots: the last one's start, and half a round trip. The SYN's two slots and
    # its round trip take 501.003802 ms; the next slot is the 500th.
    for sack, last in ((True, 31), (False, 500 + 31)):
        run = clift.simulate(
            clean, transport="newreno", profile="papers", file_bytes=1000, sack=sack
        )
        assert run.completion_s == pytest.approx(last * 1.003802e-3 + 0.25, abs=1e-6)


def test_run_many_equals_simulate_on_any_threads(link: clift.LinkTrace) -> None:
    scenarios = [
        clift.Scenario(link, transport=transport, file_bytes=50_000, start_offset_s=start, seed=7)
        for transport in ("newreno", "cubic")
        for start in range(0, 20, 2)
    ]
    alone = [clift.simulate(scenario).summary() for scenario in scenarios]
    for threads in (1, 3):
        runs = clift.run_many(scenarios, progress=False, threads=threads)
        assert [run.summary() for run in runs] == alone


def test_run_many_calls_back_and_keeps_finished_runs(link: clift.LinkTrace) -> None:
    seen: list[tuple[int, int]] = []
    scenarios = [clift.Scenario(link, duration_s=5, seed=seed) for seed in range(5)]
    clift.run_many(scenarios, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (5, 5)

    def stop(done: int, _total: int) -> None:
        if done >= 20:
            raise KeyboardInterrupt

    many = [clift.Scenario(link, duration_s=50, seed=seed) for seed in range(20_000)]
    with pytest.raises(clift.Interrupted) as interrupted:
        clift.run_many(many, progress=stop)
    finished = [run for run in interrupted.value.runs if run is not None]
    assert len(interrupted.value.runs) == len(many)
    assert 20 <= len(finished) < len(many)
    assert finished[0].summary() == clift.simulate(many[0]).summary()


def test_a_run_past_the_trace_is_an_error_that_keeps_the_others(link: clift.LinkTrace) -> None:
    scenarios = [clift.Scenario(link, duration_s=duration) for duration in (10, 400)]
    with pytest.raises(clift.SimulationError, match="run 1: ") as error:
        clift.run_many(scenarios, progress=False)
    assert [run is not None for run in error.value.runs] == [True, False]
    wrapped = scenarios[1].replace(wrap=True)
    assert clift.simulate(wrapped).goodput_kbps > 0


def test_series_and_events_are_of_the_same_run(link: clift.LinkTrace) -> None:
    run = clift.simulate(link, profile="papers", duration_s=20)
    series = run.series(interval_ms=100)
    last = series.column("bytes_in_order")[-1].as_py()
    assert series.num_rows == 201  # 0 and 20 s included
    assert last == run.summary()["bytes_in_order"]
    kinds = run.events().column("kind").to_pylist()
    assert kinds.count(0) + kinds.count(1) == run.summary()["segments_sent"]


EVERY = 'rate = "1 Mbit/s"\n'
CHAIN = f'{EVERY}model = "gilbert-elliott"\n'
EVEN = f'{EVERY}model = "bernoulli"\nerasures = "2 %"\n'
CHANNELS_RIGHT = (
    EVEN,
    f'{CHAIN}erasures = "2 %"\nburst = 2\n',
    f"{CHAIN}alpha = 0.99\nbeta = 0.5\n",
    'model = "lms"\npreset = "internet"\nesn0 = "7 dB"\n',
)
CHANNELS_WRONG = (
    f"{EVEN}burst = 2\n",
    f"{EVEN}nonsense = 2\n",
    f'{EVEN}slot = "1 ms"\n',
    f'{EVEN}redraw = "no"\n',
    f"{EVEN}seed = -1\n",
    f'{EVERY}erasures = "2 %"\n',
    f'{EVERY}model = "bernoulli"\n',
    f"{CHAIN}alpha = 0.99\n",
    f'{CHAIN}alpha = 0.99\nbeta = 0.5\nerasures = "2 %"\n',
    f'{CHAIN}erasures = "2 %"\nburst = 2\nesn0 = "3 dB"\n',
    'model = "lms"\nerasures = "2 %"\n',
)


def test_the_schema_accepts_the_examples_and_is_up_to_date() -> None:
    schema = json.loads(_clift.scenario_schema())
    validator = jsonschema.Draft202012Validator(schema)
    examples = sorted((ROOT / "examples").glob("*.toml"))
    assert examples
    for example in examples:
        validator.validate(tomllib.loads(example.read_text()))
    for wrong in ({"link": {"rat": 1}}, {"duration": 400}, {"channel": {"erasures": 2}}):
        assert not validator.is_valid(wrong)
    for keys in CHANNELS_WRONG:
        text = f"[channel]\n{keys}"
        assert not validator.is_valid(tomllib.loads(text)), keys
        with pytest.raises(clift.ScenarioError):
            clift.Scenario.parse(text)
    for keys in CHANNELS_RIGHT:
        validator.validate(tomllib.loads(f"[channel]\n{keys}"))
        assert len(clift.Scenario.parse(f"[channel]\n{keys}").cells()) == 1
    for script in ("scenario_reference.py", "python_front.py"):
        command = [sys.executable, str(ROOT / "docs" / script), "--check"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_a_change_to_a_table_names_its_key() -> None:
    with pytest.raises(clift.ScenarioError) as error:
        clift.Scenario.parse("", changes={"link": {"rtt": "1 ms", "queue": "9 packets"}})
    assert str(error.value) == "changes: link: a table; give each of its keys, e.g. link.rtt"
