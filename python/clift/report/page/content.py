"""Content of a page as JSON: columns in base64, plain texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from clift._arrays import Floats
from clift.campaign.conclusion import Range, Verdict, as_good, cost, head, percent
from clift.campaign.metrics import judged_in, metric
from clift.report.page.columns import averaged, column, numbers, thinned
from clift.report.page.study import FIGURES, Study

# Bytes of all metrics before base64, which adds a third; the page must stay below 5 MB.
_MOST_BYTES = 1_800_000
# Maximum number of points of all lines over time, and of one line.
_MOST_POINTS = 160_000
_LONGEST_LINE = 600
MOST_FLOWS = 4
# Number of intervals of rates, and segments per interval: shorter ones would show single segments.
_INTERVALS = 80
_SEGMENTS = 8
_MOST_RUNS = 5000
_MOST_VERDICTS = 2000
# Maximum length of a text; the table below repeats it in full.
_LONGEST_TEXT = 1500
_LONGEST_SETTING = 300
# Metrics of interest, in addition to the judged and the printed ones.
_ASKED = (
    *("completion_s", "goodput_kbps", "ip_throughput_kbps", "share_sent_again", "timeouts"),
    *("links.0.share_used", "links.0.packet_delay_ms.mean", "links.0.packet_delay_ms.p95"),
    *("links.0.queueing_delay_ms.mean", "fairness", "retransmissions"),
)
_NUMBER = re.compile(r"\s*([-+]?[\d.]+(?:e[-+]?\d+)?)\s*([^\d\s].*)?", re.IGNORECASE)
_SERIES = {
    "goodput_kbps": "rate",
    "cwnd_packets": "window",
    "queue_packets": "queue",
    "capacity_kbps": "capacity",
}


def content(study: Study, explorer: str | None = None) -> dict[str, Any]:
    """Data that the script of the page draws and lists.

    Args:
        study: The study.
        explorer: Address of the page that runs the cells of the study; None without one.
    """
    return {
        "explorer": explorer,
        "axes": [_axis(study, number) for number in range(len(study.axes))],
        "compared": next(
            (number for number, axis in enumerate(study.axes) if axis.name == study.compared), None
        ),
        "places": [numbers(places) for places in study.places],
        "runs_of": numbers(study.runs_of),
        "names": [study.name(cell) for cell in range(min(study.size, 64))],
        **_metrics(study),
        "series": _series(study),
        "delays": [
            {"cell": cell, "x": column(x), "y": column(y)} for cell, x, y in distributions(study)
        ],
        "sequence": _sequence(study),
        "units": _units(study),
        "verdicts": verdicts(study),
        "runs": _runs(study),
    }


def shortened(text: str, most: int = _LONGEST_TEXT) -> str:
    """The text, cut at `most` characters.

    Example:
        >>> shortened("one, two, three", 9)
        'one, two ...'
    """
    return text if len(text) <= most else f"{text[:most].rstrip(' ,;')} ..."


def verdicts(study: Study) -> list[list[str]]:
    """One row per condition: condition, best, difference, its interval, and further costs.

    Example:
        >>> import clift
        >>> phy = clift.channel.bernoulli(slots=100_000, p=0.02, seed=1)
        >>> vary = {"scheme": ["none", "ARQ"]}
        >>> scenario = {"trace": {"file": phy}, "link": {"start": "random", "wrap": True},
        ...             "duration": "10 s", "runs": 8, "vary": vary}
        >>> from clift.report.page.study import of
        >>> verdicts(of(clift.campaign.run(scenario, progress=False)))[0][1]
        'ARQ'
    """
    rows = []
    for one in study.record.get("verdicts", [])[:_MOST_VERDICTS]:
        where = ", ".join(label for label in one["condition"] if label is not None)
        if one["best"] is not None:
            other = one["among"][0]
            gain = f"{percent(Range.of(one['gain']))} {one['word']} than {other}"
            if one["gain"][0] is None:
                gain = f"{other} has no {one['word'].removeprefix('more ')}"
            interval = percent(Range.of(one["interval"])) if one["interval"] else ""
            row = [
                one["best"],
                gain,
                interval,
                "; ".join(cost(what, unit, Range.of(ends)) for what, unit, ends in one["costs"]),
            ]
        elif one["why"]:
            row = [f"no winner: {one['why']}", "", "", ""]
        else:
            verdict = Verdict.of(one)
            gain = f"{percent(verdict.gain)} apart{as_good(verdict)}"
            row = [head(verdict), gain, "", ""]
        rows.append([where or "everywhere", *row])
    return rows


def held_fixed(study: Study) -> list[tuple[str, str, str]]:
    """Key, value and origin of every key in effect; varied keys with all their points."""
    return [
        (key, shortened(str(one["value"]), _LONGEST_SETTING), str(one["from"]))
        for key, one in study.record.get("in_effect", {}).items()
    ]


def asked_for(study: Study, given: Mapping[str, Mapping[str, Floats]]) -> list[str]:
    """Metrics in order of interest; the first one judges the study.

    Args:
        study: The study.
        given: The estimates of its metrics.
    """

    def measured(name: str) -> bool:
        found = given.get(name)
        return found is not None and bool(found["runs"][0] > 0)

    judged = judged_in(study.record, measured)
    printed = [name for _, name, _, _ in study.printed()]
    return [name for name in dict.fromkeys([judged, *printed, *_ASKED, *given]) if name in given]


def place(label: str) -> tuple[float, str] | None:
    """The number in a label and its unit; None if the label is not a number.

    Example:
        >>> place("7.5 dB"), place("ARQ"), place("2 %"), place("-3")
        ((7.5, 'dB'), None, (2.0, '%'), (-3.0, ''))
    """
    found = _NUMBER.fullmatch(label)
    try:
        return None if found is None else (float(found[1]), (found[2] or "").strip())
    except ValueError:  # several points
        return None


def scale(labels: tuple[str, ...]) -> tuple[list[float], str] | None:
    """Positions of an axis's points on a scale, with the unit; None if they are not numbers.

    Example:
        >>> scale(("5 dB", "8 dB")), scale(("500 ms", "1 s")), scale(("ARQ", "none"))
        (([5.0, 8.0], 'dB'), None, None)
    """
    places = [place(label) for label in labels]
    known = [one for one in places if one is not None]
    if len(known) < len(places) or len({unit for _, unit in known}) != 1:
        return None
    values = [value for value, _ in known]
    told_apart = len(set(values)) == len(values) and np.isfinite(values).all()
    return (values, known[0][1]) if told_apart else None


def _axis(study: Study, number: int) -> dict[str, Any]:
    axis = study.axes[number]
    found = scale(axis.labels)
    return {
        "name": axis.name,
        "labels": axis.labels,
        "names": axis.names,
        "condition": axis.is_condition,
        "values": None if found is None else found[0],
        "unit": "" if found is None else found[1],
    }


def _metrics(study: Study) -> dict[str, Any]:
    found = dict(study.estimates())
    names = asked_for(study, found)
    each = study.size * 8 * (len(FIGURES) + 1)
    kind = "f8" if each * len(names) <= _MOST_BYTES else "f4"
    figures = FIGURES if kind == "f8" else FIGURES[:3]
    each = study.size * (8 if kind == "f8" else 4) * len(figures)
    kept = names[: max(1, min(len(names), _MOST_BYTES // each))]
    metrics = []
    for name in kept:
        shown, columns = metric(name), found[name]
        one: dict[str, Any] = {"name": name, "title": shown.title, "unit": shown.unit}
        one |= {"scale": shown.scale}
        for figure in figures:
            if not np.isnan(columns[figure]).all():
                one[figure] = column(columns[figure], kind)
        runs = np.nan_to_num(columns["runs"])
        if not np.array_equal(runs, study.runs_of):
            one["runs"] = numbers(runs)
        metrics.append(one)
    printed = [one for one in study.printed() if one[1] in kept]
    return {
        "metrics": metrics,
        "metrics_in_all": len(names),
        "printed": [list(one) for one in printed],
    }


def over_time(study: Study) -> Iterator[tuple[int, int, dict[str, tuple[Any, Any]]]]:
    """Rate, window, queue and capacity of the first flows of each cell: points by name."""
    found = list(study.of_cells("series"))
    lines = sum(min(MOST_FLOWS, len(np.unique(columns["flow"]))) for _, columns in found)
    most = min(_LONGEST_LINE, max(60, _MOST_POINTS // max(1, 3 * lines)))
    for cell, columns in found:
        for flow in np.unique(columns["flow"])[:MOST_FLOWS]:
            mine = columns["flow"] == flow
            time = columns["time_s"][mine].astype(np.float64)
            sent = columns["segments_sent"][mine].max() if "segments_sent" in columns else np.inf
            intervals = int(min(_INTERVALS, max(10, sent / _SEGMENTS)))
            drawn = {}
            for name, short in _SERIES.items():
                # Earlier versions wrote no capacity, and that of a link without a trace is unknown.
                values = columns.get(name, np.full(mine.size, np.nan))[mine].astype(np.float64)
                if not np.isnan(values).all():
                    is_rate = name.endswith("kbps")
                    shorten, points = (averaged, intervals) if is_rate else (thinned, most)
                    drawn[short] = shorten(time, values, points)
            yield cell, int(flow), drawn


def _series(study: Study) -> list[dict[str, Any]]:
    drawn = list(over_time(study))
    several = {cell for cell, flow, _ in drawn if flow}
    return [
        {"cell": cell, "flow": flow}
        | {name: [column(x), column(y)] for name, (x, y) in lines.items()}
        | {"several": cell in several}
        for cell, flow, lines in drawn
    ]


def distributions(study: Study) -> Iterator[tuple[int, Any, Any]]:
    """One-way delays of each cell: ms, and the share of segments with at most that delay."""
    for cell, columns in study.of_cells("delays"):
        counts = columns["segments"]
        there = counts > 0
        if there.any():
            shares = np.cumsum(counts)[there] / counts.sum()
            # A delay in a bin is at most the bin's upper edge.
            first = columns["from_ms"][np.flatnonzero(there)[0]]
            yield (
                cell,
                np.concatenate([[first], columns["to_ms"][there]]),
                np.concatenate([[0.0], shares]),
            )


def _sequence(study: Study) -> list[dict[str, Any]]:
    return [
        {
            "cell": cell,
            "around": bool(found["around_a_loss"][0]),
            "time": column(found["time_s"], "f8"),
            "kind": column(found["kind"], "u1"),
            "seq": column(found["seq"], "f8"),
        }
        for cell, found in study.of_cells("sequence")
    ]


def _units(study: Study) -> list[dict[str, Any]]:
    return [
        {
            "cell": cell,
            "unit": str(found["unit"][0]),
            "time": column(found["time_s"], "f8"),
            "arrival": column(found["arrival_s"].astype(np.float64), "f8"),
            "kind": column(found["kind"], "u1"),
            "asked": column(found["attempt"] > 0, "u1"),
            "number": column(found["number"], "f8"),
            "ours": column(found["of_the_loss"], "u1"),
        }
        for cell, found in study.of_cells("units")
    ]


def _runs(study: Study) -> dict[str, Any]:
    cell, run, seed = study.runs(_MOST_RUNS)
    return {
        "cell": numbers(cell),
        "run": numbers(run),
        "seed": column(seed, "u8"),
        "in_all": study.tables["runs"].num_rows,
    }
