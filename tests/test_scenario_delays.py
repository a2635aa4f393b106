"""Delays that vary in scenario files: what Python's arguments give, for every kind of link."""

from collections.abc import Callable
from pathlib import Path

import command
import pytest

import clift
from clift.campaign import run_campaign

# Packets of 1500 bytes leave 6 % of their LLDUs empty, which a note says.
pytestmark = pytest.mark.filterwarnings("ignore:.*link.packing")

# The path gets shorter and longer while packets are under way.
DELAYS = "time_s,delay_ms\n0,80\n2,50\n4,75.5\n6,30\n"
TRACE = 'trace = { file = "phy.csv" }\nscheme = "ARQ"\nlink = { rtt = "40 ms", wrap = true }\n'
RUN = {"transport": "cubic", "duration_s": 8, "seed": 5}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    phy = clift.channel.gilbert_elliott(
        slots=5000, slot_ns=1_000_000, alpha=0.99, beta=0.5, decode_ns=1, lldu_bytes=200, seed=1
    )
    phy.write(tmp_path / "phy.csv")
    (tmp_path / "delays.csv").write_text(DELAYS)
    return tmp_path


def scenario(folder: Path, text: str) -> clift.Scenario:
    path = folder / "x.toml"
    path.write_text('duration = "8 s"\nseed = 5\ntransport.congestion = "cubic"\n' + text)
    return clift.Scenario.read(path)


def same(there: clift.Run, here: clift.Run) -> None:
    assert there.summary() == here.summary()
    assert there.events() == here.events()
    assert here.goodput_kbps > 0


def phy(folder: Path) -> clift.PhyTrace:
    return clift.read_trace(folder / "phy.csv")


LINKS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "trace": (TRACE, lambda folder: clift.tmt.apply(phy(folder), "ARQ", rtt_ms=40)),
    "live": (
        TRACE.replace("wrap", "live = true, wrap"),
        lambda folder: clift.LiveLink(phy(folder), "ARQ", rtt_ms=40),
    ),
    "hybrid": ('hybrid = { delay = "20 ms" }\n', lambda _: clift.HybridLink(delay_ms=20)),
    "ntn": (
        'ntn = { preset = "nr-ntn-leo600" }\n',
        lambda _: clift.NtnLink("nr-ntn-leo600"),
    ),
    "adaptive HARQ": (
        'adaptive_harq = { delay = "5 ms", length = "20 s", seed = 3 }\n',
        lambda _: clift.AdaptiveHarqLink(delay_ms=5, duration_s=20, seed=3),
    ),
}


@pytest.mark.parametrize("kind", LINKS)
@pytest.mark.parametrize("in_order", [False, True])
def test_delays_behind_a_link_are_path_ms(folder: Path, kind: str, in_order: bool) -> None:
    text, link = LINKS[kind]
    keys = f'link.delays = "delays.csv"\nlink.keep_order = {str(in_order).lower()}\n'
    if "link = {" in text:  # inline
        inner = 'rtt = "40 ms", delays = "delays.csv", keep_order = ' + str(in_order).lower()
        text, keys = text.replace('rtt = "40 ms"', inner), ""
    options = RUN | {"wrap": "wrap" in text}
    here = clift.simulate(
        link(folder), path_ms=folder / "delays.csv", path_in_order=in_order, **options
    )
    same(clift.simulate(scenario(folder, text + keys)), here)
    still = clift.simulate(link(folder), **options)
    assert still.summary() != here.summary()


def test_a_leg_of_the_path_and_access_legs_are_like_path_ms(folder: Path) -> None:
    # A trace that does not wrap: a link's delays begin again with its trace, those of a leg do not.
    slots = clift.channel.gilbert_elliott(
        slots=9000, slot_ns=1_000_000, alpha=0.99, beta=0.5, decode_ns=1, lldu_bytes=200, seed=1
    )
    slots.write(folder / "long.csv")
    link = clift.tmt.apply(slots, "ARQ", rtt_ms=40)
    hop = (
        '[[path]]\ntrace.file = "long.csv"\nscheme = "ARQ"\n'
        'link = { rtt = "40 ms" }\n'
        '[[path]]\nleg = { delays = "delays.csv", keep_order = true }\n'
    )
    access = '[access]\nrate = "20 Mbit/s"\ndelay = "3 ms"\n'
    path = {"path_ms": folder / "delays.csv", "path_in_order": True} | RUN
    same(clift.simulate(scenario(folder, hop)), clift.simulate(link, **path))
    here = clift.simulate(link, access_kbps=20_000, access_ms=3, **path)
    same(clift.simulate(scenario(folder, hop + access)), here)
    # Access legs that vary, but only from 3 ms to 3 ms.
    (folder / "steady.csv").write_text("delay_ms,time_s\n3,0\n3,5\n")
    moving = access.replace('delay = "3 ms"', 'delays = "steady.csv"')
    same(clift.simulate(scenario(folder, hop + moving)), here)
    flow = '[[flow]]\naccess = { rate = "20 Mbit/s", delays = "steady.csv" }\n'
    same(clift.simulate(scenario(folder, hop + access + flow)), here)


def test_a_link_back_has_the_delays_of_the_link(folder: Path) -> None:
    text = (
        '[trace]\nfile = "phy.csv"\n[link]\nrtt = "40 ms"\nwrap = true\ndelays = "delays.csv"\n'
        '[return]\nscheme = "ARQ"\ntrace.file = "phy.csv"\n'
    )
    there = clift.tmt.apply(phy(folder), "none", rtt_ms=40)
    back = clift.tmt.apply(phy(folder), "ARQ", rtt_ms=40)
    path = {"path_ms": folder / "delays.csv", "wrap": True} | RUN
    same(clift.simulate(scenario(folder, text)), clift.simulate(there, return_link=back, **path))


@pytest.mark.parametrize("in_order", [None, False, True])
def test_the_delay_of_a_3gpp_link_may_vary(folder: Path, in_order: bool | None) -> None:
    text = '[ntn]\npreset = "nr-ntn-leo600"\ndelays = "delays.csv"\n'
    keyword = {} if in_order is None else {"keep_order": in_order}
    if in_order is not None:
        text += f"keep_order = {str(in_order).lower()}\n"
    link = clift.NtnLink("nr-ntn-leo600", delay_ms=folder / "delays.csv", **keyword)
    same(clift.simulate(scenario(folder, text)), clift.simulate(link, **RUN))


def test_a_campaign_over_files_of_delays_is_the_same_every_time(folder: Path) -> None:
    (folder / "other.csv").write_text("time_s,delay_ms\n0,30\n3,60\n")
    text = (
        'runs = 3\nscheme = "ARQ"\ntransport.profile = "papers"\n'
        '[channel]\nmodel = "bernoulli"\nerasures = 0.01\nrate = "1 Mbit/s"\n'
        'lldu = "33 B"\ndecoding = "36 ms"\n'
        '[link]\nrtt = "40 ms"\n[access]\ndelays = "other.csv"\n'
        '[vary]\nlink.delays = ["delays.csv", "other.csv"]\nlink.live = [false, true]\n'
    )

    def values(threads: int) -> list[tuple[dict[str, str], dict[int, dict[str, float]]]]:
        results = run_campaign(scenario(folder, text), threads=threads)
        return [(cell.labels, cell.values) for cell in results.cells]

    first = values(1)
    assert [labels["delays"] for labels, _ in first] == ["delays.csv"] * 2 + ["other.csv"] * 2
    assert first == values(1) == values(2)
    goodput = {runs[0]["goodput_kbps"] for _, runs in first}
    assert len(goodput) == 4


def test_a_file_is_read_once_and_an_edit_is_seen_by_the_next_reading(folder: Path) -> None:
    text = TRACE.replace("rtt", 'delays = "delays.csv", rtt') + 'access.delays = "delays.csv"\n'
    before = scenario(folder, text)
    run = clift.simulate(before)
    assert run.events() == clift.simulate(before).events()
    (folder / "delays.csv").write_text("time_s,delay_ms\n0,10\n")
    # What was read stays as it was for its reader.
    assert clift.simulate(before).summary() == run.summary()
    assert clift.simulate(scenario(folder, text)).summary() != run.summary()


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (None, "delays.csv: cannot be opened: No such file or directory"),
        (b"", "delays.csv: has no rows; give columns time_s and delay_ms and at least one row"),
        (b"time_s,delay_ms\n", "delays.csv: has no rows"),
        (b"t,d\n0,1\n", "delays.csv: line 1: no column time_s"),
        (
            b"time_s,delay_ms\n0,80\n0,70\n",
            "delays.csv: line 3: time_s = 0 does not increase; sort it",
        ),
        (
            b"time_s,delay_ms\n1,80\n0,70\n",
            "delays.csv: line 3: time_s = 0 does not increase; sort it",
        ),
        (b"time_s,delay_ms\n0,nan\n", "delays.csv: line 2: delay_ms = nan; give a number above 0"),
        (b"time_s,delay_ms\n0,-5\n", "delays.csv: line 2: delay_ms = -5; give a number above 0"),
        (b"time_s,delay_ms\n-1,5\n", "delays.csv: line 2: time_s = -1; give a number, 0 or more"),
        (b"time_s,delay_ms\n0,far\n", "delays.csv: line 2: delay_ms = `far` is not a number"),
        (b"time_s,delay_ms\n0\n", "delays.csv: line 2:"),
        (b"time_s,delay_ms\n0,1e300\n", "delays.csv: line 2: delay_ms = 1e300; give a time below"),
        (b"time_s,delay_ms\n0,1\n1e-12,2\n", "delays.csv: row 1 of the delay series does not"),
        (b"time_s,delay_ms\n0,\xff\n", "delays.csv: line 2: not text"),
    ],
)
@pytest.mark.parametrize("key", ["link.delays", "access.delays"])
def test_a_file_without_delays_is_refused_with_the_reason(
    folder: Path, key: str, rows: bytes | None, expected: str
) -> None:
    file = folder / "delays.csv"
    file.unlink()
    if rows is not None:
        file.write_bytes(rows)
    text = f'trace.file = "phy.csv"\nlink.wrap = true\n{key} = "delays.csv"\n'
    with pytest.raises(clift.TraceError) as error:
        clift.simulate(scenario(folder, text))
    assert str(error.value).startswith(f"{folder}/{expected}"), error.value
    assert "\n" not in str(error.value)


def test_the_command_gives_one_line_and_exit_code_2(folder: Path) -> None:
    (folder / "delays.csv").write_text("time_s,delay_ms\n0,80\n0,80\n")
    scenario(folder, 'trace.file = "phy.csv"\n[ntn]\ndelays = "delays.csv"\n')
    for changes, expected in (
        ([], f"{folder}/delays.csv: line 3: time_s = 0 does not increase; sort it"),
        (
            ["--set", "ntn.delay=1 ms"],
            "ntn.delays: `delay` and `delays` are alternatives; give one of them",
        ),
        (
            ["--set", "ntn.delays=gone.csv"],
            f"{folder}/gone.csv: cannot be opened: No such",
        ),
    ):
        done = command.clift("run", folder / "x.toml", "--json", *changes)
        assert done.returncode == 2, done.stderr
        assert expected in done.stderr
        assert done.stderr.count("\n") == 1, done.stderr
        assert done.stdout == ""
