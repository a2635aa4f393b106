"""The figures of the concept pages on transports; docs/figures.py draws them."""

from __future__ import annotations

import numpy as np
from drawing import BLUE, GREEN, GREY, ORANGE, RED, arrow, blank, box
from matplotlib.figure import Figure

import clift


def engine() -> Figure:
    """Two flows, the path, and the agenda of next events."""
    figure, axes = blank(3.4, (0, 72), (0, 34))
    axes.set_ylim(1.4, 34)
    for row, y in enumerate((28, 21.5)):
        box(axes, (1, y), f"sender {row + 1}", (9, 4.5), GREEN)
        box(axes, (14, y), "source leg", (10, 4.5), BLUE)
        arrow(axes, (10, y + 2.2), (14, y + 2.2))
        arrow(axes, (24, y + 2.2), (29, 27.6 if row == 0 else 26.4))
    box(axes, (29, 24.2), "wired leg\nqueue, rate", (11, 5.5), BLUE)
    box(axes, (44, 24.2), "link\nfrom a trace", (12, 5.5), ORANGE)
    box(axes, (60, 24.2), "receivers", (11, 5.5), GREEN)
    arrow(axes, (40, 27), (44, 27))
    arrow(axes, (56, 27), (60, 27))
    axes.text(42, 31.6, "shared hops, in any number and order", color=GREY, ha="center")
    parts = (("sender 1", 1, "12.0 ms"), ("source leg 1", 15, "12.4 ms"))
    parts += (("wired leg", 29, "11.8 ms"), ("link", 44, "11.3 ms"), ("receiver", 58, "13.1 ms"))
    for name, x, time in parts:
        first = name == "link"
        box(axes, (x, 12.5), f"{name}\nnext: {time}", (12, 4.6), RED if first else GREY)
        arrow(axes, (x + 6, 12.5), (36 + (x - 29) * 0.16, 7.6), RED if first else GREY)
    axes.text(0.8, 18.4, "each part shows only its next event:", color=GREY)
    box(axes, (24, 2.4), "agenda (sorted groups):\nthe earliest event wins", (24, 5.2), GREY)
    arrow(axes, (48, 5), (56, 5), RED)
    axes.text(56.7, 5, "11.3 ms: the link\nhandles its event", color=RED, va="center")
    return figure


def tcp_papers() -> Figure:
    """Three overtaking packets, and four."""
    figure, axes = blank(2.7, (0, 72), (0, 27))
    orders = (("1", "3", "4", "5", "2", "6", "7"), ("1", "3", "4", "5", "6", "2", "7"))
    notes = ("Three packets overtake packet 2.", "Four packets overtake packet 2.")
    for row, (order, note) in enumerate(zip(orders, notes, strict=True)):
        y = 19 - 14 * row
        axes.text(1, y + 5.2, note, weight="bold")
        axes.text(1, y + 1.6, "arrivals", color=GREY, va="center")
        for place, number in enumerate(order):
            late = number == "2"
            after = row == 1 and number == "6"
            color = ORANGE if late else RED if after else BLUE
            box(axes, (9.5 + 5 * place, y), number, (4, 3.4), color)
    axes.text(46.5, 20.6, "The sender does not react.", color=GREEN, va="center")
    text = "Packet 2 counts as lost:\nretransmission, reduced window,\nand no undo when 2 arrives."
    axes.text(46.5, 6.6, text, color=RED, va="center", linespacing=1.4)
    arrow(axes, (31.5, 2.6), (31.5, 4.8), RED)
    axes.text(31.5, 1.2, "SACK of 6, four further on than 2", color=RED, ha="center")
    return figure


def tcp_linux() -> Figure:
    """Both profiles over one link with ARQ."""
    phy = clift.channel.gilbert_elliott(slots=120_000, alpha=0.99, beta=0.5, seed=1)
    link = clift.tmt.apply(phy, "ARQ", rtt_ms=500)
    figure = Figure(figsize=(7, 3.3), layout="constrained")
    axes = figure.subplots()
    for profile, color in (("linux", BLUE), ("papers", ORANGE)):
        run = clift.simulate(link, transport="newreno", profile=profile, duration_s=100)
        series = run.series().to_pydict()
        goodput = run.summary()["goodput_kbps"]
        label = f"profile {profile}: {goodput:.0f} kbit/s"
        axes.plot(series["time_s"], series["cwnd_packets"], color=color, lw=1.3, label=label)
    product = 263e3 * 0.5 / 8 / 1500
    axes.axhline(product, color=GREY, lw=1, ls="--")
    axes.text(100.5, product, "path holds\nthis much", color=GREY, va="center", fontsize=9)
    axes.set(xlabel="time, s", ylabel="congestion window, segments", xlim=(0, 100))
    axes.set_yscale("log", base=10)
    axes.set_ylim(1, 5000)
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set_title("NewReno over 263 kbit/s, 500 ms, repaired by ARQ: nothing is lost", fontsize=10)
    axes.legend(frameon=False, loc="upper left")
    return figure


def congestion_control() -> Figure:
    """Four congestion windows over the same lossy path."""
    figure = Figure(figsize=(7, 3.5), layout="constrained")
    axes = figure.subplots()
    leg = {"rate": "10 Mbit/s", "delay": "250 ms", "loss": "0.1 %", "queue": "200 packets"}
    colors = {"hybla": GREEN, "bbr": RED, "cubic": BLUE, "newreno": ORANGE}
    for name, color in colors.items():
        scenario = {"duration": "60 s", "path": [{"leg": leg}], "transport": {"congestion": name}}
        run = clift.simulate(scenario)
        series = run.series().to_pydict()
        rate = run.summary()["goodput_kbps"] / 1000
        label = f"{name}: {rate:.1f} Mbit/s"
        axes.plot(series["time_s"], series["cwnd_packets"], color=color, lw=1.2, label=label)
    product = 10e6 * 0.5 / 8 / 1500
    axes.axhline(product, color=GREY, lw=1, ls="--")
    axes.text(60.4, product, "path holds\nthis much", color=GREY, va="center", fontsize=9)
    axes.set(xlabel="time, s", ylabel="congestion window, segments", xlim=(0, 60))
    # Hybla's first slow start is off the scale for half a second.
    axes.set_ylim(0, 1500)
    title = "The same path: 10 Mbit/s, 500 ms, 0.1 % of the packets lost"
    axes.set_title(title, fontsize=10)
    figure.legend(frameon=False, ncols=4, loc="outside lower center", fontsize=9.5)
    return figure


def quic() -> Figure:
    """The first byte of an answer by handshake."""
    figure, axes = blank(3.6, (0, 72), (0, 36))
    ladders = (
        ("TCP with TLS 1.3", ("SYN", "SYN, ACK", "ClientHello", "certificate", "request")),
        ("QUIC", ("ClientHello", "certificate", "request")),
        ("QUIC with 0-RTT", ("ClientHello, request",)),
    )
    for column, (title, messages) in enumerate(ladders):
        left, right = 7 + 23 * column, 22 + 23 * column
        axes.text((left + right) / 2, 34, title, weight="bold", ha="center")
        axes.text(left, 31.8, "client", color=GREY, ha="center")
        axes.text(right, 31.8, "server", color=GREY, ha="center")
        for x in (left, right):
            axes.plot((x, x), (2.5, 31), color=GREY, lw=1)
        flights = [*messages, "answer"]
        for number, text in enumerate(flights):
            top = 30 - 4.2 * number
            ends = (left, right) if number % 2 == 0 else (right, left)
            last = number == len(flights) - 1
            color = GREEN if last else ORANGE if "request" in text else BLUE
            arrow(axes, (ends[0], top), (ends[1], top - 4.2), color)
            where = ((left + right) / 2, top - 1.2)
            back = {"fc": "white", "ec": "none", "pad": 0.6}
            axes.text(*where, text, ha="center", va="center", color=color, fontsize=9, bbox=back)
        trips = len(flights) // 2
        end = 30 - 4.2 * len(flights)
        plural = "round trip" if trips == 1 else "round trips"
        axes.text(left + 0.8, end - 0.6, f"{trips} {plural}", weight="bold", va="top")
    axes.text(0.6, 17, "time", color=GREY, rotation=90, va="center")
    arrow(axes, (2.6, 24), (2.6, 10), GREY)
    return figure


def proxies() -> Figure:
    """The chain of connections through a pair of proxies."""
    figure, axes = blank(3, (0, 72), (0, 30))
    y = 15
    box(axes, (1, y), "source", (9, 6), GREEN)
    box(axes, (61, y), "destination", (10.5, 6), GREEN)
    for x, name in ((17, "proxy"), (44, "proxy")):
        box(axes, (x, y - 2.4), "", (11, 10.8), BLUE)
        axes.text(x + 5.5, y + 6.6, name, ha="center", va="center", weight="bold")
        box(axes, (x + 0.8, y - 0.6), "receive\nbuffer", (4.2, 5), GREY)
        box(axes, (x + 6, y - 0.6), "send\nbuffer", (4.2, 5), GREY)
        for label in axes.texts[-2:]:
            label.set_fontsize(7.5)
        arrow(axes, (x + 5, y + 2), (x + 6, y + 2))
    for start, end in ((10, 17), (28, 44), (55, 61)):
        arrow(axes, (start, y + 3.2), (end, y + 3.2))
        arrow(axes, (end, y + 1.2), (start, y + 1.2), GREY, dashed=True)
    axes.text(36, y + 5, "satellite", ha="center", color=ORANGE)
    axes.text(36, y - 1, "ACKs", ha="center", color=GREY)
    stretches = ((1, 22, "connection 1", "20 ms"), (22.8, 49.2, "connection 2", "600 ms"))
    stretches += ((50, 71, "connection 3", "20 ms"),)
    for start, end, name, trip in stretches:
        arrow(axes, (start, 8.6), (end, 8.6), BLUE, "|-|,widthA=0.3,widthB=0.3")
        middle = (start + end) / 2
        axes.text(middle, 6.2, name, ha="center", color=BLUE)
        axes.text(middle, 4, f"round trip {trip}", ha="center", color=GREY)
    axes.text(36, 1.2, "each with a handshake, a congestion window and repairs", ha="center")
    axes.text(36, 27, "to source and destination it looks like one connection", ha="center")
    arrow(axes, (1, 25.6), (71, 25.6), GREEN, "|-|,widthA=0.3,widthB=0.3")
    return figure


def applications() -> Figure:
    """The objects that wait for one lost packet, by HTTP version."""
    figure, axes = blank(3, (0, 72), (0, 30))
    titles = ("HTTP/1.1", "HTTP/2", "HTTP/3")
    subtitles = ("up to six TCP connections", "one TCP connection", "one QUIC connection")
    colors = {"A": BLUE, "B": GREEN}
    for column, (title, subtitle) in enumerate(zip(titles, subtitles, strict=True)):
        left = 1.5 + 24 * column
        axes.text(left, 27.4, title, weight="bold")
        axes.text(left, 24.8, subtitle, color=GREY, fontsize=9)
        for number, letter in enumerate("AAAABBBB" if column == 0 else "ABABABAB"):
            x, y = left + 5 * (number % 4), 19 - 5 * (number // 4)
            box(axes, (x, y), letter, (4.2, 3.8), colors[letter] if number else RED)
        axes.plot((left, left + 4.2), (19, 22.8), color=RED, lw=1.6)
        held = ("A waits, B goes on", "A and B wait", "A waits, B goes on")[column]
        axes.text(left, 10.6, held, color=RED if column == 1 else GREEN, weight="bold")
    notes = (
        "One object at a time\non each connection, which\nhas its own slow start.",
        "TCP delivers in order:\nall behind the lost\npacket waits.",
        "Each object is a stream:\nonly the stream of the\nlost packet waits.",
    )
    for column, note in enumerate(notes):
        axes.text(1.5 + 24 * column, 8.6, note, va="top", fontsize=9)
    return figure


def voice() -> Figure:
    """Packets of a call from the sender through the playout buffer."""
    figure, axes = blank(2.7, (0, 72), (0, 27))
    sent = [8 + 7 * number for number in range(6)]
    arrivals = (17, 24, 36, 48, 45, None)
    turns = [22 + 7 * number for number in range(6)]
    for y, name in ((22, "sent"), (13, "arrives"), (4, "played")):
        axes.text(1, y, name, va="center")
        axes.plot((7, 66), (y, y), color=GREY, lw=0.8)
    for number, (start, arrival, turn) in enumerate(zip(sent, arrivals, turns, strict=True), 1):
        on_time = arrival is not None and arrival <= turn
        color = BLUE if on_time else RED
        axes.plot(start, 22, "o", color=color, ms=6)
        axes.text(start, 24, str(number), ha="center", color=color)
        axes.plot(turn, 4, "o" if on_time else "x", color=color, ms=6, mew=2)
        axes.text(turn, 1, str(number), ha="center", color=color)
        end = (start + 9 if arrival is None else arrival, 15 if arrival is None else 13)
        arrow(axes, (start, 22), end, color, dashed=arrival is None)
        if arrival is None:
            axes.text(end[0] + 0.8, end[1], "lost", color=RED, va="center")
        else:
            arrow(axes, (arrival, 13), (turn if on_time else arrival, 4 if on_time else 8), color)
        if arrival is not None and not on_time:
            axes.text(arrival + 0.8, 8.6, "after its turn", color=RED, va="center")
    arrow(axes, (17, 9.2), (22, 9.2), ORANGE, "<->")
    axes.text(16.4, 9.2, "playout", color=ORANGE, ha="right", va="center")
    axes.text(66, 20, "time", ha="right", color=GREY)
    return figure


def metrics() -> Figure:
    """The delays of a segment on one time line."""
    figure, axes = blank(3.3, (0, 72), (0, 33))
    events = (
        (6, "TCP sends\nthe segment\nfirst"),
        (15, "queue\nentry"),
        (26, "first\nLLDU"),
        (41, "delivered\nby the link"),
        (64, "delivered in order,\nafter an earlier\nsegment"),
    )
    for x, name in events:
        axes.plot((x, x), (3.4, 25), color=GREY, lw=0.8, ls=":")
        axes.plot(x, 25, "o", color="black", ms=5)
        axes.text(x, 26.4, name, ha="center", va="bottom", fontsize=9)
    arrow(axes, (2, 25), (71, 25))
    axes.text(71, 23.2, "time", ha="right", color=GREY)
    spans = (
        (15, 26, 19, "queueing_delay_ms", ORANGE),
        (15, 41, 14.4, "packet_delay_ms", ORANGE),
        (6, 41, 9.8, "segment_delay_ms", BLUE),
        (6, 64, 5.2, "in_order_delay_ms", BLUE),
    )
    for start, end, y, name, color in spans:
        arrow(axes, (start, y), (end, y), color, "<->")
        axes.text(
            end + 0.8 if end < 60 else 42,
            y if end < 60 else y - 1.6,
            name,
            va="center",
            color=color,
            family="monospace",
            fontsize=9.5,
            bbox={"fc": "white", "ec": "none", "pad": 0.8},
        )
    axes.text(1, 0.8, "orange: per packet of a link        blue: per segment of a flow", color=GREY)
    return figure


def statistics() -> Figure:
    """Paired runs, and the interval of their difference."""
    rng = np.random.default_rng(5)
    draws = rng.gamma(3.0, 0.6, 12)
    one = 5 + draws + rng.normal(0, 0.12, 12)
    two = one + 0.45 + rng.normal(0, 0.25, 12)
    figure = Figure(figsize=(7, 3.3), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.25))
    for a, b in zip(one, two, strict=True):
        left.plot((0, 1), (a, b), color=GREY, lw=0.8, zorder=1)
    left.scatter(np.zeros(12), one, color=BLUE, s=22, zorder=2)
    left.scatter(np.ones(12), two, color=ORANGE, s=22, zorder=2)
    left.set(xticks=(0, 1), xticklabels=("scheme 1", "scheme 2"), xlim=(-0.35, 1.35))
    left.set_ylabel("completion time, s")
    left.set_title("12 runs; a line joins\nruns with the same draws", fontsize=10)
    names = ("mean,\nscheme 1", "mean,\nscheme 2", "difference\nof pairs")
    cells = ((one, BLUE), (two, ORANGE), (two - one, RED))
    for place, (values, color) in enumerate(cells):
        # Student's quantile of 11 degrees of freedom, two-sided 95 %.
        half = 2.201 * values.std(ddof=1) / np.sqrt(len(values))
        mean = values.mean()
        right.errorbar(mean, 2 - place, xerr=half, fmt="o", color=color, capsize=4, lw=1.6)
        right.text(mean, 2.2 - place, f"{mean:.2f} ± {half:.2f} s", ha="center", color=color)
    right.axvline(0, color=GREY, lw=1, ls="--")
    right.set(yticks=(2, 1, 0), yticklabels=names, ylim=(-0.5, 2.6), xlim=(-1.6, 8.8))
    right.set_xlabel("s")
    right.set_title(
        "The intervals of the means overlap,\nthe paired difference is not zero", fontsize=10
    )
    return figure
