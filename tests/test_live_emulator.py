"""The live emulator: real applications over a link between two namespaces of this kernel."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import command
import pytest

import clift
from clift import _clift
from clift.hosts.live import LiveRun, hindrances

_HINDRANCES = hindrances()
live_only = pytest.mark.skipif(
    bool(_HINDRANCES), reason=f"skipped: no live links here: {'; '.join(_HINDRANCES)}"
)
LEG = '[[path]]\nleg = { rate = "20 Mbit/s", delay = "50 ms", queue = "100 packets" }\n'
ARQ = """
seed = 4
duration = "30 s"
scheme = "ARQ"
link = { rtt = "60 ms", reorder = { key = "tcp" } }
[channel]
model = "gilbert-elliott"
erasures = "2 %"
burst = 4
rate = "4 Mbit/s"
lldu = "250 B"
"""
TRAFFIC = f"{sys.executable} -m clift.hosts.traffic"


def live(
    folder: Path, *arguments: str, text: str = LEG, **more: str
) -> subprocess.CompletedProcess[str]:
    """Runs `clift live` over a scenario."""
    (folder / "x.toml").write_text(text)
    command = [sys.executable, "-m", "clift", "live", "x.toml", *arguments]
    environment = os.environ | more
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, env=environment, timeout=300
    )


def processes(word: str) -> list[int]:
    """Processes whose command line holds a word."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if word.encode() in line:
                found.append(int(entry.name))
    return found


@live_only
def test_a_round_trip_takes_as_long_as_the_links(tmp_path: Path) -> None:
    serve = "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
    serve += "s.bind(('', 7))\nwhile True: s.sendto(*s.recvfrom(99))"
    ask = "import socket, sys, time; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
    ask += "for _ in range(5):\n b = time.monotonic(); s.sendto(b'x', (sys.argv[1], 7))\n"
    ask += " s.recv(9); print(time.monotonic() - b)"
    (tmp_path / "serve.py").write_text(serve)
    command = ["--serve", f"{sys.executable} serve.py", "--", sys.executable, "-c", ask, "{peer}"]
    done = live(tmp_path, *command)
    assert done.returncode == 0, done.stderr
    times = [float(line) for line in done.stdout.split()]
    assert len(times) == 5
    # A machine may be late, the link never early.
    assert min(times) >= 0.1
    assert "there: 5 offered, 0 dropped, 0 lost packets" in done.stderr


@live_only
def test_fates_of_a_kernels_packets_are_those_of_the_link_alone(tmp_path: Path) -> None:
    command = ["--log", "log", "--report", "r.json", "--congestion", "reno"]
    command += ["--serve", f"{TRAFFIC} serve counted --flows 2", "--", *TRAFFIC.split()]
    command += ["send", "counted", "{peer}", "--seconds", "3", "--flows", "2"]
    done = live(tmp_path, *command, text=ARQ)
    assert done.returncode == 0, done.stderr
    goodputs = [flow["goodput_kbps"] for flow in json.loads(done.stdout)["flows"]]
    assert len(goodputs) == 2
    assert 1000 < sum(goodputs) < 4000
    setup = clift.Scenario.read(tmp_path / "x.toml").setup()
    for direction, name in enumerate(("log", "log.back")):
        rows = [line.split() for line in (tmp_path / name).read_text().splitlines()]
        arrivals = [
            (int(at), int(size), int(flow), int(first), int(end))
            for kind, *rest in rows
            if kind == "arrival"
            for _, at, size, _, flow, first, end in [rest]
        ]
        events = {(kind, int(number), int(at)) for kind, number, at, *_ in rows if kind[0] != "a"}
        alone = set(_clift.replay(setup, direction, arrivals))
        assert len(arrivals) > 200
        # The rest was on its way when the command ended.
        assert events <= alone
        assert len(events) > len(alone) * 0.3
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["packets"] == report["there"]["delivered"] + report["back"]["delivered"]
    assert sum(count for _, count in report["late_steps"]) == report["packets"]


@live_only
def test_memory_that_stays_is_not_memory_that_was_only_reserved() -> None:
    # An allocator reserves a gigabyte; locking that in made a machine of 2 GB kill the run.
    program = (
        "import re, clift\n"
        "from clift.hosts.live import run_live\n"
        f"run_live(clift.Scenario.parse({LEG!r}), ['true'])\n"
        "print(re.search(r'VmHWM:\\s+(\\d+) kB', open('/proc/self/status').read())[1])"
    )
    peak = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=300
    )
    assert int(peak.stdout) < 500_000


@live_only
@pytest.mark.parametrize(
    ("script", "code"), [("exit 7", 7), ("kill -9 $$", 137), ("exec nosuchcommand", 127)]
)
def test_the_exit_code_is_the_commands(script: str, code: int, tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(LEG)
    assert command.clift("live", tmp_path / "x.toml", "--", "sh", "-c", script).returncode == code


@live_only
def test_a_command_runs_as_the_caller_and_rules_its_own_network_only(tmp_path: Path) -> None:
    script = "id -u; id -g; grep CapEff /proc/self/status | cut -f 2; "
    script += "cat /proc/sys/net/ipv4/ip_unprivileged_port_start; "
    script += "touch /proc/1/oom_score_adj 2>/dev/null && echo may"
    done = live(tmp_path, "--", "sh", "-c", script, SUDO_UID="65534", SUDO_GID="65534")
    user, group, rights, port, *others = done.stdout.split()
    if os.geteuid() == 0:
        assert (user, group) == ("65534", "65534")
        # Low ports, administration of the network, raw sockets.
        assert int(rights, 16) == 1 << 10 | 1 << 12 | 1 << 13
        assert others == []
    assert port == "0"


@live_only
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_after_any_end(how: signal.Signals, tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(LEG)
    word = f"98765{how.value}.25"
    command = [sys.executable, "-m", "clift", "live", "x.toml", "--serve", f"sleep {word}0"]
    process = subprocess.Popen(
        [*command, "--", "sh", "-c", f"sleep {word}1 & sleep {word}2"],
        cwd=tmp_path,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + 300
    while not any("sleep" in Path(f"/proc/{p}/comm").read_text() for p in processes(f"{word}2")):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(how)
    assert process.wait(timeout=300) == (-9 if how == signal.SIGKILL else 128 + how)
    while processes(word):
        assert time.monotonic() < deadline
        time.sleep(0.05)


@live_only
def test_errors_give_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for arguments, text, expected in (
        (["--", "true"], LEG + "[vary]\nseed = [1, 2]\n", "choose by --set: seed"),
        ([], LEG, "give a command to run"),
        (["--log", "none/log", "--", "true"], LEG, "none/log: No such file"),
        (["--", "true"], "[link]\nrat = 1\n", "link.rat: unknown key"),
        (["--congestion", "nosuch", "--", "true"], LEG, "has no congestion control nosuch"),
    ):
        Path("x.toml").write_text(text)
        done = command.clift("live", "x.toml", *arguments)
        assert done.returncode == 2, done.stderr
        assert expected in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1


@live_only
# Whether packets still wait when the trace ends depends on the clock of a busy machine.
@pytest.mark.long
def test_the_end_of_a_trace_is_reported(tmp_path: Path) -> None:
    text = ARQ.replace(', reorder = { key = "tcp" }', "") + 'length = "1 s"\n'
    command = ["--serve", f"{TRAFFIC} serve c", "--", "timeout", "2", *TRAFFIC.split(), "send", "c"]
    done = live(tmp_path, *command, "{peer}", "--seconds", "9", text=text)
    assert "this run is not valid: the trace or channel of a link ended at" in done.stderr


def test_a_late_run_does_not_count() -> None:
    counts = {"offered": 9, "dropped": 0, "delivered": 9, "lost": 0, "refused": 0}
    late = {"p50": 1000, "p99": 3_000_000, "p999": 3_000_000, "max": 3_000_000}
    run = LiveRun(0, 1.0, 9, late, True, 0.1, counts, counts, None, [(4_096_000, 9)])
    assert "more than 3 ms late" in run.faults()[0]
    assert run.faults(late_ms=5) == []
    refusing = LiveRun(0, 1.0, 9, late, True, 0.1, counts | {"refused": 2}, counts, None, [])
    assert "2 packets were not taken" in refusing.faults(5)[0]


def test_check_reports_the_possible_live_runs() -> None:
    done = command.clift("live", "--check")
    assert done.returncode == (2 if _HINDRANCES else 0)
    assert done.stdout.strip()
