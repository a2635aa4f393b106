"""Networks: names in results, lines of `--explain`, the picture in the report."""

from pathlib import Path

import pytest
from command import clift as clift_command

import clift
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


def test_a_summary_and_its_numbers_name_flows_and_links() -> None:
    run = clift.simulate(clift.Scenario.parse(TEXT))
    summary = run.summary()
    assert [flow["name"] for flow in summary["flows"]] == ["web", "cross"]
    assert [link["name"] for link in summary["links"]] == ["down", "up"]
    assert [link["name"] for link in summary["return_links"]] == ["down", "up"]
    offered = run.numbers()["links.down.packets_offered"]
    assert offered == summary["links"][0]["packets_offered"] > 0


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
    # Flows over different links have no limit in common.
    assert "limited by" not in table
    page = Path(out("report", "study").strip()).read_text()
    assert "<h3>The network</h3>" in page
    assert ">down</text>" in page


def test_a_picture_has_every_node_once_even_in_a_circle() -> None:
    links = {
        name: {"from": source, "to": target, "duplex": False, "return": None}
        for name, source, target in (("x", "a", "b"), ("y", "b", "c"), ("z", "c", "a"))
    }
    assert svg(edges({"network": {"links": links}})).count("<circle") == 3
