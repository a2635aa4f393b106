"""The guide on modem logs: its commands, Python and scenario, and its numbers with numpy."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from guide import blocks, run_commands, run_python

import clift
from clift.cli.main import run

ROOT = Path(__file__).parent.parent
GUIDE = "modem-log"
# Name, bits of data of a frame, its symbols, threshold: the first and some others of EN 302 307-1.
FRAMES = {"QPSK 1/2": (32_128, 32_490), "QPSK 3/4": (48_328, 32_490), "8PSK 2/3": (42_960, 21_690),
          "8PSK 5/6": (53_760, 21_690), "16APSK 4/5": (51_568, 16_290)}  # fmt: skip
SYMBOLS_PER_S = 500_000


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copy(ROOT / "examples" / "modem.csv", tmp_path)
    table = "name,efficiency,threshold_db\nlow,0.5,-1\nhigh,2,8.5\n"
    (tmp_path / "mine.csv").write_text(table)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_the_commands_run() -> None:
    run_commands(GUIDE, least=8)


def test_the_python_and_the_scenario_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_python(GUIDE)
    (scenario,) = blocks(GUIDE, "toml")
    (folder / "x.toml").write_text(scenario)
    assert run(["run", "x.toml", "--quiet", "--json"]) == 0
    assert "goodput_kbps" in capsys.readouterr().out


def test_the_log_equals_the_output_of_its_script(folder: Path) -> None:
    script = ROOT / "examples" / "modem_log.py"
    done = subprocess.run([sys.executable, str(script)], check=True, capture_output=True, text=True)
    assert done.stdout == (folder / "modem.csv").read_text()


@pytest.mark.usefixtures("folder")
def test_times_of_frames_of_several_sizes_are_no_coarse_clock() -> None:
    # At this rate the times of frames differ by whole milliseconds.
    phy = clift.import_modem("modem.csv", time="1:s", esn0="2:dB", symbol_rate="10 kBd")
    times = phy.d_ns[phy.d_ns > 0]
    assert len(set(times)) > 1
    assert not any((times - min(times)) % 1_000_000)
    assert not any("coarse" in warning for warning in phy.notes["warnings"])


@pytest.mark.usefixtures("folder")
def test_the_bytes_of_an_adaptive_trace_are_those_that_numpy_finds() -> None:
    log = np.genfromtxt("modem.csv", delimiter=",", names=True, dtype=None, encoding="ascii")
    table = clift.import_modem(
        "modem.csv", time="1:s", esn0="2:dB", symbol_rate="500 kBd", modcod="3"
    )
    # Variable coding, frame by frame.
    symbols, lost, sent, slot = 0, 0, 0, 0
    while symbols < 600 * SYMBOLS_PER_S:
        row = symbols // SYMBOLS_PER_S
        bits, takes = FRAMES[log["modcod"][row]]
        assert table.t_ns[slot] == symbols * 10**9 // SYMBOLS_PER_S
        assert table.slot_bytes is not None
        assert table.slot_bytes[slot] == bits // 8
        # The log's errors are those below the threshold.
        assert (table.d_ns[slot] == 0) == bool(log["frame_errors"][row])
        sent += bits
        lost += bits * int(log["frame_errors"][row])
        symbols, slot = symbols + takes, slot + 1
    assert slot == len(table)
    stats = table.stats()
    assert stats["rate_bps"] == pytest.approx(sent / 600)
    assert stats["received_rate_bps"] == pytest.approx((sent - lost) / 600)
    link = clift.tmt.apply(table, "none", rtt_ms=0)
    assert link.stats()["efficiency"] == pytest.approx(1 - lost / sent)
    # Packets fill frames by bytes: what arrives in a second of the clear sky.
    arrivals = np.arange(0, 10**9, 10**6)
    delivered, _ = clift.deliver(link, arrivals, 1500)
    offered = table.slot_bytes[table.t_ns < 2 * 10**9].sum()
    got = ((delivered >= 0) & (delivered <= 2 * 10**9)).sum()
    assert offered - 2 * table.lldu_bytes <= got * 1500 <= offered


@pytest.mark.usefixtures("folder")
def test_adaptive_coding_gains_and_loses_as_it_must(capsys: pytest.CaptureFixture[str]) -> None:
    def carried(**coding: str) -> tuple[float, float]:
        phy = clift.import_modem(
            "modem.csv", time="1:s", esn0="2:dB", symbol_rate="500 kBd", **coding
        )
        stats = phy.stats()
        return stats.get("received_rate_bps", stats["rate_bps"]), stats["erasure_rate"]

    margins = [carried(margin=f"{margin} dB", acm_delay="1 s") for margin in (0, 1, 3)]
    lost = [share for _, share in margins]
    assert lost[0] > lost[1] >= lost[2] == 0
    assert margins[1][0] > margins[2][0]
    assert carried(margin="0 dB")[1] == 0
    assert carried(margin="0 dB")[0] > max(rate for rate, _ in margins)
    assert margins[1][0] > carried(modcod="3")[0] > carried(modcod="QPSK 1/2")[0]
    # What flags are called in messages.
    assert (
        run(["trace", "import", "modem.csv", "--time", "1:s", "--esn0", "2:dB", "-o", "x.csv"]) == 2
    )
    assert "give --symbol-rate" in capsys.readouterr().err


def test_a_run_repeats_the_warnings_of_the_import(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "log.csv").write_text("t,delay,loss\n0,0,0\n1,30,1\n2,31,0\n")
    text = 'duration = "2 s"\nscheme = "none"\n[link]\nwrap = true\nrtt = "0 ms"\n[trace]\n'
    text += 'file = "log.csv"\ntime = "t:s"\nrate = "5 Mbit/s"\n'
    (folder / "x.toml").write_text(text + 'delay = "delay:ms"\nloss = "loss:%"\n')
    assert run(["run", "x.toml", "--quiet", "--json"]) == 0
    told = capsys.readouterr().err
    assert "note: trace: 1 row has a delay of 0: 1 ns is taken" in told
    assert "note: trace: every loss is 0 or 1 %" in told
    assert "UserWarning" not in told


def test_a_3gpp_link_refuses_frames_that_differ(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It says what to do, and what it says helps; a live link takes them."""
    text = 'duration = "5 s"\nruns = 1\n[trace]\nfile = "frames.csv"\n[link]\nwrap = true\n'
    sized = clift.import_modem("modem.csv", time="1:s", esn0="2:dB", symbol_rate="500 kBd")
    sized.write(folder / "frames.csv")
    (folder / "x.toml").write_text(text + "live = true\n")
    assert run(["run", "x.toml", "--quiet", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["runs_done"] == 1
    (folder / "x.toml").write_text(text + '[ntn]\npreset = "nr-ntn-geo"\n')
    assert run(["run", "x.toml", "--quiet", "--json"]) == 2
    said = capsys.readouterr().err
    assert "transport blocks have one size; write a trace with" in said, said
    assert "clift trace convert FILE OUTPUT --lldu BYTES" in said
    words = ["trace", "convert", "frames.csv", "one.csv", "--lldu", "3000"]
    assert run(words) == 0
    (folder / "one.csv").rename(folder / "frames.csv")
    assert run(["run", "x.toml", "--quiet", "--json"]) == 0


@pytest.mark.parametrize(("esn0", "rate"), [("5.28", 0.170), ("5.33", 0.0625), ("5.7", 0.0)])
def test_a_decoder_curve_loses_frames_at_its_rate(esn0: str, rate: float, tmp_path: Path) -> None:
    """At 5.33 dB, between 5.28 and 5.38 dB, it is the geometric mean of 0.170 and 0.0230."""
    log = tmp_path / "log.csv"
    log.write_text("time,esn0\n" + "".join(f"{second},{esn0}\n" for second in range(300)))
    coding = {"modcod": "8PSK 3/5", "modcod_table": "dvb-s2-short"}
    how = {"time": "time:s", "esn0": "esn0:dB", "symbol_rate": "500 kBd"}
    phy = clift.import_modem(log, **how, **coding)
    assert phy.lldu_bytes == (9552 - 80) // 8
    share = np.mean(phy.d_ns == 0)
    # Frames of 5490 symbols for 300 s: five standard errors.
    assert len(phy) == 300 * SYMBOLS_PER_S // 5490 + 1
    assert abs(share - rate) < 5 * (max(rate, 1e-4) / len(phy)) ** 0.5
    drawn = [note for note in phy.notes["assumed"] if "frame error rate" in note]
    assert len(drawn) == 1
