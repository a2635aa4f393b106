"""The sentence under the tables: what it compares, and when it had better say less."""

import sys
from pathlib import Path

import numpy as np
import pytest

import clift
from clift.campaign import Results, caveats, conclude, verdicts
from clift.campaign.axes import conditions
from clift.campaign.conclusion import compared_axes, compared_axis
from clift.campaign.results import Cell
from clift.campaign.runner import run_campaign
from clift.campaign.runs import Runs
from clift.campaign.values import Values
from clift.errors import ScenarioError
from clift.scenario import Scenario

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
sys.path.insert(0, str(ROOT))

from validation import campaign_statistics  # noqa: E402 - beside the tests, not installed


@pytest.mark.parametrize(
    ("example", "compared"),
    [
        ("geo_mobile", "scheme"),
        ("hybrid", "n"),
        ("land_mobile", "scheme"),
        ("leo", "buffer"),
        ("leo_handover", None),  # its stacks are profiles: how the simulator reckons
        ("limited_window", "scheme"),
        ("live_geo", "scheme"),
        ("ntn", "harq_feedback"),
    ],
)
def test_examples_compare_what_they_are_about(example: str, compared: str | None) -> None:
    scenario = Scenario.read(EXAMPLES / f"{example}.toml")
    met = conditions(scenario.varied, scenario.axes)
    found = Results("x", 1, scenario.axes, [], [], met)
    assert compared_axis(found) == compared


def test_conditions_have_colours_and_no_best(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text(
        'duration = "5 s"\n[adaptive_harq]\n[vary]\nadaptive_harq.snr = ["7 dB", "13 dB"]\n'
    )
    found = run_campaign(Scenario.read(path))
    assert found.conditions == {"snr"}
    assert compared_axis(found) is None
    assert conclude(found) == ""


def test_an_axis_that_a_change_has_added_is_known_by_its_name() -> None:
    axes = [("rtt", ["1 s", "2 s"]), ("n", ["1", "2"])]
    assert conditions({}, axes) == {"rtt"}


def transfers(values: dict[str, list[float | None]], wanted: int) -> Results:
    """Completion times of runs of 30 s by scheme; None where a file was not through."""
    cells = []
    for label, times in values.items():
        cell = Cell({"scheme": label}, True, wanted)
        for run, time in enumerate(times):
            through = {} if time is None else {"completion_s": time}
            cell.values[run] = {"duration_s": time or 30.0} | through
        cells.append(cell)
    return Results("x", 1, [("scheme", list(values))], cells, [])


@pytest.mark.parametrize(
    ("values", "wanted", "sentence"),
    [
        # A difference of times has an interval from 50 runs on: before, none is called best.
        ({"A": [10, 11, 12, 13] * 12, "B": [20, 21.2, 22.1, 23] * 12}, 48,
         "Too few independent runs to tell A and B apart "
         "(47 % apart in 48 runs; about 72 would tell)."),
        ({"A": [10, 11, 12] * 17, "B": [20, 21.2, 22.1] * 17}, 60,
         "So far: A is best (48 % less time than B, interval 47 to 48 %)."),
        ({"A": [10, 11, 12] * 17, "B": [20, 21.2, 22.1] * 17}, 51,
         "A is best (48 % less time than B, interval 47 to 48 %)."),
        # The same difference in three runs: a coin falls so one time in four.
        ({"A": [10, 11, 12], "B": [20, 21, 22]}, 3,
         "Too few independent runs to tell A and B apart "
         "(48 % apart in 3 runs; too few to say how many would tell)."),
        # Their mean difference is less than 5 %, and so is all of its interval.
        ({"A": [10, 11, 12, 13], "B": [10.1, 11, 12.2, 12.9]}, 4,
         "Too few independent runs to tell A and B apart "
         "(0 % apart in 4 runs; about 50 would tell)."),
        ({"A": [10, 11, 12, 13] * 13, "B": [10.1, 11, 12.2, 12.9] * 13}, 52,
         "A and B are equal within 5 % (0 % apart)."),
        # The same in each run, and the same mean of other runs.
        ({"A": [10, 11, 12], "B": [10, 11, 12]}, 3,
         "A and B have the same completion in every run (3 runs)."),
        ({"A": [10, 12, 11], "B": [12, 10, 11]}, 3,
         "Too few independent runs to tell A and B apart "
         "(0 % apart in 3 runs; too few to say how many would tell)."),
        # What an interrupt left of one run each says nothing.
        ({"A": [10], "B": [20]}, 3, ""),
        ({"A": [10], "B": [20]}, 1,
         "No alternative is called best from a single run; ask for more (--runs)."),
        ({"A": [10, 11, 12], "B": []}, 3, ""),
        # The mean of B's survivors is the least, but two of its files took longer than 30 s.
        ({"A": [20, 21, 22], "B": [19, None, None]}, 3,
         "Too few independent runs to tell A and B apart "
         "(20 % apart in 3 runs; too few to say how many would tell)."),
        ({"A": [10, 11, 12.5] * 17, "B": [29, None, None] * 17}, 51,
         "A is best (62 % less time or better than B, interval 62 to 63 %)."),
        ({"A": [10, 10, None], "B": [29, None, None]}, 3,
         "None is called best, as some files were not through."),
        # A is ahead of B for sure, and not of C, whose mean is behind both.
        ({"A": [10, 10.2, 9.9, 10.1], "B": [10.5, 10.71, 10.38, 10.6], "C": [20, 3, 15, 6]}, 4,
         "Too few independent runs to tell A, B and C apart "
         "(5 to 9 % apart in 4 runs; about 6939 would tell)."),
        # B has A's values, and C is within the margin: only D is open.
        ({"A": [10, 11, 12, 13] * 13, "B": [10, 11, 12, 13] * 13,
          "C": [10.1, 11, 12.2, 12.9] * 13, "D": [12, 3, 20, 12] * 13}, 52,
         "Too few independent runs to tell A and D apart (2 % apart in 52 runs; "
         "about 1544 would tell; B has the completion of A in every run; C equals A within 5 %)."),
        ({"A": [10, 11, 12, 13] * 13, "B": [10, 11, 12, 13] * 13,
          "C": [10.1, 11, 12.2, 12.9] * 13}, 52,
         "A, B and C are equal within 5 % (0 % apart)."),
    ],
)  # fmt: skip
def test_the_sentence_says_no_more_than_the_runs_do(
    values: dict[str, list[float | None]], wanted: int, sentence: str
) -> None:
    assert conclude(transfers(values, wanted)) == sentence


TRACE = """
duration = "5 s"
runs = 6
[link]
rtt = "200 ms"
[vary]
scheme = ["ARQ", "FEC(8/10)"]
"""


@pytest.fixture
def given(tmp_path: Path) -> Path:
    trace = tmp_path / "measured.parquet"
    clift.channel.bernoulli(slots=40_000, p=0.05, seed=1).write(trace)
    path = tmp_path / "x.toml"
    path.write_text(f'{TRACE}[trace]\nfile = "{trace}"\n')
    return path


def test_copies_of_one_run_do_not_count(given: Path) -> None:
    found = run_campaign(Scenario.read(given))
    assert found.counts().tolist() == [1, 1]
    assert found.is_complete
    [verdict] = verdicts(found)
    assert verdict.is_exact
    assert verdict.interval is None
    assert conclude(found).startswith(f"Over this one trace {verdict.best} is best (")
    assert 'start = "random", runs = 12, 1 min' in caveats.given(found)


def test_windows_of_a_trace_are_as_many_runs_as_asked_for(given: Path) -> None:
    found = run_campaign(Scenario.read(given).replace(**{"link.start": "random"}))
    assert found.counts().tolist() == [6, 6]
    assert not verdicts(found)[0].is_exact


def grid(goodput: dict[tuple[str, str], float], runs: int = 12) -> Results:
    """Goodput by scheme and congestion control, with the same draws in all cells."""
    rng = np.random.default_rng(4)
    common, cells = rng.normal(0, 20, runs), []
    for (scheme, control), mean in goodput.items():
        cell = Cell({"congestion": control, "scheme": scheme}, False, runs)
        for run, value in enumerate(mean + common + rng.normal(0, 2, runs)):
            cell.values[run] = {"duration_s": 30.0, "goodput_kbps": value}
        cells.append(cell)
    axes = [(axis, list(dict.fromkeys(cell.labels[axis] for cell in cells)))
            for axis in ("congestion", "scheme")]  # fmt: skip
    return Results("x", 1, axes, cells, [])


GRID = {("ARQ", "cubic"): 1000.0, ("none", "cubic"): 500.0,
        ("ARQ", "bbr"): 900.0, ("none", "bbr"): 950.0}  # fmt: skip


def test_schemes_and_transports_are_compared_together() -> None:
    found = grid(GRID)
    assert compared_axes(found) == ["scheme", "congestion"]
    [verdict] = verdicts(found)
    assert verdict.best == "ARQ with cubic"
    assert verdict.among == ("none with bbr",)
    # 950 is 5 % behind 1000: what `bbr` costs with the best scheme for it, and `none` likewise.
    costs = {one.label: (one.partner, one.cost) for one in verdict.fixed}
    assert costs["bbr"] == ("none", pytest.approx(0.05, abs=0.002))
    assert costs["none"] == ("bbr", pytest.approx(0.05, abs=0.002))
    assert costs["ARQ"] == costs["cubic"] == ("", 0.0)
    said = conclude(found)
    assert said.startswith("ARQ with cubic is best (5 % more goodput than none with bbr, interval ")
    assert "costs, against ARQ with cubic: " in said
    assert "bbr 5 % (with none" in said


def test_the_axis_to_choose_is_an_option() -> None:
    found = grid(GRID)
    found.compare = ("scheme",)
    said = conclude(found)
    assert said.startswith("ARQ is best for cubic (")
    assert '"none" is best for bbr (' in said
    found.compare = ("buffer",)
    with pytest.raises(
        ScenarioError, match="'buffer': the scenario does not vary it; give congestion"
    ):
        conclude(found)


def test_the_margin_decides_what_is_equal() -> None:
    found = grid({("ARQ", "cubic"): 1000.0, ("none", "cubic"): 1000.0})
    assert "equal within 5 %" in conclude(found)
    found.margin = 0.0001
    assert "Too few independent runs" in conclude(found)


def test_two_cells_without_draws_are_exact_beside_cells_with_draws() -> None:
    """Three runs with the same difference would be no evidence if they were draws."""
    found = grid({("ARQ", "cubic"): 1000.0, ("none", "cubic"): 900.0, ("ARQ", "bbr"): 500.0}, 3)
    for cell in found.cells[:2]:
        cell.values, cell.is_exact, cell.wanted = Values({0: cell.values[0]}), True, 1
    exact = [cell.values[0]["goodput_kbps"] for cell in found.cells[:2]]
    [verdict] = verdicts(found)
    assert (verdict.best, verdict.is_exact) == ("ARQ with cubic", False)
    assert verdict.gain.low == pytest.approx(exact[0] / exact[1] - 1)


@pytest.mark.parametrize("windows", [False, True])
def test_equals_are_rarely_told_apart_and_a_tenth_is_found(windows: bool) -> None:
    """A reduced `validation/campaign_statistics.py --links`, from drawn numbers."""
    rng = np.random.default_rng(6)
    table = Runs()
    values = 1000 * rng.lognormal(0, 0.1, 300)
    found = [{"goodput_kbps": value, "duration_s": 10.0} for value in values]
    of = [(rng.uniform(0, 3000.0), 3000.0, True) for _ in found] if windows else []
    table.add(0, range(300), found, of)
    shared = "trace" if windows else None
    cell = Cell({}, False, 300, Values.of(table, 0), shared)
    whole = Results("drawn", 1, [], [cell], [], table=table)
    of_two = campaign_statistics.of_two
    equal = [of_two(whole, rng, 5, 1.0) for _ in range(60)]
    assert sum(one.best is not None for one in equal) <= 6  # 5 % and two standard errors
    found = 0
    for _ in range(20):
        one = of_two(whole, rng, 6, 0.9)
        if one.best is None and one.needed is not None:
            one = of_two(whole, rng, one.needed, 0.9, again=True)
        found += one.best == "A"
    assert found >= 16
