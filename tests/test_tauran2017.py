"""Tauran 2017 in short: what the two tables are about. `make validate` runs them in full."""

import pytest

from clift.papers.leo import Cell, table_cells


@pytest.fixture(scope="module")
def cells() -> dict[tuple[int, int, str], Cell]:
    found = table_cells(seeds=2, snr_db=[10, 13], duration_s=120)
    return {(cell.table, cell.snr_db, cell.transport): cell for cell in found}


def test_the_buffer_raises_goodput_and_more_than_triples_cubics_at_13_db(cells):
    for transport in ("newreno", "cubic"):
        for snr in (10, 13):
            without, with_buffer = (cells[table, snr, transport] for table in (1, 2))
            gain = mean(with_buffer, "goodput_kbps") / mean(without, "goodput_kbps")
            assert gain > (3 if (snr, transport) == (13, "cubic") else 1.5)


def test_without_the_buffer_tcp_recovers_about_once_a_second_at_every_snr(cells):
    events = [mean(cell, "events_per_s") for key, cell in cells.items() if key[0] == 1]
    assert min(events) > 0.7
    assert max(events) < 1.15


def test_cells_are_near_the_print(cells):
    for key, cell in cells.items():
        assert cell.ratio("goodput_kbps") == pytest.approx(1, abs=0.45), key
        if key[0] == 1:
            assert cell.ratio("success_percent") == pytest.approx(1, abs=0.45), key
            assert cell.ratio("spurious_percent") == pytest.approx(1, abs=0.45), key


def test_runs_of_a_cell_have_channels_of_their_own_which_cells_share(cells):
    goodputs = cells[1, 13, "cubic"].values["goodput_kbps"]
    assert len(set(goodputs)) == 2
    again = table_cells([1], 1, 2, snr_db=[13], duration_s=120)
    assert again[1].values["goodput_kbps"] == goodputs[1:2]


def mean(cell: Cell, name: str) -> float:
    return cell.estimate(name).mean
