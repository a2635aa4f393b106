"""Figures 3 to 8 of Al Fawal 2003 as artefacts.

The figures are curves without numbers. The paper prints only the 80 % at N = 12 and the decay K/N
beyond (figure 3). The reference of the other points is ns-2 with the same link layer (1000 s;
`TCP/Newreno` towards `TCPSink/DelAck`), where it was run.
"""

from __future__ import annotations

import csv
from functools import cache, partial
from importlib import resources

import clift.papers.hybrid as hybrid
from clift.papers.artefact import Effort, Label, Outcome, Row, Rows
from clift.papers.hybrid import Cell, Figure, Line
from clift.papers.hybrid_claims import claims
from clift.papers.registry import parameters
from clift.papers.verdict import Verdict, averaged, every, times
from clift.scenario import Scenario
from clift.simulation import run_many

EIGHTY = 0.8
"""Approximate value of figure 3 at N = 12, from the text."""
# The claims of a figure, by the first words of their text (after the delay).
KEYS: dict[int, list[tuple[str, str]]] = {
    3: [("peak at", "peak"), ("about 80", "eighty"), ("beyond N", "decay")],
    4: [("never falls", "rises"), ("in-order", "order"), ("above the best", "beats")],
    5: [("the best is close", "close"), ("one redundant", "one")],
    6: [("the best is close", "close"), ("no FEC", "none")],
    7: [("the best is close", "close"), ("one redundant", "one"), ("the best is that", "same")],
    8: [("never falls", "rises")],
}


def draw(number: int, effort: Effort, profile: str) -> Outcome:
    """A figure with the TCP of a profile.

    Example:
        >>> found = draw(3, Effort(runs=2, duration_s=40), "papers")
        >>> len(found.rows), sorted(found.claims)
        (21, ['decay', 'eighty', 'peak'])
    """
    spec = parameters(hybrid.PAPER)["figure"][str(number)]
    drawn = hybrid.lines(spec, sack=False)
    todo = [
        scenario(cell, seed, effort.duration_s, profile)
        for _, cells in drawn
        for cell in cells
        for seed in effort.seeds
    ]
    runs = iter(run_many(todo, progress=False))
    lines = tuple(
        Line(
            label,
            cells,
            tuple(
                averaged(
                    [utilisation(cell, next(runs).goodput_kbps, profile) for _ in effort.seeds]
                )
                for cell in cells
            ),
        )
        for label, cells in drawn
    )
    swept = "n" if len(spec["n"]) > 1 else "delta"
    figure = Figure(
        number, spec["title"], spec["says"], swept, lines, effort.runs, effort.duration_s
    )
    return Outcome(_rows(figure, spec, profile), _verdicts(figure))


def scenario(cell: Cell, seed: int, duration_s: float, profile: str) -> Scenario:
    """A run of a cell with the TCP of a profile; a kernel's has its own SACK and delayed ACK."""
    made = cell.scenario(seed, duration_s)
    if profile == "papers":
        return made
    return made.replace(profile=profile, sack=True, timestamps=True, delayed_ack=None)


def utilisation(cell: Cell, goodput_kbps: float, profile: str) -> float:
    """Share of the wireless link that carries TCP data, in IP packets in order."""
    packet = parameters(hybrid.PAPER)["network"]["packet_bytes"]
    headers = 40 if profile == "papers" and not cell.sack else 52
    rate = parameters(hybrid.PAPER)["link"]["rate_kbps"]
    return float(goodput_kbps * packet / (packet - headers) / rate)


def _rows(figure: Figure, spec: dict[str, list[float]], profile: str) -> Rows:
    """One row per point, in Mbit/s if the paper shows a throughput."""
    rows = Rows()
    is_rate = figure.number in (7, 8)
    metric, scale = ("throughput_mbps", 2.0) if is_rate else ("utilisation", 1.0)
    for line in figure.lines:
        for cell, found in zip(line.cells, line.found, strict=True):
            labels: dict[str, Label] = (
                {"delay_ms": cell.delay_ms} if len(spec["delay_ms"]) > 1 else {}
            )
            if figure.number == 4:
                labels["in_order"] = "in order" if cell.in_order else "as they come"
            if figure.swept == "n" and len(spec["delta"]) > 1:
                labels["delta"] = cell.delta
            labels[figure.swept] = getattr(cell, figure.swept)
            printed = _printed(figure.number, cell)
            beside = _ns2().get(cell) if profile == "papers" else None
            if scale != 1.0:
                found = times(found, scale)
                beside = None if beside is None else beside * scale
            rows.append(Row(labels, metric, found, printed, beside=beside))
    return rows


def _printed(number: int, cell: Cell) -> float | None:
    if number != 3 or cell.n < 12:
        return None
    k: int = parameters(hybrid.PAPER)["link"]["k"]
    return EIGHTY if cell.n == 12 else k / cell.n


def _verdicts(figure: Figure) -> dict[str, Verdict]:
    """The claims by key; a claim about several delays is one claim."""
    grouped: dict[str, list[tuple[bool | None, str]]] = {}
    for claim in claims(figure, sack=False):
        where, _, says = claim.says.rpartition(": ")
        key = next(key for begins, key in KEYS[figure.number] if says.startswith(begins))
        short = f"{where}: {claim.found}" if where else claim.found
        grouped.setdefault(key, []).append((claim.holds, short))
    return {
        key: Verdict(every(holds for holds, _ in found), "; ".join(text for _, text in found))
        for key, found in grouped.items()
    }


@cache
def _ns2() -> dict[Cell, float]:
    file = resources.files("clift.papers") / "wiopt2003_ns2.csv"
    found = {}
    for row in csv.DictReader(file.read_text(encoding="utf-8").splitlines()):
        cell = Cell(
            n=int(row["n"]),
            delta=int(row["delta"]),
            delay_ms=int(row["delay_ms"]),
            p=float(row["p"]),
            flows=int(row["flows"]),
            in_order=row["in_order"] == "1",
            sack=row["sack"] == "1",
        )
        found[cell] = float(row["ns2"])
    return found


figure_3, figure_4, figure_5, figure_6, figure_7, figure_8 = (
    partial(draw, number) for number in hybrid.FIGURES
)
