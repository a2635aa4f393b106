"""The registry of papers, the rule for claims, the gates, and every artefact run very shortly."""

import json
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from clift.campaign.statistics import Estimate
from clift.cli.main import run
from clift.errors import ScenarioError
from clift.papers import (
    kuhn_distribution,
    kuhn_erasures,
    kuhn_internet,
    kuhn_model,
    leo_artefacts,
    limited_window,
    registry,
    verdict,
)
from clift.papers.artefact import Artefact, Claim, Effort, Outcome, Result, Row, Rows
from clift.papers.gates import gate
from clift.papers.plot import paper_plot
from clift.papers.text import paper_json, paper_text
from clift.papers.verdict import Verdict

sys.path.insert(0, str(Path(__file__).parent.parent / "docs"))
import paper_pages


def rows(metric: str, names: tuple[str, ...], table: dict[tuple, float], half: float = 0.01):
    """Rows made by hand: labels in the order of the names, each mean with the same interval."""
    return Rows(
        Row(dict(zip(names, key, strict=True)), metric, Estimate(mean, half, 9))
        for key, mean in table.items()
    )


# --- the registry ---


def test_the_papers_and_their_artefacts_are_complete():
    found = {paper.name: [one.name for one in paper.artefacts] for paper in registry.papers()}
    assert {name: len(artefacts) for name, artefacts in found.items()} == {
        "ijscn2014": 10,
        "clift2013": 2,
        "clift2014": 2,
        "wiopt2003": 6,
        "tauran2017": 6,
    }
    assert found["wiopt2003"] == [f"figure {number}" for number in range(3, 9)]
    assert sorted(found["ijscn2014"]) == sorted(
        [*(f"table {n}" for n in (1, 2, 3)), *(f"figure {n}" for n in range(5, 12))]
    )


@pytest.mark.parametrize(
    "artefact", registry.chosen("all"), ids=lambda one: f"{one.paper}-{one.name}"
)
def test_an_artefact_is_described_and_has_its_function(artefact: Artefact):
    assert callable(artefact.function())
    assert artefact.claims
    assert len({claim.key for claim in artefact.claims}) == len(artefact.claims)
    assert all(claim.says and claim.where for claim in artefact.claims)
    assert artefact.title
    assert artefact.where
    # Fewer of both, but for a page, which is there when it is there.
    assert artefact.reduced.runs < artefact.full.runs
    assert artefact.reduced.duration_s <= artefact.full.duration_s
    assert artefact.x
    described = registry.described(artefact.paper, artefact.name)
    for line in described.get("rows", []):
        assert len(line) == len(described["columns"])


def test_the_three_papers_agree_on_the_printed_values_they_share():
    own = registry.described("clift2014", "table 2")["rows"]
    assert all(line in registry.described("ijscn2014", "table 3")["rows"] for line in own)
    for line in registry.described("ijscn2014", "figure 10")["rows"]:
        assert line in registry.described("clift2014", "figure 6")["rows"]


def test_an_earlier_name_finds_its_paper():
    assert registry.paper("leo2014") is not registry.paper("wiopt2003")
    assert registry.paper("leo2014").name == "tauran2017"


@pytest.mark.parametrize(
    ("name", "tables", "figures", "says"),
    [
        ("nobody1999", [], [], "clift paper list"),
        ("wiopt2003", [1], [], "wiopt2003 has no table 1: it has figure 3"),
        ("clift2014", [1], [], "clift paper run clift2013 --table 1"),
        ("all", [1], [], "name the paper"),
    ],
)
def test_unknown_papers_tables_and_figures_are_refused(name, tables, figures, says):
    with pytest.raises(ScenarioError, match=says):
        registry.chosen(name, tables, figures)


# --- when a claim holds ---


def test_a_claim_holds_fails_or_is_open_by_its_interval():
    three, two = Estimate(3.0, 0.5, 9), Estimate(2.0, 0.5, 9)
    assert verdict.at_least(three, two) is True
    assert verdict.at_least(two, three) is False
    assert verdict.at_least(three, Estimate(2.5, 0.5, 9)) is None
    assert verdict.at_least(three, Estimate(2.0, None, 1)) is None
    assert verdict.at_most(three, by=2.0) is False
    assert verdict.within(three, 2.0, 4.0) is True
    assert verdict.within(three, 3.2, 4.0) is None
    assert verdict.within(three, 4.0, 5.0) is False
    assert verdict.within(three, 1.0, 2.0) is False


def test_the_worst_cell_decides_and_no_cell_leaves_it_open():
    assert verdict.every([True, True]) is True
    assert verdict.every([True, None]) is None
    assert verdict.every([None, False, True]) is False
    assert verdict.every([]) is None


def test_ratios_carry_both_intervals():
    ratio = verdict.over(Estimate(3.0, 0.3, 9), Estimate(2.0, 0.2, 9))
    assert ratio.mean == 1.5
    assert ratio.half_width == pytest.approx(1.5 * (0.1**2 + 0.1**2) ** 0.5)
    assert verdict.over(Estimate(3.0, None, 1), Estimate(2.0, 0.2, 9)).half_width is None
    with pytest.raises(ScenarioError, match="zero"):
        verdict.over(Estimate(3.0, 0.3, 9), Estimate(0.0, 0.1, 9))
    scaled = verdict.times(Estimate(3.0, 0.5, 9, 2.4, 3.5), -2.0)
    assert (scaled.half_width, scaled.low, scaled.high) == (1.0, -7.0, -4.8)


def test_nearly_equal_runs_have_an_interval_and_one_run_has_none():
    found = verdict.averaged([5.11] * 199 + [5.2])
    assert found.half_width is not None
    assert 0 < found.half_width < 0.01
    assert verdict.averaged([5.11]).half_width is None
    with pytest.raises(ScenarioError, match="more runs"):
        verdict.averaged([])


def test_no_claim_fails_in_short_runs():
    artefact = registry.chosen("ijscn2014", figures=[8])[0]
    outcome = Outcome(Rows(), {claim.key: Verdict(False, "found") for claim in artefact.claims})

    def words(duration_s: float) -> set[str]:
        result = Result(artefact, Effort(2, duration_s), {"papers": outcome})
        return {told.word for _, told in result.claims("papers")}

    assert words(400) == words(200) == {"does not hold"}
    assert words(199) == {"not decidable"}


PAGES = {
    ("cubic", "ARQ", 5): 9.8,
    ("cubic", "HARQ(10/12)", 5): 7.3,
    ("cubic", "HARQ(10/15)", 5): 6.2,
    ("cubic", "ARQ", 8): 4.8,
    ("cubic", "HARQ(10/12)", 8): 5.1,
    ("cubic", "HARQ(10/15)", 8): 5.9,
    ("hybla", "ARQ", 5): 5.4,
    ("hybla", "HARQ(10/12)", 5): 5.3,
    ("hybla", "HARQ(10/15)", 5): 5.8,
    ("hybla", "ARQ", 8): 4.0,
    ("hybla", "HARQ(10/12)", 8): 4.6,
    ("hybla", "HARQ(10/15)", 8): 5.5,
}
OF_PAGES = ("transport", "scheme", "esn0_db")


def test_claims_on_pages_follow_the_means():
    def holds(**changed: float) -> dict[str, bool | None]:
        table = PAGES | {("cubic", "ARQ", int(key[1:])): value for key, value in changed.items()}
        found = kuhn_internet.page_claims(rows("completion_s", OF_PAGES, table))
        return {key: told.holds for key, told in found.items()}

    assert holds() == {"harq": True, "arq": True, "all": True}
    assert holds(_5=7.0) == {"harq": False, "arq": True, "all": True}
    assert holds(_5=6.0) == {"harq": False, "arq": True, "all": False}
    assert holds(_8=5.1) == {"harq": True, "arq": None, "all": True}


def test_claims_on_bulk_data_follow_the_means():
    table = {
        (tcp, scheme, level): rate
        for tcp in ("cubic", "newreno", "hybla")
        for level in (5, 6, 7, 8)
        for scheme, rate in (("ARQ", 258.0 if level > 6 else 100.0), ("HARQ(10/12)", 215.0))
    }
    names = OF_PAGES
    found = kuhn_internet.bulk_claims(rows("ip_throughput_kbps", names, table))
    assert {key: told.holds for key, told in found.items()} == {
        "harq": True,
        "arq": True,
        "hybla": False,
    }
    table["newreno", "ARQ", 5] = 215.0
    table |= {("hybla", "ARQ", level): 255.0 for level in (5, 6, 7, 8)}
    table["cubic", "ARQ", 8] = 200.0
    found = kuhn_internet.bulk_claims(rows("ip_throughput_kbps", names, table))
    assert [found[key].holds for key in ("harq", "arq", "hybla")] == [None, False, True]


def test_claims_on_interleaving_follow_the_means():
    def found(at_12: float, at_10: float, hybla: float) -> list[bool | None]:
        table = {}
        for level in range(5, 13):
            for scheme in ("ARQ", "HARQ(10/12)"):
                table["cubic", scheme, level, 0] = {12: at_12, 10: at_10, 8: 215.0}.get(level, 50.0)
                table["hybla", scheme, level, 0] = hybla
                if level <= 8:
                    table["cubic", scheme, level, 36] = 258.0 if scheme == "ARQ" else 215.0
                    table["hybla", scheme, level, 36] = 250.0
        told = kuhn_internet.interleaving_claims(
            rows("ip_throughput_kbps", (*OF_PAGES, "interleaving_ms"), table)
        )
        return [told[key].holds for key in ("four", "two", "hybla")]

    assert found(258.0, 150.0, 250.0) == [True, True, True]
    assert found(258.0, 257.0, 200.0) == [False, True, False]


def test_claims_on_capacity_follow_the_means():
    share = {"hybla": 0.95, "cubic": 0.93, "westwood": 0.92, "newreno": 0.3, "compound": 0.35}
    schemes = {"ARQ": 1.0, "HARQ(10/12)": 10 / 12, "HARQ(10/15)": 10 / 15}

    def holds(**changed: float) -> list[bool | None]:
        table = {
            (tcp, scheme): 2.3 * part * rate
            for tcp, part in (share | changed).items()
            for scheme, rate in schemes.items()
        }
        made = rows("throughput_mbps", ("transport", "scheme"), table, 0.001)
        found = kuhn_distribution.capacity_claims(made, 2.3)
        return [found[key].holds for key in ("capacity", "rate", "below", "arq")]

    assert holds() == [True, True, True, True]
    assert holds(westwood=0.8) == [False, True, True, True]
    assert holds(compound=0.94) == [True, True, False, True]


def test_claims_on_the_distribution_tables_follow_the_means():
    table = {("ARQ",): 0.0222, ("HARQ(10/12)",): 0.0077, ("HARQ(10/15)",): 0.0014}
    made = rows("retransmitted_share", ("scheme",), table, 0.001)
    assert kuhn_distribution.fewer(made)["fewer"].holds is True
    table["HARQ(10/12)",] = 0.0220
    made = rows("retransmitted_share", ("scheme",), table, 0.001)
    assert kuhn_distribution.fewer(made)["fewer"].holds is None

    def delays(hybla: float, low: float) -> list[bool | None]:
        table = {
            ("hybla", "ARQ"): hybla,
            ("hybla", "HARQ(10/15)"): 16.0,
            ("cubic", "ARQ"): 4.5,
            ("cubic", "HARQ(10/15)"): 5.2,
        }
        made = rows("delay_p99_s", ("transport", "scheme"), table)
        where = {"transport": "hybla", "scheme": "ARQ"}
        made.append(Row(where, "cwnd_p5_packets", Estimate(low, 5.0, 9)))
        made.append(Row(where, "cwnd_p95_packets", Estimate(750.0, 5.0, 9)))
        found = kuhn_distribution.delay_claims(made)
        return [found[key].holds for key in ("longer", "hybla", "window")]

    assert delays(10.6, 200.0) == [True, True, True]
    assert delays(4.0, 400.0) == [True, False, False]
    assert delays(17.0, 152.0) == [False, True, None]


def test_claims_on_error_rates_follow_the_means():
    def holds(factor: float, up: float) -> list[bool | None]:
        table = {(kuhn_erasures.UP, 14): up}
        for scenario, times in ((kuhn_erasures.INTERLEAVED, 1.0), (kuhn_erasures.PLAIN, factor)):
            table |= {(scenario, level): 0.02 * times for level in range(5, 13)}
        made = rows("erasure_rate", ("scenario", "esn0_db"), table, 1e-4)
        found = kuhn_erasures.claims(made)
        return [found[key].holds for key in ("interleaving", "distribution", "interleaved")]

    assert holds(2.0, 0.005) == [True, True, True]
    assert holds(0.5, 0.05) == [False, False, True]


def test_claims_on_the_model_follow_the_means():
    def holds(arq: float, slow: float) -> list[bool | None]:
        table = {("ARQ", 0.01): arq, ("HARQ(38/51)", 0.01): 0.745}
        table |= {("ARQ", 0.2): 0.8, ("HARQ(38/51)", 0.2): 0.65}
        made = rows("efficiency", ("scheme", "p"), table, 0.001)
        made += rows(
            "recovery_delay_ms", ("scheme", "p"), {("ARQ", 0.2): 890, ("HARQ(38/51)", 0.2): slow}
        )
        found = kuhn_model.claims(made)
        return [found[key].holds for key in ("rare", "frequent")]

    assert holds(0.99, 760) == [True, True]
    assert holds(0.7, 890.005) == [False, None]


def test_claims_on_the_limited_window_follow_the_means():
    schemes = ("ARQ", "HARQ(10/12)", "HARQ(10/15)")

    def made(goodput: tuple[float, ...]) -> Rows:
        lines = {
            "goodput_kbps": goodput,
            "bandwidth_used_percent": (13, 17, 23),
            "transport_retx1_percent": (1.5, 0.6, 1.5),
        }
        return Rows(
            row
            for metric, values in lines.items()
            for row in rows(
                metric, ("scheme",), dict(zip([(s,) for s in schemes], values, strict=True))
            )
        )

    found = limited_window.claims(made((305, 351, 390)))
    assert [found[key].holds for key in ("goodput", "bandwidth", "spurious")] == [True, True, None]
    assert limited_window.claims(made((351, 305, 390)))["goodput"].holds is False
    cuts = rows(
        "window_reductions", ("scheme",), dict(zip([(s,) for s in schemes], (9, 5, 7), strict=True))
    )
    assert limited_window.reductions(cuts)["reductions"].holds is False


def test_claims_on_the_buffer_follow_the_means():
    def table(goodput: float, rto: float) -> Rows:
        keys = [(tcp, level) for tcp in ("newreno", "cubic") for level in (7, 13)]
        made = rows(
            "goodput_kbps",
            ("transport", "snr_db"),
            {key: goodput * (1 + (key[0] == "cubic")) for key in keys},
        )
        return Rows(made + rows("rto_percent", ("transport", "snr_db"), dict.fromkeys(keys, rto)))

    found = leo_artefacts.buffer_claims(table(2000, 0.5), table(500, 0.1))
    assert [told.holds for told in found.values()] == [True, True, True, True]
    found = leo_artefacts.buffer_claims(table(1000, 0.1), table(500, 0.1))
    assert [told.holds for told in found.values()] == [True, False, None, True]
    found = leo_artefacts.buffer_claims(table(400, 0.05), table(500, 0.1))
    assert found["goodput"].holds is False
    assert found["rto"].holds is False


def test_claims_on_delayed_ack_load_and_cubic_follow_the_means():
    def delayed(on: float) -> list[bool | None]:
        names = ("transport", "buffer", "delayed_ack", "snr_db")
        table = {
            (tcp, buffer, state, 13): on if state == "on" else 500.0
            for tcp in ("newreno", "cubic")
            for buffer in ("none", "125 packets")
            for state in ("on", "off")
        }
        found = leo_artefacts.delayed_claims(rows("goodput_kbps", names, table))
        return [found[key].holds for key in ("with", "without")]

    assert delayed(450) == [True, False]
    assert delayed(550) == [False, True]
    assert delayed(500) == [None, None]

    def load(mean: float, most: float) -> list[bool | None]:
        made = rows("load_mbps", ("buffer",), {("125 packets",): mean})
        made += rows("load_most_mbps", ("buffer",), {("125 packets",): most})
        return [told.holds for told in leo_artefacts.load_claims(made).values()]

    assert load(7.8, 50) == [True, True]
    assert load(3.4, 20) == [False, False]

    def cubic(dupack: float) -> list[bool | None]:
        made = Rows()
        for metric, other in (
            ("dupack_percent", dupack),
            ("rto_percent", 2.0),
            ("spurious_percent", 0.5),
        ):
            made += rows(
                metric, ("buffer", "snr_db"), {("none", 13): 1.0, ("125 packets", 13): other}
            )
        return [told.holds for told in leo_artefacts.cubic_claims(made).values()]

    assert cubic(0.3) == [True, True, False]
    assert cubic(0.8) == [False, True, False]


# --- the gates ---


def test_gates_count_cells_and_shape_without_fitted_cells():
    artefact = registry.chosen("ijscn2014", tables=[3])[0]

    def row(scheme: str, level: int, mean: float, printed: float, fitted: bool = False) -> Row:
        labels = {"transport": "cubic", "scheme": scheme, "esn0_db": level}
        return Row(labels, "completion_s", Estimate(mean, 0.1, 9), printed, fitted)

    good = [row("ARQ", 5, 10.0, 10.0), row("ARQ", 6, 8.0, 8.0), row("HARQ(10/12)", 5, 7.0, 7.0)]
    found = gate(artefact, Rows(good))
    assert [(count.close, count.of) for count in found.counts] == [(3, 3), (1, 1), (1, 1)]
    assert found.passes is True
    # One far off: 2 of 3 cells, and no ratio right.
    bad = [row("ARQ", 5, 15.0, 10.0), *good[1:]]
    found = gate(artefact, Rows(bad))
    assert [(count.close, count.of) for count in found.counts] == [(2, 3), (0, 1), (0, 1)]
    assert found.passes is False
    # Where all cells were used in a fit nothing counts.
    found = gate(artefact, Rows([row("ARQ", 5, 15.0, 10.0, fitted=True)]))
    assert found.passes is None
    assert found.left_out == 1
    # What is printed as zero has no ratio.
    assert gate(artefact, Rows([row("ARQ", 5, 1.0, 0.0)])).counts[0].of == 0
    # Figures 5 and 6 of Kuhn 2014 are compared with closed forms, not with ns-2.
    model = Row({"scheme": "ARQ", "p": 0.1}, "efficiency", Estimate(0.9, 0.1, 9), beside=0.9)
    artefact = registry.chosen("ijscn2014", figures=[5])[0]
    assert gate(artefact, Rows([model])).against == "the closed form"


def test_success_rates_are_compared_by_their_failures():
    row = Row({}, "success_percent", Estimate(98.0, 0.1, 9), 99.0)
    assert row.ratio == pytest.approx(2.0)


# --- every artefact, very short ---

SHORT = {
    "ijscn2014": Effort(2, 10),
    "clift2013": Effort(2, 10),
    "clift2014": Effort(2, 10),
    "wiopt2003": Effort(2, 5),
    "tauran2017": Effort(1, 3),
}
# Two million slots a scheme and point; a page has its time; a channel takes longer than a run.
OWN = {"figure 5": Effort(1, 250), "figure 6": Effort(2, 250), "table 3": Effort(4, 400)}
OWN["figure 7"] = Effort(1, 1)


def short(artefact: Artefact) -> Effort:
    if artefact.paper == "ijscn2014" and artefact.name in OWN:
        return OWN[artefact.name]
    if (artefact.paper, artefact.name) == ("clift2014", "table 2"):
        return OWN["table 3"]
    return SHORT[artefact.paper]


@pytest.fixture(scope="module")
def few_levels():
    """The channels that take longest at few levels: two of tauran2017, one of those of figure 7."""
    one = {
        name: (kuhn_erasures.SCENARIOS[name][0], None, range(14, 15))
        for name in (kuhn_erasures.UP, kuhn_erasures.DOWN)
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(registry.parameters("tauran2017")["scenario"], "snr_db", [7, 13])
        patch.setattr(kuhn_erasures, "SCENARIOS", kuhn_erasures.SCENARIOS | one)
        yield
    leo_artefacts._cells.cache_clear()


@pytest.mark.parametrize(
    "artefact", registry.chosen("all"), ids=lambda one: f"{one.paper}-{one.name}"
)
@pytest.mark.usefixtures("few_levels")
def test_an_artefact_gives_its_rows_claims_text_and_picture(artefact):
    profiles = ["papers"] if artefact.paper == "tauran2017" else ["papers", "linux"]
    result = registry.run(artefact, short(artefact), profiles)
    assert set(result.outcomes) == set(artefact.profiles) & set(profiles)
    for profile, outcome in result.outcomes.items():
        assert outcome.rows
        assert set(outcome.claims) == {claim.key for claim in artefact.claims}
        assert all(told.found for _, told in result.claims(profile))
        keys = [(row.metric, *row.labels.values()) for row in outcome.rows]
        assert len(set(keys)) == len(keys)
        assert all(artefact.x in row.labels for row in outcome.rows)
        assert all(name in row.labels for row in outcome.rows for name in artefact.lines)
    printed = registry.described(artefact.paper, artefact.name).get("rows", [])
    numbers = sum(isinstance(value, int | float) for line in printed for value in line)
    if artefact.kind == "table" and printed:
        assert sum(row.printed is not None for row in outcome.rows) >= numbers
    said = paper_text(result)
    assert artefact.title in " ".join(said.split())
    assert max(map(len, said.splitlines())) <= 100
    held = sum(row.ratio is not None for row in result.outcomes["papers"].rows)
    assert paper_pages.markdown(result).count("\n|") >= held + len(artefact.claims)
    assert json.loads(json.dumps(paper_json(result)))["artefact"] == artefact.name
    assert paper_plot(result).axes


def test_the_same_run_gives_the_same_numbers():
    table = registry.chosen("clift2013", tables=[1])[0]
    first = paper_json(registry.run(table, Effort(2, 20), ["papers"]))
    limited_window._runs.cache_clear()
    limited_window._links.cache_clear()
    assert paper_json(registry.run(table, Effort(2, 20), ["papers"])) == first
    other = paper_json(registry.run(table, Effort(2, 20, seed=7), ["papers"]))
    assert other["profiles"] != first["profiles"]


def test_tables_have_the_ratio_to_the_print_and_mark_fitted_cells():
    artefact = registry.chosen("ijscn2014", tables=[1])[0]
    labels = {"scheme": "ARQ"}
    fitted = Row(labels, "retransmitted_share", Estimate(0.0111, 0.001, 6), 0.0222, fitted=True)
    outcome = Outcome(Rows([fitted]), {"fewer": Verdict(None, "open")})
    result = Result(artefact, Effort(6, 400), {"papers": outcome})
    assert fitted.ratio == pytest.approx(0.5)
    assert "0.0222*" in paper_text(result)
    # Profiles are named where there are two.
    assert re.search(r"printed +measured +ratio", paper_text(result))
    both = Result(artefact, Effort(6, 400), {"papers": outcome, "linux": outcome})
    assert re.search(r"printed +ns-2's TCP +ratio +kernel's TCP +ratio", paper_text(both))
    assert paper_json(result)["profiles"]["papers"]["gate"]["counts"][0]["of"] == 0
    # A claim without a verdict is a mistake of ours, not silence.
    broken = replace(artefact, claims=(Claim("other", "says", "where"),))
    with pytest.raises(KeyError):
        Result(broken, Effort(6, 400), {"papers": outcome}).claims("papers")


def test_every_artefact_has_its_place_in_the_pages(monkeypatch: pytest.MonkeyPatch, capsys):
    monkeypatch.setattr(sys, "argv", ["paper_pages.py", "--check"])
    assert paper_pages.main() == 0, capsys.readouterr().err


# --- the commands ---


def test_the_list_of_papers_is_unchanged(capsys):
    assert run(["paper", "list", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found) == ["papers"]
    assert all(set(paper) == {"name", "artefacts"} for paper in found["papers"])
    assert sum(len(paper["artefacts"]) for paper in found["papers"]) == 26
    assert run(["paper", "list"]) == 0
    assert "figure 11" in capsys.readouterr().out


def test_show_lists_printed_values_and_claims(capsys):
    assert run(["paper", "show", "leo2014"]) == 0
    said = capsys.readouterr().out
    assert "tauran2017" in said
    assert "7.8 Mbit/s" in said
    assert "--table 2" in said
    assert run(["paper", "show", "ijscn2014", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    table = next(one for one in found["artefacts"] if one["name"] == "table 3")
    assert table["printed"][0] == ["newreno", "ARQ", 12.1, 8.1, 5.6, 5.0]


def test_run_writes_text_json_and_picture(tmp_path: Path, capsys):
    arguments = ["paper", "run", "clift2013", "--figure", "5", "--runs", "2", "--duration", "20 s"]
    assert run([*arguments, "--profile", "papers", "-o", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "window_reductions" in said
    folder = tmp_path / "clift2013"
    assert sorted(path.name for path in folder.iterdir()) == [
        "figure-5.json",
        "figure-5.png",
        "figure-5.txt",
    ]
    assert (folder / "figure-5.txt").read_text() in said
    assert json.loads((folder / "figure-5.json").read_text())["runs"] == 2
    assert (folder / "figure-5.png").read_bytes().startswith(b"\x89PNG")
    assert run([*arguments, "--profile", "papers", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["artefacts"]
    assert [one["artefact"] for one in found] == ["figure 5"]
    assert found[0] == json.loads((folder / "figure-5.json").read_text())


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "nobody1999"],
        ["run", "wiopt2003", "--table", "1"],
        ["run", "clift2014", "--figure", "5"],
        ["run", "all", "--figure", "5"],
        ["run", "ijscn2014", "--table", "3", "--runs", "0"],
        ["run", "ijscn2014", "--table", "x"],
        ["run", "ijscn2014", "--duration", "-1 s"],
        ["run", "ijscn2014", "--profile", "windows"],
        [
            "run",
            "clift2013",
            "--figure",
            "5",
            "--runs",
            "1",
            "--duration",
            "2",
            "-o",
            "/dev/null/x",
        ],
        ["show", "nobody1999"],
        ["show"],
    ],
)
def test_bad_input_gives_one_line(arguments, capsys):
    assert run(["paper", *arguments]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


def test_claims_are_run_until_they_are_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    artefact = registry.chosen("ijscn2014", figures=[8])[0]
    asked = []

    def measure(much: Effort, _profile: str) -> Outcome:
        asked.append(much.runs)
        holds = True if much.runs >= 20 else None
        return Outcome(Rows(), {claim.key: Verdict(holds, "") for claim in artefact.claims})

    monkeypatch.setattr(Artefact, "function", lambda _: measure)
    much = Effort(6, artefact.paper_s)
    result = registry.run(artefact, much, ["linux"], until=100)
    assert (asked, result.effort.runs, result.is_open) == ([6, 12, 24], 24, False)
    asked.clear()
    assert registry.run(artefact, much, ["linux"], until=15).is_open
    assert asked == [6, 12, 15]
    asked.clear()
    assert registry.run(artefact, much, ["linux"]).is_open
    assert asked == [6]


def test_a_picture_of_one_artefact_and_the_older_name_of_a_study(tmp_path: Path) -> None:
    picture = tmp_path / "figure5.png"
    words = ["--runs", "1", "--duration", "5", "-o", str(picture)]
    assert run(["paper", "clift2013", "--figure", "5", *words]) == 0
    assert picture.read_bytes()[1:4] == b"PNG"
    assert run(["paper", "clift2013", *words]) == 2
    changed = tmp_path / "changed.png"
    assert run(["paper", "ijscn2014", "--what-changed", "--runs", "1", "-o", str(changed)]) == 0
    assert changed.read_bytes()[1:4] == b"PNG"
