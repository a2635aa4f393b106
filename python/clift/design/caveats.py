"""What holds for all runs of a search, in the words that a campaign has for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clift.campaign.results import Cell, Results
from clift.campaign.runs import Runs
from clift.campaign.values import Values

if TYPE_CHECKING:
    from clift.design.result import Design


def campaign(design: Design) -> Results:
    """The runs of the first candidate under each condition, as a separate campaign.

    What is shared by runs is so by those of every candidate, and the first one has most of them.
    """
    table = Runs()
    cells: list[Cell] = []
    count = len(design.candidates)
    for place, contest in enumerate(design.contests if design.cells else ()):
        order = contest.race.order()
        if not order:
            continue
        # A contest of several conditions is shown by the first of them.
        of_each = len(design.cells) // len(design.contests) // count
        scenario = design.cells[place * of_each * count + order[0]]
        most = len(contest.race.values[order[0]])
        runs = [run for run in range(most) if (order[0], run, 0) in contest.runs]
        table.add(
            len(cells),
            runs,
            [contest.runs[order[0], run, 0] for run in runs],
            [contest.race.windows.get(run) for run in runs],
        )
        named = zip(design.axes, contest.condition, strict=True)
        labels = {name: label for (name, _), label in named if label is not None}
        values = Values.of(table, len(cells))
        is_transfer = scenario.is_transfer
        cell = Cell(labels, is_transfer, len(values), values, scenario.shared, scenario=scenario)
        cell.is_exact = contest.race.is_exact
        cells.append(cell)
    return Results(design.title, design.seed, design.axes, cells, [], table=table)
