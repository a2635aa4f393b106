"""Studies on the workers of a Dask scheduler: the same bytes as here."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import clift
from clift.cli.main import run

pytest.importorskip("distributed", reason="Dask is not installed: pip install 'clift[cluster]'")

TEXT = """
duration = "5 s"
runs = 8
[trace]
file = "phy.csv"
[link]
start = "random"
wrap = true
[vary]
scheme = ["ARQ", "none"]
"""
TABLES = ("record.json", "runs.parquet", "summary.parquet", "series.parquet", "delays.parquet")


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[str]:
    """A scheduler with two worker processes, each in a folder without the study's files."""
    address = tmp_path / "scheduler.json"
    away = tmp_path / "away"
    away.mkdir()
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": away}
    dask = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0"]
    dask += ["--scheduler-file", str(address), "--no-dashboard", "--host", "127.0.0.1"]
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", "--nthreads", "1", "--no-nanny"]
    worker += ["--scheduler-file", str(address), "--no-dashboard"]
    crew = [subprocess.Popen(dask, **quiet)]
    try:
        until = time.monotonic() + 300
        while not address.exists() and time.monotonic() < until:
            time.sleep(0.1)
        crew += [subprocess.Popen(worker, **quiet) for _ in range(2)]
        told: str = json.loads(address.read_text())["address"]
        yield told
    finally:
        for process in reversed(crew):
            process.kill()
            process.wait()


def test_two_workers_give_the_same_bytes(scheduler: str, tmp_path: Path) -> None:
    clift.channel.bernoulli(slots=60_000, p=0.02, seed=1).write(tmp_path / "phy.csv")
    study = tmp_path / "study.toml"
    study.write_text(TEXT)
    command = ["sweep", str(study), "--no-plots", "--quiet"]
    assert run([*command, "-o", str(tmp_path / "here")]) == 0
    assert run([*command, "-o", str(tmp_path / "there"), "--scheduler", scheduler]) == 0
    for name in TABLES:
        here, there = (tmp_path / folder / name for folder in ("here", "there"))
        assert here.read_bytes() == there.read_bytes(), name


def test_an_unreachable_host_gives_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "study.toml").write_text('duration = "1 s"\n[ntn]\n')
    command = ["sweep", str(tmp_path / "study.toml"), "-o", str(tmp_path / "out"), "--quiet"]
    assert run([*command, "--scheduler", "nonsense://x"]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert "give the address of a Dask scheduler, e.g. tcp://host:8786" in line
