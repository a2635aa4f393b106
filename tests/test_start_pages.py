"""The start pages: their commands run, and print what the pages show."""

import sys
from pathlib import Path

import pytest

import clift
from clift.cli.main import run

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "docs"))
import start_pages  # noqa: E402


# The first run has 2400 transfers of a page and 480 of 400 s; README's demo is always run.
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.stem, marks=[pytest.mark.long] * (page.stem == "first-run"))
        for page in start_pages.PAGES
    ],
)
@pytest.mark.usefixtures("undrawn")
def test_the_commands_print_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    assert "<!-- output -->" in page.read_text()
    assert start_pages.refreshed(page, tmp_path) == page.read_text()


def test_the_example_log_is_what_its_script_prints_and_the_page_shows() -> None:
    log = (ROOT / "examples" / "link_log.csv").read_text()
    assert start_pages._python([str(ROOT / "examples" / "link_log.py")]) == log
    page = (ROOT / "docs" / "start" / "your-own-log.md").read_text()
    assert "".join(log.splitlines(keepends=True)[:4]) in page


def test_a_round_trip_time_comes_on_top_of_an_imported_delay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page warns that `--rtt` counts the delay of a log twice."""
    monkeypatch.chdir(tmp_path)
    log = str(ROOT / "examples" / "link_log.csv")
    columns = ["--time", "1:s", "--rate", "2:Mbit/s", "--delay", "3:ms"]
    assert run(["trace", "import", log, *columns, "-o", "my.parquet"]) == 0
    phy = clift.read_trace("my.parquet")
    alone = clift.tmt.apply(phy, "none", rtt_ms=0).stats()["mean_delay_ms"]
    twice = clift.tmt.apply(phy, "none", rtt_ms=500).stats()["mean_delay_ms"]
    assert 270 < alone < 280
    assert twice == pytest.approx(alone + 250)
