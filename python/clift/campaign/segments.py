"""What tables and plots take from the log of a run's segments, which is too large to be kept."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from clift._arrays import Floats, Ints
from clift._clift import ACKNOWLEDGED, GONE, RECEIVED, SENT, SENT_AGAIN
from clift.simulation import Run

_HISTOGRAM_BINS = 400
_INTERVALS = 100
MOST_FLOWS = 100
"""Of more flows nothing is kept over time."""
# A point for each segment must stay a point.
_MOST_POINTS = 300
_FEWEST_POINTS = 60
_LONGEST_MARGIN_NS = 4_000_000_000


class Delays(NamedTuple):
    """One-way delays of the segments of a flow over time, by intervals with an arrival.

    Args:
        time_s: Middle of each interval.
        median_ms: Of the segments that arrived in it.
    """

    time_s: Floats
    median_ms: Floats


class Excerpt(NamedTuple):
    """A part of the log of one flow.

    Args:
        matters: Whether it is around a loss; otherwise it is the start.
        time_s: When something happened.
        kind: What, as `Run.events` has it.
        seq: First byte of the segment, or the next one expected.
    """

    matters: bool
    time_s: Floats
    kind: Ints
    seq: Ints


class Segments(NamedTuple):
    """What is kept of the log.

    Args:
        counts: Histogram of the one-way delays; empty without an arrival.
        edges_ms: Its edges.
        delays: Over time, by flow; of the first `MOST_FLOWS` that received something.
        excerpt: The log around the loss that mattered; None without a segment.
    """

    counts: Ints
    edges_ms: Floats
    delays: dict[int, Delays]
    excerpt: Excerpt | None


def segments(run: Run) -> Segments:
    """Runs a run again and looks through its log.

    Example:
        >>> import clift
        >>> phy = clift.channel.bernoulli(slots=20_000, p=0.02, seed=1)
        >>> run = clift.simulate(clift.tmt.apply(phy, "ARQ"), duration_s=10, flows=2)
        >>> found = segments(run)
        >>> arrived = [flow["segment_delay_ms"]["count"] for flow in run.summary()["flows"]]
        >>> bool(found.counts.sum() == sum(arrived))
        True
        >>> sorted(found.delays)
        [0, 1]
    """
    events = run.events()
    arrived_ns, delay_ns, flow = one_way_delays(events)
    milliseconds = delay_ns / 1e6
    least, most = (milliseconds.min(), milliseconds.max()) if delay_ns.size else (0.0, 1.0)
    # A few very late segments would leave one bin to all others, with equal bins.
    bins = np.geomspace if most > 2 * least > 0 else np.linspace
    edges = bins(least, most if most > least else least + 1, _HISTOGRAM_BINS + 1)
    counts, _ = np.histogram(milliseconds, edges)
    return Segments(
        counts if delay_ns.size else counts[:0],
        edges,
        _of_flows(flow, arrived_ns, milliseconds, run.summary()["duration_s"]),
        around_the_loss(events),
    )


def _of_flows(
    flow: Ints, arrived_ns: Ints, delays_ms: Floats, duration_s: float
) -> dict[int, Delays]:
    """The delays over time of the first flows; what is given is by flow."""
    numbers, starts = np.unique(flow, return_index=True)
    ends = np.append(starts[1:], flow.size)
    return {
        int(number): _over_time(arrived_ns[start:end], delays_ms[start:end], duration_s)
        for number, start, end in zip(numbers[:MOST_FLOWS], starts, ends, strict=False)
    }


def one_way_delays(events: pa.Table) -> tuple[Ints, Ints, Ints]:
    """When each segment with data first arrived, how long after it was first sent, and its flow.

    Args:
        events: What `Run.events` gives.

    Returns:
        Times of arrival and delays in ns, and flows, by flow and sequence number.

    Example:
        >>> import pyarrow as pa
        >>> events = pa.table({"time_ns": [0, 9_000_000], "flow": [0, 0], "kind": [0, 2],
        ...                    "seq": [0, 0], "len": [1, 1]})
        >>> [column.tolist() for column in one_way_delays(events)]
        [[9000000], [9000000], [0]]
    """
    # The packets of a handshake have the number of the first byte too.
    time, kind, seq, flow = columns(events.filter(events["len"].to_numpy() > 0))
    key = flow << 44 | seq
    sent_keys, first_sent = np.unique(key[kind == SENT], return_index=True)
    sent_at = time[kind == SENT][first_sent]
    got_keys, first_got = np.unique(key[kind == RECEIVED], return_index=True)
    got_at = time[kind == RECEIVED][first_got]
    place = np.searchsorted(sent_keys, got_keys)
    known = place < len(sent_keys)
    known[known] = sent_keys[place[known]] == got_keys[known]
    arrived = got_at[known]
    return arrived, arrived - sent_at[place[known]], got_keys[known] >> 44


def columns(events: pa.Table) -> tuple[Ints, Ints, Ints, Ints]:
    """Times in ns, kinds, sequence numbers and flows of what `Run.events` gives."""
    time, kind, seq, flow = (
        events.column(name).to_numpy().astype(np.int64)
        for name in ("time_ns", "kind", "seq", "flow")
    )
    return time, kind, seq, flow


def _over_time(arrived_ns: Ints, delays_ms: Floats, duration_s: float) -> Delays:
    width = max(duration_s, 1e-9) * 1e9 / _INTERVALS
    interval = np.minimum((arrived_ns / width).astype(np.int64), _INTERVALS - 1)
    order = np.lexsort((delays_ms, interval))
    interval, ordered = interval[order], delays_ms[order]
    there, first, count = np.unique(interval, return_index=True, return_counts=True)
    rank = (count + 1) // 2  # nearest rank, as everywhere
    return Delays((there + 0.5) * width / 1e9, ordered[first + rank - 1])


def around_the_loss(events: pa.Table) -> Excerpt | None:
    """The log of the first flow that sent anything, around the loss that held it up longest.

    That is the longest time without a new acknowledgement in which something was sent again; where
    nothing was, in which something was lost.

    Args:
        events: What `Run.events` gives.

    Returns:
        The start of the log where nothing was lost; None where nothing was sent.
    """
    # A lost acknowledgement has no data, and no place among the numbers of segments.
    without_data = (events["kind"].to_numpy() == GONE) & (events["len"].to_numpy() == 0)
    time, kind, seq, flow = columns(events.filter(~without_data))
    if not np.any(kind == SENT):
        return None
    mine = flow == flow[kind == SENT].min()
    time, kind, seq = time[mine], kind[mine], seq[mine]
    found = _longest_wait(time, kind, seq, (SENT_AGAIN,)) or _longest_wait(time, kind, seq, (GONE,))
    if found is None:
        first = time[kind == SENT]
        last = int(first[min(_MOST_POINTS // 2, first.size) - 1])
        begin, end = int(first[0]), last + 1_000_000_000
        end = min(end, _at_most(first, begin, end))
    else:
        begin, end = found
        margin = max((end - begin) // 2, 1_000_000)
        sent = time[(kind == SENT) | (kind == SENT_AGAIN)]

        def count(margin: int) -> int:
            return int(np.diff(np.searchsorted(sent, (begin - margin, end + margin)))[0])

        while count(margin) < _FEWEST_POINTS and margin < _LONGEST_MARGIN_NS:
            margin *= 2
        while count(margin) > _MOST_POINTS and margin > 1_000_000:
            margin //= 2
        begin, end = begin - margin, end + margin
    inside = (time >= begin) & (time <= end)
    return Excerpt(found is not None, time[inside] / 1e9, kind[inside], seq[inside])


def _longest_wait(
    time: Ints, kind: Ints, seq: Ints, losses: tuple[int, ...]
) -> tuple[int, int] | None:
    """The longest time without a new acknowledgement in which one of `losses` stands."""
    acknowledged = np.flatnonzero(kind == ACKNOWLEDGED)
    if acknowledged.size < 2:
        return None
    highest = np.maximum.accumulate(seq[acknowledged])
    news = acknowledged[np.concatenate(([True], np.diff(highest) > 0))]
    lost = time[np.isin(kind, losses)]
    begin, end = time[news[:-1]], time[news[1:]]
    with_loss = np.searchsorted(lost, end, side="right") > np.searchsorted(lost, begin)
    if not with_loss.any():
        return None
    longest = int(np.argmax(np.where(with_loss, end - begin, -1)))
    return int(begin[longest]), int(end[longest])


def _at_most(times: Ints, begin: int, end: int) -> int:
    """Where a window ends that holds no more points than a picture can show."""
    last = int(np.searchsorted(times, begin)) + _MOST_POINTS
    return min(end, int(times[last])) if last < times.size else end
