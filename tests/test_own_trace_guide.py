"""The guide to your own trace: its commands, its scenarios, its Python."""

import shutil
from pathlib import Path

import pytest
from guide import blocks, commands, run_commands, run_python

import clift

ROOT = Path(__file__).parent.parent
GUIDE = "your-own-trace"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    phy = clift.channel.gilbert_elliott(slots=200_000, alpha=0.99, beta=0.5, seed=1)
    phy.write(tmp_path / "mine.csv")
    shutil.copy(ROOT / "tests" / "data" / "probes.csv", tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_the_commands_run() -> None:
    assert commands(GUIDE)[0].startswith("clift trace import ")
    run_commands(GUIDE)


@pytest.mark.filterwarnings("ignore::UserWarning")  # of what was taken
def test_the_scenarios_and_the_python_run(folder: Path) -> None:
    own, both = blocks(GUIDE, "toml")
    for name, text in [("own", own), ("both", both)]:
        (folder / f"{name}.toml").write_text(text)
        assert clift.simulate(folder / f"{name}.toml").goodput_kbps > 1, name
    run_python(GUIDE)


def test_a_measurement_of_both_ways_is_used_both_ways(folder: Path) -> None:
    _, both = blocks(GUIDE, "toml")
    (folder / "both.toml").write_text(both)
    there = clift.Scenario.read(folder / "both.toml").phy_trace()
    up = clift.read_trace("probes.csv", "probes", direction="up", rate_kbps=5000)
    assert there is not None
    assert there == up
    # Without the format it is CLIFT's own text, which it is not.
    (folder / "both.toml").write_text(both.replace('format = "probes"\n', ""))
    with pytest.raises(clift.CliftError):
        clift.Scenario.read(folder / "both.toml").phy_trace()
