"""A return trace that loses reports, in scenario files: what Python's argument gives."""

from pathlib import Path

import pytest

import clift
from clift.campaign import run_campaign

# Packets of 1500 bytes leave 6 % of their LLDUs empty, which a note says.
pytestmark = pytest.mark.filterwarnings("ignore:.*link.packing")

DATA = Path(__file__).parent / "data"
LIVE = """
duration = "20 s"
seed = 5
scheme = "HARQ(10/12)"
[trace]
file = "there.csv"
[link]
live = true
rtt = "100 ms"
wrap = true
flush = "20 ms"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, seed, slots in (("there", 1, 6000), ("back", 2, 5700)):
        clift.channel.gilbert_elliott(
            slots=slots, slot_ns=1_000_000, alpha=0.99, beta=0.9, lldu_bytes=200, seed=seed
        ).write(tmp_path / f"{name}.csv")
    return tmp_path


def scenario(folder: Path, text: str) -> clift.Scenario:
    path = folder / "x.toml"
    path.write_text(LIVE + text)
    return clift.Scenario.read(path)


def run(folder: Path, back: clift.PhyTrace, **options: float) -> clift.Run:
    phy = clift.read_trace(folder / "there.csv")
    live = clift.LiveLink(phy, "HARQ(10/12)", rtt_ms=100, flush_ms=20, feedback_loss=back)
    return clift.simulate(live, duration_s=20, seed=5, wrap=True, **options)


def same(there: clift.Run, here: clift.Run) -> None:
    assert there.summary() == here.summary()
    assert there.units() == here.units()
    assert here.summary()["links"][0]["feedback_lost"] > 0


@pytest.mark.parametrize("start_s", [0, 2.5, 17])
def test_a_return_trace_loses_the_same_reports_as_in_python(folder: Path, start_s: float) -> None:
    text = f'start = "{start_s} s"\nfeedback_trace.file = "back.csv"\n'
    back = clift.read_trace(folder / "back.csv")
    there = clift.simulate(scenario(folder, text))
    same(there, run(folder, back, start_offset_s=start_s))
    assert there.summary() != clift.simulate(scenario(folder, "")).summary()


def test_a_channel_loses_the_same_reports_as_in_python(folder: Path) -> None:
    keys = 'model = "bernoulli", erasures = 0.3, seed = 9'
    back = clift.read_trace(folder / "back.csv")
    on_top = f'feedback_trace.file = "back.csv"\nfeedback_channel = {{ {keys} }}\n'
    erased = clift.channel.bernoulli(p=0.3, seed=9, on=back)
    same(clift.simulate(scenario(folder, on_top)), run(folder, erased))
    alone = f'feedback_channel = {{ {keys}, slot = "2 ms", length = "30 s" }}\n'
    made = clift.channel.bernoulli(slots=15_000, slot_ns=2_000_000, p=0.3, seed=9)
    same(clift.simulate(scenario(folder, alone)), run(folder, made))


def test_two_directions_of_one_measurement(folder: Path) -> None:
    (folder / "probes.csv").write_bytes((DATA / "probes.csv").read_bytes())
    keys = 'file = "probes.csv", format = "probes", rate = "1 Mbit/s", lldu = "200 B"'
    text = f'feedback_trace = {{ {keys}, direction = "down" }}\n'
    found = scenario(folder, text).replace(
        trace=f'{{ {keys}, direction = "up" }}', **{"link.start": "100 ms"}
    )
    up, down = (
        clift.read_trace(
            folder / "probes.csv",
            format="probes",
            rate_kbps=1000,
            lldu_bytes=200,
            direction=direction,
        )
        for direction in ("up", "down")
    )
    live = clift.LiveLink(up, "HARQ(10/12)", rtt_ms=100, flush_ms=20, feedback_loss=down)
    here = clift.simulate(live, duration_s=20, seed=5, wrap=True, start_offset_s=0.1)
    there = clift.simulate(found)
    assert there.summary() == here.summary()
    assert "100 ms as given; the trace's measured" in there.notes()[0]


def test_a_campaign_with_a_return_channel_is_the_same_every_time(folder: Path) -> None:
    text = (
        'start = "random"\nfeedback_channel = { model = "gilbert-elliott", erasures = 0.2,'
        ' burst = 5, slot = "1 ms" }\n[vary]\nscheme = ["ARQ", "HARQ(10/12)"]\nruns = [4]\n'
    )

    def values(threads: int) -> list[dict[int, dict[str, float]]]:
        results = run_campaign(scenario(folder, text), threads=threads)
        return [cell.values for cell in results.cells]

    first = values(1)
    assert first == values(1) == values(2)
    lost = [runs["links.0.feedback_lost"] for cell in first for runs in cell.values()]
    assert len(set(lost)) > len(lost) // 2
    assert min(lost) > 0


def test_invalid_feedback_is_refused_with_the_reason(folder: Path) -> None:
    for text, expected in (
        (
            'feedback_loss = 0.1\nfeedback_trace.file = "back.csv"\n',
            "x.toml line 12: link.feedback_loss: `feedback_trace` already says which reports",
        ),
        ('feedback_trace.file = "gone.csv"\n', "gone.csv: cannot be opened: No such file"),
        ('feedback_trace.file = "one.csv"\n', "x.toml: link.feedback_trace: has one slot"),
    ):
        (folder / "one.csv").write_text("t_ns,d_ns\n0,1\n")
        with pytest.raises(clift.CliftError) as error:
            clift.simulate(scenario(folder, text))
        assert expected in str(error.value)
        assert "\n" not in str(error.value)
