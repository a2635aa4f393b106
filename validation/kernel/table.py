"""The table of docs/evidence/tcp-beside-linux.md: goodput of kernel and CLIFT in each cell."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from validation.kernel import ours, store
from validation.kernel.cells import Cell

PAGE = Path(__file__).parents[2] / "docs" / "evidence" / "tcp-beside-linux.md"
BEGIN, END = "<!-- kernel: made by validation/kernel -->\n", "<!-- end of kernel -->"
WITHIN = 0.1


class Comparison:
    """A cell over all its seeds: mean goodput in kbit/s, and the values of each run."""

    def __init__(self, cells: list[Cell]) -> None:
        self.cell = cells[0]
        self.pairs = []
        for cell in cells:
            measured = store.of(cell)
            if measured is None:
                raise SystemExit(f"error: {cell.label}, seed {cell.seed} was never measured")
            self.pairs.append((float(measured["goodput_kbps"]), ours.goodput_kbps(cell)))
            self.kernel_release = measured["kernel"]

    @property
    def means(self) -> tuple[float, float]:
        """Mean goodput of the kernel and of CLIFT, in kbit/s."""
        kernel, engine = zip(*self.pairs, strict=True)
        return sum(kernel) / len(kernel), sum(engine) / len(engine)

    @property
    def difference(self) -> float:
        """Relative difference of CLIFT to the kernel."""
        kernel, engine = self.means
        return engine / kernel - 1


def compare(cells: list[Cell]) -> list[Comparison]:
    """Runs the engine in every cell, and groups runs that differ only in their seed."""
    together: dict[Cell, list[Cell]] = {}
    for cell in cells:
        together.setdefault(replace(cell, seed=1), []).append(cell)
    return [Comparison(group) for group in together.values()]


def markdown(comparisons: list[Comparison]) -> str:
    """Formats the table: a line per path, three columns per congestion control."""
    lines: dict[str, list[str]] = {}
    for comparison in comparisons:
        cell = comparison.cell
        path = cell.label.removeprefix(f"{cell.congestion}, ")
        kernel, engine = comparison.means
        cells = [f"{kernel:.0f}", f"{engine:.0f}", f"{100 * comparison.difference:+.1f} %"]
        lines.setdefault(path, [path]).extend(cells)
    head = ["path"]
    for congestion in dict.fromkeys(comparison.cell.congestion for comparison in comparisons):
        head += [congestion, "ours", ""]
    rows = [head, ["---"] * len(head), *lines.values()]
    return "".join("| " + " | ".join(row) + " |\n" for row in rows)


def write(comparisons: list[Comparison]) -> None:
    """Replaces the table between its marks in the page."""
    before, begin, rest = PAGE.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"error: {PAGE} lacks the marks of the table")
    releases = sorted({comparison.kernel_release for comparison in comparisons})
    table = f"Kernel {', '.join(releases)}.\n\n{markdown(comparisons)}"
    PAGE.write_text(before + begin + table + end + after)
