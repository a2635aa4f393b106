"""What all commands share: names of pictures, times, and how they stop."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from clift.cli.main import run
from clift.report.style import Picture
from clift.report.trace_figure import save

PLACES = ["--preset", "leo66", "--from", "43.6,1.44", "--to", "34,-118"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["trace", "plot", "missing.csv", "-o", "x.foo"],
        ["model", "--alpha", "0.98", "--beta", "0.1:0.9:5", "--plot", "x.xyz"],
        ["constellation", *PLACES, "--plot", "x"],
        ["paper", "what-changed", "-o", "x.parquet"],
    ],
)
def test_a_picture_of_an_unknown_kind_is_refused_before_any_work(
    arguments: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert "use .png, .pdf, .svg" in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("suffix", "start"), [("png", b"\x89PNG"), ("PDF", b"%PDF"), ("svg", b"<?xml")]
)
def test_the_suffix_selects_the_picture_format(suffix: str, start: bytes, tmp_path: Path) -> None:
    """All commands write pictures by this function."""
    picture = tmp_path / f"x.{suffix}"
    save(Picture(figsize=(1, 1)), picture)
    assert picture.read_bytes().startswith(start)


def test_times_are_seconds_or_have_a_unit(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def table(duration: str) -> str:
        assert run(["constellation", *PLACES, "--duration", duration]) == 0
        return capsys.readouterr().out

    assert table("60") == table("60 s") == table("1 min") == table("6e1")
    short = ["paper", "wiopt2003", "--figure", "3", "--profile", "papers", "--runs", "1"]

    def figure(duration: str) -> str:
        assert run([*short, "--duration", duration]) == 0
        return capsys.readouterr().out

    assert figure("20") == figure("20 s")
    for wrong in ("0.5", "500 ms", "-3", "nan", "inf", "1e99999", "20 m", "2e6 s"):
        assert run([*short, "--duration", wrong]) == 2
        assert capsys.readouterr().err.count("\n") == 1


# Tells by a dot that the work begins: an earlier signal meets the imports.
READY = """
import sys
from contextlib import contextmanager
from clift.cli import main, options
@contextmanager
def told():
    with options.until_written():
        print(".", flush=True)
        yield
sys.modules["clift.cli.paper"].until_written = told
sys.modules["clift.cli.constellation"].until_written = told
main()
"""


@pytest.mark.parametrize(
    "arguments",
    [
        ["paper", "what-changed"],
        ["constellation", *PLACES, "--duration", "270 h", "-o", "x.csv"],
    ],
)
def test_ctrl_c_stops_at_once_and_says_so(arguments: list[str], tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", READY, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"TERM": "dumb"},
    )
    assert process.stdout.readline() == ".\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert (process.returncode, out) == (130, "")
    assert err in ("stopped; nothing was written\n", "stopped\n")
    assert list(tmp_path.iterdir()) == []


def test_the_help_lists_all_choices(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    assert "TCP and QUIC" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            "model --p 0.05 --burst 3 --check --slots 2000",
            "--slots 2000: too few for this round trip",
        ),
        ("model --p 2", "--p 2 is not a probability"),
        (
            "model --p 0.1 --p-good 0.3 --p-bad 0.2 --burst 3",
            "p needs --p-good 0 and --p-bad 1; give",
        ),
        ("trace synth -o x.csv --preset foo", "--preset 'foo': unknown value `foo`"),
        ("trace synth -o x.csv --elevation 100deg", "--elevation 100.0 deg: needs an environment"),
    ],
)
def test_a_message_has_options_where_python_has_keywords(
    words: str, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(words.split()) == 2
    said = capsys.readouterr().err
    assert expected in said
    assert " = " not in said or "environment" in words


@pytest.mark.parametrize("module", ["numpy", "click"])
def test_ctrl_c_while_the_command_is_imported_is_answered_in_a_line(
    module: str, tmp_path: Path
) -> None:
    slow = "import os, time\nos.write(1, b'importing')\ntime.sleep(60)\n"
    (tmp_path / f"{module}.py").write_text(slow)
    process = subprocess.Popen(
        [sys.executable, "-m", "clift", "--version"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
    )
    assert process.stdout is not None
    assert process.stdout.read(9) == b"importing"
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=300)
    assert (process.returncode, told) == (130, b"stopped\n")


def test_a_further_name_is_the_same_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "study.toml").write_text('duration = "1 s"\n[ntn]\n')
    short = ["wiopt2003", "--figure", "8", "--runs", "1", "--duration", "2"]
    calls = [["paper", *short], ["sweep", str(tmp_path / "study.toml"), "--json"]]
    for words, main in zip(calls, (["paper", "run"], ["run"]), strict=True):
        told = []
        for call in (words, [*main, *words[1:]]):
            assert run(call) == 0
            told.append(capsys.readouterr().out)
        assert told[0] == told[1] != ""
    assert run(["sweep", str(tmp_path / "study.toml"), "--set", "duration=2 x"]) == 2
    assert "--set duration=2 x" in capsys.readouterr().err
    for key in ("--dry-run", "--scheduler=tcp://x:1"):
        assert run(["run", str(tmp_path / "study.toml"), key]) == 2
        assert f"{key.partition('=')[0]} needs -o FOLDER" in capsys.readouterr().err
