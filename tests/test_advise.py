"""Advice from a log: the pair to take, or that the log cannot tell."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clift
from clift.cli.main import run
from clift.design import study
from clift.errors import Interrupted, ScenarioError

PAIRS = {"schemes": ["none", "ARQ"], "transports": ["TCP cubic"], "progress": False}


def log(path: Path, lost: float, seconds: int = 120, d_ns: int = 1) -> Path:
    """A log of 1 Mbit/s whose slots are lost independently."""
    count = seconds * 1000 // 12
    erased = np.random.default_rng(1).random(count) < lost
    t_ns = np.arange(count) * 12_000_000
    phy = clift.PhyTrace(t_ns, np.where(erased, 0, d_ns), lldu_bytes=1500, decode_ns=d_ns)
    phy.write(path)
    return path


def test_arq_wins_over_a_lossy_link_with_a_long_delay(tmp_path: Path) -> None:
    path = log(tmp_path / "lossy.parquet", 0.05)
    told = clift.advise(path, rtt="300 ms", **PAIRS)
    assert told.pair == "ARQ, TCP cubic"
    assert told.answer.startswith("Take ARQ, TCP cubic")
    assert "Next: none, TCP cubic" in told.answer


def test_a_link_without_losses_needs_no_scheme(tmp_path: Path) -> None:
    told = clift.advise(log(tmp_path / "clean.parquet", 0), rtt="50 ms", **PAIRS)
    assert told.pair == "none, TCP cubic"
    assert "Equal within 5%: ARQ, TCP cubic" in told.answer


def test_a_short_log_cannot_tell(tmp_path: Path) -> None:
    told = clift.advise(log(tmp_path / "short.parquet", 0.05, 20), rtt="50 ms", **PAIRS)
    assert told.pair is None
    assert told.found is None
    assert "Log at least 60 s" in told.answer.replace("\n", " ")


def test_the_link_is_described_as_the_slots_say(tmp_path: Path) -> None:
    path = log(tmp_path / "lossy.parquet", 0.05, 30, 40_000_000)
    link = clift.advise(path, **PAIRS).link
    erased = clift.read_trace(path).d_ns == 0
    starts = np.count_nonzero(np.diff(erased.astype(int), prepend=0) == 1)
    assert link.loss == pytest.approx(erased.mean())
    assert link.burst == pytest.approx(erased.sum() / starts)
    assert link.rate_kbps == pytest.approx(1000, rel=1e-3)
    assert link.delay_ms == 40


def test_the_delay_of_a_log_counts_once(tmp_path: Path) -> None:
    path = log(tmp_path / "delayed.parquet", 0, 20, 40_000_000)
    with pytest.raises(ScenarioError, match=r"40\.0 ms one way.*twice; omit rtt"):
        clift.advise(path, rtt="80 ms", **PAIRS)


def test_a_log_without_delay_needs_a_round_trip_time(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="has no delay; give rtt"):
        clift.advise(log(tmp_path / "clean.parquet", 0, 20), **PAIRS)


def test_an_unknown_file_is_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("Dear reader,\nthis is no log.\n")
    assert run(["advise", str(path)]) == 2
    told = capsys.readouterr().err
    assert "clift trace import" in told
    assert told.count("\n") == 1


def test_json_is_the_same_each_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = log(tmp_path / "lossy.parquet", 0.05, 70)
    words = ["advise", str(path), "--rtt", "100 ms", "--schemes", "none,ARQ", "--transports"]
    words += ["TCP cubic", "--json", "--quiet"]
    told = []
    for _ in range(2):
        assert run(words) == 0
        told.append(capsys.readouterr().out)
    assert told[0] == told[1]
    assert json.loads(told[0])["link"]["loss"] > 0.03


def test_an_interrupted_search_answers_from_the_runs_that_are_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = study.run_many

    def stop_halfway(scenarios: list[clift.Scenario], **keys: Any) -> list[clift.Run]:
        half = len(scenarios) // 2
        done = real(scenarios[:half], **keys)
        raise Interrupted("stopped", [*done, *[None] * (len(scenarios) - half)])

    monkeypatch.setattr(study, "run_many", stop_halfway)
    told = clift.advise(log(tmp_path / "lossy.parquet", 0.05), rtt="300 ms", **PAIRS)
    assert told.found is not None
    assert not told.found.is_complete
    assert told.answer.startswith(f"After {told.found.done} of ")
