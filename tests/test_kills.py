"""Commands that are killed leave the files of undisturbed ones: a few of validation/kills.py."""

import subprocess
import sys
from pathlib import Path

import pytest

from validation.kills import kill

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize(
    "ways",
    [("KILL",), pytest.param(("two, KILL", "TERM", "INT", "INT twice"), marks=pytest.mark.long)],
)
def test_killed_studies_leave_the_undisturbed_tables(ways: tuple[str, ...], tmp_path: Path) -> None:
    outcome = kill(tmp_path, len(ways), 8, seed=3, ways=ways)
    assert outcome.faults == []
    assert sum(outcome.kills.values()) + outcome.late == len(ways)


@pytest.mark.long
def test_commands_killed_in_any_phase_leave_the_undisturbed_files(tmp_path: Path) -> None:
    # In a separate process, from which those that are killed are forked.
    code = (
        "import sys; from pathlib import Path; from validation.kills import kill_phases\n"
        "if __name__ == '__main__':\n"
        "    found = kill_phases(Path(sys.argv[1]), 12, seed=1)\n"
        "    print(sum(found.kills.values()) + found.late, *found.faults, sep='\\n')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    count, *faults = done.stdout.splitlines()
    assert (int(count) >= 12, faults) == (True, [])
