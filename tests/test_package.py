"""How the package hangs together, and what keeps its signatures."""

import ast
import inspect
from pathlib import Path

import pytest

import clift
from clift._keywords import BARE, KEYWORDS, Keywords

PACKAGE = Path(clift.__file__).parent


@pytest.fixture(scope="module")
def nodes() -> dict[Path, list[ast.AST]]:
    """The syntax of each module of the package."""
    return {path: list(ast.walk(ast.parse(path.read_text()))) for path in PACKAGE.rglob("*.py")}


def test_modules_are_imported_directly_and_scenarios_only_by_what_they_say(
    nodes: dict[Path, list[ast.AST]],
) -> None:
    """`from clift import x` inside the package asks for modules before they are there."""
    for path, own in nodes.items():
        for node in own:
            assert not (isinstance(node, ast.ImportFrom) and node.module == "clift"), path
            private = isinstance(node, ast.Attribute) and node.attr in (
                "_source",
                "_nodes",
                "_core",
            )
            assert not private or path.name == "scenario.py", (path, node.lineno)


def test_only_the_command_line_imports_the_papers(nodes: dict[Path, list[ast.AST]]) -> None:
    """What only the papers need is a separate package, which imports the rest."""
    used = {
        path.relative_to(PACKAGE).as_posix()
        for path, own in nodes.items()
        for node in own
        if isinstance(node, ast.Import | ast.ImportFrom)
        and any("clift.papers" in name for name in _modules(node))
    }
    assert {path for path in used if not path.startswith("papers/")} == {"cli/paper.py"}


def _modules(node: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(node, ast.Import):
        return [one.name for one in node.names]
    return [f"{node.module}.{one.name}" for one in node.names]


def test_signatures_are_those_that_checks_call() -> None:
    def shown(call: object) -> str:
        parameters = inspect.signature(call).parameters.values()  # type: ignore[arg-type]
        return ", ".join(f"{one.name}={one.default!r}" for one in parameters)

    assert shown(clift.HybridLink) == (
        "k=10, n=12, frames=6, persistency=5, unit_bytes=25, rate_kbps=2000, delay_ms=200, p=0.01, "
        "in_order=True, seed=1, losses=None, n_first=None"
    )
    assert shown(clift.AdaptiveHarqLink).startswith(
        "preset='its', snr_db=13, rate_kbps=50000, delay_ms=80, reorder=None, duration_s=None, "
        "seed=None, first=1.0, increment=0.47, targets=None, packet_sigma=0.25, attempt_sigma=0, "
    )
    assert shown(clift.LiveLink).startswith(
        f"phy={inspect.Parameter.empty!r}, scheme={inspect.Parameter.empty!r}, rtt_ms=500, "
        "feedback_ms=None, flush_ms=None, reorder=None, feedback_loss=0.0"
    )
    assert shown(clift.NtnLink).startswith("preset='nr-ntn-geo', rlc='am', phy=None, slot_ms=None")
    assert "duration_s=400, packet_bytes=1500, queue_packets=1000" in shown(clift.simulate)
    assert Keywords.__annotations__.keys() >= KEYWORDS.keys()
    assert Keywords.__annotations__.keys() >= BARE.keys() >= {"aqm", "rtt", "queue"}
    assert len(KEYWORDS) == 34
