"""Networks: names in results, lines of `--explain`, the picture in the report."""

import subprocess
import sys

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


def test_a_study_has_a_table_of_links_and_a_picture(tmp_path) -> None:
    file = tmp_path / "net.toml"
    file.write_text(TEXT)
    clift_run = [sys.executable, "-m", "clift", "run", str(file), "--quiet"]

    def out(*more: str) -> str:
        return subprocess.run(
            [*clift_run, *more], check=True, capture_output=True, text=True, cwd=tmp_path
        ).stdout

    explained = out("--explain").splitlines()
    assert "link up: a <-> b" in explained
    assert "flow web: by up, down; back by down, up" in explained
    table = out("--set", "network.links.down.leg.rate=2 Mbit/s", "-o", "study", "--no-plots")
    assert "flow web" in table
    assert "return of down" in table
    # Flows over different links have no limit in common.
    assert "limited by" not in table
    report = subprocess.run(
        [sys.executable, "-m", "clift", "report", "study"],
        check=True,
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    page = (tmp_path / report.stdout.strip()).read_text()
    assert "<h3>The network</h3>" in page
    assert ">down</text>" in page


def test_a_picture_has_every_node_once_even_in_a_circle() -> None:
    links = {
        name: {"from": source, "to": target, "duplex": False, "return": None}
        for name, source, target in (("x", "a", "b"), ("y", "b", "c"), ("z", "c", "a"))
    }
    assert svg(edges({"network": {"links": links}})).count("<circle") == 3
