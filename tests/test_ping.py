"""Output of ping as a trace."""

from pathlib import Path

import numpy as np
import pytest

import clift
from clift.cli.main import run

DATA = Path(__file__).parent / "data"


def answers(numbers: list[int], time: str = "600") -> str:
    line = "64 bytes from 192.0.2.1: icmp_seq={} ttl=52 time={} ms\n"
    return "".join(line.format(number, time) for number in numbers)


def test_a_summary_whose_time_is_too_short_is_warned_of(tmp_path: Path) -> None:
    """Answers of 600 ms one by one do not fit 1 s; with several under way at once they do."""
    path, end = (
        tmp_path / "x.log",
        "10 packets transmitted, 10 received, 0% packet loss, time 900ms\n",
    )
    for pipe, warned in (("", True), (", pipe 7", False)):
        path.write_text(
            answers([*range(1, 11)]) + end + f"rtt min/avg/max/mdev = 1/1/1/1 ms{pipe}\n"
        )
        warnings = " ".join(clift.import_ping(path).notes["warnings"])
        assert ("answers took 600 ms, which is more than the 100 ms" in warnings) == warned


def test_a_log_of_iputils_is_read_and_described(tmp_path: Path, capsys) -> None:
    """Twenty-five probes of loopback, `ping -D -O -i 0.2`."""
    words = ["trace", "import", str(DATA / "ping.log"), "-o", str(tmp_path / "x.parquet")]
    assert run(words) == 0
    told = capsys.readouterr().err
    for expected in [
        "understood: output of ping, probes 1 to 25",
        "understood: 25 probes, 0 of them lost",
        "assumed: half of a round-trip time is this way's, and a probe without an",
        "assumed: one slot per probe",
    ]:
        assert expected in told, told
    phy = clift.read_trace(tmp_path / "x.parquet")
    lines = [line for line in (DATA / "ping.log").read_text().splitlines() if "time=" in line]
    stamps = np.array([float(line[1 : line.index("]")]) for line in lines])
    trips = np.array([float(line.split("time=")[1].split()[0]) for line in lines])
    left = stamps - trips / 1e3
    assert phy.rtt_ns == round(trips.min() * 1e6)
    np.testing.assert_allclose(phy.t_ns, (left - left[0]) * 1e9, atol=1000)
    assert phy.d_ns.tolist() == [round((trip - trips.min()) * 5e5) + 1 for trip in trips]


def test_python_command_and_scenario_read_the_same(tmp_path: Path) -> None:
    path = tmp_path / "ping.log"
    path.write_text(answers([1, 2, 4, 5]))
    phy = clift.import_ping(path, interval="500 ms", rate="24 kbit/s")
    assert phy.t_ns.tolist() == [0, 500_000_000, 1_000_000_000, 1_500_000_000, 2_000_000_000]
    assert phy.d_ns.tolist() == [1, 1, 0, 1, 1]
    words = ["trace", "import", str(path), "--interval", "500 ms", "--rate", "24 kbit/s"]
    assert run([*words, "-o", str(tmp_path / "x.csv")]) == 0
    assert clift.read_trace(tmp_path / "x.csv") == phy
    (tmp_path / "x.toml").write_text(
        'duration = "1 s"\n[trace]\nfile = "ping.log"\nformat = "ping"\ninterval = "500 ms"\n'
        'rate = "24 kbit/s"\n'
    )
    used = clift.Scenario.read(tmp_path / "x.toml").phy_trace()
    assert used is not None
    assert (used.t_ns.tolist(), used.d_ns.tolist()) == (phy.t_ns.tolist(), phy.d_ns.tolist())


@pytest.mark.parametrize(
    ("text", "more", "expected"),
    [
        (
            "0,5\n1,5\n",
            "",
            "a table of 2 columns without a header (1 from 0 to 1, 2 from 5 to 5); nothing says",
        ),
        (
            answers([1, 2]),
            "--delay 2:ms",
            "delay and loss belong to a series; give its column of times",
        ),
        (
            answers([1, 2]),
            "--esn0 2:dB",
            "levels and MODCODs belong to a series; give its column of times",
        ),
        (answers([1, 2]), "--time 1:s --rate 1Mbit/s --interval 1s", "--interval: does not apply"),
        (
            answers([1, 2])[:-15],
            "",
            "line 2: `64 bytes from 192.0.2.1: icmp_seq=2 ttl=` is an answer",
        ),
        (answers([1, 2]) + "PING x\n", "", "line 3: a second run of ping begins"),
    ],
)
def test_faults_give_one_line_with_the_remedy(text, more, expected, tmp_path: Path, capsys) -> None:
    path = tmp_path / "x.log"
    path.write_text(text)
    assert run(["trace", "import", str(path), *more.split(), "-o", str(tmp_path / "x.csv")]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert expected in said, said
    assert not (tmp_path / "x.csv").exists()
