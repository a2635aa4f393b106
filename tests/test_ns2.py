"""The plugin for ns-2: packets meet the fate in `ns` that they meet in the link alone."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PLUGIN = ROOT / "target/ns2/clift.so"
HOSTS = ROOT / "hosts/ns2"

pytestmark = pytest.mark.skipif(
    not PLUGIN.exists() or shutil.which("ns") is None,
    reason="skipped: the ns-2 plugin is not built (`make ns2`), or there is no ns",
)

CHANNEL = """
[channel]
model = "gilbert-elliott"
erasures = "5 %"
burst = 10
rate = "1 Mbit/s"
lldu = "250 B"
"""
# Every kind of link, and paths of several hops.
LINKS = {
    "none": 'scheme = "none"\nlink.rtt = "60 ms"' + CHANNEL,
    "fec": 'scheme = "FEC(10/12)"\nlink.rtt = "60 ms"' + CHANNEL,
    "interleaved": 'scheme = "FEC(10/12, interleave 8)"\nlink.rtt = "60 ms"' + CHANNEL,
    "arq": 'scheme = "ARQ"\nlink = { rtt = "60 ms", queue = "20 packets" }' + CHANNEL,
    "harq": 'scheme = "HARQ(10/12)"\nlink.rtt = "500 ms"' + CHANNEL,
    "overlap": 'scheme = "ARQ"\nlink = { rtt = "60 ms", overlap = "papers" }' + CHANNEL,
    "bytes": 'scheme = "ARQ"\nlink = { rtt = "60 ms", packing = "bytes" }' + CHANNEL,
    "live": 'scheme = "ARQ(max 3)"\nlink = { rtt = "60 ms", live = true, feedback_loss = "5 %" }'
    + CHANNEL,
    "buffer": 'scheme = "ARQ"\nlink = { rtt = "60 ms", reorder = { packets = 20 } }' + CHANNEL,
    "streams": 'scheme = "ARQ"\nlink = { rtt = "60 ms", reorder = { key = "tcp" } }' + CHANNEL,
    "hybrid": '[hybrid]\nk = 10\nn = 11\nframes = 60\nrate = "2 Mbit/s"\ndelay = "40 ms"\n'
    'loss = "2 %"',
    "ntn": '[ntn]\nslot = "1 ms"\ntb = "180 B"\ndelay = "20 ms"',
    "adaptive": '[adaptive_harq]\npreset = "its"\nsnr = "10 dB"\nrate = "5 Mbit/s"\n'
    'delay = "20 ms"',
    "path": '[[path]]\nleg = { rate = "3 Mbit/s", delay = "5 ms", loss = "1 %" }\n[[path]]\n'
    'scheme = "ARQ"\nlink = { rtt = "60 ms", queue = "6 packets" }\nchannel = { model = '
    '"bernoulli", erasures = "5 %", rate = "1 Mbit/s", lldu = "250 B" }',
}

# TCP one way, datagrams beside it, acknowledgements the other way.
TRAFFIC = """
load %s
set ns [new Simulator]
set trace [open trace.tr w]
$ns trace-all $trace
set n0 [$ns node]
set n1 [$ns node]
%s
set monitor [$ns monitor-queue $n0 $n1 [open monitor w] 0.1]
set tcp [new Agent/TCP/Linux]
$tcp set timestamps_ true
$tcp set window_ 60
$tcp set packetSize_ 948
set sink [new Agent/TCPSink/Sack1]
$sink set ts_echo_rfc1323_ true
$ns attach-agent $n0 $tcp
$ns attach-agent $n1 $sink
$ns connect $tcp $sink
set ftp [new Application/FTP]
$ftp attach-agent $tcp
$ns at 0 "$ftp start"
set udp [new Agent/UDP]
set null [new Agent/Null]
$ns attach-agent $n0 $udp
$ns attach-agent $n1 $null
$ns connect $udp $null
set cbr [new Application/Traffic/CBR]
$cbr set rate_ 100kb
$cbr set packetSize_ 300
$cbr set random_ 1
$cbr attach-agent $udp
$ns at 0.1 "$cbr start"
proc finish {} {
    global ns n0 n1 monitor trace
    $ns flush-trace
    close $trace
    foreach {from to} [list $n0 $n1 $n1 $n0] { catch { [[$ns link $from $to] set link_] flush } }
    puts [[$ns link $n0 $n1] report]
    puts "[$monitor set parrivals_] [$monitor set pdepartures_] [$monitor set pdrops_]"
    exit 0
}
$ns at %s finish
$ns run
"""


def run_ns(folder: Path, link: str, until: float = 20) -> list[str]:
    """Runs the traffic over a link; what the script prints."""
    script = folder / "x.tcl"
    script.write_text(TRAFFIC % (PLUGIN, link, until))
    done = subprocess.run(["ns", script], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr.replace("cmd select_ca reno\n", "") == ""
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def replay(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The C program that replays a log."""
    made = tmp_path_factory.mktemp("c") / "program"
    source = ROOT / "bindings/c/tests/program.c"
    command = ["cc", "-O1", "-I", ROOT / "target/c", source, ROOT / "target/c/libclift.a"]
    subprocess.run([*command, "-lpthread", "-ldl", "-lm", "-o", made], check=True)
    return made


@pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=[pytest.mark.long] if one == "adaptive" else []) for one in LINKS],
)
def test_fates_are_those_of_the_link_alone(name: str, replay: Path, tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(f'seed = 3\nduration = "30 s"\n{LINKS[name]}\n')
    printed = run_ns(tmp_path, "$ns clift-link $n0 $n1 x.toml -log log")
    for direction, file in enumerate(("log", "log.back")):
        log = (tmp_path / file).read_text()
        command = [replay, "replay", "x.toml", str(direction)]
        done = subprocess.run(
            command, cwd=tmp_path, input=log, check=True, capture_output=True, text=True
        )
        # What was on the way when ns stopped has no fate there.
        lines = log.splitlines()
        assert len(lines) > 500
        fates = {line for line in done.stdout.splitlines() if not line.startswith("arrival")}
        assert {line for line in lines if not line.startswith("arrival")} <= fates
        arrivals = [line for line in lines if line.startswith("arrival")]
        assert arrivals == [x for x in done.stdout.splitlines() if x.startswith("arrival")]
        late = [line for line in fates - set(lines) if int(line.split()[2]) < 20_000_000_000]
        assert late == []
    # ns-2's own monitors and traces count what the link counts.
    report = json.loads(printed[0])
    offered, departed, dropped = (int(float(count)) for count in printed[1].split())
    log = (tmp_path / "log").read_text().splitlines()
    count = {kind: sum(line.startswith(kind) for line in log) for kind in ("departed", "lost")}
    assert offered == report[0]["offered"]
    assert dropped == report[0]["dropped"]
    assert departed == count["departed"]
    trace = [line.split() for line in (tmp_path / "trace.tr").read_text().splitlines()]
    there = [row[0] for row in trace if row[2:4] == ["0", "1"]]
    assert there.count("+") == offered
    assert there.count("-") == departed
    assert there.count("d") == dropped + count["lost"]


def test_a_queue_of_ns_stands_before_the_link(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(f'scheme = "ARQ"\nlink.rtt = "60 ms"{CHANNEL}')
    link = "$ns clift-link $n0 $n1 x.toml -queue DropTail\n$ns queue-limit $n0 $n1 7"
    _, monitored = run_ns(tmp_path, link)
    offered, departed, dropped = (int(float(count)) for count in monitored.split())
    assert dropped > 10
    assert departed > 1000
    assert 0 <= offered - departed - dropped <= 7
    trace = [line.split() for line in (tmp_path / "trace.tr").read_text().splitlines()]
    waiting = longest = 0
    for row in (row for row in trace if row[2:4] == ["0", "1"] and row[0] in "+-d"):
        waiting += 1 if row[0] == "+" else -1
        longest = max(longest, waiting)
    assert longest == 7


def test_the_calls_of_ns_know_the_type(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(f'scheme = "ARQ"\nlink.rtt = "60 ms"{CHANNEL}')
    (tmp_path / "back.toml").write_text('[[path]]\nleg = { delay = "123 ms" }\n')
    whole = run_ns(tmp_path, "$ns duplex-link $n0 $n1 0 0 Clift x.toml")
    assert whole == run_ns(tmp_path, "$ns clift-link $n0 $n1 x.toml")
    own = run_ns(tmp_path, "$ns duplex-link $n0 $n1 0Mb 0ms Clift x.toml back.toml")
    assert own != whole
    assert own == run_ns(tmp_path, "$ns clift-link $n0 $n1 x.toml -back back.toml")
    simple = (
        "$ns simplex-link $n0 $n1 0 0 Clift x.toml\n$ns simplex-link $n1 $n0 1Mb 123ms DropTail"
    )
    assert len(run_ns(tmp_path, simple, until=5)) == 2


BOTH_WAYS = """
load %s
set ns [new Simulator]
set n0 [$ns node]
set n1 [$ns node]
$ns clift-link $n0 $n1 x.toml -log log %s
foreach {from to} [list $n0 $n1 $n1 $n0] {
    set udp [new Agent/UDP]
    set null [new Agent/Null]
    $ns attach-agent $from $udp
    $ns attach-agent $to $null
    $ns connect $udp $null
    set cbr [new Application/Traffic/CBR]
    $cbr set packetSize_ 250
    $cbr set interval_ 0.01
    $cbr attach-agent $udp
    $ns at 0 "$cbr start"
}
proc finish {} {
    global ns n0 n1
    foreach {from to} [list $n0 $n1 $n1 $n0] { [[$ns link $from $to] set link_] flush }
    exit 0
}
$ns at 15 finish
$ns run
"""


def test_both_ways_by_one_file_draw_again_unless_told_not_to(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(f'seed = 3\nduration = "30 s"\nscheme = "none"{CHANNEL}')

    def lost(options: str) -> list[set[str]]:
        (tmp_path / "x.tcl").write_text(BOTH_WAYS % (PLUGIN, options))
        subprocess.run(["ns", "x.tcl"], cwd=tmp_path, check=True)
        logs = [(tmp_path / name).read_text().splitlines() for name in ("log", "log.back")]
        return [{row.split()[1] for row in log if row.startswith("lost")} for log in logs]

    there, back = lost("-back x.toml")
    assert len(there) > 20
    assert there != back
    assert lost("-back x.toml") == [there, back]
    assert lost("-back x.toml -back-seed 3") == [there, there]
    assert lost("-back x.toml -back-seed 4")[1] not in (there, back)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("clift-link $n0 $n1 none.toml", "none.toml: cannot be read"),
        ("clift-link $n0 $n1 x.toml -what 1", "no option -what"),
        ("clift-link $n0 $n1 x.toml -seed one", "-seed one: give a whole number"),
        ("clift-link $n0 $n1 x.toml -set {link.rat 1}", "link.rat: unknown key"),
        ("clift-link $n0 $n1 x.toml -hop 4", "hop 4 does not exist"),
        ("clift-link $n0 $n1 x.toml -queue RED", "give -bandwidth"),
        ("clift-link $n0 $n1 x.toml\n$ns queue-limit $n0 $n1 5", "link.queue"),
        ("duplex-link $n0 $n1 0 0 Clift", "a scenario file"),
    ],
)
def test_errors_are_reported(call: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(f'scheme = "ARQ"\nlink.rtt = "60 ms"{CHANNEL}')
    script = tmp_path / "x.tcl"
    script.write_text(
        f"load {PLUGIN}\nset ns [new Simulator]\nset n0 [$ns node]\nset n1 [$ns node]\n$ns {call}\n"
    )
    done = subprocess.run(["ns", script], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode != 0
    assert expected in done.stderr


@pytest.mark.parametrize(("example", "rows"), [("geo_mobile", 7), ("network", 4)])
def test_the_examples_run(example: str, rows: int) -> None:
    arguments = ["bad", "40"] if example == "geo_mobile" else ["20"]
    command = ["ns", HOSTS / "examples" / f"{example}.tcl", *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if not line.startswith("cmd ")]
    assert len(lines) == rows
    assert done.stderr.replace("cmd", "") == done.stderr
