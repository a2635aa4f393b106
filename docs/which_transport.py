"""Runs the study of docs/which-transport.md, and fills the page: tables, conclusions, figure.

    python docs/which_transport.py results/which [--page PAGE] [--figure FIGURE] [OPTION ...]

Runs that the folder holds are not repeated; further options are those of `clift run`. A run that
did not finish counts as 150 s, in medians and in paired differences.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as pq
from pages import ROOT, markdown, put
from study import plt, save

from clift.campaign.statistics import Difference, difference, estimate, holm
from clift.cli.main import run

STUDY = ROOT / "examples/which_transport.toml"
PAGE = ROOT / "docs/which-transport.md"
IMAGE = ROOT / "docs/images/which_transport.svg"
LIMIT = 150.0
METRICS = {"page": "page_load_s", "file": "completion_s", "call": "mos"}
COLOURS = {"none": "#999999", "ARQ": "#0072b2", "ARQ in order": "#56b4e9", "HARQ(10/12)": "#d55e00"}
FILES = ("file, TCP CUBIC", "file, TCP BBR", "file, QUIC CUBIC", "file, QUIC BBR")
# quinn's BBR starts with 200 packets.
FROM_TEN = "file, QUIC BBR from 10 packets"

Key = tuple[str, str, str, str]
"""Place with its queue, reception, repair, use."""
Values = dict[int, float]


class Claim(NamedTuple):
    """That one pair of repair and use is better than another one, in the same place."""

    text: str
    first: tuple[str, str]
    second: tuple[str, str]


def _over(use: str, first: str, second: str) -> Claim:
    """Of two repairs under one use."""
    name = "A call is better" if use == "call" else f"{use.removeprefix('file, ')} is faster"
    better, worse = (one.partition("(")[0] for one in (first, second))
    than = "without repair" if worse == "none" else f"over {worse}"
    return Claim(f"{name} over {better} than {than}", (first, use), (second, use))


def _than(first: str, second: str) -> Claim:
    """Of two senders of a file over ARQ."""
    text = f"{first} is faster than {second}, both over ARQ"
    return Claim(text, ("ARQ", f"file, {first}"), ("ARQ", f"file, {second}"))


def _page(bbr: str) -> Claim:
    """Of two ways to load a page over ARQ."""
    text = f"Pages over ARQ: HTTP/3 with {bbr} is faster than HTTP/2 with proxies"
    return Claim(text, ("ARQ", f"page, HTTP/3, {bbr}"), ("ARQ", "page, HTTP/2, proxies BBR"))


CLAIMS = [
    _over("file, QUIC CUBIC", "ARQ in order", "ARQ"),
    _over("file, QUIC CUBIC", "ARQ in order", "HARQ(10/12)"),
    _over("file, TCP CUBIC", "ARQ in order", "ARQ"),
    _over("file, TCP BBR", "ARQ", "ARQ in order"),
    _over("file, TCP CUBIC", "ARQ", "none"),
    _over("file, TCP BBR", "ARQ", "none"),
    _over("file, TCP CUBIC", "ARQ", "HARQ(10/12)"),
    _over("file, TCP BBR", "ARQ", "HARQ(10/12)"),
    _than("QUIC BBR", "TCP BBR"),
    _than("QUIC BBR", "TCP CUBIC"),
    _than("QUIC BBR from 10 packets", "TCP BBR"),
    _than("QUIC BBR from 10 packets", "TCP CUBIC"),
    Claim(
        "Files over ARQ: proxies with BBR are faster than BBR end to end",
        ("ARQ", "file, proxies BBR"),
        ("ARQ", "file, TCP BBR"),
    ),
    _page("BBR"),
    _page("BBR from 10 packets"),
    _over("call", "HARQ(10/12)", "ARQ"),
    _over("call", "ARQ", "ARQ in order"),
]


def read(folder: Path) -> dict[Key, Values]:
    """Returns what each run of a cell measured, by its number."""
    found: dict[Key, Values] = {}
    for row in pq.read_table(folder / "runs.parquet").to_pylist():
        key = row["place"], row["reception"], row["repair"], row["use"]
        task = row["use"].split(",")[0]
        value = row[METRICS[task]]
        if value is None and task != "call":
            value = LIMIT
        if value is not None:
            found.setdefault(key, {})[row["run"]] = value
    return found


def shown(values: Values) -> str:
    """Formats the median of a cell, its 95 % interval, and how many runs did not finish.

    >>> shown({0: 5.0, 1: 6.0, 2: 6.0, 3: 7.0, 4: 8.0, 5: 150.0})
    '6.5 (5->150), 1 not'
    """
    found = estimate(list(values.values()))
    if found is None or found.median is None:
        return ""
    late = sum(value >= LIMIT for value in values.values())
    if late == len(values):
        return "never"
    text = _time(found.median)
    if found.median_low is not None and found.median_high is not None:
        text += f" ({_time(found.median_low)}-{_time(found.median_high)})"
    return text + (f", {late} not" if late else "")


def _time(value: float) -> str:
    return f">{LIMIT:.0f}" if value >= LIMIT else f"{value:.3g}"


def labels(cells: dict[Key, Values], place: int) -> list[str]:
    """Returns the labels of an axis, by its place in the keys."""
    return list(dict.fromkeys(key[place] for key in cells))


def table(
    cells: dict[Key, Values],
    uses: Sequence[str],
    repairs: Sequence[str],
    columns: Sequence[tuple[str, str]],
) -> str:
    """Formats medians: a row per use and repair, a column per place and reception."""
    heads = [f"{place.split(',')[0]}, {_short(one)}" for place, one in columns]
    lines = []
    for use in uses:
        for repair in repairs:
            row = [cells.get((place, one, repair, use)) for place, one in columns]
            if any(row):
                values = (shown(one) if one else "" for one in row)
                lines.append([use.partition(", ")[2], repair, *values])
    return markdown(["", "repair", *heads], lines) + "\n"


def _short(reception: str) -> str:
    return reception.removeprefix("bad, bursts of ")


def judged(cells: dict[Key, Values], claim: Claim) -> dict[tuple[str, str], str]:
    """Whether a claim holds in each place and reception: "yes", "opposite", or "open".

    By paired differences of the runs; Holm's correction is over all conditions of the claim.
    """
    found: dict[tuple[str, str], Difference] = {}
    for place in labels(cells, 0):
        for reception in labels(cells, 1):
            first = cells.get((place, reception, *claim.first))
            second = cells.get((place, reception, *claim.second))
            if first and second and (one := difference(first, second)) is not None:
                found[place, reception] = one
    held = holm([one.p for one in found.values()])
    # Less time is better, and a higher score of a call.
    sign = 1 if claim.first[1] == "call" else -1
    return {
        at: "open" if not sure else "yes" if one.mean * sign > 0 else "opposite"
        for (at, one), sure in zip(found.items(), held, strict=True)
    }


def conclusions(cells: dict[Key, Values]) -> str:
    """Formats where each claim holds and where the opposite does; the rest is open."""
    lines = []
    for claim in CLAIMS:
        verdicts = judged(cells, claim)
        row = [_where(verdicts, said) for said in ("yes", "opposite")]
        neither = sum(said == "open" for said in verdicts.values())
        lines.append([claim.text, *row, f"{neither} of {len(verdicts)}"])
    return markdown(["claim", "holds", "the opposite holds", "neither"], lines) + "\n"


def _where(verdicts: dict[tuple[str, str], str], wanted: str) -> str:
    """Lists receptions by place; with an asterisk where not all queues have the verdict."""
    found: dict[str, dict[str, list[bool]]] = {}
    for (place, reception), said in verdicts.items():
        own = found.setdefault(place.split(",")[0], {})
        own.setdefault(_short(reception), []).append(said == wanted)
    told = []
    for place, receptions in found.items():
        names = [f"{one}{'' if all(own) else '*'}" for one, own in receptions.items() if any(own)]
        told += [f"{place} {', '.join(names)}"] if names else []
    return "; ".join(told)


def draw(cells: dict[Key, Values], path: Path) -> None:
    """Draws medians of files over the length of bursts, a panel per place and transport."""
    plt.rcParams.update({"font.size": 9, "svg.hashsalt": "which", "svg.fonttype": "none"})
    places = [place for place in labels(cells, 0) if place.endswith(" 1 BDP")]
    bad = [one for one in labels(cells, 1) if one != "good"]
    figure, panels = plt.subplots(
        len(places), len(FILES), figsize=(10, 2.4 * len(places)), sharey="row", sharex=True,
        layout="constrained", squeeze=False,
    )  # fmt: skip
    for row, place in zip(panels, places, strict=True):
        for panel, use in zip(row, FILES, strict=True):
            for number, (repair, colour) in enumerate(COLOURS.items()):
                for x, y, low, high in _points(cells, place, bad, repair, use):
                    at = x + (number - 1.5) * 0.15
                    panel.plot([at, at], [low, high], color=colour, linewidth=1)
                    panel.plot(at, y, "^" if y >= LIMIT else "o", color=colour, markersize=4)
            panel.set_yscale("log")
            panel.set_yticks(
                [2, 5, 10, 20, 50, 100], ["2", "5", "10", "20", "50", "100"], minor=False
            )
            panel.minorticks_off()
            panel.axhline(LIMIT, color="#999999", linewidth=0.6, linestyle=":")
            panel.set_xticks(range(len(bad)), map(_short, bad))
            panel.grid(alpha=0.3, axis="y")
        row[0].set_ylabel(f"{place.split(',')[0]}: time for 3 MB (s)")
    for panel, use in zip(panels[0], FILES, strict=True):
        panel.set_title(use.removeprefix("file, "), fontsize=10, weight="bold")
    figure.supxlabel("burst length in slots, 2 % erased", fontsize=9)
    handles = [
        plt.Line2D([], [], marker="o", color=colour, label=name) for name, colour in COLOURS.items()
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=4, frameon=False)
    save(figure, path)


def _points(
    cells: dict[Key, Values], place: str, bad: Sequence[str], repair: str, use: str
) -> Iterator[tuple[int, float, float, float]]:
    for x, reception in enumerate(bad):
        values = cells.get((place, reception, repair, use))
        found = estimate(list(values.values())) if values else None
        if found and found.median is not None:
            low, high = found.median_low, found.median_high
            yield x, found.median, low or found.median, high or found.median


def write(cells: dict[Key, Values], page: Path, image: Path) -> None:
    """Fills a page and draws its figure."""
    near = [place for place in labels(cells, 0) if place.endswith(" 1 BDP")]
    bad = [one for one in labels(cells, 1) if one != "good"]
    pages = [use for use in labels(cells, 3) if use.startswith("page")]
    parts = {
        "conclusions": conclusions(cells),
        "files": table(cells, (*FILES, FROM_TEN), list(COLOURS), [(near[0], one) for one in bad]),
        "pages": table(cells, pages, list(COLOURS)[1::2], [(one, bad[0]) for one in near[:2]]),
    }
    for name, text in parts.items():
        put(page, name, text)
    draw(cells, image)


def main(arguments: Sequence[str]) -> int:
    """Completes the runs, and writes tables and figure; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--page", type=Path, default=PAGE)
    parser.add_argument("--figure", type=Path, default=IMAGE)
    given, more = parser.parse_known_args(arguments)
    if code := run(["sweep", str(STUDY), "-o", str(given.folder), "--no-plots", *more]):
        return code
    write(read(given.folder), given.page, given.figure)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
