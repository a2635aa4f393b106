"""Studies with too many cells or runs to keep each of them."""

from __future__ import annotations

import numpy as np
import pytest

import clift
from clift.campaign import comma, runner, tables
from clift.campaign.packed import Column, packed
from clift.campaign.runs import Runs
from clift.report import text

STUDY = """
duration = "5 s"
runs = {runs}
[application]
type = "file"
size = "20 kB"
[channel]
model = "bernoulli"
rate = "263 kbit/s"
[link]
live = true
[vary]
scheme = ["ARQ", "none"]
channel.erasures = ["1 %", "30 %", "60 %"]
"""


@pytest.mark.parametrize("runs", [1, 3])
def test_cells_that_are_made_when_asked_for_have_the_same_tables(
    runs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def tabled() -> dict[str, object]:
        scenario = clift.Scenario.parse(STUDY.format(runs=runs))
        results = runner.run_campaign(scenario)
        said = text.report(results)
        made = tables.tables(results, scenario)
        rows = {name: comma.text(table) for name, table in made.items()}
        return {"said": said, **rows, "large": results.is_large}

    small = tabled()
    monkeypatch.setattr(runner, "MOST_LISTED", 1)
    monkeypatch.setattr(tables, "_RUNS", 2)
    monkeypatch.setattr(tables, "_ESTIMATES", 50)
    monkeypatch.setattr(tables, "_CELLS", 4)
    large = tabled()
    assert (small.pop("large"), large.pop("large")) == (False, True)
    assert small == large
    monkeypatch.setattr(text, "_MOST_CELLS", 4)
    assert "The first 4 of 6 cells" in str(tabled()["said"])


def test_numbers_come_out_of_little_memory_as_they_went_in() -> None:
    draw = np.random.default_rng(1)
    kinds = [
        np.zeros(70_000),
        np.full(70_000, np.nan),
        np.full(70_000, -0.0),
        draw.integers(0, 200, 70_000).astype(float),
        draw.integers(0, 70_000, 70_000).astype(float),
        draw.integers(0, 2**40, 70_000).astype(float),
        draw.integers(-9, 9, 70_000) / 4,
        draw.random(70_000),
        np.where(draw.random(70_000) < 0.1, np.nan, draw.integers(0, 9, 70_000)),
        np.array([0.0, -0.0] * 35_000),
        np.array([1e300, 1.0] * 35_000),
    ]
    for numbers in kinds:
        column = Column(numbers)
        for first, end in (
            (0, 70_000),
            (65_530, 65_540),
            (65_536, 65_537),
            (9, 9),
            (69_999, 70_000),
        ):
            assert column.part(first, end).tobytes() == numbers[first:end].tobytes()
    sizes = [packed(numbers).dtype.itemsize for numbers in kinds]
    assert sizes[3:8] == [1, 4, 8, 4, 8]


def test_runs_come_in_any_order_and_more_than_once() -> None:
    draw = np.random.default_rng(2)
    wanted = {
        (cell, run): {"a": cell + run / 8} | ({"b": 1.0 * run} if run % 3 else {})
        for cell in range(7)
        for run in range(300)
        if cell != 4
    }
    table = Runs()
    for turn in range(3):
        for place in draw.permutation(len(wanted))[:1500]:
            (cell, run), found = list(wanted)[place], list(wanted.values())[place]
            table.add(cell, [run], [found])
        assert len(table) <= len(wanted), turn
    for cell, run in wanted:
        table.add(cell, [run], [wanted[cell, run]])
    assert list(zip(table.cells().tolist(), table.numbers().tolist(), strict=True)) == list(wanted)
    assert table.bounds(4) == (1200, 1200)
    assert table.array("a").tolist() == [found["a"] for found in wanted.values()]
    there = ~np.isnan(table.array("b"))
    assert there.tolist() == ["b" in found for found in wanted.values()]
