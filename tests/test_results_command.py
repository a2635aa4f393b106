"""`clift results`: what is in results folders, and how two of them differ."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from clift.cli.main import run

TEXT = """
duration = "10 s"
runs = 4
[channel]
model = "bernoulli"
erasures = "5 %"
rate = "263 kbit/s"
[link]
live = true
[vary]
scheme = ["none", "ARQ"]
link.queue = ["20 packets", "200 packets"]
"""


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    where = tmp_path_factory.mktemp("results")
    study = where / "study.toml"
    study.write_text(TEXT)
    command = ["sweep", str(study), "--no-plots", "--quiet", "-o"]
    assert run([*command, str(where / "a")]) == 0
    assert run([*command, str(where / "b"), "--set", "transport.congestion=newreno"]) == 0
    return str(where / "a"), str(where / "b")


def test_cells_are_listed_and_chosen(folders: tuple[str, str], capsys) -> None:
    capsys.readouterr()
    assert run(["results", folders[0]]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split()[:3] == ["scheme", "queue", "runs"]
    assert len(lines) == 4
    assert run(["results", folders[0], "--where", "scheme=ARQ", "--json"]) == 0
    cells = json.loads(capsys.readouterr().out)
    runs = pq.read_table(Path(folders[0], "runs.parquet")).to_pylist()
    for cell in cells:
        own = [
            row["goodput_kbps"]
            for row in runs
            if (row["scheme"], row["queue"]) == (cell["scheme"], cell["queue"])
        ]
        assert cell["scheme"] == "ARQ"
        assert cell["mean"] == pytest.approx(sum(own) / 4)


def test_two_axes_make_a_table(folders: tuple[str, str], capsys) -> None:
    capsys.readouterr()
    axes = ["--rows", "scheme", "--columns", "queue"]
    assert run(["results", folders[0], *axes, "--metric", "links.0.share_used"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[0] for line in lines[1:]] == ["none", "ARQ"]
    assert "20 packets" in lines[0]
    assert "200 packets" in lines[0]
    assert run(["results", folders[0], "--rows", "scheme", "--columns", "scheme"]) == 2
    assert "queue varies too: choose one of 20 packets" in capsys.readouterr().err


def test_two_folders_are_compared_by_pairs(folders: tuple[str, str], capsys) -> None:
    capsys.readouterr()
    assert run(["results", *folders, "--metric", "segments_sent", "--json"]) == 0
    cells = json.loads(capsys.readouterr().out)
    assert len(cells) == 4
    for cell in cells:
        assert cell["difference"] == pytest.approx(cell["mean"] / cell["other_mean"] - 1)
    assert any(cell["difference"] for cell in cells)
    assert run(["results", *folders]) == 0
    assert "difference (%)" in capsys.readouterr().out


def test_means_beside_a_difference_are_of_the_runs_that_both_have(
    folders: tuple[str, str], tmp_path: Path, capsys
) -> None:
    study, folder = tmp_path / "study.toml", str(tmp_path / "two")
    study.write_text(TEXT)
    words = ["sweep", str(study), "--no-plots", "--quiet", "--runs", "2", "-o", folder]
    assert run([*words, "--set", "transport.congestion=newreno"]) == 0
    capsys.readouterr()
    assert run(["results", folders[0], folder, "--json"]) == 0
    cells = json.loads(capsys.readouterr().out)
    assert any(cell["difference"] for cell in cells)
    for cell in cells:
        assert cell["difference"] == pytest.approx(cell["mean"] / cell["other_mean"] - 1)


def test_the_hint_to_choose_a_label_can_be_pasted(
    folders: tuple[str, str], tmp_path: Path, capsys
) -> None:
    study = tmp_path / "three.toml"
    study.write_text(f'{TEXT}link.rtt = ["20 ms", "500 ms"]\n'.replace("runs = 4", "runs = 1"))
    folder = str(tmp_path / "three")
    assert run(["sweep", str(study), "--no-plots", "--quiet", "-o", folder]) == 0
    capsys.readouterr()
    command = ["results", folder, "--rows", "scheme", "--columns", "rtt"]
    assert run(command) == 2
    hint = capsys.readouterr().err.partition("e.g. ")[2]
    assert hint == "--where 'queue=20 packets'\n"
    assert run([*command, *shlex.split(hint)]) == 0
    capsys.readouterr()
    assert run([*command, "--where", "queue=20", "packets"]) == 2
    said = "packets: no such folder; --where needs quotes around queue=20 packets\n"
    assert capsys.readouterr().err == f"error: {said}"
    assert run(["results", folders[0], str(tmp_path / "none")]) == 2
    assert "none: no such folder" in capsys.readouterr().err


def test_rows_are_those_of_the_table(folders: tuple[str, str], capsys) -> None:
    capsys.readouterr()
    assert run(["results", folders[0], "--csv", "--where", "queue=20 packets"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split(",")[:4] == ["scheme", "queue", "run", "seed"]
    assert [line.split(",")[:3] for line in lines[1:]] == [
        [f'"{scheme}"', '"20 packets"', str(n)] for scheme in ("none", "ARQ") for n in range(4)
    ]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--where", "scheme=HARQ"], "has none, ARQ"),
        (["--where", "speed=9"], "not an axis of"),
        (["--where", "scheme"], "give AXIS=LABEL"),
        (["--metric", "share_used"], "links.0.share_used"),
        (["--rows", "scheme"], "--rows and --columns must be given together"),
    ],
)
def test_missing_results_give_one_line(
    folders: tuple[str, str], options: list[str], said: str, capsys
) -> None:
    capsys.readouterr()
    assert run(["results", folders[0], *options]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert len(err.splitlines()) == 1


def test_a_folder_without_results_names_the_command_that_makes_them(tmp_path: Path, capsys) -> None:
    assert run(["results", str(tmp_path)]) == 2
    assert f"clift run STUDY.toml -o {tmp_path}" in capsys.readouterr().err


def test_tables_read_in_one_line_elsewhere(folders: tuple[str, str]) -> None:
    path = Path(folders[0], "runs.parquet")
    pandas = pytest.importorskip("pandas")
    assert len(pandas.read_parquet(path)) == 16


def test_tables_read_in_polars(folders: tuple[str, str]) -> None:
    polars = pytest.importorskip("polars")
    assert polars.read_parquet(Path(folders[0], "runs.parquet")).height == 16


def test_tables_read_in_duckdb(folders: tuple[str, str]) -> None:
    duckdb = pytest.importorskip("duckdb")
    path = Path(folders[0], "runs.parquet")
    assert duckdb.sql(f"select count(*) from '{path}'").fetchone() == (16,)


# Runs a command and prints its exit code and how many of the threads that it began are left.
_THREADS = """
import contextlib, os, sys
from clift.cli.main import run
before = set(os.listdir("/proc/self/task"))
with contextlib.redirect_stdout(sys.stderr):
    code = run(sys.argv[1:])
print(code, len(set(os.listdir("/proc/self/task")) - before))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="Linux lists a process's threads")
@pytest.mark.parametrize("options", [[], ["--csv"], ["--where", "scheme=ARQ"], ["--metric", "no"]])
def test_no_thread_is_left_that_could_abort_the_process_at_its_end(
    folders: tuple[str, str], options: list[str]
) -> None:
    command = [sys.executable, "-c", _THREADS, "results", folders[0], *options]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    code = 2 if "no" in options else 0
    assert done.stdout.split() == [str(code), "0"], done.stderr
