"""clift.channel.lms, LandMobile and `clift trace synth`."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import clift
from clift.cli.main import run
from clift.land_mobile import LandMobile
from clift.report.channel_figure import crossings


def synth(*words: str) -> int:
    return run(["trace", "synth", *words])


def test_the_signature_of_the_design() -> None:
    phy = clift.channel.lms(
        preset="internet", esn0_db=6, interleaving_ms=36, duration_s=300, seed=1
    )
    assert (len(phy), phy.lldu_bytes, phy.decode_ns) == (298_863, 33, 36_000_000)
    assert 0.0055 / 1.6 < phy.stats()["erasure_rate"] < 0.0055 * 1.6
    assert int(phy.t_ns[1]) == 1_003_802


def test_presets_have_the_rates_of_the_paper() -> None:
    rates = {"internet": 0.263e6, "distribution": 2.34e6, "distribution-down": 2.25e6}
    for preset, expected in rates.items():
        stats = clift.channel.lms(preset, duration_s=10).stats()
        assert stats["rate_bps"] == pytest.approx(expected, rel=1e-3)
    down = clift.channel.lms("distribution-down", duration_s=10)
    assert down.lldu_bytes == 1523


def test_the_aeronautical_preset_fades_as_rice_says() -> None:
    """Levels and crossings per second as Rice (1948) has them, not as the core computes them."""
    channel = LandMobile("aeronautical")
    assert channel.doppler_hz == pytest.approx(50.1, abs=0.1)
    db, step_s = channel.levels(1_000_000, seed=1)
    power = 10 ** (db.astype(float) / 10)
    ratio = 10**0.8  # line of sight over scattered power
    assert power.mean() == pytest.approx(1 + 1 / ratio, rel=0.02)
    # Ratio by moments: gamma = var(power) / mean(power)^2 = (1 + 2 K) / (1 + K)^2.
    gamma = power.var() / power.mean() ** 2
    assert np.sqrt(1 - gamma) / (1 - np.sqrt(1 - gamma)) == pytest.approx(ratio, rel=0.06)
    # Crossings of a level rho relative to the rms, downwards.
    for level_db in (-5, -2, 0):
        rho = 10 ** (level_db / 20)
        low = power < power.mean() * rho**2
        seen = np.count_nonzero(low[1:] & ~low[:-1]) / (len(power) * step_s)
        bessel = np.i0(2 * rho * np.sqrt(ratio * (ratio + 1)))
        density = rho * np.exp(-ratio - (ratio + 1) * rho**2) * bessel
        expected = np.sqrt(2 * np.pi * (ratio + 1)) * channel.doppler_hz * density
        assert seen == pytest.approx(expected, rel=0.08), level_db


def test_a_file_written_in_parts_is_the_trace(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    channel = LandMobile("distribution", 14)
    channel.write(path, duration_s=30, seed=3, information=True)
    phy, whole = clift.read_trace(path), channel.trace(30, seed=3)
    assert (phy.t_ns == whole.t_ns).all()
    assert (phy.d_ns == whole.d_ns).all()
    assert phy.decode_ns == 36_000_000
    table = pq.read_table(path)
    mi = channel.information(30, seed=3)
    assert np.allclose(table["mi"].to_numpy(), mi, atol=1e-6)


def test_the_command_line_and_the_library_make_the_same_trace(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    words = ["--preset", "internet", "--esn0", "6 dB", "--duration", "30 s", "--seed", "1"]
    assert synth(*words, "-o", str(path)) == 0
    phy, expected = clift.read_trace(path), clift.channel.lms("internet", 6, duration_s=30)
    assert (phy.d_ns == expected.d_ns).all()
    text = tmp_path / "x.csv"
    assert synth(*words, "-o", str(text)) == 0
    assert (clift.read_trace(text).d_ns == expected.d_ns).all()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--environment", "lunar"], "rural-wooded"),
        (["--environment", "rural-wooded", "--elevation", "10 deg"], "20 to 70 degrees"),
        (["--environment", "urban", "--model", "perez-fontan"], "heavy-tree-shadowed"),
        (["--environment", "urban", "--model", "itu"], "p681, perez-fontan"),
        (["--elevation", "45 deg"], "needs an environment"),
        (["--speed", "0 km/h"], "above 0"),
        (["--esn0", "6"], '"6 dB"'),
        (["--preset", "mars"], "internet, distribution, distribution-down, its, aeronautical"),
        (["--code", "ldpc"], "turbo-264-1/3"),
        (["--modulation", "8psk"], "qpsk, 16qam"),
        (["--reference", "peak"], "--reference 'peak': unknown value `peak`, one of mean, los"),
        (["--duration", "0 s"], "duration: 0 ns is out of range"),
        (["--carrier", "12 GHz", "--environment", "urban"], "3 to 5 GHz"),
        (["--threshold", "2"], "above 0 and below 1"),
        (["--levels", "missing.csv"], "missing.csv"),
    ],
)
def test_bad_input_gives_one_line_with_the_valid_names(
    words: list[str], expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.parquet"
    assert synth("-o", str(path), *words) == 2
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert expected in message
    assert not path.exists()


def test_measured_levels_go_through_the_receiver(tmp_path: Path) -> None:
    levels = tmp_path / "levels.csv"
    rows = ["time_s,sv,level", *(f"{s},A,{45 if s < 30 else ''}" for s in range(40))]
    rows += [f"{s},A,20" for s in range(40, 60)]
    rows += [f"{s},B,0" for s in range(60)]
    levels.write_text("\n".join(rows))
    path = tmp_path / "x.parquet"
    words = ["--levels", str(levels), "--level-column", "level", "--where", "sv=A"]
    assert synth(*words, "--shift", "-35 dB", "-o", str(path)) == 0
    phy = clift.read_trace(path)
    arrived = phy.d_ns > 0
    # 10 dB for 29 s, then linear to -15 dB at 40 s: nothing arrives from about 0 dB on.
    assert arrived[phy.t_ns < 29e9].all()
    assert not arrived[phy.t_ns > 36e9].any()


def test_a_table_of_ones_own_is_the_code(tmp_path: Path) -> None:
    table = tmp_path / "per.csv"
    table.write_text("esn0_db,per\n2,0.25\n9,0.25\n")
    path = tmp_path / "x.csv"
    assert synth("--per-table", str(table), "--duration", "60 s", "-o", str(path)) == 0
    rate = clift.read_trace(path).stats()["erasure_rate"]
    assert rate == pytest.approx(0.25, abs=0.01)


def test_the_road_is_the_one_under_the_levels() -> None:
    channel = LandMobile(environment="village", elevation_deg=45, reference="los")
    road = channel.road(1001, seed=2)
    moving = road["direct_db"] != road["direct_end_db"]
    # States and transitions take turns, and where one ends the next begins.
    assert (moving[1:] != moving[:-1]).all()
    assert np.array_equal(road["direct_end_db"][:-1], road["direct_db"][1:])
    # Levels half-way through the longest stay are those of its parameters.
    longest = int(np.argmax(road["length_m"] * ~moving))
    ends = np.cumsum(road["length_m"])
    levels, step_s = channel.levels(int(ends[longest] / (0.299792458 / 2.2 / 32)), seed=2)
    count = int(road["length_m"][longest] * 0.9 / (step_s * 60 / 3.6))
    power = np.mean(10 ** (levels[-count:].astype(float) / 10))
    spread = np.log(10) / 10 * road["psi_db"][longest]
    expected = 10 ** (road["direct_db"][longest] / 10) * np.exp(spread**2 / 2)
    expected += 10 ** (road["multipath_db"][longest] / 10)
    assert power == pytest.approx(expected, rel=0.15)
    assert np.isinf(LandMobile().road(1)["length_m"][0])
    with pytest.raises(clift.ScenarioError, match="count = 0"):
        channel.road(0)


def test_crossings_go_down_from_a_level_that_is_not_below() -> None:
    levels = np.array([1.0, 0.0, 0.0, 1.0, 0.0])
    rates, durations = crossings(levels, 0.5, np.array([0.5, 0.0]))
    assert rates.tolist() == [1.0, 0.0]
    assert durations[0] == 0.75
    assert np.isnan(durations[1])


def test_parameters_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(clift.ScenarioError, match="give one of them"):
        LandMobile(environment="urban", loo=(0, 1, -10, 1.7))
    with pytest.raises(clift.ScenarioError, match="mi, esn0"):
        LandMobile(per_table=[(0, 1), (1, 0)], per_axis="snr")
    with pytest.raises(clift.ScenarioError, match="one of `code`, `per_table` and `threshold`"):
        LandMobile(code="turbo-264-1/3", threshold=0.5)


@pytest.mark.long
def test_a_picture_shows_the_channel(tmp_path: Path) -> None:
    path, picture = tmp_path / "x.parquet", tmp_path / "x.png"
    words = ["--environment", "village", "--duration", "2 s", "--plot", str(picture)]
    assert synth(*words, "-o", str(path)) == 0
    assert picture.read_bytes()[1:4] == b"PNG"


def test_memory_does_not_grow_with_the_duration(tmp_path: Path) -> None:
    """Peak memory of a process that writes half and three minutes at 8,864 code words a second."""
    # `ru_maxrss` of a new process may be that of the process that started it.
    script = (
        "import re, sys; from clift.land_mobile import LandMobile\n"
        "for seconds in (30, 180):\n"
        "    LandMobile('distribution').write(sys.argv[1], seconds)\n"
        "    print(re.search(r'VmHWM:\\s+(\\d+) kB', open('/proc/self/status').read())[1])"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "x.parquet")]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    first, second = map(int, done.stdout.split())
    # A trace of 180 s in memory would take 25 MB.
    assert second < first + 10_000
