"""Flows over drawn networks of wired links beside ns-3: datagrams one by one, TCP by its goodput.

    python validation/networks_ns3.py [COUNT] [FIRST]   # networks of each kind (10), first seed (1)

It needs Debian's libns3-dev and prints the table of docs/evidence/tcp-beside-ns3.md. Each flow has
its own source and sink, each with its own link; the links between are a row that flows enter and
leave anywhere, in either direction, or two ways between the same two nodes. Datagrams leave both
simulators at the same instants, which CLIFT chooses, with 2 bytes less in ns-3, whose links add
them. TCP is profile `linux` without what ns-3 lacks (`tcp_ns3.LIKE_NS3`), and starts five times; a
flow that is alone on its way counts once. Another five starts of CLIFT show how far the same TCP
differs from itself.
"""

from __future__ import annotations

import random
import resource
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from time import process_time
from typing import Any

import clift

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "validation")]
from tcp_ns3 import LIKE_NS3, VARIANTS  # noqa: E402

from bench.engine import build_ns3  # noqa: E402

UDP_SECONDS, TCP_SECONDS = 20, 60
STARTS = 5


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

    def is_alone(self, flow: int) -> bool:
        """Whether no other flow crosses a link of this one: all its starts then give one result."""
        ways = [{frozenset(pair) for pair in pairwise(own.path)} for own in self.flows]
        return all(ways[flow].isdisjoint(way) for n, way in enumerate(ways) if n != flow)

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
        return clift.Scenario(
            {"network": {"links": links}, "flow": flows},
            transport=variant,
            duration_s=seconds,
            **LIKE_NS3,
        )

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


#: CPU seconds of both simulators so far.
CPU = {"CLIFT": 0.0, "ns-3": 0.0}


def simulated(scenario: clift.Scenario) -> clift.Run:
    """A run by CLIFT, whose CPU time is counted."""
    before = process_time()
    run = clift.simulate(scenario)
    CPU["CLIFT"] += process_time() - before
    return run


def beside(binary: str, text: str) -> Iterable[list[str]]:
    """The lines that ns-3 prints; its CPU time is counted."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([binary], input=text, capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    CPU["ns-3"] += after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return (line.split() for line in done.stdout.splitlines())


def datagrams(binary: str, network: Network) -> Counter[str]:
    """Counts the datagrams by their fates in both simulators."""
    events = simulated(network.scenario(UDP_SECONDS)).events()
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


def goodputs(binary: str, kind: str, seed: int, variant: str) -> list[tuple[float, ...]]:
    """In-order bytes of each TCP flow by CLIFT, by ns-3, and by CLIFT with other starts: sums.

    A flow that is alone on its way counts with its first start only.
    """
    network = drawn(kind, seed, tcp=True)
    sums = [[0, 0, 0] for _ in network.flows]
    starts = [1 if network.is_alone(flow) else STARTS for flow in range(len(sums))]
    for start in range(STARTS):
        for column, name in ((0, ""), (2, " again")):
            draw = random.Random(f"{seed} {start}{name}")
            flows = tuple(
                replace(flow, start_ns=draw.randint(0, 1_000_000_000)) for flow in network.flows
            )
            run = replace(network, flows=flows)
            summary = simulated(run.scenario(TCP_SECONDS, variant)).summary()
            found = [(n, column, flow["bytes_in_order"]) for n, flow in enumerate(summary["flows"])]
            if column == 0:
                for number, _, size in beside(binary, run.text(TCP_SECONDS, {}, variant)):
                    found.append((int(number), 1, int(size)))
            for number, place, size in found:
                if start < starts[number]:
                    sums[number][place] += size
    return [tuple(own) for own in sums]


def main() -> int:
    """Does what the command line says; returns the exit code."""
    binary = build_ns3("network")
    if binary is None:
        print("skipped: networks beside ns-3: there is no libns3-dev; make hosts-deps installs it")
        return 0
    count, first = [*map(int, sys.argv[1:]), *(10, 1)[len(sys.argv) - 1 :]]
    seeds = range(first, first + count)
    head = ("network", "datagrams sent", "arrived", "at the same ns", "at another", "another fate")
    print("| " + " | ".join(head) + " |" + "\n" + "|---" * len(head) + "|")
    for kind in ("row", "two ways"):
        counts: Counter[str] = Counter()
        for seed in seeds:
            counts += datagrams(binary, drawn(kind, seed, tcp=False))
        names = ("sent", "arrived", "same instant", "another instant", "another fate")
        print(f"| {kind} | " + " | ".join(f"{counts[name]:,}" for name in names) + " |")
    head = (
        "network",
        "control",
        "flows",
        "within 5 %",
        "10 %",
        "CLIFT itself: 5 %",
        "10 %",
        "sums",
    )
    print("\n| " + " | ".join(head) + " |" + "\n" + "|---" * len(head) + "|")
    for kind in ("row", "two ways"):
        for variant in VARIANTS:
            found = [sums for seed in seeds for sums in goodputs(binary, kind, seed, variant)]
            near = [
                sum(abs(sums[0] / sums[other] - 1) <= limit for sums in found)
                for other in (1, 2)
                for limit in (0.05, 0.1)
            ]
            ratio = sum(sums[0] for sums in found) / sum(sums[1] for sums in found)
            row = (kind, variant, len(found), *near, f"{ratio:.3f}")
            print("| " + " | ".join(map(str, row)) + " |")
    print(f"\nns-3 takes {CPU['ns-3'] / CPU['CLIFT']:.0f} times the CPU time of CLIFT")
    return 0


if __name__ == "__main__":
    sys.exit(main())
