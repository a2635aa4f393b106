"""Statements of Al Fawal 2003 about its figures, compared with the simulated figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clift.campaign.statistics import Estimate
from clift.papers.hybrid import Cell, Line
from clift.papers.verdict import EXACT, Verdict, at_least, every, times, within

FALL = 0.01
"""A line may fall by this share of the link's rate: noise."""
CLOSE = 0.015
"""Values closer than this count as equal."""

Part = tuple[str, bool | None, str]
"""Key of a claim, whether it holds of a part of the figure, and the measured values."""


def claims(number: int, lines: Sequence[Line]) -> dict[str, Verdict]:
    """The claims about a figure; a claim about several delays is one claim."""
    grouped: dict[str, list[Part]] = {}
    for part in parts(number, lines):
        grouped.setdefault(part[0], []).append(part)
    return {
        key: Verdict(every(holds for _, holds, _ in found), "; ".join(text for *_, text in found))
        for key, found in grouped.items()
    }


def parts(number: int, lines: Sequence[Line]) -> Iterator[Part]:
    """The claims about a figure, those about each delay one by one."""
    match number:
        case 3:
            yield from _fec(lines)
        case 4:
            yield from _arq(lines)
        case 8:
            yield from map(_never_falls, lines)
        case _:
            yield from _hybrid(number, lines)


def _fec(lines: Sequence[Line]) -> Iterator[Part]:
    for line in lines:
        best = max(range(len(line.cells)), key=line.mean)
        twelve = _at(line, 12)
        holds = every(
            at_least(twelve, other)
            for other, cell in zip(line.found, line.cells, strict=True)
            if cell.n != 12
        )
        yield "peak", holds, f"{line.label}: N = {line.cells[best].n}, {line.mean(best):.3f}"
    twelves = [_at(line, 12) for line in lines]
    yield "eighty", every(within(value, 0.78, 0.84) for value in twelves), _span(twelves)
    share = [
        times(line.found[place], cell.n / 10)
        for line in lines
        for place, cell in enumerate(line.cells)
        if cell.n > 12
    ]
    yield "decay", every(within(one, 0.98, 1.001) for one in share), f"{_span(share)} of K/N"


def _arq(lines: Sequence[Line]) -> Iterator[Part]:
    yield from map(_never_falls, lines)
    ordered = {line.cells[0].delay_ms: line for line in lines if line.cells[0].in_order}
    plain = {line.cells[0].delay_ms: line for line in lines if not line.cells[0].in_order}
    for delay, line in ordered.items():
        with_order, without = line.found[5], plain[delay].found[5]
        holds = at_least(times(with_order, 0.75), without)
        share = without.mean / with_order.mean if with_order.mean else 0.0
        yield "order", holds, f"D = {delay} ms: {share:.2f} of it without, delta = 5"
    for delay, line in ordered.items():
        # With FEC alone, an always busy link is the upper bound.
        fec = max(Cell(n, 0, delay, line.cells[0].p).ceiling() for n in range(10, 17))
        best = max(line.found, key=_mean)
        found = f"D = {delay} ms: {best.mean:.3f}; FEC at most {fec:.3f}"
        yield "beats", at_least(best, EXACT, by=fec), found


def _hybrid(number: int, lines: Sequence[Line]) -> Iterator[Part]:
    arq = lines[-1].found[0]
    best, cell = max(
        (
            (value, cell)
            for line in lines
            for value, cell in zip(line.found, line.cells, strict=True)
        ),
        key=lambda found: found[0].mean,
    )
    yield "close", at_least(arq, best, by=-CLOSE), f"{best.mean:.3f}, {arq.mean:.3f}"
    most = 0 if number == 6 else 1
    few = max((line.found[place] for line in lines for place in range(most + 1)), key=_mean)
    more = (value for line in lines for value in line.found[most + 1 :])
    holds = every(at_least(few, value, by=-0.001) for value in more)
    yield "one" if most else "none", holds, f"best at N = {cell.n}, delta = {cell.delta}"
    if number == 7:
        busy = lines[-1].cells[0].ceiling()
        yield "same", at_least(best, by=busy - CLOSE), f"{best.mean:.3f}, busy {busy:.3f}"


def _never_falls(line: Line) -> Part:
    fall = 0.0
    verdicts: list[bool | None] = []
    for place, value in enumerate(line.found):
        # Runs with the same number share their draws, so a rising mean is not due to chance.
        highest = max(line.found[: place + 1], key=_mean)
        fall = max(fall, highest.mean - value.mean)
        verdicts.append(at_least(value, highest, by=-FALL))
    return "rises", every(verdicts), f"{line.label}: by {fall:.3f} at most"


def _at(line: Line, n: int) -> Estimate:
    return next(line.found[place] for place, cell in enumerate(line.cells) if cell.n == n)


def _mean(value: Estimate) -> float:
    return value.mean


def _span(values: list[Estimate]) -> str:
    means = [value.mean for value in values]
    low, high = f"{min(means):.3f}", f"{max(means):.3f}"
    return low if low == high else f"{low} to {high}"
