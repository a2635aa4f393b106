"""What the plots of a campaign show, read from matplotlib's own objects."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from matplotlib.artist import Artist
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

import clift
from clift._clift import GONE, RECEIVED, UNIT_NEW, UNIT_REPAIR
from clift.campaign import run_campaign
from clift.campaign.repairs import first_repaired_loss
from clift.campaign.results import Cell, Results
from clift.campaign.segments import Excerpt, around_the_loss
from clift.campaign.tables import tables
from clift.campaign.values import Values
from clift.report import comparison, figures
from clift.report.capacity import capacity
from clift.report.page.content import over_time
from clift.report.page.study import of_results
from clift.report.units import draw as draw_units
from clift.scenario import Scenario

EXAMPLES = Path(__file__).parent.parent / "examples"


def results(values: dict[str, list[float | None]]) -> Results:
    """A campaign of transfers with these completion times; None where a file did not end."""
    cells = []
    for label, times in values.items():
        cell = Cell({"scheme": label}, True, len(times))
        cell.values = Values(
            {run: {} if time is None else {"completion_s": time} for run, time in enumerate(times)}
        )
        cells.append(cell)
    return Results("x", 1, [("scheme", list(values))], cells, [])


def test_a_comparison_keeps_a_place_for_every_cell_and_says_of_how_many_runs() -> None:
    found = results({"A": [None, None], "B": [19.0, None], "C": [20.0, 22.0]})
    [axes] = comparison.draw(found, "completion_s").axes
    ticks = [label.get_text() for label in axes.get_xticklabels()]
    assert ticks == ["A\n0 of 2\nfinished", "B\n1 of 2\nfinished", "C"]
    assert [(bar.get_center()[0], bar.get_height()) for bar in axes.patches] == [(1, 19), (2, 21)]


@pytest.mark.parametrize("count", [8, 15])
def test_labels_of_a_comparison_do_not_overlap_and_stay_in_the_picture(count: int) -> None:
    names = ["none", "ARQ", *(f"HARQ({2 * n}/{2 * n + 2})" for n in range(20, 18 + count))]
    found = results({name: [20.0, 21.0, 23.0] for name in names})
    figure = comparison.draw(found, "completion_s")
    FigureCanvasAgg(figure).draw()
    [axes] = figure.axes
    labels = axes.get_xticklabels()
    assert [label.get_text().replace("\n", "") for label in labels] == names
    for texts in (labels, axes.texts):
        boxes = [text.get_window_extent() for text in texts]
        assert all(one.x1 < other.x0 for one, other in pairwise(boxes))
        assert all(figure.bbox.y0 <= box.y0 for box in boxes)


def test_no_interval_crosses_the_number_of_its_bar() -> None:
    """Intervals of goodput that are narrow, end near the foot of a bar, or reach far above it."""
    values = {"A": (90, 91), "B": (5, 180), "C": (60, 100), "D": (1, 2), "E": (0, 400)}
    cells = [Cell({"scheme": label}, False, 2) for label in values]
    for cell, goodputs in zip(cells, values.values(), strict=True):
        cell.values = Values({run: {"goodput_kbps": one} for run, one in enumerate(goodputs)})
    found = Results("x", 1, [("scheme", list(values))], cells, [])
    figure = comparison.draw(found, "goodput_kbps")
    FigureCanvasAgg(figure).draw()
    [axes] = figure.axes
    assert len(axes.containers) == 2 * len(values)
    for text, bars in zip(axes.texts, axes.containers[1::2], strict=True):
        box = text.get_window_extent()
        [lines] = bars[2]
        ends = axes.transData.transform(lines.get_segments()[0])
        low, high = sorted(ends[:, 1])
        assert high < box.y0 or box.y1 < low
        assert box.y1 < axes.bbox.y1


def test_a_comparison_starts_at_zero_and_shows_every_bar() -> None:
    found = results({"A": [1.0, 9.0], "B": [30.0, 40.0]})
    for cell, condition in zip(found.cells, ("good", "bad"), strict=True):
        cell.labels["reception"] = condition
    found.axes.append(("reception", ["good", "bad"]))
    for axes in comparison.draw(found, "completion_s").axes:
        low, high = axes.get_ylim()
        assert low == 0
        assert high > 35


def test_panels_fill_the_width_with_one_gap_between_them() -> None:
    found = results({"A": [1.0, 9.0], "B": [30.0, 40.0], "C": [2.0, 3.0]})
    for cell, condition in zip(found.cells, ("good", "fair", "bad"), strict=True):
        cell.labels["reception"] = condition
    found.axes.append(("reception", ["good", "fair", "bad"]))
    figure = comparison.draw(found, "completion_s")
    boxes = [axes.get_position() for axes in figure.axes]
    width = figure.get_size_inches()[0]
    gaps = [width * (other.x0 - one.x1) for one, other in pairwise(boxes)]
    assert gaps == pytest.approx([0.25, 0.25])


def test_a_loss_that_was_repaired_on_demand_is_shown_before_one_of_every_block() -> None:
    # Packets 3 and 4 are lost. A repair unit of the block brings the first, one that was asked
    # for the second.
    columns = {
        "kind": [UNIT_NEW, UNIT_NEW, UNIT_REPAIR, UNIT_REPAIR],
        "attempt": [0, 0, 0, 1],
        "arrival_ns": [-1, -1, 40, 60],
        "first_packet": [3, 4, 3, 4],
        "last_packet": [3, 4, 3, 4],
        "time_ns": [10, 20, 30, 50],
        "flow": [0, 0, 0, 0],
        "seq": [3, 4, 3, 4],
    }
    received = {"time_ns": [40, 60], "kind": [RECEIVED] * 2, "seq": [3, 4], "flow": [0, 0]}
    sent = {name: np.array(values) for name, values in columns.items()}
    assert first_repaired_loss(sent, pa.table(received)) == (20, 60, 4)


def campaign(path: Path, text: str) -> tuple[Results, Scenario]:
    """A small campaign."""
    file = path / "x.toml"
    file.write_text(f'duration = "20 s"\nname = "x"\n{text}')
    scenario = Scenario.read(file)
    return run_campaign(scenario), scenario


def drawn(path: Path, text: str) -> dict[str, Figure]:
    """Its plots, by name."""
    results, scenario = campaign(path, text)
    return dict(figures.draw(results, scenario, tables(results, scenario).__getitem__))


LIVE = (
    '[channel]\nmodel = "bernoulli"\nerasures = "2 %"\nrate = "1 Mbit/s"\n'
    '[link]\nlive = true\nwrap = true\n[vary]\nscheme = ["FEC(10/12)", "ARQ"]\n'
)


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        (LIVE, "data LLDU"),
        ("[hybrid]\n[vary]\nhybrid.n = [10, 11]\n", "frame"),
        ("[ntn]\n[vary]\nntn.harq_feedback = [true, false]\n", "transport block"),
        ('[adaptive_harq]\n[vary]\nadaptive_harq.repairs = ["beside", "compete"]\n', "packet"),
    ],
)
def test_every_live_link_shows_a_loss_and_its_repair_in_its_units(
    text: str, unit: str, tmp_path: Path
) -> None:
    pictures = {name: figure for name, figure in drawn(tmp_path, text).items() if "units" in name}
    assert list(pictures) == ["units-0", "units-1"]
    for figure in pictures.values():
        assert figure.axes[1].get_ylabel() == f"{unit}, by number"


def test_repair_with_every_block_does_not_hide_the_block(tmp_path: Path) -> None:
    below = drawn(tmp_path, LIVE)["units-0"].axes[1]
    orders = {found.get_label(): found.get_zorder() for found in below.collections}
    assert orders["repair, unrequested"] < orders["first transmission"] < orders["erased"]


def test_a_legend_names_only_lines_that_are_in_view() -> None:
    units = {
        "time_ns": [int(x * 1e7) for x in range(60)],
        "link": [0] * 60,
        "kind": [0] * 50 + [1] + [0] * 9,
        "unit": [*range(50), 40, *range(50, 59)],
        "attempt": [0] * 60,
        "arrival_ns": [int(x * 1e7 + 1e8) if x != 40 else -1 for x in range(60)],
        "first_packet": [*range(50), 40, *range(50, 59)],
        "last_packet": [*range(50), 40, *range(50, 59)],
        "flow": [0] * 60,
        "seq": [1000 * x for x in (*range(50), 40, *range(50, 59))],
        "len": [1000] * 60,
    }
    # Everything was sent a second before it came to the link; an old acknowledgement comes late.
    received = [(at, 2, seq) for at, seq in zip(units["arrival_ns"], units["seq"], strict=True)]
    rows = [(at, kind, seq) for at, kind, seq in received if at > 0] + [(510_000_000, 5, 2000)]
    rows = [(-1_000_000_000, 0, 40_000), *sorted(rows)]
    time, kind, seq = zip(*rows, strict=True)
    events = {"time_ns": time, "flow": [0] * len(rows), "kind": kind, "seq": seq}
    figure = draw_units(pa.table(units), pa.table(events), "x")
    above = figure.axes[0]
    assert above.get_legend_handles_labels()[1] == ["received"]
    assert above.texts[0].get_text() == "the lost packet, sent at -1.00 s"


def test_every_alternative_has_a_time_sequence(tmp_path: Path) -> None:
    titles = [axes.get_title() for axes in drawn(tmp_path, LIVE)["sequence"].axes]
    assert titles == ["FEC(10/12)", "ARQ"]
    seeds = f"{LIVE}seed = [1, 2, 3, 4, 5, 6, 7]\n"  # 14 cells are too many for one picture
    found = drawn(tmp_path, seeds)
    assert sum(axes.get_visible() for axes in found["goodput"].axes) == 7
    pictures = [found["sequence"], found["sequence-2"]]
    axes = [axes for picture in pictures for axes in picture.axes]
    assert [one.get_title() for one in axes if one.get_visible()] == [
        f"{scheme}, seed = {seed}" for scheme in ("FEC(10/12)", "ARQ") for seed in range(1, 8)
    ]


def test_the_time_sequence_shows_the_longest_wait_with_a_loss() -> None:
    time = [0, 1, 10, 11, 12, 20, 21, 22, 95, 120]
    kind = [0, 0, 5, 5, 0, 0, 5, 1, 5, 5]
    seq = [0, 1, 1, 2, 2, 3, 3, 3, 4, 4]
    assert excerpt(time, kind, seq).time_s.tolist() == [value / 1e9 for value in time]
    # Later segments leave no room for what is far from the wait.
    for at in range(1000, 9000, 10):
        time, kind, seq = [*time, at * 10**6], [*kind, 0], [*seq, at]
    time, kind, seq = [*time, 9_700_000_000], [*kind, 5], [*seq, 5]
    assert excerpt(time, kind, seq).time_s[0] == 0
    found = excerpt(time, [0 if one == 1 else one for one in kind], seq)
    assert not found.matters


def excerpt(time: list[int], kind: list[int], seq: list[int]) -> Excerpt:
    columns = {
        "time_ns": time,
        "flow": [0] * len(time),
        "kind": kind,
        "seq": seq,
        "len": [1] * len(seq),
    }
    found = around_the_loss(pa.table(columns))
    assert found is not None
    return found


def test_the_time_sequence_has_no_lost_acknowledgements() -> None:
    narrow = {"leg": {"rate": "20 kbit/s", "delay": "50 ms", "queue": "5 packets"}}
    phy = clift.channel.bernoulli(slots=20_000, p=0.01, slot_ns=1_200_000, lldu_bytes=1500, seed=1)
    link = clift.tmt.apply(phy, "none", rtt_ms=100)
    run = clift.simulate(link, duration_s=10, **{"return": {"path": [narrow]}})
    events = run.events()
    gone = events.filter((events["kind"].to_numpy() == GONE) & (events["len"].to_numpy() == 0))
    found = around_the_loss(events)
    assert gone.num_rows > 100
    assert found is not None
    assert found.matters
    assert found.seq.min() > 0


def test_capacity_equals_the_slots_from_any_start() -> None:
    phy = clift.channel.bernoulli(slots=5000, p=0.3, slot_ns=1_000_000, lldu_bytes=100, seed=3)
    edges = np.linspace(0, 12, 25)
    for options in ({}, {"wrap": True, "start_offset_s": 3.3}):
        run = clift.simulate(clift.LiveLink(phy, "none"), duration_s=4, **options)
        start = run.scenario.config["link"]["start"] != "0 ns"
        instants = np.arange(0, 18_000) / 1e3 - (3.3 if start else 0)
        there = np.tile(phy.d_ns > 0, 4)[:18_000]
        if not start:
            there &= instants < 5
        expected = np.histogram(instants[there], edges)[0] * 100 * 8e-3 / 0.5
        np.testing.assert_allclose(capacity(run, edges), expected, atol=2 * 1.6)


def test_page_and_plots_have_the_capacity_once(tmp_path: Path) -> None:
    results, scenario = campaign(tmp_path, LIVE.replace("[vary]", "[vary]\nseed = [1, 2]"))
    made = tables(results, scenario)
    found = [lines["capacity"][1] for _, _, lines in over_time(of_results(results, made))]
    assert [values.mean() for values in found] == pytest.approx([980] * 4, rel=0.02)
    figure = dict(figures.draw(results, scenario, made.__getitem__))["goodput"]
    # Alternatives over one channel have one capacity.
    assert [len(axes.patches) for axes in figure.axes] == [1, 1]


def test_bins_of_delays_grow_where_a_few_are_late(tmp_path: Path) -> None:
    bins = tables(*campaign(tmp_path, LIVE.replace("2 %", "10 %")))["delays"]
    low, high, count = (bins[name].to_numpy()[400:] for name in ("from_ms", "to_ms", "segments"))
    assert high[-1] > 2 * low[0]
    np.testing.assert_allclose(high / low, high[0] / low[0])
    assert np.all(low[1:] == high[:-1])
    [_, arq] = [
        clift.simulate(cell).summary() for cell in Scenario.read(tmp_path / "x.toml").cells()
    ]
    assert count.sum() == arq["flows"][0]["segment_delay_ms"]["count"]


def test_goodput_over_time_adds_up_to_the_goodput(tmp_path: Path) -> None:
    two = f"{LIVE}"
    figure = drawn(tmp_path, two.replace("[vary]", "[[flow]]\n[[flow]]\n[vary]"))["goodput"]
    [axes] = figure.axes
    labels = [line.get_label() for line in axes.lines]
    assert labels == [f"{s}, flow {f}" for s in ("FEC(10/12)", "ARQ") for f in (0, 1)]
    scenario = Scenario.read(tmp_path / "x.toml")
    for number, cell in enumerate(scenario.cells()):
        flows = clift.simulate(cell).summary()["flows"]
        for line, flow in zip(axes.lines[2 * number :], flows, strict=False):
            assert np.mean(line.get_ydata()) == pytest.approx(flow["goodput_kbps"], rel=0.05)


@pytest.mark.parametrize("name", ["leo_handover", "hybrid", "live_geo", "limited_window"])
def test_no_plot_of_an_example_is_empty_or_shows_what_another_does(name: str) -> None:
    changes = {"duration": "10 s"} | ({} if name == "leo_handover" else {"runs": 1})
    scenario = Scenario.read(EXAMPLES / f"{name}.toml", changes)
    found = run_campaign(scenario)
    seen: dict[bytes, str] = {}
    for title, figure in figures.draw(found, scenario, tables(found, scenario).__getitem__):
        content = []
        for axes in figure.axes:
            if axes.get_visible():
                artists = [*axes.lines, *axes.collections, *axes.patches]
                assert any(np.size(points(artist)) for artist in artists), (title, axes.get_title())
                content += [np.nan_to_num(points(artist)).tobytes() for artist in artists]
        assert seen.setdefault(b"".join(content), title) == title
        assert title == "erasures" or max(figure.get_size_inches()) < 20


def points(artist: Artist) -> np.ndarray:
    if isinstance(artist, Line2D):
        return np.asarray(artist.get_xydata(), np.float64)
    if isinstance(artist, Patch):
        return np.asarray(artist.get_extents().get_points())
    offsets = np.asarray(artist.get_offsets(), np.float64)
    return offsets if offsets.size > 2 else np.concatenate([p.vertices for p in artist.get_paths()])


def test_windows_share_their_scale_unless_one_would_vanish(tmp_path: Path) -> None:
    def tops(caps: str) -> list[float]:
        vary = f"transport.cwnd_max = [{caps}]\n"
        text = LIVE.replace('"2 %"', '"0.1 %"') + vary
        return [axes.get_ylim()[1] for axes in drawn(tmp_path, text)["cwnd"].axes]

    near = tops('"10 packets", "20 packets"')
    assert near[0] == near[1] > 19
    far = tops('"4 packets", "40 packets"')
    assert far[0] < 6 < 30 < far[1]


def test_labels_of_a_logarithmic_axis_do_not_overlap(tmp_path: Path) -> None:
    figure = drawn(tmp_path, LIVE.replace("2 %", "10 %"))["delay-cdf"]
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    for axes in figure.axes:
        assert axes.get_xscale() == "log"
        low, high = axes.get_xlim()
        shown = [t for t in axes.get_xticklabels() if low <= t.get_position()[0] <= high]
        assert len(shown) >= 2
        assert all(label.get_text() == "" for label in axes.get_xticklabels(minor=True))
        boxes = [label.get_window_extent() for label in shown]
        assert all(a.x1 < b.x0 for a, b in pairwise(boxes))


def test_all_panels_of_the_delays_have_the_scale_that_their_label_names(tmp_path: Path) -> None:
    # Two packets on the way never wait, and without erasures nothing is late.
    text = LIVE.replace("FEC(10/12)", "none") + 'channel.erasures = ["0 %", "10 %"]\n'
    text += '[transport]\ncwnd_max = "2 packets"\n'
    figure = drawn(tmp_path, text)["delay-cdf"]
    assert len(figure.axes) == 2
    assert "log scale" in figure.axes[0].get_xlabel()
    assert {axes.get_xscale() for axes in figure.axes} == {"log"}


def test_goodput_above_the_slots_received_is_explained(tmp_path: Path) -> None:
    """What waited for a repair reaches the application at once."""
    lossy = drawn(tmp_path, LIVE.replace("FEC(10/12)", "none").replace("2 %", "10 %"))
    title = " ".join(lossy["goodput"].get_suptitle().split())
    assert "above them: data that waited for a repair" in title
    clean = drawn(tmp_path, LIVE.replace("2 %", "0 %"))
    assert "above" not in clean["goodput"].get_suptitle()
