"""Flows over drawn networks of wired links beside ns-3: datagrams one by one, TCP by its goodput.

    python validation/networks_ns3.py [COUNT] [FIRST]   # networks of each kind (10), first seed (1)

It needs the wheel of ns-3 or Debian's libns3-dev (`make hosts-deps`) and prints the tables of
docs/evidence/tcp-beside-ns3.md. Each flow has its own source and sink, each with its own link; the
links between are a row that flows enter and leave anywhere, in either direction, or two ways
between the same two nodes. Datagrams leave both simulators at the same instants, which CLIFT
chooses, with 2 bytes less in ns-3, whose links add them. TCP is profile `linux` without what ns-3
lacks (`tcp_ns3.LIKE_NS3`). Flows that share a drop-tail queue divide it by phases, which a start
decides: means over many starts are compared, more of CLIFT, whose runs take less time.
"""

from __future__ import annotations

import random
import resource
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise
from math import exp
from pathlib import Path
from statistics import mean, stdev
from time import process_time
from typing import Any

import clift

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "validation")]
from tcp_ns3 import LIKE_NS3, VARIANTS  # noqa: E402

from bench.engine import build_ns3  # noqa: E402

UDP_SECONDS, TCP_SECONDS = 20, 60
KINDS = ("row", "two ways")
#: Starts of a network of TCP flows by ns-3 and by CLIFT, the first of which are those of ns-3.
STARTS, OWN_STARTS = 10, 100
#: Student's t with STARTS - 1 degrees of freedom, 97.5 %.
QUANTILE = 2.262
#: The limit for the ratio of two means.
NEAR = 0.05


@dataclass(frozen=True)
class Link:
    """A link between two nodes, alike in both directions."""

    ends: tuple[int, int]
    rate: int
    delay_ns: int
    queue: int


@dataclass(frozen=True)
class Flow:
    """What goes along these nodes from `start_ns` on."""

    path: tuple[int, ...]
    start_ns: int
    #: Bytes of a packet.
    packet: int = 1500
    #: Of datagrams, bit/s; 0: TCP.
    rate: int = 0


@dataclass(frozen=True)
class Network:
    """Links and flows over them."""

    links: tuple[Link, ...]
    flows: tuple[Flow, ...]

    def scenario(self, seconds: int, variant: str = "cubic") -> clift.Scenario:
        """The scenario of CLIFT."""
        names = {frozenset(link.ends): f"l{n}" for n, link in enumerate(self.links)}
        links = {}
        for n, link in enumerate(self.links):
            leg = {
                "rate": f"{link.rate} bit/s",
                "delay": f"{link.delay_ns} ns",
                "queue": f"{link.queue} packets",
            }
            ends = {"from": f"n{link.ends[0]}", "to": f"n{link.ends[1]}"}
            links[f"l{n}"] = ends | {"duplex": True, "leg": leg}
        flows = []
        for flow in self.flows:
            route = [names[frozenset(pair)] for pair in pairwise(flow.path)]
            own: dict[str, Any] = {
                "from": f"n{flow.path[0]}",
                "to": f"n{flow.path[-1]}",
                "start": f"{flow.start_ns} ns",
                "route": route,
                "return_route": route[::-1],
            }
            if flow.rate:
                own["transport"] = {"protocol": "udp", "packet": f"{flow.packet} B"}
                own["application"] = {"type": "constant rate", "rate": f"{flow.rate} bit/s"}
            flows.append(own)
        tree = {"network": {"links": links}, "flow": flows}
        if all(flow.rate for flow in self.flows):
            return clift.Scenario(tree, duration_s=seconds)
        return clift.Scenario(tree, transport=variant, duration_s=seconds, **LIKE_NS3)

    def text(self, seconds: int, sent: dict[int, list[int]], variant: str = "cubic") -> str:
        """What `bench/ns3/network.cc` reads."""
        nodes = 1 + max(node for link in self.links for node in link.ends)
        lines = [f"nodes {nodes}"]
        for link in self.links:
            lines.append(
                f"link {link.ends[0]} {link.ends[1]} {link.rate} {link.delay_ns} {link.queue}"
            )
        for number, flow in enumerate(self.flows):
            path = " ".join(map(str, flow.path))
            if flow.rate:
                # IP and UDP take 28 bytes, the frame of the link 2.
                times = " ".join(map(str, sent[number]))
                lines.append(f"udp {flow.packet - 30} {path} : {times}")
            else:
                lines.append(f"tcp {VARIANTS[variant]} {flow.start_ns} {path} :")
        return "\n".join([*lines, f"end {seconds}"]) + "\n"


def drawn(kind: str, seed: int, tcp: bool) -> Network:
    """A network of this kind: "row" or "two ways"."""
    draw = random.Random(f"{kind} {seed} {tcp}")
    trunk = lambda ends: Link(  # noqa: E731
        ends,
        draw.choice((1_000_000, 2_000_000, 4_000_000, 5_000_000, 8_000_000, 10_000_000)),
        draw.randint(5_000_000, 60_000_000 if tcp else 250_000_000),
        draw.randint(30, 100) if tcp else draw.randint(2, 30),
    )
    if kind == "row":
        length = draw.randint(2, 5)
        trunks = [trunk((n, n + 1)) for n in range(length)]
        ways = []
        for _ in range(draw.randint(2, 4) if tcp else draw.randint(3, 8)):
            a, b = draw.sample(range(length + 1), 2)
            ways.append(tuple(range(a, b + 1)) if a < b else tuple(range(a, b - 1, -1)))
    else:
        # From 0 to 3, by 1 or by 2.
        trunks = [trunk(ends) for ends in ((0, 1), (1, 3), (0, 2), (2, 3))]
        both = ((0, 1, 3), (0, 2, 3), (3, 1, 0), (3, 2, 0))
        ways = [draw.choice(both) for _ in range(draw.randint(2, 4) if tcp else 6)]
    node = 1 + max(node for link in trunks for node in link.ends)
    links, flows = list(trunks), []
    for way in ways:
        source, sink = node, node + 1
        node += 2
        for ends in ((source, way[0]), (way[-1], sink)):
            links.append(Link(ends, 100_000_000, draw.randint(100_000, 5_000_000), 1000))
        flow = Flow((source, *way, sink), draw.randint(0, 1_000_000_000))
        if not tcp:
            packet = 125 * draw.randint(2, 12)
            flow = replace(flow, packet=packet, rate=draw.randint(200_000, 3_000_000))
        flows.append(flow)
    return Network(tuple(links), tuple(flows))


def beside(binary: str, text: str) -> list[list[str]]:
    """The words of each line that ns-3 prints."""
    done = subprocess.run([binary], input=text, capture_output=True, text=True, check=True)
    return [line.split() for line in done.stdout.splitlines()]


def datagrams(binary: str, network: Network) -> Counter[str]:
    """Counts the datagrams by their fates in both simulators."""
    events = clift.simulate(network.scenario(UDP_SECONDS)).events()
    columns = (events[name].to_pylist() for name in ("time_ns", "flow", "kind", "seq"))
    rows = zip(*columns, strict=True)
    sent: dict[int, list[int]] = {n: [] for n in range(len(network.flows))}
    ours = {}
    for at, flow, kind, seq in rows:
        number = seq // (network.flows[flow].packet - 28)
        if kind == 0:
            sent[flow].append(at)
        elif kind == 2:
            ours[flow, number] = at
    text = network.text(UDP_SECONDS, sent)
    theirs = {(int(flow), int(number)): int(at) for flow, number, at in beside(binary, text)}
    counts: Counter[str] = Counter(sent=sum(map(len, sent.values())), arrived=len(ours))
    for key in ours.keys() | theirs.keys():
        mine, other = ours.get(key), theirs.get(key)
        if mine is None or other is None:
            counts["another fate"] += 1
        else:
            counts["same instant" if mine == other else "another instant"] += 1
    return counts


@dataclass(frozen=True)
class Goodputs:
    """In-order bytes of one TCP flow in both simulators, from several starts each."""

    network: int
    path: tuple[int, ...]
    ours: list[int]
    theirs: list[int]

    @property
    def ratio(self) -> float:
        """Mean of CLIFT by mean of ns-3."""
        return mean(self.ours) / mean(self.theirs)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the ratio of means, by the delta method on its logarithm."""
        spread = sum((stdev(own) / mean(own)) ** 2 / len(own) for own in (self.ours, self.theirs))
        factor = exp(QUANTILE * spread**0.5)
        return self.ratio / factor, self.ratio * factor

    @property
    def is_near(self) -> bool:
        """Whether the means are within 5 %."""
        return abs(self.ratio - 1) <= NEAR

    @property
    def is_apart(self) -> bool:
        """Whether the whole interval is outside 5 %."""
        low, high = self.interval
        return high < 1 - NEAR or low > 1 + NEAR

    @property
    def is_near_itself(self) -> bool:
        """Whether as many starts of CLIFT as ns-3 has are within 5 % of its other starts."""
        first, rest = self.ours[:STARTS], self.ours[STARTS:]
        return abs(mean(first) / mean(rest) - 1) <= NEAR


#: CPU seconds of CLIFT's runs of TCP so far.
OWN_SECONDS: list[float] = []


def goodputs(binary: str, kind: str, seed: int, variant: str) -> list[Goodputs]:
    """Every flow of a network; each start of the network draws when its flows begin."""
    network = drawn(kind, seed, tcp=True)
    starts = []
    for start in range(OWN_STARTS):
        draw = random.Random(f"{seed} {start}")
        flows = (replace(flow, start_ns=draw.randint(0, 1_000_000_000)) for flow in network.flows)
        starts.append(replace(network, flows=tuple(flows)))
    before = process_time()
    runs = [clift.simulate(one.scenario(TCP_SECONDS, variant)).summary() for one in starts]
    OWN_SECONDS.append(process_time() - before)
    texts = [one.text(TCP_SECONDS, {}, variant) for one in starts[:STARTS]]
    with ThreadPoolExecutor(2) as pool:
        printed = [
            {int(flow): int(size) for flow, _, size in lines}
            for lines in pool.map(lambda text: beside(binary, text), texts)
        ]
    return [
        Goodputs(
            seed,
            flow.path,
            [run["flows"][number]["bytes_in_order"] for run in runs],
            [run[number] for run in printed],
        )
        for number, flow in enumerate(network.flows)
    ]


def print_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Prints a table, each row once it is there."""
    print("\n| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|", flush=True)
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |", flush=True)


def main() -> int:
    """Does what the command line says; returns the exit code."""
    binary = build_ns3("network", newest=True)
    if binary is None:
        print("skipped: networks beside ns-3: there is no libns3-dev; make hosts-deps installs it")
        return 0
    count, first = [*map(int, sys.argv[1:]), *(10, 1)[len(sys.argv) - 1 :]]
    seeds = range(first, first + count)

    def fates(kind: str) -> Sequence[object]:
        counts: Counter[str] = Counter()
        for seed in seeds:
            counts += datagrams(binary, drawn(kind, seed, tcp=False))
        names = ("sent", "arrived", "same instant", "another instant", "another fate")
        return kind, *(f"{counts[name]:,}" for name in names)

    head = ["network", "datagrams sent", "arrived", "at the same ns", "at another", "another fate"]
    print_table(head, map(fates, KINDS))
    apart: list[tuple[object, ...]] = []

    def shares(kind: str, variant: str) -> Sequence[object]:
        found = [one for seed in seeds for one in goodputs(binary, kind, seed, variant)]
        for one in found:
            if one.is_apart:
                interval = "{:.3f} to {:.3f}".format(*one.interval)
                apart.append((kind, one.network, variant, one.path, f"{one.ratio:.3f}", interval))
        far = sum(one.is_apart for one in found)
        near = sum(one.is_near for one in found)
        itself = sum(one.is_near_itself for one in found)
        ratio = sum(mean(one.ours) for one in found) / sum(mean(one.theirs) for one in found)
        counts = (len(found), near, len(found) - near - far, far, itself)
        return kind, variant, *counts, f"{ratio:.3f}"

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    head = ["network", "control", "flows", "within 5 %", "unclear", "apart", "itself", "all flows"]
    print_table(head, (shares(kind, variant) for kind in KINDS for variant in VARIANTS))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    head = ["network", "number", "control", "nodes", "CLIFT / ns-3", "95 % interval"]
    print_table(head, apart)
    theirs = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    ratio = (theirs / STARTS) / (sum(OWN_SECONDS) / OWN_STARTS)
    print(f"\nns-3 takes {ratio:.0f} times the CPU time of CLIFT for a run")
    return 0


if __name__ == "__main__":
    sys.exit(main())
