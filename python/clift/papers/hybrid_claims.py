"""Statements of Al Fawal 2003 about its figures, compared with the simulated figures."""

from __future__ import annotations

from dataclasses import dataclass

from clift.campaign.statistics import Estimate
from clift.papers.hybrid import PAPER, Cell, Figure, Line
from clift.papers.registry import parameters
from clift.papers.verdict import EXACT, at_least, every, times, within

FALL = 0.01
"""A line may fall by this share of the link's rate: noise."""
CLOSE = 0.015
"""Values closer than this count as equal."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim of the paper.

    Attributes:
        says: The statement.
        holds: True if it holds here. None if the 95 % intervals leave it open, or if it fails in
            runs shorter than half the paper's, which have not settled.
        found: The measured values.
    """

    says: str
    holds: bool | None
    found: str


def claims(figure: Figure, sack: bool) -> list[Claim]:
    """The claims about a figure, for TCP with or without SACK."""
    own = figure.of(sack)
    match figure.number:
        case 3:
            found = _fec(own)
        case 4:
            found = _arq(own)
        case 8:
            found = [_never_falls(line) for line in own]
        case _:
            found = _hybrid(figure, own)
    if figure.duration_s >= parameters(PAPER)["network"]["duration_s"] / 2:
        return found
    return [Claim(claim.says, claim.holds or None, claim.found) for claim in found]


def _fec(lines: list[Line]) -> list[Claim]:
    found = []
    for line in lines:
        best = max(range(len(line.cells)), key=line.mean)
        twelve = _at(line, 12)
        holds = every(
            at_least(twelve, other)
            for other, cell in zip(line.found, line.cells, strict=True)
            if cell.n != 12
        )
        says = f"{line.label}: peak at N = 12"
        found.append(Claim(says, holds, f"N = {line.cells[best].n}, {line.mean(best):.3f}"))
    twelves = [_at(line, 12) for line in lines]
    says = "about 80 % of the link at N = 12"
    holds = every(within(value, 0.78, 0.84) for value in twelves)
    found.append(Claim(says, holds, _span(twelves)))
    share = [
        times(line.found[place], cell.n / 10)
        for line in lines
        for place, cell in enumerate(line.cells)
        if cell.n > 12
    ]
    holds = every(within(value, 0.98, 1.001) for value in share)
    found.append(Claim("beyond N = 12 as K/N", holds, f"{_span(share)} of K/N"))
    return found


def _arq(lines: list[Line]) -> list[Claim]:
    found = [_never_falls(line) for line in lines]
    ordered = {line.cells[0].delay_ms: line for line in lines if line.cells[0].in_order}
    plain = {line.cells[0].delay_ms: line for line in lines if not line.cells[0].in_order}
    for delay, line in ordered.items():
        with_order, without = line.found[5], plain[delay].found[5]
        holds = at_least(times(with_order, 0.75), without)
        says = f"D = {delay} ms: in-order delivery is essential"
        share = without.mean / with_order.mean if with_order.mean else 0.0
        found.append(Claim(says, holds, f"{share:.2f} of it without, delta = 5"))
    for delay, line in ordered.items():
        # With FEC alone, an always busy link is the upper bound.
        fec = max(Cell(n, 0, delay, line.cells[0].p).ceiling() for n in range(10, 17))
        best = max(line.found, key=lambda value: value.mean)
        says = f"D = {delay} ms: above the best of FEC alone"
        holds = at_least(best, EXACT, by=fec)
        found.append(Claim(says, holds, f"{best.mean:.3f}; FEC at most {fec:.3f}"))
    return found


def _hybrid(figure: Figure, lines: list[Line]) -> list[Claim]:
    arq = lines[-1].found[0]
    best, cell = max(
        (
            (value, cell)
            for line in lines
            for value, cell in zip(line.found, line.cells, strict=True)
        ),
        key=lambda found: found[0].mean,
    )
    says = "the best is close to ARQ-SR alone"
    found = [
        Claim(says, at_least(arq, best, by=-CLOSE), f"{best.mean:.3f}, {arq.mean:.3f}"),
    ]
    where = f"best at N = {cell.n}, delta = {cell.delta}"
    most = 0 if figure.number == 6 else 1
    few = max((line.found[place] for line in lines for place in range(most + 1)), key=_mean)
    more = (value for line in lines for value in line.found[most + 1 :])
    says = "one redundant unit at most" if most else "no FEC is needed"
    found.append(Claim(says, every(at_least(few, value, by=-0.001) for value in more), where))
    if figure.number == 7:
        busy = lines[-1].cells[0].ceiling()
        says = "the best is that of ten connections, which keep the link busy"
        holds = at_least(best, EXACT, by=busy - CLOSE)
        found.append(Claim(says, holds, f"{best.mean:.3f}, busy {busy:.3f}"))
    return found


def _never_falls(line: Line) -> Claim:
    fall = 0.0
    verdicts: list[bool | None] = []
    for place, value in enumerate(line.found):
        # Runs with the same number share their draws, so a rising mean is not due to chance.
        highest = max(line.found[: place + 1], key=_mean)
        fall = max(fall, highest.mean - value.mean)
        verdicts.append(at_least(value, highest, by=-FALL))
    says = f"{line.label}: never falls as delta grows"
    return Claim(says, every(verdicts), f"by {fall:.3f} at most")


def _at(line: Line, n: int) -> Estimate:
    return next(line.found[place] for place, cell in enumerate(line.cells) if cell.n == n)


def _mean(value: Estimate) -> float:
    return value.mean


def _span(values: list[Estimate]) -> str:
    means = [value.mean for value in values]
    low, high = f"{min(means):.3f}", f"{max(means):.3f}"
    return low if low == high else f"{low} to {high}"
