"""Hostile files, names and arrays give one line on stderr, soon and without control characters."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from command import clift as clift_command
from matplotlib.figure import Figure

import clift
from clift.cli.main import run
from clift.design.record import _svg

SCENARIO = """
duration = "1 s"
[application]
type = "file"
size = "3 kB"
[channel]
model = "bernoulli"
erasures = "2 %"
rate = "263 kbit/s"
"""


@pytest.mark.parametrize(
    "text",
    [
        "a=" + "[" * 500,
        "a=" + "[" * 500 + "]" * 500,
        "[" + ".".join(["a"] * 60_000) + "]",
        ".".join(["a"] * 60_000) + " = 1",
        "a = " + "{a = " * 500 + "1" + "}" * 500,
    ],
    ids=["open brackets", "brackets", "header", "key", "tables"],
)
def test_deep_nesting_gives_one_line(text: str, tmp_path: Path, capsys) -> None:
    path = tmp_path / "deep.toml"
    path.write_text(text)
    assert run(["run", str(path)]) == 2
    assert "brackets or dotted keys are nested too deeply" in capsys.readouterr().err


def test_a_name_that_is_not_utf_8_is_refused_and_shown_escaped(tmp_path: Path, capsys) -> None:
    path = tmp_path / os.fsdecode(b"x\xff.toml")
    path.write_text(SCENARIO)
    assert run(["run", str(path)]) == 2
    assert r"x\udcff.toml: not UTF-8; use a name" in capsys.readouterr().err
    folder = tmp_path / os.fsdecode(b"out\xff")
    plain = tmp_path / "plain.toml"
    plain.write_text(SCENARIO)
    assert run(["run", str(plain), "-o", str(folder), "--no-plots", "--quiet"]) == 0
    assert run(["results", str(folder)]) == 0


def test_messages_do_not_steer_the_terminal(tmp_path: Path, capsys) -> None:
    path = tmp_path / "x\u202e\x1b[2J\t.toml"
    path.write_text("a = 1")
    assert run(["run", str(path)]) == 2
    err = capsys.readouterr().err
    assert err.rstrip("\n").isprintable()
    assert r"x\u202e\x1b[2J .toml" in err


def test_a_plugin_without_an_end_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for path in ("/dev/zero", tmp_path / "fifo"):
        with pytest.raises(clift.ScenarioError) as refused:
            clift.load_plugin(path)
        cure = "give a Python file that registers parts"
        assert str(refused.value) == f"plugin {path}: not a regular file; {cure}"


def test_misaligned_arrays_are_copied() -> None:
    d = np.frombuffer(bytearray(8 * 10 + 1), np.int64, offset=1)
    d[:] = 5
    record = np.zeros(10, [("id", "i1"), ("t", "i8")])
    record["t"] = np.arange(10)
    assert not d.flags.aligned
    assert not record["t"].flags.aligned
    phy = clift.PhyTrace(record["t"], d)
    assert phy.t_ns.tolist() == list(range(10))
    assert phy.d_ns.tolist() == [5] * 10


def test_vector_graphics_of_a_search_are_the_same_each_time() -> None:
    def drawn() -> bytes:
        figure = Figure()
        figure.subplots().plot([0, 1], [0, 1], clip_on=True)
        return _svg(figure)

    first = drawn()
    assert first == drawn()
    assert b"<dc:date>" not in first


@pytest.mark.parametrize(
    "words",
    [
        ["run", "s.json", "--perfetto", "s.json"],
        ["live", "s.json", "--log", "s.json", "--", "true"],
        ["live", "s.json", "--report", "s.json", "--", "true"],
        ["tmt", "t.parquet", "--scheme", "ARQ", "-o", "t.parquet"],
        ["trace", "convert", "t.parquet", "t.parquet", "--share", "2"],
    ],
    ids=" ".join,
)
def test_no_command_writes_over_its_input(words: list[str], tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s.json").write_text(SCENARIO)
    clift.PhyTrace([0, 10], [5, 5]).write("t.parquet")
    before = [Path(name).read_bytes() for name in ("s.json", "t.parquet")]
    refused = clift_command(*words)
    assert (refused.returncode, "is also an input" in refused.stderr) == (2, True), refused.stderr
    assert [Path(name).read_bytes() for name in ("s.json", "t.parquet")] == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--runs", "1", "--set", "runs=3"], "give --runs or --set runs, not both"),
        (["--seed", "5", "--set", "seed=7"], "seed is set 2 times; set it once"),
        (["--set", "scheme=ARQ", "--set", "scheme=none"], "scheme is set 2 times; set it once"),
        (["--compare", ""], "--compare has an empty value"),
        (["-o", ""], "-o has an empty value"),
        (["--capture", "a.pcapng", "--perfetto", "a.pcapng"], "a.pcapng is given for two outputs"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_contradictions_are_refused(words: list[str], said: str, tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(SCENARIO)
    refused = clift_command("run", path, *words)
    assert (refused.returncode, said in refused.stderr) == (2, True), refused.stderr


@pytest.mark.parametrize("late", ["nan", "-1"])
def test_a_limit_of_lateness_is_a_time(late: str, tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(SCENARIO)
    refused = clift_command("live", path, "--late", late, "--", "true")
    assert (refused.returncode, "--late: give 0 or more" in refused.stderr) == (2, True)


@pytest.mark.parametrize("closed", ["2>&-", ">&-", "2>&- >&-"])
def test_a_closed_stream_costs_no_run(closed: str, tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(SCENARIO)
    command = f'"{sys.executable}" -m clift run "{path}" -o "{tmp_path}/r" --no-plots {closed}'
    assert subprocess.run(["sh", "-c", command], check=False).returncode == 0
    assert clift_command("results", tmp_path / "r", "--verify").returncode == 0


def test_a_link_trace_is_not_called_damaged(tmp_path: Path) -> None:
    phy, link = tmp_path / "phy.parquet", tmp_path / "link.parquet"
    clift.PhyTrace([0, 10], [5, 5]).write(phy)
    assert clift_command("tmt", phy, "--scheme", "ARQ", "-o", link).returncode == 0
    refused = clift_command("trace", "info", link)
    assert "a link trace, to which a scheme was applied" in refused.stderr
