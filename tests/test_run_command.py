"""`clift run`, `clift tmt` and `clift schema` as a person meets them."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from command import clift
from small_study import PAGE

import clift.campaign as clift_campaign
from clift.campaign.caveats import caveats
from clift.scenario import Scenario

ROOT = Path(__file__).parent.parent
SCENARIO = f"""
name = "a page"
runs = 4
link.rtt = "500 ms"
transport.profile = "papers"
{PAGE}
[[printed]]
metric = "completion_s"
value = 6.0
source = "nowhere"
where = {{ scheme = "ARQ" }}
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "page.toml"
    path.write_text(SCENARIO)
    return path


def test_tables_and_conclusion_go_to_stdout(scenario: Path) -> None:
    done = clift("run", scenario)
    told = "taken: link.queue 1000 packets (default)\n"
    assert (done.returncode, done.stderr) == (0, told)
    # Numbers are the engine's business; the shape is this command's.
    *tables, sentence = done.stdout.split("\n\n")
    numbers = re.sub(r"(?<![/\d])[-+]?\d+(\.\d+)?(?=[ %\n)]|$)", "#", "\n\n".join(tables))
    assert re.sub(r" +", " ", numbers) == (
        "a page (seed #)\n\n"
        "scheme runs completion (s) median paper difference sent again (%) timeouts\n"
        "ARQ # # # # #% # #\n"
        "HARQ(10/12) # # # # #\n"
        "(median: over the runs; paper: value printed in nowhere; difference: (mean - printed) / "
        "printed; the\nmean of a time, and the difference of two, has an interval from # runs "
        "on)\n\n"
        "scheme runs link used (%) limited by\n"
        "ARQ # # congestion control # %, link # %\n"
        "HARQ(10/12) # # link # %, congestion control # %"
    )
    said = re.sub(r"\d+(\.\d+)? ", "# ", " ".join(sentence.split()))
    assert said == (
        "Too few independent runs to tell ARQ and HARQ(10/12) apart "
        "(# % apart in # runs; about # would tell)."
    )
    assert max(map(len, done.stdout.splitlines())) <= 100
    assert clift("run", scenario).stdout == done.stdout
    assert clift("run", scenario, "--threads", 1, "--quiet").stdout == done.stdout
    assert clift("run", scenario, "--seed", 2).stdout != done.stdout


def test_json_holds_every_metric_and_the_printed_values(scenario: Path) -> None:
    done = clift("run", scenario, "--json", "--runs", 2, "--set", "link.rtt=600 ms")
    result = json.loads(done.stdout)
    assert (result["runs_done"], result["complete"], result["seed"]) == (4, True, 1)
    assert result["changes"] == {"runs": "2", "link.rtt": "600 ms"}
    cell = result["cells"][0]
    assert cell["labels"] == {"scheme": "ARQ"}
    found = cell["metrics"]["completion_s"]
    names = {"mean", "low", "high", "half_width", "median", "median_low", "median_high"}
    names |= {"p95", "runs"}
    assert (found["runs"], found.keys(), cell["given"]) == (2, names, None)
    assert found["half_width"] is None  # a mean of completion times, of two runs
    goodput = cell["metrics"]["goodput_kbps"]
    assert goodput["high"] - goodput["low"] == pytest.approx(2 * goodput["half_width"])
    [printed] = result["printed"]
    assert printed["difference"] == pytest.approx(printed["measured"] / 6.0 - 1)


def test_the_folder_holds_tables_plots_and_a_record(scenario: Path, tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "results"
    done = clift("run", scenario, "-o", folder)
    assert done.returncode == 0, done.stderr
    names = {path.name for path in folder.iterdir()}
    pictures = {"comparison-completion_s", "cwnd", "sequence", "delay-cdf", "erasures"}
    pictures |= {"goodput", "queue", "delay"}
    tables = {"runs", "summary", "series", "delays", "sequence", "units"}
    expected = {f"{name}.png" for name in pictures} | {f"{name}.parquet" for name in tables}
    assert names == expected | {"record.json", "store"}
    record = json.loads((folder / "record.json").read_text())
    assert record["text"] == SCENARIO
    assert record["clift"]
    runs = pq.read_table(folder / "runs.parquet").to_pylist()
    assert [(run["scheme"], run["run"]) for run in runs] == [
        (scheme, number) for scheme in ("ARQ", "HARQ(10/12)") for number in range(4)
    ]
    mean = sum(run["completion_s"] for run in runs[:4]) / 4
    assert mean == pytest.approx(record["cells"][0]["metrics"]["completion_s"]["mean"])
    delays = pq.read_table(folder / "delays.parquet")
    # 50 kB are 35 segments, each of which arrived in the first run of both cells.
    assert sum(delays.column("segments").to_pylist()) == 2 * 35
    assert all((folder / f"{name}.png").read_bytes()[:4] == b"\x89PNG" for name in pictures)


def test_labels_that_say_little_are_named_by_their_axis(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text('duration = "20 s"\n[hybrid]\n[vary]\nhybrid.n = [11, 20]\n')
    found = clift("run", path, "--runs", 4).stdout
    assert "\nn = 11 is best (" in found


def test_the_name_of_an_axis_chooses_among_its_points(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text(
        'duration = "5 s"\n[ntn]\n[vary]\nntn.rlc = ["am", "um"]\n'
        'buffer.none = {}\nbuffer.small = { link.queue = "5 packets" }\n'
    )

    def cells(*sets: str) -> list[dict[str, str]]:
        options = [word for text in sets for word in ("--set", text)]
        return [
            cell["labels"]
            for cell in json.loads(clift("run", path, "--json", *options).stdout)["cells"]
        ]

    assert cells("buffer=none", "rlc=um") == [{"rlc": "um", "buffer": "none"}]
    assert len(cells('buffer=["none", "small"]')) == 4
    done = clift("run", path, "--set", "buffer=non")
    assert done.returncode == 2
    assert "buffer: is an axis of [vary]; choose one or a list of none, small" in done.stderr


def test_bad_input_gives_one_line_and_exit_code_2(scenario: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.touch()
    table = tmp_path / "log.csv"
    table.write_text("time,rate\n0,5\n1,6\n")
    cases: list[tuple[list[object], str]] = [
        (["run", tmp_path / "none.toml"], "none.toml: No such file"),
        (["run", scenario, "--set", "link.rat=1"], "--set link.rat=1: link.rat: unknown key"),
        (["run", scenario, "--set", "link.rtt"], "--set link.rtt: give KEY=VALUE"),
        (["run", scenario, "--set", "scheme="], "--set scheme=: give KEY=VALUE"),
        (["run", scenario, "--runs", "0"], "--runs"),
        (["run", scenario, "-o", blocked], "file: results are written into a folder; give one"),
        (["run", scenario, "-o", tmp_path / "x.png"], "x.png: results are written into a folder"),
        (["run", scenario, "--csv", "--explain"], "--explain has no csv; leave --csv out"),
        (["run", scenario, "--set", "channel.length=1 s"], "trace"),
        (["run"], "Missing argument"),
        (["run", table], "log.csv: a table, not a scenario; `clift advise "),
        (["run", scenario, "--compare", "scheme,scheme"], "--compare 'scheme': is given twice"),
        (["run", scenario, "--compare", "rtt"], "--compare 'rtt': the scenario does not vary it"),
        (["run", scenario, "--qlog", tmp_path / "x.qlog"], "--qlog: the first flow is tcp, which"),
        (["tmt", tmp_path / "none.csv"], "none.csv"),
    ]
    for arguments, expected in cases:
        done = clift(*arguments)
        assert done.returncode == 2, done.stderr
        assert expected in done.stderr
        assert done.stdout == ""
        assert done.stderr.count("\n") == 1, done.stderr
    scenario.write_text('trace.file = "gone.csv"\nvary.scheme = ["none", "ARQ"]\n')
    done = clift("run", scenario, "-o", tmp_path / "none" / "there")
    assert "gone.csv: cannot be opened" in done.stderr
    assert not (tmp_path / "none").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_refused_before_running(
    scenario: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o500)
    done = clift("run", scenario, "-o", folder)
    assert done.returncode == 2
    assert "Permission denied" in done.stderr


def test_ctrl_c_keeps_finished_runs(scenario: Path, tmp_path: Path) -> None:
    folder = tmp_path / "results"
    result = json.loads(interrupted(scenario, folder))
    assert result["complete"] is False
    assert 0 < result["runs_done"] < result["runs_wanted"]
    assert json.loads((folder / "record.json").read_text())["complete"] is False
    assert pq.read_table(folder / "runs.parquet").num_rows == result["runs_done"]


def interrupted(scenario: Path, folder: Path) -> str:
    """Returns what a campaign of a million runs prints when Ctrl-C follows its first results."""
    command = [sys.executable, "-c", "from clift.cli import main; main()", "run", str(scenario)]
    command += ["--runs", "1000000", "-o", str(folder), "--json", "--no-plots"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not list(folder.glob("store/runs/*")):
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    return out


@pytest.mark.parametrize("place", ["run", "row", "note"])
def test_ctrl_c_may_come_anywhere(
    scenario: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    from clift.campaign import runner, work

    owner: Any = runner if place == "note" else work.Worker
    usual, calls = getattr(owner, place), 0

    def interrupt(*arguments: object, **options: object) -> object:
        nonlocal calls
        calls += 1
        if calls > (3 if place in ("run", "note") else 70):
            raise KeyboardInterrupt
        return usual(*arguments, **options)

    monkeypatch.setattr(owner, place, interrupt)
    results = runner.run_campaign(Scenario.read(scenario, {"runs": "5000"}), threads=1)
    assert 2 <= results.done < results.wanted == 10_000
    assert all(cell.estimate("completion_s") is not None for cell in results.cells)


def test_tmt_puts_schemes_side_by_side_and_writes_the_link_trace(tmp_path: Path) -> None:
    path = tmp_path / "phy.csv"
    path.write_text("t_ns,d_ns\n0,5\n10,0\n20,5\n30,5\n")
    done = clift("tmt", path, "--scheme", "none", "--scheme", "ARQ", "--rtt", "10 ns")
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines[0] == ["scheme", "none", "ARQ"]
    assert ["delivered", "3", "3"] in lines
    link = tmp_path / "link.parquet"
    done = clift("tmt", path, "--rtt", "10 ns", "-o", link, "--json")
    assert json.loads(done.stdout)[0]["data_units"] == 3
    table = pq.read_table(link)
    assert table.column_names == ["t_ns", "d_ns", "lost_ns", "transmissions"]
    # Erased at 10, its loss known after RTT + decoding time = 15, sent again at 30.
    assert table.column("d_ns").to_pylist() == [5, 25, 5]
    assert table.column("transmissions").to_pylist() == [1, 2, 1]


def test_schema_is_json() -> None:
    assert json.loads(clift("schema").stdout)["title"] == "CLIFT scenario"


# tests/test_docs.py runs these two in a reduced form.
LARGE = ("map", "which_transport")
# As large, and reduced here.
REDUCED = {
    "coding_above": ("place=GEO", "duration=5 s"),
    "how_many_terminals": ("terminals=20", "initial_window=10 packets"),
    "quic_4_sat": ("test=fade", "duration=10 s"),
}


def marks(example: Path) -> list[pytest.MarkDecorator]:
    """What takes long, or runs in tests/test_without_python.py, which runs those without QUIC."""
    with_quic = '"quic"' in example.read_text() and example.stem not in LARGE
    return [] if with_quic or example.stem in REDUCED else [pytest.mark.long]


@pytest.mark.parametrize(
    "example",
    [
        pytest.param(one, id=one.stem, marks=marks(one))
        for one in sorted((ROOT / "examples").glob("*.toml"))
    ],
)
def test_the_scenario_examples_run(example: Path) -> None:
    reduced = [word for one in REDUCED.get(example.stem, ()) for word in ("--set", one)]
    done = clift("run", example, "--runs", 1, "--json", *reduced)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["complete"]
    assert all(value["measured"] is not None for value in result["printed"])


# tests/test_own.py, tests/test_start_pages.py and tests/test_modem_guide.py run these and compare
# what they print.
OWN = ("scheme", "congestion", "path_scheduler", "carrier_scheduler", "queue", "application")
COMPARED = (*(f"own_{part}" for part in OWN), "link_log", "modem_log")
SHORTER = {"ntn_study": ["--seconds", "3"]}


@pytest.mark.parametrize(
    "example",
    [one for one in sorted((ROOT / "examples").glob("*.py")) if one.stem not in COMPARED],
    ids=lambda p: p.stem,
)
def test_the_python_examples_run(example: Path) -> None:
    command = [sys.executable, example, *SHORTER.get(example.stem, [])]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=500)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_the_example_of_kuhn_2014_meets_the_printed_page_times() -> None:
    """Kuhn 2014, table 3: within 15 % in every cell."""
    pages = ("--set", "task=page", "--runs", 40)
    done = clift("run", ROOT / "examples" / "geo_mobile.toml", "--json", *pages)
    printed = json.loads(done.stdout)["printed"]
    pages = [value for value in printed if value["metric"] == "completion_s"]
    assert len(pages) == 12
    for value in pages:
        assert abs(value["difference"]) < 0.15, value


def test_defaults_taken_are_printed(scenario: Path) -> None:
    text = SCENARIO.replace('link.rtt = "500 ms"\n', "").replace('decoding = "36 ms"\n', "")
    scenario.write_text(text)
    done = clift("run", scenario, "--json", "--runs", 2)
    taken = {
        "link.rtt": {"value": "100 ms", "from": "default"},
        "channel.decoding": {"value": "1.003802 ms", "from": "default: one slot"},
        "link.queue": {"value": "1000 packets", "from": "default"},
    }
    assert json.loads(done.stdout)["taken"] == taken
    parts = (f"{key} {own['value']} ({own['from']})" for key, own in taken.items())
    assert done.stderr == f"taken: {', '.join(parts)}\n"
    named = clift("run", scenario, "--json", "--runs", 2, "--set", "preset=geo-mobile-2014")
    assert json.loads(named.stdout)["taken"]["link.rtt"] == {
        "value": "500 ms",
        "from": "preset geo-mobile-2014",
    }


def test_explain_names_every_key_and_runs_nothing(scenario: Path) -> None:
    done = clift("run", scenario, "--explain", "--set", "link.queue=9 packets", "--runs", 2)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    expected = {
        "link.rtt = 500 ms  (line 4)",
        "link.queue = 9 packets  (--set)",
        "channel.lldu = 33 B  (line 16)",
        "runs = 2  (--set)",
        "link.wrap = false  (default)",
        "scheme = ARQ | HARQ(10/12)  (line 20)",
    }
    assert expected <= set(lines), expected - set(lines)
    # The deciding key is named where only another key decides.
    open_to_both = scenario.with_name("open.toml")
    open_to_both.write_text(scenario.read_text().replace('transport.profile = "papers"\n', ""))
    for sack, profile, window, delay in (
        ("true", "linux", "10 packets", "40 ms"),
        ("false", "papers", "2 packets", "false"),
    ):
        changes = ["--set", "transport.congestion=newreno", "--set", f"transport.sack={sack}"]
        told = clift("run", open_to_both, "--explain", *changes).stdout
        assert f"transport.profile = {profile}  (default)" in told
        assert f"transport.initial_window = {window}  (default)" in told
        assert f"transport.delayed_ack = {delay}  (default)" in told
    named = clift("run", scenario, "--explain", "--set", "preset=geo-mobile-2014")
    assert "transport.cwnd_max = 1000 packets  (preset geo-mobile-2014)" in named.stdout


@pytest.mark.parametrize("command", ["run", "why", "attack"])
def test_a_run_that_cannot_go_on_names_its_file(command: str, tmp_path: Path) -> None:
    rows = [f"{n * 12_000_000},1" for n in range(100)]
    head = ["# clift-trace: 1", "# lldu_bytes: 1500", "# decode_ns: 1", "t_ns,d_ns"]
    (tmp_path / "t.csv").write_text("\n".join([*head, *rows]) + "\n")
    path = tmp_path / "t.toml"
    path.write_text('duration = "5 s"\ntrace.file = "t.csv"\nlink.rtt = "50 ms"\n')
    ran = clift(command, path)
    assert ran.returncode == 2
    assert f"error: {path}: the trace or channel of a link ends at 1." in ran.stderr


def test_a_value_that_no_cell_has_is_named(scenario: Path) -> None:
    scenario.write_text('scheme = "none"\n' + scenario.read_text())
    done = clift("run", scenario, "--runs", 1)
    note = f"note: {scenario} line 1: scheme: not used, as [vary] sets this key in every cell\n"
    assert (done.returncode, done.stderr.count(note)) == (0, 1)
    assert note in clift("run", scenario, "--runs", 1, "--json").stderr
    assert note[6:-1] + "." in caveats(clift_campaign.run(scenario, runs=1, progress=False).results)
    assert note not in clift("run", scenario, "--runs", 1, "--set", "scheme=ARQ").stderr
