"""The engine's profile `papers` beside ns-2 with the plugin: GEO and LEO links, five TCPs, 400 s.

    python -m validation.ns2_plugin         # prints the table; 1 if too many cells are off
    python -m validation.ns2_plugin cost    # what the plugin costs beside a plain link of ns-2

Each cell is the mean of four seeds: the same link fates in both hosts (which is checked), one TCP
flow. What differs is TCP, over LEO its re-ordering buffer; so runs
part after a second, and single runs scatter.
"""

from __future__ import annotations

import itertools
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import mean

import clift
from clift.hosts.crosscheck import crosscheck
from validation.kernel import live_links

ROOT = Path(__file__).parents[1]
PLUGIN = ROOT / "target/ns2/clift.so"
GEO = {"task": "bulk", "reception": "bad", "runs": "1", "duration": "400 s"}
LEO = {"adaptive_harq.snr": "13 dB", "runs": "1", "duration": "400 s"}
HYBRID = f"""
duration = "400 s"
{live_links.HYBRID}
[transport]
profile = "papers"
cwnd_max = "2000 packets"
"""
LINKS: dict[str, tuple[str, dict[str, str]]] = {
    "GEO, ARQ": ("examples/geo_mobile.toml", GEO | {"scheme": "ARQ"}),
    "GEO, HARQ(10/12)": ("examples/geo_mobile.toml", GEO | {"scheme": "HARQ(10/12)"}),
    "GEO, HARQ(10/15)": ("examples/geo_mobile.toml", GEO | {"scheme": "HARQ(10/15)"}),
    "GEO, hybrid": ("", {}),
    "LEO, adaptive HARQ": ("examples/leo.toml", LEO | {"buffer": "none"}),
    "LEO, with a buffer": ("examples/leo.toml", LEO | {"buffer": "tcp"}),
}
# Left out, since nearly all of the 28 million segments that they send in 400 s fall into the full
# queue: Hybla where the link is fast (65,535 segments are the only bound of its window, in ns-2 and
# in the profile), and Westwood+ over LEO without a buffer.
LEFT_OUT = {
    *((link, "hybla") for link in ("GEO, hybrid", "LEO, adaptive HARQ", "LEO, with a buffer")),
    ("LEO, adaptive HARQ", "westwood"),
}
VARIANTS = ("newreno", "cubic", "hybla", "westwood", "compound")
SEEDS = (1, 2, 3, 4)
WITHIN = 0.05


def run(cell: tuple[str, str, int]) -> tuple[float, float, bool] | None:
    """Goodput by the engine and by ns-2, and whether the link's fates agree.

    None: ns-2 did not end, as its Westwood+ does not if its first packet is lost.
    """
    link, variant, seed = cell
    file, changes = LINKS[link]
    changes = changes | {"transport.congestion": variant, "seed": str(seed)}
    with tempfile.TemporaryDirectory() as folder:
        path = ROOT / file
        if not file:
            path = Path(folder, "x.toml")
            path.write_text(HYBRID)
        found = crosscheck(clift.Scenario.read(path, changes), ("engine", "ns2"))
    if "ns2" not in found and variant == "westwood":
        return None
    engine, ns2 = found["engine"], found["ns2"]
    return engine["goodput_kbps"], ns2["goodput_kbps"], ns2["fates"]["agree"]


def table() -> int:
    """Prints every cell; 1 if fates differ, or fewer than 95 % are within 5 %."""
    pairs = [pair for pair in itertools.product(LINKS, VARIANTS) if pair not in LEFT_OUT]
    cells = [(*pair, seed) for pair in pairs for seed in SEEDS]
    with ProcessPoolExecutor() as pool:
        found = dict(zip(cells, pool.map(run, cells), strict=True))
    within = 0
    print(f"{'link':20} {'TCP':9} {'engine':>8} {'ns-2':>8}")
    for link, variant in pairs:
        runs = [one for seed in SEEDS if (one := found[link, variant, seed])]
        engine, ns2 = (mean(one[host] for one in runs) for host in (0, 1))
        difference = engine / ns2 - 1
        within += abs(difference) <= WITHIN
        print(f"{link:20} {variant:9} {engine:8.1f} {ns2:8.1f} {difference:+6.1%}")
    count = len(pairs)
    ended = [one for one in found.values() if one]
    agree = sum(one[2] for one in ended)
    print(f"{within} of {count} cells within 5 %; fates agree in {agree} of {len(ended)} runs")
    return int(within < 0.95 * count or agree < len(ended))


COST = """
load {plugin}
set ns [new Simulator]
$ns use-scheduler Heap
set n0 [$ns node]
set n1 [$ns node]
{link}
Agent/TCP set ts_option_size_ 12
set tcp [new Agent/TCP/Linux]
$tcp set timestamps_ true
$tcp set window_ 200
$tcp set packetSize_ 1448
set sink [new Agent/TCPSink/Sack1]
$sink set ts_echo_rfc1323_ true
$ns attach-agent $n0 $tcp
$ns attach-agent $n1 $sink
$ns connect $tcp $sink
$ns at 0 "$tcp select_ca cubic"
set ftp [new Application/FTP]
$ftp attach-agent $tcp
$ns at 0 "$ftp start"
$ns at 600 {{ puts [$tcp set ack_]; exit 0 }}
$ns run
"""


def cost() -> int:
    """The plugin beside a plain link of ns-2: the same rate, delay and queue, processor time."""
    plain = "$ns duplex-link $n0 $n1 10Mb 50ms DropTail\n$ns queue-limit $n0 $n1 100"
    best = {}
    with tempfile.TemporaryDirectory() as folder:
        scenario = Path(folder, "x.toml")
        scenario.write_text(
            '[[path]]\nleg = { rate = "10 Mbit/s", delay = "50 ms", queue = "100 packets" }\n'
        )
        own = f"$ns clift-link $n0 $n1 {scenario}"
        for name, link in (("plain", plain), ("plugin", own)) * 5:
            script = Path(folder, f"{name}.tcl")
            script.write_text(COST.format(plugin=PLUGIN, link=link))
            began = time.process_time_ns(), time.perf_counter()
            done = subprocess.run(["ns", script], capture_output=True, text=True, check=True)
            took = time.perf_counter() - began[1]
            segments = int(re.findall(r"^\d+$", done.stdout, flags=re.MULTILINE)[0])
            best[name] = min(best.get(name, took), took)
            print(f"{name}: {took:.3f} s, {segments} segments")
    ratio = best["plugin"] / best["plain"] - 1
    print(f"the plugin costs {ratio:+.1%} of ns-2's run time (best of five each)")
    return int(ratio > 0.1)


def missing() -> str | None:
    """What this needs and does not find, and how to get it."""
    if shutil.which("ns") is None:
        return "there is no `ns`; install ns-2 (Debian: apt install ns2)"
    if not PLUGIN.exists():
        return "there is no plugin for ns-2; `make ns2` builds it"
    return None


def main() -> int:
    """Runs what the command line asks for; 2 where ns-2 is missing."""
    if lacking := missing():
        print(f"error: {lacking}", file=sys.stderr)
        return 2
    return cost() if sys.argv[1:] == ["cost"] else table()


if __name__ == "__main__":
    sys.exit(main())
