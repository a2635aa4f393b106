"""TCP of ns-3 and of CLIFT over the same link, which ns-3 has from the module in hosts/ns3.

    python validation/ns3_module.py            # runs CLIFT, prints it beside the measured ns-3
    python validation/ns3_module.py measure    # runs ns-3 over all cells, prints ns3_module.csv
    python validation/ns3_module.py cost       # ns-3's time with the module beside PointToPoint

The last two need the module (`make ns3`). Both hosts read one scenario file, which loses the same
segments in both. `tcp_ns3.py` compares over ns-3's own link.
"""

from __future__ import annotations

import csv
import itertools
import json
import resource
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import tcp_ns3

import clift

ROOT = Path(__file__).resolve().parent.parent
MEASURED = ROOT / "validation" / "ns3_module.csv"
VERSION = "3.44"
RATE = 2_300_000
SECONDS = 400
#: Round-trip time in ms, packets that may wait, loss probabilities.
PATHS = (
    (40, 50, ("0", "0.001", "0.01")),
    (100, 50, ("0", "0.001", "0.01")),
    (500, 192, ("0", "0.0001", "0.001", "0.01")),
)
#: Links that lose next to nothing, and overtake: round-trip time in ms, queue, schemes.
OVERTAKING = (
    (100, 50, ("ARQ", "HARQ(10/12)", "HARQ(10/15)")),
    (500, 192, ("ARQ", "HARQ(10/12)", "HARQ(10/15)")),
)

#: Variant, round-trip time in ms, queue in packets, and a loss probability or a scheme.
Cell = tuple[str, int, int, str]


def main() -> int:
    """Does what the command line says; returns the exit code."""
    match sys.argv[1:]:
        case []:
            table()
        case ["measure"]:
            measure()
        case ["cost"]:
            cost()
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


def cells(paths: tuple[tuple[int, int, tuple[str, ...]], ...]) -> list[Cell]:
    """All of them for both variants."""
    return [
        (variant, rtt, queue, link)
        for variant, (rtt, queue, links) in itertools.product(tcp_ns3.VARIANTS, paths)
        for link in links
    ]


def seeds(cell: Cell) -> range:
    """Three runs where anything is drawn."""
    return range(1, 2 if cell[3] == "0" else 4)


def scenario(cell: Cell, seed: int) -> str:
    """The file that both read."""
    _, rtt, queue, link = cell
    if "ARQ" in link:
        return (
            f'duration = "{SECONDS} s"\nseed = {seed}\nscheme = "{link}"\n'
            f'[link]\nrtt = "{rtt} ms"\nqueue = "{queue} packets"\n'
            f'[channel]\nmodel = "gilbert-elliott"\nerasures = "2 %"\nburst = 10\n'
            f'rate = "{RATE} bit/s"\nlldu = "250 B"\n'
        )
    lost = tcp_ns3.lost(seed, RATE, float(link))
    leg = f'rate = "{RATE} bit/s", delay = "{rtt * 500} us"'
    return (
        f'duration = "{SECONDS} s"\n'
        f'[[path]]\nleg = {{ {leg}, queue = "{queue} packets", lost_data = {lost} }}\n'
        f"[return]\n[[return.path]]\nleg = {{ {leg} }}\n"
    )


def host() -> Path:
    """The example of the module that runs TCP over a scenario."""
    binary = ROOT / "target" / "ns3" / VERSION / "clift-bulk"
    if not binary.exists():
        sys.exit(f"error: {binary} is not there; make hosts-deps and make ns3 build it")
    return binary


def measure() -> None:
    """Runs ns-3 over all cells."""
    binary = host()

    def run(job: tuple[Cell, int]) -> dict[str, float]:
        cell, seed = job
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write(scenario(cell, seed))
            file.flush()
            # At its default of 1 s, a recovery over a full queue ends in a timeout.
            options = ["--initialWindow=2", "--minRto=3s", f"--duration={SECONDS}", "--json"]
            head = [str(binary), f"--scenario={file.name}", f"--congestion={cell[0]}"]
            done = subprocess.run([*head, *options], capture_output=True, text=True, check=True)
        return dict(json.loads(done.stdout))

    jobs = [(cell, seed) for cell in cells(PATHS + OVERTAKING) for seed in seeds(cell)]
    keys = ("goodput_kbps", "segments", "retransmissions", "timeouts", "packet_delay_ms")
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(("variant", "rtt_ms", "queue", "link", "seed", *keys))
    with ThreadPoolExecutor(2) as pool:
        for (cell, seed), result in zip(jobs, pool.map(run, jobs), strict=True):
            writer.writerow((*cell, seed, *(result[key] for key in keys)))


def clift_run(cell: Cell, seed: int) -> tuple[float, int]:
    """Goodput in kbit/s and retransmissions by CLIFT."""
    options = {"congestion": cell[0], "profile": "linux", "initial_window": "2 packets"}
    linux = "".join(f"{key} = {json.dumps(value)}\n" for key, value in tcp_ns3.PARTS.items())
    text = "".join(f"{key} = {json.dumps(value)}\n" for key, value in options.items())
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(scenario(cell, seed))
        file.write(f"[transport]\n{text}delayed_ack = false\n[transport.linux]\n{linux}")
        file.flush()
        run = clift.simulate(clift.Scenario.read(file.name))
    return run.goodput_kbps, run.summary()["flows"][0]["retransmissions"]


def table() -> None:
    """Prints goodput of both in kbit/s, retransmissions, and how many cells are near."""
    measured: dict[Cell, list[tuple[float, int]]] = {}
    with MEASURED.open() as file:
        for row in csv.DictReader(file):
            cell = (row["variant"], int(row["rtt_ms"]), int(row["queue"]), row["link"])
            result = (float(row["goodput_kbps"]), int(row["retransmissions"]))
            measured.setdefault(cell, []).append(result)
    print("variant  RTT, ms  link          CLIFT    ns-3            sent again: CLIFT, ns-3")
    for paths, what in ((PATHS, "that lose"), (OVERTAKING, "that overtake")):
        near = 0
        for cell in cells(paths):
            ours, ours_again = mean([clift_run(cell, seed) for seed in seeds(cell)])
            theirs, theirs_again = mean(measured[cell])
            off = ours / theirs - 1
            near += abs(off) <= 0.1
            variant, rtt, _, link = cell
            line = f"{variant:8} {rtt:7}  {link:11} {ours:7.0f} {theirs:7.0f} {off * 100:+7.1f} %"
            print(f"{line} {ours_again:12.0f} {theirs_again:8.0f}")
        print(f"links {what}: {near} of {len(cells(paths))} cells within 10 %")


def mean(runs: list[tuple[float, int]]) -> tuple[float, float]:
    """Of goodput and of retransmissions."""
    return sum(run[0] for run in runs) / len(runs), sum(run[1] for run in runs) / len(runs)


def cost() -> None:
    """ns-3's CPU time a segment with the module and with its own link; best of five runs each."""
    leg = '{ rate = "10 Mbit/s", delay = "20 ms", queue = "50 packets" }'
    text = f"[[path]]\nleg = {leg}\n[return]\n[[return.path]]\nleg = {leg}\n"
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(text)
        file.flush()
        links = {
            "PointToPoint": ["--rate=10Mbps", "--delay=20ms", "--queue=50p"],
            "module": [f"--scenario={file.name}"],
        }
        best = dict.fromkeys(links, float("inf"))
        for _, (name, link) in itertools.product(range(5), links.items()):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            command = [str(host()), "--duration=200", "--congestion=newreno", "--json", *link]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            best[name] = min(best[name], spent / json.loads(done.stdout)["segments"])
    for name, seconds in best.items():
        print(f"{name}: {seconds * 1e6:.1f} us a segment")
    print(f"the module takes {best['module'] / best['PointToPoint']:.2f} of PointToPoint's time")


if __name__ == "__main__":
    sys.exit(main())
