"""Traces from what others measured: what a user meets beside the guide's own path."""

from pathlib import Path

import pytest

import clift
from clift.cli.main import run

LOG = "time,rate,delay\n" + "".join(f"{second},5,20\n" for second in range(10))


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.csv"
    path.write_text(LOG)
    return path


def columns(unit: str = "Mbit/s") -> list[str]:
    return ["--time", "time:s", "--rate", f"rate:{unit}", "--delay", "delay:ms"]


def refused(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """What a command that fails says: one line, and exit code 2."""
    assert run([str(word) for word in words]) == 2
    said = capsys.readouterr().err.strip()
    assert len(said.splitlines()) == 1
    return said


def test_a_series_in_a_scenario_is_the_one_that_is_imported(log: Path) -> None:
    imported = clift.import_series(log, time="time:s", rate="rate:Mbit/s", delay="delay:ms")
    assert (imported.lldu_bytes, len(imported)) == (1500, 4167)  # 5 Mbit/s for 10 s
    text = '[trace]\nfile = "log.csv"\ntime = "time:s"\nrate = "rate:Mbit/s"\ndelay = "delay:ms"\n'
    (log.parent / "x.toml").write_text(text)
    used = clift.Scenario.read(log.parent / "x.toml").phy_trace()
    assert used is not None
    assert used.lldu_bytes == 1500
    assert used.t_ns.tolist() == imported.t_ns.tolist()
    assert used.d_ns.tolist() == imported.d_ns.tolist()


def test_a_rate_in_the_wrong_unit_is_refused_at_once(log: Path, tmp_path: Path, capsys) -> None:
    words = ["trace", "import", log, *columns("Gbit/s"), "--lldu", "40", "-o", tmp_path / "x.csv"]
    assert " of memory in all, and " in refused(capsys, *words, "--memory", "100 MB")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log.csv"]


def test_what_is_read_is_not_written_over(log: Path, capsys) -> None:
    words = ["trace", "import", log, *columns(), "-o", log.parent / "." / "log.csv"]
    assert "give another file to write" in refused(capsys, *words)
    assert log.read_text() == LOG


def test_points_of_an_axis_are_chosen_also_if_it_is_called_as_its_key(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text(
        'scheme = "FEC(10/12)"\n[channel]\nmodel = "bernoulli"\nerasures = 0.01\n'
        'rate = "1 Mbit/s"\n[vary]\nscheme = ["ARQ", "none", "HARQ(10/12)"]\n'
    )
    chosen = clift.Scenario.read(path, {"scheme": ["none", "ARQ"]})
    assert [cell.labels["scheme"] for cell in chosen.cells()] == ["ARQ", "none"]
    assert clift.Scenario.read(path, {"scheme": "ARQ"}).size == 1
