"""What is said under the tables of runs that share a trace, and what would give an interval."""

import re
from pathlib import Path

import pytest

import clift
from clift.campaign.caveats import given


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A trace of 120 s."""
    clift.channel.bernoulli(slots=120_000, p=0.02, seed=1).write(tmp_path / "phy.csv")
    path = tmp_path / "given.toml"
    path.write_text(
        'duration = "60 s"\nruns = 12\n[trace]\nfile = "phy.csv"\n'
        '[link]\nstart = "random"\nwrap = true\n[vary]\nscheme = ["none", "ARQ"]\n'
    )
    return path


def said(path: Path, **changes: object) -> tuple[str, clift.campaign.Campaign]:
    found = clift.campaign.run(path, progress=False, **changes)
    return given(found.results), found


def has_interval(found: clift.campaign.Campaign) -> bool:
    return all(one.half_width is not None for one in found.estimates("goodput_kbps"))


@pytest.mark.parametrize("wraps", [True, False])
def test_too_long_runs_are_noted_with_the_possible_length(study: Path, wraps: bool) -> None:
    long, found = said(study, **{"link.wrap": wraps})
    assert not has_interval(found)
    most = re.search(r"too few for an interval\. Runs of at most (\d+) s of this trace would", long)
    assert most is not None, long
    assert 10 < int(most[1]) <= 30
    assert long.endswith("would give one, or a longer trace; more alone would not.")
    short, found = said(study, duration_s=int(most[1]), **{"link.wrap": wraps})
    assert has_interval(found)
    assert "too few" not in short


def test_two_runs_that_do_not_overlap_have_no_interval_but_a_cure(study: Path) -> None:
    few, found = said(study, duration_s=3, runs=2)
    assert not has_interval(found)
    assert "±" not in str(found)
    assert few == (
        "Given this trace: runs start at random times of it; 2 of them count as 2.0 independent "
        "ones, too few for an interval. At least 12 runs of this length would give one."
    )
    assert has_interval(said(study, duration_s=3)[1])


def test_too_few_and_too_long_runs_are_both_noted(study: Path) -> None:
    assert re.search(r"at most \d+ s of this trace, 12 of them, would", said(study, runs=2)[0])
