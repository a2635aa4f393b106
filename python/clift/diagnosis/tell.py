"""A diagnosis in words."""

from __future__ import annotations

from textwrap import fill
from typing import Any

from clift._words import counted
from clift.diagnosis.replay import Burst, Edits, behind, bursts, effect, replay
from clift.scenario import Scenario
from clift.simulation import Run


def budget(found: dict[str, Any]) -> list[str]:
    r"""The budget of a run as a table.

    Example:
        >>> part = {"cause": "erased", "title": "erased LLDUs", "kbps": 250.0, "share": 0.25}
        >>> found = {"capacity_kbps": 1000.0, "goodput_kbps": 750.0, "budget": [part]}
        >>> print("\n".join(budget(found)))
        capacity                         1000.0 kbit/s  100.0 %
        goodput                           750.0          75.0
        erased LLDUs                      250.0          25.0
    """
    titles = {part["cause"]: part["title"] for part in found["budget"]}

    def amounts(use: dict[str, Any]) -> list[float]:
        kbps = {part["cause"]: part["kbps"] for part in use["budget"]}
        return [use["capacity_kbps"], use["goodput_kbps"], *(kbps.get(one, 0.0) for one in titles)]

    hops = found.get("hops", [])
    hops = hops if len(hops) > 1 else []
    total, *each_hop = [amounts(use) for use in (found, *hops)]
    lines = (
        [f"{'':<55}" + "".join(f"{hop['name'] or hop['hop']:>12}" for hop in hops)] if hops else []
    )
    names = ("capacity", "goodput", *titles.values())
    for name, kbps, *parts in zip(names, total, *each_hop, strict=True):
        units = ("kbit/s", " %") if name == "capacity" else ("", "")
        line = f"{name:<28}{kbps:>11.1f} {units[0]:<6}  {100 * kbps / total[0]:>5.1f}{units[1]}"
        lines.append(f"{line:<55}" + "".join(f"{part:>12.1f}" for part in parts) if parts else line)
    return lines


def cuts(found: dict[str, Any]) -> str:
    """How often windows were cut, and after what, in one line."""
    count = found["cuts"]
    parts = [
        (count["losses"], "after a loss"),
        (count["drops"], "after a drop of a queue"),
        (count["false_losses"], "although the packet arrived"),
        (count["timeouts_lost"], "by a timeout after a loss"),
        (count["timeouts_arrived"], "by a timeout although the packet arrived"),
        (count["marks"], "by an ECN mark"),
        (count["unknown"], "for a packet whose fate is not known"),
    ]
    told = [f"{number} {what}" for number, what in parts if number]
    opening = counted(count["handshake_timeouts"], "timeout")
    more = f"; {opening} of handshakes" if count["handshake_timeouts"] else ""
    return f"window cuts: {', '.join(told) or 'none'}{more}"


# Share of idle capacity below which a link counts as busy, difference of the capacity from its mean
# that is printed, and flows that are listed.
_BUSY, _UNUSUAL, _LISTED = 0.005, 0.1, 5


def moment(found: dict[str, Any]) -> list[str]:
    """What kept the senders from sending at an instant, and the chain of events before it."""
    at = found["moment"]
    span = f"At {at['at_s']:.3f} s: from {at['from_s']:.3f} to {at['until_s']:.3f} s"
    if at["capacity_kbps"] == 0:
        return [f"{span} the link had no slots."]
    usual = found["capacity_kbps"]
    erased = f"{100 * at['erased_share']:.0f} %"
    more = f", and {erased} was erased" if erased != "0 %" else ""
    busy = at["idle_share"] < _BUSY
    what = (
        "all capacity was used"
        if busy
        else f"{100 * at['idle_share']:.0f} % of the capacity was idle"
    )
    lines = [f"{span} {what}{more}."]
    if abs(at["capacity_kbps"] - usual) > _UNUSUAL * usual:
        lines.append(
            f"The capacity was {at['capacity_kbps']:.1f} kbit/s then, and {usual:.1f} on average."
        )
    if busy:
        return lines
    told = _held_by_cuts(at)
    for sender in told:
        lines.append(f"{_who(sender)}: {sender['title']}")
        lines += [f"  {line}" for line in chain(found, sender["cut"])]
    alike: dict[str, list[dict[str, Any]]] = {}
    for sender in at["senders"]:
        if sender not in told:
            alike.setdefault(sender["title"], []).append(sender)
    for title, senders in alike.items():
        few = [_who(sender) for sender in senders] if len(senders) <= _LISTED else []
        lines += [f"{name}: {title}" for name in few or [f"{len(senders)} flows"]]
    return lines


def _held_by_cuts(at: dict[str, Any]) -> list[dict[str, Any]]:
    """The senders whose cuts are printed for an instant, those first whose cuts cost most."""
    held = [sender for sender in at["senders"] if sender["cut"] is not None]
    return sorted(held, key=lambda sender: -sender["cut"]["cost_kbps"])[:_LISTED]


def chained(found: dict[str, Any]) -> list[dict[str, Any]]:
    """The cuts of which one or all are printed: the costliest ones, or those of an instant."""
    if "moment" not in found:
        return [cut for cut in found["costliest"] if cut["cost_kbps"] > 0]
    at = found["moment"]
    busy = at["capacity_kbps"] == 0 or at["idle_share"] < _BUSY
    return [] if busy else [sender["cut"] for sender in _held_by_cuts(at)]


def _who(event: dict[str, Any]) -> str:
    part = f", connection {event['connection']}" if event["connection"] else ""
    if event["path"] is not None:
        part = f", path {event['path']}" + (f" ({event['over']})" if event["over"] else "")
    name = event["flow"] if event["name"] is None else event["name"]
    return f"flow {name}{part}"


def chain(found: dict[str, Any], cut: dict[str, Any]) -> list[str]:
    """The events that led to a window cut, and what followed, in order of time."""
    told = [f"{event['at_s']:>10.3f} s  {event['text']}" for event in cut["events"]]
    if "effect_kbps" in cut:
        gained = cut["effect_kbps"]
        more = [f"without its erasures, {_over(gained)}:", f"  {_mean(gained)}"]
    else:
        share = cut["cost_kbps"] / found["capacity_kbps"]
        more = [
            f"estimated cost of this cut alone: {cut['cost_kbps']:.1f} kbit/s of the run "
            f"({100 * share:.1f} %)"
        ]
    return told + [f"{'':>12}  {line}" for line in more]


def told(found: dict[str, Any], run: Run) -> list[str]:
    """A whole diagnosis."""
    lines = [*budget(found), "", cuts(found)]
    if "moment" in found:
        lines += ["", *moment(found)]
    else:
        for cut in chained(found)[:1]:
            lines += [f"The cut that cost most, {_who(cut)}:", *chain(found, cut)]
    if "replay" in found:
        lines += ["", *_replay(found["replay"], run)]
    if "bursts" in found:
        lines += ["", *_ranking(found["bursts"])]
    return lines


def _replay(other: dict[str, Any], run: Run) -> list[str]:
    gone = [
        f"{name} ({', '.join(_place(burst) for burst in there)})"
        for name, there in other["erasures"].items()
    ]
    gone += [f"{name} (the window stays as it was)" for name in other["kept"]]
    parts = [f"without {', '.join(gone)}"] if gone else []
    new = [f"{one['key']} = {one['value']} from {one['at_s']:.3f} s" for one in other["later"]]
    parts += [f"with {', '.join(new)}"] if new else []
    title = "; ".join(parts)
    gained = other["goodput_kbps"] - run.goodput_kbps
    lines = [fill(f"{title[0].upper()}{title[1:]}:", 100)]
    lines.append(
        f"  goodput {other['goodput_kbps']:.1f} instead of {run.goodput_kbps:.1f} kbit/s "
        f"({gained:+.1f})"
    )
    if "effect_kbps" in other:
        gain = other["effect_kbps"]
        lines.append(f"  {_over(gain)}: {_mean(gain)}")
    if run.completion_s is not None and other["completion_s"] is not None:
        lines.append(
            f"  completion {other['completion_s']:.3f} instead of {run.completion_s:.3f} s"
        )
    return lines


def _over(found: dict[str, Any]) -> str:
    return f"over {counted(found['runs'], 'other draw')} of the losses after it"


def _mean(found: dict[str, Any]) -> str:
    low, high = found["low"], found["high"]
    if low is None:
        return "the draws differ too seldom to tell"
    interval = f"95 % interval {low:+.1f} to {high:+.1f}"
    if low <= 0 <= high:
        return f"no clear effect ({interval})"
    return f"{found['mean']:+.1f} kbit/s ({interval})"


def _place(burst: dict[str, Any]) -> str:
    return f"{counted(burst['slots'], 'slot')} at {burst['at_s']:.3f} s"


def _ranking(rows: list[dict[str, Any]]) -> list[str]:
    unit = rows[0]["unit"] if rows else "kbit/s"
    runs = max((row["effect_kbps"]["runs"] for row in rows if "effect_kbps" in row), default=0)
    title = f"{'burst':>8}{'at':>12}{'slots':>8}{'gain in this run':>20}"
    lines = [title + (f"   mean of {runs} other draws (95 % interval)" if runs else "")]
    for row in rows:
        gain = f"{row['gain']:+.2f} {unit}"
        line = f"{row['burst']:>8}{row['at_s']:>10.3f} s{row['slots']:>8}{gain:>20}"
        if "effect_kbps" in row:
            found = row["effect_kbps"]
            line += f"   {found['mean']:+.2f} kbit/s"
            if found["low"] is not None:
                line += f" ({found['low']:+.1f} to {found['high']:+.1f})"
        lines.append(line)
    return lines


def ranked(
    scenario: Scenario, run: Run, found: dict[str, Any], count: int, draws: int = 0
) -> list[dict[str, Any]]:
    """The bursts whose removal gains most, of the candidates that are tried.

    Candidates are the bursts that hit the packets of the costliest cuts, and the longest bursts;
    four times as many as wanted.

    Args:
        scenario: The scenario.
        run: Its run.
        found: What `Run.why` returns.
        count: How many to return.
        draws: Other draws of the channel over which each gain in goodput is averaged.

    Returns:
        The most gainful first: `burst`, `at_s`, `slots`, `gain` of this run and its `unit` (kbit/s
        of goodput, or s of completion time if every flow ends), and with `draws`, if the channel is
        drawn and the flows do not end, the gain over these draws as `effect_kbps`, whose mean
        decides.
    """
    there = bursts(scenario)
    tried: dict[int, Burst] = {}
    for cut in found["costliest"]:
        tried |= {burst.number: burst for burst in behind(there, cut)}
    for burst in sorted(there, key=lambda burst: -burst.slots):
        if len(tried) >= 4 * count:
            break
        tried[burst.number] = burst

    def row(burst: Burst) -> dict[str, Any]:
        edits = Edits([burst])
        again = replay(scenario, edits)
        gain, unit, average = again.goodput_kbps - run.goodput_kbps, "kbit/s", None
        if run.completion_s is not None and again.completion_s is not None:
            gain, unit = run.completion_s - again.completion_s, "s"
        elif draws:
            average = effect(scenario, edits, burst.at_s, draws)
        place = {"burst": burst.number, "at_s": burst.at_s, "slots": burst.slots}
        told: dict[str, Any] = place | {"gain": gain, "unit": unit}
        return told if average is None else told | {"effect_kbps": average.as_dict()}

    def worth(row: dict[str, Any]) -> float:
        return float(row["effect_kbps"]["mean"] if "effect_kbps" in row else row["gain"])

    return sorted(map(row, tried.values()), key=worth, reverse=True)[:count]
