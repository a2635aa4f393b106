"""The explorer: one page that runs CLIFT, what it shows, and who can use it by what means."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import CONTRAST, Opened
from command import clift as clift_command
from test_wasm import MODULE, is_current

import clift

ROOT = Path(__file__).parents[1]
START = json.loads(MODULE.with_name("start.json").read_text())
STOPS = json.loads(MODULE.with_name("stops.json").read_text())

pytestmark = pytest.mark.skipif(
    not is_current(), reason="clift.wasm is not built or is old: make wasm"
)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page, as the command saves it."""
    made = tmp_path_factory.mktemp("page") / "explorer.html"
    assert clift_command("explore", "--save", made).returncode == 0
    return made


@pytest.fixture
def opened(browser: Any, path: Path) -> Iterator[Opened]:
    found = Opened(browser, path)
    settled(found)
    yield found
    found.page.close()


def settled(opened: Opened) -> None:
    """Waits for the whole runs of both settings."""
    opened.page.wait_for_selector('html[data-done="true"]', timeout=300_000)


def choose(opened: Opened, id_: str, value: str) -> None:
    opened.page.locator(f"#{id_}").select_option(label=value)
    settled(opened)


def goodput(text: str) -> float:
    """The goodput of a scenario, by the native core."""
    run = clift.run_many([clift.Scenario.parse(text)], progress=False)[0]
    return float(run.summary()["goodput_kbps"])


def shown(opened: Opened, row: str) -> list[float]:
    cells = opened.page.locator("#results-body tr", has_text=row).locator("td")
    return [float(text.rstrip(" %")) for text in cells.all_text_contents()]


def texts(opened: Opened) -> list[str]:
    return [opened.page.locator(f"#text-{side}").input_value() for side in "AB"]


# --- without a browser ---


def test_the_page_may_run_its_own_scripts_and_its_module_and_nothing_else(path: Path) -> None:
    text = path.read_text()
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    rules = dict(rule.split(" ", 1) for rule in policy[1].split("; "))
    assert rules["default-src"] == "'none'"
    assert rules["worker-src"] == "blob:"
    assert "'wasm-unsafe-eval'" in rules["script-src"]
    assert not re.search("'unsafe-|https?:", policy[1])
    assert not re.search(r'\s(src|href)="(?!#|data:,)', text.split("<script")[0])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["missing.toml"], "missing.toml"),
        (["{wrong}"], "link.rat: unknown key"),
        (["--save", "{mine}"], "--force"),
    ],
)
def test_bad_input_gives_one_line(words: list[str], said: str, tmp_path: Path) -> None:
    wrong, mine = tmp_path / "wrong.toml", tmp_path / "mine.html"
    wrong.write_text('[link]\nrat = "5 ms"\n')
    mine.write_text("<p>mine</p>")
    filled = [word.format(wrong=wrong, mine=mine) for word in words]
    done = clift_command("explore", *filled)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert said in done.stderr
    assert mine.read_text() == "<p>mine</p>"


# --- in a browser ---


def test_every_stop_is_a_state_of_the_page_with_the_numbers_of_the_native_core(
    opened: Opened,
) -> None:
    page = opened.page
    links = page.locator("#stops a")
    assert links.count() == len(STOPS) == 5
    for number, stop in enumerate(STOPS):
        links.nth(number).click()
        settled(opened)
        assert page.locator("#stop h3").text_content() == f"{number + 1}. {stop['title']}"
        expected = [goodput(text) for text in texts(opened)]
        assert shown(opened, "Goodput") == [float(f"{value:.4g}") for value in expected]
        for text, side in zip(texts(opened), "AB", strict=True):
            given = clift.Scenario.parse(text).explain()
            for key, value in (START | stop[side]).items():
                assert given[key][1] != "default", (key, value)
    assert opened.is_quiet()


def claims() -> dict[str, float]:
    """The goodput of both settings of each stop."""
    found = {}
    for number, stop in enumerate(STOPS):
        for side in "AB":
            tree: dict[str, Any] = {}
            for key, value in (START | stop[side]).items():
                *sections, name = key.split(".")
                here = tree
                for section in sections:
                    here = here.setdefault(section, {})
                here[name] = value
            [run] = clift.run_many([clift.Scenario(tree)], progress=False)
            found[f"{number + 1}{side}"] = float(run.summary()["goodput_kbps"])
    return found


def test_the_guide_says_what_the_runs_give() -> None:
    found = claims()
    assert found["1A"] < found["1B"]
    assert found["2B"] > 10 * found["2A"]
    assert found["3B"] > 3 * found["3A"]
    assert 2 < found["4B"] / found["4A"] < 2.5
    assert found["5B"] > 2 * found["5A"]


def test_a_change_reruns_and_the_link_brings_the_state_back(
    opened: Opened, browser: Any, path: Path
) -> None:
    page = opened.page
    page.locator("#A-erasures").focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    choose(opened, "B-scheme", "HARQ")
    page.locator("#B-data").focus()
    page.keyboard.press("ArrowLeft")
    choose(opened, "B-application", "file of 100 kB")
    page.wait_for_timeout(200)  # the address follows once a slider rests
    settled(opened)
    first = texts(opened)
    assert 'scheme = "HARQ(9/11)"' in first[1]
    assert 'size = "100 kB"' in first[1]
    assert shown(opened, "Goodput") == [float(f"{goodput(text):.4g}") for text in first]
    again = Opened(browser, path, fragment="#" + page.url.partition("#")[2])
    settled(again)
    assert texts(again) == first
    assert again.page.locator("#told").text_content() == page.locator("#told").text_content()
    assert again.page.locator("#B-extra").is_disabled() is False
    assert again.page.locator("#A-extra").is_disabled()
    assert opened.is_quiet()
    assert again.is_quiet()
    again.page.close()


def test_a_text_can_be_changed_and_a_fault_is_said(opened: Opened) -> None:
    page = opened.page
    text = page.locator("#text-A")
    text.fill('[link]\nrat = "5 ms"\n')
    text.blur()
    page.locator("#state-A", has_text=re.compile("^A: line 2: link.rat: unknown key")).wait_for()
    text.fill('duration = "20 s"\n[channel]\nmodel = "lms"\npreset = "internet"\nesn0 = "6 dB"\n')
    text.blur()
    page.locator("#state-A", has_text="whole run").wait_for()
    settled(opened)
    assert page.locator("#row-esn0").is_visible()
    assert shown(opened, "Goodput")[0] == float(f"{goodput(texts(opened)[0]):.4g}")
    assert opened.is_quiet()


NETWORK = """
duration = "10 s"
transport.congestion = "newreno"
[network.links.sky]
from = "gateway"
to = "terminal"
leg = { rate = "5 Mbit/s", delay = "100 ms", queue = "50 packets" }
return.leg = { rate = "1 Mbit/s", delay = "100 ms" }
[[flow]]
from = "gateway"
to = "terminal"
application = { type = "constant rate", rate = "3 Mbit/s" }
[[flow]]
from = "gateway"
to = "terminal"
"""
HYBRID = """
duration = "10 s"
link.queue = "50 packets"
hybrid = { k = 10, frames = 6, unit = "25 B", rate = "1 Mbit/s", delay = "100 ms", loss = "1 %" }
"""
DATAGRAMS = """
duration = "10 s"
channel = { model = "bernoulli", rate = "1 Mbit/s", erasures = "1 %" }
transport.protocol = "udp"
[application]
type = "constant rate"
rate = "500 kbit/s"
deadline = "150 ms"
"""
OF_LINKS = {"rtt", "scheme", "data", "repair", "extra", "live"}


@pytest.mark.parametrize(
    ("scenario", "missing"),
    [
        (NETWORK, OF_LINKS | {"queue"}),
        (HYBRID, OF_LINKS),
        (DATAGRAMS, {"profile", "congestion", "cwnd_max"}),
    ],
)
def test_controls_that_a_scenario_has_no_use_for_are_hidden(
    scenario: str, missing: set[str], opened: Opened
) -> None:
    write(opened, scenario)
    rows = opened.page.locator("#controls .row[id]")
    seen = {row.get_attribute("id") for row in rows.all() if row.is_visible()}
    of_links = OF_LINKS | {"queue", "profile", "congestion", "cwnd_max", "application", "duration"}
    assert {one for one in of_links if f"row-{one}" not in seen} == missing


def write(opened: Opened, scenario: str) -> None:
    """Gives both settings the text of a scenario."""
    name = f"written{len(scenario)}"
    text = opened.page.locator("#text-A")
    text.fill(f'name = "{name}"\n{scenario}')
    text.blur()
    opened.page.wait_for_url(lambda url: name in url)
    opened.page.locator("#same").click()
    settled(opened)


def test_a_change_reaches_the_flows_that_have_no_value_of_their_own(opened: Opened) -> None:
    write(opened, NETWORK)
    before = shown(opened, "Goodput")
    choose(opened, "A-congestion", "bbr")
    opened.page.wait_for_timeout(200)
    settled(opened)
    text = texts(opened)[0]
    assert 'congestion = "bbr"' in text
    assert "newreno" not in text
    assert shown(opened, "Goodput")[0] == float(f"{goodput(text):.4g}") != before[0]
    # The first flow keeps its application, and the second takes that of the scenario.
    choose(opened, "A-application", "file of 30 kB")
    opened.page.wait_for_timeout(200)
    settled(opened)
    flows = clift.Scenario.parse(texts(opened)[0]).explain()
    assert [flows[f"flow.{at}.application.type"][0] for at in range(2)] == ["constant rate", "file"]


def test_an_application_replaces_another_with_its_keys(opened: Opened) -> None:
    write(opened, DATAGRAMS)
    choose(opened, "A-application", "file of 30 kB")
    opened.page.locator("#state-A", has_text="whole run").wait_for()
    opened.page.wait_for_timeout(200)
    settled(opened)
    assert "deadline" not in texts(opened)[0]
    assert opened.is_quiet()


def test_a_profile_offers_its_congestion_controls_at_once(opened: Opened) -> None:
    option = opened.page.locator("#B-congestion option", has_text=re.compile("^bbr$"))
    choose(opened, "B-profile", "papers")
    assert option.is_disabled()
    choose(opened, "B-profile", "linux")
    assert option.is_enabled()


@pytest.mark.parametrize(
    ("lines", "what"),
    [
        ('[vary]\ntransport.protocol = ["tcp", "quic"]', "QUIC"),
        ('trace.file = "x.parquet"', "Parquet"),
        ('# protocol = "quic"\nname = "quic"', None),
    ],
)
def test_what_the_page_lacks_is_said_before_it_is_written(
    lines: str, what: str | None, tmp_path: Path
) -> None:
    phy = clift.channel.bernoulli(slots=2000, slot_ns=1_000_000, p=0.01, seed=1, lldu_bytes=1500)
    phy.write(tmp_path / "x.parquet")
    channel = (
        "" if what == "Parquet" else '[channel]\nmodel = "bernoulli"\nslot = "1 ms"\nerasures = 0'
    )
    (tmp_path / "x.toml").write_text(f"{lines}\n{channel}")
    done = clift_command("explore", tmp_path / "x.toml", "--save", tmp_path / "x.html")
    if what is None:
        assert done.returncode == 0
        return
    assert done.returncode == 2
    assert done.stderr == f"error: {tmp_path / 'x.toml'}: the page has no {what}; use clift run\n"
    assert not (tmp_path / "x.html").exists()


def test_a_study_and_a_trace_of_ones_own_are_used(
    browser: Any, tmp_path: Path, opened: Opened
) -> None:
    study = ROOT / "examples" / "demo.toml"
    made = tmp_path / "study.html"
    assert clift_command("explore", study, "--save", made).returncode == 0
    other = Opened(browser, made)
    settled(other)
    names = other.page.locator("#study select").first.locator("option").all_text_contents()
    assert names[1] == "profile papers, scheme HARQ(10/12)"
    # The study gives the duration of a slot, not the rate.
    assert other.page.locator("#A-rate").get_attribute("aria-valuetext") == "slot 1.003802 ms"
    cells = clift.Scenario.read(study).cells()[:2]
    runs = clift.run_many([cell.replications()[0] for cell in cells], progress=False)
    expected = [float(f"{run.summary()['goodput_kbps']:.4g}") for run in runs]
    assert shown(other, "Goodput") == expected
    assert other.is_quiet()
    other.page.close()

    trace = tmp_path / "mine.csv"
    clift.channel.bernoulli(slots=20_000, slot_ns=1_000_000, p=0.01, seed=1, lldu_bytes=33).write(
        trace
    )
    opened.page.locator("#file").set_input_files(trace)
    # Until the file is read, the page shows the runs before it.
    opened.page.wait_for_url(lambda url: "mine.csv" in url)
    settled(opened)
    [text, _] = texts(opened)
    assert 'file = "mine.csv"' in text
    (tmp_path / "mine.toml").write_text(text)
    [run] = clift.run_many([clift.Scenario.read(tmp_path / "mine.toml")], progress=False)
    native = float(f"{run.summary()['goodput_kbps']:.4g}")
    assert shown(opened, "Goodput")[0] == native
    assert opened.is_quiet()
    # A page of that scenario has its trace; without it, the trace is dropped under its own name.
    for there in (True, False):
        if not there:
            (tmp_path / "moved").mkdir()
            trace = trace.rename(tmp_path / "moved" / "mine.csv")
        assert clift_command("explore", tmp_path / "mine.toml", "--save", made).returncode == 0
        again = Opened(browser, made)
        if not there:
            again.page.locator("#state-A", has_text="mine.csv: cannot be opened").wait_for()
            again.page.locator("#file").set_input_files(trace)
        again.page.locator("#state-A", has_text="whole run").wait_for()
        settled(again)
        assert shown(again, "Goodput")[0] == native
        assert again.is_quiet()
        again.page.close()


def test_the_budget_and_an_instant_are_those_of_why(
    opened: Opened, browser: Any, path: Path
) -> None:
    page = opened.page
    page.locator("#stops a").nth(2).click()
    settled(opened)
    place = page.evaluate("figures[0].chart.valToPos(60, 'x')")
    page.locator("#figure-goodput .u-over").click(position={"x": place, "y": 40})
    page.wait_for_url(lambda url: "at=" in url)
    settled(opened)
    at = float(page.url.partition("at=")[2].partition("&")[0])
    assert at == pytest.approx(60, abs=0.5)
    runs = [clift.simulate(clift.Scenario.parse(text)) for text in texts(opened)]
    found = [run.why(at=at) for run in runs]
    rows = {
        row.locator("th").text_content(): row.locator("td").all_text_contents()
        for row in page.locator("#budget-body tr").all()
    }
    for side, one in enumerate(found):
        known = {part["title"]: part["kbps"] for part in one["budget"]}
        known |= {"goodput": one["goodput_kbps"], "capacity": one["capacity_kbps"]}
        assert known.keys() <= rows.keys()
        for title, texts_ in rows.items():
            assert float(texts_[2 * side]) == float(f"{known.get(str(title), 0):.4g}")
    [first, second] = page.locator("#moment > div").all_text_contents()
    assert found[0]["moment"]["senders"][0]["cause"] == "false_loss"
    for event in found[0]["moment"]["senders"][0]["cut"]["events"]:
        assert event["text"] in first
    assert found[1]["moment"]["senders"][0]["title"] in second
    # The address keeps the instant, and the keyboard chooses another.
    again = Opened(browser, path, fragment="#" + page.url.partition("#")[2])
    settled(again)
    assert again.page.locator("#moment > div").all_text_contents() == [first, second]
    again.page.locator("#figure-window .plot").focus()
    for key in ("Home", "ArrowRight", "Enter"):
        again.page.keyboard.press(key)
    again.page.locator("#moment h4", has_text=re.compile("^A at 2 s$")).wait_for()
    settled(again)
    assert opened.is_quiet()
    assert again.is_quiet()
    again.page.close()


def test_a_loss_on_a_live_link_is_drawn_with_its_units(opened: Opened) -> None:
    page = opened.page
    page.locator("#stops a").nth(1).click()
    settled(opened)
    for side, text in zip("AB", texts(opened), strict=True):
        run = clift.simulate(clift.Scenario.parse(text))
        sent = run.units().to_pydict()
        rows = zip(*(sent[name] for name in ("time_ns", "kind", "arrival_ns", "seq")), strict=True)
        # From a tenth of 200 s on.
        lost = ((at, seq) for at, kind, arrival, seq in rows if kind == 0 and arrival < 0)
        at, seq = next((at, seq) for at, seq in lost if at >= 20e9)
        summary = page.locator(f"#figure-units-{side}-summary")
        said = f"At {at / 1e9:.6g} s a unit of the segment at byte {seq} is erased."
        assert said in str(summary.text_content())
        again = page.locator(f"#figure-units-{side} .legend", has_text="retransmission")
        assert again.count() == (side == "B")
        legend = page.locator(f"#figure-segments-{side} .legend")
        assert "acknowledged" in str(legend.text_content())
    choose(opened, "B-live", "precomputed")
    assert "Only a live link" in str(page.locator("#figure-units-B-summary").text_content())
    assert not page.locator("#figure-units-B .plot").is_visible()
    assert not page.locator("#figure-segments-B").is_visible()
    assert opened.is_quiet()


def test_a_moving_slider_shows_the_beginning_and_then_the_whole(opened: Opened) -> None:
    page = opened.page
    # Long enough that the whole takes more than a redraw may take.
    choose(opened, "A-application", "endless transfer")
    page.locator("#A-duration").focus()
    page.keyboard.press("End")
    settled(opened)
    move = "one => { one.value = 3; one.dispatchEvent(new Event('input')); }"
    page.locator("#A-erasures").evaluate(move)
    page.locator("#state-A", has_text="the first").wait_for()
    settled(opened)
    page.locator("#state-A", has_text="the whole run").wait_for()
    assert shown(opened, "Goodput")[0] == float(f"{goodput(texts(opened)[0]):.4g}")
    assert opened.is_quiet()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone_and_texts_stand_out(scheme: str, browser: Any, path: Path) -> None:
    viewport = {"width": 360, "height": 700}
    opened = Opened(browser, path, color_scheme=scheme, viewport=viewport)
    settled(opened)
    assert opened.page.evaluate("document.documentElement.scrollWidth") == 360
    ratios = opened.page.evaluate(CONTRAST)
    assert len(ratios) > 15
    assert {name: ratio for name, ratio in ratios.items() if ratio < 4.5} == {}
    assert opened.is_quiet()
    opened.page.close()


def test_every_control_has_a_name_and_is_reached_with_the_keyboard(opened: Opened) -> None:
    page = opened.page
    fields = page.locator("#controls input, #controls select")
    names = fields.evaluate_all("all => all.map(one => one.getAttribute('aria-label'))")
    assert len(set(names)) == len(names) > 25
    assert all(name.endswith((", setting A", ", setting B")) for name in names)
    page.locator("#A-erasures").focus()
    page.keyboard.press("End")
    assert page.locator("#A-erasures").get_attribute("aria-valuetext") == "30 %"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "B-erasures"
    settled(opened)
    assert "A " in str(page.locator("#told[role=status]").text_content())


def test_a_panic_ends_one_thread_and_the_page_says_so(browser: Any, path: Path) -> None:
    broken = path.with_name("broken.html")
    # A module that fails at its first call: what the page does with it is what a panic leads to.
    text = path.read_text().replace("engine[name]() >>> 0", "engine.broken() >>> 0")
    broken.write_text(text)
    opened = Opened(browser, broken)
    # The page has the results of its first state, but not their causes.
    opened.page.locator("#moment", has_text="A: the simulator stopped: ").wait_for()
    opened.page.locator("#same").click()
    opened.page.locator("#state-A", has_text="the simulator stopped: ").wait_for()
    opened.page.close()
