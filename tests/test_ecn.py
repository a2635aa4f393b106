"""Explicit congestion notification: marks instead of drops, what TCP does, captures."""

import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import clift
from clift.errors import ScenarioError

TSHARK = shutil.which("tshark")
needs_tshark = pytest.mark.skipif(TSHARK is None, reason="skipped: there is no tshark")


def text(aqm: str, transport: str, rate: str = "10 Mbit/s", delay: str = "20 ms") -> str:
    return f"""
duration = "20 s"
[[path]]
leg = {{ rate = "{rate}", delay = "{delay}", queue = "500 packets", aqm = "{aqm}" }}
[transport]
{transport}
"""


def short(aqm: str, transport: str) -> clift.Scenario:
    """Returns a scenario whose capture tshark reads in a second."""
    return clift.Scenario.parse(text(aqm, transport).replace("20 s", "2 s"))


def summary(scenario: str) -> dict[str, Any]:
    return dict(clift.simulate(clift.Scenario.parse(scenario)).summary())


@pytest.mark.parametrize("congestion", ["newreno", "cubic", "hybla", "westwood", "compound", "bbr"])
@pytest.mark.parametrize("aqm", ["codel", "fq-codel"])
def test_marks_take_the_place_of_drops(aqm: str, congestion: str) -> None:
    usual = summary(text(aqm, f'congestion = "{congestion}"'))
    marked = summary(text(aqm, f'congestion = "{congestion}"\necn = true'))
    flow, leg = marked["flows"][0], marked["links"][0]
    assert usual["links"][0]["packets_dropped"] > 0 == leg["packets_dropped"]
    assert flow["retransmissions"] == flow["timeouts"] == 0
    # All marks arrive but those on their way at the end.
    assert 0 <= leg["packets_marked"] - flow["ecn"]["packets_marked"] <= 60
    assert 0 < flow["ecn"]["reductions"] <= flow["ecn"]["packets_marked"]
    assert flow["ecn"]["reductions"] == flow["window_reductions"]
    assert marked["goodput_kbps"] > 0.95 * usual["goodput_kbps"]
    again = summary(text(aqm, f'congestion = "{congestion}"\necn = true'))
    assert again == marked


def test_without_ecn_the_summary_has_no_ecn() -> None:
    usual = summary(text("codel", 'congestion = "cubic"'))
    assert summary(text("codel", 'congestion = "cubic"\necn = false')) == usual
    assert "ecn" not in usual["flows"][0]
    assert "packets_marked" not in usual["links"][0]
    # Where nothing is marked or lost, the flags alone change nothing.
    plain, off = (
        summary(text("none", f'congestion = "bbr"\necn = {on}')) for on in ("true", "false")
    )
    assert plain["links"][0]["packets_dropped"] == 0
    none = {"packets_marked": 0, "share_marked": 0, "reductions": 0}
    assert plain["flows"][0].pop("ecn") == none
    assert plain == off


def test_a_mark_reduces_the_window_once_a_round_trip() -> None:
    """While everything is marked, CUBIC reduces in each second round trip or so; it never loses."""
    run = summary(text("codel(ce_threshold 1 us)", 'congestion = "cubic"\necn = true'))
    ecn = run["flows"][0]["ecn"]
    assert run["links"][0]["packets_dropped"] == 0
    assert 20 / 0.045 / 4 < ecn["reductions"] < 20 / 0.040
    assert ecn["packets_marked"] > ecn["reductions"]


def test_the_step_of_dctcp_keeps_the_queue_short() -> None:
    step = text("codel(ce_threshold 1 ms)", 'congestion = "dctcp"', "50 Mbit/s", "5 ms")
    run = summary(step)
    flow = run["flows"][0]
    assert run["links"][0]["packets_dropped"] == 0
    assert run["goodput_kbps"] > 0.9 * 50_000 * 1448 / 1500
    assert flow["segment_delay_ms"]["p95"] < 5.24 + 2
    # A reno window would be halved by each of these.
    assert flow["ecn"]["reductions"] > 200
    classic = summary(step.replace('"dctcp"', '"newreno"\necn = true'))
    assert classic["goodput_kbps"] < 0.85 * run["goodput_kbps"]


def test_prague_and_cubic_share_a_link_and_only_cubic_waits() -> None:
    run = summary(
        """
duration = "40 s"
[[path]]
leg = { rate = "40 Mbit/s", delay = "5 ms", queue = "2000 packets", aqm = "dualpi2" }
[[flow]]
transport = { congestion = "prague" }
[[flow]]
transport = { congestion = "cubic" }
"""
    )
    prague, cubic = run["flows"]
    # RFC 9332, section 2.1: about equal rates with k = 2.
    assert 0.5 < prague["goodput_kbps"] / cubic["goodput_kbps"] < 2
    assert run["goodput_kbps"] > 0.9 * 40_000 * 1448 / 1500
    assert prague["segment_delay_ms"]["mean"] < 5.3 + 1.5
    assert cubic["segment_delay_ms"]["mean"] > 5.3 + 8
    assert prague["retransmissions"] == 0 < cubic["retransmissions"]
    assert "ecn" not in cubic


class Packet(NamedTuple):
    """Fields of a captured packet, as tshark prints them."""

    place: str
    source: str
    ecn: str
    ae: str
    cwr: str
    ece: str
    syn: str
    length: str
    ace: str
    checksum: str


def packets(path: Path) -> list[Packet]:
    fields = ["frame.interface_name", "ip.src", "ip.dsfield.ecn"]
    fields += [f"tcp.flags.{flag}" for flag in ("ae", "cwr", "ece", "syn")]
    fields += ["tcp.len", "tcp.flags.ace", "ip.checksum.status"]
    command = [str(TSHARK), "-r", str(path), "-o", "ip.check_checksum:TRUE", "-T", "fields"]
    command += [part for field in fields for part in ("-e", field)]
    done = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [Packet(*line.split("\t")) for line in done.splitlines()]


def flags(chosen: Iterable[Packet]) -> Counter[tuple[str, ...]]:
    """Interface, last byte of the source, ECN field, AE, CWR, ECE."""
    return Counter((p.place, p.source[-1], p.ecn, p.ae, p.cwr, p.ece) for p in chosen)


@needs_tshark
def test_captures_show_marks_echoes_and_reductions(tmp_path: Path) -> None:
    path = tmp_path / "x.pcapng"
    run = clift.simulate(short("codel", 'congestion = "cubic"\necn = true'))
    run.capture(path)
    flow = run.summary()["flows"][0]
    found = packets(path)
    syn = flags(p for p in found if p.syn == "1" and p.place == "sender")
    assert syn == {("sender", "1", "0", "0", "1", "1"): 1, ("sender", "2", "0", "0", "0", "1"): 1}
    data = flags(p for p in found if p.length != "0")
    at = {
        place: {field: sum(n for key, n in data.items() if (key[0], key[2]) == (place, field))
                for field in "0123"}
        for place in ("sender", "receiver")
    }  # fmt: skip
    assert at["sender"]["2"] == flow["segments_sent"]
    assert at["sender"]["3"] == 0
    assert at["receiver"]["3"] == flow["ecn"]["packets_marked"] > 0
    told = sum(n for key, n in data.items() if key[0] == "sender" and key[4] == "1")
    assert told == flow["ecn"]["reductions"]
    acks = flags(p for p in found if (p.length, p.syn, p.place) == ("0", "0", "sender"))
    echoes = acks["sender", "2", "0", "0", "0", "1"]
    assert echoes > flow["ecn"]["packets_marked"]
    assert echoes < sum(acks.values()) / 2
    assert {p.checksum for p in found} == {"1"}


@needs_tshark
def test_captures_of_prague_count_marks(tmp_path: Path) -> None:
    """RFC 9768: AE, CWR and ECE of each ACK are the number of marked packets, from 5 on."""
    path = tmp_path / "x.pcapng"
    run = clift.simulate(short("dualpi2", 'congestion = "prague"'))
    run.capture(path)
    found = packets(path)
    syn = flags(p for p in found if p.syn == "1" and p.place == "sender")
    assert syn == {("sender", "1", "1", "1", "1", "1"): 1, ("sender", "2", "1", "0", "1", "1"): 1}
    marked, told = 5, 0
    for packet in found:
        if (packet.place, packet.syn) != ("receiver", "0"):
            continue
        if packet.source.endswith(".1"):
            marked += packet.length != "0" and packet.ecn == "3"
            assert packet.ecn in "13"
        else:
            assert int(packet.ace) == marked % 8
            told = marked
    assert told > 5 + 50
    assert abs(run.summary()["flows"][0]["ecn"]["packets_marked"] - (told - 5)) <= 2


def test_quic_reacts_to_marks() -> None:
    path = 'protocol = "quic"\ncongestion = "newreno"'
    usual, marked = (summary(text("codel", path + more)) for more in ("", "\necn = true"))
    assert usual["links"][0]["packets_dropped"] > 0 == marked["links"][0]["packets_dropped"]
    ecn = marked["flows"][0]["ecn"]
    assert ecn["packets_marked"] >= ecn["reductions"] == marked["window_reductions"] > 0
    assert marked["goodput_kbps"] > 0.9 * usual["goodput_kbps"]


@pytest.mark.parametrize(
    ("transport", "message"),
    [
        ('profile = "papers"\necn = true', 'ecn: belongs to profile = "linux"'),
        ('congestion = "prague"\necn = false', "ecn: prague needs ECN; leave `ecn` out"),
        ('protocol = "quic"\ncongestion = "dctcp"', "dctcp needs an exact echo"),
        ('protocol = "quic"\ncongestion = "lia"', "lia couples the paths of a connection"),
    ],
)
def test_invalid_combinations_are_refused(transport: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=message.replace("(", r"\(")):
        summary(text("codel", transport))
