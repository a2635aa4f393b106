"""Kuhn 2014's advice under ns-2's TCP and under a Linux kernel's."""

import json
from pathlib import Path

import pytest

import clift.papers.what_changed as module
from clift.cli.main import run
from clift.papers.what_changed import (
    LINUX,
    LINUX_2011,
    NO_SACK,
    NS2,
    StackComparison,
    study,
    what_changed,
)


@pytest.fixture(scope="module")
def change() -> StackComparison:
    return what_changed(study(runs=3))


def test_the_advice_reverses(change: StackComparison) -> None:
    """The kernel's side of these cells was measured on a real one (docs/validation.md)."""
    assert change.best("bulk", NS2) == "HARQ(10/15)"
    assert change.best("bulk", LINUX) == "ARQ"
    assert change.value("bulk", "ARQ", LINUX).mean == pytest.approx(240, rel=0.03)
    assert change.value("bulk", "HARQ(10/12)", LINUX).mean == pytest.approx(204, rel=0.03)
    assert change.value("bulk", "HARQ(10/15)", LINUX).mean == pytest.approx(164, rel=0.03)
    assert change.value("bulk", "ARQ", NS2).mean == pytest.approx(66, rel=0.05)


@pytest.mark.parametrize("stack", [LINUX_2011, NO_SACK])
def test_the_advice_reverses_on_older_kernels_too(change: StackComparison, stack: str) -> None:
    """A kernel with tcp_sack = 0 reaches 239 kbit/s (docs/evidence/tcp-beside-linux.md)."""
    assert change.best("bulk", stack) == "ARQ"
    assert change.value("bulk", "ARQ", stack).mean == pytest.approx(240, rel=0.03)


def test_without_the_four_parts_a_kernel_is_as_bad_as_ns2(change: StackComparison) -> None:
    *parts, everything = change.effects("ARQ")
    assert everything.share == pytest.approx(1, abs=0.1)
    assert [part.share for part in parts] == sorted((part.share for part in parts), reverse=True)
    assert {part.stack for part in parts[:3]} == {
        "without undo",
        "without D-SACK",
        "three duplicates",
    }
    assert parts[3].share == pytest.approx(0, abs=0.05)


def test_the_sentences_say_what_was_measured(change: StackComparison) -> None:
    what, why = change.sentences()
    for stack, scheme in ((NS2, "HARQ(10/15)"), (LINUX, "ARQ"), (LINUX, "HARQ(10/15)")):
        assert f"{change.value('bulk', scheme, stack).mean:.0f}" in what
    for effect in change.effects("ARQ"):
        assert f"{effect.mean:.0f}" in why
    now, then = (change.value("page", "ARQ", stack).mean for stack in (LINUX, NS2))
    assert f"takes {now:.1f} s over ARQ instead of {then:.1f} s" in change.pages()


def test_the_command_prints_a_table_and_draws_it(
    change: StackComparison, tmp_path: Path, capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    picture = tmp_path / "x.png"
    words = ["paper", "what-changed", "--runs", "1", "-o", str(picture)]
    assert run(words) == 0
    table = [
        line
        for line in capsys.readouterr().out.splitlines()
        if line.startswith(("ns-2", "a Linux", "Linux, ", "Linux of"))
    ]
    assert len(table) == 20
    assert max(map(len, table)) <= 100
    assert picture.stat().st_size > 20_000
    monkeypatch.setattr(module, "what_changed", lambda *_: change)
    assert run([*words, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert len(said["cells"]) == 54
    assert said["what"].startswith("Under ns-2's TCP HARQ(10/15)")
