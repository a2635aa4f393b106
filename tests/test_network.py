"""Networks: names in results, lines of `--explain`, the picture in the report."""

import math
from pathlib import Path
from typing import Any

import pytest
from command import clift as clift_command

import clift
from clift.campaign.saved import read
from clift.report.network import edges, svg

TEXT = """
duration = "5 s"
[network.links.up]
from = "a"
to = "b"
duplex = true
leg = { rate = "4 Mbit/s", delay = "10 ms" }
[network.links.down]
from = "b"
to = "c"
leg = { rate = "1 Mbit/s", delay = "20 ms" }
return.leg = { rate = "1 Mbit/s", delay = "30 ms" }
[[flow]]
name = "web"
from = "a"
to = "c"
[[flow]]
name = "cross"
from = "b"
to = "c"
"""
# A flow that may end.
ENDING = """
duration = '30 s'
[network.links.l]
from = 'a'
to = 'b'
leg = {{ rate = '10 Mbit/s', delay = '20 ms', queue = '50 packets' }}
duplex = true
[[flow]]
name = 'f'
from = 'a'
to = 'b'
{end}
{flow}
"""


def test_a_summary_and_its_numbers_name_flows_and_links() -> None:
    run = clift.simulate(clift.Scenario.parse(TEXT))
    summary = run.summary()
    assert [flow["name"] for flow in summary["flows"]] == ["web", "cross"]
    assert [link["name"] for link in summary["links"]] == ["down", "up"]
    assert [link["name"] for link in summary["return_links"]] == ["down", "up"]
    offered = run.numbers()["links.down.packets_offered"]
    assert offered == summary["links"][0]["packets_offered"] > 0


CHANNEL = 'channel = { model = "bernoulli", erasures = "1 %", rate = "4 Mbit/s" }\n'


@pytest.mark.parametrize(
    "link",
    [
        'leg = { rate = "4 Mbit/s", delay = "20 ms", queue = "9 packets", loss = "1 %" }',
        'hybrid = { k = 10, n = 12, rate = "4 Mbit/s", delay = "20 ms", loss = "5 %" }',
        f'{CHANNEL}link = {{ rtt = "40 ms", start = "random", wrap = true }}',
        f'{CHANNEL}scheme = "ARQ"\nlink = {{ live = true, rtt = "40 ms", feedback_channel = '
        '{ model = "bernoulli", erasures = "20 %", slot = "1 ms" } }',
    ],
)
def test_a_further_link_does_not_move_the_draws_of_another(link: str) -> None:
    def run(*names: str) -> dict[str, Any]:
        ends = 'from = "a{0}"\nto = "b{0}"\nduplex = true'
        links = (f"[network.links.{name}]\n{ends.format(name[1:])}\n{link}\n" for name in names)
        flow = "[[flow]]\nfrom = 'a'\nto = 'b'\n"
        scenario = clift.Scenario.parse("\n".join(["duration = '3 s'", *links, flow]))
        return dict(clift.simulate(scenario).summary())

    def of(run: dict[str, Any], name: str) -> list[Any]:
        return [
            one for part in ("links", "return_links") for one in run[part] if one["name"] == name
        ]

    alone, beside = run("m"), run("a1", "m", "z2")
    assert alone["flows"] == beside["flows"]
    assert of(alone, "m") == of(beside, "m")
    assert run("n")["flows"] != alone["flows"]


def test_a_study_has_a_table_of_links_and_a_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("net.toml").write_text(TEXT)

    def out(*words: str) -> str:
        ran = clift_command(*words)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    explained = out("run", "net.toml", "--explain").splitlines()
    assert "link up: a <-> b" in explained
    assert "flow web: by up, down; back by down, up" in explained
    change = "network.links.down.leg.rate=2 Mbit/s"
    table = out("run", "net.toml", "--set", change, "-o", "study", "--no-plots", "--quiet")
    assert "flow web" in table
    assert "return of down" in table
    # Flows over different links have no limit in common, but each has its own.
    assert "limited by: flow web" in table
    assert "limited by  " not in table
    page = Path(out("report", "study").strip()).read_text()
    assert "<h3>The network</h3>" in page
    assert ">down</text>" in page


def test_a_picture_has_every_node_once_even_in_a_circle() -> None:
    links = {
        name: {"from": source, "to": target, "duplex": False, "return": None}
        for name, source, target in (("x", "a", "b"), ("y", "b", "c"), ("z", "c", "a"))
    }
    assert svg(edges({"network": {"links": links}})).count("<circle") == 3


@pytest.mark.parametrize(
    ("application", "part", "count"),
    [
        (
            '{ type = "request", request = "200 B", response = "10 kB", pause = "1 s" }',
            "requests",
            7,
        ),
        ('{ type = "conference" }', "conference", None),
        ('{ type = "video", ladder = ["1 Mbit/s"] }', "video", None),
    ],
)
def test_a_session_stops_at_its_end(application: str, part: str, count: int | None) -> None:
    protocol = "udp" if part == "conference" else "tcp"
    flow = f"transport.protocol = '{protocol}'\napplication = {application}"
    stopped, whole = (
        clift.simulate(clift.Scenario.parse(ENDING.format(end=end, flow=flow))).summary()
        for end in ("end = '7 s'", "")
    )
    [stopped], [whole] = stopped["flows"], whole["flows"]
    assert part in stopped
    assert 0 < stopped["bytes_in_order"] < whole["bytes_in_order"] / 3
    if count is not None:
        # Each takes its round trips and a pause of 1 s.
        assert count - 1 <= stopped[part]["answered"] <= count
    if part == "conference":
        assert stopped[part]["share_frozen"] < 0.01


@pytest.mark.parametrize("protocol", ["tcp", "quic"])
def test_unlimited_data_stop_at_the_end_of_the_flow(protocol: str) -> None:
    flow = f"transport.protocol = '{protocol}'\napplication.type = 'bulk'"
    text = ENDING.format(end="end = '3 s'", flow=flow)
    [flow] = clift.simulate(clift.Scenario.parse(text)).summary()["flows"]
    # What was sent by then drains through a queue of 50 packets in 60 ms; QUIC holds 16 KiB more.
    assert 2.5 * 10e6 / 8 < flow["bytes_in_order"] < 3.1 * 10e6 / 8 + 2**14
    assert flow["goodput_kbps"] < 10_000


def test_goodput_after_the_end_counts_with_its_time() -> None:
    """At ten times the rate of the link, data arrive until the queue is empty."""
    rate = "{ type = 'constant rate', rate = '100 Mbit/s', message = '1000 B' }"
    flow = f"transport.protocol = 'udp'\napplication = {rate}"
    text = ENDING.format(end="end = '1 s'", flow=flow).replace("'50 packets'", "'unlimited'")
    [flow] = clift.simulate(clift.Scenario.parse(text)).summary()["flows"]
    # 1000 of 1028 bytes of each packet are the application's, and the first takes 20 ms.
    assert flow["goodput_kbps"] == pytest.approx(10_000 * 1000 / 1028, rel=0.005)


def test_an_error_without_a_file_begins_with_its_place() -> None:
    with pytest.raises(clift.ScenarioError, match=r"^line 1: duration: "):
        clift.Scenario.parse('duration = "5"')
    with pytest.raises(clift.ScenarioError, match=r"^set link.queue = "):
        clift.Scenario.parse(TEXT, changes={"link.queue": "5 packets"})


def test_a_run_into_which_no_flow_comes_has_no_causes() -> None:
    flow = "application = { type = 'file', size = '1 MB' }\nstart = '40 s'"
    scenario = clift.Scenario.parse(ENDING.format(end="", flow=flow))
    with pytest.raises(clift.ScenarioError, match="no flow begins before the run ends"):
        clift.simulate(scenario).why()


def test_a_run_of_several_files_has_mean_and_quantiles_of_their_times() -> None:
    """At a gap of 500 ms some 20 files complete, and the last may not."""
    flow = """application = { type = 'file', size = '100 kB' }
arrivals = { type = 'poisson', gap = '500 ms' }"""
    text = ENDING.format(end="end = '10 s'", flow=flow)
    summary = clift.simulate(clift.Scenario.parse(text)).summary()
    times = [flow["completion_s"] for flow in summary["flows"] if flow["completion_s"] is not None]
    assert len(times) > 5
    assert summary["mean_completion_s"] == pytest.approx(sum(times) / len(times))
    assert summary["completion_s"] in (None, max(times))
    times.sort()
    assert summary["completed_flows"] == len(times)
    assert summary["median_completion_s"] == times[math.ceil(0.5 * len(times)) - 1]
    assert summary["p95_completion_s"] == times[math.ceil(0.95 * len(times)) - 1]


def test_a_study_of_files_that_arrive_is_judged_by_their_mean_time(tmp_path: Path) -> None:
    """The last file of a run may not be through."""
    channel = {"model": "bernoulli", "erasures": 0.05, "rate": "2 Mbit/s"}
    flow = {
        "application": {"type": "file", "size": "20 kB"},
        "arrivals": {"type": "poisson", "gap": "200 ms"},
    }
    study = {"channel": channel, "flow": [flow], "duration": "20 s", "runs": 3}
    found = clift.campaign.run(study | {"vary": {"scheme": ["none", "ARQ"]}}, progress=False)
    assert {cell.primary for cell in found.cells} == {"mean_completion_s"}
    assert any(len(cell.column("completion_s")) < 3 for cell in found.cells)
    assert all(len(cell.column("mean_completion_s")) == 3 for cell in found.cells)
    assert "tell ARQ and none apart (1" in found.conclusion
    found.save(tmp_path, plots=False)
    assert read(tmp_path).primary == "mean_completion_s"


def test_the_share_reached_is_of_links_that_packets_crossed() -> None:
    def link(to: str, rate: str) -> dict[str, object]:
        channel = {"model": "bernoulli", "erasures": 0, "rate": rate}
        between = {"from": "a", "to": to, "duplex": True}
        return between | {"channel": channel, "link": {"rtt": "50 ms"}}

    links = {"used": link("b", "4 Mbit/s"), "other": link("c", "1 Mbit/s")}
    setting = {"network": {"links": links}, "flow": [{"from": "a", "to": "b"}]}
    results = clift.campaign.run(clift.Scenario(setting, duration_s=10))
    share = results.cells[0].estimate("share_reached")
    assert share is not None
    assert 0.9 < share.mean <= 1


def test_a_series_has_the_longest_queue() -> None:
    legs = [("10 Mbit/s", "50 packets"), ("1 Mbit/s", "20 packets")]
    path = [{"leg": {"rate": rate, "delay": "20 ms", "queue": queue}} for rate, queue in legs]
    series = clift.simulate({"path": path}, duration_s=20).series()
    assert max(series["queue_packets"].to_pylist()) == 20
