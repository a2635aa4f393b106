"""Table I and figure 5 of the CLIFT papers: a window of 64 packets over 2.3 Mbit/s."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import clift.channel as channel
import clift.tmt as tmt
from clift.link_trace import LinkTrace
from clift.papers.artefact import Curve, Effort, Outcome, Row, Rows
from clift.papers.cache import shared_cache
from clift.papers.registry import described, parameters
from clift.papers.verdict import Verdict, at_least, averaged, every
from clift.scenario import Scenario
from clift.simulation import Run, run_many

PAPER = "clift2013"
_SAMPLE_MS = 250
_SHOWN_S = 400.0


def table_1(effort: Effort, profile: str) -> Outcome:
    """Table I: metrics of link and transport."""
    table = described(PAPER, "table 1")
    schemes = table["columns"][1:]
    fits = [tuple(cell) for cell in table["fits"]]
    found = {
        scheme: [
            measured(run.summary(), link.stats())
            for run, link in zip(
                _runs(effort, profile, scheme), _links(effort, scheme), strict=True
            )
        ]
        for scheme in schemes
    }
    rows = Rows(
        Row(
            {"scheme": scheme},
            metric,
            averaged([run[metric] for run in found[scheme]]),
            printed,
            fitted=(metric, scheme) in fits,
        )
        for metric, *values in table["rows"]
        for scheme, printed in zip(schemes, values, strict=True)
    )
    return Outcome(rows, claims(rows))


def claims(rows: Rows) -> dict[str, Verdict]:
    """Claims of section V about table I."""
    schemes = rows.values("scheme")

    def line(metric: str) -> list[Any]:
        return [rows.at(metric, scheme=scheme) for scheme in schemes]

    def listed(metric: str, digits: int) -> str:
        return ", ".join(f"{one.mean:.{digits}f}" for one in line(metric))

    arq, some, most = line("goodput_kbps")
    used = line("bandwidth_used_percent")
    again = line("transport_retx1_percent")
    return {
        "goodput": Verdict(
            every([at_least(some, arq), at_least(most, some)]),
            f"{listed('goodput_kbps', 0)} kbit/s",
        ),
        "bandwidth": Verdict(
            every([at_least(used[1], used[0]), at_least(used[2], used[1])]),
            f"{listed('bandwidth_used_percent', 1)} %",
        ),
        "spurious": Verdict(
            every(at_least(again[0], one) for one in again[1:]),
            f"{listed('transport_retx1_percent', 2)} % once",
        ),
    }


def figure_5(effort: Effort, profile: str) -> Outcome:
    """Figure 5: the window over time, and the number of reductions."""
    rows, curves = Rows(), []
    for scheme in parameters(PAPER)["scenario"]["schemes"]:
        runs = _runs(effort, profile, scheme)
        cuts = [float(run.summary()["window_reductions"]) for run in runs]
        rows.append(Row({"scheme": scheme}, "window_reductions", averaged(cuts)))
        series = runs[0].series(_SAMPLE_MS)
        # The figure draws the first run; the means of all windows are in the rows.
        windows = [run.series(_SAMPLE_MS).column("cwnd_packets").to_numpy() for run in runs]
        means = [float(window.clip(max=64).mean()) for window in windows]
        rows.append(Row({"scheme": scheme}, "cwnd_mean_packets", averaged(means)))
        time_s = series.column("time_s").to_numpy()
        drawn = time_s <= _SHOWN_S
        curves.append(
            Curve(scheme, "congestion window (packets)", time_s[drawn], windows[0][drawn])
        )
    return Outcome(rows, reductions(rows), curves)


def reductions(rows: Rows) -> dict[str, Verdict]:
    """Claims of the caption of figure 5."""
    cuts = [rows.at("window_reductions", scheme=scheme) for scheme in rows.values("scheme")]
    holds = every(at_least(more, fewer) for more, fewer in pairwise(cuts))
    return {"reductions": Verdict(holds, ", ".join(f"{one.mean:.0f}" for one in cuts))}


def measured(summary: Mapping[str, Any], stats: Mapping[str, Any]) -> dict[str, float]:
    """Table I's metrics of a run, in its units.

    Args:
        summary: Result of `Run.summary`.
        stats: Result of `LinkTrace.stats`.
    """
    link, flow = summary["links"][0], summary["flows"][0]
    delay = link["packet_delay_ms"]
    sent = flow["segments_by_retransmissions"]
    segments = [100 * count / max(1, sum(sent)) for count in sent]
    return {
        "bandwidth_used_percent": 100 * link["share_used"],
        "goodput_kbps": summary["goodput_kbps"],
        "mean_coding_ratio_percent": 100 * link["mean_coding_ratio"],
        "delay_min_ms": delay["min"],
        "delay_mean_ms": delay["mean"],
        "delay_max_ms": delay["max"],
        **{
            f"link_retx{again}_percent": 100 * stats["retransmissions"].get(str(again), 0.0)
            for again in range(4)
        },
        **{f"transport_retx{again}_percent": segments[again] for again in range(3)},
    }


@shared_cache
def _links(effort: Effort, scheme: str) -> list[LinkTrace]:
    setup = parameters(PAPER)["scenario"]
    slot_ns = setup["channel"]["slot_ns"]
    slots = round((effort.duration_s + 20) * 1e9 / slot_ns)
    burst = setup["stretch_s"] * 1e9 / slot_ns
    return [
        tmt.apply(
            channel.gilbert_elliott(slots, burst=burst, seed=seed, **setup["channel"]),
            scheme,
            rtt_ms=setup["rtt_ms"],
        )
        for seed in effort.seeds
    ]


@shared_cache
def _runs(effort: Effort, profile: str, scheme: str) -> list[Run]:
    setup = parameters(PAPER)["scenario"]
    how = setup["run"] | {"profile": profile, "queue_packets": None}
    todo = [
        Scenario(link, duration_s=effort.duration_s, seed=seed, **how)
        for link, seed in zip(_links(effort, scheme), effort.seeds, strict=True)
    ]
    return run_many(todo, progress=False)
