"""`clift tmt --check`: what it counts is what the table above it has."""

from __future__ import annotations

import json
from pathlib import Path

import command
import numpy as np
import pytest

import clift
from clift.cli.main import run
from clift.model_check import depart


@pytest.fixture
def adaptive() -> clift.PhyTrace:
    """Frames that carry less, and take longer, while the channel is bad."""
    made = clift.channel.gilbert_elliott(slots=40_000, slot_ns=10**7, alpha=0.99, beta=0.9, seed=2)
    bad = np.convolve(made.d_ns == 0, np.ones(40), "same") > 4
    d_ns = np.where(made.d_ns == 0, 0, np.where(bad, 36_000_000, 20_000_000))
    return clift.PhyTrace(made.t_ns, d_ns, np.where(bad, 400, 1600), packing="bytes")


def test_the_check_counts_bytes_as_the_table_does(adaptive: clift.PhyTrace) -> None:
    slots = adaptive.stats()
    for scheme, off in [("none", 1e-9), ("ARQ", 0.01), ("FEC(10/12)", 0.01)]:
        told = clift.tmt.apply(adaptive, scheme, rtt_ms=100).stats()
        rows = {row.metric: row for row in depart(adaptive, scheme, rtt_ms=100).rows}
        assert rows["efficiency"].simulated == pytest.approx(told["efficiency"], rel=off), scheme
        # The chain counts slots, which is not the same here.
        if scheme == "none":
            assert rows["efficiency"].model == pytest.approx(1 - slots["erasure_rate"], abs=1e-3)
            assert rows["efficiency"].simulated > rows["efficiency"].model + 0.02


def test_why_a_mean_delay_differs_is_shown(adaptive: clift.PhyTrace) -> None:
    found = depart(adaptive, "none", rtt_ms=100)
    [delay] = [row for row in found.rows if row.metric == "mean delay ms"]
    assert not delay.agrees
    shape = {name: (chain, trace) for name, chain, trace in found.shape}
    chain, trace = shape["mean d (ms)"]
    assert delay.model == pytest.approx(chain + 50)
    assert delay.simulated == pytest.approx(trace + 50)
    every, arrived = shape["bytes of what arrives"]
    assert every == pytest.approx(adaptive.slot_bytes.mean())
    assert arrived == pytest.approx(adaptive.slot_bytes[adaptive.d_ns > 0].mean())


def test_values_common_to_all_schemes_are_printed_once(
    adaptive: clift.PhyTrace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "x.parquet")
    adaptive.write(path)
    words = ["tmt", path, "--scheme", "ARQ", "--scheme", "none", "--rtt", "100 ms", "--check"]
    assert run(words) == 0
    out = capsys.readouterr().out
    for once in ("fitted chain: alpha", "clumping over 100 slots", "model: closed form", "d_nom"):
        assert out.count(once) == 1, once
    assert "efficiency is bytes delivered per byte sent" in out
    heads = [
        line.split()[0] for line in out.splitlines() if line.split()[1:3] == ["model", "counted"]
    ]
    assert heads == ["ARQ", "none"]
    assert max(map(len, out.splitlines())) <= 100
    assert run([*words, "--json"]) == 0
    assert [one["scheme"] for one in json.loads(capsys.readouterr().out)] == ["ARQ", "none"]


def test_a_loop_of_links_is_named(tmp_path: Path) -> None:
    loop = tmp_path / "loop.csv"
    loop.symlink_to(loop)
    out = tmp_path / "out.csv"
    for words in (["tmt", loop, "--scheme", "ARQ"], ["trace", "convert", loop, out]):
        done = command.clift(*words)
        assert done.returncode == 2, done.stderr
        assert done.stderr.startswith(f"error: {loop}: "), done.stderr
