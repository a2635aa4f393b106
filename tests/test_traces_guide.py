"""The guides on measured traces: their commands, Python and scenario, on small files."""

import json
import shlex
import struct
from pathlib import Path

import numpy as np
import pytest
from guide import blocks, run_commands, run_python

import clift
from clift.cli.main import run

PAGES = ("traces", "measurement-tools", "packet-captures")
START = 1_700_000_000


def packet(number: int) -> bytes:
    payload = struct.pack(">I", number) + bytes(96)
    datagram = struct.pack(">HHHH", 5000, 6000, 8 + len(payload), 0) + payload
    head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(datagram), number, 0, 64, 17, 0)
    return head + bytes([10, 0, 0, 1, 10, 0, 0, 2]) + datagram


def pcap(path: Path, packets: list[tuple[int, bytes]]) -> None:
    file = struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101)
    for us, data in packets:
        file += struct.pack("<IIII", START + us // 10**6, us % 10**6, len(data), len(data)) + data
    path.write_bytes(file)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "cell.down").write_text("".join(f"{ms}\n" for ms in range(1, 2000, 3)))
    rows = ["Timestamp,DL_bitrate,PINGAVG,lost"]
    for second in range(30):
        rate = "-" if second == 12 else 2000 + 100 * second
        rows.append(f"2024-05-01T12:00:{second:02},{rate},{40 + second % 7}.5,{second % 3}")
    (tmp_path / "drive.csv").write_text("\n".join(rows))
    dotted = [f"2020.02.14_12.58.{second:02};{900 + second}" for second in range(20)]
    (tmp_path / "dotted.csv").write_text("\r\n".join(dotted))
    probes = ["seq,send_time_s,up_delay_ms,up_lost"]
    probes += [f"{n},{n / 100:.2f},{20 + n % 5},{int(n % 50 == 7)}" for n in range(500)]
    (tmp_path / "probes.csv").write_text("\n".join(probes))
    modem = ["time_s,info_rate,frame_errors"]
    modem += [f"{second},{2 + second % 2},{0.01 * (second % 4)}" for second in range(20)]
    (tmp_path / "modem.csv").write_text("\n".join(modem))
    # In the words of iputils, with -D: a probe in a second, each 25th lost.
    ping = ["PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data."]
    ping += [
        f"[{START + n}.{600_000 + n % 7 * 1000}] 64 bytes from 192.0.2.1: icmp_seq={n + 1} ttl=52 "
        f"time={600 + n % 7} ms"
        for n in range(100)
        if n % 25 != 7
    ]
    (tmp_path / "ping.log").write_text("\n".join(ping) + "\n")
    sent = [(10_000 * n, packet(n)) for n in range(200)]
    pcap(tmp_path / "sender.pcap", sent)
    pcap(tmp_path / "receiver.pcap", [(us + 30_000, data) for us, data in sent if us % 170_000])
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_the_commands_run() -> None:
    for page in PAGES:
        run_commands(page)


def test_the_python_and_the_scenario_run(folder: Path) -> None:
    for page in PAGES:
        run_python(page)
    (scenario,) = (block for page in PAGES for block in blocks(page, "toml"))
    (folder / "x.toml").write_text(scenario)
    result = clift.simulate(folder / "x.toml")
    assert result.goodput_kbps > 500


@pytest.mark.usefixtures("folder")
def test_a_series_equals_numpys(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = "--time 1:date --rate 2:kbit/s --delay PINGAVG:ms --delay-is rtt --no-keep-order"
    assert run(["trace", "import", "drive.csv", *shlex.split(arguments), "-o", "x.parquet"]) == 0
    assert "assumed: half of the round-trip time" in capsys.readouterr().err
    phy = clift.read_trace("x.parquet")
    seconds = np.arange(30)
    rates = np.where(seconds == 12, 0.0, 2e5 * 10 + 1e5 * seconds)
    carried = np.concatenate([[0.0], np.cumsum(rates)])
    slots = np.arange(int(np.ceil(carried[-1] / 12_000)))
    # Where the integral of the rate reaches this many LLDUs; a slot at a border is behind it.
    row = np.searchsorted(carried, slots * 12_000, side="right") - 1
    expected = (row + (slots * 12_000 - carried[row]) / rates[row]) * 1e9
    assert len(phy) == len(slots)
    np.testing.assert_allclose(phy.t_ns, expected, atol=2)
    assert np.array_equal(phy.d_ns, (40.5 + row % 7) * 5e5)
    assert (phy.period_ns, phy.rtt_ns, phy.source) == (30 * 10**9, 0, "drive.csv")


@pytest.mark.usefixtures("folder")
def test_captures_give_delay_and_loss(capsys: pytest.CaptureFixture[str]) -> None:
    phy = clift.import_captures("sender.pcap", "receiver.pcap")
    lost = np.arange(200) % 17 == 0
    # The first is unknown: the receiver's capture begins with the second.
    assert np.array_equal(phy.t_ns, np.arange(199) * 10_000_000)
    assert np.array_equal(phy.d_ns, np.where(lost, 0, 30_000_000)[1:])
    assert phy.lldu_bytes == 1500
    phy.write("link.csv")
    assert run(["trace", "info", "link.csv", "--json"]) == 0
    (said,) = json.loads(capsys.readouterr().out)
    assert said["understood"] == phy.notes["understood"]
    assert said["understood"][0] == "200 packets from 10.0.0.1 to 10.0.0.2"
    assert "both clocks agree" in said["assumed"]
    assert said["warnings"] == []
    late = clift.import_captures("receiver.pcap", "sender.pcap")
    assert "the smallest delay is -30 ms" in late.notes["warnings"][0]


def test_faults_give_one_line_with_exit_code_2(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "back.csv").write_text("0,5\n2,5\n1,5\n")
    cases = [
        ("back.csv --time 1:s --rate 2:kbit/s", "back.csv: line 3: time `1` comes before"),
        ("back.csv --time 1:s --rate 2", "rate: column `2` has no unit; write `2:Mbit/s`"),
        ("back.csv --time 1:s --rate down:kbit/s", "back.csv: line 1: no column `down`; the head"),
        (
            "back.csv --time 1:s",
            "back.csv: a series needs more than times; give rate, delay or loss",
        ),
        ("none.csv --time 1:s --rate 2:kbit/s", "none.csv: cannot be opened: No such file"),
    ]
    for arguments, expected in cases:
        assert run(["trace", "import", *shlex.split(arguments), "-o", "x.parquet"]) == 2
        message = capsys.readouterr().err
        assert expected in message, message
        assert message.count("\n") == 1
    assert not (folder / "x.parquet").exists()
