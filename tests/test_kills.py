"""Studies that are killed leave the tables of undisturbed ones: a few of validation/kills.py."""

from pathlib import Path

from validation.kills import kill


def test_killed_studies_leave_the_undisturbed_tables(tmp_path: Path) -> None:
    ways = ("KILL", "INT", "two, KILL", "TERM", "INT twice")
    outcome = kill(tmp_path, 5, 8, seed=3, ways=ways)
    assert outcome.faults == []
    assert sum(outcome.kills.values()) + outcome.late == 5
