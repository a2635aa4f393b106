"""One scenario in several hosts, and the guides to them."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import command
import pytest

import clift
from clift.errors import ScenarioError
from clift.hosts.crosscheck import crosscheck
from clift.hosts.fates import Arrival, Log

ROOT = Path(__file__).parents[1]
LINK = """
seed = 4
duration = "60 s"
scheme = "ARQ"
link = { rtt = "500 ms", queue = "unlimited" }
[channel]
model = "gilbert-elliott"
slot = "1003802 ns"
lldu = "33 B"
decoding = "36 ms"
erasures = "2 %"
burst = 2
[transport]
congestion = "newreno"
profile = "papers"
cwnd_max = "1000 packets"
"""
needs_ns2 = pytest.mark.skipif(
    shutil.which("ns") is None or not (ROOT / "target/ns2/clift.so").exists(),
    reason="skipped: no ns-2 plugin (`make ns2`)",
)
needs_ns3 = pytest.mark.skipif(
    not list((ROOT / "target/ns3").glob("*/clift-bulk")), reason="skipped: no ns-3 (`make ns3`)"
)


@needs_ns2
@pytest.mark.parametrize(
    ("scheme", "congestion", "flows"),
    [("ARQ", "newreno", 3), ("HARQ(10/15)", "cubic", 1), ("HARQ(10/15)", "hybla", 1)],
)
def test_ns2_and_the_engine_agree(scheme: str, congestion: str, flows: int, tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(LINK)
    changes = {"scheme": scheme, "transport.congestion": congestion, "duration": "200 s"}
    changes["flows"] = str(flows)
    changes["transport.papers.cube_root"] = "table"  # as ns-2's CUBIC has it
    found = crosscheck(clift.Scenario.read(tmp_path / "x.toml", changes), ("engine", "ns2"))
    engine, ns2 = found["engine"], found["ns2"]
    assert ns2["fates"] == {"packets": ns2["fates"]["packets"], "agree": True, "first": None}
    assert ns2["fates"]["packets"] > 1000
    # The same packets at the same nanoseconds.
    assert ns2["parts"] is None
    for name in ("retransmissions", "timeouts", "goodput_kbps", "delay_ms"):
        assert ns2[name] == pytest.approx(engine[name], rel=1e-12), name
    one = flows == 1
    assert ns2["fairness"] == (None if one else pytest.approx(engine["fairness"], rel=1e-12))


@needs_ns2
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_ns2_is_compared_with_the_profile_that_models_its_tcp(tmp_path: Path) -> None:
    slots = range(20_000)
    trace = clift.PhyTrace([s * 10**6 for s in slots], [(s % 50 > 0) * 10**6 for s in slots], 33)
    trace.write(tmp_path / "x.parquet")
    text = 'duration = "15 s"\nscheme = "ARQ"\nlink.rtt = "100 ms"\ntrace.file = "x.parquet"\n'
    (tmp_path / "x.toml").write_text(text + '[transport]\ncongestion = "newreno"\n')
    found = crosscheck(clift.Scenario.read(tmp_path / "x.toml"), ("engine", "ns2"))
    assert {host: one["tcp"] for host, one in found.items()} == {
        "engine": "CLIFT, profile linux",
        "engine_papers": "CLIFT, profile papers",
        "ns2": "ns-2, Agent/TCP/Linux reno",
    }
    assert found["ns2"]["fates"]["agree"]
    assert found["ns2"]["parts"] is None
    papers, linux = found["engine_papers"]["goodput_kbps"], found["engine"]["goodput_kbps"]
    assert found["ns2"]["goodput_kbps"] == pytest.approx(papers, rel=1e-12) != linux


@needs_ns2
@pytest.mark.parametrize("flows", [1, 2])
def test_files_take_as_long_in_ns2(flows: int, tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(LINK + '[application]\ntype = "file"\nsize = "300 kB"\n')
    scenario = clift.Scenario.read(tmp_path / "x.toml", {"flows": str(flows)})
    found = crosscheck(scenario, ("engine", "ns2"))
    engine, ns2 = found["engine"]["completion_s"], found["ns2"]["completion_s"]
    assert ns2 == pytest.approx(engine, rel=0.1)


@needs_ns3
def test_ns3_gives_our_packets_the_same_fate(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(LINK)
    scenario = clift.Scenario.read(tmp_path / "x.toml", {"flows": "2"})
    found = crosscheck(scenario, ("engine", "ns3"))
    assert found["ns3"]["fates"]["agree"]
    assert found["ns3"]["goodput_kbps"] > 20
    assert 0.5 <= found["ns3"]["fairness"] <= 1


def test_hosts_that_are_left_out_are_named(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(LINK + '[[flow]]\n[[flow]]\nstart = "1 s"\n')
    done = command.clift("crosscheck", tmp_path / "x.toml", "--json")
    assert list(json.loads(done.stdout)["hosts"]) == ["engine"]
    told = done.stderr.splitlines()
    assert [line.split()[0] for line in told] == ["ns2", "ns3", "live"]
    assert all("flows of one kind" in line for line in told)


def test_more_segments_than_memory_holds_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clift.hosts.crosscheck.MOST_SEGMENTS", 100)
    text = '[[path]]\nleg = { rate = "2 Mbit/s", delay = "9 ms", queue = "20 packets" }'
    with pytest.raises(
        ScenarioError, match=r"the engine sends \d+ segments, .* 100 at most; set a"
    ):
        crosscheck(clift.Scenario.parse(text), ("engine",))


def test_a_limit_that_a_kernel_does_not_have_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise ScenarioError("no kernel")

    monkeypatch.setattr("clift.hosts.crosscheck.hindrances", list)
    monkeypatch.setattr("clift.hosts.crosscheck.run_live", refuse)
    text = 'duration = "1 s"\ntransport.cwnd_max = "90 packets"\n[[path]]\nleg.delay = "9 ms"'
    told: list[str] = []
    crosscheck(clift.Scenario.parse(text), ("live",), told.append)
    assert told[0] == "live: cwnd_max of 90 packets does not limit the kernel's window"
    assert told[-1] == "live is left out: no kernel"


def test_a_fate_that_differs_from_the_link_is_reported(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text('[[path]]\nleg = { rate = "8 Mbit/s", delay = "5 ms" }\n')
    scenario = clift.Scenario.read(tmp_path / "x.toml")
    arrivals = [Arrival(0, 1000, 0, 0, 0), Arrival(0, 1000, 0, 0, 0)]
    true = [("departed", 0, 0), ("departed", 1, 1_000_000)]
    true += [("delivered", 0, 6_000_000), ("delivered", 1, 7_000_000)]
    assert Log(arrivals, true).disagreements(scenario, 0) == []
    late = [*true[:3], ("delivered", 1, 7_000_001)]
    expected = [
        "packet 1 was delivered at 7000001 ns in the host only",
        "packet 1 should be delivered at 7000000 ns",
    ]
    assert Log(arrivals, late).disagreements(scenario, 0) == expected
    assert len(Log(arrivals, true[:2] + true[3:]).disagreements(scenario, 0)) == 1


@pytest.mark.skipif(
    not (ROOT / "target/c/libclift.so").exists() or shutil.which("pkg-config") is None,
    reason="skipped: no C interface (`make c`), or no pkg-config",
)
def test_the_guide_to_c_holds(tmp_path: Path) -> None:
    guide = (ROOT / "docs/guides/c.md").read_text()
    [program] = re.findall(r"```c\n(.*?)```", guide, flags=re.DOTALL)
    [commands] = re.findall(r"```console\n(.*?)```", guide, flags=re.DOTALL)
    (tmp_path / "own.c").write_text(program)
    for name in ("target", "hosts"):
        (tmp_path / name).symlink_to(ROOT / name)
    lines = [line[2:] for line in commands.splitlines()]
    done = subprocess.run(
        " && ".join(lines), shell=True, cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"(packet \d at \d+ ns\n){5}", done.stdout)


@needs_ns2
def test_the_guide_to_ns2_holds(tmp_path: Path) -> None:
    guide = (ROOT / "docs/guides/ns2.md").read_text()
    [script] = re.findall(r"```tcl\n(.*?)```", guide, flags=re.DOTALL)
    (tmp_path / "x.tcl").write_text(script + "puts [$ns link $satellite $terminal]\n")
    done = subprocess.run(
        ["ns", tmp_path / "x.tcl"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("_o")
    assert done.stderr == ""
    done = subprocess.run(
        ["ns", "hosts/ns2/examples/geo_mobile.tcl", "bad", "400"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [line for line in done.stdout.splitlines() if not line.startswith("cmd")]
    assert len(lines) == 7
    for line in lines[-5:]:
        name, *values = line.split()
        [row] = [row for row in guide.splitlines() if row.startswith(f"| {name} ")]
        cells = [cell.strip() for cell in row.split("|")]
        assert cells[2:8:2] == values
