"""Searching a design: what is found, what is said of it, what is kept."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from matplotlib.figure import Figure

import clift
from clift.campaign.saved import verify
from clift.campaign.statistics import estimate
from clift.cli.main import run
from clift.design import study
from clift.design.advice import SHOWN
from clift.design.objective import constraint, objective, values
from clift.design.picture import _cell
from clift.design.race import Race
from clift.design.result import BEST, UNTOLD, Contest, Design, Ranked
from clift.design.space import Candidate, candidates
from clift.errors import Interrupted, ScenarioError

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from validation import design_search  # noqa: E402 - beside the tests, not installed

GEO = """
name = "geo"
duration = "60 s"
[channel]
model = "gilbert-elliott"
erasures = "2 %"
burst = 2
slot = "1003802 ns"
lldu = "33 B"
decoding = "36 ms"
[link]
rtt = "500 ms"
queue = "unlimited"
[transport]
congestion = "cubic"
cwnd_max = "1000 packets"
profile = "papers"
"""
SMALL = {"scheme": ["none", "ARQ", "HARQ(10/15)"]}


@pytest.fixture
def geo(tmp_path: Path) -> Path:
    path = tmp_path / "geo.toml"
    path.write_text(GEO)
    return path


def raced(table: np.ndarray, budget: int, **more: float) -> Race:
    race = Race(len(table), budget, table.shape[1], **more)
    while wanted := race.wanted():
        for one, number in wanted:
            race.add(one, number, table[one, number])
    return race


def test_a_race_finds_the_best_of_many_within_its_budget() -> None:
    rng = np.random.default_rng(7)
    found = 0
    for _ in range(100):
        means = rng.normal(0, 1, 30)
        table = means[:, None] + rng.normal(0, 2, 40) + rng.normal(0, 0.4, (30, 40))
        race = raced(table, budget=120)
        assert race.done <= 120
        assert min(map(len, race.values)) >= 1
        found += race.order()[0] == np.argmin(table.mean(axis=1))
    assert found >= 90


def test_a_race_drops_twins_and_who_is_surely_worse() -> None:
    rng = np.random.default_rng(1)
    noise = rng.normal(0, 1, 40)
    table = np.array([noise, noise, noise + 5 + rng.normal(0, 0.1, 40), noise + 0.01])
    race = raced(table, budget=150)
    assert race.twin == {1: 0}
    assert race.order()[0] == 0
    assert len(race.values[2]) < len(race.values[0])


def test_equal_candidates_are_not_called_different() -> None:
    """Claims count every candidate and look: of a hundred searches without a best few name one."""
    rng = np.random.default_rng(3)
    named = 0
    for _ in range(100):
        race = raced(rng.normal(100, 1, (12, 40)), budget=120)
        first, *others = [one for one in race.order() if one in race.last]
        costs = [race.cost(one, first) for one in others]
        named += any(cost is not None and cost[0] > 0 for cost in costs)
    assert named <= 5


def test_the_printed_interval_is_the_one_of_the_claim() -> None:
    """A candidate whose interval leaves out zero is worse, one within the margin is equal."""
    rng = np.random.default_rng(5)
    noise = rng.normal(900, 60, 30)
    behind = {"first": 1.0, "equal": 0.999, "open": 0.97, "worse": 0.83}
    scatter = {"first": 0.0, "equal": 2.0, "open": 60.0, "worse": 20.0}
    rows = {
        name: [(one, 9e3, 0.9) for one in noise * part + rng.normal(0, scatter[name], 30)]
        for name, part in behind.items()
    }
    found = drawn_up(rows, *rows)
    first, *others = found.ranking()
    assert first.label == "first"
    standings = {one.label: one.standing for one in others}
    assert standings == {"equal": "equal", "open": "not told apart", "worse": "worse"}
    for one in others:
        leaves_zero_out = one.high < 0 or one.low > 0
        is_within = max(abs(one.low), abs(one.high)) <= found.tolerance
        assert (one.standing == "worse") == (leaves_zero_out and not is_within)
    text = " ".join(str(found).split())
    assert "Take any of these, which are equal within 5 %: first; equal." in text
    assert re.search(r"open \(.* behind\) is not told apart from it \(about \d+ runs", text)
    assert not re.search("Take any of these[^.]*worse", text)


def given_trace(tmp_path: Path, **more: object) -> dict[str, object]:
    """A scenario over a measured trace, without cross traffic: nothing is drawn but the start."""
    trace = tmp_path / "measured.parquet"
    clift.channel.bernoulli(slots=60_000, slot_ns=1_000_000, p=0.05, seed=1).write(trace)
    link = {"rtt": "200 ms", "wrap": True, **more}
    return {"duration": "5 s", "trace": {"file": str(trace)}, "link": link}


def test_copies_of_a_run_count_once(tmp_path: Path) -> None:
    found = clift.design(given_trace(tmp_path), space=SMALL, progress=False)
    ranking = found.ranking()
    assert [one.runs for one in ranking] == [1, 1, 1]
    assert found.done == 3
    assert all(one.low == one.high == one.share for one in ranking[1:])
    assert "every run over this trace is the same" in " ".join(str(found).split())


def test_one_run_is_no_copy_and_two_equal_ones_are() -> None:
    race = Race(2, 100, 40, given=True)
    race.add(0, 0, 7.0)
    assert not race.repeats(0)
    race.add(0, 1, 7.0)
    assert race.repeats(0)
    race.add(0, 2, 7.5)
    assert not race.repeats(0)


def test_runs_go_on_until_the_last_ones_differ_clearly(tmp_path: Path) -> None:
    scenario = given_trace(tmp_path, start="random")
    few = clift.design(scenario, space=SMALL, runs_budget=9, progress=False)
    assert few.done <= 9
    more = clift.design(scenario, space=SMALL, progress=False)
    race = more.contests[0].race
    first = more.ranking()[0].candidate
    for one in race.last:
        told = one == first or race.is_decided(one, first) or len(race.values[one]) == race.most
        assert told, more.candidates[one].label


@pytest.mark.parametrize("number", [4, 13])
def test_the_winner_is_that_of_a_full_enumeration(number: int, monkeypatch) -> None:
    """A reduced `validation/design_search.py`."""
    monkeypatch.setattr(design_search, "RUNS", 16)
    whole = design_search.problem(number)
    one = replace(whole, tree=whole.tree | {"duration": "20 s"}, tried=whole.tried[:10])
    table, excess = design_search.enumerate_all(one, threads=2)
    winner, runs = design_search.search(table, excess, part=4)
    assert runs <= table.size / 4
    right, text = design_search.is_right(
        table, excess, winner, design_search.best_of_all(table, excess)
    )
    assert right, text


def test_it_finds_kuhn_s_conclusions_and_where_a_kernel_of_today_turns_them() -> None:
    found = clift.design(
        ROOT / "examples" / "design_geo.toml",
        space={"scheme": ["ARQ", "HARQ(10/12)"]},
        runs_budget=16,
        progress=False,
        **{"flows": 1, "channel.esn0": "5 dB", "duration": "100 s"},
    )
    by_profile = {
        one.condition: first.label for one, first in zip(found.contests, found.winners, strict=True)
    }
    assert by_profile == {("papers",): "HARQ(10/12)", ("linux",): "ARQ"}
    good = clift.design(
        ROOT / "examples" / "design_geo.toml",
        space={"scheme": ["ARQ", "HARQ(10/12)"]},
        runs_budget=8,
        progress=False,
        **{"flows": 1, "channel.esn0": "8 dB", "duration": "100 s", "transport.profile": "papers"},
    )
    assert good.winners[0].label == "ARQ"


def test_runs_are_those_of_the_scenario_with_its_seeds_on_any_threads(geo: Path) -> None:
    one, two = (
        clift.design(geo, space=SMALL, threads=threads, progress=False, duration_s=20)
        for threads in (1, 2)
    )
    assert one.as_dict() == two.as_dict()
    scenario = clift.Scenario.read(geo).replace(duration_s=20, scheme="ARQ")
    arq = next(at for at, tried in enumerate(one.candidates) if tried.label == "ARQ")
    for number in (0, 1):
        alone = clift.simulate(scenario.replication(number))
        assert one.contests[0].runs[arq, number, 0]["goodput_kbps"] == alone.goodput_kbps


def test_limits_are_kept_and_said(geo: Path) -> None:
    limits = ["p99-delay<2s"]
    space = {"scheme": ["ARQ", "HARQ(10/15)"], "buffer": ["none", "in order"]}
    found = clift.design(geo, constraints=limits, space=space, progress=False)
    first, *others = found.ranking()
    assert found.contests[0].mean(first.candidate, "p99-delay") < 2000
    broken = [one for one in others if one.standing == "breaks a limit"]
    assert broken
    assert all("p99-delay<2s (" in one.note for one in broken)
    none = clift.design(geo, constraints=["goodput>10 Mbit/s"], space=SMALL, progress=False)
    assert none.winners == [None]
    assert "No candidate keeps the limits" in str(none)


def test_energy_counts_every_bit_on_the_air() -> None:
    channel = {"model": "bernoulli", "erasures": 0, "slot": "1 ms", "lldu": "125 B"}
    scenario = {"channel": channel, "application": {"type": "file", "size": "50 kB"}}
    found = clift.design(scenario, "energy", space=SMALL | {"n_d": [9]}, progress=False)
    means = {one.label: one.value.mean for one in found.ranking()}
    # 1500 bytes in 12 units of 125 carry 1448; half as much again in blocks of 15 for 10.
    assert means["ARQ"] == pytest.approx(1500 / 1448, rel=0.01)
    assert means["HARQ(10/15)"] / means["ARQ"] == pytest.approx(1.5, rel=0.05)


def test_one_design_for_all_conditions_has_the_best_mean(geo: Path) -> None:
    vary = {"flows": [1, 4]}
    found = clift.design(geo, space=SMALL, together=True, vary=vary, progress=False)
    [contest] = found.contests
    assert contest.condition == (None,)
    first = found.ranking()[0]
    parts = [
        values["goodput_kbps"]
        for (one, _, _), values in contest.runs.items()
        if one == first.candidate
    ]
    assert first.value.mean == pytest.approx(np.mean(parts))
    assert len(contest.runs) == 2 * contest.race.done


def test_the_front_has_no_candidate_that_another_one_beats(geo: Path) -> None:
    found = clift.design(geo, space={"scheme": ["none", "ARQ", "HARQ"]}, progress=False)
    front = found.front()
    assert 1 < len(front) < len(found.points())
    assert set(front) == not_beaten(found.contests[0], list(found.points()))


def not_beaten(contest: Contest, among: list[int]) -> set[int]:
    """By the runs that both have, one pair after the other."""
    names = ("goodput_kbps", "p99-delay", "links.0.share_used")
    left = set(among)
    for one, other in product(among, among):
        both = {run for at, run, _ in contest.runs if at == one} & {
            run for at, run, _ in contest.runs if at == other
        }
        mine, its = (
            np.mean([[contest.runs[at, run, 0][name] for name in names] for run in both], axis=0)
            * np.array([-1, 1, 1])
            for at in (one, other)
        )
        if np.all(its <= mine) and np.any(its < mine):
            left.discard(one)
    return left


def drawn_up(runs: dict[str, list[tuple[float, float, float]]], *more: str) -> Design:
    """A search that is over, with goodput, delay and share of the link of each run."""
    race = Race(len(runs), 100, 40, tolerance=0.05)
    contest = Contest((), race)
    for one, rows in enumerate(runs.values()):
        for number, (goodput, delay, used) in enumerate(rows):
            race.add(one, number, -goodput)
            contest.runs[one, number, 0] = {
                "goodput_kbps": goodput, "p99-delay": delay, "links.0.share_used": used
            }  # fmt: skip
    race.alive = race.last = [one for one, name in enumerate(runs) if name in more]
    tried = [Candidate(name, {}, {}) for name in runs]
    return Design("drawn up", 1, objective("goodput"), [], tried, [], [contest], 100, 400)


# Seven easy draws, and as many hard ones that only those of the last round had.
EASY, HARD = [0.0, 2.0, 1.0, 3.0, 0.0, 1.0, 2.0], [-400.0, -390.0, -410.0, -405.0, -395.0, -400.0]
DROPPED_EARLY = {
    "long": [(900 + x, 9000 - x, 0.9) for x in EASY + HARD],
    "level": [(899 + x + at % 3, 9500 - x, 0.9) for at, x in enumerate(EASY + HARD)],
    "dropped": [(880 + x, 9100 - x, 0.91) for x in EASY],
    "quick": [(870 + x, 5000 - x, 0.9) for x in EASY],
    "twice": [(950.0, 100.0, 0.1)] * 2,
}


def test_a_front_compares_by_the_runs_that_both_have() -> None:
    found = drawn_up(DROPPED_EARLY, "long", "level")
    names = [found.candidates[one].label for one in found.front()]
    # By means over all runs of each, `dropped` has more goodput than those of the last round.
    assert "dropped" not in names
    assert {"long", "quick"} <= set(names)
    assert set(found.front()) == not_beaten(found.contests[0], [0, 1, 2, 3])
    compared = found.compared()
    assert compared.left_out == 1  # two runs
    quick = compared.points[3]
    assert quick.runs == 7
    first = names[0]
    both = [row[0] for row in DROPPED_EARLY[first][:7]]
    share = np.mean([row[0] for row in DROPPED_EARLY["quick"]]) / np.mean(both) - 1
    assert quick.more[0] == pytest.approx(share)
    whole = np.mean([row[0] for row in DROPPED_EARLY[first]])
    assert quick.values[0] == pytest.approx(whole * (1 + share))
    text = str(found)
    assert f"{100 * share:+.1f} %" in next(
        line for line in text.split("runs that both have")[1].splitlines() if "quick" in line
    )
    assert "not compared: 1 with too few runs" in text
    [condition] = found.as_dict()["conditions"]
    kept = {one["candidate"]: one for one in condition["front"]}
    assert list(kept) == names
    assert kept["quick"]["runs"] == 7
    assert kept["quick"]["more_goodput"] == pytest.approx(share)
    rows = {row["candidate"]: row for row in found.table("ranking").to_pylist()}
    assert [rows["twice"]["compared"], rows["dropped"]["compared"]] == [False, True]
    assert not rows["dropped"]["on_front"]
    axes = found.plot("front").axes[0]
    assert len(axes.collections[0].get_offsets()) == 4
    assert {text.get_text() for text in axes.texts} == {str(at + 1) for at in range(len(names))}


def test_candidates_at_one_point_of_the_front_share_a_label() -> None:
    """`same` is as good as `long` in every run, as ARQ is over a link without losses."""
    runs = DROPPED_EARLY | {"same": DROPPED_EARLY["long"]}
    found = drawn_up(runs, "long", "level")
    labels = [text.get_text() for text in found.plot("front").axes[0].texts]
    assert len(labels) == len(found.front()) - 1
    numbers = sorted(int(number) for label in labels for number in label.split(", "))
    assert numbers == list(range(1, len(found.front()) + 1))


def test_what_to_take_of_equals_is_said_once_and_costs_are_measured() -> None:
    found = drawn_up(DROPPED_EARLY, "long", "level")
    text = " ".join(str(found).split())
    first, second = found.ranking()[:2]
    assert second.standing == "equal"
    taken = f"Take any of these, which are equal within 5 %: {first.label}; {second.label}"
    assert text.count(taken) == 1
    assert [one.startswith(taken) for one in found.as_dict()["advice"]] == [True]
    standings = {one.label: one for one in found.ranking()}
    aside = [one for one in standings.values() if one.standing == "set aside"]
    assert f"{len(aside)} w" in text
    rows = {"good": [(900 + x, 9e3, 0.9) for x in EASY * 3]}
    rows |= {"bad": [(500 + x / 2, 9e3, 0.9) for x in EASY * 3]}
    told = drawn_up(rows, "good", "bad")
    level = {"also": [(900 + x + at % 3 - 1, 9e3, 0.9) for at, x in enumerate(EASY * 3)]}
    both = drawn_up(rows | level, "good", "also")
    [bad] = [one for one in both.ranking() if one.standing == "worse"]
    assert f"1 costs {-100 * bad.high:.1f} % or more." in " ".join(str(both).split())
    both.axes, both.contests[0].condition = [("flows", ["1", "4"])], ("1",)
    both.contests.append(replace(both.contests[0], condition=("4",)))
    text = " ".join(str(both).split())
    assert "flows 4: take any of these" in text
    assert "First or equal to it under every condition: " in text
    assert told.ranking()[0].standing == "best"
    assert "Take any" not in str(told)


def test_many_conditions_have_a_line_each() -> None:
    rows = {"good": [(900 + x, 9e3, 0.9) for x in EASY * 3]}
    rows |= {"bad": [(500 + x, 9e3, 0.9) for x in EASY * 3]}
    found = drawn_up(rows, "good", "bad")
    flows = [str(10**place) for place in range(SHOWN + 1)]
    found.axes = [("flows", flows)]
    found.contests = [replace(found.contests[0], condition=(count,)) for count in flows]
    lines = str(found).splitlines()
    for count in flows:
        assert [line for line in lines if re.match(rf"{count} +good +90", line)], count


def test_what_runs_share_and_say_of_themselves_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [f"{at},{60 + at % 5}" for at in [*range(100), *range(140, 240)]]
    (tmp_path / "drive.csv").write_text("\n".join(["time_s,cn0_dbhz", *rows]) + "\n")
    (tmp_path / "drive.toml").write_text("""
scheme = "ARQ"
duration = "60 s"
[trace]
file = "drive.csv"
time = "time_s:s"
cn0 = "cn0_dbhz:dBHz"
symbol_rate = "500 kBd"
margin = "1 dB"
acm_delay = "1 s"
[link]
rtt = "520 ms"
queue = "100 packets"
start = "random"
wrap = true
""")
    command = f"design {tmp_path / 'drive.toml'} --quiet --runs-budget 24"
    command += " --space 'scheme=none,ARQ,HARQ(10/12)'"
    assert run(shlex.split(command)) == 0
    text, err = capsys.readouterr()
    said = " ".join(text.split())
    assert "Given this trace: runs start at random times of it and overlap" in said
    assert said.index("Given this trace") < said.index("set aside: dropped".capitalize())
    assert "gaps" in said + err or "gap of" in said + err
    assert run(shlex.split(f"{command} --json")) == 0
    kept = json.loads(capsys.readouterr().out)
    assert kept["given"].startswith("Given this trace: ")
    assert any("1 gap" in note for note in kept["notes"])


def test_delays_of_seconds_are_shown_in_seconds(geo: Path) -> None:
    space = {"scheme": ["ARQ", "HARQ(10/15)"]}
    found = clift.design(geo, "p99-delay", ["p99-delay<1 ms"], space, progress=False)
    [condition] = found.as_dict()["conditions"]
    for row in condition["ranking"]:
        mean = row["value"]["mean"]
        assert mean > 1000
        assert row["note"] == f"p99-delay<1 ms ({mean / 1000:.4g} s)"
    assert "p99-delay (s)" in str(found)


@pytest.mark.parametrize(
    ("space", "count"),
    [
        ({"scheme": ["FEC"], "n_d": [10], "n_r": [0, 2], "interleave": [1, 8]}, 2),
        ({"scheme": ["ARQ"], "persistency": ["unlimited", 1, 2]}, 3),
        ({"scheme": ["ARQ", "ARQ"]}, 1),
        ({"N_D": [5, 6], "scheme": ["HARQ"], "N_R": [1], "N_S": [0]}, 2),
        ({"hybrid.n": ["10", "11"], "hybrid.in_order": ["true", "false"]}, 4),
    ],
)
def test_a_space_has_each_candidate_once(space: dict[str, list[object]], count: int) -> None:
    assert len(candidates(space)) == count


@pytest.mark.usefixtures("undrawn")
def test_an_interrupted_search_ranks_what_is_done(
    geo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    calls = []

    def stopped(scenarios: list[clift.Scenario], **more: object) -> list[object]:
        runs = clift.run_many(scenarios, **more)
        calls.append(len(runs))
        if len(calls) == 2:
            raise Interrupted("interrupted", [*runs[:-2], None, runs[-1]])
        return runs

    monkeypatch.setattr(study, "run_many", stopped)
    out = tmp_path / "out"
    spaces = "--space scheme=none,ARQ,HARQ --space n_r=1,2 --set duration='20 s'"
    command = f"design {geo} {spaces} --threads 1 -o {out} --quiet"
    assert run(shlex.split(command)) == 130
    text, err = capsys.readouterr()
    assert "INTERRUPTED after" in text
    assert "stopped after" in err
    record = json.loads((out / "design.json").read_text())
    assert record["complete"] is False
    assert (
        record["runs_done"] == sum(calls) - 1 == pq.read_table(out / "design-runs.parquet").num_rows
    )


@pytest.mark.usefixtures("undrawn")
def test_a_search_continues_and_comes_out_as_at_once(
    geo: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    spaces = "--space scheme=none,ARQ,HARQ --space n_r=1,2 --set duration='5 s'"
    out, whole = tmp_path / "out", tmp_path / "whole"
    command = f"design {geo} {spaces} --threads 1 --runs-budget 40 --json --quiet -o"
    done: list[int] = []
    most: int | None = None
    plain = study.run_many

    def counted(scenarios, *rest, **options):
        if most is not None and sum(done) + len(scenarios) > most:
            some = plain(scenarios[: most - sum(done)], *rest, **options)
            done.append(len(some))
            raise Interrupted("stopped", [*some, *[None] * (len(scenarios) - len(some))])
        done.append(len(scenarios))
        return plain(scenarios, *rest, **options)

    monkeypatch.setattr(study, "run_many", counted)
    assert run(shlex.split(f"{command} {whole}")) == 0
    expected, total = capsys.readouterr().out, sum(done)
    done.clear()
    most = total // 2 + 1
    assert run(shlex.split(f"{command} {out}")) == 130
    assert sum(done) == most
    capsys.readouterr()
    done.clear()
    most = None
    assert run(shlex.split(f"{command} {out}")) == 0
    assert capsys.readouterr().out == expected
    assert sum(done) == total - (total // 2 + 1)
    # Another objective takes the runs that are there; another seed has none of them.
    done.clear()
    assert run(shlex.split(f"{command} {out} --objective p99-delay")) == 0
    assert sum(done) < total
    other = f"{command} {out} --seed 99"
    capsys.readouterr()
    assert run(shlex.split(other)) == 2
    assert "runs of another study" in capsys.readouterr().err
    assert run(shlex.split(f"{other} --force")) == 0


def test_the_folder_holds_all_that_was_tried(
    geo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    vary = "--set duration='20 s' --set seed=4"
    command = f"design {geo} {vary} --space scheme=ARQ,HARQ(10/12) --json -o {out}"
    command = command.replace("HARQ(10/12)", "'HARQ(10/12)'")
    assert run(shlex.split(command)) == 0
    printed = json.loads(capsys.readouterr().out)
    kept = json.loads((out / "design.json").read_text())
    assert {name: kept[name] for name in printed} == printed
    assert printed["seed"] == 4
    runs = pq.read_table(out / "design-runs.parquet")
    assert runs.num_rows == printed["runs_done"]
    assert {"candidate", "scheme", "run", "goodput_kbps", "p99-delay", "energy"} <= set(
        runs.column_names
    )
    assert pq.read_table(out / "design-ranking.parquet").num_rows == 2
    assert (out / "design-front.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (out / "design-front.svg").read_text()[:600]
    # A map of one condition would be a single box.
    assert not (out / "design-map.png").exists()
    assert verify(out)[1] == {}
    # Without what says that CLIFT wrote them they are somebody's.
    shutil.rmtree(out / "store")
    (out / "design.json").write_text("{}")
    assert run(shlex.split(command)) == 2
    assert "design.json: not a file that CLIFT wrote here" in capsys.readouterr().err
    # A version before this one listed no files.
    (out / "design.json").write_text('{"kind": "clift design"}')
    assert run(shlex.split(command)) == 0
    assert verify(out)[1] == {}


def test_the_map_has_no_lead_where_nothing_is_decided() -> None:
    value = estimate([1.0, 2.0])
    assert value is not None
    texts = []
    for standing in (BEST, UNTOLD):
        axes = Figure().subplots()
        _cell(axes, 0, 0, Ranked(0, "ARQ", 2, value, None, None, None, standing), 0.07, {})
        texts.append(axes.texts[0].get_text())
    assert texts == ["ARQ\n+7%", "ARQ"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ("--objective speed", "goodput, p99-delay, completion, energy"),
        ("--objective segments_sent", "neither less nor more"),
        ("--constraint p99-delay", "write e.g."),
        ("--constraint 'p99-delay<2kg'", "is no limit in ms"),
        ("--constraint 'p99-delay<2'", '`2` has no unit; write a time as e.g. "500 ms"'),
        ("--constraint 'completion<30'", "`30` has no unit"),
        ("--constraint 'goodput>200'", '`200` has no unit; write a rate as e.g. "200 kbit/s"'),
        ("--constraint 'p99-delay<80%'", "is no limit in ms"),
        ("--constraint 'share_used<nan'", "is no limit in %"),
        ("--constraint 'speed<2'", "no metric `speed`"),
        ("--space scheme", "NAME=VALUE,VALUE"),
        ("--space scheme=ARQ", "two or more"),
        ("--space scheme=ARC,ARQ", "unknown scheme"),
        ("--space n_d=10", "give them too"),
        ("--space scheme=HARQ --space n_d=x", "give whole numbers"),
        ("--space buffer=some,none", "none, in order"),
        ("--space scheme=ARQ,none --space scheme=none", "given twice"),
        ("--space link.speed=1,2", "speed"),
        ("--runs-budget 1 --space scheme=ARQ,none", "--runs-budget 1: give"),
        ("--objective completion --space speed=1,2", "speed"),
    ],
)
def test_what_is_wrong_is_one_line(
    geo: Path, options: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["design", str(geo), "--quiet", *shlex.split(options)]) == 2
    text, err = capsys.readouterr()
    assert not text
    assert told in err
    assert len(err.strip().splitlines()) == 1


def test_other_links_have_spaces_of_their_own() -> None:
    hybrid = {"hybrid": {"loss": 0.05}, "duration": "10 s"}
    found = clift.design(hybrid, "p99-delay", runs_budget=72, progress=False)
    assert len(found.candidates) == 24
    assert found.ranking()[0].value.mean > 200  # ms: no less than the propagation
    with pytest.raises(ScenarioError, match="say what to try"):
        clift.design({"ntn": {}}, progress=False)
    rlc = clift.design(
        {"ntn": {"bler": 0.1}, "duration": "5 s"},
        space={"ntn.rlc": ["am", "um"]},
        runs_budget=6,
        progress=False,
    )
    assert {one.label for one in rlc.ranking()} == {"rlc am", "rlc um"}


def test_objectives_and_limits_mean_what_they_say() -> None:
    run = {"goodput_kbps": 0.0, "duration_s": 7.0, "links.0.share_used": 0.5}
    found = values(run, capacity_kbps=100.0)
    assert found["completion_s"] == 7.0
    assert found["p99-delay"] == 7000.0  # nothing arrived
    assert found["energy"] > 1e5
    assert constraint("goodput > 1 Mbit/s").excess(900.0) == pytest.approx(0.1)
    assert constraint("links.0.share_used<=50%").excess(0.4) < 0
    assert objective("timeouts").better == "less"
    # A value without a unit is a bare number.
    assert constraint("energy<1.5").limit == constraint("share_used<150%").limit == 1.5
    assert constraint("timeouts<3").limit == 3


@pytest.mark.long
def test_the_guide_holds_from_top_to_bottom(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its commands, with shorter runs and fewer of them."""
    text = (ROOT / "docs" / "guides" / "design.md").read_text()
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    commands = re.findall(r"^\$ (clift .*)$", text, flags=re.MULTILINE)
    assert len(commands) == 4
    for command in commands:
        few = "--runs-budget 16 --set flows=1 --set 'channel.esn0=6 dB'"
        words = shlex.split(command.replace("--runs-budget 3000", few))
        assert run([*words[1:], "--set", "duration=5 s", "--quiet"]) == 0, command
        out = capsys.readouterr().out
        assert max(map(len, out.splitlines())) <= 100, command
    [block] = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    block = block.replace("60 s", "5 s")
    subprocess.run([sys.executable, "-c", block], check=True, capture_output=True)
