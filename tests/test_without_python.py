"""Scenario files give the same in the core alone as in Python, to the last bit."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

import clift

ROOT = Path(__file__).parents[1]
# QUIC is no part of the core: programs add it by name.
# Those that take long have a test of their own that runs them.
LONG = ("design_geo", "how_many_terminals", "leo", "leo_handover")
FILES = [
    pytest.param(path, id=path.stem, marks=[pytest.mark.long] if path.stem in LONG else [])
    for path in sorted((ROOT / "examples").glob("*.toml"))
    if '"quic"' not in path.read_text()
]


@pytest.fixture(scope="module")
def program() -> Path:
    """Returns the example that runs a scenario file, which `make` builds beside the extension."""
    found = ROOT / "target" / "local" / "examples" / "scenario"
    if not found.exists():
        pytest.skip("target/local/examples/scenario is missing; make test builds it")
    return found


def shortened(path: Path, folder: Path) -> Path:
    """A copy of an example beside its files, whose runs last at most 20 s."""
    (folder / "python").symlink_to(ROOT / "python")
    folder /= "examples"
    folder.mkdir()
    for other in path.parent.iterdir():
        if other.suffix not in (".toml", ".py"):
            (folder / other.name).symlink_to(other)
    copy = folder / path.name
    text = re.sub(r'^duration = "\d{2,} s"', 'duration = "20 s"', path.read_text(), flags=re.M)
    copy.write_text(text)
    return copy


def first_runs(path: Path) -> list[dict[str, Any]]:
    """Labels and summary of the first run of each cell, by Python."""
    cells = clift.Scenario.read(path).cells()
    runs = clift.run_many([cell.replications()[0] for cell in cells], progress=False)
    pairs = zip(cells, runs, strict=True)
    return [
        {"labels": cell.labels, "replication": 0, "summary": run.summary()} for cell, run in pairs
    ]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("path", FILES)
def test_the_core_alone_equals_python(path: Path, program: Path, tmp_path: Path) -> None:
    path = shortened(path, tmp_path)
    command = [program, path.name, "--runs", "1"]
    done = subprocess.run(command, cwd=path.parent, check=True, capture_output=True, text=True)
    assert [json.loads(line) for line in done.stdout.splitlines()] == first_runs(path)


def test_errors_give_one_line(program: Path, tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    file.write_text('[link]\nrat = "5 ms"\n')
    for arguments, expected in (
        ([file], "x.toml line 2: link.rat: unknown key"),
        ([tmp_path / "none.toml"], "none.toml: No such file"),
        ([file, "--runs", "0"], "--runs 0: give a whole number"),
        ([], "give a scenario file"),
    ):
        done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert expected in done.stderr
        assert len(done.stderr.splitlines()) == 1
