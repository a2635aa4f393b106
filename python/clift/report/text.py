"""Results as aligned text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from math import floor, log10
from textwrap import fill
from typing import Any

from clift._clift import parse_time
from clift._words import counted
from clift.campaign.caveats import given, noted, several, two_bbrs
from clift.campaign.conclusion import conclude
from clift.campaign.metrics import flows_of, links_of, metric
from clift.campaign.results import Cell, Comparison, Results, fewest
from clift.campaign.statistics import Estimate
from clift.errors import ScenarioError, TraceError
from clift.scenario import Scenario

WIDTH = 100
"""Maximum width of a table, in letters."""

# With fewer runs a 95th percentile is not meaningful.
_MANY = 20
# Above this number, flows are shown by least, median and most.
_MOST_FLOWS = 6
# Above this number of cells, only the first ones are shown.
_MOST_CELLS = 100
# Above this ratio of its two parts, an interval is written with both parts.
_LOPSIDED = 1.25
_CAPACITY = "links.{}.capacity_kbps"
# Capacities of runs that differ by a smaller share are one in a table.
_ALIKE = 0.01
# Where a link is meant, the one with the least capacity.
_FURTHER = {
    True: ["share_sent_again", "timeouts", "links.{}.share_used"],
    False: [
        *(_CAPACITY, "share_reached", "share_sent_again", "timeouts"),
        *("links.{}.share_used", "links.{}.packet_delay_ms.p95"),
    ],
}
# A limit is named if it held for this share of the time, and padding if it takes this of the link.
_NAMED = 0.1
_PADDED = 0.05


def report(results: Results, brief: bool = False) -> str:
    """The tables, or with `brief` the first of each kind of cell, and the conclusion."""
    parts = [f"{results.title} (seed {results.seed})"]
    if not results.is_complete:
        parts[0] += f" - INTERRUPTED after {results.done} of {counted(results.wanted, 'run')}"
    compared = results.comparisons()
    said: set[str] = set()
    there = results.cells[:_MOST_CELLS] if results.is_large else results.cells
    for is_transfer in (True, False):
        cells = [
            (index, cell) for index, cell in enumerate(there) if cell.is_transfer is is_transfer
        ]
        if cells:
            parts += _tables(results, cells, compared, said, brief)
    if len(there) < len(results.cells):
        parts.append(
            f"The first {len(there)} of {len(results.cells)} cells; -o and --json have all."
        )
    if len(there) == 1 and not brief and (of_links := _links(there[0])):
        parts.append(of_links)
    shared = given(results)
    parts += [fill(shared, WIDTH)] if shared else _alike(results)
    versions = two_bbrs(cell.scenario for cell in results.drawn if cell.scenario is not None)
    parts += [versions] if versions else []
    sentence = conclude(results)
    if sentence:
        parts.append(filled(sentence))
    parts += map(filled, first_notes(results))
    return "\n\n".join(parts)


# Columns of a table of links: what a link measures, and what a leg.
_OF_LINKS = (
    *("packets_offered", "packets_dropped", "packets_lost", "share_used"),
    "queueing_delay_ms.mean",
)


def _links(cell: Cell) -> str:
    """Table of the links of a network: means over the runs; empty for a path."""
    shown = {name: metric(f"links.0.{name}") for name in _OF_LINKS}
    rows = [
        [
            link.removeprefix("links.").replace("return_links.", "return of "),
            *(_figure(cell.mean(f"{link}.{name}"), one.scale) for name, one in shown.items()),
        ]
        for link in links_of(cell.values.names)
    ]
    heads = ["link", *(one.heading for one in shown.values())]
    return aligned([heads, *rows], left=1) if rows else ""


def first_notes(results: Results) -> list[str]:
    """Notes of the first cell whose first run has any."""
    found = noted(results)
    if not found:
        return []
    cell, notes = found[0]
    where = ", ".join(cell.name(axis) for axis in cell.labels)
    more = counted(len(found) - 1, "more cell")
    others = f" (and in {more})" if len(found) > 1 else ""
    return [f"Note{f' on {where}' if where else ''}{others}: {notes[0]}."]


def filled(text: str, indent: str = "") -> str:
    """A paragraph as wide as a table, with names in one piece; further lines are indented."""
    return fill(
        text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def aligned(rows: list[list[str]], left: int) -> str:
    """Align columns: the first `left` to the left, the others to the right.

    Example:
        >>> print(aligned([["scheme", "s"], ["ARQ", "12.1"]], left=1))
        scheme     s
        ARQ     12.1
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(
            text.ljust(width) if place < left else text.rjust(width)
            for place, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )
    return "\n".join(lines)


def with_interval(found: Estimate | None, scale: float = 1.0) -> str:
    """A mean with its interval, with the digits that the interval justifies.

    An asymmetric interval is written with both parts. A mean without an interval stands alone, if
    too few runs differ.

    Example:
        >>> with_interval(Estimate(12.0672, 0.3124, 200)), with_interval(Estimate(4.57, None, 1))
        ('12.07 ± 0.31', '4.57')
        >>> with_interval(Estimate(12.0672, 0.3, 60, low=11.9672, high=12.5672))
        '12.07 +0.50/-0.10'
        >>> with_interval(None), with_interval(Estimate(5.0, 0.0, 3))
        ('-', '5 ± 0')
    """
    if found is None:
        return "-"
    mean = found.mean * scale
    if not found.half_width:
        return f"{plain(mean)}{'' if found.half_width is None else ' ± 0'}"
    half = found.half_width * scale
    below, above = (end * scale for end in found.reach or (0.0, 0.0))
    digits = 1 - floor(log10(half))
    if mean:
        digits = min(digits, 3 - floor(log10(abs(mean))))
    digits = max(0, min(6, digits))
    up, down = f"{above:.{digits}f}", f"{below:.{digits}f}"
    if up == down or (min(above, below) > 0 and 1 / _LOPSIDED <= above / below <= _LOPSIDED):
        return f"{mean:.{digits}f} ± {half:.{digits}f}"
    return f"{mean:.{digits}f} +{up}/-{down}"


def _median(found: Estimate | None, scale: float) -> str:
    """The median, with its interval where the mean has none.

    Example:
        >>> _median(Estimate(7.0, None, 6, median=5.0, median_low=4.5, median_high=12.25), 1.0)
        '5 [4.5, 12.25]'
    """
    if found is None or found.median is None:
        return "-"
    text = plain(found.median * scale)
    if found.half_width is not None or found.median_low is None or found.median_high is None:
        return text
    return f"{text} [{plain(found.median_low * scale)}, {plain(found.median_high * scale)}]"


def plain(value: float) -> str:
    """A number with four digits, or all those before the point.

    Example:
        >>> plain(0.012345), plain(9999.7), plain(123456.7)
        ('0.01235', '10000', '123457')
    """
    return f"{value:.4g}" if abs(value) < 9_999.5 else f"{value:.0f}"


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of a table: its title and its texts."""

    title: str
    texts: list[str]
    sources: tuple[str, ...] = ()  # sources of a column of printed values

    @property
    def width(self) -> int:
        return max(map(len, [self.title, *self.texts]))


def _tables(
    results: Results,
    cells: list[tuple[int, Cell]],
    compared: list[Comparison],
    said: set[str],
    brief: bool,
) -> list[str]:
    """Tables of cells of one kind: judged metric, printed metrics, flows.

    A legend below each table explains its columns, unless `said` already contains it.
    """
    here = {index for index, _ in cells}
    beside = {(value.cell, value.metric): value for value in compared if value.cell in here}
    metrics = list(dict.fromkeys([cells[0][1].primary, *(name for _, name in beside)]))
    link = _tightest(cells[0][1])
    further = [name.format(link) for name in _FURTHER[cells[0][1].is_transfer]]
    further = [name for name in further if name not in metrics]
    if any(links_of(cell.values.names) for _, cell in cells):
        further = [name for name in further if not name.startswith("links.")]
    axes = [name for name, _ in results.axes if len({cell.labels[name] for _, cell in cells}) > 1]
    fixed = [f"{name} = {cells[0][1].labels[name]}" for name, _ in results.axes if name not in axes]
    left = [_Column(axis, [cell.labels[axis] for _, cell in cells]) for axis in axes]
    left.append(_Column("runs", [_runs(cell) for _, cell in cells]))
    columns: list[list[_Column]] = []  # each group stays in one table
    for name in metrics:
        columns.append(list(_of_metric(cells, name, beside)))
    if completions := list(_of_completions(cells, metrics)):
        columns.append(completions)
    columns += _of_further(cells, further, _CAPACITY.format(link))
    if any(limits := [limited_by(cell) for _, cell in cells]):
        columns.append([_Column("limited by", [text or "-" for text in limits])])
    of_flows = [flows_limited_by(cell) for _, cell in cells]
    for name in dict.fromkeys(name for limits in of_flows for name in limits):
        texts = [limits.get(name, "-") for limits in of_flows]
        columns.append([_Column(f"limited by: flow {name}", texts)])
    columns += [[column] for column in _of_flows(cells)]
    tables = [
        "\n".join([_text(part, len(axes)), *_explained(results, part, [c for _, c in cells], said)])
        for part in islice(_fitting(left, columns), 1 if brief else None)
    ]
    return ["\n".join([", ".join(fixed), tables[0]]) if fixed else tables[0], *tables[1:]]


def _of_metric(
    cells: list[tuple[int, Cell]], name: str, beside: dict[tuple[int, str], Comparison]
) -> Iterator[_Column]:
    """Mean with interval; with many runs median and 95th percentile; printed values."""
    scale = metric(name).scale
    found = [cell.estimate(name) for _, cell in cells]
    yield _Column(metric(name).heading, [with_interval(one, scale) for one in found])
    many = any(one is not None and one.runs >= _MANY for one in found)
    unsure = any(one is not None and one.half_width is None and one.runs > 1 for one in found)
    if (many or unsure) and name == cells[0][1].primary:
        yield _Column("median", [_median(one, scale) for one in found])
    if many and name == cells[0][1].primary:
        yield _Column("p95", [_figure(one.p95 if one else None, scale) for one in found])
    if name in {metric for _, metric in beside}:
        printed = [_printed(beside.get((index, name)), scale) for index, _ in cells]
        told = [one for index, _ in cells if (one := beside.get((index, name))) is not None]
        sources = dict.fromkeys(one.source for one in told if one.source)
        yield _Column("paper", [value for value, _ in printed], tuple(sources) or ("it",))
        yield _Column("difference", [difference for _, difference in printed])


def _of_completions(cells: list[tuple[int, Cell]], without: list[str]) -> Iterator[_Column]:
    """Times of the flows that completed, and their number, if several did."""
    if not any(cell.values.measures("completed_flows") for _, cell in cells):
        return
    if (name := "mean_completion_s") not in without:
        found = [cell.estimate(name) for _, cell in cells]
        yield _Column(metric(name).heading, [with_interval(one) for one in found])
    for name in ("p95_completion_s", "completed_flows"):
        yield _Column(metric(name).heading, _means(cells, name))


def _of_further(
    cells: list[tuple[int, Cell]], names: list[str], capacity: str
) -> Iterator[list[_Column]]:
    """Means of further metrics. A capacity that all runs have is in the title of the share."""
    [same, *others] = dict.fromkeys(_means(cells, capacity))
    is_one = not others and same != "-" and not _vary([cell for _, cell in cells], capacity)
    for name in names:
        if name == capacity and is_one:
            continue
        title = metric(name).heading
        if name == "share_reached" and is_one:
            title = f"% of {same} {metric(capacity).unit}"
        yield [_Column(title, _means(cells, name))]


def _vary(cells: list[Cell], name: str) -> bool:
    """Whether runs of one cell differ in a metric by more than a table hides."""
    found = [list(cell.column(name).values()) for cell in cells]
    return any(max(values) - min(values) > _ALIKE * max(values) for values in found if values)


def _of_flows(cells: list[tuple[int, Cell]]) -> Iterator[_Column]:
    """Goodput of each flow, if there are several."""
    counts = [len(list(_flows(cell))) for _, cell in cells]
    if max(counts) > _MOST_FLOWS or any(cell.values.measures(_LEAST) for _, cell in cells):
        for word in ("least", "most"):
            texts = ["" if one is None else plain(one) for one in _ends(cells, word)]
            yield _Column(f"{word} of a flow", texts)
        return
    if max(counts) < 2:
        return
    title = f"{metric('goodput_kbps').heading}: "
    for name in dict.fromkeys(name for _, cell in cells for name in _flows(cell)):
        found = (cell.mean(name) for _, cell in cells)
        texts = ["" if one is None else plain(one) for one in found]
        yield _Column(f"{title}flow {name.split('.')[1]}", texts)
        title = ""


# Summary keys of the least, median and most goodput among many flows.
_LEAST = "flows.least.goodput_kbps"


def _ends(cells: list[tuple[int, Cell]], word: str) -> Iterator[float | None]:
    """Goodput of the least or most served flow, in each cell."""
    for _, cell in cells:
        known = cell.mean(f"flows.{word}.goodput_kbps")
        means = [cell.mean(name) for name in _flows(cell)] if known is None else [known]
        there = [one for one in means if one is not None]
        yield (min if word == "least" else max)(there, default=None)


def _flows(cell: Cell) -> Iterator[str]:
    """Names of the flows' goodput metrics that any run has."""
    for flow in flows_of(cell.values.names):
        if cell.values.measures(f"flows.{flow}.goodput_kbps"):
            yield f"flows.{flow}.goodput_kbps"


def _fitting(left: list[_Column], groups: list[list[_Column]]) -> Iterator[list[_Column]]:
    """Distribute columns over tables that fit the width; each begins with the same columns."""
    width = sum(column.width + 2 for column in left) - 2
    part, taken = list(left), width
    for group in groups:
        wanted = sum(column.width + 2 for column in group)
        if taken + wanted > WIDTH and len(part) > len(left):
            yield part
            part, taken = list(left), width
        part += group
        taken += wanted
    yield part


def _text(columns: list[_Column], left: int) -> str:
    heads = [column.title for column in columns]
    rows = zip(*(column.texts for column in columns), strict=True)
    return aligned([heads, *map(list, rows)], left)


def _runs(cell: Cell) -> str:
    """Number of runs; with the number that have the metric, if not all do."""
    found = len(cell.column(cell.primary))
    done = len(cell.values)
    return str(done) if found == done else f"{found} of {done}"


def _printed(value: Comparison | None, scale: float) -> tuple[str, str]:
    if value is None:
        return "", ""
    difference = value.difference
    return (
        f"{value.printed * scale:.6g}",
        "-" if difference is None else f"{difference:+.1%}",
    )


def _means(cells: list[tuple[int, Cell]], name: str) -> list[str]:
    return [_figure(cell.mean(name), metric(name).scale) for _, cell in cells]


def _of_links(cell: Cell, metric: str) -> dict[int, float]:
    """Means of a metric of the links that have it, by number."""
    found = {}
    for name in cell.values.names:
        first, link, *rest = f"{name}..".split(".")
        one = cell.mean(name) if (first, rest[0]) == ("links", metric) else None
        if one is not None and link.isdecimal():
            found[int(link)] = one
    return found


def _tightest(cell: Cell) -> int:
    """The link of a path with the least capacity, by number; of legs alone the most used one."""
    if capacity := _of_links(cell, "capacity_kbps"):
        return min(capacity, key=capacity.__getitem__)
    used = _of_links(cell, "share_used")
    return max(used, key=used.__getitem__, default=0)


def limited_by(cell: Cell) -> str:
    """What limited the flows of a path, in shares of the time; empty if it is not known.

    The most used link limits as far as its slots were used: a full receive window costs nothing
    while the link is busy with what it let through. It also limits where packets wait and it uses
    no slot: an NR terminal has no free HARQ process. The rest of the time is divided by what
    senders waited for; what is neither the application nor the receive window nor an outage is
    congestion control, which had reduced its window or repaired losses. In a network each flow has
    its own limit: `flows_limited_by`.
    """
    if cell.scenario is not None and cell.scenario.config["network"] is not None:
        return ""
    used = _of_links(cell, "share_used")
    names = {f"links.{one}": f"link {one}" for one in used}
    if (least := f"links.{_tightest(cell)}") in names:
        names[least] = "link"
    hops = [] if cell.scenario is None else cell.scenario.config["path"]
    return _limited(cell, "", names, cell.mean("share_without_flows") or 0.0, _out(cell, hops))


def flows_limited_by(cell: Cell) -> dict[str, str]:
    """What limited each flow of a network, as `limited_by`; empty for a path, and for many flows.

    The links of a flow are those of its route. A flow without a single route (several paths, or
    routes that change) is left out: `clift why` explains the former.
    """
    scenario = cell.scenario
    if scenario is None or not (network := scenario.config["network"]):
        return {}
    if not 0 < len(list(_flows(cell))) <= _MOST_FLOWS or network["reroute_every"] is not None:
        return {}
    lasted = cell.mean("duration_s")
    found = {}
    for name, source, there in _routes(scenario):
        start, end = (cell.mean(f"flows.{name}.{key}") for key in ("start_s", "end_s"))
        if lasted is None or start is None or end is None:
            continue
        absent = 1 - (end - start) / lasted
        crossed = _crossed(network, source, there)
        out = _out(cell, [network["links"][link] for link in there])
        if text := _limited(cell, f"flows.{name}.", crossed, absent, out):
            found[name] = text
    return found


def _routes(scenario: Scenario) -> Iterator[tuple[str, str, list[str]]]:
    """Name, first node and links of each flow with one route; none if a trace is missing."""
    try:
        routes = scenario.routes()
    except (ScenarioError, TraceError):
        return
    flows = scenario.config["flow"]
    if len(flows) != len(routes):  # several paths, or flows that arrive
        return
    for flow, (name, there, _) in zip(flows, routes, strict=True):
        yield name, flow["from"], there


def _crossed(network: Mapping[str, Any], node: str, there: list[str]) -> dict[str, str]:
    """Prefix of the metrics, and name in words, of each link of a route that begins at a node."""
    names = {}
    for link in there:
        ends = network["links"][link]
        ahead = ends["from"] == node
        node = ends["to"] if ahead else ends["from"]
        key = f"links.{link}" if ahead else f"return_links.{link}"
        names[key] = f"link {link}" if ahead else f"return of link {link}"
    return names


def _out(cell: Cell, hops: Iterable[Mapping[str, Any]]) -> float:
    """Share of the time in which one of the hops, a leg, has an outage."""
    lasted = cell.mean("duration_s")
    legs = [hop["leg"] for hop in hops if hop["leg"]]
    spans = sorted(tuple(map(parse_time, span)) for leg in legs for span in leg["outages"])
    if lasted is None or not spans:
        return 0.0
    out, until = 0, 0
    for begin, end in spans:
        last = min(end, round(lasted * 1e9))
        out += max(0, last - max(begin, until))
        until = max(until, last)
    return out / (lasted * 1e9)


def _limited(
    cell: Cell, flow: str, links: Mapping[str, str], absent: float, out: float = 0.0
) -> str:
    """What limited a flow, or all without its prefix, whose data cross these links."""
    waits = ("share_application_limited", "share_window_limited")
    application, window = (cell.mean(flow + name) for name in waits)
    if application is None or window is None:
        return ""
    taken, waiting = (
        {link: one for link in links if (one := cell.mean(f"{link}.{name}")) is not None}
        for name in ("share_used", "share_waiting")
    )
    link = max(taken, key=lambda one: taken[one] + waiting.get(one, 0.0), default="")
    waits_of_link = waiting.get(link, 0.0)
    own = _own(cell, flow, link) if flow else 1.0
    shares = limits(application, window, taken.get(link), waits_of_link, absent, out, own)
    if link:
        shares[links[link]] = shares.pop("link")
    if cell.scenario is not None and _has_most_window(cell.scenario.config):
        shares["receive window or cwnd_max"] = shares.pop("receive window")
    ranked = sorted(shares.items(), key=lambda one: -one[1])
    text = ", ".join(f"{what} {100 * share:.0f} %" for what, share in ranked if share >= _NAMED)
    padding = cell.mean(f"{link}.share_padding") or 0.0
    if padding > _PADDED:
        text += f"; padding takes {100 * padding:.0f} % of the link"
    return text


def _own(cell: Cell, flow: str, link: str) -> float:
    """Share of the bytes which a link carried that are data of one flow."""
    carried = cell.estimate(f"{link}.bytes_delivered") or cell.estimate(f"{link}.bytes_sent")
    received = cell.estimate(f"{flow}ip_bytes_received")
    if carried is None or received is None:
        return 1.0
    return min(1.0, received.mean / carried.mean) if carried.mean else 0.0


def _has_most_window(config: Mapping[str, Any]) -> bool:
    """Whether a congestion window has an upper limit, which counts as a receive window does."""
    ends = [config, *config["flow"]]
    return any((end["transport"] or {}).get("cwnd_max") is not None for end in ends)


def limits(
    application: float,
    window: float,
    used: float | None,
    waiting: float = 0.0,
    absent: float = 0.0,
    out: float = 0.0,
    own: float = 1.0,
) -> dict[str, float]:
    """What limited flows: their waits, and the link's slots used, or unused while packets waited.

    The flows' waits are shares of their time. The application had no data in the share `absent` of
    the run, when there was no flow. A leg had an outage in the share `out`, which counts for the
    outage as far as it would for congestion control. Of what the link carried, the share `own` is
    the flow's; with data of others the link limits only a flow that has data to send.

    Example:
        >>> limits(0.5, 0.25, used=0.5)
        {'application': 0.25, 'receive window': 0.125, 'congestion control': 0.125, 'link': 0.5}
        >>> limits(0.0, 0.0, used=0.25, waiting=0.5)["link waits"]
        0.5
        >>> limits(0.0, 0.0, used=0.25, absent=0.5)["application"]
        0.5
        >>> limits(0.0, 0.0, used=0.25, out=0.25)["outage"]
        0.25
        >>> limits(0.5, 0.0, used=1.0, own=0.5)
        {'application': 0.25, 'receive window': 0.0, 'congestion control': 0.0, 'link': 0.75}
    """
    of_link = {} if used is None else {"link": used} | ({"link waits": waiting} if waiting else {})
    busy = sum(of_link.values())
    mine = min(busy * own, 1 - absent)
    rest = 1 - absent - mine
    path = max(0.0, 1 - application - window)
    shares = {"application": application, "receive window": window, "congestion control": path}
    shares = {what: share * rest for what, share in shares.items()}
    # With data of others the link is busy while this flow waits for the path.
    waited = rest - shares["application"]
    others = min(busy * (1 - own), waited)
    if others > 0:
        shares["receive window"] *= 1 - others / waited
        shares["congestion control"] *= 1 - others / waited
    part = (mine + others) / busy if busy > 0 else 1.0
    of_link = {what: share * part for what, share in of_link.items()}
    shares["application"] += absent
    outage = min(out, shares["congestion control"])
    shares["congestion control"] -= outage
    return shares | ({"outage": outage} if outage else {}) | of_link


def _figure(value: float | None, scale: float) -> str:
    return "-" if value is None else plain(value * scale)


def _explained(
    results: Results, columns: list[_Column], cells: list[Cell], said: set[str]
) -> list[str]:
    """Legend of the columns that need one, without lines in `said`."""
    titles = {column.title for column in columns}
    texts = [text for column in columns for text in column.texts]
    found = [cell.estimate(cell.primary) for cell in cells]
    parts = []
    if any("±" in text or "/-" in text for text in texts):
        parts.append("± and +/-: 95 % interval of the mean")
    if "median" in titles:
        both = ", p95" if "p95" in titles else ""
        parts.append(f"median{both}: over the runs")
    reached = metric("share_reached").heading
    if reached in titles and _vary(cells, _CAPACITY.format(_tightest(cells[0]))):
        parts.append(f"{reached.removesuffix(' (%)')}: mean of shares")
    if metric("completed_flows").heading in titles:
        parts.append("mean completion and its p95: over the flows that completed")
    if any(text.endswith("]") and " [" in text for text in texts):
        parts.append("[ ]: 95 % interval of the median")
    sources = dict.fromkeys(source for column in columns for source in column.sources)
    if sources:
        parts.append(f"paper: value printed in {' and '.join(sources)}")
        parts.append("difference: (mean - printed) / printed")
    unsure = [one for one in found if one is not None and one.half_width is None and one.runs > 1]
    least = fewest(cells[0].primary)
    timed = any(one.runs < least for one in unsure)
    if timed:
        runs = f"from {least} runs on"
        parts.append(f"the mean of a time, and the difference of two, has an interval {runs}")
    if (
        unsure
        and not timed
        and not any(cell.shared for cell in results.cells)
        and not _are_alike(results)
    ):
        parts.append("no interval: too few runs to tell how far they spread")
    if any(len(cell.column(cell.primary)) < len(cell.values) for cell in cells):
        why = "what it measures did not end, or no flow came"
        parts.append(f"n of m runs: the other runs have none ({why}); the mean excludes them")
    new = [part for part in parts if part not in said]
    said.update(new)
    return [fill(f"({'; '.join(new)})", WIDTH)] if new else []


def _are_alike(results: Results) -> bool:
    """True if the runs of every cell have identical results."""
    values = [results.cells[at].values for at in several(results)]
    return bool(values) and all(one.are_alike() for one in values)


def _alike(results: Results) -> list[str]:
    if not _are_alike(results):
        return []
    said = (
        "All runs of a cell gave identical results, so no interval exists. If the scenario draws "
        "nothing at random, one run is enough; otherwise no random event occurred in these runs, "
        "and more runs are needed."
    )
    return [fill(said, WIDTH)]
