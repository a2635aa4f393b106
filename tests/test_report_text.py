"""The tables of a campaign: what stands where."""

import re
from pathlib import Path
from typing import Any

import pytest

import clift
from clift import PhyTrace
from clift.campaign import run_campaign
from clift.campaign.caveats import notes
from clift.campaign.results import Cell
from clift.report.text import WIDTH, flows_limited_by, limited_by, report
from clift.scenario import Scenario

TEXT = """
duration = "20 s"
runs = 4
[channel]
model = "bernoulli"
erasures = "2 %"
rate = "263 kbit/s"
[vary]
scheme = ["ARQ", "HARQ(10/12)"]
"""
PRINTED = """
[[printed]]
metric = "{metric}"
value = 10
{source}
where = {{ scheme = "ARQ" }}
"""


def told(text: str) -> list[str]:
    scenario = Scenario.parse(text, "x.toml")
    return report(run_campaign(scenario)).split("\n\n")


def test_paper_and_difference_are_explained_under_the_table_that_has_them() -> None:
    wide = [f"links.0.packet_delay_ms.{name}" for name in ("mean", "p50", "p95", "max")]
    values = [("goodput_kbps", 'source = "table 1"')] + [(n, 'source = "figure 7"') for n in wide]
    printed = "".join(PRINTED.format(metric=name, source=source) for name, source in values)
    _, *tables, conclusion = told(TEXT + printed)
    assert "is best" in conclusion or "clear difference" in conclusion
    assert len(tables) > 2
    for place, table in enumerate(tables):
        assert max(map(len, table.splitlines())) <= WIDTH
        if "paper" in table.splitlines()[0] and place < 2:
            assert table.splitlines()[3].startswith("(")
    both = " ".join(" ".join(tables).split())
    assert both.count("difference: (mean - printed) / printed") == 1
    assert both.index("paper: value printed in table 1") < both.index("figure 7")


def test_the_share_of_a_capacity_that_differs_by_run_is_a_mean_of_shares(
    tmp_path: Path,
) -> None:
    (tmp_path / "log.csv").write_text("t,rate\n0,0.2\n60,2\n120,0.2\n")
    text = """
        duration = "5 s"
        runs = 6
        scheme = "none"
        trace = { file = "log.csv", time = "t:s", rate = "rate:Mbit/s" }
        link = { rtt = "20 ms", start = "random", wrap = true }
    """
    scenario = Scenario.parse(text, str(tmp_path / "x.toml"))
    said = report(run_campaign(scenario))
    assert "capacity (kbit/s)  of it reached (%)" in said
    assert "of it reached: mean of shares" in " ".join(said.split())
    assert "mean of shares" not in " ".join(told(TEXT))


def test_runs_that_came_out_the_same_are_said_once() -> None:
    clear = TEXT.replace("2 %", "0 %")
    said = "All runs of a cell gave identical results"
    text = "\n\n".join(told(clear))
    assert text.count(said) == 1
    assert "too few runs to tell" not in text
    assert "±" not in text
    assert said not in "\n\n".join(told(TEXT))
    assert said not in "\n\n".join(told(clear.replace("runs = 4", "runs = 1")))


@pytest.mark.parametrize(
    ("application", "window", "used", "padding", "text"),
    [
        (0.0, 0.95, 0.2, 0.0, "receive window 76 %, link 20 %"),
        (0.9, 0.0, 0.2, 0.0, "application 72 %, link 20 %"),
        (0.0, 0.7, 0.99, 0.0, "link 99 %"),  # a full window behind a busy link costs nothing
        (0.0, 0.0, 0.3, 0.0, "congestion control 70 %, link 30 %"),
        (0.0, 0.0, 0.98, 0.39, "link 98 %; padding takes 39 % of the link"),
    ],
)
def test_the_column_limited_by_names_what_binds(
    application: float, window: float, used: float, padding: float, text: str
) -> None:
    cell = Cell({"scheme": "ARQ"}, False, 2)
    for run in range(2):
        cell.values[run] = {
            "share_application_limited": application,
            "share_window_limited": window,
            "links.0.share_used": used,
            "links.0.share_padding": padding,
        }
    assert limited_by(cell) == text


def test_of_legs_alone_the_most_used_one_limits() -> None:
    path = [{"leg": {"rate": f"{rate} Mbit/s", "delay": "10 ms"}} for rate in (8, 2, 4)]
    results = clift.campaign.run(clift.Scenario({"path": path}, duration_s=20))
    assert limited_by(results.cells[0]) == "link 100 %"
    assert "link used, link 1 (%)" in str(results)


def test_a_leg_before_a_link_may_be_what_limits() -> None:
    leg = {"rate": "1 Mbit/s", "delay": "50 ms", "queue": "50 packets"}
    channel = {"model": "bernoulli", "erasures": "0 %", "rate": "4 Mbit/s"}
    path = [{"leg": leg}, {"channel": channel, "link": {"rtt": "100 ms"}}]
    results = clift.campaign.run(clift.Scenario({"path": path}, duration_s=30))
    assert limited_by(results.cells[0]) == "link 0 99 %"


def test_the_outage_of_a_leg_limits_in_the_table_as_in_the_budget() -> None:
    out = [["10 s", "16 s"]]
    leg: dict[str, Any] = {"rate": "4 Mbit/s", "delay": "20 ms", "queue": "50 packets"}
    leg["outages"] = out
    path = clift.Scenario({"path": [{"leg": leg}]}, duration_s=30)
    ends = {"from": "a", "to": "b"}
    network = {"links": {"ab": {**ends, "duplex": True, "leg": leg}}}
    row = clift.Scenario({"network": network, "flow": [ends]}, duration_s=30)
    [told] = flows_limited_by(clift.campaign.run(row).cells[0]).values()
    for text in (limited_by(clift.campaign.run(path).cells[0]), told):
        assert ", outage 20 %" in text, text
    parts = {part["title"]: part["share"] for part in clift.simulate(path).why()["budget"]}
    assert parts["outage"] == pytest.approx(0.2, abs=0.005)


@pytest.mark.parametrize("times", [{"start": "20 s"}, {"end": "10 s"}])
def test_without_a_flow_the_application_has_no_data(times: dict[str, str]) -> None:
    leg = {"rate": "10 Mbit/s", "delay": "10 ms", "queue": "100 packets"}
    setting = {"path": [{"leg": leg}], "flow": [times]}
    results = clift.campaign.run(clift.Scenario(setting, duration_s=30))
    assert limited_by(results.cells[0]).startswith(("application 66 %", "application 67 %"))


@pytest.mark.parametrize("times", [{}, {"start": "20 s"}])
@pytest.mark.parametrize("window", ["4 MB", "20 kB"])
def test_a_flow_of_a_network_has_the_limits_of_its_path(times: dict[str, str], window: str) -> None:
    legs = [{"rate": f"{rate} Mbit/s", "delay": "20 ms", "queue": "50 packets"} for rate in (50, 8)]
    ends = {"from": "a", "to": "c"}
    links = {
        name: {"from": name[0], "to": name[1], "duplex": True, "leg": leg}
        for name, leg in zip(("ab", "bc"), legs, strict=True)
    }
    options: dict[str, Any] = {"transport": {"receive_window": window}}
    path = {
        "path": [{"leg": leg} for leg in legs],
        "return": {"path": [{"leg": leg} for leg in legs[::-1]]},
    }
    chain = clift.Scenario(options | path | {"flow": [times]}, duration_s=30)
    network = {"network": {"links": links}, "flow": [times | ends]}
    row = clift.Scenario(options | network, duration_s=30)
    [told] = flows_limited_by(clift.campaign.run(row).cells[0]).values()
    of_chain = limited_by(clift.campaign.run(chain).cells[0])
    assert told.replace("link bc", "link") == of_chain
    assert ("receive window" in of_chain) == (window == "20 kB")


def test_flows_of_a_network_have_their_own_limits() -> None:
    leg = {"delay": "20 ms", "queue": "50 packets"}
    links = {
        "narrow": {"from": "a", "to": "b", "duplex": True, "leg": leg | {"rate": "2 Mbit/s"}},
        "wide": {"from": "b", "to": "c", "duplex": True, "leg": leg | {"rate": "200 Mbit/s"}},
    }
    flows = [
        {"name": "up", "from": "b", "to": "a"},
        {"name": "held", "from": "b", "to": "c", "transport": {"cwnd_max": "20 packets"}},
    ]
    results = clift.campaign.run(
        clift.Scenario({"network": {"links": links}, "flow": flows}, duration_s=20)
    )
    found = flows_limited_by(results.cells[0])
    assert found["up"].startswith(("return of link narrow 9", "return of link narrow 100"))
    assert found["held"].startswith("receive window or cwnd_max 9")
    assert "limited by: flow up" in str(results)
    assert limited_by(results.cells[0]) == ""


def test_a_busy_link_limits_a_flow_only_while_it_has_data() -> None:
    """Game, late file and flood share a link with a download, which keeps it full."""
    leg = {"rate": "4 Mbit/s", "delay": "20 ms", "queue": "50 packets"}
    ends: dict[str, Any] = {"from": "a", "to": "b"}
    udp = {"transport": {"protocol": "udp"}}
    game = {"application": {"type": "constant rate", "rate": "8 kbit/s", "message": "100 B"}}
    flood = {"application": {"type": "constant rate", "rate": "40 Mbit/s"}}
    flows: list[dict[str, Any]] = [
        ends | {"name": "download"},
        ends | udp | game | {"name": "game"},
        ends | {"name": "late", "start": "25 s", "application": {"type": "file", "size": "10 kB"}},
    ]
    network = {"links": {"ab": ends | {"duplex": True, "leg": leg}}}

    def limits(flows: list[dict[str, Any]]) -> dict[str, dict[str, int]]:
        setting = clift.Scenario({"network": network, "flow": flows}, duration_s=30)
        parts = re.compile(r"([^,]+) (\d+) %(?:, )?")
        found = flows_limited_by(clift.campaign.run(setting).cells[0])
        return {name: {k: int(v) for k, v in parts.findall(text)} for name, text in found.items()}

    found = limits(flows)
    assert found["download"]["link ab"] > 95
    assert found["game"]["application"] > 98
    assert found["late"]["application"] > 90
    assert found["late"].get("link ab", 0) < 10
    flooded = limits([*flows, ends | udp | flood | {"name": "flood"}])
    assert flooded["flood"]["link ab"] > 90
    for shares in (*found.values(), *flooded.values()):
        assert sum(shares.values()) <= 101, (found, flooded)  # 1: rounded


def test_an_upper_limit_of_the_window_is_named() -> None:
    leg = {"rate": "10 Mbit/s", "delay": "50 ms"}
    setting = {"path": [{"leg": leg}], "transport": {"cwnd_max": "20 packets"}}
    results = clift.campaign.run(clift.Scenario(setting, duration_s=30))
    assert limited_by(results.cells[0]).startswith("receive window or cwnd_max 7")


def test_the_column_limited_by_names_a_link_that_waits() -> None:
    results = clift.campaign.run(clift.Scenario({"ntn": {"preset": "nr-ntn-geo"}}, duration_s=20))
    assert limited_by(results.cells[0]).startswith("link waits")


def test_notes_name_their_trace_if_there_are_several(tmp_path: Path) -> None:
    for name in ("one", "two"):
        phy = clift.channel.bernoulli(slots=20_000, slot_ns=1_000_000, p=0.02, seed=1)
        PhyTrace(phy.t_ns, phy.d_ns, lldu_bytes=1500, rtt_ns=24_066_464).write(
            tmp_path / f"{name}.parquet"
        )
    head = 'duration = "2 s"\n[link]\nrtt = "30 ms"\n'
    several = head + '[vary]\ntrace.file = ["one.parquet", "two.parquet"]\n'
    alone = head + '[trace]\nfile = "one.parquet"\n'
    for text, prefix in ((several, "one.parquet: "), (alone, "")):
        path = tmp_path / "x.toml"
        path.write_text(text)
        found = notes(run_campaign(Scenario.read(path)))
        assert found[0].startswith(f"{prefix}link.rtt: 30 ms as given")
        assert "24.066464 ms" in found[0]


def test_the_limit_is_that_of_the_link_with_the_least_capacity() -> None:
    leg = {"rate": "100 Mbit/s", "delay": "10 ms"}
    channel = {"model": "bernoulli", "erasures": "0 %", "rate": "2 Mbit/s"}
    path = [{"leg": leg}, {"channel": channel, "link": {"rtt": "100 ms"}}]
    results = clift.campaign.run(clift.Scenario({"path": path}, duration_s=30))
    share = results.cells[0].estimate("links.1.share_used")
    assert share is not None
    assert limited_by(results.cells[0]).startswith(f"link {100 * share.mean:.0f} %")
    text = str(results)
    assert "% of 2000 kbit/s" in text
    assert "link used, link 1 (%)" in text
