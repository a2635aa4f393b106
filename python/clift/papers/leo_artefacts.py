"""Tables 1 and 2 and figures 4 to 7 of Tauran 2017 as artefacts.

Three numbers of the channel are fitted to the printed tables at 7, 10 and 13 dB
(docs/concepts/adaptive-harq.md). These rows are marked and do not count.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import clift._clift as _clift
import clift.papers.leo as leo
from clift._arrays import Floats
from clift.campaign.statistics import Estimate
from clift.live import AdaptiveHarqLink
from clift.papers.artefact import Curve, Effort, Label, Outcome, Row, Rows
from clift.papers.cache import shared_cache
from clift.papers.leo import Cell
from clift.papers.registry import parameters
from clift.papers.verdict import Verdict, ahead, at_least, at_most, averaged, every, over, within
from clift.scenario import Scenario
from clift.simulation import Run, run_many

BUFFERS = {1: "none", 2: "125 packets"}
FREE_KBPS = 40_000
"""Rate that the text expects without errors."""
SPURIOUS = ("dupack_percent", "rto_percent", "spurious_percent")
_BIN_S = 0.01
_DRAWN_S = 1.0
_SHOWN_DB = 13


def table_1(effort: Effort, profile: str) -> Outcome:
    """Table 1: without a re-ordering mechanism."""
    rows = _table(effort, profile, 1)

    def at(metric: str, transport: str, level: int) -> Estimate:
        return rows.at(metric, transport=transport, snr_db=level)

    levels, both = rows.values("snr_db"), rows.values("transport")
    goodput = [at("goodput_kbps", tcp, level) for tcp in both for level in levels]
    kept = [
        over(at(metric, tcp, levels[-1]), at(metric, tcp, levels[0]))
        for metric in ("dupack_percent", "spurious_percent")
        for tcp in both
    ]
    most, least = max(one.mean for one in goodput), min(one.mean for one in kept)
    verdicts = {
        "low": Verdict(
            every(at_most(one, by=FREE_KBPS / 10) for one in goodput), f"at most {most:.0f} kbit/s"
        ),
        "dupack": Verdict(
            every(at_least(one, by=0.5) for one in kept), f"at least {least:.2f} of it"
        ),
    }
    return Outcome(rows, verdicts)


def table_2(effort: Effort, profile: str) -> Outcome:
    """Table 2: with the re-ordering buffer."""
    rows, without = (_table(effort, profile, table) for table in (2, 1))
    return Outcome(rows, buffer_claims(rows, without))


def buffer_claims(rows: Rows, without: Rows) -> dict[str, Verdict]:
    """Claims of section 4.2 that compare table 2 with table 1."""

    def at(of: Rows, metric: str, transport: str, level: int) -> Estimate:
        return of.at(metric, transport=transport, snr_db=level)

    levels, both = rows.values("snr_db"), rows.values("transport")
    cells = [(tcp, level) for tcp in both for level in levels]
    pairs = [[at(of, "goodput_kbps", *cell) for of in (rows, without)] for cell in cells]
    fold = over(*(at(of, "goodput_kbps", "cubic", _SHOWN_DB) for of in (rows, without)))
    timeouts = [[at(of, "rto_percent", *cell) for of in (rows, without)] for cell in cells]
    cubic = [
        [at(rows, "goodput_kbps", tcp, level) for tcp in ("cubic", "newreno")]
        for level in levels
        if level >= 8
    ]
    more = sum(mine.mean > other.mean for mine, other in timeouts)
    return {
        "goodput": ahead(pairs, "{} x"),
        "fold": Verdict(at_least(fold, by=3), f"{fold.mean:.2f} x"),
        "rto": Verdict(
            every(at_least(mine, other) for mine, other in timeouts),
            f"more in {more} of {len(timeouts)} cells",
        ),
        "cubic": ahead(cubic, "{} x NewReno"),
    }


def figure_4(effort: Effort, profile: str) -> Outcome:
    """Figure 4: goodput with and without the buffer and delayed ACK, over the SNR."""
    rows = Rows()
    fits = parameters(leo.PAPER)["fit"]["snr_db"]
    for table, delayed in ((1, False), (1, True), (2, False), (2, True)):
        for cell in _cells(effort, profile, table, delayed):
            labels: dict[str, Label] = {
                "transport": cell.transport,
                "buffer": BUFFERS[table],
                "delayed_ack": "on" if delayed else "off",
                "snr_db": cell.snr_db,
            }
            # The tables print what the figure draws without delayed ACK.
            printed = None if delayed else cell.printed["goodput_kbps"]
            found = averaged(cell.values["goodput_kbps"])
            rows.append(Row(labels, "goodput_kbps", found, printed, cell.snr_db in fits))
    return Outcome(rows, delayed_claims(rows))


def delayed_claims(rows: Rows) -> dict[str, Verdict]:
    """Claims of section 5 about delayed ACK, for the mean over the SNRs of each TCP."""
    found: dict[str, Verdict] = {}
    for key, buffer, better in (("with", BUFFERS[2], "off"), ("without", BUFFERS[1], "on")):
        verdicts, changes = [], []
        for tcp in rows.values("transport"):
            of = {
                state: [
                    row.found
                    for row in rows.select(
                        "goodput_kbps", transport=tcp, buffer=buffer, delayed_ack=state
                    )
                ]
                for state in ("on", "off")
            }
            ratios = [over(on, off) for on, off in zip(of["on"], of["off"], strict=True)]
            mean = _mean(ratios)
            one = Estimate(1.0, 0.0, 2)
            verdicts.append(at_least(one, mean) if better == "off" else at_least(mean, one))
            changes.append(f"{tcp} {mean.mean - 1:+.0%}")
        found[key] = Verdict(every(verdicts), ", ".join(changes))
    return found


def figure_5(effort: Effort, profile: str) -> Outcome:
    """Figure 5: CUBIC's timeouts, recoveries and spurious packets with and without the buffer."""
    rows = Rows()
    fits = parameters(leo.PAPER)["fit"]["snr_db"]
    for table in (1, 2):
        for cell in _cells(effort, profile, table):
            if cell.transport == "cubic":
                labels: dict[str, Label] = {"buffer": BUFFERS[table], "snr_db": cell.snr_db}
                rows += [
                    Row(
                        labels,
                        metric,
                        averaged(cell.values[metric]),
                        cell.printed[metric],
                        cell.snr_db in fits,
                    )
                    for metric in SPURIOUS
                ]
    return Outcome(rows, cubic_claims(rows))


def cubic_claims(rows: Rows) -> dict[str, Verdict]:
    """Claims about figure 5."""

    def pairs(metric: str) -> list[list[Estimate]]:
        return [
            [rows.at(metric, buffer=one, snr_db=level) for one in ("125 packets", "none")]
            for level in rows.values("snr_db")
        ]

    fewer = [over(mine, other) for mine, other in pairs("dupack_percent")]
    most = max(one.mean for one in fewer)
    found = {
        "dupack": Verdict(every(at_most(one, by=0.5) for one in fewer), f"at most {most:.2f} of it")
    }
    for key, metric in (("rto", "rto_percent"), ("spurious", "spurious_percent")):
        both = pairs(metric)
        more = sum(mine.mean > other.mean for mine, other in both)
        holds = every(at_least(mine, other) for mine, other in both)
        found[key] = Verdict(holds, f"more at {more} of {len(both)} SNRs")
    return found


def figure_6(effort: Effort, profile: str) -> Outcome:
    """Figure 6: load of CUBIC on the satellite link at 13 dB, over time and on average."""
    rows, curves = Rows(), []
    printed = parameters(leo.PAPER)["load"]
    for table, buffer in BUFFERS.items():
        runs = _runs(effort, profile, table)
        loads = [_coded_bits(run) / effort.duration_s / 1e6 for run in runs]
        paper = printed["mbps"] if table == 2 else None
        rows.append(Row({"buffer": buffer}, "load_mbps", averaged(loads), paper))
        time_s, busiest = _air(runs[0], effort.duration_s, _BIN_S)
        rows.append(
            Row({"buffer": buffer}, "load_most_mbps", Estimate(float(busiest.max()), None, 1))
        )
        each = round(_DRAWN_S / _BIN_S)
        whole = len(busiest) // each * each
        means = busiest[:whole].reshape(-1, each).mean(axis=1)
        curves.append(
            Curve(f"buffer: {buffer}", "load in 1 s (Mbit/s)", time_s[:whole:each], means)
        )
    return Outcome(rows, load_claims(rows), curves)


def load_claims(rows: Rows) -> dict[str, Verdict]:
    """Claims of section 5 about the load.

    The maximum of 10 ms comes from the first run: the paper claims one such instant only.
    """
    load = rows.at("load_mbps", buffer=BUFFERS[2])
    most = rows.at("load_most_mbps", buffer=BUFFERS[2]).mean
    rate = parameters(leo.PAPER)["scenario"]["rate_kbps"] / 1e3
    return {
        "load": Verdict(within(load, 0.8 * 7.8, 1.2 * 7.8), f"{load.mean:.1f} Mbit/s"),
        "full": Verdict(most >= 0.95 * rate, f"up to {most:.0f} Mbit/s"),
    }


def figure_7(effort: Effort, profile: str) -> Outcome:
    """Figure 7: CUBIC's window at 13 dB with and without the buffer."""
    rows, curves = Rows(), []
    for table, buffer in BUFFERS.items():
        means: list[float] = []
        for run in _runs(effort, profile, table):
            series = run.series(500)
            window = series.column("cwnd_packets").to_numpy()
            if not means:
                time_s = series.column("time_s").to_numpy()
                curves.append(
                    Curve(f"buffer: {buffer}", "congestion window (packets)", time_s, window)
                )
            means.append(float(np.mean(window)))
        rows.append(Row({"buffer": buffer}, "cwnd_mean_packets", averaged(means)))
    ratio = over(*(rows.at("cwnd_mean_packets", buffer=BUFFERS[table]) for table in (2, 1)))
    return Outcome(rows, {"window": Verdict(at_least(ratio, by=2), f"{ratio.mean:.1f} x")}, curves)


def _table(effort: Effort, profile: str, table: int) -> Rows:
    fits = parameters(leo.PAPER)["fit"]["snr_db"]
    columns = parameters(leo.PAPER)["columns"]["names"]
    return Rows(
        Row(
            {"transport": cell.transport, "snr_db": cell.snr_db},
            metric,
            averaged(cell.values[metric]),
            cell.printed[metric],
            cell.snr_db in fits,
        )
        for metric in columns
        for cell in sorted(
            _cells(effort, profile, table),
            key=lambda cell: (cell.transport != "newreno", cell.snr_db),
        )
    )


@shared_cache
def _cells(effort: Effort, profile: str, table: int, delayed_ack: bool = False) -> tuple[Cell, ...]:
    """The cells of a table; its figures share them."""
    return tuple(
        leo.table_cells(
            [table],
            effort.runs,
            effort.seed,
            duration_s=effort.duration_s,
            delayed_ack=delayed_ack,
            profile=profile,
            link=lambda seed, snr_db: _link(effort.duration_s, seed, snr_db),
        )
    )


@shared_cache
def _link(duration_s: float, seed: int, snr_db: float) -> AdaptiveHarqLink:
    """A link for each duration, seed and SNR, which the tables and figures share."""
    return leo.paper_link(duration_s)(seed, snr_db)


@shared_cache
def _runs(effort: Effort, profile: str, table: int) -> list[Run]:
    """CUBIC at 13 dB."""
    todo: list[Scenario] = [
        leo.scenario(
            _link(effort.duration_s, seed, _SHOWN_DB), table, "cubic", seed, effort.duration_s,
            profile=profile,
        )
        for seed in effort.seeds
    ]  # fmt: skip
    return run_many(todo, progress=False)


def _air(run: Run, duration_s: float, bin_s: float) -> tuple[Floats, Floats]:
    """Times and the coded bits sent in each bin, in Mbit/s.

    The log has no bits; a repetition has `increment` of what a first attempt has `first` of, and
    all packets are of one size.
    """
    units = run.units()
    start = units.column("time_ns").to_numpy() / 1e9
    kinds = units.column("kind").to_numpy()
    weights = np.where(kinds == _clift.UNIT_NEW, 1.0, 0.47)
    bits = weights / weights.sum() * _coded_bits(run)
    count = int(np.ceil(duration_s / bin_s))
    sums = np.bincount(np.minimum((start / bin_s).astype(int), count - 1), bits, minlength=count)
    return bin_s * np.arange(count, dtype=np.float64), sums / bin_s / 1e6


def _coded_bits(run: Run) -> float:
    link: Mapping[str, Any] = run.summary()["links"][0]
    return float(link["harq_coded_bits"])


def _mean(ratios: list[Estimate]) -> Estimate:
    """The mean of independent estimates."""
    mean = sum(one.mean for one in ratios) / len(ratios)
    if any(one.half_width is None for one in ratios):
        return Estimate(mean, None, len(ratios))
    half = float(np.hypot.reduce([one.half_width or 0.0 for one in ratios])) / len(ratios)
    return Estimate(mean, half, len(ratios))
