"""What `clift run -o` leaves in any folder, and after any stop."""

import json
import shlex
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from small_study import PAGE

import clift
from clift.campaign import record, work
from clift.campaign.tables import NAMES
from clift.cli.main import run

pytestmark = pytest.mark.usefixtures("undrawn")

SCENARIO = f"runs = 2\n{PAGE}[link]\nlive = true\nwrap = true\n"
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
    return {path.name for path in folder.iterdir()} - {"store"}


def test_a_folder_holds_one_campaign_and_keeps_foreign_files(
    scenario: Path, other: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "keep"
    assert run(["run", str(scenario), "-o", str(folder)]) == 0
    first = names(folder)
    assert {"units-0.png", "units-1.png", "erasures.png"} < first
    assert set(json.loads((folder / "record.json").read_text())["files"]) == first - {"record.json"}
    (folder / "units-9.png").write_text("not in the record")
    (folder / "notes.txt").touch()
    capsys.readouterr()
    assert run(["run", str(other), "-o", str(folder)]) == 2
    said = f"error: {folder}: holds 4 runs of another study; choose another folder, or give --force"
    assert capsys.readouterr() == ("", f"{said} to remove them\n")
    assert run(["run", str(other), "-o", str(folder), "--force"]) == 0
    second = names(folder)
    assert {"units-9.png", "notes.txt"} < second
    files = json.loads((folder / "record.json").read_text())["files"]
    assert second == {"units-9.png", "notes.txt", "record.json", *files}
    assert not {"units-1.png", "erasures.png"} & second
    assert run(["run", str(scenario), "-o", str(folder), "--no-plots", "--force"]) == 0
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


@pytest.mark.parametrize("text", ["", "[]", '{"files": 3}', "[" * 200_000])
def test_a_foreign_record_is_kept_without_force(
    text: str, other: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "record.json"
    path.write_text(text)
    assert run(["run", str(other), "-o", str(tmp_path), "--no-plots"]) == 2
    assert path.read_text() == text
    assert "record.json: not a file of CLIFT" in capsys.readouterr().err
    assert run(["run", str(other), "-o", str(tmp_path), "--no-plots", "--force"]) == 0
    assert json.loads(path.read_text())["complete"]


def test_a_foreign_picture_is_refused_before_the_first_run(
    other: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "cwnd.png"
    picture.write_text("mine")
    (tmp_path / "mine.png").touch()  # no name of a picture of CLIFT
    command = ["run", str(other), "-o", str(tmp_path)]
    assert run(command) == 2
    said = f"error: {picture}: not a file of CLIFT; choose another folder, or give --force to "
    assert capsys.readouterr() == ("", f"{said}overwrite it or --no-plots to leave it\n")
    assert not (tmp_path / "record.json").exists()
    assert run([*command, "--no-plots"]) == 0
    assert picture.read_text() == "mine"
    assert "cwnd.png" not in json.loads((tmp_path / "record.json").read_text())["files"]
    assert run(command) == 2
    assert run([*command, "--force"]) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert run(command) == 0  # it is CLIFT's now


def test_nothing_but_the_store_is_there_where_no_run_finished(
    scenario: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "keep"
    monkeypatch.setattr(work.Worker, "run", stop)
    assert run(["run", str(scenario), "-o", str(folder)]) == 130
    out, err = capsys.readouterr()
    assert (out, err) == ("", "stopped before a run had finished; nothing was written\n")
    assert names(folder) == set()


def test_a_complete_folder_is_left_as_it_is(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "keep"
    command = ["run", str(scenario), "-o", str(folder), "--no-plots"]
    assert run(command) == 0
    first = capsys.readouterr().out
    before = {path.name: path.stat().st_mtime_ns for path in folder.glob("*.*")}
    assert run(command) == 0
    assert capsys.readouterr().out == first
    assert {path.name: path.stat().st_mtime_ns for path in folder.glob("*.*")} == before


def test_fewer_runs_than_the_folder_holds_are_said_with_the_command_for_all(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "two words"
    command = ["run", str(scenario), "-o", str(folder), "--no-plots", "--set", "seed=3"]
    assert run([*command, "--runs", "5"]) == 0
    capsys.readouterr()
    assert run([*command, "--runs", "3"]) == 0
    note = next(line for line in capsys.readouterr().err.splitlines() if "holds" in line)
    told, _, cure = note.partition("; all: ")
    assert told == f"note: {folder} holds 10 runs of this study; its tables have 6"
    assert run([*shlex.split(cure)[1:], "--no-plots"]) == 0
    shown, said = capsys.readouterr()
    assert "holds" not in said
    assert [line.split()[1] for line in shown.splitlines()[3:5]] == ["5", "5"]
    assert pq.read_table(folder / "runs.parquet").num_rows == 10


def test_a_table_that_cannot_be_written_costs_no_results(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "keep"
    (folder / "series.parquet").mkdir(parents=True)
    command = ["run", str(scenario), "-o", str(folder), "--no-plots", "--json", "--force"]
    assert run(command) == 2
    out, err = capsys.readouterr()
    assert json.loads(out)["complete"]
    refused = f"error: {folder}/series.parquet: cannot be written: Is a directory"
    assert err.splitlines()[-1] == refused
    (folder / "series.parquet").rmdir()
    assert run(command) == 0
    assert names(folder) == TABLES


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_stop_while_plots_are_drawn_keeps_the_table(
    options: list[str],
    scenario: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from clift.report import plots

    folder = tmp_path / "keep"
    monkeypatch.setattr(plots, "_sequence", stop)
    assert run(["run", str(scenario), "-o", str(folder), *options]) == 130
    out, err = capsys.readouterr()
    if options:
        assert json.loads(out)["complete"]
    else:
        assert "HARQ(10/12)" in out
    assert err.splitlines()[-1] == f"stopped while writing plots: {folder} is incomplete"
    drawn = {
        f"{name}.png" for name in ("comparison-completion_s", "goodput", "queue", "delay", "cwnd")
    }
    # Those that were being drawn are not among them.
    assert TABLES <= names(folder) <= TABLES | drawn
    files = set(json.loads((folder / "record.json").read_text())["files"])
    assert files == names(folder) - {"record.json"}


def test_a_stop_while_tables_are_written_is_said_too(
    scenario: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(record, "in_parts", stop)
    assert run(["run", str(scenario), "-o", str(tmp_path / "keep")]) == 130
    out, err = capsys.readouterr()
    assert "HARQ(10/12)" in out
    assert "stopped while writing tables" in err


def stop(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_the_record_of_many_cells_omits_their_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record, "TOLD_CELLS", 60)
    counts = (2, record.TOLD_CELLS + 1)
    text = (
        'duration = "50 ms"\n[channel]\nmodel = "bernoulli"\nerasures = "2 %"\nrate = "1 Mbit/s"\n'
    )
    studies = [
        clift.campaign.run(
            clift.Scenario.parse(
                f"{text}[vary]\nlink.rtt = {[f'{n} ms' for n in range(1, count + 1)]}"
            ),
            progress=False,
        )
        for count in counts
    ]
    told = []
    for study in studies:
        study.save(tmp_path / str(len(study.cells)), plots=False)
        kept = json.loads((tmp_path / str(len(study.cells)) / "record.json").read_text())
        told.append(kept["cells"])
        assert "metrics" in study.as_dict()["cells"][-1]
    assert tuple(map(len, told)) == counts
    assert ["metrics" in cells[0] for cells in told] == [True, False]
    large = tmp_path / str(counts[1])
    assert (large / "record.json").stat().st_size < 300 * counts[1]
    assert run(["report", str(large)]) == 0
