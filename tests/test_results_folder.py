"""What `clift run -o` leaves in a folder, whatever was there before and whenever it is stopped."""

import json
from pathlib import Path

import pytest

from clift.campaign import record, runner
from clift.campaign.tables import NAMES
from clift.cli.main import run

SCENARIO = """
duration = "60 s"
runs = 2
[application]
type = "file"
size = "50 kB"
[channel]
model = "bernoulli"
erasures = "2 %"
rate = "263 kbit/s"
lldu = "33 B"
decoding = "36 ms"
[link]
live = true
wrap = true
[vary]
scheme = ["ARQ", "HARQ(10/12)"]
"""
TABLES = {"record.json", *(f"{name}.parquet" for name in NAMES)}


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "live.toml"
    path.write_text(SCENARIO)
    return path


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """A campaign without erasures, and of one cell."""
    path = tmp_path / "other.toml"
    path.write_text('duration = "5 s"\n[ntn]\n')
    return path


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_folder_holds_one_campaign_and_what_is_not_ours(
    scenario: Path, other: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "keep"
    assert run(["run", str(scenario), "-o", str(folder)]) == 0
    first = names(folder)
    assert {"units-0.png", "units-1.png", "erasures.png"} < first
    assert set(json.loads((folder / "record.json").read_text())["files"]) == first - {"record.json"}
    (folder / "units-9.png").write_text("not in the record")
    (folder / "notes.txt").touch()
    assert run(["run", str(other), "-o", str(folder)]) == 0
    second = names(folder)
    assert {"units-9.png", "notes.txt"} < second
    files = json.loads((folder / "record.json").read_text())["files"]
    assert second == {"units-9.png", "notes.txt", "record.json", *files}
    assert not {"units-1.png", "erasures.png"} & second
    assert run(["run", str(scenario), "-o", str(folder), "--no-plots"]) == 0
    assert names(folder) == {"units-9.png", "notes.txt", *TABLES}


def test_a_record_cannot_have_other_files_removed(other: Path, tmp_path: Path) -> None:
    folder = tmp_path / "keep"
    folder.mkdir()
    files = ["../outside.png", "notes.txt", "other/cwnd.png", 3, "cwnd.png"]
    (folder / "other").mkdir()
    for name in files:
        (folder / str(name)).touch()
    (folder / "record.json").write_text(json.dumps({"files": files}))
    assert run(["run", str(other), "-o", str(folder), "--no-plots"]) == 0
    assert [name for name in files if not (folder / str(name)).exists()] == ["cwnd.png"]


@pytest.mark.parametrize("text", ["", "[]", '{"files": 3}', '{"clift": "0.1.0"}'])
def test_a_folder_with_any_record_can_be_used(text: str, other: Path, tmp_path: Path) -> None:
    (tmp_path / "record.json").write_text(text)
    assert run(["run", str(other), "-o", str(tmp_path), "--no-plots"]) == 0
    assert json.loads((tmp_path / "record.json").read_text())["complete"]


def test_nothing_is_written_where_no_run_finished(
    scenario: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "keep"
    assert run(["run", str(scenario), "-o", str(folder), "--no-plots"]) == 0
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    capsys.readouterr()
    monkeypatch.setattr(runner, "run_many", stop)
    assert run(["run", str(scenario), "-o", str(folder)]) == 130
    out, err = capsys.readouterr()
    assert (out, err) == ("", "stopped before a run had finished; nothing was written\n")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_stop_while_plots_are_drawn_keeps_the_table(
    options: list[str],
    scenario: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from clift.report import sequence

    folder = tmp_path / "keep"
    monkeypatch.setattr(sequence, "draw", stop)
    assert run(["run", str(scenario), "-o", str(folder), *options]) == 130
    out, err = capsys.readouterr()
    if options:
        assert json.loads(out)["complete"]
    else:
        assert "HARQ(10/12)" in out
    assert err.splitlines()[-1] == f"stopped while plots were written: {folder} lacks some"
    drawn = {
        f"{name}.png" for name in ("comparison-completion_s", "goodput", "queue", "delay", "cwnd")
    }
    assert names(folder) == TABLES | drawn
    files = set(json.loads((folder / "record.json").read_text())["files"])
    assert files == names(folder) - {"record.json"}


def test_a_stop_while_tables_are_written_is_said_too(
    scenario: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(record, "tables", stop)
    assert run(["run", str(scenario), "-o", str(tmp_path / "keep")]) == 130
    out, err = capsys.readouterr()
    assert "HARQ(10/12)" in out
    assert "stopped while tables were written" in err


def stop(*_: object, **__: object) -> None:
    raise KeyboardInterrupt
