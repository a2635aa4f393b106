"""What the plots of a campaign show, read from matplotlib's own objects."""

from clift.campaign.results import Cell, Results
from clift.report import comparison


def results(values: dict[str, list[float | None]]) -> Results:
    """A campaign of transfers with these completion times; None where a file did not end."""
    cells = []
    for label, times in values.items():
        cell = Cell({"scheme": label}, True, len(times))
        cell.values = {
            run: {} if time is None else {"completion_s": time} for run, time in enumerate(times)
        }
        cells.append(cell)
    return Results("x", 1, [("scheme", list(values))], cells, [])


def test_a_comparison_keeps_a_place_for_every_cell_and_says_of_how_many_runs() -> None:
    found = results({"A": [None, None], "B": [19.0, None], "C": [20.0, 22.0]})
    [axes] = comparison.draw(found, "completion_s").axes
    ticks = [label.get_text() for label in axes.get_xticklabels()]
    assert ticks == ["A\n0 of 2\nfinished", "B\n1 of 2\nfinished", "C"]
    assert [(bar.get_center()[0], bar.get_height()) for bar in axes.patches] == [(1, 19), (2, 21)]


def test_a_comparison_starts_at_zero_and_shows_every_bar() -> None:
    found = results({"A": [1.0, 9.0], "B": [30.0, 40.0]})
    for cell, condition in zip(found.cells, ("good", "bad"), strict=True):
        cell.labels["reception"] = condition
    found.axes.append(("reception", ["good", "bad"]))
    for axes in comparison.draw(found, "completion_s").axes:
        low, high = axes.get_ylim()
        assert low == 0
        assert high > 35
