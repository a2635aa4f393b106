"""The docs: links, generated parts, and every command and example that README shows."""

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from clift.cli.main import run

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "docs"))
import build  # noqa: E402

README = (ROOT / "README.md").read_text()


def test_links_lead_somewhere_and_generated_parts_are_up_to_date() -> None:
    # In a process apart: the schema has the kinds that other tests add to this one.
    command = [sys.executable, str(ROOT / "docs" / "build.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True)
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


def test_the_python_of_the_readme_prints_what_its_comment_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "examples" / "link_log.csv", "my-log.csv")
    [line] = [one for one in README.splitlines() if "clift trace import" in one]
    assert run(shlex.split(line)[2:]) == 0
    capsys.readouterr()
    [code] = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    exec(code, {})
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 2
    assert code.splitlines()[-1].endswith(f"  # {', '.join(printed)}")


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 120


@pytest.mark.long
def test_the_map_of_the_readme_is_drawn_from_its_study(tmp_path: Path) -> None:
    import which_scheme

    folder = tmp_path / "map"
    few = ["--set", "rate=0.3 Mbit/s", "--runs", "8", "--compare", "scheme"]
    command = ["sweep", str(ROOT / "examples/map.toml"), "-o", str(folder), *few]
    assert run([*command, "--no-plots", "--quiet"]) == 0
    axes, verdicts = which_scheme.read(folder)
    assert len(verdicts) == 25
    best = {key[0]: one["best"] for key, one in verdicts.items() if key[1] == "2 %, 2"}
    assert (best["ns-2, New Reno"], best["Linux, New Reno"]) == ("HARQ(10/15)", "ARQ")
    which_scheme.draw(axes, verdicts, tmp_path / "x.svg")
    drawn, kept = (tmp_path / "x.svg").read_text(), (ROOT / "docs/images/map.svg").read_text()
    for text in ("ns-2, New Reno", "Linux, BBR", "ARQ is best", "equal within 5 %"):
        assert text in drawn
        assert text in kept


@pytest.mark.long
def test_the_page_on_transports_is_made_by_one_command(tmp_path: Path) -> None:
    import which_transport

    page, figure = tmp_path / "page.md", tmp_path / "x.svg"
    page.write_text((ROOT / "docs/which-transport.md").read_text())
    few = ["--set", "place=GEO, 1 BDP", "--set", "reception=bad, bursts of 20", "--runs", "6"]
    to = ["--page", str(page), "--figure", str(figure)]
    assert which_transport.main([str(tmp_path / "which"), *to, *few, "--quiet"]) == 0
    cells = which_transport.read(tmp_path / "which")
    assert len(cells) == 56
    [better, worse] = ("ARQ", "none")
    median = {
        repair: which_transport.shown(cells["GEO, 1 BDP", "bad, bursts of 20", repair, use])
        for use in ["file, TCP CUBIC"]
        for repair in (better, worse)
    }
    assert f"| TCP CUBIC | {better} | {median[better]} |" in page.read_text()
    assert f"| TCP CUBIC | {worse} | {median[worse]} |" in page.read_text()
    claim = "TCP CUBIC is faster over ARQ than without repair"
    assert f"| {claim} | GEO 20 |  | 0 of 1 |" in page.read_text()
    assert "time for 3 MB" in figure.read_text()


def where(folder: Path) -> str:
    import where_should_repair_live

    mean, half = where_should_repair_live.shares(folder)["LEO", "2", "TCP, CUBIC", "link"]
    return f"{mean:.0f} ± {half:.0f}"


def ways(folder: Path) -> str:
    import geo_and_leo

    cell = geo_and_leo.means(folder)["both_in_turn", "small"]
    return f"{cell['goodput_kbps'] / 1e3:.1f} ({cell['least'] / 1e3:.1f} to "


def checklist(folder: Path) -> str:
    import satellite_checklist

    [values] = satellite_checklist.times(folder).values()
    return satellite_checklist.shown(values, "-")[0]


def sky(folder: Path) -> str:
    import a_sky_that_moves

    cell = a_sky_that_moves.goodputs(folder)["all_lossy", "cubic"]
    return f"{cell['mean']:.1f} ({cell['low']:.1f} to {cell['high']:.1f})"


def transport(folder: Path) -> str:
    import which_transport

    [values] = which_transport.read(folder).values()
    return which_transport.shown(values)


@pytest.mark.parametrize(
    ("example", "chosen", "page", "row", "shown"),
    [
        (
            "coding_above",
            ("place=LEO", "burst=2", "sender=TCP, CUBIC", "repair=link"),
            "where-should-repair-live",
            "| LEO | 2 | TCP, CUBIC |",
            where,
        ),
        (
            "two_ways",
            ("ways=both_in_turn", "window=small"),
            "geo-and-leo",
            "| round robin | 0.5 MB |",
            ways,
        ),
        (
            "quic_4_sat",
            ("test=small, down", "sender=TCP, CUBIC", "size=2 MB"),
            "satellite-checklist",
            "| small, down | 2 MB |",
            checklist,
        ),
        (
            "leo_sky",
            ("sky=all_lossy", "congestion=cubic"),
            "a-sky-that-moves",
            "| `all_lossy` |",
            sky,
        ),
        (
            "which_transport",
            (
                "place=GEO, 1 BDP",
                "reception=bad, bursts of 20",
                "repair=ARQ",
                "use=file, TCP CUBIC",
            ),
            "which-transport",
            "| TCP CUBIC | ARQ |",
            transport,
        ),
    ],
)
def test_a_cell_of_a_study_is_what_its_page_shows(
    example: str,
    chosen: tuple[str, ...],
    page: str,
    row: str,
    shown: Callable[[Path], str],
    tmp_path: Path,
) -> None:
    settings = [word for one in chosen for word in ("--set", one)]
    command = ["run", str(ROOT / "examples" / f"{example}.toml"), "-o", str(tmp_path / "x")]
    assert run([*command, *settings, "--no-plots", "--quiet"]) == 0
    lines = (ROOT / "docs" / f"{page}.md").read_text().splitlines()
    [line] = (one for one in lines if one.startswith(row))
    assert shown(tmp_path / "x") in line


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
