"""QUIC from Python, in files and in campaigns."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import command
import pytest

import clift
from clift.campaign import run_campaign

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def link() -> clift.LinkTrace:
    """ARQ over a channel with short bursts, 264 kbit/s and 500 ms."""
    phy = clift.channel.gilbert_elliott(slots=100_000, alpha=0.99, beta=0.5, seed=1)
    return clift.tmt.apply(phy, "ARQ", rtt_ms=500)


@pytest.mark.parametrize("congestion", ["newreno", "cubic", "bbr", "clift-cubic", "hybla"])
def test_a_file_arrives_whole(link: clift.LinkTrace, congestion: str) -> None:
    run = clift.simulate(link, transport="quic", congestion=congestion, file_bytes=30_000)
    flow = run.summary()["flows"][0]
    assert flow["bytes_in_order"] == 30_000
    assert run.completion_s is not None
    # A handshake, half a round trip and the time of the bytes at least.
    assert 0.75 < run.completion_s < 20


def test_the_congestion_control_is_heard(link: clift.LinkTrace) -> None:
    def summary(**options: Any) -> Any:
        return clift.simulate(link, duration_s=30, **options).summary()

    cubic = summary(transport="quic")
    assert summary(transport="quic", congestion="cubic") == cubic
    assert summary(transport="quic", congestion="bbr") != cubic
    assert summary(transport="cubic") != cubic
    assert summary(transport="tcp", congestion="newreno") == summary(transport="newreno")
    assert summary(transport="quic", **{"transport.quic.initial_mtu": "1400 B"}) != cubic


def test_a_file_says_the_same() -> None:
    text = """
    duration = "20 s"
    scheme = "ARQ"
    link = { rtt = "500 ms" }
    [channel]
    model = "bernoulli"
    erasures = 0.01
    slot = "1 ms"
    lldu = "33 B"
    decoding = "1 ms"
    [transport]
    protocol = "quic"
    congestion = "newreno"
    [transport.quic]
    packet_threshold = 5
    """
    scenario = clift.Scenario.parse(text)
    first = clift.simulate(scenario).summary()
    assert clift.simulate(scenario).summary() == first
    many = clift.run_many([scenario, scenario.replace(seed=2)], threads=2)
    assert [run.summary() == first for run in many] == [True, False]


def test_protocols_vary_in_a_campaign(link: clift.LinkTrace) -> None:
    vary = {"transport.protocol": ["tcp", "quic"], "transport.congestion": ["newreno", "cubic"]}
    scenario = clift.Scenario(link, duration_s=10, vary=vary)
    results = run_campaign(scenario)
    assert len(results.cells) == 4
    goodputs = [cell.values[0]["goodput_kbps"] for cell in results.cells]
    assert len(set(goodputs)) > 2
    assert all(goodput > 0 for goodput in goodputs)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"transport": "newreno", "congestion": "bbr"}, "congestion"),
        (
            {"transport": "tcp", "congestion": "clift-cubic"},
            'needs protocol = "quic"; the TCP name is cubic',
        ),
        ({"transport": "quic", "congestion": "vegas"}, "unknown value `vegas`"),
        ({"transport": "quic", "packet_bytes": 900}, "900 bytes are not a QUIC packet"),
        ({"transport": "quic", "transport.quic.certificate": "9 B"}, "9 bytes of certificates"),
        ({"transport": "quic", "transport.quic.mtu": "9 B"}, "unknown key"),
    ],
)
def test_errors_are_reported(link: clift.LinkTrace, options: dict[str, Any], message: str) -> None:
    with pytest.raises(clift.ScenarioError) as error:
        clift.simulate(link, duration_s=1, **options)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_the_example_runs() -> None:
    scenario = clift.Scenario.read(ROOT / "examples" / "quic_geo.toml")
    assert scenario.size == 120
    few = [cell for cell in scenario.cells() if cell.labels["congestion"] == "cubic"]
    times = {}
    for cell in few:
        run = clift.simulate(cell.replications()[0])
        times[cell.labels["scheme"], cell.labels["protocol"]] = run.completion_s
    assert None not in times.values()
    # Over a link that repairs, both need rounds of slow start and little more.
    for protocol in ("tcp", "quic"):
        assert times["ARQ", protocol] < times["none", protocol]


def records(path: Path) -> list[dict[str, Any]]:
    """Records of JSON text sequences (RFC 7464): each begins with RS and ends with a new line."""
    first, *texts = path.read_text().split("\x1e")
    assert first == ""
    assert all(text.endswith("\n") for text in texts)
    return [json.loads(text) for text in texts]


def test_the_qlog_says_what_the_sender_did(tmp_path: Path) -> None:
    phy = clift.channel.gilbert_elliott(slots=100_000, alpha=0.99, beta=0.5, seed=1)
    lossy = clift.tmt.apply(phy, "none", rtt_ms=500)
    run = clift.simulate(lossy, transport="quic", file_bytes=200_000, duration_s=60)
    wrote = run.qlog(tmp_path / "x.sqlog")
    assert wrote == (tmp_path / "x.sqlog").stat().st_size
    header, *events = records(tmp_path / "x.sqlog")
    assert header["qlog_version"] == "0.3"
    times = [event["time"] for event in events]
    assert times == sorted(times)
    assert times[-1] <= 60_000
    of = {name: [it["data"] for it in events if it["name"] == name] for name in NAMES}
    # Packets leave in separate datagrams, except those of the handshake, which share some.
    rows = run.events().to_pydict()
    data = sum(1 for kind in rows["kind"] if kind in (0, 1))
    sent = [it["header"] for it in of["transport:packet_sent"]]
    assert 0 <= len(sent) - data < 60
    numbers = [it["packet_number"] for it in sent if it["packet_type"] == "1RTT"]
    assert numbers == sorted(set(numbers))
    lost = [it["header"]["packet_number"] for it in of["recovery:packet_lost"]]
    # Every packet with data that the link lost, and a few without.
    gone = rows["kind"].count(4)
    assert 0 <= len(lost) - gone < 10
    assert gone > 50
    assert set(lost) <= {it["packet_number"] for it in sent}
    # quinn writes seconds here, and begins with what it assumes.
    first, *measured = (it["min_rtt"] for it in of["recovery:metrics_updated"] if "min_rtt" in it)
    assert first == pytest.approx(0.333)
    assert all(0.5 < rtt < 0.6 for rtt in measured)
    assert measured
    # The same once more, and nobody is disturbed.
    run.qlog(tmp_path / "again.sqlog")
    assert (tmp_path / "again.sqlog").read_bytes() == (tmp_path / "x.sqlog").read_bytes()


NAMES = ("transport:packet_sent", "recovery:packet_lost", "recovery:metrics_updated")


def test_an_unsupported_qlog_is_refused(tmp_path: Path, link: clift.LinkTrace) -> None:
    run = clift.simulate(link, transport="quic", file_bytes=3000)
    with pytest.raises(clift.ScenarioError, match=r"x\.txt: .* give a name that ends in \.sqlog"):
        run.qlog(tmp_path / "x.txt")
    with pytest.raises(clift.ScenarioError, match=r"flow 1: there are 1 flows"):
        run.qlog(tmp_path / "x.sqlog", flow=1)
    with pytest.raises(clift.ScenarioError, match=r"flow = -1"):
        run.qlog(tmp_path / "x.sqlog", flow=-1)
    with pytest.raises(clift.CliftError, match=r"no/x\.sqlog: .*[Nn]o such"):
        run.qlog(tmp_path / "no" / "x.sqlog")
    tcp = clift.simulate(link, file_bytes=3000)
    with pytest.raises(clift.ScenarioError, match=r"flow 0: tcp does not write a log"):
        tcp.qlog(tmp_path / "x.sqlog")
    assert list(tmp_path.iterdir()) == []


def test_the_command_line_writes_a_qlog(tmp_path: Path) -> None:
    def asked(*options: str) -> subprocess.CompletedProcess[str]:
        return command.clift("run", path, *options)

    path = str(ROOT / "examples/quic_geo.toml")
    to = tmp_path / "x.sqlog"
    short = ("--set", "transport.protocol=quic", "--set", "duration=20 s")
    done = asked("--runs", "1", "--quiet", "--qlog", str(to), *short)
    assert done.returncode == 0, done.stderr
    assert f"wrote {to}: " in done.stderr
    assert len(records(to)) > 100
    wrong = asked("--qlog", str(tmp_path / "x.pcap"))
    assert wrong.returncode == 2
    assert "ends in .sqlog" in wrong.stderr
    assert wrong.stdout == ""


def test_packets_that_come_very_late_are_not_taken_for_others() -> None:
    """The number of a packet is misread if it comes too late (RFC 9000 section 17.1).

    Without cryptography that tells it, it was acknowledged for another, which nobody sent again:
    seven of ten runs stood still.
    """
    text = """
    runs = 2
    scheme = "ARQ"
    application = { type = "file", size = "3 MB" }
    transport = { protocol = "quic", congestion = "bbr" }
    link = { rtt = "40 ms", queue = "300 packets", wrap = true }
    access = { rate = "100 Mbit/s", delay = "15 ms" }
    [channel]
    model = "gilbert-elliott"
    rate = "50 Mbit/s"
    lldu = "125 B"
    decoding = "1 ms"
    erasures = "2 %"
    burst = 2
    """
    runs = clift.run_many(clift.Scenario.parse(text).replications(), progress=False)
    assert all(run.completion_s is not None and run.completion_s < 5 for run in runs)


def test_a_request_in_the_first_flight_saves_a_round_trip() -> None:
    text = """
    duration = "60 s"
    [[path]]
    leg = { rate = "10 Mbit/s", delay = "250 ms" }
    [application]
    type = "request"
    request = "200 B"
    response = "1 kB"
    count = 1
    [transport]
    protocol = "quic"
    """
    usual, early = (
        clift.simulate(clift.Scenario.parse(text + more)).summary()["flows"][0]["completion_s"]
        for more in ("", "quic = { zero_rtt = true }\n")
    )
    # Without early data 2.7 kB of handshake, probe and connection ids stand before the answer.
    assert usual - early == pytest.approx(0.5, abs=2.5e-3)


def test_a_message_goes_in_a_datagram_or_is_refused() -> None:
    text = """
    duration = "10 s"
    [[path]]
    leg = { rate = "10 Mbit/s", delay = "250 ms", loss = "5 %" }
    [transport]
    protocol = "quic"
    [application]
    type = "constant rate"
    rate = "40 kbit/s"
    """
    flow = clift.simulate(clift.Scenario.parse(text + 'message = "100 B"\n')).summary()["flows"][0]
    assert flow["retransmissions"] == 0
    assert 0.8 < flow["messages"]["received"] / flow["messages"]["sent"] < 0.97
    with pytest.raises(clift.ScenarioError, match=r"message: 1163 bytes do not fit into a datag"):
        clift.Scenario.parse(text + 'message = "1163 B"\n')


def test_a_note_says_when_and_why_quinn_breaks_a_connection_off() -> None:
    # Slow start overshoots a queue of a bandwidth-delay product: every second packet is lost, and
    # the receiver holds more pieces of the stream than quinn allows.
    leg = {"rate": "50 Mbit/s", "delay": "325 ms"}
    scenario = {
        "duration": "20 s",
        "path": [{"leg": leg | {"queue": "4 MB"}}],
        "transport": {"protocol": "quic", "receive_window": "64 MB"},
    }
    with pytest.warns(UserWarning, match="at most 1,024 separate pieces"):
        run = clift.simulate(scenario)
    [flow] = run.summary()["flows"]
    at = float(re.match(r"at ([0-9.]+) s: ", flow["broken_off"])[1])
    assert 5 < at < 15
    series = run.series(interval_ms=1000).to_pydict()
    late = [at + 1 < time for time in series["time_s"]]
    assert any(late)
    assert not any(rate for rate, after in zip(series["goodput_kbps"], late, strict=True) if after)
