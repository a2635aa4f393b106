"""What seed 002 says of its figures, held against the figures regenerated."""

from __future__ import annotations

from dataclasses import dataclass

from clift.papers.hybrid import Cell, Figure, Line

FALL = 0.01
"""A line may fall by so much of the link's rate: that is noise."""
CLOSE = 0.015
"""What is closer than this counts as equal."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim of the paper.

    Attributes:
        says: What it says.
        holds: Whether it does here.
        found: What was found.
    """

    says: str
    holds: bool
    found: str


def claims(figure: Figure, sack: bool) -> list[Claim]:
    """The claims about a figure, for TCP with or without SACK.

    Example:
        >>> from clift.papers.hybrid import figure
        >>> for claim in claims(figure(3, runs=1, duration_s=200, sack=[True]), sack=True):
        ...     print(claim.holds, claim.says)
        False D = 20 ms: peak at N = 12
        False D = 100 ms: peak at N = 12
        True D = 200 ms: peak at N = 12
        True about 80 % of the link at N = 12
        True beyond N = 12 as K/N
    """
    own = figure.of(sack)
    match figure.number:
        case 3:
            return _fec(own)
        case 4:
            return _arq(own)
        case 8:
            return [_never_falls(line) for line in own]
        case _:
            return _hybrid(figure, own)


def _fec(lines: list[Line]) -> list[Claim]:
    found = []
    for line in lines:
        best = max(range(len(line.cells)), key=line.mean)
        peak = line.cells[best].n
        says = f"{line.label}: peak at N = 12"
        found.append(Claim(says, peak == 12, f"N = {peak}, {line.mean(best):.3f}"))
    twelve = [_at(line, 12) for line in lines]
    says = "about 80 % of the link at N = 12"
    found.append(Claim(says, all(0.78 <= value <= 0.84 for value in twelve), _span(twelve)))
    share = [
        line.mean(place) * cell.n / 10
        for line in lines
        for place, cell in enumerate(line.cells)
        if cell.n > 12
    ]
    holds = all(0.98 <= value <= 1.0 for value in share)
    found.append(Claim("beyond N = 12 as K/N", holds, f"{_span(share)} of K/N"))
    return found


def _arq(lines: list[Line]) -> list[Claim]:
    found = [_never_falls(line) for line in lines]
    ordered = {line.cells[0].delay_ms: line for line in lines if line.cells[0].in_order}
    plain = {line.cells[0].delay_ms: line for line in lines if not line.cells[0].in_order}
    for delay, line in ordered.items():
        share = plain[delay].mean(5) / line.mean(5)
        says = f"D = {delay} ms: in-order delivery is essential"
        found.append(Claim(says, share < 0.75, f"{share:.2f} of it without, delta = 5"))
    for delay, line in ordered.items():
        # No FEC alone can carry more than an always busy link with it.
        fec = max(Cell(n, 0, delay, line.cells[0].p).ceiling() for n in range(10, 17))
        best = max(line.mean(place) for place in range(len(line.cells)))
        says = f"D = {delay} ms: above the best of FEC alone"
        found.append(Claim(says, best > fec, f"{best:.3f}; FEC at most {fec:.3f}"))
    return found


def _hybrid(figure: Figure, lines: list[Line]) -> list[Claim]:
    arq = lines[-1].mean(0)
    best, cell = max(
        ((line.mean(place), cell) for line in lines for place, cell in enumerate(line.cells)),
        key=lambda found: found[0],
    )
    found = [
        Claim("the best is close to ARQ-SR alone", best - arq <= CLOSE, f"{best:.3f}, {arq:.3f}")
    ]
    where = f"best at N = {cell.n}, delta = {cell.delta}"
    if figure.number == 6:
        found.append(Claim("no FEC is needed", arq >= best - 0.001, where))
    else:
        one = max(line.mean(place) for line in lines for place in (0, 1))
        found.append(Claim("one redundant unit at most", one >= best - 0.001, where))
    if figure.number == 7:
        busy = lines[-1].cells[0].ceiling()
        says = "the best is that of ten connections, which keep the link busy"
        found.append(Claim(says, best >= busy - CLOSE, f"{best:.3f}, busy {busy:.3f}"))
    return found


def _never_falls(line: Line) -> Claim:
    means = [line.mean(place) for place in range(len(line.cells))]
    highest = 0.0
    fall = 0.0
    for mean in means:
        highest = max(highest, mean)
        fall = max(fall, highest - mean)
    says = f"{line.label}: never falls as delta grows"
    return Claim(says, fall <= FALL, f"by {fall:.3f} at most")


def _at(line: Line, n: int) -> float:
    return next(line.mean(place) for place, cell in enumerate(line.cells) if cell.n == n)


def _span(values: list[float]) -> str:
    low, high = f"{min(values):.3f}", f"{max(values):.3f}"
    return low if low == high else f"{low} to {high}"
