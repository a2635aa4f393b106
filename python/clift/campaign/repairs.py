"""A loss on a live link and its repair, unit by unit, found in the log of a run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from clift._arrays import Floats
from clift._clift import RECEIVED, UNIT_AGAIN, UNIT_NEW, UNIT_REPAIR
from clift.campaign.segments import columns
from clift.simulation import Run

# Cells whose units are drawn, and the part of the run in which a loss is looked for.
MOST_UNITS = 6
UNITS_S = 60.0

# What a live link counts, and what that makes of its units; a hybrid link counts two things.
_UNITS = (
    ("frames_sent", "frame"),
    ("tbs_sent", "transport block"),
    ("harq_coded_bits", "packet"),
    ("units_sent", "data LLDU"),
)

# Lost packets that are looked at before giving up on one that was repaired.
_TRIED = 500


def repair(run: Run) -> pa.Table | None:
    """The units around the first loss that was repaired, with where a plot puts them.

    Args:
        run: The run; it is done again for it.

    Returns:
        A row a unit: time_s (sent), arrival_s (null: erased), kind and attempt as in `Run.units`,
        number (of the data unit; a repair unit stands at what it repairs), of_the_loss (whether it
        carries or repairs the packet of the loss) and what the link calls a unit. None without a
        live link, or without such a loss in the first minute.

    Example:
        >>> import clift
        >>> phy = clift.channel.bernoulli(slots=60_000, p=0.02, seed=1)
        >>> found = repair(clift.simulate(clift.LiveLink(phy, "ARQ"), duration_s=5))
        >>> found.column("unit")[0].as_py(), sum(found.column("of_the_loss").to_pylist()) > 1
        ('data LLDU', True)
    """
    if not is_live(run):
        return None
    log = run.units(UNITS_S)
    if not log.num_rows:
        return None
    sent = {name: log.column(name).to_numpy() for name in log.column_names}
    first_link = sent["link"] == sent["link"].min()
    sent = {name: column[first_link] for name, column in sent.items()}
    loss = first_repaired_loss(sent, run.events())
    if loss is None:
        return None
    begin, end, packet = loss
    low, high = around(begin, end)
    time, arrival = sent["time_ns"], sent["arrival_ns"]
    here = (time <= high) & (np.maximum(time, arrival) >= low)
    ours = (sent["first_packet"] <= packet) & (packet <= sent["last_packet"])
    return pa.table(
        {
            "time_s": time[here] / 1e9,
            "arrival_s": pa.array(arrival[here] / 1e9, mask=arrival[here] < 0),
            "kind": sent["kind"][here],
            "attempt": sent["attempt"][here],
            "number": heights(sent)[here],
            "of_the_loss": ours[here],
            "unit": [unit_of(run, log)] * int(here.sum()),
        }
    )


def is_live(run: Run) -> bool:
    """Whether a link of it keeps a log of what it sends; each kind counts that in its own words."""
    return any(link.keys() & {count for count, _ in _UNITS} for link in run.summary()["links"])


def unit_of(run: Run, log: pa.Table) -> str:
    """What the first link in the log calls what it sends, by what it counts."""
    summary = run.summary()
    links = [*summary["links"], *summary.get("return_links", [])]
    first = log.column("link").to_numpy().min(initial=len(links) - 1)
    return next((unit for count, unit in _UNITS if count in links[first]), "unit")


def around(begin_ns: int, end_ns: int) -> tuple[float, float]:
    """What a plot shows of a loss and its repair: from a little before to a little after, in ns."""
    return begin_ns - 0.2 * (end_ns - begin_ns), end_ns + 0.6 * (end_ns - begin_ns)


def first_repaired_loss(
    sent: dict[str, NDArray[Any]], events: pa.Table
) -> tuple[int, int, int] | None:
    """When the loss was, when TCP received the packet all the same, and the packet's number.

    One that was repaired on demand, if there is one; else one that was repaired at all.
    """
    kind, arrival, first, last = (
        sent[name] for name in ("kind", "arrival_ns", "first_packet", "last_packet")
    )
    asked = (kind == UNIT_AGAIN) | ((kind == UNIT_REPAIR) & (sent["attempt"] > 0))
    # The start of a run, without anything else under way, shows little.
    lost = (
        (kind == UNIT_NEW)
        & (arrival < 0)
        & (sent["flow"] >= 0)
        & (first > min(20, first.max() // 2))
    )
    _, rows = np.unique(first[lost], return_index=True)
    rows = np.flatnonzero(lost)[rows[:_TRIED]]
    for repaired in (asked, kind != UNIT_NEW):
        for row in rows:
            packet, begin = first[row], sent["time_ns"][row]
            ours = repaired & (first <= packet) & (packet <= last) & (sent["time_ns"] > begin)
            if (ours & (arrival >= 0)).any():
                end = _received(events, sent["flow"][row], sent["seq"][row], begin)
                if end is not None:
                    return int(begin), end, int(packet)
    return None


def _received(events: pa.Table, its_flow: int, its_seq: int, begin: int) -> int | None:
    """When the segment first reached the receiver, if that was after `begin`."""
    time, kind, seq, flow = columns(events)
    found = np.flatnonzero((flow == its_flow) & (seq == its_seq) & (kind == RECEIVED))
    return int(time[found[0]]) if found.size and time[found[0]] > begin else None


def heights(sent: dict[str, NDArray[Any]]) -> Floats:
    """Where units stand: data at their numbers, repair at the middle of what it repairs."""
    kind, unit = sent["kind"], sent["unit"]
    data = kind == UNIT_NEW
    height = unit.astype(float)
    # Numbers of the first and the last unit of every packet, by packet.
    packets = sent["first_packet"][data]
    starts = np.searchsorted(packets, sent["first_packet"])
    ends = np.searchsorted(packets, sent["last_packet"], side="right") - 1
    sent_before = np.cumsum(data) - 1
    repair = kind == UNIT_REPAIR
    of_block = np.minimum(ends, np.maximum(starts, sent_before))
    follows = repair & (sent["attempt"] == 0)
    height[follows] = of_block[follows]
    asked = repair & (sent["attempt"] > 0)
    height[asked] = (starts[asked] + ends[asked]) / 2
    return height
