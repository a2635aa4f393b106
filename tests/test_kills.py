"""Studies that are killed leave the tables of undisturbed ones: a few of validation/kills.py."""

from pathlib import Path

import pytest

from validation.kills import kill


@pytest.mark.parametrize(
    "ways",
    [("KILL", "INT"), pytest.param(("two, KILL", "TERM", "INT twice"), marks=pytest.mark.long)],
)
def test_killed_studies_leave_the_undisturbed_tables(ways: tuple[str, ...], tmp_path: Path) -> None:
    outcome = kill(tmp_path, len(ways), 8, seed=3, ways=ways)
    assert outcome.faults == []
    assert sum(outcome.kills.values()) + outcome.late == len(ways)
