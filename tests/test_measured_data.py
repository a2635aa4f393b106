"""Measured sets, where they are at hand: a folder `shared/data` beside the repository."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import clift

SHARED = Path(__file__).parents[2] / "shared" / "data"
STARLINK = SHARED / "starlink_irtt_10ms"
CELLULAR = SHARED / "mahimahi_us_cellular"

pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason=f"{SHARED} is not there")


@pytest.mark.parametrize(
    ("direction", "erased", "bursts", "longest"),
    [("up", 4, 2, 3), ("down", 33, 28, 3)],
)
def test_starlink(direction, erased: int, bursts: int, longest: int):
    phy = clift.read_trace(STARLINK / "combined.csv", format="probes", direction=direction)
    stats = phy.stats()
    assert (stats["slots"], stats["erased"]) == (10_000, erased)
    assert (stats["bursts"]["runs"], stats["bursts"]["longest"]) == (bursts, longest)
    stem = f"LEO_{direction}link"
    pair = clift.read_trace(
        STARLINK / f"{stem}_delay-000001-12h.txt",
        format="delay-loss",
        losses=STARLINK / f"{stem}_loss-000001-12h.txt",
        interval_ms=10,
    )
    np.testing.assert_array_equal(pair.t_ns, phy.t_ns)
    np.testing.assert_array_equal(pair.d_ns, phy.d_ns)
    assert pair.rtt_ns == phy.rtt_ns


@pytest.mark.parametrize("name", ["ATT-LTE-driving-2016.up", "Verizon-EVDO-driving.down"])
def test_mahimahi(tmp_path: Path, name: str):
    phy = clift.read_trace(CELLULAR / name)
    stamps = np.loadtxt(CELLULAR / name, dtype=np.int64)
    np.testing.assert_array_equal(phy.t_ns // 1_000_000, stamps)
    assert phy.period_ns is not None
    assert abs(phy.period_ns - stamps[-1] * 1_000_000) <= 1_000_000
    phy.write(tmp_path / name)
    assert np.array_equal(np.loadtxt(tmp_path / name, dtype=np.int64), stamps)
