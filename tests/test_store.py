"""A results folder as a store of finished runs: resumed, extended, shared, refused."""

import json
import logging
import os
import queue
import threading
from collections.abc import Callable
from logging.handlers import QueueHandler
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import small_study

import clift
from clift.campaign import parts, store
from clift.campaign.files import sweep, write_file
from clift.campaign.identity import cell_keys
from clift.campaign.plan import Plan
from clift.campaign.saved import read
from clift.campaign.store import Store, open_store
from clift.campaign.work import Worker
from clift.cli.main import run


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "study.toml"
    path.write_text(small_study.text(6, "20 kB"))
    return path


def values(campaign: clift.campaign.Campaign) -> list[dict[int, dict[str, float]]]:
    return [dict(cell.values) for cell in campaign.cells]


def test_only_missing_runs_are_run(study: Path, tmp_path: Path, monkeypatch) -> None:
    ran: list[int] = []
    usual = Worker.run

    def counted(self, spans):
        ran.extend(place for first, end in spans for place in range(first, end))
        return usual(self, spans)

    monkeypatch.setattr(Worker, "run", counted)
    folder = tmp_path / "out"
    clift.campaign.sweep(study, folder, progress=False, runs=3)
    assert sorted(ran) == list(range(6))
    ran.clear()
    more = clift.campaign.sweep(study, folder, progress=False)
    assert sorted(ran) == list(range(6, 12))
    ran.clear()
    # A further cell is run, the others are kept at any place.
    schemes = {"vary.scheme": ["HARQ(10/12)", "ARQ", "none"]}
    wider = clift.campaign.sweep(study, folder, progress=False, **schemes)
    assert sorted(place % 3 for place in ran) == [0] * 6
    assert values(wider)[1:] == values(more) == values(clift.campaign.run(study, progress=False))
    fewer = clift.campaign.sweep(study, folder, progress=False, runs=2, **schemes)
    assert [len(cell.values) for cell in fewer.cells] == [2, 2, 2]


def test_the_key_of_a_cell_has_all_that_decides_its_results(tmp_path: Path) -> None:
    phy = clift.channel.bernoulli(slots=2000, p=0.1, seed=1)
    phy.write(tmp_path / "x.csv")
    text = 'duration = "1 s"\n[trace]\nfile = "x.csv"\n'

    def key(text: str = text, **options: object) -> str:
        return cell_keys(clift.Scenario.parse(text, str(tmp_path / "x.toml"), options))[0]

    first = key()
    assert key(f'name = "a title"\nruns = 7\n{text}') == first
    assert key(seed=2) != first
    assert key(scheme="ARQ") != first
    clift.channel.bernoulli(slots=2000, p=0.1, seed=2).write(tmp_path / "x.csv")
    assert key() != first
    phy.write(tmp_path / "x.csv")
    assert key() == first
    # A name may have any characters.
    odd = {"trace.file": 'a "two" \\.csv'}
    phy.write(tmp_path / odd["trace.file"])
    before = key(**odd)
    clift.channel.bernoulli(slots=2000, p=0.1, seed=2).write(tmp_path / odd["trace.file"])
    assert key(**odd) != before
    # Neither how the file is named counts, nor where the folder is.
    absolute = {"trace.file": str(tmp_path / "x.csv")}
    assert key(**absolute) == first
    link = tmp_path.with_name(f"{tmp_path.name}-link")
    link.symlink_to(tmp_path)
    assert key(**{"trace.file": str(link / "x.csv")}) == first
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for name in ("x.csv", "y.csv"):
        phy.write(elsewhere / name)
    paths = (tmp_path / "x.csv", elsewhere / "x.csv", elsewhere / "y.csv")
    far = [cell_keys(clift.Scenario({"trace": {"file": str(path)}}))[0] for path in paths]
    assert far[0] == far[1] != far[2]
    other = clift.channel.bernoulli(slots=2000, p=0.1, seed=2)
    links = [clift.tmt.apply(one, clift.Arq()) for one in (phy, phy, other)]
    ours, same, others = (cell_keys(clift.Scenario(link, duration_s=1))[0] for link in links)
    assert ours == same != others
    vary = {"link.rtt": ["100 ms", "200 ms"]}
    both = clift.Scenario({"trace": {"file": phy}, "duration": "1 s", "vary": vary})
    assert len(set(cell_keys(both))) == 2


def traced() -> clift.LinkTrace:
    phy = clift.channel.bernoulli(slots=20_000, p=0.02, seed=1)
    return clift.tmt.apply(phy, clift.Arq())


def delayed(delay_ms: int = 30) -> clift.NtnLink:
    return clift.NtnLink(delay_ms=[(0, 20), (1, delay_ms)])


def informed(level: float = 0.6) -> clift.AdaptiveHarqLink:
    return clift.AdaptiveHarqLink(information=np.full(2_000, level), every_ms=1)


def test_delays_and_information_in_memory_name_a_cell() -> None:
    for link, other in (delayed, 31), (informed, 0.7):
        ours, same, others = (
            cell_keys(clift.Scenario(a))[0] for a in (link(), link(), link(other))
        )
        assert ours == same != others


@pytest.mark.parametrize("link", [traced, delayed, informed])
def test_runs_of_links_in_memory_are_kept_too(link: Callable[[], Any], tmp_path: Path) -> None:
    first = clift.campaign.sweep(link(), tmp_path, progress=False, duration_s=2, runs=3)
    files = set((tmp_path / "store" / "runs").iterdir())
    again = clift.campaign.sweep(link(), tmp_path, progress=False, duration_s=2, runs=3)
    assert values(first) == values(again)
    assert set((tmp_path / "store" / "runs").iterdir()) == files


def test_another_study_is_refused_and_removed_by_force_only(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "out"
    command = ["sweep", str(study), "-o", str(folder), "--no-plots", "--quiet"]
    assert run(command) == 0
    record = (folder / "record.json").read_bytes()
    capsys.readouterr()
    assert run([*command, "--seed", "9"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"error: {folder}: holds 12 runs of another study; choose another")
    assert (folder / "record.json").read_bytes() == record
    assert run([*command, "--seed", "9", "--force"]) == 0
    assert json.loads((folder / "record.json").read_text())["seed"] == 9


def test_a_process_of_another_study_is_refused_and_one_of_the_same_joins(
    study: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    scenario = clift.Scenario.read(study)
    refused = pytest.raises(clift.ScenarioError, match="another study is being run in this folder")
    with open_store(folder, scenario), open_store(folder, scenario), refused:
        open_store(folder, scenario.replace(seed=3), force=True)
    open_store(folder, scenario.replace(seed=3)).close()


def test_two_share_the_work_and_neither_does_it_twice(study: Path, tmp_path: Path) -> None:
    scenario = clift.Scenario.read(study, {"runs": "40"})
    found: list[list[tuple[int, int]]] = [[], []]

    def work(own: list[tuple[int, int]], store: Store) -> None:
        plan = Plan([40, 40], store)
        worker = Worker(scenario.cells(), threading.Event())
        while not plan.is_over:
            while (spans := plan.next(3)) is not None:
                store.write(parts.table(worker.run(spans).rows))
                for first, end in spans:
                    store.let_go(first, end)
                own.extend(spans)
            plan.again()

    with open_store(tmp_path, scenario) as one, open_store(tmp_path, scenario) as two:
        crew = [
            threading.Thread(target=work, args=pair) for pair in zip(found, (one, two), strict=True)
        ]
        for thread in crew:
            thread.start()
        for thread in crew:
            thread.join()
    places = sorted(place for own in found for span in own for place in range(*span))
    assert places == list(range(80))


def test_a_wait_names_the_process_that_is_waited_for(study: Path, tmp_path: Path) -> None:
    lines: queue.SimpleQueue[str] = queue.SimpleQueue()
    handler = QueueHandler(lines)  # type: ignore[arg-type] # a record each
    logging.getLogger("clift").addHandler(handler)
    scenario = clift.Scenario.read(study)

    def derive() -> None:
        with store.deriving():
            pass

    try:
        with open_store(tmp_path, scenario) as other, open_store(tmp_path, scenario) as store:
            with other.deriving():
                waiting = threading.Thread(target=derive)
                waiting.start()
                told = lines.get(timeout=300).getMessage()  # type: ignore[attr-defined]
            waiting.join()
            assert other.claim(0, 1) is None
            store.tell_of_others()
            runs = lines.get(timeout=300).getMessage()  # type: ignore[attr-defined]
    finally:
        logging.getLogger("clift").removeHandler(handler)
    whom = f"{tmp_path}: waiting for process {os.getpid()}, which"
    assert told == f"{whom} writes its tables and plots"
    assert runs == f"{whom} does the missing runs"


def test_half_written_files_of_the_dead_are_swept(study: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    clift.campaign.sweep(study, folder, progress=False)
    store = folder / "store"
    if (writer := os.fork()) == 0:
        try:
            write_file(store / "x", lambda out: (out.write(b"half"), os._exit(9)))
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(writer, 0)[1]) == 9
    [left] = store.glob(".clift-*")
    with left.open() as alive:
        import fcntl

        fcntl.flock(alive, fcntl.LOCK_EX)
        sweep(store)
        assert left.exists()
    clift.campaign.sweep(study, folder, progress=False)
    assert not left.exists()


def test_a_disk_that_fills_up_costs_no_finished_run(
    study: Path, tmp_path: Path, monkeypatch, capsys: pytest.CaptureFixture[str]
) -> None:
    usual, calls = Store.write, 0

    def full(self, table):
        nonlocal calls
        calls += 1
        if calls > 2:
            raise OSError(28, "No space left on device")
        usual(self, table)

    monkeypatch.setattr(Store, "write", full)
    command = ["sweep", str(study), "-o", str(tmp_path / "out"), "--json", "--threads", "1"]
    assert run([*command, "--no-plots"]) == 2
    out, err = capsys.readouterr()
    record = json.loads(out)
    # Two batches are kept, and what was not written is shown all the same.
    assert 3 <= record["runs_done"] <= 12
    assert err.splitlines()[-1].endswith(
        "cannot write finished runs: No space left on device; make room and run it again: what is "
        "there is kept"
    )
    monkeypatch.undo()
    assert run([*command, "--no-plots"]) == 0
    assert json.loads(capsys.readouterr().out)["complete"]


def test_runs_of_another_build_are_not_mixed(study: Path, tmp_path: Path, monkeypatch) -> None:
    folder = tmp_path / "out"
    clift.campaign.sweep(study, folder, progress=False, runs=2)
    measured_by = store.measured_by
    monkeypatch.setattr(
        store, "measured_by", lambda *given: measured_by(*given) | {"goodput_kbps": 1.0}
    )
    with pytest.raises(clift.ScenarioError, match="of another build of CLIFT"):
        clift.campaign.sweep(study, folder, progress=False)


def test_a_trace_that_changes_during_a_study_without_a_folder_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    usual, trace = Worker.run, tmp_path / "x.csv"
    clift.channel.bernoulli(slots=4000, p=0.02, seed=1).write(trace)

    def change_after(self, spans):
        done = usual(self, spans)
        clift.channel.bernoulli(slots=4000, p=0.3, seed=1).write(trace)
        return done

    monkeypatch.setattr(Worker, "run", change_after)
    study = tmp_path / "study.toml"
    study.write_text('runs = 2\nduration = "1 s"\n[link]\nstart = "random"\nwrap = true\n')
    assert run(["run", str(study), "--set", "trace.file=x.csv", "--json", "--quiet"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert f"{trace}: changed or was removed while the study ran" in err


@pytest.mark.parametrize("what", ["changed", "removed", "touched"])
def test_a_trace_that_changes_meanwhile_ends_the_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], what: str
) -> None:
    usual, one, two = Worker.run, tmp_path / "1.csv", tmp_path / "2.csv"
    for path in (one, two):
        clift.channel.bernoulli(slots=4000, p=0.02, seed=1).write(path)
    original = two.read_bytes()

    def change_before(self, spans):
        done = usual(self, spans) if spans[0][0] == 0 else None
        match what:
            case "changed":
                clift.channel.bernoulli(slots=4000, p=0.3, seed=1).write(two)
            case "removed":
                two.unlink(missing_ok=True)
            case "touched":
                two.touch()
        return done or usual(self, spans)

    study, folder = tmp_path / "study.toml", tmp_path / "out"
    study.write_text(
        'runs = 8\nduration = "1 s"\n[link]\nstart = "random"\nwrap = true\n'
        '[vary]\ntrace.file = ["1.csv", "2.csv"]\n'
    )
    command = ["run", str(study), "-o", str(folder), "--no-plots", "--threads", "1", "--quiet"]
    monkeypatch.setattr(Worker, "run", change_before)
    assert run(command) == (0 if what == "touched" else 2)
    out, err = capsys.readouterr()
    if what != "touched":
        assert out == ""
        assert f"{two}: changed or was removed while the study ran" in err.splitlines()[-1]
        assert not (folder / "record.json").exists()
    monkeypatch.undo()
    two.write_bytes(original)
    assert run(command) == 0
    # Both cells run over the same slots.
    runs = read(folder).runs
    goodput = runs.column("goodput_kbps").to_pylist()
    assert goodput[:8] == goodput[8:]


def test_a_cell_stops_when_its_interval_is_narrow(study: Path, tmp_path: Path) -> None:
    found = clift.campaign.sweep(study, tmp_path, progress=False, runs=100, until_halfwidth=0.04)
    counts = [len(cell.values) for cell in found.cells]
    assert counts == [cell.wanted for cell in found.cells]
    assert counts == [50, 100]
    for cell, estimate in zip(found.cells, found.estimates("completion_s"), strict=True):
        assert estimate.half_width < 0.04 * estimate.mean or len(cell.values) == 100
    # What has been run beyond the last look of a cell does not count, so that all agree.
    clift.campaign.sweep(study, tmp_path, progress=False, runs=70)
    again = clift.campaign.sweep(study, tmp_path, progress=False, runs=100, until_halfwidth=0.04)
    assert values(again) == values(found)


def test_a_dry_run_lists_the_missing_runs(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["sweep", str(study), "-o", str(tmp_path / "out")]
    assert run([*command, "--runs", "4", "--no-plots", "--quiet"]) == 0
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.*")}
    capsys.readouterr()
    assert run([*command, "--dry-run", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["cells"], told["runs"], told["there"], told["missing"]) == (2, 12, 8, 4)
    assert told["seconds"] > 0
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.*")} == before
    assert run([*command, "--dry-run"]) == 0
    assert "12: 8 there, 4 missing" in capsys.readouterr().out


def test_rows_are_sorted_and_without_times(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["sweep", str(study), "--csv", "--no-plots", "--quiet"]
    texts = []
    for folder, threads in (("a", "1"), ("b", "2")):
        assert run([*command, "-o", str(tmp_path / folder), "--threads", threads]) == 0
        texts.append(capsys.readouterr().out)
    assert texts[0] == texts[1]
    assert run(["run", *command[1:3], "--quiet"]) == 0
    assert capsys.readouterr().out == texts[0]
    assert run(["run", *command[1:3], "--json"]) == 2
    assert "use --json or --csv, not both" in capsys.readouterr().err
    rows = [line.split(",")[:2] for line in texts[0].splitlines()]
    assert rows[0] == ["scheme", "run"]
    assert rows[1:] == [[f'"{scheme}"', str(n)] for scheme in ("ARQ", "none") for n in range(6)]


@pytest.mark.parametrize("seed", range(3))
def test_places_fit_into_names_and_come_back(seed: int) -> None:
    drawn = np.random.default_rng(seed).random(5000) < (0.1, 0.5, 0.99)[seed]
    places = np.flatnonzero(drawn).tolist()
    found = []
    for group in parts.cut(places, 700):
        name = parts.file_name("0" * 32, group, b"")
        assert len(name) < 255
        assert sum(end - first for first, end in group) <= 700
        assert parts.spans_of(name, "0" * 32) == group
        found += [place for first, end in group for place in range(first, end)]
    assert found == places
