"""The docs: links, generated parts, and every command and example that README shows."""

import re
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from clift.cli.main import run

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "docs"))
import build  # noqa: E402
import finding  # noqa: E402

README = (ROOT / "README.md").read_text()


def test_links_lead_somewhere_and_generated_parts_are_up_to_date() -> None:
    command = [sys.executable, str(ROOT / "docs" / "build.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_make_targets_of_the_readme_exist() -> None:
    shown = set(re.findall(r"\$ make ([a-z-]+)", README))
    assert {"demo", "test"} <= shown
    makefile = (ROOT / "Makefile").read_text()
    for target in shown:
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target


@pytest.mark.parametrize("name", ["demo", "own"])
def test_the_output_that_the_readme_shows_is_what_comes_out(name: str) -> None:
    shown = README.split(f"<!-- {name} -->\n```text\n")[1].split("```")[0]
    assert shown == getattr(build, name)()
    assert max(map(len, shown.splitlines())) <= 100


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 120


def test_the_figure_of_the_readme_is_drawn_from_its_study(tmp_path: Path) -> None:
    folder = tmp_path / "rates"
    few = ["--runs", "1", "--set", "duration=5 s", "--no-plots", "--quiet"]
    assert run(["run", str(ROOT / "examples/rates.toml"), "-o", str(folder), *few]) == 0
    finding.draw(pq.read_table(folder / "runs.parquet").to_pylist(), tmp_path / "x.svg")
    drawn, kept = (tmp_path / "x.svg").read_text(), (ROOT / "docs/images/finding.svg").read_text()
    for title in ("ns-2, New Reno", "Linux, CUBIC", "goodput (% of the rate)"):
        assert title in drawn
        assert title in kept


def test_every_page_is_in_the_navigation_once() -> None:
    shown = re.findall(r"[\w/.-]+\.md", (ROOT / "mkdocs.yml").read_text().split("\nnav:")[1])
    pages = [str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")]
    assert sorted(shown) == sorted(pages)


@pytest.mark.long
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "search" in (tmp_path / "index.html").read_text()
