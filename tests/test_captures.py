"""Captures of runs: what tshark and our own reader find in them."""

import json
import re
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clift
from clift import _clift
from clift.cli.main import run as command
from clift.errors import ScenarioError, TraceError
from clift.hosts.live import hindrances, run_live

TSHARK = shutil.which("tshark")
needs_tshark = pytest.mark.skipif(TSHARK is None, reason="skipped: there is no tshark")
CHANNEL = """
seed = 3
duration = "6 s"
link = { rtt = "300 ms", queue = "60 packets" }
[channel]
model = "gilbert-elliott"
erasures = "2 %"
burst = 4
rate = "4 Mbit/s"
lldu = "250 B"
"""
LEG = """
duration = "6 s"
[[path]]
leg = { rate = "5 Mbit/s", delay = "40 ms", queue = "30 packets", loss = "0.5 %" }
"""


def tshark(path: Path, *arguments: str) -> list[str]:
    done = subprocess.run(
        [str(TSHARK), "-r", str(path), *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


def recorded(text: str, path: Path, snap: int = 80) -> dict[str, Any]:
    scenario = clift.Scenario.parse(text)
    run = clift.simulate(scenario)
    assert run.capture(path, snap) > 0
    return dict(run.summary())


CASES = {
    "leg, papers, newreno": (LEG, "papers", "newreno"),
    "ARQ, linux, cubic": ('scheme = "ARQ"' + CHANNEL, "linux", "cubic"),
    "HARQ, papers, newreno": ('scheme = "HARQ(10/12)"' + CHANNEL, "papers", "newreno"),
    "none, linux, bbr": ('scheme = "none"' + CHANNEL, "linux", "bbr"),
}


@needs_tshark
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("case", CASES)
def test_tshark_finds_the_retransmissions_that_we_count(case: str, tmp_path: Path) -> None:
    text, profile, congestion = CASES[case]
    text += f'[transport]\nprofile = "{profile}"\ncongestion = "{congestion}"\n'
    path = tmp_path / "x.pcapng"
    summary = recorded(text, path)
    marks = ("retransmission", "fast_retransmission", "spurious_retransmission", "out_of_order")
    fields = [f"tcp.analysis.{mark}" for mark in marks]
    rows = tshark(
        path,
        *("-Y", "frame.interface_name == sender && ip.src == 192.0.2.1 && tcp.len > 0"),
        *("-T", "fields", "-E", "separator=/t"),
        *(part for name in ("frame.comment", *fields) for part in ("-e", name)),
    )
    assert len(rows) == summary["segments_sent"]
    ours, theirs = set(), set()
    for number, row in enumerate(rows):
        comment, *marked = row.split("\t")
        if "retransmission" in comment:
            ours.add(number)
        if any(marked):
            theirs.add(number)
    assert len(ours) == summary["retransmissions"] > 0
    assert theirs == ours
    # A frame that is damaged, or whose checksum is wrong, would be an error or a warning of another
    # group than that of TCP's sequence numbers.
    checks = [part for layer in ("ip", "tcp") for part in ("-o", f"{layer}.check_checksum:TRUE")]
    expert = tshark(path, *checks, "-q", "-z", "expert,warn")
    groups = {line.split()[1] for line in expert if re.match(r"\s+\d+\s", line)}
    assert groups <= {"Sequence"}, expert


@needs_tshark
@pytest.mark.parametrize("protocol", ["tcp", "udp", "quic"])
def test_lengths_and_checksums_are_right(protocol: str, tmp_path: Path) -> None:
    """`validation/captures.py` does the same over random scenarios."""
    text = LEG.replace("6 s", "2 s") + f'[transport]\nprotocol = "{protocol}"\n'
    if protocol == "udp":
        text += '[application]\ntype = "constant rate"\nrate = "1 Mbit/s"\n'
    path = tmp_path / "x.pcapng"
    recorded(text, path, snap=65_535)
    layer = "tcp" if protocol == "tcp" else "udp"
    checks = [p for one in ("ip", layer) for p in ("-o", f"{one}.check_checksum:TRUE")]
    names = [
        "ip.checksum.status",
        f"{layer}.checksum.status",
        "_ws.malformed",
        "frame.len",
        "ip.len",
    ]
    names += ["udp.length"]
    rows = tshark(path, *checks, "-T", "fields", *(p for name in names for p in ("-e", name)))
    assert len(rows) > 100
    for row in rows:
        *checked, whole, ip, udp = row.split("\t")
        assert (checked, whole) == (["1", "1", ""], ip)
        assert udp in ("", str(int(ip) - 20))


@needs_tshark
def test_the_script_for_wireshark_reads_quic_frames(tmp_path: Path) -> None:
    path = tmp_path / "x.pcapng"
    text = LEG.replace("6 s", "2 s") + '[transport]\nprotocol = "quic"\n'
    summary = recorded(text, path, snap=65_535)
    script = Path(clift.hosts.__file__).parent / "quic.lua"
    names = ["frame.interface_name", "ip.src", "clift_quic.type", "clift_quic.packet_number"]
    names += ["clift_quic.stream.offset", "clift_quic.stream.length", "clift_quic.ack.largest"]
    fields = ["-T", "fields", *(part for name in names for part in ("-e", name))]
    rows = [row.split("\t") for row in tshark(path, "-X", f"lua_script:{script}", *fields)]
    sent = [row for row in rows if row[1] == "192.0.2.1"]
    assert sent[0][2] == "Initial"
    assert all(row[2] for row in rows)
    numbers = [int(row[3]) for row in sent if row[2] == "1-RTT" and row[4]]
    # A header has the last bits of the number, eight or more; some packets carry no data.
    assert {(later - number) % 256 for number, later in pairwise(numbers)} <= {1, 2, 3}
    # The receiver has every byte that the run counts.
    got: set[int] = set()
    for *_, offsets, lengths, _ in (row for row in rows if row[0] == "receiver"):
        for start, count in zip(offsets.split(","), lengths.split(","), strict=True):
            if count:
                got.update(range(int(start) // 100, (int(start) + int(count)) // 100))
    assert len(got) == pytest.approx(summary["bytes_in_order"] / 100, rel=0.02)
    assert any(row[6] for row in rows if row[1] == "192.0.2.2")


@needs_tshark
def test_places_are_interfaces_and_times_rise(tmp_path: Path) -> None:
    path = tmp_path / "x.pcapng"
    recorded('scheme = "ARQ"' + CHANNEL, path)
    fields = ["frame.interface_name", "frame.time_epoch", "tcp.stream", "tcp.len", "frame.cap_len"]
    rows = tshark(path, "-T", "fields", *(part for field in fields for part in ("-e", field)))
    names, times, streams, *sizes = zip(*(row.split("\t") for row in rows), strict=True)
    assert set(names) == {"sender", "link", "receiver"}
    nanoseconds = [int(time.replace(".", "")) for time in times]
    assert nanoseconds == sorted(nanoseconds)
    assert set(streams) == {"0", "1", "2"}
    assert max(int(kept) for sent, kept in zip(*sizes, strict=True) if sent != "0") == 80


@pytest.mark.parametrize("scheme", ["none", "ARQ", "HARQ(10/12)"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_our_reader_gets_delays_and_losses_back(scheme: str, tmp_path: Path) -> None:
    path = tmp_path / "x.pcapng"
    scenario = clift.Scenario.parse(f'scheme = "{scheme}"' + CHANNEL)
    run = clift.simulate(scenario)
    run.capture(path)
    phy = clift.import_captures(path, path, nat=True)
    kinds = [
        kind
        for kind, size in zip(
            *(run.events()[name].to_pylist() for name in ("kind", "len")), strict=True
        )
        if size > 0
    ]
    lost = kinds.count(_clift.GONE)
    arrived = kinds.count(_clift.RECEIVED) + kinds.count(_clift.RECEIVED_IN_VAIN)
    # What was on its way at the end is left out, or lost if a later one had arrived.
    assert np.count_nonzero(phy.d_ns) >= arrived > 100
    assert lost <= np.count_nonzero(phy.d_ns == 0) <= len(kinds) - arrived
    delays = run.summary()["links"][0]["packet_delay_ms"]
    assert delays is not None
    least = phy.d_ns[phy.d_ns > 0].min() / 1e6
    assert least == pytest.approx(delays["min"], rel=1e-6)


def test_a_command_writes_it_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.toml").write_text(LEG)
    assert command(["run", "x.toml", "--quiet", "--capture", "x.pcapng", "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)
    assert re.search(r"wrote x\.pcapng: \d+ packets, run 1", err)
    first = (tmp_path / "x.pcapng").read_bytes()
    assert command(["run", "x.toml", "--quiet", "--capture", "y.pcapng", "--snap", "20"]) == 0
    assert 0 < (tmp_path / "y.pcapng").stat().st_size < len(first)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["x.pcapng", "x.toml", "y.pcapng"]


def test_the_same_run_gives_the_same_bytes(tmp_path: Path) -> None:
    run = clift.simulate(clift.Scenario.parse(LEG))
    for name in ("x", "y"):
        run.capture(tmp_path / f"{name}.pcapng")
    assert (tmp_path / "x.pcapng").read_bytes() == (tmp_path / "y.pcapng").read_bytes()


def test_a_failed_write_gives_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = clift.simulate(clift.Scenario.parse(LEG))
    with pytest.raises(ScenarioError, match=r"x\.pcap: captures are written as pcapng"):
        run.capture(tmp_path / "x.pcap")
    with pytest.raises(TraceError, match=r"none/x\.pcapng: cannot be written: No such file"):
        run.capture(tmp_path / "none" / "x.pcapng")
    with pytest.raises(ScenarioError, match="snap_bytes = 7: give 20 to 65535 bytes"):
        run.capture(tmp_path / "x.pcapng", 7)
    (tmp_path / "full.pcapng").symlink_to("/dev/full")
    with pytest.raises(TraceError, match="cannot be written: No space left"):
        run.capture(tmp_path / "full.pcapng")
    assert [file.name for file in tmp_path.iterdir()] == ["full.pcapng"]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.toml").write_text(LEG)
    for name, fault in (
        ("x.pcap", "captures are written as pcapng"),
        ("no/x.pcapng", "folder no does"),
    ):
        assert command(["run", "x.toml", "--quiet", "--capture", name]) == 2
        out, err = capsys.readouterr()
        assert (out, len(err.splitlines())) == ("", 1)
        assert fault in err


@pytest.mark.skipif(bool(hindrances()), reason="skipped: no live links here")
def test_a_live_run_is_captured(tmp_path: Path) -> None:
    path = tmp_path / "x.pcapng"
    scenario = clift.Scenario.parse(
        'scheme = "ARQ"\nseed = 2\nlink = { rtt = "10 ms", live = true }\n'
        'channel = { model = "bernoulli", erasures = "20 %", rate = "1 Mbit/s", lldu = "100 B" }'
    )
    script = "import socket, sys, time; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
    script += "for n in range(50): s.sendto(bytes([n]) * 50, (sys.argv[1], 9)); time.sleep(.002)\n"
    script += "time.sleep(.1)"
    run = run_live(scenario, ["python3", "-c", script, "{peer}"], capture=path)
    assert run.code == 0
    assert run.captured is not None
    assert run.captured >= 150
    phy = clift.import_captures(path, path, nat=True, from_address="192.0.2.1")
    assert len(phy) == 50
    assert phy.d_ns.min() >= 5_000_000
    comments = re.findall(rb"units 1; units sent again (\d+); repair units 0", path.read_bytes())
    # Each packet has its comment at all three places. A fifth of the units is erased; which ones a
    # packet meets depends on when the kernel sends it.
    assert len(comments) == 150
    assert 2 < sum(map(int, comments)) / 3 < 40
    with pytest.raises(ScenarioError, match="captures are written as pcapng"):
        run_live(scenario, ["true"], capture=tmp_path / "x.pcap")


def test_comments_tell_the_window_cuts_that_packets_led_to(tmp_path: Path) -> None:
    channel = {"model": "gilbert-elliott", "erasures": 0.01, "burst": 3}
    tree = {
        "duration": "20 s",
        "scheme": "ARQ",
        "channel": channel | {"rate": "2 Mbit/s", "lldu": "250 B"},
        "link": {"rtt": "500 ms", "live": True},
        "transport": {"profile": "papers", "cwnd_max": "120 packets"},
    }
    run = clift.simulate(clift.Scenario(tree))
    path = tmp_path / "x.pcapng"
    run.capture(path)
    pattern = rb"units sent again (\d+)[^;]*; repair units 0[^(]*?at ([\d.]+) s [^(]*\(cut:(\d+)\)"
    rows = re.findall(pattern, path.read_bytes())
    found = {int(number): (float(at), int(again)) for again, at, number in rows}
    why = run.why()
    assert len(found) == sum(why["cuts"].values()) > 5
    for cut in why["costliest"]:
        again = cut["packet"]["units_sent_again"]
        assert found[cut["number"]] == (pytest.approx(cut["at_s"], abs=5e-4), again)
    # At the sender, the link and the receiver.
    assert len(rows) == 3 * len(found)


PATHS = """
duration = "8 s"
application = { type = "file", size = "2 MB" }
[network.links.leo]
from = "a"
to = "b"
leg = { rate = "8 Mbit/s", delay = "20 ms", queue = "60 packets", outages = [["1 s", "2 s"]] }
return.leg = { delay = "20 ms" }
[network.links.geo]
from = "a"
to = "b"
leg = { rate = "4 Mbit/s", delay = "100 ms", queue = "200 packets" }
return.leg = { delay = "100 ms" }
[[flow]]
from = "a"
to = "b"
paths = [["leo"], ["geo"]]
"""


@needs_tshark
def test_each_path_has_interfaces_and_a_connection_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "x.pcapng"
    summary = recorded(PATHS, path)
    [flow] = summary["flows"]
    fields = ("frame.interface_name", "ip.src", "tcp.len", "ip.len")
    rows = tshark(path, "-Tfields", *(word for field in fields for word in ("-e", field)))
    packets = [row.split("\t") for row in rows]
    names = {f"{place} {number}" for place in ("sender", "link", "receiver") for number in (0, 1)}
    assert {name for name, *_ in packets} == names
    for number, own in enumerate(flow["paths"]):
        source = f"192.0.2.{2 * number + 1}"
        sent = [row for row in packets if row[:2] == [f"sender {number}", source]]
        assert sum(int(row[3]) for row in sent) == own["path_bytes_sent"]
        on_link = [row for row in packets if row[0] == f"link {number}" and row[2] != "0"]
        assert 0 < len(on_link) <= len(sent)
    # Sequence numbers are those of the subflow: nothing is lost that tshark does not see again.
    analysed = tshark(path, "-Y", 'frame.interface_name == "sender 1" && tcp.analysis.lost_segment')
    assert analysed == []
