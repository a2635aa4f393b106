"""The module for ns-3: its own tests, and its examples, with every ns-3 for which it is built."""

import json
import re
import subprocess
from pathlib import Path

import pytest

import clift

ROOT = Path(__file__).parents[1]
MODULE = ROOT / "hosts" / "ns3" / "contrib" / "clift"
WHEELS = sorted(ROOT.glob("target/ns3/venv/lib/python3*/site-packages/ns3/include"))

LEGS = """
duration = "20 s"
[[path]]
leg = { rate = "2 Mbit/s", delay = "50 ms", queue = "50 packets", LOSS }
[return]
[[return.path]]
leg = { rate = "2 Mbit/s", delay = "50 ms" }
"""


VERSIONS = sorted(file.parent.name for file in ROOT.glob("target/ns3/*/libns3-clift.so"))
no_ns3 = pytest.param("", marks=pytest.mark.skip("skipped: no module for ns-3 (`make ns3`)"))
each_version = pytest.mark.parametrize("version", VERSIONS or [no_ns3])


def program(version: str, name: str) -> str:
    """A program of the module."""
    return str(ROOT / "target" / "ns3" / version / name)


def bulk(version: str, scenario: Path, *options: str) -> dict[str, object]:
    """What the example prints of one bulk flow."""
    command = [program(version, "clift-bulk"), f"--scenario={scenario}", "--json", *options]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stderr == ""
    return dict(json.loads(done.stdout))


def legs(tmp_path: Path, loss: str) -> Path:
    """A scenario of wired legs."""
    file = tmp_path / "legs.toml"
    file.write_text(LEGS.replace("LOSS", loss))
    return file


@each_version
def test_fates_attributes_queue_discs_and_errors(version: str, tmp_path: Path) -> None:
    command = [program(version, "clift-test-runner"), "--suite=clift", "--verbose"]
    command += ["--fullness=EXTENSIVE", f"--tempdir={tmp_path}"]
    done = subprocess.run(command, capture_output=True, text=True)
    lines = done.stdout.splitlines()
    assert done.returncode == 0, [line for line in lines if "PASS" not in line]
    assert lines[0].startswith("PASS clift")
    assert sum(line.startswith("  PASS fates: ") for line in lines) >= 16


@each_version
def test_a_window_a_round_trip_and_one_loss_do_what_arithmetic_says(
    version: str, tmp_path: Path
) -> None:
    scenario = legs(tmp_path, "lost_data = [500]")
    options = ("--duration=20", "--window=10", "--congestion=newreno")
    run = bulk(version, scenario, *options)
    # Ten segments a round trip: there and back 100 ms, 1500 bytes on the wire and 52 back.
    rtt = 0.1 + 8 * (1500 + 52) / 2e6
    assert run["goodput_kbps"] == pytest.approx(10 * 1448 * 8e-3 / rtt, rel=0.05)
    assert (run["timeouts"], run["lost"], run["dropped"]) == (0, 1, 0)
    # ns-3.37 sends most of the window again.
    assert 1 <= int(str(run["retransmissions"])) <= 10
    # The packets of a window stand one behind the other at most.
    assert 50 + 6 - 0.1 < float(str(run["packet_delay_ms"])) < 50 + 10 * 6 + 0.1
    assert run["version"] == version


@each_version
def test_a_transfer_ends_when_its_last_byte_is_there(version: str, tmp_path: Path) -> None:
    scenario = legs(tmp_path, "loss = 0")
    run = bulk(version, scenario, "--bytes=1448", "--duration=20")
    # A SYN and its answer (56 bytes in ns-3), an acknowledgement and the segment.
    headers = 8 * (2 * 56 + 52 + 1500) / 2e6
    assert run["completion_s"] == pytest.approx(3 * 0.05 + headers, abs=2e-4)
    assert (run["bytes"], run["segments"]) == (1448, 1)


@each_version
def test_the_engine_and_ns3_lose_the_same_packets_of_a_stream(version: str, tmp_path: Path) -> None:
    scenario = legs(tmp_path, "lost_data = [40, 300, 301, 900, 1500]")
    hosted = bulk(version, scenario, "--duration=20", "--congestion=newreno")
    run = clift.simulate(clift.Scenario.read(scenario, {"transport.congestion": "newreno"}))
    engine = run.summary()["flows"][0]
    assert (hosted["lost"], hosted["dropped"]) == (5, 0)
    assert hosted["retransmissions"] == engine["retransmissions"] == 5
    assert hosted["goodput_kbps"] == pytest.approx(run.goodput_kbps, rel=0.02)


def links() -> dict[str, str]:
    """Links of every kind, by the texts that the core is tested with."""
    text = (ROOT / "core/tests/way.rs").read_text()
    found = re.findall(r'\(\s*"(\w+)",\s*"((?:[^"\\]|\\.)*)",?\s*\)', text)
    return {name: json.loads(f'"{link}"') for name, link in found}


CHANNEL = """
[channel]
model = "bernoulli"
erasures = "5 %"
rate = "1 Mbit/s"
lldu = "250 B"
"""


@each_version
@pytest.mark.parametrize("kind", links())
def test_segments_of_the_engine_meet_the_same_fate_in_ns3(
    kind: str, version: str, tmp_path: Path
) -> None:
    own_channel = links()[kind].startswith("[")
    channel = "" if own_channel else CHANNEL
    file = tmp_path / "link.toml"
    tcp = 'transport = { congestion = "cubic", profile = "papers", cwnd_max = "100 packets" }'
    file.write_text(f'seed = 5\nduration = "20 s"\n{tcp}\n{links()[kind]}{channel}')
    events = clift.simulate(clift.Scenario.read(file)).events().to_pylist()
    sent = [event for event in events if event["kind"] in (0, 1)]
    lines = [f"{e['time_ns']} {e['len'] + 52} {e['seq']} {e['seq'] + e['len']}\n" for e in sent]
    command = [program(version, "clift-fates"), f"--scenario={file}"]
    done = subprocess.run(command, input="".join(lines), capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    fates = [tuple(map(int, line.split())) for line in done.stdout.splitlines()]
    end = 20_000_000_000
    settled = [
        (fate, at, event["seq"]) for (fate, at), event in zip(fates, sent, strict=True) if at <= end
    ]
    delivered = sorted((at, seq) for fate, at, seq in settled if fate == 0)
    received = sorted((e["time_ns"], e["seq"]) for e in events if e["kind"] in (2, 3))
    assert delivered == received
    assert len(delivered) > 100
    # A leg tells a loss once the packet was sent, the engine as soon as that is known.
    lost = sum(fate in (1, 2) for fate, _, _ in settled)
    gone = sum(event["kind"] == 4 for event in events)
    assert gone - 5 <= lost <= gone


@each_version
def test_a_seed_decides_and_nothing_else(version: str) -> None:
    scenario = MODULE / "examples" / "geo.toml"
    changed = "--changes=scheme=none"
    runs = [
        bulk(version, scenario, changed, "--duration=20", *seed)
        for seed in ((), ("--seed=1",), ("--seed=1", "--RngRun=7"), ("--seed=2",))
    ]
    assert runs[0] == runs[1] == runs[2] != runs[3]


@each_version
@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--scenario=/nowhere/x.toml"], "error: /nowhere/x.toml: cannot be read"),
        ([f"--scenario={MODULE}/examples/geo.toml", "--changes=link.rat=1"], "link.rat: unknown"),
        ([f"--scenario={MODULE}/examples/geo.toml", "--congestion=tahoe"], "no ns3::tahoe"),
        ([f"--scenario={MODULE}/examples/geo.toml", "--seed=x"], 'error: seed "x"'),
        ([], "error: give either --scenario=FILE or --rate=RATE"),
    ],
)
def test_errors_give_one_line(version: str, options: list[str], error: str) -> None:
    done = subprocess.run(
        [program(version, "clift-bulk"), *options], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert error in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.long
@pytest.mark.skipif(not WHEELS, reason="skipped: no wheel of ns-3 (`make hosts-deps`)")
def test_python_and_cxx_get_the_same() -> None:
    [core] = WHEELS[0].parent.glob("lib64/libns3.*-core.so")
    version = core.name.removeprefix("libns").removesuffix("-core.so")
    scenario = MODULE / "examples" / "geo.toml"
    python = ROOT / "target/ns3/venv/bin/python"
    command = [python, MODULE / "examples/clift-first.py", "--build", ROOT / "target/ns3" / version]
    done = subprocess.run([*command, scenario], check=True, capture_output=True, text=True)
    ours = json.loads(done.stdout.splitlines()[-1])
    command = [program(version, "clift-first"), scenario]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    received, hops = done.stdout.splitlines()
    assert received == f"received {ours['received']} bytes"
    assert json.loads(hops) == ours["hops"]
    assert ours["received"] > 100_000


GUIDE = (ROOT / "docs" / "guides" / "ns3.md").read_text()


def commands(version: str) -> str:
    """The commands of the guide for a version of ns-3, in their order."""
    lines = [
        line
        for block in re.findall(r"```console\n(.*?)```", GUIDE, re.DOTALL)
        for line in block.splitlines()
    ]
    shown = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    wheels = [n for n, line in enumerate(shown) if "venv" in line]
    first = wheels[0]
    chosen = shown[:first] if version == "3.37" else shown[first:]
    return "\n".join(line for line in chosen if not line.startswith("make "))


@pytest.mark.long
@each_version
def test_the_commands_of_the_guide_run(version: str) -> None:
    if version not in ("3.37", "3.44"):
        pytest.skip(f"skipped: the guide has no commands for ns-3 {version}")
    script = commands(version)
    assert script.count("g++ ") == 1
    done = subprocess.run(["bash", "-ec", script], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "received " in done.stdout
