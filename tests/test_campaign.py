"""A campaign as one object, used as in a notebook."""

import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from small_study import PAGE

import clift
from clift.campaign.runner import run_campaign

TEXT = f'name = "a <page>"\nruns = 8\nlink.rtt = "500 ms"\n{PAGE}'


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("campaign") / "page.toml"
    path.write_text(TEXT)
    return path


@pytest.fixture(scope="module")
def campaign(path: Path) -> clift.campaign.Campaign:
    return clift.campaign.run(path, progress=False)


def test_a_campaign_has_runs_estimates_and_a_conclusion(
    campaign: clift.campaign.Campaign,
) -> None:
    assert repr(campaign) == "Campaign('a <page>': 2 cells, 16 runs)"
    arq, harq = campaign.estimates("completion_s")
    assert arq.low is None  # a mean of few completion times
    assert arq.median_low < arq.median < arq.median_high
    assert harq.mean < arq.mean
    [verdict] = campaign.verdicts
    assert (verdict.best, verdict.among) == (None, ("HARQ(10/12)", "ARQ"))  # of few times
    assert campaign.conclusion in " ".join(str(campaign).split())
    runs = campaign.table("runs")
    assert runs.num_rows == 16
    times = np.asarray(runs.column("completion_s"))[:8]
    assert arq.mean == pytest.approx(times.mean())
    assert (arq.median, arq.p95) == pytest.approx(tuple(np.quantile(times, (0.5, 0.95))))
    html = campaign._repr_html_()
    assert "a &lt;page&gt;" in html
    assert "<page>" not in html


def test_runs_of_a_campaign_have_channels_of_their_own(campaign: clift.campaign.Campaign) -> None:
    drawn = clift.campaign.run(campaign.scenario, progress=False, **{"link.start": "random"})
    for cell in drawn.cells:
        assert (cell.shared, cell.windows) == (None, {})
    traces = [run.phy_trace() for run in drawn.scenario.cells()[0].replications()]
    assert len({trace.d_ns.tobytes() for trace in traces}) == 8


def test_runs_over_one_trace_say_so(tmp_path: Path) -> None:
    phy = clift.channel.bernoulli(slots=120_000, p=0.02, seed=1)
    phy.write(tmp_path / "phy.csv")
    path = tmp_path / "given.toml"
    path.write_text(
        'duration = "30 s"\nruns = 12\n[trace]\nfile = "phy.csv"\n'
        '[link]\nstart = "random"\n[vary]\nscheme = ["none", "ARQ"]\n'
    )
    found = clift.campaign.run(path, progress=False)
    cell = found.cells[0]
    assert cell.shared == "trace"
    assert 2 < cell.independent(cell.values) < 4  # 120 s of slots, runs of 30 s
    assert "Given this trace: runs start at random times of it" in str(found)
    assert found.as_dict()["cells"][0]["given"] == "trace"
    apart = clift.campaign.run(path, progress=False, duration_s=5)
    assert apart.cells[0].independent(apart.cells[0].values) > 6
    assert apart.estimates("goodput_kbps")[1].half_width is not None
    same = clift.campaign.run(path, progress=False, **{"link.start": "1 s"})
    assert [one.runs for one in same.estimates("goodput_kbps")] == [1, 1]
    assert "Nothing is drawn" in str(same)


def test_pictures_tables_and_the_folder(campaign: clift.campaign.Campaign, tmp_path: Path) -> None:
    assert "completion" in campaign.plot().get_suptitle()
    assert "delay" in campaign.plot("delay-cdf").get_suptitle()
    with pytest.raises(clift.ScenarioError, match="give a metric, or one of comparison-"):
        campaign.plot("nothing")
    with pytest.raises(clift.ScenarioError, match="metric = 'speed'"):
        campaign.estimates("speed")
    with pytest.raises(clift.ScenarioError, match="give one of runs, summary, series, delays"):
        campaign.table("run")
    files = campaign.save(tmp_path / "out", plots=False)
    assert files[-1].name == "record.json"
    summary = pq.read_table(tmp_path / "out" / "summary.parquet")
    assert {"mean", "low", "high", "half_width", "median", "p95", "runs"} <= set(
        summary.column_names
    )


def test_a_data_frame_has_the_rows_of_the_table(campaign: clift.campaign.Campaign) -> None:
    assert len(campaign.to_pandas()) == 16


def test_without_pandas_it_says_what_to_install(
    campaign: clift.campaign.Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(
        clift.ScenarioError, match=r"pandas is not installed; pip install 'clift\[pandas\]'"
    ):
        campaign.to_pandas()


def test_a_campaign_equals_the_command_line(path: Path, campaign: clift.campaign.Campaign) -> None:
    results = run_campaign(clift.Scenario.read(path), threads=1)
    assert [cell.values for cell in results.cells] == [cell.values for cell in campaign.cells]


def test_flows_have_columns_of_their_own(path: Path) -> None:
    text = str(clift.campaign.run(path, progress=False, runs=2, flows=2))
    assert "goodput (kbit/s): flow 0" in text
    assert "flow 1" in text
    many = str(clift.campaign.run(path, progress=False, runs=2, flows=8))
    assert "least of a flow" in many
    assert max(map(len, (text + many).splitlines())) <= 100


def test_a_run_is_drawn_flow_by_flow() -> None:
    phy = clift.channel.bernoulli(slots=20_000, p=0.02, seed=1)
    run = clift.simulate(clift.tmt.apply(phy, clift.Arq()), duration_s=10, flows=2)
    goodput, *_, queue = run.plot().axes
    assert (len(goodput.lines), len(queue.lines)) == (2, 1)
    time = goodput.lines[0].get_xdata()
    assert (time[0], time[-1]) == (0.0, 10.0)
    html = run._repr_html_()
    assert f"<th>Goodput</th><td>{run.goodput_kbps:.4g} kbit/s</td>" in html
    assert "<th>Packet delay, p95</th>" in html
    assert len(run.to_pandas()) == run.series().num_rows
