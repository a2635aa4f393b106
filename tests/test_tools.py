"""Files of measuring tools, which are recognised by their content."""

import gzip
import hashlib
import json
import shlex
from pathlib import Path

import pytest

import clift
from clift.cli.main import run


def irtt(path: Path) -> Path:
    """Four probes of irtt 0.9 every 10 ms: received, lost up, lost down, received 2 ms later."""
    delays = [
        {"send": 10_020_000_000, "receive": -9_980_000_000, "rtt": 40_000_000},
        {},
        {},
        {"send": 10_022_000_000, "receive": -9_980_000_000, "rtt": 42_000_000},
    ]
    lost = ["false", "true_up", "true_down", "false"]
    trips = [
        {
            "seqno": number,
            "lost": lost[number],
            "timestamps": {
                "client": {
                    "receive": {},
                    "send": {"wall": 10**18 + number * 10**7, "monotonic": number * 10**7},
                },
                "server": {},
            },
            "delay": delays[number],
            "ipdv": {},
        }
        for number in range(4)
    ]
    path.write_text(json.dumps({"version": {"irtt": "0.9.1"}, "round_trips": trips}, indent=2))
    return path


def iperf3(path: Path) -> Path:
    """What a UDP server of iperf3 writes: of 10 packets a second, 9 are lost in the first."""
    sums = [
        {
            "start": second,
            "end": second + 1,
            "bits_per_second": rate,
            "lost_packets": lost,
            "packets": 10,
            "sender": False,
        }
        for second, (rate, lost) in enumerate([(12_000, 9), (120_000, 0), (120_000, 0)])
    ]
    start = {"version": "iperf 3.16", "test_start": {"protocol": "UDP", "reverse": 0}}
    log = {"start": start, "intervals": [{"sum": one} for one in sums], "end": {}}
    path.write_text(json.dumps(log))
    return path


def refused(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    assert run([str(word) for word in words]) == 2
    said = capsys.readouterr().err.strip()
    assert said.count("\n") == 0
    return said


def test_info_describes_both_directions_of_irtt(tmp_path: Path, capsys) -> None:
    assert run(["trace", "info", str(irtt(tmp_path / "lens.json")), "--json"]) == 0
    up, down = json.loads(capsys.readouterr().out)
    assert (up["trace"], down["trace"]) == ("lens.json up", "lens.json down")
    phy = clift.read_log(tmp_path / "lens.json", direction="up")
    assert phy.t_ns.tolist() == [0, 10_000_000, 30_000_000]
    assert phy.d_ns.tolist() == [1, 0, 2_000_001]
    assert phy.rtt_ns == 40_000_000


def test_the_command_the_function_and_a_scenario_read_the_same(tmp_path: Path) -> None:
    path = irtt(tmp_path / "lens.json")
    words = ["trace", "import", str(path), "--direction", "down", "--rate", "2 Mbit/s"]
    assert run([*words, "-o", str(tmp_path / "x.csv")]) == 0
    phy = clift.read_log(path, direction="down", rate="2 Mbit/s")
    assert clift.read_trace(tmp_path / "x.csv") == phy
    (tmp_path / "x.toml").write_text(
        'duration = "1 s"\n[trace]\nfile = "lens.json"\ndirection = "down"\nrate = "2 Mbit/s"\n'
    )
    used = clift.Scenario.read(tmp_path / "x.toml").phy_trace()
    assert used is not None
    assert used.d_ns.tolist() == phy.d_ns.tolist()


def test_losses_of_iperf3_count_once(tmp_path: Path) -> None:
    phy = clift.read_log(iperf3(tmp_path / "server.json"))
    assert len(phy) == 30
    assert (phy.d_ns[:10] == 0).sum() > 5
    assert (phy.d_ns[10:] > 0).all()


def test_a_received_rate_with_a_loss_column_counts_the_loss_once(tmp_path: Path, capsys) -> None:
    log = tmp_path / "log.csv"
    log.write_text("s,mbps,loss\n" + "".join(f"{second},3,0.9\n" for second in range(60)))
    words = ["trace", "import", log, "--time", "s:s", "--rate", "mbps:Mbit/s", "--loss", "loss"]
    output = tmp_path / "x.csv"
    mbps = {}
    for more in ([], ["--rate-is", "received"]):
        assert run([str(word) for word in (*words, "-o", output, *more)]) == 0
        phy = clift.read_trace(output)
        mbps[bool(more)] = (phy.d_ns > 0).sum() * 1500 * 8 / 60e6
        warned = "--rate-is received" in capsys.readouterr().err
        assert warned is not bool(more)
    assert mbps[False] == pytest.approx(0.3, rel=0.1)
    assert mbps[True] == pytest.approx(3, rel=0.05)
    assert "--rate-is: a received rate needs losses" in refused(
        capsys, *words[:-2], "--rate-is", "received", "-o", output
    )


@pytest.mark.parametrize(
    "header",
    ["time;rate;rate", 'time "s";"rate ""kbit/s""";x', "time;my\trate;x", "time:s;rate:x;x"],
)
def test_the_suggested_command_reads_columns_of_any_name(
    tmp_path: Path, capsys, header: str
) -> None:
    table = tmp_path / "log.csv"
    table.write_text(header + "\n" + "".join(f"{second};5;7\n" for second in range(9)))
    said = refused(capsys, "trace", "import", table, "-o", tmp_path / "x.csv")
    words = shlex.split(said.rpartition("): ")[2].replace("OUTPUT", str(tmp_path / "y.csv")))
    assert run(words[1:]) == 0, capsys.readouterr().err
    # In Mbit/s if nothing else is said.
    rate = 5e3 if "kbit" in header else 5e6
    assert clift.read_trace(tmp_path / "y.csv").stats()["rate_bps"] == pytest.approx(rate, rel=0.2)


def test_the_nearest_command_is_named(tmp_path: Path, capsys) -> None:
    table = tmp_path / "log.csv"
    table.write_text("time,rate,delay\n0,5,20\n1,5,20\n")
    said = refused(capsys, "trace", "import", table, "-o", tmp_path / "x.csv")
    assert "a table of columns 1 `time`, 2 `rate`, 3 `delay`; say which is what" in said
    # The command that is named works.
    words = shlex.split(said.rpartition("): ")[2].replace("OUTPUT", str(tmp_path / "y.csv")))
    assert run(words[1:]) == 0
    assert clift.read_trace(tmp_path / "y.csv").stats()["rate_bps"] == pytest.approx(5e6, rel=0.01)
    capsys.readouterr()
    packed = tmp_path / "log.csv.gz"
    packed.write_bytes(gzip.compress(table.read_bytes()))
    said = refused(capsys, "trace", "import", packed, "-o", tmp_path / "x.csv")
    assert said.endswith(f"gunzip -k {packed}")
    capture = tmp_path / "x.pcap"
    capture.write_bytes(b"\xd4\xc3\xb2\xa1" + bytes(20))
    for more in ([], ["--time", "1:s"]):
        said = refused(capsys, "trace", "import", capture, *more, "-o", tmp_path / "x.csv")
        assert "a capture of packets" in said
        assert "clift trace capture" in said
    trace = tmp_path / "x.parquet"
    clift.channel.bernoulli(slots=50, p=0.5, seed=1).write(trace)
    assert "a Parquet file, not a scenario" in refused(capsys, "run", trace)
    assert "give --direction" in refused(
        capsys, "trace", "import", irtt(tmp_path / "x.json"), "-o", tmp_path / "x.csv"
    )


def test_results_hold_the_digest_of_the_trace_and_name_a_swapped_one(
    tmp_path: Path, capsys
) -> None:
    log = tmp_path / "log.csv"
    log.write_text("t_ns,d_ns\n" + "".join(f"{slot}000000,5\n" for slot in range(50)))
    scenario = tmp_path / "x.toml"
    scenario.write_text(
        'duration = "1 s"\n[trace]\nfile = "log.csv"\nlldu = "1500 B"\n[link]\nrtt = "20 ms"\n'
        "wrap = true\n"
    )
    words = ["run", str(scenario), "-o", str(tmp_path / "out"), "--no-plots"]
    assert run(words) == 0
    capsys.readouterr()
    record = json.loads((tmp_path / "out" / "record.json").read_text())
    before = hashlib.sha256(log.read_bytes()).hexdigest()
    assert record["files_read"] == {"log.csv": f"sha256:{before}"}
    # The file that was read, not the one that the scenario names.
    (tmp_path / "other.csv").write_bytes(log.read_bytes())
    assert run([*words[:2], "--set", "trace.file=other.csv", "--json"]) == 0
    read = json.loads(capsys.readouterr().out)["files_read"]
    assert read == {"other.csv": f"sha256:{before}"}
    log.write_text(log.read_text().replace("1000000,5", "1000000,0", 1))
    after = hashlib.sha256(log.read_bytes()).hexdigest()
    said = refused(capsys, *words)
    assert f"log.csv has changed (SHA-256 {before[:12]}..., now {after[:12]}...)" in said
