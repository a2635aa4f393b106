"""Hybrid FEC/ARQ-SR in Python, on the command line, and in the figures of Al Fawal 2003."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

import clift
from clift import model
from clift.campaign.statistics import Estimate
from clift.papers.hybrid import Cell, Line, lines, measure
from clift.papers.hybrid_claims import parts

ROOT = Path(__file__).parent.parent


def validation():
    """The script behind `make validate`, for its bounds."""
    path = ROOT / "validation" / "wiopt2003.py"
    spec = importlib.util.spec_from_file_location("validation_wiopt2003", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_packets_alone_take_the_time_of_their_frames():
    link = clift.HybridLink(n=12, p=0.0)
    delivered, fate = clift.deliver(link, [0, 0, 10**9], packet_bytes=1500)
    # Six frames of 300 bytes at 2 Mbit/s, then 200 ms.
    assert delivered.tolist() == [207_200_000, 214_400_000, 1_207_200_000]
    assert fate.tolist() == [0, 0, 0]
    # A packet of 251 bytes takes two frames.
    delivered, _ = clift.deliver(link, [0], packet_bytes=251)
    assert delivered.tolist() == [202_400_000]


def test_losses_of_a_trace_are_repaired_at_the_times_of_the_nacks():
    # Units of 0.1 ms; those of the first frame that begin at 0.3 and 0.4 ms are lost.
    t = np.arange(100_000, dtype=np.int64) * 100_000
    d = np.where((t == 300_000) | (t == 400_000), 0, 1)
    losses = clift.PhyTrace(t, d, lldu_bytes=25)
    link = clift.HybridLink(n=11, losses=losses, in_order=False)
    delivered, _ = clift.deliver(link, [0, 0, 0])
    # The first frame ends at 1.1 ms and is sent again from 401.1 to 402.2 ms.
    assert delivered.tolist() == [602_200_000, 213_200_000, 219_800_000]
    in_order, _ = clift.deliver(link.replace(in_order=True), [0, 0, 0])
    assert in_order.tolist() == [602_200_000] * 3
    given_up, fate = clift.deliver(link.replace(persistency=0), [0, 0, 0])
    assert given_up.tolist() == [-1, 213_200_000, 219_800_000]
    assert fate.tolist() == [1, 0, 0]


def test_redundancy_in_repeats_only() -> None:
    # Units of 0.1 ms; one of the first frame is lost, and one of its repetition.
    t = np.arange(100_000, dtype=np.int64) * 100_000
    d = np.where(np.isin(t, [300_000, 401_200_000]), 0, 1)
    losses = clift.PhyTrace(t, d, lldu_bytes=25)
    link = clift.HybridLink(n=11, n_first=10, losses=losses, in_order=False)
    delivered, _ = clift.deliver(link, [0, 0])
    # The first frame ends at 1 ms, its NACK is there at 401 ms, and 11 units take until 402.1 ms.
    assert delivered.tolist() == [602_100_000, 212_000_000]
    with pytest.raises(clift.ScenarioError, match=r"n_first = 12: .* from K to N"):
        clift.HybridLink(n=11, n_first=12)
    plain, both = (
        model.hybrid(10, 12, persistency=1, n_first=10),
        model.hybrid(10, 12, persistency=1),
    )
    assert plain.units < both.units
    assert plain.packet < both.packet
    assert model.hybrid(10, 12, persistency=1, n_first=12) == both


def test_a_run_counts_the_links_frames_and_repeats():
    link = clift.HybridLink(n=11, delay_ms=20, p=0.02)
    options = {
        "transport": "newreno",
        "flows": 10,
        "access_kbps": 10_000,
        "access_ms": 20,
        "queue_packets": 500,
        "delayed_ack": True,
        "duration_s": 60,
    }
    summary = clift.simulate(link, **options).summary()
    assert summary == clift.simulate(link, **options).summary()
    assert summary != clift.simulate(link.replace(seed=2), **options).summary()
    assert summary != clift.simulate(link, **options, seed=2).summary()
    used = summary["links"][0]
    frame_s = 11 * 25 * 8 / 2e6
    # Frames sent, in part or whole, fill the share of the time that the link was used.
    assert used["share_used"] * 60 == pytest.approx(used["frames_sent"] * frame_s, abs=frame_s)
    assert used["units_sent"] == 11 * used["frames_sent"]
    assert used["packets_given_up"] == used["packets_lost"]
    ended = used["packets_delivered"] + used["packets_lost"] + used["packets_dropped"]
    assert used["packets_offered"] == ended + used["packets_pending"]
    fails = 1 - model.hybrid(10, 11, p=0.02).transmission
    sent = used["frames_sent"]
    error = (fails * (1 - fails) / sent) ** 0.5
    assert abs(used["frames_failed"] / sent - fails) < 4 * error


def test_the_example_file_equals_its_python_form():
    scenario = clift.Scenario.read(ROOT / "examples" / "hybrid.toml")
    assert scenario.size == 27
    cell = next(
        cell for cell in scenario.cells() if dict(cell.labels) == {"n": "11", "persistency": "1"}
    )
    of_python = Cell(n=11, delta=1, delay_ms=200).scenario(1, 180)
    for run_of_cell in cell.replications()[:2]:
        here = clift.simulate(of_python.replace(seed=run_of_cell.seed))
        assert clift.simulate(run_of_cell).summary() == here.summary()


def test_losses_of_a_channel_in_a_scenario_file(tmp_path):
    path = tmp_path / "x.toml"
    path.write_text(
        'duration = "20 s"\nhybrid = { n = 11, delay = "20 ms" }\nlink.queue = "500 packets"\n'
        'transport.cwnd_max = "100 packets"\n'
        '[channel]\nmodel = "gilbert-elliott"\nerasures = "1 %"\nburst = 2\n'
        'slot = "100 us"\nlldu = "25 B"\nlength = "30 s"\n'
    )
    used = clift.simulate(path).summary()["links"][0]
    assert used["frames_failed"] > 0
    # Bursts break more frames than as many losses apart do.
    assert used["frames_failed"] / used["frames_sent"] > 1 - model.hybrid(10, 11).transmission


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: clift.HybridLink(k=10, n=9), "K of N"),
        (lambda: clift.HybridLink(frames=0), "frames = 0: a packet has at least one frame"),
        (lambda: clift.HybridLink(p=1.5), "1.5"),
        (lambda: clift.HybridLink(rate_kbps=0), "rate_kbps"),
        (lambda: clift.HybridLink(delay_ms=-1), "delay_ms"),
        (lambda: clift.HybridLink(persistency=2.5), "persistency"),
        (lambda: clift.deliver(clift.HybridLink(), [0], packet_bytes=1501), "maximum of 1500"),
        (lambda: clift.simulate(clift.HybridLink(frames=5), duration_s=1), "maximum of 1250"),
        (lambda: clift.simulate(clift.HybridLink(), overlap="papers"), "overlap"),
    ],
)
def test_invalid_arguments_are_refused(make, says):
    with pytest.raises(clift.ScenarioError, match=says):
        make()


def test_a_trace_of_losses_that_ends_too_early_ends_the_run():
    losses = clift.channel.bernoulli(slots=1000, slot_ns=100_000, p=0.01, lldu_bytes=25)
    link = clift.HybridLink(losses=losses, delay_ms=20)
    with pytest.raises(clift.SimulationError, match="of a link ends"):
        clift.simulate(link, duration_s=10)
    assert clift.simulate(link, duration_s=10, wrap=True).goodput_kbps > 100


@pytest.mark.parametrize("sack", [False, pytest.param(True, marks=pytest.mark.long)])
def test_the_bounds_of_ns2_hold_in_short_runs(sack):
    """`make validate` has all cells, 10 runs of 2000 s each."""
    bounds = validation()
    delays = (20, 200)
    cells = [Cell(n, 0, delay, sack=sack) for delay in delays for n in range(10, 17)]
    cells += [Cell(10, delta, delay, sack=sack) for delay in delays for delta in range(1, 6)]
    cells += [Cell(10, 5, delay, in_order=False, sack=sack) for delay in delays]
    enough = bounds.ENOUGH_FOR_ONE
    cells += [Cell(10, enough[delay], delay, flows=1, sack=sack) for delay in delays]
    found = measure(cells, runs=1, duration_s=1000)
    means = {cell: own.mean for cell, own in zip(cells, found, strict=True)}
    assert list(bounds.faults(means, sack, 0.01, delays)) == []


def test_the_kept_results_are_within_bounds_and_beside_ns2():
    bounds = validation()
    means = bounds.read(bounds.OURS, "clift")
    assert set(means) == set(bounds.all_cells())
    for sack in (False, True):
        assert list(bounds.faults(means, sack)) == []
        assert list(bounds.further_faults(means, sack)) == []
    ns2 = bounds.read(bounds.NS2, "ns2")
    close = sum(abs(means[cell] - value) <= 0.015 for cell, value in ns2.items())
    assert close >= 0.9 * len(ns2)


def kept_verdicts(number, half_width=None):
    """Verdicts on the kept results of `validation/wiopt2003.py`: ten runs of 2000 s a cell."""
    kept = validation()
    means, widths = kept.read(kept.OURS, "clift"), kept.read(kept.OURS, "half_width")
    spec = kept.parameters("wiopt2003")["figure"][str(number)]

    def found(cell):
        return Estimate(means[cell], widths[cell] if half_width is None else half_width, 10)

    verdicts = []
    for sack in (False, True):
        drawn = lines(spec, sack)
        own = [Line(label, cells, tuple(map(found, cells))) for label, cells in drawn]
        verdicts += [holds for _, holds, _ in parts(number, own)]
    return verdicts


@pytest.mark.parametrize(
    ("number", "fails", "told"),
    [(3, 3, 9), (4, 2, 24), (5, 0, 4), (6, 0, 4), (7, 0, 5), (8, 0, 6)],
)
def test_verdicts_of_the_kept_results_are_strict(number, fails, told):
    verdicts = kept_verdicts(number)
    # Open are figure 3 at 100 ms without SACK (N = 11 and 12 are alike) and the first of figure 7.
    assert verdicts.count(False) == fails
    assert len(verdicts) - verdicts.count(None) == told


def test_wide_intervals_refute_nothing():
    for number in range(3, 9):
        # A line that rises throughout does not fall, however wide.
        allowed = {None, True} if number in (4, 8) else {None}
        assert set(kept_verdicts(number, 0.5)) <= allowed
