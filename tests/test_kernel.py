"""Profile `linux` beside a kernel: the recorded runs, and a short live one where that can be."""

import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

import clift
from validation.kernel import (
    beside,
    ecn,
    geo,
    inside,
    multipath,
    ours,
    pages,
    parts,
    table,
    virtual,
)
from validation.kernel.cells import Cell, matrix
from validation.kernel.flow import measure
from validation.kernel.namespaces import hindrance

SHORT = Cell("cubic", 2_300_000, 100, loss=0.01, seconds=7)


def test_every_recorded_cell_is_within_ten_per_cent():
    cells = [cell for cell in matrix() if cell.rate_bps < 10_000_000 or cell.rtt_ms == 100]
    off = {
        comparison.cell.label: comparison.means
        for comparison in table.compare(cells)
        if abs(comparison.difference) > table.WITHIN
    }
    assert not off


def test_the_cells_of_kuhn_2014_are_within_two_per_cent_of_a_kernel():
    cells = list(geo.compared())
    assert len(cells) == 36
    assert [cell for cell in cells if abs(cell.difference) > geo.WITHIN] == []


def test_the_fates_are_the_same_for_every_congestion_control():
    reno, bbr = (Cell(name, 10_000_000, 500, held=0.03, held_ms=70) for name in ("reno", "bbr"))
    assert reno.fates() == bbr.fates()
    lost, held = reno.fates()
    assert not lost
    assert len(held) == pytest.approx(0.03 * reno.packets, rel=0.05)


def test_a_kernel_and_the_engine_side_by_side():
    reason = hindrance((SHORT.congestion,))
    if reason is not None:
        pytest.skip(f"no kernel can be measured: {reason}")
    expected = ours.goodput_kbps(SHORT)
    # A machine under load may hold the forwarder up once.
    measured = [live()]
    if measured[0] != pytest.approx(expected, rel=0.15):
        measured.append(live())
    assert measured[-1] == pytest.approx(expected, rel=0.15), measured


@pytest.mark.parametrize(("kept", "number"), [("virtual", 93), ("controls", 3)])
def test_a_kernel_in_virtual_time_and_the_engine_side_by_side(kept: str, number: int):
    name, cells = beside.KEPT[kept].kernel, beside.KEPT[kept].cells
    assert name is not None
    reason = virtual.hindrance(name)
    if reason is not None:
        pytest.skip(reason)
    cell = inside.chosen(cells, number)
    release, measured = inside.measure_in(name, cells, number)
    assert release.startswith(name.split("-")[-1])
    assert measured.lateness_ms < 0.05
    expected = beside.engine(cell, window=beside.KEPT[kept].window)
    assert measured.completion_s == pytest.approx(expected.speed, rel=0.05)
    assert measured.retransmissions == pytest.approx(expected.retransmissions, rel=0.1, abs=3)


@pytest.mark.parametrize(
    ("kept", "share", "fastest"),
    [
        ("virtual", 0.85, 1_000_000),
        ("controls", 0.5, 2_000_000),
        ("third", 0.9, 1_000_000),
        ("fourth", 0.9, 1_000_000),
        ("fifth", 0.9, 1_000_000),
        ("named", 1, 5_000_000),
        pytest.param("virtual", 0.9, 5_000_000, marks=pytest.mark.long),
        pytest.param("controls", 0.75, 5_000_000, marks=pytest.mark.long),
    ],
)
def test_the_slow_cells_in_virtual_time_hold(kept: str, share: float, fastest: int):
    compared = beside.compare(beside.KEPT[kept], lambda cell: cell.rate_bps <= fastest)
    off = [it.cell.label for it in compared if it.faults]
    assert len(compared) >= 2
    assert len(off) <= (1 - share) * len(compared), off


def test_the_defaults_agree_with_a_kernel_of_a_fine_clock():
    """Three of these cells are off beside a kernel with 250 ticks per second."""
    kept = beside.KEPT["fifth-fine"]
    compared = beside.compare(kept, lambda cell: cell.rate_bps <= 1_000_000, linux={})
    assert len(compared) == 18
    assert [it.cell.label for it in compared if it.faults] == []


def test_westwoods_cells_hold():
    """What duplicate ACKs stand for counts once: twice makes 36 % more of 20 Mbit/s and 120 ms."""
    compared = beside.compare(beside.KEPT["controls"], lambda cell: cell.congestion == "westwood")
    assert len(compared) == 12
    assert [it.cell.label for it in compared if it.faults] == []


def live() -> float:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(measure, SHORT).result().goodput_kbps


def test_tcp_with_ecn_does_what_a_kernels_does():
    """Where one mark does not decide minutes: 40 ms, and DCTCP over CoDel at 500 ms.

    Over the step at 500 ms it is 387 kbit/s, the kernel's 326, where no buffer of the sender ends.
    """
    compared = 0
    for cell, runs in ecn.recorded().items():
        kernel, _ = runs[0]
        if cell.queue in ("codel", "fq-codel", "codel(ce_threshold 1 ms)") and (
            cell.rtt_ms == 40 or cell.congestion == "dctcp"
        ):
            did = ecn.engine(cell)
            assert did.goodput_kbps == pytest.approx(kernel.goodput_kbps, rel=0.05), cell.label
            assert did.marked == pytest.approx(kernel.marked, rel=0.1, abs=3), cell.label
            compared += 1
    assert compared == 6


def test_several_paths_carry_what_a_kernels_multipath_carries():
    """With its path scheduler; the others are in docs/evidence/multipath-beside-linux.md."""
    off = []
    for cell, counts, kernel in multipath.recorded():
        if not counts:
            ours = multipath.engine(cell, kernel.window)
            off.append(abs(ours.goodput_kbps / kernel.goodput_kbps - 1))
            assert ours.share == pytest.approx(kernel.share, abs=0.15), cell.label
    assert len(off) == 28
    assert sum(one <= 0.05 for one in off) >= 15
    assert sum(one <= 0.1 for one in off) >= 21


def test_a_coupled_control_that_counts_segments_is_within_the_draws_of_its_losses():
    compared = 0
    for cell, counts, kernel in multipath.recorded():
        if counts == "segments" and cell.name == "losses 0":
            few, *_, many = multipath.draws(cell, kernel.window)
            assert few <= kernel.goodput_kbps <= many, cell.label
            compared += 1
    assert compared == 3


def test_pages_take_as_long_as_on_a_kernel():
    """Where the link loses nothing, behind proxies and without."""
    compared = 0
    for cell, measured in pages.recorded().items():
        if cell.seeds() == 1:
            run = clift.simulate(clift.Scenario.parse(cell.engine(1)))
            assert pages.figure(run) == pytest.approx(measured.seconds[1], rel=0.04), cell.label
            compared += 1
    assert compared == 19


def test_the_first_packet_that_differs_is_found() -> None:
    cell = inside.chosen("drawn", 131)
    ours_sent = parts.engine(cell, None)
    assert ours_sent.sent[0] == parts.Sent(0, 0, 1448)
    assert parts.parting(ours_sent, ours_sent) is None
    other = list(ours_sent.sent)
    other[40] = other[40]._replace(at=other[40].at + 400_000)
    assert parts.parting(ours_sent, parts.Log(other, [])) == 40
    assert parts.parting(ours_sent, parts.Log(ours_sent.sent[:-1], [])) == len(ours_sent.sent) - 1


@pytest.mark.skipif(virtual.hindrance("7.2") is not None, reason=str(virtual.hindrance("7.2")))
def test_a_kernel_sends_its_first_flights_as_ours_does() -> None:
    """300 kB over 10 Mbit/s and 250 ms, 2 % lost in bursts of 5: 210 packets."""
    cell = inside.chosen("drawn", 141)
    found = parts.parting(
        parts.engine(cell, beside.LARGEST_WINDOWS["7.2"]), parts.kernel("7.2", "drawn", 141)
    )
    assert found is None or found > 150
