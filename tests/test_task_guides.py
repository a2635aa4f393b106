"""The guides by task, from top to bottom: their files, their commands, their Python."""

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from guide import blocks, commands, run_python

import clift
from clift.cli.main import run

ROOT = Path(__file__).parent.parent


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    clift.channel.gilbert_elliott(slots=120_000, alpha=0.99, beta=0.5, seed=1).write(
        tmp_path / "my.csv"
    )
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "guide",
    [
        "studies",
        # Its numbers have a test below.
        pytest.param("choose-a-scheme", marks=pytest.mark.long),
        pytest.param("reproduce-a-paper", marks=pytest.mark.long),
        pytest.param("report", marks=pytest.mark.long),
    ],
)
def test_a_guide_holds_from_top_to_bottom(
    guide: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for text in blocks(guide, "toml"):
        name = text.splitlines()[0].removeprefix("# ")
        assert name.endswith(".toml")
        (folder / name).write_text(text)
    assert len(commands(guide)) > (2 if guide == "report" else 7)
    for command in commands(guide):
        words = shlex.split(command)[1:]
        if guide == "report" and words[0] == "run":
            words += ["--set", "duration=5 s"]
        if words[0] == "run" and not {"--runs", "--explain", "--precision"} & set(words):
            words += ["--runs", "2"]
        assert run(words) == 0, command
        out = capsys.readouterr().out
        assert out, command
        if not {"--json", "--explain", "--csv"} & set(command.split()):
            assert max(map(len, out.splitlines())) <= 100, command
    if code := "\n".join(blocks(guide, "python")):
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


@pytest.mark.long
def test_the_guide_to_captures_holds(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "satellite.toml").write_text(blocks("captures", "toml")[0])
    skipped = []
    for command in commands("captures"):
        # A reader's shell finds the package with the command `python`.
        command = command.replace("$(python -c", f"$({shlex.quote(sys.executable)} -c")
        program, *arguments = shlex.split(command)
        if program == "clift":
            assert run(arguments) == 0, command
            assert "".join(capsys.readouterr()), command
        elif shutil.which(program) is None:
            skipped.append(command)
        else:
            done = subprocess.run(command, shell=True, capture_output=True, text=True)
            assert (done.returncode, done.stdout == "") == (0, False), command + done.stderr
    run_python("captures")
    if skipped:
        pytest.skip(f"skipped: there is no tshark for {len(skipped)} commands")


def test_the_guide_to_a_run_shows_a_scenario_and_values_to_compare(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, vary = blocks("run-a-scenario", "toml")
    (folder / "page.toml").write_text(page)
    (folder / "vary.toml").write_text(page + vary)
    assert run(["run", "page.toml", "--runs", "1"]) == 0
    assert run(["run", "vary.toml", "--runs", "1", "--set", "congestion=cubic"]) == 0
    assert "congestion = cubic" in capsys.readouterr().out


def test_the_guide_to_networks_shows_the_routes_of_its_scenario(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for text in blocks("networks", "toml"):
        name = text.splitlines()[0].removeprefix("# ")
        (folder / name).write_text(text)
        assert run(["run", name, "--explain"]) == 0
    [routes] = blocks("networks", "text")
    assert routes in capsys.readouterr().out


def test_the_guide_to_live_links_shows_a_scenario_and_what_the_check_prints(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    [text] = blocks("live", "toml")
    (folder / "link.toml").write_text(text)
    assert run(["run", "link.toml", "--explain"]) == 0
    capsys.readouterr()
    if run(["live", "--check"]) != 0:
        pytest.skip("skipped: this machine cannot run live links")
    shown = blocks("live", "console")[0].splitlines()
    assert capsys.readouterr().out == shown[1] + "\n"


def test_the_numbers_of_the_guide_are_those_of_its_example(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "choose.toml").write_text(blocks("choose-a-scheme", "toml")[0])
    page = " ".join((ROOT / "docs" / "guides" / "choose-a-scheme.md").read_text().split())
    schemes = ["--set", 'scheme=["ARQ", "HARQ(10/12)"]', "--set", "task=bulk", "--quiet"]
    assert run(["run", "choose.toml", "--quiet"]) == 0
    answer = "ARQ is best for bulk (16 % more goodput than HARQ(10/12), interval 11 to 18 %)"
    out = " ".join(capsys.readouterr().out.split())
    assert answer[:-1] in out
    assert answer in page
    assert run(["run", "choose.toml", *schemes, "--set", "transport.profile=papers"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "HARQ(10/12) is best (39 % more goodput than ARQ" in out
    assert "gives HARQ(10/12) 39 % more goodput than ARQ." in page
