"""CoDel, FQ-CoDel and PIE beside the queue discs of ns-3: the same arrivals, what becomes of each.

Prints for each of twelve cells how many packets met the same fate, the mean number of packets in
queue and transmitter, and the share dropped. Needs ns-3's headers (Debian's libns3-dev).

    python validation/queues.py
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
RATE = 12_000_000
PACKETS = 1000
SECONDS = 30
# Ours, and the queue disc of ns-3 with what makes it that of the RFC.
DISCIPLINES = {
    "codel": ("ns3::CoDelQueueDisc", [f"MaxSize={PACKETS}p"]),
    "fq-codel": ("ns3::FqCoDelQueueDisc", [f"MaxSize={PACKETS}p"]),
    "pie": (
        "ns3::PieQueueDisc",
        [f"MaxSize={PACKETS}p", "UseDerandomization=true", "MeanPktSize=1500"],
    ),
}
Arrivals = list[tuple[int, int, int]]


def constant() -> Arrivals:
    """One flow of packets of 1500 bytes, a quarter more than the wire carries."""
    return [(number * 800_000, 0, 1500) for number in range(int(SECONDS / 0.0008))]


def poisson() -> Arrivals:
    """Five flows at random, packets of 40 to 1500 bytes, 5 % more than the wire carries."""
    rng = np.random.default_rng(1)
    count = int(SECONDS * RATE * 1.05 / 8 / 770)
    at = np.cumsum(rng.exponential(SECONDS * 1e9 / count, count)).astype(np.int64)
    return list(
        zip(
            at.tolist(),
            rng.integers(0, 5, count).tolist(),
            rng.integers(40, 1501, count).tolist(),
            strict=True,
        )
    )


def bursts() -> Arrivals:
    """Three flows, each 40 to 400 packets at three times the rate, then nothing for a while."""
    rng = np.random.default_rng(2)
    arrivals: Arrivals = []
    for flow in range(3):
        now = float(rng.uniform(0, 1e9))
        while now < SECONDS * 1e9:
            count = int(rng.integers(40, 400))
            arrivals += [(int(now + number * 333_333), flow, 1500) for number in range(count)]
            now += count * 333_333 + rng.exponential(6e8)
    return sorted(arrivals)


def windows() -> Arrivals:
    """A thick flow in waves of a second from .7 to 1.5 of the rate, beside a thin one."""
    arrivals: Arrivals = []
    now = 0.0
    while now < SECONDS * 1e9:
        share = 1.1 + 0.4 * np.sin(2 * np.pi * now / 1e9)
        arrivals.append((int(now), 0, 1500))
        now += 1e6 / share
    arrivals += [(number * 20_000_000, 1, 200) for number in range(SECONDS * 50)]
    return sorted(arrivals)


PATTERNS = {"constant": constant, "poisson": poisson, "bursts": bursts, "waves": windows}


def fates(command: list[str], arrivals: Arrivals) -> tuple[np.ndarray, np.ndarray]:
    """Whether each packet was delivered, and when it was or when it was dropped, ns."""
    text = "".join(f"{at} {flow} {size}\n" for at, flow, size in arrivals)
    told = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    lines = [line.split() for line in told.splitlines()]
    return (
        np.array([fate == "delivered" for fate, _ in lines]),
        np.array([int(at) for _, at in lines]),
    )


def main() -> int:
    """Runs the cells; 0 if queue and drops are within 10 % in nine of ten."""
    root = HERE.parent
    if shutil.which("g++") is None or not Path("/usr/include/ns3/codel-queue-disc.h").exists():
        print("skipped: ns-3's headers or g++ are missing (apt install libns3-dev g++)")
        return 0
    build = ["cargo", "build", "--release", "--quiet", "-p", "clift", "--example", "queue_fates"]
    subprocess.run(build, cwd=root, check=True)
    ours = root / "target/release/examples/queue_fates"
    near = 0
    print(f"{'queue':9} {'arrivals':9} {'packets':>8} {'same fate':>9}"
          f" {'mean in queue: ours, ns-3':>26} {'dropped: ours, ns-3':>22}")  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        theirs = Path(folder) / "queue_discs"
        libraries = [f"-lns3-{name}" for name in ("traffic-control", "network", "core")]
        source = str(root / "hosts/ns3/queue_discs.cc")
        compiler = ["g++", "-std=c++17", "-O2", source, "-o", str(theirs), *libraries]
        subprocess.run(compiler, check=True)
        for aqm, (disc, attributes) in DISCIPLINES.items():
            for name, make in PATTERNS.items():
                arrivals = make()
                came = np.array([at for at, _, _ in arrivals])
                mine = fates([str(ours), aqm, f"{RATE} bit/s", str(PACKETS)], arrivals)
                other = fates([str(theirs), disc, str(RATE), *attributes], arrivals)
                same = float(np.mean(mine[0] == other[0]))
                inside = [float(np.sum(at - came) / (SECONDS * 1e9)) for _, at in (mine, other)]
                lost = [float(np.mean(~delivered)) for delivered, _ in (mine, other)]
                near += all(
                    abs(a - b) <= 0.1 * max(b, floor)
                    for (a, b), floor in ((inside, 1.0), (lost, 0.001))
                )
                print(
                    f"{aqm:9} {name:9} {len(arrivals):8} {same:9.2%}"
                    f" {inside[0]:17.2f} {inside[1]:8.2f} {lost[0]:13.3%} {lost[1]:8.3%}"
                )
    cells = len(DISCIPLINES) * len(PATTERNS)
    print(f"{near} of {cells} cells within 10 % in both")
    return 0 if near >= 0.9 * cells else 1


if __name__ == "__main__":
    sys.exit(main())
