"""Traces from what others measured: what a user meets beside the guide's own path."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest

import clift
from clift.cli.main import run

LOG = "time,rate,delay\n" + "".join(f"{second},5,20\n" for second in range(10))


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.csv"
    path.write_text(LOG)
    return path


def columns(unit: str = "Mbit/s") -> list[str]:
    return ["--time", "time:s", "--rate", f"rate:{unit}", "--delay", "delay:ms"]


def refused(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """What a command that fails says: one line, and exit code 2."""
    assert run([str(word) for word in words]) == 2
    said = capsys.readouterr().err.strip()
    assert len(said.splitlines()) == 1
    return said


def test_a_series_in_a_scenario_is_the_one_that_is_imported(log: Path) -> None:
    imported = clift.import_series(log, time="time:s", rate="rate:Mbit/s", delay="delay:ms")
    assert (imported.lldu_bytes, len(imported)) == (1500, 4167)  # 5 Mbit/s for 10 s
    text = '[trace]\nfile = "log.csv"\ntime = "time:s"\nrate = "rate:Mbit/s"\ndelay = "delay:ms"\n'
    (log.parent / "x.toml").write_text(text)
    used = clift.Scenario.read(log.parent / "x.toml").phy_trace()
    assert used is not None
    assert used.lldu_bytes == 1500
    assert used.t_ns.tolist() == imported.t_ns.tolist()
    assert used.d_ns.tolist() == imported.d_ns.tolist()


def test_a_rate_in_the_wrong_unit_is_refused_at_once(log: Path, tmp_path: Path, capsys) -> None:
    words = ["trace", "import", log, *columns("Gbit/s"), "--lldu", "40", "-o", tmp_path / "x.csv"]
    assert " of memory in total, but " in refused(capsys, *words, "--memory", "100 MB")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log.csv"]


def test_many_slots_are_announced_and_refused_above_the_limit(tmp_path: Path, capsys) -> None:
    """Five rows of a day at 20 Mbit/s."""
    path = tmp_path / "day.csv"
    path.write_text("s,mbps\n" + "".join(f"{hour * 3600},20\n" for hour in (0, 6, 12, 18, 24)))
    words = ["trace", "import", str(path), "--time", "s:s", "--rate", "mbps:Mbit/s"]
    words += ["-o", str(tmp_path / "x.parquet"), "--memory", "500 MB"]
    said = refused(capsys, *words)
    assert "180000000 slots need 2900 MB of memory in total, but the limit is 500 MB" in said
    assert "raise it: --memory" in said
    clift.memory_limit(None)
    path.write_text("0,20\n5400,20\n")
    told: list[str] = []
    clift._clift.set_teller(told.append)
    try:
        phy = clift.import_series(path, time="1:s", rate="2:Mbit/s")
    finally:
        clift._clift.set_teller(None)
    assert len(phy) == 18_000_000
    assert told == ["creating 18000000 slots, which take 290 MB of memory"]


def test_the_size_of_a_slot_is_said_where_it_was_taken(tmp_path: Path, capsys) -> None:
    """With and without a rate, by the command too; what was given is no assumption."""
    (tmp_path / "x.csv").write_text("0,5,20\n1,5,20\n2,5,20\n")
    words = ["trace", "import", str(tmp_path / "x.csv"), "--time", "1:s", "--delay", "3:ms"]
    words += ["-o", str(tmp_path / "x.parquet")]
    for more, told in [([], 1), (["--rate", "2:Mbit/s"], 1), (["--lldu", "900"], 0)]:
        assert run([*words, *more]) == 0
        assert capsys.readouterr().err.count("assumed: LLDUs of 1500 bytes") == told, more


def test_rows_without_a_slot_are_reported(tmp_path: Path) -> None:
    """Rows of 100 ms at 50 kbit/s, where 1500 bytes take 240 ms: bytes per time hold."""
    path = tmp_path / "x.csv"
    path.write_text("".join(f"{row / 10:.1f},50,{20 + row % 9}\n" for row in range(600)))
    phy = clift.import_series(path, time="1:s", rate="2:kbit/s", delay="3:ms")
    assert len(phy) * 1500 * 8 == 50_000 * 60
    assert phy.notes["warnings"][0].startswith("350 rows end before the slot under way does: rates")
    fine = clift.import_series(path, time="1:s", rate="2:kbit/s", delay="3:ms", lldu_bytes=500)
    assert not any("under way" in one for one in fine.notes["warnings"])


def test_rows_shorter_than_a_frame_give_a_warning(tmp_path: Path) -> None:
    """Frames of 0.648 s (16200 symbols at 25 kBd) over rows of 100 ms."""
    path = tmp_path / "x.csv"
    path.write_text("".join(f"{row / 10:.1f},{8 + row % 3}\n" for row in range(600)))
    about = {"time": "1:s", "esn0": "2:dB", "symbol_rate": "25 kBd", "modcod": "QPSK 1/2"}
    phy = clift.import_modem(path, frame_symbols=16200, **about)
    assert len(phy) == 93  # of 60 s
    begun = len(np.unique(phy.t_ns // 10**8))
    told = f"{600 - begun} rows end before the frame under way does: no frame is judged by them"
    assert told in phy.notes["warnings"]
    fine = clift.import_modem(path, frame_symbols=1620, **about)
    assert not any("under way" in one for one in fine.notes["warnings"])


def test_an_import_does_not_overwrite_its_input(log: Path, capsys) -> None:
    words = ["trace", "import", log, *columns(), "-o", log.parent / "." / "log.csv"]
    assert "give another output file" in refused(capsys, *words)
    assert log.read_text() == LOG


def test_points_of_an_axis_are_chosen_also_if_it_is_called_as_its_key(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text(
        'scheme = "FEC(10/12)"\n[channel]\nmodel = "bernoulli"\nerasures = 0.01\n'
        'rate = "1 Mbit/s"\n[vary]\nscheme = ["ARQ", "none", "HARQ(10/12)"]\n'
    )
    chosen = clift.Scenario.read(path, {"scheme": ["none", "ARQ"]})
    assert [cell.labels["scheme"] for cell in chosen.cells()] == ["ARQ", "none"]
    assert clift.Scenario.read(path, {"scheme": "ARQ"}).size == 1


def of_the_log(log: Path, more: str) -> clift.Scenario:
    """ARQ over the log, whose delays are 20 ms one way, with some of its slots lost."""
    path = log.parent / "x.toml"
    path.write_text(
        'duration = "8 s"\nruns = 1\nscheme = "ARQ"\n'
        'trace = { file = "log.csv", time = "time:s", rate = "rate:Mbit/s", delay = "delay:ms", '
        f'loss = "2 %" }}\n{more}'
    )
    return clift.Scenario.read(path)


@pytest.mark.parametrize(
    ("more", "feedback", "back"),
    [
        ("", 40, 20),
        ('return = { delay = "70 ms" }\n', 90, 70),
        ('link = { feedback = "30 ms" }\n', 30, 20),
        ('link = { rtt = "0 ms" }\n', 40, 20),
        ('link = { rtt = "60 ms" }\n', 80, 30),  # on top of the 20 ms, as somebody says
    ],
)
def test_reports_and_acknowledgements_take_the_way_back(
    log: Path, more: str, feedback: int, back: int
) -> None:
    scenario = of_the_log(log, more)
    link = scenario.setup().link_trace()
    assert link is not None
    again = link.d_ns[(link.transmissions == 2) & (link.d_ns > 0)].min() / 1e6
    # The repair takes the next slot of 2.4 ms, and arrives 20 ms after it.
    assert feedback + 20 <= again < feedback + 22.4
    # The first data leave when SYN, SYN and ACK have gone there and back.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of what was taken
        events = clift.simulate(scenario).events()
    kinds = zip(*(events[name].to_pylist() for name in ("time_ns", "len")), strict=True)
    first = min(time for time, length in kinds if length) / 1e6
    there = 20 + (30 if "rtt = " in more and "60 ms" in more else 0)
    assert there + back <= first < there + back + 5


def test_a_run_says_how_long_the_way_back_takes(log: Path, capsys) -> None:
    of_the_log(log, "")
    assert run(["run", str(log.parent / "x.toml"), "--quiet", "--json"]) == 0
    said = capsys.readouterr().err
    assert "link.feedback: 40 ms, twice the trace's median one-way delay" in said
    assert "return.delay: 20 ms, the trace's median one-way delay" in said
    of_the_log(log, 'return = { delay = "70 ms" }\n')
    assert run(["run", str(log.parent / "x.toml"), "--quiet", "--json"]) == 0
    said = capsys.readouterr().err
    # What is given is not taken.
    assert "link.feedback" not in said
    assert "return.delay" not in said


def test_the_command_takes_the_round_trip_time_of_the_trace(log: Path, capsys) -> None:
    trace = log.parent / "t.parquet"
    words = ["trace", "import", str(log), *columns(), "--loss", "2 %", "-o", str(trace)]
    assert run(words) == 0
    capsys.readouterr()
    assert run(["tmt", str(trace), "--json"]) == 0
    said = capsys.readouterr()
    assert "taken: --rtt 0 ms (from the trace)" in said.err
    phy = clift.read_trace(trace)
    [told] = json.loads(said.out)
    stats = clift.tmt.apply(phy, "ARQ").stats()
    assert told == {"scheme": "ARQ"} | json.loads(json.dumps(stats))


def test_the_gaps_of_an_opportunity_list_are_reported(log: Path, capsys) -> None:
    trace = log.parent / "t.parquet"
    words = ["trace", "import", str(log), *columns(), "--loss", "2 %", "-o", str(trace)]
    assert run(words) == 0
    capsys.readouterr()
    assert run(["trace", "convert", str(trace), str(log.parent / "x.down")]) == 0
    said = capsys.readouterr().err
    assert "a list of opportunities has no losses" in said
    assert "a list of opportunities has no delays" in said


def test_an_inverted_loss_log_gives_a_warning(tmp_path: Path, capsys) -> None:
    path = tmp_path / "x.loss"
    path.write_text("0001000100\n")
    words = ["trace", "info", str(path), "--slot", "1 ms", "--decode", "1 ms"]
    assert run(words) == 0
    said = capsys.readouterr()
    assert "80.000 % of the slots are lost: here 0 means lost" in said.out + said.err
    path.write_text("1110111011\n")
    assert run(words) == 0
    said = capsys.readouterr()
    assert "here 0 means lost" not in said.out + said.err


def test_slots_that_differ_in_size_never_carry_more_than_themselves() -> None:
    slots = 4000
    phy = clift.PhyTrace(
        [slot * 10**7 for slot in range(slots)],
        [10**6] * slots,
        lldu_bytes=[300 + 700 * (slot % 3) for slot in range(slots)],
        packing="bytes",
    )
    link = clift.tmt.apply(phy, "none", rtt_ms=20)
    run_ = clift.simulate(link, duration_s=39)
    [summary] = run_.summary()["links"]
    assert 0.9 < summary["mean_coding_ratio"] <= 1


def test_an_offset_of_clocks_needs_a_measured_delay(log: Path, tmp_path: Path, capsys) -> None:
    given = ["--time", "time:s", "--rate", "rate:Mbit/s", "--delay", "20 ms"]
    words = ["trace", "import", log, *given, "--clock-offset", "5 ms", "-o", tmp_path / "x.parquet"]
    assert "no clock measured the delay" in refused(capsys, *words)
