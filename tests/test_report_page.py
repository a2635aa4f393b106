"""The page of a study: what stands in it, what it asks for, who can read it and by what means."""

import json
import re
import shutil
from base64 import b64encode
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from browser import CONTRAST, Opened
from test_wasm import MODULE, is_current

import clift
from clift.campaign.folder import with_sums
from clift.cli.main import run
from clift.report.page.study import read
from clift.report.paper import draw

HOSTILE = '</script><script>alert(1)</script><img src=x onerror="alert(2)">&amp;$x^$'
SCENARIO = f"""# Does <b>it</b> hold?
name = '{HOSTILE}'
duration = "20 s"
runs = 3
application = {{ type = "file", size = "50 kB" }}
channel = {{ model = "bernoulli", erasures = "2 %", rate = "263 kbit/s", decoding = "36 ms" }}
[vary]
channel.erasures = ["1 %", "5 %"]
scheme = ["none", "ARQ", "HARQ(10/12)"]
'{HOSTILE}'.'{HOSTILE}' = {{ transport.congestion = "newreno" }}
'{HOSTILE}'.plain = {{ transport.congestion = "cubic" }}
[[printed]]
metric = "completion_s"
value = 4.5
source = '{HOSTILE}'
where = {{ scheme = "ARQ", erasures = "1 %" }}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished study whose every name is hostile, with its page."""
    made = tmp_path_factory.mktemp("study")
    (made / "x.toml").write_text(SCENARIO)
    assert run(["run", str(made / "x.toml"), "-o", str(made), "--no-plots", "--quiet"]) == 0
    assert run(["report", str(made)]) == 0
    return made


@pytest.fixture
def copy(folder: Path, tmp_path: Path) -> Path:
    """The study in a folder that a test may spoil, without its page."""
    made = tmp_path / "copy"
    shutil.copytree(folder, made)
    (made / "report.html").unlink()
    return made


def changed(folder: Path, **values: Any) -> None:
    """Puts other values into the record; None takes a key out."""
    record = json.loads((folder / "record.json").read_text()) | values
    kept = {key: value for key, value in record.items() if value is not None}
    kept["files"] = [name for name in kept["files"] if (folder / name).exists()]
    (folder / "record.json").write_text(with_sums(kept, folder))


def refused(words: list[object], capsys: pytest.CaptureFixture[str]) -> str:
    """The one line with which a command ends."""
    capsys.readouterr()
    assert run([str(word) for word in words]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1), err[:2000]
    return err


# --- without a browser ---


def test_the_page_has_its_own_scripts_and_styles_and_no_others(folder: Path) -> None:
    text = (folder / "report.html").read_text()
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    assert policy[1].startswith("default-src 'none'; ")
    assert "unsafe" not in policy[1]
    for tag, count in (("style", 2), ("script", 2)):
        found = re.findall(rf"<{tag}>(.*?)</{tag}>", text, flags=re.DOTALL)
        assert len(found) == count
        for part in found:
            digest = b64encode(sha256(part.encode()).digest()).decode()
            assert f"'sha256-{digest}'" in policy[1]
    assert text.count("<script") == 3  # the data are the third
    assert not re.search(r'\s(src|href)="(?!#|data:,")', text)
    assert not re.search(r"<[^>]*\s(style|on\w+)=", text.split("<body>")[1].split("<script")[0])


def test_names_from_files_stay_text(folder: Path) -> None:
    text = (folder / "report.html").read_text()
    assert "<script>alert" not in text
    assert "<img" not in text
    assert "<b>it</b>" not in text
    assert "Does &lt;b&gt;it&lt;/b&gt; hold?" in text


def test_a_page_says_question_conclusion_setting_and_how_to_repeat_it(folder: Path) -> None:
    text = (folder / "report.html").read_text()
    record = json.loads((folder / "record.json").read_text())
    for heading in ("Question", "Conclusion", "Results", "Setting", "Reproduce"):
        assert f">{heading}</h2>" in text
    assert "$ clift run x.toml -o results/" in text
    assert f"CLIFT {record['clift']}" in text
    for key in record["in_effect"]:
        assert f"<td>{key}</td>" in text
    assert "none, ARQ, HARQ(10/12)" in text


def test_question_and_verdicts_of_a_page_agree_with_its_conclusion(tmp_path: Path) -> None:
    """Two axes are compared at once, and the runs are too few."""
    (tmp_path / "two.toml").write_text(
        'duration = "10 s"\nruns = 2\n[channel]\nmodel = "bernoulli"\nerasures = "2 %"\n'
        'rate = "263 kbit/s"\n[vary]\ntransport.congestion = ["cubic", "bbr"]\n'
        'scheme = ["ARQ", "HARQ(10/12)"]\n'
    )
    assert (
        run(["run", str(tmp_path / "two.toml"), "-o", str(tmp_path), "--no-plots", "--quiet"]) == 0
    )
    assert run(["report", str(tmp_path)]) == 0
    text = (tmp_path / "report.html").read_text()
    assert "Which congestion (cubic, bbr) with which scheme (ARQ, HARQ(10/12)) is best" in text
    assert json.loads((tmp_path / "record.json").read_text())["conclusion"].startswith("Too few")
    assert '"verdicts":[["everywhere","too few independent runs to tell' in text


def test_a_page_shows_the_basis_of_its_conclusion(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [*range(60), *range(100, 160)]
    (tmp_path / "log.csv").write_text("time_s,esn0_db\n" + "".join(f"{t},9.5\n" for t in rows))
    (tmp_path / "given.toml").write_text(
        'duration = "60 s"\nruns = 4\n[trace]\nfile = "log.csv"\ntime = "time_s:s"\n'
        'esn0 = "esn0_db:dB"\nsymbol_rate = "500 kBd"\n'
        '[link]\nrtt = "500 ms"\nstart = "random"\nwrap = true\n[vary]\nscheme = ["none", "ARQ"]\n'
    )
    folder = tmp_path / "results"
    command = ["run", str(tmp_path / "given.toml"), "-o", str(folder), "--no-plots"]
    assert run(command) == 0
    told = capsys.readouterr()
    assert run(["report", str(folder)]) == 0
    text = (folder / "report.html").read_text()
    part = text[text.index('<h2 id="conclusion">') : text.index('<h2 id="results">')]
    notes = [one.partition("note: ")[2] for one in told.err.splitlines() if "note: " in one]
    assert any("1 gap of 5 times the usual 1 s or more" in one for one in [*notes, told.out])
    for one in notes:
        assert f"<li>{one}.</li>" in part
    assert "1 gap of 5 times the usual 1 s or more" in part
    shared = re.search(r"Given this trace: .*?\.\n\n", told.out, re.DOTALL)
    assert f"<li>{' '.join(shared[0].split())}</li>" in part
    assert "Defaults used: link.queue 1000 packets (default)." in part
    changed(folder, caveats=[HOSTILE, *(["again"] * 30)])
    assert run(["report", str(folder)]) == 0
    text = (folder / "report.html").read_text()
    assert "<script>alert" not in text
    assert re.search(r"<li>1\d more in record.json.</li>", text)
    changed(folder, caveats="none")
    assert "caveats in record.json is not a list" in refused(["report", folder], capsys)


def test_the_same_folder_gives_the_same_page(copy: Path, folder: Path) -> None:
    assert run(["report", str(copy)]) == 0
    assert (copy / "report.html").read_bytes() == (folder / "report.html").read_bytes()


def test_a_foreign_file_is_kept_and_a_page_of_ours_is_replaced(
    copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = copy / "mine.html"
    other.write_text("<p>mine</p>")
    assert "--force" in refused(["report", copy, "-o", other], capsys)
    assert other.read_text() == "<p>mine</p>"
    assert run(["report", str(copy), "-o", str(other), "--force"]) == 0
    assert run(["report", str(copy), "-o", str(other)]) == 0
    figures = copy / "figures"
    figures.mkdir()
    (figures / "window.pdf").write_text("mine")
    assert "window.pdf" in refused(["report", copy, "--figures", figures], capsys)
    assert (figures / "window.pdf").read_text() == "mine"
    assert "is a folder" in refused(["report", copy, "-o", figures], capsys)
    assert "cannot be written" in refused(["report", copy, "-o", copy / "no" / "x.html"], capsys)


@pytest.mark.parametrize(("name", "column"), [("summary", "mean"), ("series", "flow")])
def test_a_table_without_a_column_is_named(
    name: str, column: str, copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = copy / f"{name}.parquet"
    pq.write_table(pq.read_table(path).drop_columns([column]), path)
    changed(copy)
    assert f"{name}.parquet has no column {column}" in refused(["report", copy], capsys)


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ("", "record.json: not valid"),
        ("[]", "record.json: not an object"),
        ("{}", "not a results folder of `clift run -o`"),
        ('{"cells": []}', "it has no cells"),
        ('{"cells": [{"labels": 3, "runs": 1}]}', "not a results folder"),
        ('{"cells": [{"labels": {"a": "b"}, "runs": "x"}]}', "not a results folder"),
    ],
)
def test_a_bad_folder_gives_one_line(
    record: str, said: str, copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (copy / "record.json").write_text(record)
    assert said in refused(["report", copy], capsys)
    assert not (copy / "report.html").exists()


def test_a_folder_without_results_says_so(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no record.json found" in refused(["report", copy / "nowhere"], capsys)
    assert "a file, not a results folder" in refused(["report", copy / "record.json"], capsys)
    (copy / "summary.parquet").write_text("PAR1 not")
    assert "summary.parquet: not readable" in refused(["report", copy], capsys)
    (copy / "summary.parquet").unlink()
    assert "summary.parquet: missing" in refused(["report", copy], capsys)


def test_tables_of_another_study_are_refused(
    copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = pq.read_table(copy / "summary.parquet")
    place = table.column_names.index("scheme")
    other = pa.array(["FEC(10/12)"] * table.num_rows)
    pq.write_table(table.set_column(place, "scheme", other), copy / "summary.parquet")
    changed(copy)
    assert "that the record lacks" in refused(["report", copy], capsys)


def test_figures_are_as_wide_as_a_column_or_a_page_with_fonts_that_publishers_take(
    copy: Path,
) -> None:
    # Two cells are enough, of which one has signs that a formula would begin with.
    words = ["--set", "scheme=ARQ", "--set", "channel.erasures=1 %", "--no-plots", "--quiet"]
    words += ["--runs", "1"]
    assert run(["run", str(copy / "x.toml"), "-o", str(copy), "--force", *words]) == 0
    figures = copy / "figures"
    assert run(["report", str(copy), "--figures", str(figures)]) == 0
    names = {path.stem for path in figures.iterdir()}
    assert {"metric-completion_s", "delay-cdf", "rate", "window", "sequence"} <= names
    for path in figures.iterdir():
        content = path.read_bytes()
        if path.suffix == ".svg":
            assert ElementTree.fromstring(content).get("width") in ("252pt", "515.52pt")
        else:
            assert b"/Type3" not in content
            assert b"/CIDFontType2" in content
    # Names have no order, so no line connects their points.
    drawn = draw(read(copy))["metric-completion_s"]()
    lines = [line for axes in drawn.axes for line in axes.get_lines()]
    assert lines
    assert {line.get_linestyle() for line in lines if line.get_marker() in "osD"} == {"None"}


def test_a_campaign_in_python_writes_the_same_page(tmp_path: Path) -> None:
    campaign = clift.campaign.run(
        clift.Scenario.parse(SCENARIO.replace("runs = 3", "runs = 1")), progress=False
    )
    campaign.save(tmp_path, plots=False)
    assert run(["report", str(tmp_path)]) == 0
    (tmp_path / "python").mkdir()
    [page, *runs] = campaign.report(tmp_path / "python" / "report.html")
    assert [one.name for one in runs] == (["report-runs.html"] if MODULE.exists() else [])
    for one in (page, *runs):
        assert one.read_bytes() == (tmp_path / one.name).read_bytes()
    page.write_text("mine")
    with pytest.raises(clift.ScenarioError, match="another file"):
        campaign.report(page)


def test_a_page_says_why_its_runs_do_not_open(
    copy: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("clift.report.page.write.is_built", lambda: False)
    assert run(["report", str(copy)]) == 0
    assert (
        "Runs do not open from this page: this installation has no WebAssembly"
        in (copy / "report.html").read_text()
    )
    monkeypatch.undo()
    phy = clift.channel.bernoulli(slots=20_000, p=0.02, seed=1)
    link = clift.tmt.apply(phy, clift.Arq())
    campaign = clift.campaign.run(link, duration_s=5, progress=False)
    [page] = campaign.report(copy / "link.html")
    assert "do not open from this page: the scenario was built in Python" in page.read_text()
    quic = SCENARIO.replace("runs = 3", 'runs = 1\ntransport.protocol = "quic"')
    campaign = clift.campaign.run(clift.Scenario.parse(quic), progress=False)
    [page] = campaign.report(copy / "quic.html")
    assert "this page: they need QUIC, which the page has not" in page.read_text()
    if MODULE.exists():
        (copy / "report-runs.html").write_text("mine")
        assert "report-runs.html: another file" in refused(["report", copy], capsys)


# --- in a browser ---


@pytest.fixture
def opened(browser: Any, folder: Path) -> Iterator[Opened]:
    found = Opened(browser, folder / "report.html")
    yield found
    found.page.close()


def test_it_opens_from_disk_without_a_request_or_an_error(opened: Opened) -> None:
    page = opened.page
    assert opened.is_quiet()
    assert page.locator("figure").count() == 6
    assert page.locator("h1").text_content() == HOSTILE
    # Every control once, with everything that it redraws.
    for place in range(page.locator("select").count()):
        one = page.locator("select").nth(place)
        for value in range(min(3, one.locator("option").count())):
            one.select_option(index=value)
    assert opened.is_quiet()
    assert page.locator("script").count() == 3


def rerun(page: Any, act: Callable[[], object]) -> tuple[float, Any]:
    """The goodput of the run in the page that an act opens, with all its digits."""
    with page.expect_popup() as opening:
        act()
    other = opening.value
    said: list[str] = []
    other.on("console", lambda message: said.append(message.text))
    other.on("pageerror", lambda error: said.append(str(error)))
    other.wait_for_selector('html[data-done="true"]', timeout=300_000)
    goodput = other.locator("#results-body tr", has_text="Goodput").locator("td").first
    assert said == []
    return float(str(goodput.get_attribute("title"))), other


@pytest.mark.skipif(not is_current(), reason="clift.wasm is not built or is old: make wasm")
def test_a_point_opens_as_the_run_behind_it_with_the_numbers_of_the_store(
    browser: Any, tmp_path: Path
) -> None:
    phy = clift.channel.bernoulli(slots=40_000, slot_ns=1_000_000, p=0.01, seed=1, lldu_bytes=33)
    phy.write(tmp_path / "mine.csv")
    (tmp_path / "x.toml").write_text(
        'duration = "20 s"\nruns = 3\n[trace]\nfile = "mine.csv"\n'
        '[link]\nstart = "random"\n[vary]\nscheme = ["none", "ARQ"]\n'
        'link.rtt = ["100 ms", "500 ms"]\n'
    )
    folder = tmp_path / "results"
    words = ["--set", "transport.congestion=newreno", "--no-plots", "--quiet"]
    assert run(["run", str(tmp_path / "x.toml"), "-o", str(folder), *words]) == 0
    assert run(["report", str(folder)]) == 0
    rows = pq.read_table(folder / "runs.parquet").to_pylist()
    known = {(row["scheme"], row["rtt"], row["run"]): row["goodput_kbps"] for row in rows}
    opened = Opened(browser, folder / "report.html")
    page = opened.page
    page.locator("#choice select").first.select_option(label="Goodput - goodput_kbps")
    # A plot is drawn when it comes into view.
    page.locator("#main-figure .plot").scroll_into_view_if_needed()
    page.locator("#main-figure .u-over").wait_for()
    place = page.evaluate(
        "() => { const { chart } = figures[0], line = chart.spec.lines[1];"
        " return [chart.valToPos(line.x[1], 'x'), chart.valToPos(line.y[1], 'y'), line.name]; }"
    )
    assert place[2] == "ARQ"
    over = page.locator("#main-figure .u-over")
    goodput, other = rerun(page, lambda: over.click(position={"x": place[0], "y": place[1]}))
    assert goodput == known["ARQ", "500 ms", 0]
    text = other.locator("#text-A").input_value()
    assert 'rtt = "500 ms"' in text
    assert 'congestion = "newreno"' in text
    # Changed, beside the run as it was.
    other.locator("#B-scheme").select_option(label="none")
    other.locator("#state-B", has_text="whole run").wait_for()
    other.wait_for_selector('html[data-done="true"]')
    titles = other.locator("#results-body tr", has_text="Goodput").locator("td")
    both = [float(str(one.get_attribute("title"))) for one in titles.all()]
    assert both == [goodput, known["none", "500 ms", 0]]
    other.close()
    # With the keyboard.
    page.locator("#main-figure .plot").focus()
    for key in ("Home", "Enter", "Tab"):
        page.keyboard.press(key)
    goodput, other = rerun(page, lambda: page.keyboard.press("Enter"))
    assert goodput == known["ARQ", "100 ms", 0]
    other.close()
    # A later run, of the table of seeds; the address keeps it.
    page.get_by_text("Seeds of the runs").click()
    goodput, other = rerun(page, page.locator("#runs tbody tr").nth(5).locator("a").click)
    assert goodput == known["none", "500 ms", 2]
    assert "the whole of run 2" in str(other.locator("#state-A").text_content())
    other.wait_for_url(lambda url: "A.run=2" in url)
    other.close()
    assert opened.is_quiet()
    page.close()


def test_the_table_has_the_numbers_of_the_parquet_file(opened: Opened, folder: Path) -> None:
    page = opened.page
    rows = [
        row
        for row in pq.read_table(folder / "summary.parquet").to_pylist()
        if row["metric"] == "completion_s"
    ]
    heads = page.locator("#cells thead th").all_text_contents()
    assert heads[:6] == ["erasures", "scheme", HOSTILE, "runs", "Completion (s)", "median"]
    assert len(rows) == page.locator("#cells tbody tr").count() == 12
    for shown, row in zip(page.locator("#cells tbody tr").all(), rows, strict=True):
        texts = dict(zip(heads, shown.locator("th, td").all_text_contents(), strict=True))
        assert [texts[name] for name in ("erasures", "scheme", HOSTILE)] == [
            row[name] for name in ("erasures", "scheme", HOSTILE)
        ]
        for head, name in (
            ("Completion (s)", "mean"),
            ("median", "median"),
            ("printed", "printed"),
        ):
            if row[name] is None:
                assert texts[head] == ""
            else:
                assert float(texts[head]) == pytest.approx(row[name], rel=1e-4)
        assert int(texts["runs"]) == row["runs"]
    page.locator("#choice select").first.select_option(label="Goodput - goodput_kbps")
    means = [
        row["mean"]
        for row in pq.read_table(folder / "summary.parquet").to_pylist()
        if row["metric"] == "goodput_kbps"
    ]
    column = page.locator("#cells tbody tr td:nth-child(5)").all_text_contents()
    assert [float(text) for text in column] == pytest.approx(means, rel=1e-4)


def test_a_head_sorts_and_a_word_filters(opened: Opened) -> None:
    page = opened.page
    column = page.locator("#cells tbody td:nth-child(5)")
    head = page.locator("#cells thead th").nth(4)
    head.get_by_role("button").click()
    upward = [float(text) for text in column.all_text_contents()]
    assert upward == sorted(upward)
    assert head.get_attribute("aria-sort") == "ascending"
    head.get_by_role("button").click()
    assert [float(text) for text in column.all_text_contents()] == upward[::-1]
    page.locator("#cells input").fill("harq")
    assert set(page.locator("#cells tbody td:nth-child(2)").all_text_contents()) == {"HARQ(10/12)"}
    assert column.count() == 4


def test_the_numbers_of_a_plot_stand_beside_it(opened: Opened, folder: Path) -> None:
    page = opened.page
    series = pq.read_table(folder / "series.parquet").to_pylist()
    most = max(row["cwnd_packets"] for row in series if row["cell"] == 0)
    assert page.locator("#figure-rate .legend").get_by_text("capacity", exact=True).count() == 1
    figure = page.locator("#figure-window")
    for name in ("erasures", "scheme", HOSTILE):
        page.locator("#inside-choice").get_by_label(name, exact=True).select_option(index=1)
    assert f"{float(f'{most:.4g}'):g}" in str(figure.locator("figcaption p").text_content())
    # By key: figures above it that are drawn meanwhile move the place of a click.
    figure.locator("summary").press("Enter")
    cells = figure.locator("tbody td:nth-child(3)")
    cells.nth(10).wait_for()
    shown = cells.all_text_contents()
    known = {float(f"{row['cwnd_packets']:.7g}") for row in series if row["cell"] == 0}
    assert {float(text) for text in shown} <= known


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_stand_out_in_both_themes(scheme: str, browser: Any, folder: Path) -> None:
    opened = Opened(browser, folder / "report.html", color_scheme=scheme)
    background = "getComputedStyle(document.body).backgroundColor"
    expected = {"light": "rgb(255, 255, 255)", "dark": "rgb(18, 22, 28)"}
    assert opened.page.evaluate(background) == expected[scheme]
    ratios = opened.page.evaluate(CONTRAST)
    assert len(ratios) > 15
    assert {name: ratio for name, ratio in ratios.items() if ratio < 4.5} == {}
    other = {"light": "dark", "dark": "light"}[scheme]
    opened.page.get_by_label("Colours").select_option(other)
    assert opened.page.evaluate(background) == expected[other]
    assert opened.is_quiet()
    opened.page.close()


def test_everything_can_be_reached_and_seen_with_the_keyboard(opened: Opened) -> None:
    page = opened.page
    wanted = page.evaluate(
        """() => { const all = [...document.querySelectorAll(
          "a, button, select, input, summary, [tabindex='0']")].filter(
          one => one.checkVisibility() && !one.disabled);
          all.forEach((one, at) => one.dataset.stop = at); return all.length; }"""
    )
    assert wanted > 30
    seen = []
    for _ in range(wanted):
        page.keyboard.press("Tab")
        stop, outline = page.evaluate(
            """() => [document.activeElement.dataset.stop,
              getComputedStyle(document.activeElement).outlineStyle]"""
        )
        seen.append(int(stop))
        assert outline == "solid", stop
    assert seen == list(range(wanted))
    plot = page.locator("#figure-metric .plot")
    plot.focus()
    page.keyboard.press("ArrowRight")
    told = str(page.locator("#figure-metric .readout").text_content())
    assert told.startswith("1 %: ")
    assert "ARQ" in told
    page.keyboard.press("End")
    assert str(page.locator("#figure-metric .readout").text_content()).startswith("5 %: ")


def test_it_fits_a_phone_and_prints_drawings_in_light_colours(browser: Any, folder: Path) -> None:
    opened = Opened(
        browser,
        folder / "report.html",
        color_scheme="dark",
        viewport={"width": 360, "height": 700},
    )
    page = opened.page
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    assert len(page.pdf(format="A4")) > 20_000
    assert page.locator(".paper svg").count() == 6
    page.emulate_media(media="print")
    assert page.locator(".paper svg").first.is_visible()
    assert not page.locator(".plot").first.is_visible()
    assert (
        page.evaluate("getComputedStyle(document.querySelector('p')).color") != "rgb(232, 236, 241)"
    )
    assert opened.is_quiet()
    page.close()


def test_a_plot_can_be_saved_as_svg(opened: Opened, tmp_path: Path) -> None:
    # Few completion times have no interval of the mean; goodput has.
    choice = opened.page.locator("#choice select").first
    choice.select_option(label="Goodput - goodput_kbps")
    with opened.page.expect_download() as found:
        # By key, as above.
        opened.page.locator("#figure-metric .tools a").press("Enter")
    found.value.save_as(tmp_path / "x.svg")
    root = ElementTree.parse(tmp_path / "x.svg").getroot()
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert any(text and HOSTILE in text for text in texts)
    assert not list(root.iter("{http://www.w3.org/2000/svg}script"))
    paths = root.iter("{http://www.w3.org/2000/svg}path")
    bars = [one.get("d", "") for one in paths if one.get("stroke-width") == "1.1"]
    begin = {bar.partition(" ")[0] for bar in bars}
    assert 1 < len(bars) == len(begin)  # intervals of one place stand beside one another
    assert opened.said == []


def shapes(folder: Path) -> Iterator[str]:
    """Changes a study into others that a page is made of, and names them."""
    changed(folder, complete=False, runs_done=20)
    yield "incomplete"
    for name in ("series", "delays", "sequence"):
        (folder / f"{name}.parquet").unlink()
    changed(folder, axes=None, compared=None, verdicts=None, in_effect=None)
    yield "of an earlier version"
    (folder / "one.toml").write_text('duration = "20 s"\n[ntn]\n')
    words = ["-o", str(folder), "--no-plots", "--quiet", "--force"]
    assert run(["run", str(folder / "one.toml"), *words]) == 0
    yield "a single run"


def test_other_studies_open_too(browser: Any, copy: Path) -> None:
    for name in shapes(copy):
        assert run(["report", str(copy)]) == 0, name
        opened = Opened(browser, copy / "report.html")
        assert opened.is_quiet(), name
        opened.page.locator("#figure-metric .plot").scroll_into_view_if_needed()
        opened.page.locator("#figure-metric canvas").wait_for()
        warned = opened.page.locator(".warning").all_text_contents()
        assert warned == (
            []
            if name == "a single run"
            else ["Incomplete: 20 of 36 runs are finished. All results below are from these runs."]
        )
        units = opened.page.locator("#figure-units figcaption p").all_text_contents()
        assert ["transport block" in text for text in units] == [True] * (name == "a single run")
        opened.page.close()
