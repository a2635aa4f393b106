"""Section 5 of Kuhn 2014: bulk data over the distribution scenario, up and down.

The channel is the preset `distribution`. Its fades are fitted to table 1 and the delays of CUBIC in
table 2 (docs/evidence/lms-presets.md); all other values are predictions.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

import clift.tmt as tmt
from clift.campaign.statistics import Estimate
from clift.land_mobile import LandMobile
from clift.link_trace import LinkTrace
from clift.papers.artefact import Effort, Outcome, Row, Rows
from clift.papers.cache import shared_cache
from clift.papers.registry import described, parameters
from clift.papers.verdict import Verdict, alike, at_least, averaged, every, over, times, within
from clift.scenario import Scenario
from clift.simulation import Run, run_many
from clift.trace import PhyTrace

PAPER = "ijscn2014"
FAST = ("hybla", "cubic", "westwood")
SLOW = ("newreno", "compound")
FULL = 0.9
"""A TCP that gets this share reaches the capacity."""
_SAMPLE_MS = 500


class Measured(NamedTuple):
    """Measured values of a run.

    Attributes:
        throughput_mbps: IP packets received.
        retransmitted_share: Of the packets sent.
        most_retransmissions: Of one packet.
        delays_s: Least, 85 % and 99 % of the delay from first transmission to delivery in order.
    """

    throughput_mbps: float
    retransmitted_share: float
    most_retransmissions: int
    delays_s: tuple[float, float, float]


def figure_8(effort: Effort, profile: str) -> Outcome:
    """Figure 8: throughput of five TCPs over four schemes, up link."""
    return _throughput(effort, profile, "distribution", "capacity_up_kbps")


def figure_9(effort: Effort, profile: str) -> Outcome:
    """Figure 9: the same down the link, with code words of 1523 bytes."""
    return _throughput(effort, profile, "distribution-down", "capacity_down_kbps")


def table_1(effort: Effort, profile: str) -> Outcome:
    """Table 1: how often CUBIC sends packets again."""
    rows = Rows()
    for scheme, *printed in described(PAPER, "table 1")["rows"]:
        runs = _measured(effort, profile, "distribution", "cubic", scheme)
        shares = [run.retransmitted_share for run in runs]
        most = [float(run.most_retransmissions) for run in runs]
        labels = {"scheme": scheme}
        rows.append(Row(labels, "retransmitted_share", averaged(shares), printed[0], fitted=True))
        rows.append(Row(labels, "most_retransmissions", averaged(most), printed[1]))
    return Outcome(rows, fewer(rows))


def fewer(rows: Rows) -> dict[str, Verdict]:
    """Claims of section 5.1 about table 1."""
    arq, *harq = (rows.at("retransmitted_share", scheme=one) for one in rows.values("scheme"))
    found = ", ".join(f"{one.mean:.2%}" for one in (arq, *harq))
    return {"fewer": Verdict(every(at_least(arq, one) for one in harq), found)}


def table_2(effort: Effort, profile: str) -> Outcome:
    """Table 2: delays of IP packets, and Hybla's window."""
    table = described(PAPER, "table 2")
    rows = Rows()
    for transport, scheme, *printed in table["rows"]:
        runs = _measured(effort, profile, "distribution", transport, scheme)
        for place, metric in enumerate(table["columns"][2:]):
            found = averaged([run.delays_s[place] for run in runs])
            is_fit = transport == "cubic" and metric != "delay_min_s"
            labels = {"transport": transport, "scheme": scheme}
            rows.append(Row(labels, metric, found, printed[place], fitted=is_fit))
    labels = {"transport": "hybla", "scheme": "ARQ"}
    ends = _window(effort, profile)
    for (metric, value), found in zip(table["window"].items(), ends, strict=True):
        rows.append(Row(labels, metric, found, value))
    return Outcome(rows, delay_claims(rows))


def delay_claims(rows: Rows) -> dict[str, Verdict]:
    """Claims of section 5.1 about delays."""

    def p99(transport: str, scheme: str) -> Estimate:
        return rows.at("delay_p99_s", transport=transport, scheme=scheme)

    schemes = rows.values("scheme", "delay_p99_s")
    both = rows.values("transport", "delay_p99_s")
    longer = every(
        at_least(p99(tcp, scheme), p99(tcp, "ARQ")) for tcp in both for scheme in schemes[1:]
    )
    hybla = every(at_least(p99("hybla", scheme), p99("cubic", scheme)) for scheme in schemes)
    ratio = [p99("hybla", scheme).mean / p99("cubic", scheme).mean for scheme in schemes]
    shares = [p99(tcp, scheme).mean / p99(tcp, "ARQ").mean for tcp in both for scheme in schemes]
    low, high = (
        rows.at(metric, transport="hybla", scheme="ARQ")
        for metric in ("cwnd_p5_packets", "cwnd_p95_packets")
    )
    window = every([within(low, 0.75 * 200, 1.25 * 200), within(high, 0.75 * 750, 1.25 * 750)])
    return {
        "longer": Verdict(longer, f"99 %: {min(shares):.2f} to {max(shares):.2f} x ARQ's"),
        "hybla": Verdict(hybla, f"99 %: {min(ratio):.1f} to {max(ratio):.1f} x CUBIC's"),
        "window": Verdict(window, f"5 to 95 % of the time {low.mean:.0f} to {high.mean:.0f}"),
    }


def _throughput(effort: Effort, profile: str, preset: str, capacity: str) -> Outcome:
    setup = parameters(PAPER)["distribution"]
    rows = Rows()
    for transport in setup["transports"]:
        for scheme in setup["schemes"]:
            runs = _measured(effort, profile, preset, transport, scheme)
            found = averaged([run.throughput_mbps for run in runs])
            rows.append(Row({"transport": transport, "scheme": scheme}, "throughput_mbps", found))
    return Outcome(rows, capacity_claims(rows, setup[capacity] / 1e3))


def capacity_claims(rows: Rows, capacity_mbps: float) -> dict[str, Verdict]:
    """Claims of section 5.1 about throughput.

    Args:
        rows: Throughput by transport and scheme.
        capacity_mbps: Rate of IP packets that fills the link.
    """

    def at(transport: str, scheme: str) -> Estimate:
        return rows.at("throughput_mbps", transport=transport, scheme=scheme)

    schemes = rows.values("scheme")
    full = {one: times(at(one, "ARQ"), 1 / capacity_mbps) for one in FAST}
    rates = [
        times(over(at(one, scheme), at(one, "ARQ")), 1 / _rate(scheme))
        for one in FAST
        for scheme in schemes[1:]
    ]
    below = every(
        at_least(at(fast, scheme), at(slow, scheme))
        for slow in SLOW
        for fast in FAST
        for scheme in schemes
    )
    arq = every(at_least(at(slow, "ARQ"), at(slow, one)) for slow in SLOW for one in schemes[1:])
    shares = ", ".join(f"{one} {found.mean:.2f}" for one, found in full.items())
    slow = max(
        at(one, scheme).mean / at("cubic", scheme).mean for one in SLOW for scheme in schemes
    )
    gains = [at(one, scheme).mean / at(one, "ARQ").mean for one in SLOW for scheme in schemes[1:]]
    return {
        "capacity": Verdict(every(at_least(found, by=FULL) for found in full.values()), shares),
        "rate": alike(rates, "{} of X/Y"),
        "below": Verdict(below, f"at most {slow:.2f} of CUBIC's"),
        "arq": Verdict(arq, f"HARQ-II {min(gains):.2f} to {max(gains):.2f} x ARQ"),
    }


def _rate(scheme: str) -> float:
    data, total = map(int, scheme.split("(")[1].rstrip(")").split("/"))
    return data / total


@shared_cache
def _links(preset: str, scheme: str, duration_s: float, seeds: range) -> list[LinkTrace]:
    return [tmt.apply(phy, scheme, rtt_ms=500) for phy in _traces(preset, duration_s, seeds)]


@shared_cache
def _traces(preset: str, duration_s: float, seeds: range) -> list[PhyTrace]:
    # Two full queues of 1000 packets drain up to 20 s after the run.
    with ThreadPoolExecutor() as pool:
        return list(pool.map(lambda seed: LandMobile(preset).trace(duration_s + 30, seed), seeds))


@shared_cache
def _measured(
    effort: Effort, profile: str, preset: str, transport: str, scheme: str
) -> tuple[Measured, ...]:
    """Results of the runs of a cell; tables 1 and 2 and figure 8 share them."""
    return tuple(_numbers(run) for run in run_many(
        _scenarios(effort, profile, preset, transport, scheme), progress=False
    ))  # fmt: skip


def _scenarios(
    effort: Effort, profile: str, preset: str, transport: str, scheme: str
) -> list[Scenario]:
    setup = parameters(PAPER)["distribution"]
    links = _links(preset, scheme, effort.duration_s, effort.seeds)
    how = setup["run"] | {"transport": transport, "profile": profile}
    return [
        Scenario(link, duration_s=effort.duration_s, seed=seed, **how)
        for link, seed in zip(links, effort.seeds, strict=True)
    ]


def _numbers(run: Run) -> Measured:
    summary = run.summary()
    flow = summary["flows"][0]
    delay = flow["in_order_delay_ms"]
    assert delay is not None  # bulk data over a link that works
    sent = flow["segments_by_retransmissions"]
    return Measured(
        summary["ip_throughput_kbps"] / 1e3,
        summary["retransmissions"] / summary["segments_sent"],
        max(times for times, count in enumerate(sent) if count or times == 0),
        (delay["min"] / 1e3, delay["p85"] / 1e3, delay["p99"] / 1e3),
    )


@shared_cache
def _window(effort: Effort, profile: str) -> tuple[Estimate, Estimate]:
    """Values that Hybla's window exceeds 95 % and 5 % of the time, over ARQ."""
    runs = run_many(_scenarios(effort, profile, "distribution", "hybla", "ARQ"), progress=False)
    ends: Sequence[Sequence[float]] = [
        np.quantile(
            run.series(_SAMPLE_MS).column("cwnd_packets").to_numpy(),
            (0.05, 0.95),
            method="inverted_cdf",
        )
        for run in runs
    ]
    low, high = zip(*ends, strict=True)
    return averaged([float(one) for one in low]), averaged([float(one) for one in high])
