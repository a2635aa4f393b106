"""The tables of a campaign: what stands where."""

from clift.campaign import run_campaign
from clift.report.text import WIDTH, report
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


def test_runs_that_came_out_the_same_are_said_once() -> None:
    clear = TEXT.replace("2 %", "0 %")
    said = "All runs of a cell gave identical results"
    text = "\n\n".join(told(clear))
    assert text.count(said) == 1
    assert "too few runs differ" not in text
    assert "±" not in text
    assert said not in "\n\n".join(told(TEXT))
    assert said not in "\n\n".join(told(clear.replace("runs = 4", "runs = 1")))
