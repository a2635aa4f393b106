"""Advice from a log: the pair to take, or that the log cannot tell."""

import importlib
import json
import re
import shlex
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clift
from clift.advise.answer import _against, _mean_beside, alternatives, answered
from clift.advise.link import described
from clift.advise.study import TRANSPORTS, _contenders
from clift.advise.variants import _verdict
from clift.campaign.saved import verify
from clift.campaign.statistics import LEVEL, Difference, difference, estimate
from clift.cli.main import run
from clift.design import study
from clift.design.objective import IN_ORDER_DELAY, objective
from clift.design.race import Race
from clift.design.result import UNTOLD, Contest, Design, Ranked
from clift.design.space import Candidate
from clift.errors import Interrupted, ScenarioError, TraceError
from clift.report.trace_figure import over_time

PAIRS: dict[str, Any] = {"schemes": ["none", "ARQ"], "transports": ["TCP cubic"], "progress": False}
FEW = ["--schemes", "none,ARQ", "--transports", "TCP cubic", "--quiet"]


def log(path: Path, lost: float, seconds: int = 120, d_ns: int = 1) -> Path:
    """A log of 1 Mbit/s whose slots are lost independently; `d_ns` above 1 is the delay."""
    count = seconds * 1000 // 12
    erased = np.random.default_rng(1).random(count) < lost
    t_ns = np.arange(count) * 12_000_000
    rtt_ns = 0 if d_ns > 1 else None
    phy = clift.PhyTrace(t_ns, np.where(erased, 0, d_ns), 1500, decode_ns=d_ns, rtt_ns=rtt_ns)
    phy.write(path)
    return path


def test_arq_wins_over_a_lossy_link_with_a_long_delay(tmp_path: Path) -> None:
    path = log(tmp_path / "lossy.parquet", 0.05)
    told: list[object] = []
    found = clift.advise(path, rtt="300 ms", told=told.append, **PAIRS)
    assert found.pair == "ARQ, TCP cubic"
    assert found.answer.startswith("Take ARQ, TCP cubic")
    assert "Next is none, TCP cubic" in found.answer
    assert found.link == told[0]
    assert "ARQ, TCP cubic" in str(told[1])
    first, none = found.alternatives
    assert (first.pair, none.pair) == ("ARQ, TCP cubic", "none, TCP cubic")
    assert none.high is not None
    assert none.high < -0.05
    assert "sent again" in none.limit
    # Losses decide here: in long bursts they cost TCP less.
    assert any("losses in bursts" in what for what in found.changes)


def test_a_link_without_losses_needs_no_scheme(tmp_path: Path) -> None:
    found = clift.advise(log(tmp_path / "clean.parquet", 0), rtt="50 ms", **PAIRS)
    assert found.pair == "none, TCP cubic"
    assert "Equal within 5%: ARQ, TCP cubic" in found.answer
    assert "The log has no loss, so this holds for a link without any." in found.answer
    assert "with 1% of the slots lost one by one" in found.changes
    assert found.alternatives[0].limit == "link, 2.2% sent again"


def test_a_short_log_cannot_tell(tmp_path: Path) -> None:
    found = clift.advise(log(tmp_path / "short.parquet", 0.05, 20), rtt="50 ms", **PAIRS)
    assert found.pair is None
    assert found.found is None
    assert "Log at least 60 s" in found.answer


def test_the_link_is_described_as_the_slots_say(tmp_path: Path) -> None:
    path = log(tmp_path / "lossy.parquet", 0.05, 30, 40_000_000)
    link = clift.advise(path, **PAIRS).link
    erased = clift.read_trace(path).d_ns == 0
    starts = np.count_nonzero(np.diff(erased.astype(int), prepend=0) == 1)
    assert link.loss == pytest.approx(erased.mean())
    assert link.burst == pytest.approx(erased.sum() / starts)
    assert link.rate_kbps == pytest.approx(1000, rel=1e-3)
    assert link.delay_ms == (40, 40, 40)


def test_outages_and_the_period_of_a_constellation_are_reported() -> None:
    """The delay changes every 15 s by 5 ms; for 2 s and for .5 s nothing arrives."""
    t_ns = np.arange(30_000) * 10_000_000
    level = np.random.default_rng(1).permutation(20)[t_ns // 15_000_000_000]
    d_ns = 20_000_000 + 5_000_000 * level
    d_ns[1000:1200] = 0
    d_ns[5000:5050] = 0
    link = described(clift.PhyTrace(t_ns, d_ns, 1500, rtt_ns=0))
    assert (link.period_s, link.period_of) == (15, "delay")
    # From the last slot received to the next one.
    assert (link.outages, link.longest_outage_s) == (2, pytest.approx(2.01))
    assert link.outage_s == pytest.approx(2.52)


def test_the_delay_of_a_log_counts_once(tmp_path: Path) -> None:
    path = log(tmp_path / "delayed.parquet", 0, 20, 40_000_000)
    with pytest.raises(ScenarioError, match=r"40\.0 ms one way.*twice; omit rtt"):
        clift.advise(path, rtt="80 ms", **PAIRS)


def test_a_log_without_delay_needs_a_round_trip_time(tmp_path: Path) -> None:
    path = log(tmp_path / "clean.parquet", 0, 20)
    with pytest.raises(ScenarioError, match=r"has no delay; give .* --rtt '50 ms'"):
        clift.advise(path, **PAIRS)


def test_a_log_of_probes_needs_a_rate(tmp_path: Path) -> None:
    """A probe each second does not say how much the link carries."""
    path = tmp_path / "ping.log"
    lines = (f"64 bytes from 192.0.2.1: icmp_seq={n} ttl=52 time=60 ms" for n in range(1, 30))
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(ScenarioError, match=r"no rate of the link; give it.*--rate '20 Mbit/s'"):
        clift.advise(path, **PAIRS)
    found = clift.advise(path, rate="1 Mbit/s", **PAIRS)
    assert found.link.rate_kbps == pytest.approx(1000, rel=1e-3)
    assert found.link.delay_ms is not None
    assert found.link.delay_ms[0] == pytest.approx(30)


def test_an_unknown_file_is_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("Dear reader,\nthis is no log.\n")
    assert run(["advise", str(path)]) == 2
    told = capsys.readouterr().err
    assert "clift trace import" in told
    assert told.count("\n") == 1


@pytest.mark.parametrize(
    "date",
    ["2024-05-28T19:00:{:02}", "2024-05-28 19:00:{:02} CDT", "Tue May 28 19:00:{:02} UTC 2024"],
)
def test_the_command_that_a_table_is_refused_with_works(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], date: str
) -> None:
    path = tmp_path / "drive.csv"
    rows = (f"{date.format(n)},2.5,30,0" for n in range(30))
    path.write_text("time,throughput_mbps,rtt_ms,loss\n" + "\n".join(rows) + "\n")
    with pytest.raises(TraceError) as error:
        clift.advise(path, **PAIRS)
    words = shlex.split(str(error.value).rpartition("): ")[2])
    assert words[:2] == ["clift", "advise"]
    assert run([*words[1:], *FEW]) == 0
    told = capsys.readouterr().out
    assert "2.5 Mbit/s on average" in told
    assert "one way, least 15.0, median 15.0" in told


@pytest.mark.parametrize("mark", [",", ";"])
def test_units_in_brackets_and_decimal_commas_are_suggested(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], mark: str
) -> None:
    path = tmp_path / "modem.csv"
    text = "Zeit [s];Rate [Mbit/s];Verzögerung [ms];Verlust [%];SNR [dB]\n"
    text += "".join(f"{n};4,00;274,9;1,50;9,1\n" for n in range(30)) + "30;;;;\n"
    if mark == ",":
        text = text.replace(",", ".").replace(";", ",")
    # As spreadsheets write it.
    path.write_text(text, encoding="utf-8-sig")
    with pytest.raises(TraceError) as error:
        clift.advise(path, **PAIRS)
    assert "(a guess; unused: `SNR [dB]`): " in str(error.value)
    words = shlex.split(str(error.value).rpartition("): ")[2])
    assert run([*words[1:], *FEW]) == 0
    told = capsys.readouterr().out
    assert "one way, least 274.9, median 274.9" in told
    assert ("decimal commas" in told) == (mark == ";")
    assert (
        0.01
        < clift.read_log(path, time="1:s", rate="2:Mbit/s", delay="3:ms", loss="4:%").stats()[
            "erasure_rate"
        ]
        < 0.02
    )


def test_suggested_columns_exist_and_have_their_units(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    cases = {
        "0 9.00\n1 9.07\n": "2 columns without a header|--time 1:s",
        "0,5;4,00;20,5;1,5\n0,6;4;20;0\n": "4 columns without a header (1 from 0.5 to 0.6, 2",
        # A delay in steps of 1 s, which nothing tells from a rate.
        "1 9\n2 7\n3 9\n": "(1 from 1 to 3, 2 from 7 to 9); nothing says what they hold|--time 1:s",
        "7.1,40,0\n6.9,41,100\n7.0,39,200\n": "--time 3:s",
        "0,14692581,5\n0,32676599,6\n": "--time 2:s",
        "3 2\n2 3\n1 1\n": "no column holds times",
        "t [ms]\tR [MB/s]\n0\t1\n": "2 `R [MB/s]`|--time 1:ms --rate 'R [MB/s]:MB/s'",
        "t,delay (s)\r0,0.3\r1,0.3\r": "2 `delay (s)`|--delay 'delay (s):s'",
    }
    for text, expected in cases.items():
        path.write_bytes(text.encode())
        with pytest.raises(TraceError) as error:
            clift.advise(path, **PAIRS)
        for part in expected.split("|"):
            assert part in str(error.value), text
        assert "3:" not in str(error.value) or "--time 3:s" in expected


def test_a_ping_beside_few_rows_is_not_suggested_as_their_delay(tmp_path: Path) -> None:
    """A row with a rate and without a delay would count as an outage."""
    path = tmp_path / "drive.csv"
    rows = (f"{n},5,{'20,0' if n % 9 == 0 else '-,-'}\n" for n in range(40))
    path.write_text("time_s,rate_mbps,ping_ms,ping_loss\n" + "".join(rows))
    with pytest.raises(TraceError, match="unused: `ping_ms`, `ping_loss`") as error:
        clift.advise(path, **PAIRS)
    assert "--rtt '50 ms'" in str(error.value)
    assert "--delay" not in str(error.value)


def test_a_pair_that_does_what_a_simpler_one_does_follows_it(tmp_path: Path) -> None:
    """Without losses ARQ changes nothing, so no other condition is to name it."""
    path = log(tmp_path / "whole.parquet", 0.0, 300)
    found = clift.advise(path, rtt="50 ms", **PAIRS | {"transports": ["TCP cubic", "TCP bbr"]})
    assert found.found is not None
    found.found.contests[0].race.twin[3] = 1
    twin = replace(found.alternatives[0], pair="ARQ, TCP bbr")
    first = replace(found.alternatives[0], pair="none, TCP cubic")
    pairs = _contenders(found.found, [first, twin])
    assert [one.label for one in pairs][1:] == ["none, TCP bbr", "ARQ, TCP bbr"]


def test_no_pair_uses_more_than_the_link(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A mean over few runs is moved to all runs, which may lift it above 1."""
    found = clift.advise(log(tmp_path / "lossy.parquet", 0.05), rtt="300 ms", **PAIRS).found
    assert found is not None
    answer = importlib.import_module("clift.advise.answer")
    monkeypatch.setattr(answer, "_mean_beside", lambda *_: 1.013)
    assert [one.share_used for one in alternatives(found, found.ranking()[0])] == [1.0, 1.0]


def test_the_round_trip_that_iperf3_measured_is_suggested(tmp_path: Path) -> None:
    path = tmp_path / "iperf.json"
    interval = '{"streams": [{"rtt": %d}], "sum": {"start": %d, "bits_per_second": 1e6}}'
    intervals = ", ".join(interval % (rtt, n) for n, rtt in enumerate((114688, 69398, 200179)))
    path.write_text(
        '{"start": {"version": "iperf 3.9", "test_start": {"protocol": "TCP"}}, "intervals": '
        f"[{intervals}]}}"
    )
    with pytest.raises(ScenarioError, match=r"--rtt '69.398 ms' \(the least that TCP"):
        clift.advise(path, **PAIRS)


def test_mahimahi_is_recognised_without_its_suffix(tmp_path: Path) -> None:
    text = "".join(f"{n}\n" for n in range(0, 9000, 12))
    for name in ("x.up", "trace-taxi", "x.pps", "x.txt"):
        (tmp_path / name).write_text(text)
        assert len(clift.read_log(tmp_path / name)) == 750
    # Not whole numbers that do not fall.
    (tmp_path / "x.dat").write_text(text + "3\n")
    with pytest.raises(TraceError, match="does not determine the format"):
        clift.read_log(tmp_path / "x.dat")


def test_a_trace_without_notes_says_how_it_was_read(tmp_path: Path) -> None:
    (tmp_path / "x.up").write_text("".join(f"{n}\n" for n in range(0, 9000, 12)))
    found = clift.advise(tmp_path / "x.up", rtt="50 ms", **PAIRS)
    assert found.notes["understood"] == ["mahimahi, 750 slots of 1504 bytes"]


@pytest.mark.parametrize("name", ["x.csv", "x.log"])
def test_empty_files_and_utf_16_are_named(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    for content, expected in [
        (b"", "is empty"),
        ("time,rate\n0,2\n".encode("utf-16"), "not text; .*iconv -f UTF-16"),
    ]:
        path.write_bytes(content)
        with pytest.raises(TraceError, match=expected):
            clift.advise(path, **PAIRS)
        with pytest.raises(TraceError, match=expected):
            clift.import_series(path, time="1:s", rate="2:Mbit/s")


def test_ping_of_windows_is_refused_with_what_to_run(tmp_path: Path) -> None:
    path = tmp_path / "ping.log"
    path.write_text(
        "\nPing wird ausgeführt für 8.8.8.8 mit 32 Bytes Daten:\n"
        "Antwort von 8.8.8.8: Bytes=32 Zeit=600ms TTL=50\n"
    )
    with pytest.raises(TraceError, match=r"line 3: ping of Windows .* run `ping -D` in WSL"):
        clift.advise(path, **PAIRS)


def test_a_call_is_judged_by_its_opinion_score_and_has_no_transports(tmp_path: Path) -> None:
    path = log(tmp_path / "lossy.parquet", 0.05, 90)
    keys: dict[str, Any] = {"rtt": "40 ms", "schemes": ["none", "ARQ"], "progress": False}
    found = clift.advise(path, task="call", **keys)
    assert found.found is not None
    assert found.found.objective.name == "mos"
    assert found.pair == "ARQ"
    with pytest.raises(ScenarioError, match="goes over UDP; leave them out"):
        clift.advise(path, task="call", transports=["TCP cubic"], **keys)
    with pytest.raises(ScenarioError, match="give bulk, file=1MB"):
        clift.advise(path, task="file", **keys)
    with pytest.raises(ScenarioError, match="task = 'file=1XB': unknown unit `XB`"):
        clift.advise(path, task="file=1XB", **keys)


def test_a_family_of_schemes_stands_for_its_blocks(tmp_path: Path) -> None:
    path = log(tmp_path / "lossy.parquet", 0.05, 90)
    keys = PAIRS | {"schemes": ["ARQ", "HARQ"], "transports": ["TCP cubic"]}
    found = clift.advise(path, rtt="40 ms", **keys)
    assert found.found is not None
    assert "HARQ(50/52), TCP cubic" in [one.label for one in found.found.candidates]


def test_the_report_begins_with_the_answer_and_the_trace(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    path = log(tmp_path / "lossy.parquet", 0.05, 70)
    folder = tmp_path / "advice"
    words = ["advise", str(path), "--rtt", "100 ms", *FEW, "-o", str(folder)]
    assert run(words) == 0
    told = capsys.readouterr()
    assert f"wrote {folder / 'report.html'}" in told.err
    page = (folder / "report.html").read_text()
    data = json.loads((folder / "advice.json").read_text())
    main = page[page.index("<main>") :]
    assert main.startswith(f'<main><p class="conclusion">{data["answer"]}</p><figure><img')
    assert data["log"]["sha256"] in page
    # There is one answer.
    assert "is best" not in page
    assert main.count("Take ") == 1
    assert "http" not in page.replace("http-equiv", "")
    request.getfixturevalue("undrawn")
    assert verify(folder)[1] == {}
    # The same study again takes the runs that are there, also under another name.
    made = content(folder)
    moved = folder.rename(tmp_path / "moved")
    assert run([*words[:-1], str(moved)]) == 0
    assert content(moved).keys() == made.keys()
    name = "design-runs.parquet"
    assert content(moved)[name] == made[name]
    again = content(moved)
    assert (
        run(["advise", str(log(tmp_path / "other.parquet", 0.01, 70)), *words[2:-1], str(moved)])
        == 2
    )
    assert "--force" in capsys.readouterr().err
    assert content(moved) == again
    # Every file has a hash, and so has a record.
    for name in ("log.parquet", "trace.png", "design-runs.parquet", "design-front.svg"):
        (moved / name).write_bytes(again[name] + b"x")
        assert list(verify(moved)[1]) == [moved / name]
        (moved / name).write_bytes(again[name])
    for name in ("advice.json", "design.json"):
        for damaged in (
            again[name].replace(b"ARQ", b"ARC"),
            re.sub(rf'"{name}": "'.encode(), rf'"{name}": "g'.encode(), again[name]),
            again[name].replace(f'"{name}": "'.encode(), b'"": "'),
        ):
            (moved / name).write_bytes(damaged)
            assert moved / name in verify(moved)[1]
        (moved / name).unlink()
        assert moved / name in verify(moved)[1]
        (moved / name).write_bytes(again[name])


def content(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize(
    "name",
    ["log.parquet", "log-bursts.parquet", "trace.png", "report.html", "advice.json", "design.json"],
)
def test_files_of_others_are_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    path = log(tmp_path / "lossy.parquet", 0.05, 30)
    (tmp_path / name).write_text("mine")
    before = content(tmp_path)
    words = ["advise", str(path), "--rtt", "300 ms", *FEW, "-o", str(tmp_path)]
    assert run(words) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith(f"error: {tmp_path / name}: not a file that CLIFT wrote here")
    assert content(tmp_path) == before


def test_the_log_is_never_overwritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    log(tmp_path / "log.parquet", 0.05, 30)
    before = content(tmp_path)
    monkeypatch.chdir(tmp_path)
    for more in ([], ["--force"]):
        assert run(["advise", "log.parquet", "--rtt", "300 ms", *FEW, "-o", ".", *more]) == 2
        assert "log.parquet: is the input, and would be overwritten" in capsys.readouterr().err
        assert content(tmp_path) == before


def test_a_log_that_changes_while_it_is_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its hash would be that of another log than the one that was read."""
    from clift.advise import study

    path, read = log(tmp_path / "lossy.parquet", 0.05, 20), study.read_excerpt

    def and_changed(*args: Any, **keys: Any) -> clift.PhyTrace:
        phy = read(*args, **keys)
        log(path, 0.01, 20)
        return phy

    monkeypatch.setattr(study, "read_excerpt", and_changed)
    with pytest.raises(ScenarioError, match=r"lossy\.parquet: changed while it was read"):
        clift.advise(path, rtt="300 ms", **PAIRS)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("--schemes ARK", "error: --schemes 'ARK': ARK: unknown scheme; write none"),
        ("--transports cubic", "error: --transports 'cubic': give TCP or QUIC"),
        ("--transports QUIC_cubic", "error: --transports 'QUIC_cubic': give TCP or QUIC"),
        ("--task file=0B", "error: --task 'file=0B': a file of 0 bytes; give 1 B or more"),
        ("-o x.png", "error: x.png: results are written into a folder; give one"),
        (
            "--schemes ARQ --transports TCP\N{NO-BREAK SPACE}cubic",
            "error: --schemes 'ARQ': 1 pair of a scheme and a transport to choose among; give more",
        ),
        (
            "--schemes ARQ --task call",
            "error: --schemes 'ARQ': 1 scheme to choose among; give more",
        ),
    ],
)
def test_names_are_checked_before_the_log_is_read(
    capsys: pytest.CaptureFixture[str], words: str, expected: str
) -> None:
    given = [word.replace("\N{NO-BREAK SPACE}", " ") for word in words.split(" ")]
    assert run(["advise", "none.csv", *given]) == 2
    assert capsys.readouterr().err.startswith(expected)


def test_json_is_the_same_each_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = log(tmp_path / "lossy.parquet", 0.05, 70)
    told = []
    for _ in range(2):
        assert run(["advise", str(path), "--rtt", "100 ms", "--json", *FEW]) == 0
        told.append(capsys.readouterr().out)
    assert told[0] == told[1]
    assert json.loads(told[0])["link"]["loss"] > 0.03


def test_an_interrupted_search_answers_from_the_runs_that_are_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = study.run_many

    def stop_halfway(scenarios: list[clift.Scenario], **keys: Any) -> list[clift.Run]:
        half = len(scenarios) // 2
        done = real(scenarios[:half], **keys)
        raise Interrupted("stopped", [*done, *[None] * (len(scenarios) - half)])

    monkeypatch.setattr(study, "run_many", stop_halfway)
    found = clift.advise(log(tmp_path / "lossy.parquet", 0.05), rtt="300 ms", **PAIRS)
    assert found.found is not None
    assert not found.found.is_complete
    assert found.answer.startswith(f"After {found.found.done} of ")
    assert not found.changes


def test_bulk_runs_leave_slow_start_behind_if_the_log_is_long_enough(tmp_path: Path) -> None:
    log = tmp_path / "log.parquet"
    few = {"schemes": ["none"], "transports": ["TCP cubic", "TCP bbr"], "progress": False}
    for seconds, window_s in ((240, 24.0), (600, 50.0)):
        phy = clift.channel.bernoulli(slots=10 * seconds, slot_ns=100_000_000, p=0.01, seed=1)
        phy.write(log)
        assert clift.advise(log, rtt="500 ms", **few).link.window_s == window_s
    # A file has an end, so that its runs are short.
    assert clift.advise(log, rtt="500 ms", task="file=10kB", **few).link.window_s == 15.0


def test_runs_of_few_round_trips_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from clift.advise import study

    log = tmp_path / "log.parquet"
    clift.channel.bernoulli(slots=3000, slot_ns=20_000_000, p=0.01, seed=1).write(log)
    few = {"schemes": ["none"], "transports": ["TCP cubic", "TCP bbr"], "progress": False}
    assert "length" not in clift.advise(log, rtt="300 ms", **few).setting
    monkeypatch.setattr(study, "_COST_S", 1e-5)
    told = clift.advise(log, rtt="300 ms", **few)
    assert told.link.window_s == 1.0
    assert "it shows the start of a transfer" in told.setting["length"]
    # A slot takes 20 ms: nothing arrives so soon, though the link is never down.
    assert "2 of 2 pairs, each 1 s long." in told.answer
    clift.channel.bernoulli(slots=30_000, slot_ns=2_000_000, p=0.01, seed=1).write(log)
    told = clift.advise(log, rtt="100 ms", **few)
    assert "The runs show only the start of a transfer" in told.answer


def test_claims_on_other_conditions_are_true_with_95_percent() -> None:
    """Pairs that are equal, and a rival that is better: neither is claimed to be otherwise."""
    draw = np.random.default_rng(1)
    goal = objective("goodput")
    pairs = [Candidate(name, {}, {}) for name in ("none", "ARQ", "HARQ(10/12)", "HARQ(10/15)")]
    level = LEVEL / 15

    def told(best: float, scatter: float) -> str:
        means = -1000.0 * np.array([1.0, best, 1.0, 1.0])
        first, *others = (
            dict(enumerate(mean * (1 + draw.normal(0, scatter, 6)))) for mean in means
        )
        gaps = [difference(one, first, None, level) for one in others]
        return _verdict(gaps, pairs, goal, 0.05, level, is_taken=True)

    equal = [told(1.0, 0.1) for _ in range(500)]
    assert sum(not text.startswith(("still", "can't")) for text in equal) < 12
    better = [told(1.1, 0.2) for _ in range(500)]
    assert sum(text.startswith("still") for text in better) < 5
    # The pair that leaves it open is named, not one that is the same in every run.
    first = {run: -1000.0 + run for run in range(6)}
    open_ = {run: value * (0.9 + 0.2 * (run % 2)) + 5 for run, value in first.items()}
    gaps = [difference(one, first, None, level) for one in (first, open_, first)]
    text = _verdict(gaps, pairs, goal, 0.05, level, is_taken=True)
    assert text.startswith("can't be told, HARQ(10/12) (")
    nothing = Difference(-1230.0, 1.23, -1.5, None, 0.4)
    text = _verdict([nothing], pairs[:2], goal, 0.05, level, is_taken=True)
    assert text == "can't be told, ARQ (+123% goodput on average, too few to tell)"
    # One outlier leaves no interval, but the single runs show that the other is worse in all.
    first = dict.fromkeys(range(12), -1000.0)
    worse = {run: -830.0 - 60 * (run == 7) for run in range(12)}
    gaps = [difference(worse, first, None, level)]
    assert _verdict(gaps, pairs[:2], goal, 0.05, level, is_taken=True) == (
        "still none (in no single run is ARQ better by more than 5%)"
    )
    # The other pair of the two is what leaves it open.
    gaps.append(difference({**worse, 7: -1300.0}, first, None, level))
    text = _verdict(gaps, pairs[:3], goal, 0.05, level, is_taken=True)
    assert text.startswith("can't be told, HARQ(10/12) (")
    # Less is better.
    first, worse = ({run: -value for run, value in one.items()} for one in (first, worse))
    gaps = [difference(first, worse, None, level)]
    assert _verdict(gaps, pairs[:2], objective("completion"), 0.05, level, is_taken=True) == (
        "still none (in no single run is ARQ better by more than 5%)"
    )
    # Clear differences are found.
    assert told(1.5, 0.02).startswith("ARQ (+")
    assert told(0.5, 0.001) == "still none"


def test_the_answer_says_why_a_difference_has_no_interval() -> None:
    """A burst that few runs meet decides the mean: how often it comes, they do not say."""
    race = Race(count=2, budget=60, most=30)
    for number in range(30):
        for one in (0, 1):
            race.add(one, number, 1000.0 + one * (-200.0 if number in (7, 23) else 1.0))
    rows = _ranked(race)
    assert _against(race, rows[1], rows[0]) == (
        "-1.2% on average, -20.0% to +0.1% in single runs; few of 30 runs decide it"
    )


def test_a_pair_dropped_as_a_copy_is_not_called_equal(tmp_path: Path) -> None:
    """Its few runs met no loss, so that they do not show what its repairs do."""
    keys: dict[str, Any] = PAIRS | {"rtt": "50 ms", "transports": list(TRANSPORTS[:2])}
    found = clift.advise(log(tmp_path / "clean.parquet", 0), **keys)
    arq = next(one for one in found.alternatives if one.pair.startswith("ARQ"))
    none = found.alternatives[0]
    assert arq.runs < none.runs
    _, transport = arq.pair.split(", ")
    expected = f"{arq.pair} had the same goodput as none, {transport} in all its {arq.runs} runs."
    assert expected in found.answer
    assert not re.search(r"Equal within 5%:[^.]*ARQ", found.answer)


def of_three_pairs(tmp_path: Path) -> Design:
    """A search over a link without losses, for tests that replace its runs."""
    found = clift.advise(
        log(tmp_path / "clean.parquet", 0),
        **(PAIRS | {"rtt": "50 ms", "transports": list(TRANSPORTS[:3]), "schemes": ["none"]}),
    ).found
    assert found is not None
    return found


def test_a_rival_that_equals_only_the_pair_taken_is_named_as_such(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first is 4 % above the pair taken, and the rival as much below it."""
    found = of_three_pairs(tmp_path)
    contest = found.contests[0]
    means = {0: 1000.0, 1: 960.0, 2: 925.0}
    race = Race(count=3, budget=90, most=30, tolerance=0.05)
    for number in range(30):
        for one, mean in means.items():
            race.add(one, number, -mean - (number + one) % 3)
    race.last = [0, 1, 2]
    delays = {0: 300.0, 1: 100.0, 2: 100.0}
    runs = {
        (one, number, 0): {IN_ORDER_DELAY: delays[one]} for one in means for number in range(30)
    }
    monkeypatch.setattr(found, "contests", [replace(contest, race=race, runs=runs)])
    answer = answered(found, described(clift.channel.bernoulli(slots=900, p=0.1, seed=1)))[2]
    names = [one.label for one in found.candidates]
    assert answer.startswith(f"Take {names[1]}")
    assert f"equal to {names[1]} but not surely to {names[0]}." in answer


def test_an_equal_pair_is_only_taken_if_it_excludes_what_the_first_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The simplest pair equals the first, but a rival's difference from it scatters widely."""
    found = of_three_pairs(tmp_path)
    race = Race(count=3, budget=90, most=30, tolerance=0.05)
    for number in range(30):
        turn = number % 2 - 0.5
        # The rival scatters against the simplest pair, and less against the first.
        for one, value in enumerate((990 + 70 * turn, 1000.0, 980 - 220 * turn)):
            race.add(one, number, -value - number % 3)
    race.last = [0, 1, 2]
    delays = [50.0, 100.0, 100.0]
    runs = {
        (one, number, 0): {IN_ORDER_DELAY: delays[one]} for one in range(3) for number in range(30)
    }
    monkeypatch.setattr(found, "contests", [replace(found.contests[0], race=race, runs=runs)])
    names = [one.label for one in found.candidates]
    assert found.ranking()[0].label == names[1]
    answer = answered(found, described(clift.channel.bernoulli(slots=900, p=0.1, seed=1)))[2]
    assert f"Equal within 5%: {names[0]}" in answer
    assert answer.startswith(f"Take {names[1]}"), answer
    assert (
        f"{names[1]} is the simplest of those that no pair of the last round can beat by more. "
        f"{names[0]} has a lower delay, 50 ms instead of 100 ms, but {names[2]} may be better than "
        "it by more than 5%."
    ) in answer


def test_a_rival_that_differs_in_one_run_is_excluded_by_way_of_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The simplest pair and the rival differ in one run, and both are 1 % below the first."""
    found = of_three_pairs(tmp_path)
    race = Race(count=3, budget=90, most=30, tolerance=0.05)
    for number in range(30):
        low = 990.0 + number % 3
        for one, value in enumerate((low, 1000.0, low - 5 * (number == 7))):
            race.add(one, number, -value)
    race.last = [0, 1, 2]
    runs = {(one, number, 0): {IN_ORDER_DELAY: 100.0} for one in range(3) for number in range(30)}
    monkeypatch.setattr(found, "contests", [replace(found.contests[0], race=race, runs=runs)])
    assert race.cost(2, 0) is None
    names = [one.label for one in found.candidates]
    assert found.ranking()[0].label == names[1]
    answer = answered(found, described(clift.channel.bernoulli(slots=900, p=0.1, seed=1)))[2]
    assert answer.startswith(f"Take {names[0]}"), answer
    assert f"{names[0]} is the simplest." in answer


def test_pairs_that_no_run_tells_apart_are_named_as_such(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two pairs differ in three of 30 runs, too few for an interval, which one pair may win."""
    keys: dict[str, Any] = PAIRS | {"transports": list(TRANSPORTS[:2]), "schemes": ["none"]}
    found = clift.advise(log(tmp_path / "clean.parquet", 0), rtt="50 ms", **keys).found
    assert found is not None
    for few, told in (([997.0] * 3, True), ([900.0] * 3, True), ([1130.0, 800.0, 800.0], False)):
        others = dict(zip((3, 7, 20), few, strict=True))
        race = Race(count=2, budget=60, most=30, tolerance=0.05)
        for number in range(30):
            race.add(0, number, -1000.0)
            race.add(1, number, -others.get(number, 1000.0 - 1e-3 * number))
        race.last = [0, 1]
        monkeypatch.setattr(found, "contests", [replace(found.contests[0], race=race)])
        found._rankings.clear()
        answer = answered(found, described(clift.channel.bernoulli(slots=900, p=0.1, seed=1)))[2]
        assert answer.startswith("Can't be told")
        assert ("In no single run is a pair of the last round better" in answer) == told, answer


def test_the_intervals_beside_an_equal_pair_hold_together() -> None:
    """It is chosen after the runs, and not the first, which the level was counted for."""
    draw = np.random.default_rng(7)
    missed = chosen = 0
    for _ in range(100):
        race = Race(count=12, budget=144, most=48, tolerance=0.05)
        shared = draw.normal(0, 60, 48)
        while wanted := race.wanted():
            for one, number in wanted:
                race.add(one, number, 1000 + shared[number] + 20 * draw.exponential())
        first, *others = race.order()
        costs = {one: race.cost(one, first) for one in others}
        taken = min(
            first, *(one for one, cost in costs.items() if cost and max(map(abs, cost)) <= 0.05)
        )
        chosen += taken != first
        gaps = [race.difference(one, taken) for one in race.order() if one != taken]
        ends = [(gap.low, gap.high) for gap in gaps if gap is not None]
        missed += any(
            (low is not None and low > 0) or (high is not None and high < 0) for low, high in ends
        )
    assert chosen > 50
    assert missed <= 5


def test_of_equal_pairs_the_one_with_the_lower_delay_is_taken(tmp_path: Path) -> None:
    """CUBIC fills a long queue, which BBR does not; both use the whole link."""
    path = log(tmp_path / "clean.parquet", 0)
    keys: dict[str, Any] = PAIRS | {"schemes": ["none"], "transports": ["TCP cubic", "TCP bbr"]}
    found = clift.advise(path, rtt="50 ms", queue=200, **keys)
    assert found.pair == "none, TCP bbr"
    assert "bbr is the simplest of those with the lowest delay" in found.answer
    bbr, cubic = found.alternatives
    assert bbr.p99_delay_ms is not None
    assert cubic.p99_delay_ms is not None
    assert bbr.p99_delay_ms < cubic.p99_delay_ms / 2


def test_pairs_of_equal_goodput_and_other_delay_are_no_copies(tmp_path: Path) -> None:
    """CUBIC and BBR have the same goodput in each run, and BBR an eighth of the delay."""
    path = log(tmp_path / "clean.parquet", 0)
    keys: dict[str, Any] = PAIRS | {"transports": list(TRANSPORTS[:3])}
    found = clift.advise(path, rtt="50 ms", queue=200, **keys)
    assert found.pair == "none, TCP bbr"
    assert "Equal within 5%: none, TCP cubic" in found.answer
    assert "ARQ, TCP bbr had the same goodput as none, TCP" in found.answer
    assert found.found is not None
    notes = {one.label: one.note for one in found.found.ranking()}
    assert notes["ARQ, TCP bbr"] == "as none, TCP bbr"


class OneSided(Race):
    """A race in which no difference has a lower end."""

    def difference(self, ours: int, other: int) -> Difference | None:
        gap = super().difference(ours, other)
        return None if gap is None else replace(gap, low=None)


def test_a_pair_that_can_only_be_worse_keeps_no_answer_open() -> None:
    """The pair has less of the goal: where that may be nothing, the interval has no lower end."""
    race = OneSided(count=2, budget=24, most=12, tolerance=0.05)
    draw = np.random.default_rng(1)
    for number, value in enumerate(draw.uniform(1.0, 4.0, 12)):
        race.add(0, number, -value)
        race.add(1, number, -value + 0.02 * draw.random())
    gap, cost = race.difference(1, 0), race.cost(1, 0)
    assert gap is not None
    assert gap.high is not None
    assert gap.high < 0.05
    assert cost == (-gap.high, np.inf)


def test_all_figures_of_an_alternative_are_over_the_runs_of_the_first() -> None:
    """The first had two runs more, over worse stretches of the log."""
    race = Race(count=2, budget=6, most=4)
    runs = {}
    for number, delay in enumerate([100.0, 100.0, 400.0, 400.0]):
        for one in (0, 1) if number < 2 else (0,):
            race.add(one, number, -1000.0)
            runs[one, number, 0] = {IN_ORDER_DELAY: delay * (1 + one)}
    first, other = _ranked(race)
    contest = Contest((), race, runs)
    assert _mean_beside(contest, first, first, IN_ORDER_DELAY) == 250
    assert _mean_beside(contest, other, first, IN_ORDER_DELAY) == 500


def _ranked(race: Race) -> list[Ranked]:
    rows = []
    for one in range(race.count):
        value = estimate(race.values[one])
        assert value is not None
        rows.append(Ranked(one, "", value.runs, value, None, None, None, UNTOLD))
    return rows


def test_the_log_that_would_tell_is_named(tmp_path: Path) -> None:
    keys: dict[str, Any] = PAIRS | {"schemes": ["ARQ", "HARQ(10/12)"]}
    keys["transports"] = ["TCP cubic", "TCP bbr"]
    found = clift.advise(log(tmp_path / "log.parquet", 0.015), rtt="300 ms", **keys)
    assert found.pair is None
    assert "minutes of log would tell" in found.answer


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("time,lat,lon\n2024-05-28T12:00:00Z,52.1,13.4\n", "not the log of a link"),
        ("time,rate,loss\n0,5.8 Mbps,0%\n", "`rate` has `5.8 Mbps`, `loss` has `0%`: write the"),
        ("Date,Time,Mbps\n2024-05-28,14:00:00,5\n", "are apart, in `Date` and `Time`: join them"),
        ("Date,Time,Mbps\n5/28/2024,2:00:00 PM,5\n", "are apart, in `Date` and `Time`: join them"),
        ("server,download\nBerlin,15230000\n", "no column holds times"),
        ("1697189070697084090,310a\n1697189070801220870,320a\n", "not the log of a link"),
    ],
)
def test_a_table_that_is_no_log_of_a_link_gets_no_command(
    tmp_path: Path, text: str, expected: str
) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text)
    for read in (lambda: clift.advise(path, **PAIRS), lambda: clift.read_log(path)):
        with pytest.raises(TraceError) as error:
            read()
        assert expected in str(error.value)
        assert "clift advise" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("time,mbps,packet_loss\n0,5,1\n1,5,3\n", "--rate mbps:Mbit/s --loss packet_loss:%"),
        ("time,mbps,packet loss\n0,5,.01\n", "--rate mbps:Mbit/s --loss 'packet loss'"),
        ("time,mbps,lost_packets\n0,5,3\n", "--loss lost_packets:packets"),
        ("time,throughput_mbps,lost_packets\n0,5,3\n", "throughput_mbps:Mbit/s --loss lost"),
        ("Datenrate [Mbit/s],Zeit\n5,28.05.2024 14:00:00\n", "--time 'Zeit:%d.%m.%Y %H:%M:%S'"),
        ("update_interval,last_update,mbps\n1,2024-05-28 10:00:00,5\n", "--time last_update:date"),
        ("t,datarate\n0,400\n", "--rate datarate:Mbit/s"),
        ("t,throughput\n0,3000\n", "no name says the unit of `throughput`"),
        ("t,rx_MBps\n0,5\n", "--rate rx_MBps:MB/s"),
        ("t,rx_Mbps\n0,5\n", "--rate rx_Mbps:Mbit/s"),
        ("t,download_KBps\n0,5\n", "--rate download_KBps:kB/s"),
        ("t,bandwidth_bytes_per_s\n0,5\n", "--rate bandwidth_bytes_per_s:B/s"),
        ("t,latency_seconds\n0,.6\n", "--delay latency_seconds:s"),
        ("t,latency_milliseconds\n0,600\n", "--delay latency_milliseconds:ms"),
        (
            "t,pop_ping_drop_rate,downlink_throughput_bps\n0,.1,15000\n",
            "unused: `downlink_throughput_bps`): clift trace import",
        ),
    ],
)
def test_columns_are_suggested_by_what_their_names_say(
    tmp_path: Path, text: str, options: str
) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.raises(TraceError) as error:
        clift.read_log(path)
    assert options in str(error.value)


def table(path: Path, times: Iterable[float], **columns: Iterable[float]) -> dict[str, str]:
    """Write a table of 1 Mbit/s, 30 ms and 1 % of loss, and return the options that read it."""
    times = list(times)
    rates, delays, losses = (
        list(columns.get(name, [value] * len(times)))
        for name, value in (("rate", 1.0), ("delay", 30.0), ("loss", 1.0))
    )
    rows = zip(times, rates, delays, losses, strict=True)
    path.write_text("s,rate,delay,loss\n" + "".join(f"{t},{r},{d},{e}\n" for t, r, d, e in rows))
    return {"time": "s:s", "rate": "rate:Mbit/s", "delay": "delay:ms", "loss": "loss:%"}


def test_a_pause_of_the_log_does_not_count_as_evidence(tmp_path: Path) -> None:
    """Before, the row before the pause stood for three hours: 1092 runs, .02 % of loss."""
    path = tmp_path / "pause.csv"
    keys = table(path, [*range(60), *range(10_860, 10_920)], rate=[0.5] * 59 + [5] + [0.5] * 60)
    found = clift.advise(path, **keys, **PAIRS)
    assert found.link.duration_s == pytest.approx(120, abs=0.1)
    assert found.link.rate_kbps == pytest.approx(537.5, rel=0.01)
    assert found.link.pieces == 12
    assert any("1 pause" in note and "--max-hold '1 s'" in note for note in found.notes["warnings"])
    # An outage, if the user says so.
    link = clift.advise(path, max_hold="1 s", **keys, **PAIRS).link
    assert (link.outages, round(link.outage_s)) == (1, 10_800)


@pytest.mark.parametrize("step", [4, 5, 15, 60])
def test_the_spacing_of_rows_is_not_reported_as_a_period(tmp_path: Path, step: int) -> None:
    path, draw = tmp_path / "rows.csv", np.random.default_rng(5)
    delays = draw.uniform(300, 330, 240)
    keys = table(path, step * np.arange(240), rate=draw.uniform(0.1, 0.2, 240), delay=delays)
    assert described(clift.read_log(path, **keys)).period_s is None
    # A period of several rows is.
    delays = 300 + 20 * draw.permutation(40)[np.arange(240) // 6]
    keys = table(path, step * np.arange(240), delay=delays, rate=[0.1] * 240)
    link = described(clift.read_log(path, **keys))
    assert (link.period_s, link.period_of) == (6 * step, "delay")


def test_the_spacing_of_long_frames_is_not_reported_as_a_period() -> None:
    """18 frames of 32.4 s: most seconds have none, and every 65 s one comes a second later."""
    lost = np.arange(18) % 6 == 2
    t_ns = np.arange(18) * 32_400_000_000
    phy = clift.PhyTrace(t_ns, np.where(lost, 0, 10), 2700, decode_ns=10)
    assert described(phy).period_s is None


def test_a_long_log_is_cut_before_its_slots_are_made_and_all_of_its_time_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rate doubles at half of the log, so that the first slots alone say another rate."""
    from clift.advise import study

    path = tmp_path / "long.csv"
    rows = np.arange(240)
    keys = table(path, 6 * rows, rate=np.where(rows < 120, 1.0, 2.0))
    whole = clift.read_log(path, **keys)
    monkeypatch.setattr(study, "_MOST_SLOTS", 60_000)
    few = {"schemes": ["none"], "transports": ["TCP cubic", "TCP bbr"], "progress": False}
    made = clift.advise(path, **keys, **few)
    assert len(made.trace) == pytest.approx(60_000, rel=0.01)
    assert made.link.rate_kbps == pytest.approx(1500, rel=0.05)
    assert made.link.period_s is None
    assert any("parts, spread evenly over the log" in note for note in made.notes["assumed"])
    # A trace has its slots; the runs take parts of it, and the notes stay.
    trace = tmp_path / "long.parquet"
    whole.write(trace)
    found = clift.advise(trace, **few)
    assert len(found.trace) == pytest.approx(60_000, rel=0.01)
    assert found.trace.stats()["rate_bps"] == pytest.approx(1_500_000, rel=0.1)
    assert "spread evenly" in found.setting["runs"]
    found = clift.advise(path, **keys, **few)
    assert "rows of CSV" in found.notes["understood"][0]


def test_a_log_whose_slots_are_all_lost_is_named(tmp_path: Path) -> None:
    keys = table(tmp_path / "lost.csv", range(30), loss=[100] * 30)
    with pytest.raises(ScenarioError, match="every slot is lost; check what the loss counts"):
        clift.advise(tmp_path / "lost.csv", **keys, **PAIRS)


def test_a_symbol_rate_that_loses_every_frame_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("t,cn0\n" + "".join(f"{second},30\n" for second in range(30)))
    keys = {"time": "t:s", "cn0": "cn0:dBHz", "symbol_rate": "10 kBd"}
    with pytest.raises(ScenarioError, match=r"every frame is lost: Es/N0 .*10 kBd.*adds 10 dB"):
        clift.advise(path, rtt="600 ms", **keys, **PAIRS)


def test_the_example_for_probes_of_two_directions_has_a_rate(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    stats = {"lost": "false", "delay": {"rtt": 30_000_000}}
    path.write_text(json.dumps({"version": {}, "config": {"interval": 1}, "round_trips": [stats]}))
    with pytest.raises(TraceError, match=r"give direction; e\.g\. .* --rate '20 Mbit/s'"):
        clift.advise(path, **PAIRS)


def test_the_command_for_a_table_keeps_what_was_given(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("time_s,delay_ms\n" + "".join(f"{second},30\n" for second in range(30)))
    with pytest.raises(TraceError, match=r"clift advise .* --rate '5 Mbit/s' .*--time") as caught:
        clift.advise(path, rate="5 Mbit/s", **PAIRS)
    assert "20 Mbit/s" not in str(caught.value)


def test_the_last_probe_stands_for_its_interval(tmp_path: Path) -> None:
    """60 probes a second apart are a minute, although 59 s lie between first and last."""
    path = tmp_path / "ping.log"
    lines = [
        f"64 bytes from 192.0.2.1: icmp_seq={n} ttl=52 time={60 + n % 2} ms" for n in range(1, 61)
    ]
    path.write_text("\n".join(lines) + "\n")
    found = clift.advise(path, rate="1 Mbit/s", **PAIRS)
    assert found.link.pieces == 6
    lines[9] = ""
    path.write_text("\n".join(lines) + "\n")
    read = clift.read_log(path, rate="1 Mbit/s")
    assert re.search(r"% of the slots, in bursts of 8\d slots$", dict(described(read).rows)["loss"])
    title = over_time(read).axes[-1].get_title()
    assert title == "Delay d over time, beyond the link's 30 ms"


def test_the_format_of_an_ambiguous_log_can_be_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "lost.txt"
    path.write_text("0 0 1 0 0\n" * 20)
    options = ["--format", "loss", "--lost", "1", "--quiet"]
    assert run(["advise", str(path), *options]) == 2
    assert "give --slot and --decode" in capsys.readouterr().err
    options += ["--slot", "1e1 ms", "--decode", "20 ms", "--rtt", "600 ms"]
    assert run(["advise", str(path), *options]) == 0
    shown = capsys.readouterr().out
    assert "loss      20.000% of the slots" in shown


def test_bursts_that_are_drawn_are_not_those_of_the_log(tmp_path: Path) -> None:
    keys = table(tmp_path / "x.csv", range(30), loss=[5] * 30)
    link = dict(described(clift.read_log(tmp_path / "x.csv", **keys)).rows)
    assert link["loss"].endswith(
        "% of the slots, a share of each row, within which they are drawn one by one"
    )
    link = dict(described(clift.channel.bernoulli(slots=900, p=0.1, seed=1)).rows)
    assert "in bursts of 1." in link["loss"]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("x.txt", "[ ID] Interval  Transfer  Bitrate\n[  5] 0.00-1.00 sec 1 MBytes\n", "with -J"),
        ("x.txt", "15:39:44.471799 IP 10.0.0.2.5 > 10.0.0.1.6: UDP, length 9\n", "with -w"),
        ("x.txt", "2026-05-01 15:39:44.47 eth0  In  IP6 a > b: UDP, length 9\n", "with -w"),
        ("x.txt", "1714512000.123456 IP 10.0.0.2.5 > 10.0.0.1.6: tcp 0\n", "with -w"),
        ("x.gpx", '<?xml version="1.0"?>\n<gpx/>\n', "known by their content are mahimahi, ping"),
        ("x.json", '{"report": {"mtr": {}}}', "not a log that is recognised; known by"),
    ],
)
def test_files_of_other_tools_are_named(
    tmp_path: Path, name: str, text: str, expected: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(TraceError, match=expected):
        clift.advise(tmp_path / name, **PAIRS)
