"""What the plots of a campaign show, read from matplotlib's own objects."""

from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from clift.campaign import run_campaign
from clift.campaign.results import Cell, Results
from clift.campaign.tables import tables
from clift.cli.main import run
from clift.report import comparison, figures
from clift.report.units import draw as draw_units
from clift.scenario import Scenario


def results(values: dict[str, list[float | None]]) -> Results:
    """A campaign of transfers with these completion times; None where a file did not end."""
    cells = []
    for label, times in values.items():
        cell = Cell({"scheme": label}, True, len(times))
        cell.values = {
            run: {} if time is None else {"completion_s": time} for run, time in enumerate(times)
        }
        cells.append(cell)
    return Results("x", 1, [("scheme", list(values))], cells, [])


def test_a_comparison_keeps_a_place_for_every_cell_and_says_of_how_many_runs() -> None:
    found = results({"A": [None, None], "B": [19.0, None], "C": [20.0, 22.0]})
    [axes] = comparison.draw(found, "completion_s").axes
    ticks = [label.get_text() for label in axes.get_xticklabels()]
    assert ticks == ["A\n0 of 2\nfinished", "B\n1 of 2\nfinished", "C"]
    assert [(bar.get_center()[0], bar.get_height()) for bar in axes.patches] == [(1, 19), (2, 21)]


def test_a_comparison_starts_at_zero_and_shows_every_bar() -> None:
    found = results({"A": [1.0, 9.0], "B": [30.0, 40.0]})
    for cell, condition in zip(found.cells, ("good", "bad"), strict=True):
        cell.labels["reception"] = condition
    found.axes.append(("reception", ["good", "bad"]))
    for axes in comparison.draw(found, "completion_s").axes:
        low, high = axes.get_ylim()
        assert low == 0
        assert high > 35


def drawn(path: Path, text: str) -> dict[str, Figure]:
    """The plots of a small campaign, by name."""
    file = path / "x.toml"
    file.write_text(f'duration = "20 s"\nname = "x"\n{text}')
    scenario = Scenario.read(file)
    results = run_campaign(scenario)
    series = tables(results, scenario)["series"]
    return dict(figures.draw(results, scenario, series))


LIVE = (
    '[channel]\nmodel = "bernoulli"\nerasures = "2 %"\nrate = "1 Mbit/s"\n'
    '[link]\nlive = true\nwrap = true\n[vary]\nscheme = ["FEC(10/12)", "ARQ"]\n'
)


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        (LIVE, "data LLDU"),
        ("[hybrid]\nn = 11\n", "frame"),
        ("[ntn]\n", "transport block"),
        ("[adaptive_harq]\n", "packet"),
    ],
)
def test_units_are_called_as_the_link_calls_them(text: str, unit: str, tmp_path: Path) -> None:
    pictures = [figure for name, figure in drawn(tmp_path, text).items() if "units" in name]
    assert pictures
    for figure in pictures:
        assert figure.axes[1].get_ylabel() == f"{unit}, by number"


def test_repair_with_every_block_does_not_hide_the_block(tmp_path: Path) -> None:
    below = drawn(tmp_path, LIVE)["units-0"].axes[1]
    orders = {found.get_label(): found.get_zorder() for found in below.collections}
    assert orders["repair, unasked"] < orders["sent for the first time"] < orders["erased"]


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
    assert above.texts[0].get_text() == "the packet of the loss, sent at -1.00 s"


def test_every_alternative_has_a_time_sequence_where_there_is_room(tmp_path: Path) -> None:
    titles = [axes.get_title() for axes in drawn(tmp_path, LIVE)["sequence"].axes]
    assert titles == ["FEC(10/12)", "ARQ"]
    seeds = f"{LIVE}seed = [1, 2, 3, 4, 5, 6, 7]\n"  # 14 cells are too many
    titles = [axes.get_title() for axes in drawn(tmp_path, seeds)["sequence"].axes]
    assert titles == [f"seed = {seed}, FEC(10/12)" for seed in range(1, 8)] + [""]


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


def test_a_table_of_one_run_is_no_mean_and_says_what_its_columns_are(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    words = ["paper", "tauran2017", "--table", "1", "--runs", "1", "--duration", "5"]
    assert run([*words, "-o", str(tmp_path / "x.png")]) == 0
    out = capsys.readouterr().out
    assert "A single run, (printed)" in out.splitlines()[0]
    assert "Mbit/s: coded bits on the air; events/s: entries into recovery and timeouts." in out
