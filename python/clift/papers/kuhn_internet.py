"""Sections 6 and 7 of Kuhn 2014: pages and bulk data over the mobile GEO link of 263 kbit/s.

The channel is the preset `internet`. Its four numbers are fitted to New Reno's cells of table 3
(docs/evidence/lms-presets.md); all other values are predictions. The extended CLIFT paper prints
parts of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import Any

import clift.tmt as tmt
from clift.campaign.statistics import Estimate, worth
from clift.land_mobile import LandMobile
from clift.link_trace import LinkTrace
from clift.papers.artefact import Effort, Outcome, Row, Rows
from clift.papers.cache import shared_cache
from clift.papers.registry import described, parameters
from clift.papers.verdict import Verdict, ahead, alike, at_least, averaged, every, over, within
from clift.scenario import Scenario
from clift.simulation import run_many
from clift.trace import PhyTrace

PAPER = "ijscn2014"
FITTED = "newreno"
"""Table 3's cells of this TCP were used in the fit."""
THREE = ("ARQ", "HARQ(10/12)", "HARQ(10/15)")
BOTH = ("ARQ", "HARQ(10/12)")
"""The schemes whose interleaving the text compares."""
_APART_S = 12.0
SAME = 0.05
"""Rates that differ by less count as equal."""


def table_3(effort: Effort, profile: str) -> Outcome:
    """Table 3: load time in s of a page of 100 kB, with starts spread evenly over drives.

    Example:
        >>> found = table_3(Effort(runs=4, duration_s=400), "papers")
        >>> len(found.rows), found.rows.at("completion_s", transport="hybla", scheme="ARQ",
        ...     esn0_db=8).mean < 4.5
        (60, True)
    """
    rows = _pages(effort, profile, parameters(PAPER)["internet"]["transports"], PAPER, "table 3")
    return Outcome(rows, page_claims(rows))


def table_2_of_clift2014(effort: Effort, profile: str) -> Outcome:
    """Table II of the extended CLIFT paper: the same of New Reno and CUBIC."""
    rows = _pages(effort, profile, ["newreno", "cubic"], "clift2014", "table 2")
    verdicts = page_claims(rows)
    both = ("newreno", "cubic")
    ratios = [
        over(*(rows.at("completion_s", transport=one, scheme=s, esn0_db=db) for one in both))
        for s, db in product(THREE, parameters(PAPER)["internet"]["esn0_db"])
    ]
    most = max(ratio.mean for ratio in ratios)
    same = Verdict(
        every(within(ratio, 1 / 1.2, 1.2) for ratio in ratios), f"New Reno up to {most:.2f} x CUBIC"
    )
    return Outcome(rows, {key: verdicts[key] for key in ("arq", "harq")} | {"same": same})


def figure_10(effort: Effort, profile: str) -> Outcome:
    """Figure 10: goodput of bulk data, in IP packets received, with interleaving."""
    setup = parameters(PAPER)["internet"]
    found = _bulk(
        effort, profile, tuple(setup["transports"]), tuple(setup["schemes"]),
        tuple(setup["esn0_db"]), setup["interleaving_ms"],
    )  # fmt: skip
    rows = _bulk_rows(found, PAPER, "figure 10")
    return Outcome(rows, bulk_claims(rows))


def figure_6_of_clift2014(effort: Effort, profile: str) -> Outcome:
    """Figure 6 of the extended CLIFT paper: the same of New Reno and CUBIC."""
    setup = parameters(PAPER)["internet"]
    found = _bulk(
        effort, profile, ("newreno", "cubic"), ("ARQ", "HARQ(10/12)", "HARQ(50/52)"),
        tuple(setup["esn0_db"]), setup["interleaving_ms"],
    )  # fmt: skip
    rows = _bulk_rows(found, "clift2014", "figure 6")
    verdicts = bulk_claims(rows)
    cells = list(product(rows.values("scheme"), rows.values("esn0_db")))
    pairs = [
        [_rate(rows, transport, scheme, level) for transport in ("cubic", "newreno")]
        for scheme, level in cells
    ]
    # Controls that fill the link are equal, hence the tolerance of a per cent.
    holds = every(at_least(cubic, reno, by=-0.01 * reno.mean) for cubic, reno in pairs)
    gains = [cubic.mean / reno.mean for cubic, reno in pairs]
    told = Verdict(holds, f"CUBIC {min(gains):.2f} to {max(gains):.2f} x New Reno")
    return Outcome(rows, {key: verdicts[key] for key in ("harq", "arq")} | {"cubic": told})


def figure_11(effort: Effort, profile: str) -> Outcome:
    """Figure 11: goodput without interleaving, and with it for comparison."""
    setup = parameters(PAPER)["internet"]
    parts = (
        (0, setup["plain_esn0_db"], tuple(setup["schemes"])),
        (setup["interleaving_ms"], setup["esn0_db"], BOTH),
    )
    rows = Rows()
    for interleaving, levels, schemes in parts:
        found = _bulk(effort, profile, ("cubic", "hybla"), schemes, tuple(levels), interleaving)
        rows += _bulk_rows(found, PAPER, "figure 11", interleaving)
    return Outcome(rows, interleaving_claims(rows))


def page_claims(rows: Rows) -> dict[str, Verdict]:
    """Claims of section 6 about pages.

    Example:
        >>> rows = Rows(Row({"transport": "cubic", "scheme": scheme, "esn0_db": level},
        ...     "completion_s", Estimate(mean, 0.1, 9)) for scheme, level, mean in [
        ...     ("ARQ", 5, 9.0), ("HARQ(10/12)", 5, 7.0), ("HARQ(10/15)", 5, 6.0),
        ...     ("ARQ", 8, 5.1), ("HARQ(10/12)", 8, 5.2), ("HARQ(10/15)", 8, 6.0)])
        >>> found = page_claims(rows)
        >>> found["harq"].holds, found["arq"].holds
        (True, None)
    """

    def at(transport: str, scheme: str, level: int) -> Estimate:
        return rows.at("completion_s", transport=transport, scheme=scheme, esn0_db=level)

    transports = rows.values("transport")
    slow = [one for one in transports if one != "hybla"]
    low, high = min(rows.values("esn0_db")), max(rows.values("esn0_db"))
    gains = {tcp: over(at(tcp, "ARQ", low), at(tcp, "HARQ(10/12)", low)).mean for tcp in slow}
    harq = every(
        at_least(at(tcp, "ARQ", low), at(tcp, scheme, low)) for tcp in slow for scheme in THREE[1:]
    )
    arq = every(
        at_least(at(tcp, scheme, high), at(tcp, "ARQ", high))
        for tcp in transports
        for scheme in THREE[1:]
    )
    best = {tcp: min(THREE, key=lambda scheme: at(tcp, scheme, low).mean) for tcp in transports}
    # The best HARQ of each: one of them has to be faster.
    first = every(
        at_least(
            at(tcp, "ARQ", low),
            min((at(tcp, scheme, low) for scheme in THREE[1:]), key=lambda found: found.mean),
        )
        for tcp in transports
    )
    worst = {tcp: min(THREE, key=lambda scheme: at(tcp, scheme, high).mean) for tcp in transports}
    span = f"ARQ takes {min(gains.values()):.2f} to {max(gains.values()):.2f} x HARQ(10/12)"
    return {
        "harq": Verdict(harq, span),
        "arq": Verdict(arq, f"best at {high} dB: {_listed(worst)}"),
        "all": Verdict(first, f"best at {low} dB: {_listed(best)}"),
    }


def bulk_claims(rows: Rows) -> dict[str, Verdict]:
    """Claims of section 6 about bulk data."""
    transports = rows.values("transport")
    slow = [one for one in transports if one != "hybla"]
    pairs = [
        (_rate(rows, tcp, "HARQ(10/12)", level), _rate(rows, tcp, "ARQ", level))
        for tcp in slow
        for level in (5, 6)
    ]
    arq, harq = (_rate(rows, "cubic", scheme, 8) for scheme in ("ARQ", "HARQ(10/12)"))
    verdicts = {
        "harq": ahead(pairs, "HARQ(10/12) {} x ARQ"),
        "arq": Verdict(at_least(arq, harq), f"{arq.mean:.0f} beside {harq.mean:.0f} kbit/s"),
    }
    if "hybla" in transports:
        shares = [
            over(_rate(rows, "hybla", "ARQ", level), _rate(rows, "hybla", "ARQ", 8))
            for level in (5, 6, 7)
        ]
        holds = every(at_least(share, by=0.9) for share in shares)
        least = min(share.mean for share in shares)
        verdicts["hybla"] = Verdict(holds, f"at least {least:.2f} of it")
    return verdicts


def interleaving_claims(rows: Rows) -> dict[str, Verdict]:
    """Claims of section 7 about interleaving."""

    def at(transport: str, scheme: str, level: int, interleaving: int) -> Estimate:
        return rows.at(
            "ip_throughput_kbps",
            transport=transport, scheme=scheme, esn0_db=level, interleaving_ms=interleaving,
        )  # fmt: skip

    shares = [
        over(at("hybla", scheme, level, 0), at("hybla", scheme, level, 36))
        for scheme in BOTH
        for level in (5, 6, 7, 8)
    ]
    verdicts = {"hybla": alike(shares, "{} of what it has with interleaving")}
    for key, scheme, with_it, equal, less in (
        ("four", "ARQ", 8, 12, 10),
        ("two", "HARQ(10/12)", 6, 8, 7),
    ):
        goal = at("cubic", scheme, with_it, 36)
        same, short = (over(at("cubic", scheme, one, 0), goal) for one in (equal, less))
        holds = every(
            [within(same, 1 - SAME, 1 + SAME), at_least(Estimate(1 - SAME, 0.0, 2), short)]
        )
        verdicts[key] = Verdict(
            holds, f"{same.mean:.2f} of it at {equal} dB, {short.mean:.2f} at {less} dB"
        )
    return verdicts


@shared_cache
def _traces(
    levels: tuple[float, ...], interleaving: float, duration_s: float, seeds: range
) -> list[list[PhyTrace]]:
    """One drive per Es/N0 and seed; the road is the same at every Es/N0."""
    channel = LandMobile("internet", levels[0], interleaving)
    with ThreadPoolExecutor() as pool:
        drives = pool.map(lambda seed: channel.traces(levels, duration_s, seed), seeds)
    return [list(of_level) for of_level in zip(*drives, strict=True)]


def _pages(effort: Effort, profile: str, transports: Sequence[str], paper: str, table: str) -> Rows:
    setup = parameters(PAPER)["internet"]
    levels, traces = setup["esn0_db"], setup["traces"]
    seeds = range(effort.seed, effort.seed + traces)
    keys, todo = [], []
    # Starts are evenly spaced over the drives, each in the middle of its step.
    each = -(-effort.runs // traces)
    # A short drive is enough for a few transfers.
    length = min(setup["trace_s"], _APART_S * each)
    step = length / each
    starts = [(number % traces, (number // traces + 0.5) * step) for number in range(effort.runs)]
    drives = _traces(tuple(levels), setup["interleaving_ms"], length, seeds)
    both = [(phy, scheme) for phys in drives for scheme in THREE for phy in phys]
    with ThreadPoolExecutor() as pool:
        applied = pool.map(lambda one: tmt.apply(one[0], one[1], rtt_ms=500), both)
    for level in levels:
        for scheme in THREE:
            links = [next(applied) for _ in seeds]
            for transport in transports:
                size = {"file_bytes": setup["file_bytes"]}
                base = [_scenario(link, transport, profile, effort, **size) for link in links]
                keys.append((transport, scheme, level))
                todo += [
                    base[drive].replace(start_offset_s=start, seed=effort.seed + number)
                    for number, (drive, start) in enumerate(starts)
                ]
    runs = iter(run_many(todo, progress=False))
    found = {}
    for key in keys:
        times = [next(runs).completion_s or effort.duration_s for _ in starts]
        # Transfers that overlap meet the same fades; the drives lie one after the other.
        begin = [drive * 2 * length + start for drive, start in starts]
        found[key] = averaged(times, worth(begin, times))
    return Rows(
        Row(
            {"transport": transport, "scheme": scheme, "esn0_db": level},
            "completion_s",
            found[transport, scheme, level],
            value,
            fitted=transport == FITTED,
        )
        for (transport, scheme, level), value in _table(paper, table).items()
    )


def _scenario(
    link: LinkTrace, transport: str, profile: str, effort: Effort, **more: Any
) -> Scenario:
    more |= parameters(PAPER)["internet"]["run"] | {"transport": transport, "profile": profile}
    return Scenario(link, wrap=True, duration_s=effort.duration_s, **more)


@shared_cache
def _bulk(
    effort: Effort,
    profile: str,
    transports: tuple[str, ...],
    schemes: tuple[str, ...],
    levels: tuple[float, ...],
    interleaving: float,
) -> dict[tuple[str, str, float], Estimate]:
    """Rate of IP packets received in kbit/s, by transport, scheme and Es/N0."""
    keys, todo = [], []
    drives = _traces(levels, interleaving, effort.duration_s + 20, effort.seeds)
    for level, phys in zip(levels, drives, strict=True):
        for scheme in schemes:
            links = [tmt.apply(phy, scheme, rtt_ms=500) for phy in phys]
            for transport in transports:
                keys.append((transport, scheme, level))
                todo += [
                    _scenario(link, transport, profile, effort).replace(seed=seed)
                    for link, seed in zip(links, effort.seeds, strict=True)
                ]
    runs = iter(run_many(todo, progress=False))
    return {
        key: averaged([next(runs).summary()["ip_throughput_kbps"] for _ in effort.seeds])
        for key in keys
    }


def _bulk_rows(
    found: dict[tuple[str, str, float], Estimate],
    paper: str,
    figure: str,
    interleaving: int | None = None,
) -> Rows:
    printed = {tuple(row[:-1]): row[-1] for row in described(paper, figure)["rows"]}
    rows = Rows()
    for (transport, scheme, level), value in found.items():
        labels: dict[str, str | int | float]
        labels = {"transport": transport, "scheme": scheme, "esn0_db": level}
        if interleaving is not None:
            labels["interleaving_ms"] = interleaving
        paper_value = printed.get(tuple(labels.values()))
        # The choice of the instants of a code word used figure 11.
        fitted = interleaving is not None and paper_value is not None
        rows.append(Row(labels, "ip_throughput_kbps", value, paper_value, fitted))
    return rows


def _table(paper: str, name: str) -> dict[tuple[str, str, float], float]:
    table = described(paper, name)
    levels = table["columns"][2:]
    return {
        (row[0], row[1], level): value
        for row in table["rows"]
        for level, value in zip(levels, row[2:], strict=True)
    }


def _rate(rows: Rows, transport: str, scheme: str, level: float) -> Estimate:
    return rows.at("ip_throughput_kbps", transport=transport, scheme=scheme, esn0_db=level)


def _listed(best: dict[str, str]) -> str:
    groups: dict[str, list[str]] = {}
    for transport, scheme in best.items():
        groups.setdefault(scheme, []).append(transport)
    return "; ".join(f"{scheme}: {', '.join(of)}" for scheme, of in groups.items())
