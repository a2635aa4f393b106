"""Draws the figures of docs/concepts: `python docs/figures.py [NAME ...]`.

One function draws one figure, and its name is that of the page. The figures go to
docs/images/concepts as SVG; `--png FOLDER` writes PNG files to another folder, to look at them.
The same code and the same matplotlib give the same bytes: fixed ids, no date, seeded channels.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import figures_transport
import matplotlib as mpl
import numpy as np
from drawing import (
    AGAIN,
    BLUE,
    DATA,
    GREEN,
    GREY,
    IDLE,
    INK,
    ORANGE,
    RED,
    REPAIR,
    STYLE,
    arrow,
    blank,
    box,
    key,
)
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

import clift
from clift.land_mobile import LandMobile

IMAGES = Path(__file__).parent / "images" / "concepts"


def traces() -> Figure:
    """Slots of a PHY trace: when each starts, how long it is decoded, when it is delivered."""
    figure, axes = blank(2.9, (-2.7, 15.6), (-0.9, 6.1))
    erased, decoding, travel = {3}, 2.4, 3.0
    axes.plot([0, 15.3], [4.4, 4.4], color=GREY, linewidth=0.8)
    axes.plot([0, 15.3], [0.6, 0.6], color=GREY, linewidth=0.8)
    axes.text(-0.3, 4.8, "sender", ha="right", va="center")
    axes.text(-0.3, 0.6, "receiver's\nlink layer", ha="right", va="center")
    for slot in range(7):
        x = slot * 1.4
        box(axes, (x, 4.4), str(slot), (1.3, 0.8), erased=slot in erased)
        if slot in erased:
            continue
        arrow(axes, (x, 4.4), (x + travel, 2.6), GREY)
        axes.plot([x + travel, x + travel + decoding], [2.6, 0.6], color=BLUE, linestyle=":")
        axes.plot([x + travel + decoding], [0.6], "o", color=BLUE, markersize=5)
        axes.text(x + travel + decoding, 0.05, str(slot), ha="center", va="center", fontsize=9)
    axes.text(4.85, 5.65, "slot 3: d = 0, erased", ha="center", color=RED)
    axes.text(0, 5.65, "t of slot 0", ha="left")
    arrow(axes, (0.05, 5.5), (0.05, 5.22), INK)
    axes.text(12.0, 3.4, "propagation, RTT/2", color=GREY)
    axes.text(12.7, 2.0, "decoding, d", color=BLUE, ha="left")
    axes.text(9.6, -0.6, "delivered at t + d + RTT/2;  nothing comes for slot 3", ha="center")
    return figure


def channels() -> Figure:
    """The two-state chain, and what the same erasure rate looks like with and without bursts."""
    figure = Figure(figsize=(7, 3.3))
    chain = figure.add_axes((0, 0, 0.34, 1))
    chain.set(xlim=(0, 3.4), ylim=(0, 4.7))
    chain.axis("off")
    for y, name, colour in ((3.1, "good", GREEN), (1.2, "bad", RED)):
        chain.plot([1.4], [y], "o", markersize=44, markerfacecolor="white", markeredgecolor=colour)
        chain.text(1.4, y, name, ha="center", va="center", color=colour)
    arrow(chain, (1.2, 2.62), (1.2, 1.68), bend=0.25)
    arrow(chain, (1.6, 1.68), (1.6, 2.62), bend=0.25)
    chain.text(0.95, 2.15, "1 - \u03b1", ha="right", va="center")
    chain.text(1.87, 2.15, "1 - β", ha="left", va="center")
    chain.text(2.05, 3.3, "stays with \u03b1\nerases with P_G", va="center", fontsize=8.5)
    chain.text(2.05, 1.1, "stays with β\nerases with P_B", va="center", fontsize=8.5)
    chain.text(1.75, 4.35, "Gilbert-Elliott", ha="center", weight="bold")
    strips = figure.add_axes((0.38, 0.16, 0.58, 0.75))
    shown, rate = 400, 0.05
    kinds = [("Bernoulli: erasures alone", clift.channel.bernoulli(slots=shown, p=rate, seed=28))]
    for burst, seed in ((5, 5), (20, 19)):
        beta = 1 - 1 / burst
        alpha = 1 - rate * (1 - beta) / (1 - rate)
        found = clift.channel.gilbert_elliott(slots=shown, alpha=alpha, beta=beta, seed=seed)
        kinds.append((f"Gilbert-Elliott: mean burst of {burst} slots", found))
    for row, (name, phy) in enumerate(kinds):
        y = 2 - row
        lost = np.flatnonzero(phy.d_ns == 0)
        strips.add_patch(Rectangle((0, y), shown, 0.45, facecolor=DATA, edgecolor="none"))
        for slot in lost:
            strips.add_patch(Rectangle((slot, y), 1, 0.45, facecolor=RED, edgecolor="none"))
        strips.text(0, y + 0.55, f"{name} ({lost.size} of {shown} here)", fontsize=9)
    strips.set(xlim=(0, shown), ylim=(-0.1, 2.95), yticks=[], xlabel="slot")
    strips.spines["left"].set_visible(False)
    strips.set_title("about 5 % of the slots are erased (red)", fontsize=9.5, loc="left")
    return figure


def lms() -> Figure:
    """A drive through trees: level, mutual information of the code words, erased slots."""
    seconds, seed = 20.0, 2
    wood = LandMobile(
        "internet", 6, environment="rural-wooded", elevation_deg=45, interleaving_ms=100
    )
    levels, step = wood.levels(90_000, 1, seed)
    time = np.arange(levels.size) * step
    keep = time < seconds
    # The deepest of each group: fades stay visible with few points.
    group = 64
    size = int(keep.sum()) // group * group
    level = np.asarray(levels)[:size].reshape(-1, group).min(axis=1)
    information = wood.information(seconds, seed)
    phy = wood.trace(seconds, seed)
    slots = np.asarray(phy.t_ns) / 1e9
    figure = Figure(figsize=(7, 4.1))
    rows = figure.subplots(3, 1, sharex=True, gridspec_kw={"height_ratios": [3, 2, 0.7]})
    rows[0].plot(time[:size:group], level, color=BLUE, linewidth=0.7)
    rows[0].axhline(0, color=GREY, linewidth=0.7)
    rows[0].set(ylabel="level, dB", ylim=(-30, 8))
    rows[0].set_title("1. fading: the level falls behind trees", fontsize=9.5, loc="left")
    every = 16
    rows[1].plot(slots[::every], information[: slots.size : every], color=ORANGE, linewidth=0.8)
    rows[1].set(ylabel="bits", ylim=(0, 1.05))
    title = "2. mutual information per coded bit, averaged over the interleaver"
    rows[1].set_title(title, fontsize=9.5, loc="left")
    lost = slots[np.asarray(phy.d_ns) == 0]
    # Neighbouring erased slots are one bar.
    cuts = np.flatnonzero(np.diff(lost) > 0.005) + 1
    for part in np.split(lost, cuts):
        if part.size:
            rows[2].axvspan(part[0], max(part[-1], part[0] + 0.01), color=RED, linewidth=0)
    rows[2].set(yticks=[], xlabel="time, s", xlim=(0, seconds))
    title = f"3. decoder: erased slots ({lost.size / slots.size:.0%} of these)"
    rows[2].set_title(title, fontsize=9.5, loc="left")
    figure.tight_layout(h_pad=0.4)
    return figure


def link() -> Figure:
    """Three packets over LLDUs of which one is repaired late: the later packets overtake."""
    figure, axes = blank(3.0, (-3.0, 17.2), (-1.3, 5.9))
    colours = {"A": "#bcd6f2", "B": "#d9c8ee", "C": "#cfe8c4"}
    axes.text(-0.3, 4.9, "queue", ha="right", va="center")
    for place, name in enumerate("ABC"):
        box(axes, (place * 2.4, 4.5), f"packet {name}", (2.2, 0.8), colours[name])
    axes.text(7.5, 4.9, "each packet takes 4 LLDUs", va="center", color=GREY)
    axes.text(-0.3, 2.7, "slots", ha="right", va="center")
    for slot in range(16):
        name = "ABC"[slot // 4] if slot < 12 else "A" if slot == 13 else ""
        text = f"{name}{slot % 4 + 1}" if slot < 12 else "A3" if slot == 13 else ""
        box(axes, (slot, 2.3), text, colour=colours.get(name, IDLE), erased=slot == 2)
    arrow(axes, (2.45, 2.2), (13.45, 2.2), RED, bend=0.12)
    axes.text(3.6, 1.3, "A3 is erased and repaired 11 slots later", ha="center", color=RED)
    axes.text(-0.3, 0.3, "delivered", ha="right", va="center")
    for name, x in (("B", 7.9), ("C", 11.9), ("A", 13.9)):
        box(axes, (x - 0.9, -0.1), name, (0.9, 0.8), colours[name])
        axes.plot([x, x], [0.7, 2.3], color=GREY, linewidth=0.6, linestyle=":")
    arrow(axes, (0, -0.6), (16.6, -0.6), GREY)
    axes.text(16.6, -1.05, "time", ha="right", color=GREY)
    axes.text(0, -1.05, "order at the receiver: B, C, A (propagation left out)", color=INK)
    return figure


def schemes() -> Figure:
    """The same erased slots under no repair, FEC, ARQ and HARQ-II."""
    slots, lost, wait = 24, {2, 9, 10, 11}, 8
    figure, axes = blank(4.1, (-4.3, 24.4), (-2.1, 8.9))
    rows: list[tuple[str, list[tuple[str, str]], str]] = []
    plain = [(str(slot + 1), DATA) for slot in range(slots)]
    rows.append(("none", plain, "3, 10, 11 and 12 are lost"))
    coded, number = [], 0
    for slot in range(slots):
        number += slot % 6 < 4
        coded.append((str(number), DATA) if slot % 6 < 4 else ("r", REPAIR))
    note = (
        "3 is rebuilt at the fourth arrival of its block; the second block misses 3 of 6: 8 is lost"
    )
    rows.append(("FEC(4/6)", coded, note))
    ready: dict[int, list[str]] = {}
    arq, number, waiting = [], 0, []
    for slot in range(slots):
        waiting += ready.pop(slot, [])
        if waiting:
            text, colour = waiting.pop(0), AGAIN
        else:
            number += 1
            text, colour = str(number), DATA
        if slot in lost:
            ready.setdefault(slot + wait, []).append(text)
        arq.append((text, colour))
    note = "each erased LLDU is sent again after the feedback time (8 slots here), 3 even twice"
    rows.append(("ARQ", arq, note))
    harq, number, place = [], 0, 0
    for slot in range(slots):
        # The second block ends with slot 11 and lacks one unit: one repair, 8 slots later.
        if slot == 11 + wait:
            harq.append(("r", AGAIN))
            continue
        number += place % 6 < 4
        harq.append((str(number), DATA) if place % 6 < 4 else ("r", REPAIR))
        place += 1
    note = "as FEC, and the second block asks for the one unit that it still lacks"
    rows.append(("HARQ(4/6)", harq, note))
    for row, (name, cells, note) in enumerate(rows):
        y = 6.6 - row * 2.15
        axes.text(-0.4, y + 0.45, name, ha="right", va="center", weight="bold")
        for slot, (text, colour) in enumerate(cells):
            box(axes, (slot, y), text, colour=colour, erased=slot in lost)
        axes.text(0, y - 0.45, note, fontsize=8.8, va="center")
    axes.text(0, 8.2, "slots in order of time; the channel erases the same four in each row")
    entries = [(DATA, "data LLDU"), (REPAIR, "repair unit"), (AGAIN, "sent on request")]
    key(axes, (0, -1.8), [*entries, ("erased", "erased")], 6.2)
    return figure


def model() -> Figure:
    """Closed forms over the erasure rate, with simulated points on them."""
    rates = np.geomspace(1e-3, 0.2, 60)
    points = np.geomspace(2e-3, 0.15, 5)
    burst = 3.0
    kinds = (("FEC(10/12)", BLUE), ("ARQ", GREEN), ("HARQ(10/12)", ORANGE))
    timing = {"rtt_ms": 500, "slot_ns": 1_003_802, "decode_ns": 36_000_000}
    figure = Figure(figsize=(7, 2.9))
    axes = figure.subplots(1, 3)
    names = ("efficiency", "residual_loss", "recovery_delay_ms")
    for scheme, colour in kinds:
        law = clift.model.predict(scheme, p=rates, burst=burst, **timing)
        found = []
        for p in points:
            beta = 1 - 1 / burst
            alpha = 1 - p * (1 - beta) / (1 - p)
            phy = clift.channel.gilbert_elliott(slots=400_000, alpha=alpha, beta=beta, seed=1)
            found.append(clift.tmt.apply(phy, scheme, rtt_ms=500).stats())
        for area, name in zip(axes, names, strict=True):
            area.plot(rates, getattr(law, name), color=colour, label=scheme)
            seen = [stats[name] for stats in found]
            area.plot(points, seen, "o", color=colour, markersize=4)
    for area, title in zip(
        axes, ("efficiency", "residual loss", "recovery delay, ms"), strict=True
    ):
        area.set(xscale="log", xlabel="erasure rate")
        area.set_title(title, fontsize=9.5, loc="left")
    axes[0].legend(loc="lower left")
    figure.tight_layout()
    return figure


def queues() -> Figure:
    """One long CUBIC flow over a GEO link: how many packets wait, by queue."""
    phy = clift.channel.bernoulli(slots=140_000, p=0, slot_ns=500_000, lldu_bytes=375)
    phy = clift.tmt.apply(phy, clift.NoScheme(), rtt_ms=500)
    kinds = (
        ("drop-tail", "none", INK),
        ("CoDel", "codel", ORANGE),
        ("CoDel (600 ms)", "codel(target 20 ms, interval 600 ms)", BLUE),
    )
    figure = Figure(figsize=(7, 2.9))
    axes = figure.add_subplot()
    for name, aqm, colour in kinds:
        run = clift.simulate(phy, transport="cubic", duration_s=60, **{"link.aqm": aqm})
        series = run.series(100)
        label = f"{name}: {run.goodput_kbps / 1000:.1f} Mbit/s"
        axes.plot(series["time_s"], series["queue_packets"], color=colour, label=label)
    axes.set(xlabel="time, s", ylabel="queue length, packets", xlim=(0, 60), ylim=(0, None))
    axes.legend(loc="lower left", bbox_to_anchor=(-0.1, 1), ncols=3, columnspacing=1)
    figure.tight_layout()
    return figure


def live_links() -> Figure:
    """The same five LLDUs of traffic beforehand and live, under FEC(4/6)."""
    figure, axes = blank(3.1, (-4.6, 24.4), (-1.9, 6.4))
    axes.text(-0.4, 5.35, "traffic", ha="right", va="center", weight="bold")
    box(axes, (0, 4.95), "A: 5 LLDUs", (4.9, 0.8), DATA)
    box(axes, (15, 4.95), "B: 2 LLDUs", (4.9, 0.8), DATA)
    open_loop, taken = [], 0
    for slot in range(24):
        if slot % 6 >= 4:
            open_loop.append(("r", REPAIR))
            continue
        if taken < 5 or (slot >= 15 and taken < 7):
            taken += 1
            open_loop.append((str(taken), DATA))
        else:
            open_loop.append(("", IDLE))
    live = [(str(unit), DATA) for unit in range(1, 5)] + [("r", REPAIR)] * 2
    live += [("5", DATA), ("r", REPAIR), ("r", REPAIR)] + [("", IDLE)] * 6
    live += [("6", DATA), ("7", DATA), ("r", REPAIR), ("r", REPAIR)] + [("", IDLE)] * 5
    for y, name, cells in ((3.0, "link trace\n(open loop)", open_loop), (0.9, "live link", live)):
        axes.text(-0.4, y + 0.45, name, ha="right", va="center", weight="bold")
        for slot, (text, colour) in enumerate(cells):
            box(axes, (slot, y), text, colour=colour)
    text = "blocks of 6 run on, whether there is data or not"
    axes.text(0, 2.55, text, fontsize=8.8, va="center")
    text = "a block that the traffic does not fill is closed; idle slots stay idle"
    axes.text(0, 0.45, text, fontsize=8.8, va="center")
    entries = [(DATA, "data LLDU"), (REPAIR, "repair unit"), (IDLE, "nothing to send")]
    key(axes, (0, -1.6), entries, 6.4)
    return figure


def hybrid() -> Figure:
    """A frame with too few units is reported and sent again ahead of new frames."""
    figure, axes = blank(3.2, (-2.9, 18.6), (-1.6, 6.6))
    axes.text(-0.3, 4.9, "sender", ha="right", va="center")
    axes.text(-0.3, 0.9, "far end", ha="right", va="center")
    order = ["1", "2", "3", "4", "5", "6", "2", "7", "8"]
    for slot, name in enumerate(order):
        again = slot == 6
        box(axes, (slot * 1.9, 4.5), name, (1.8, 0.8), AGAIN if again else DATA, slot == 1)
    axes.plot([0, 18.3], [0.9, 0.9], color=GREY, linewidth=0.8)
    end = 1.9 + 1.8
    arrow(axes, (end, 4.5), (end + 3.4, 0.9), RED)
    axes.text(end + 1.5, 2.7, "D", color=RED, ha="right")
    arrow(axes, (end + 3.4, 0.9), (end + 6.8, 4.45), RED)
    axes.text(end + 5.6, 2.6, "NACK, D", color=RED)
    text = "fewer than K of the N units\nof frame 2 have arrived"
    axes.text(end + 3.4, 0.6, text, ha="center", va="top", color=RED, fontsize=8.8)
    arrow(axes, (6 * 1.9 + 1.8, 4.5), (6 * 1.9 + 5.2, 0.9), GREEN)
    axes.text(16.9, 0.55, "frame 2 decoded", ha="center", va="top", color=GREEN, fontsize=8.8)
    text = "a packet is X frames; a frame is K data units and N - K redundant ones"
    axes.text(0, 6.25, text, va="center")
    axes.text(11.5, 5.6, "frame 2 again, ahead of new frames", fontsize=8.8, color=GREEN)
    return figure


def coding() -> Figure:
    """Two losses in a sliding window, and the repair packet that brings both back."""
    figure, axes = blank(2.9, (-2.4, 12.3), (-1.7, 5.6))
    order = ["1", "2", "3", "4", "R", "5", "6", "7", "8", "R"]
    axes.text(-0.2, 4.0, "on the link", ha="right", va="center")
    axes.text(-0.2, 0.9, "released", ha="right", va="center")
    axes.plot([0, 12.2], [0.9, 0.9], color=GREY, linewidth=0.8)
    for slot, name in enumerate(order):
        box(axes, (slot, 3.6), name, colour=REPAIR if name == "R" else DATA, erased=name in "34")
    for begin, end, y in ((0, 3.9, 4.65), (0, 8.9, 5.1)):
        axes.plot([begin, begin, end, end], [y - 0.15, y, y, y - 0.15], color=ORANGE, linewidth=1)
    axes.text(9.1, 5.1, "covered by the second R", va="center", fontsize=8.8, color=ORANGE)
    for slot in (0, 1):
        arrow(axes, (slot + 0.9, 3.6), (slot + 1.9, 0.95), GREY)
    for slot in (4, 5, 6, 7, 8):
        arrow(axes, (slot + 0.9, 3.6), (slot + 1.9, 2.2), GREY)
    axes.text(3.5, 1.75, "5 to 8 wait: one equation for two missing packets", fontsize=8.8)
    arrow(axes, (9.9, 3.6), (10.9, 0.95), GREEN)
    for x, text in ((1.9, "1"), (2.9, "2")):
        axes.text(x, 0.4, text, ha="center", va="center")
    axes.text(10.9, 0.4, "3 4 5 6 7 8", ha="center", va="center", color=GREEN)
    entries = [(DATA, "source packet"), (REPAIR, "repair packet"), ("erased", "lost")]
    key(axes, (0, -1.4), entries, 3.6)
    return figure


def adaptive_harq() -> Figure:
    """Attempts add mutual information until their sum passes the threshold of the packet."""
    mean, threshold = 0.83, 1.12
    attempts = [(1.0 / mean, 0.55), (0.47 / mean, 0.35), (0.47 / mean, 0.88)]
    figure = Figure(figsize=(7, 3.2))
    axes = figure.add_axes((0.1, 0.16, 0.87, 0.76))
    total = 0.0
    names = ("first attempt", "second attempt", "third attempt")
    for number, (size, information) in enumerate(attempts):
        gain = size * information
        style = {"edgecolor": INK, "linewidth": 0.8, "width": 7}
        x = number * 21.0
        if total:
            axes.bar(x, total, facecolor=IDLE, **style)
        axes.bar(x, gain, bottom=total, facecolor=(DATA, REPAIR, AGAIN)[number], **style)
        text = f"{size:.2f} coded bits\n\u00d7 MI {information:.2f}\n= {gain:.2f}"
        # Below the threshold line, which would cross the last of them.
        height = min(total + gain / 2, threshold - 0.2)
        axes.text(x + 4.2, height, text, va="center", fontsize=8.8)
        total += gain
    axes.axhline(threshold, color=RED, linewidth=1)
    axes.text(-6, threshold + 0.03, "threshold of this packet: 1.12", color=RED)
    axes.text(42, total + 0.04, "decoded", ha="center", color=GREEN, weight="bold")
    labels = [f"{name}\n{21 * number} ms" for number, name in enumerate(names)]
    axes.set_xticks([0, 21, 42], labels)
    axes.set(xlim=(-7, 58), ylim=(0, 1.55), ylabel="per information bit")
    return figure


def ntn() -> Figure:
    """HARQ processes stop and wait for feedback, so few of them leave a long link idle."""
    figure, axes = blank(3.7, (-6.3, 24.4), (-1.3, 8.6))
    for row, (name, does) in enumerate(
        (("PDCP", "order"), ("RLC", "cut, repair (AM)"), ("HARQ", "repeat blocks"))
    ):
        box(axes, (-6.1, 6.9 - row * 1.15), f"{name}: {does}", (7.6, 1.0), ("#e8eef5"))
    axes.text(2.2, 7.4, "packets go down these layers and leave as", va="center")
    axes.text(2.2, 6.5, "transport blocks, one a slot", va="center")
    lanes = (
        ("4 processes,\nfeedback", 4, "4 processes: 4 blocks in a round trip of 12 slots"),
        ("12 processes,\nfeedback", 12, "12 processes fill the same round trip"),
        ("no feedback", 0, "every slot carries new data; RLC AM repairs what is lost"),
    )
    tints = ("#bcd6f2", "#d9c8ee", "#cfe8c4", "#fbcf8f")
    for row, (name, processes, note) in enumerate(lanes):
        y = 3.4 - row * 1.85
        axes.text(-0.4, y + 0.4, name, ha="right", va="center", fontsize=9, weight="bold")
        for slot in range(24):
            place = slot % 12
            if processes and place >= processes:
                box(axes, (slot, y), colour=IDLE)
            elif processes:
                box(axes, (slot, y), str(place + 1), colour=tints[place % 4])
            else:
                box(axes, (slot, y), colour=DATA)
        axes.text(0, y - 0.42, note, fontsize=8.8, va="center")
    return figure


def constellation() -> Figure:
    """Packets around a handover: the new path is shorter, so later packets arrive first."""
    table = clift.constellation.delays("leo66", "43.6,1.44", "34.05,-118.2", 160, start_s=2760)
    before, after = float(table.delay_ms[150]), float(table.delay_ms[151])
    figure, axes = blank(3.2, (-27, 122), (-26, 112))
    axes.plot([-4, 118], [92, 92], color=GREY, linewidth=0.8)
    axes.plot([-4, 118], [0, 0], color=GREY, linewidth=0.8)
    axes.text(-7, 92, "Toulouse", ha="right", va="center")
    axes.text(-7, 0, "Los Angeles", ha="right", va="center")
    for number in range(9):
        sent = number * 4.0
        old = number < 5
        arrives = sent + (before if old else after)
        colour = BLUE if old else ORANGE
        arrow(axes, (sent, 92), (arrives, 0), colour)
        axes.text(sent, 95, str(number + 1), ha="center", color=colour)
    order = sorted(range(9), key=lambda number: number * 4 + (before if number < 5 else after))
    named = ", ".join(str(number + 1) for number in order)
    axes.text(58, -12, f"arrival order: {named}", ha="center", va="center")
    axes.plot([18, 18], [88, 103], color=INK, linewidth=1)
    axes.text(19, 105, "handover", ha="left", va="center")
    axes.text(-3, 32, f"packets 1 to 5: old satellite, {before:.1f} ms", color=BLUE)
    axes.text(-3, 20, f"packets 6 to 9: new satellite, {after:.1f} ms", color=ORANGE)
    return figure


def limits() -> Figure:
    """Free memory, the limit, and two pieces of work: one fits, the other is refused."""
    figure, axes = blank(2.3, (-4.6, 22.2), (-1.0, 4.6))
    axes.text(-0.4, 3.4, "free memory", ha="right", va="center")
    box(axes, (0, 3.0), "limit: four fifths", (12.0, 0.8), DATA)
    box(axes, (12.0, 3.0), "kept free", (3.0, 0.8), IDLE)
    axes.plot([12, 12], [-0.6, 4.1], color=RED, linestyle="--", linewidth=1)
    axes.text(-0.4, 1.9, "import A", ha="right", va="center")
    box(axes, (0, 1.5), "upper bound below the limit", (9.0, 0.8), AGAIN)
    axes.text(12.3, 1.9, "runs", va="center")
    axes.text(-0.4, 0.4, "import B", ha="right", va="center")
    box(axes, (0, 0.0), "upper bound above the limit", (16.5, 0.8), "#fbe3e3")
    axes.text(16.8, 0.4, "refused at once", va="center", color=RED, fontsize=8.8)
    return figure


FIGURES: dict[str, Callable[[], Figure]] = {
    draw.__name__.replace("_", "-"): draw
    for module in (sys.modules[__name__], figures_transport)
    for draw in vars(module).values()
    if getattr(draw, "__annotations__", {}) == {"return": "Figure"}
}


def main() -> None:
    """Draws the figures named on the command line, all of them by default."""
    parser = argparse.ArgumentParser(description="Draws the figures of docs/concepts.")
    parser.add_argument("names", nargs="*", choices=[[], *FIGURES], help="figures, by page")
    parser.add_argument("--png", type=Path, help="write PNG files to this folder instead")
    options = parser.parse_args()
    folder = options.png or IMAGES
    folder.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context(STYLE):
        for name in options.names or FIGURES:
            figure = FIGURES[name]()
            if options.png:
                figure.savefig(folder / f"{name}.png", dpi=100)
            else:
                figure.savefig(folder / f"{name}.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
