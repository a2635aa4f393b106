"""CoDel, FQ-CoDel and PIE beside the queue discs of ns-3, with the same arrivals.

Prints for each cell how many packets met the same fate, the mean number of packets in queue and
transmitter, and the shares dropped and marked: twelve cells in which nothing may be marked, and
sixteen in which everything may (ECN). Needs ns-3's headers (Debian's libns3-dev). DualPI2, which
ns-3.37 does not have, is beside RFC 9332 (appendix A), written down a second time below.

Ends with 0 if queue and drops are near in nine of ten cells and DualPI2 is the same in all. Shares
of marks are printed and do not count: ns-3 marks by rules that neither RFC nor kernel has, and our
marks are those of a kernel (`python -m validation.kernel.queues`, whose exit code says so).

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
MARKING = {name: (disc, [*set_, "UseEcn=true"]) for name, (disc, set_) in DISCIPLINES.items()}
MARKING["codel(ce_threshold 1 ms)"] = (
    "ns3::CoDelQueueDisc",
    [f"MaxSize={PACKETS}p", "UseEcn=true", "CeThreshold=1ms"],
)
NOT_ECT, ECT_1, ECT_0 = 0, 1, 2
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


def fates(
    command: list[str], arrivals: Arrivals, fields: list[int]
) -> tuple[np.ndarray, np.ndarray]:
    """Fate of each packet, and the time at which it was delivered or dropped, ns."""
    came = zip(arrivals, fields, strict=True)
    text = "".join(f"{at} {flow} {size} {field}\n" for (at, flow, size), field in came)
    told = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    lines = [line.split() for line in told.splitlines()]
    return np.array([fate for fate, _ in lines]), np.array([int(at) for _, at in lines])


def dualpi2(  # noqa: C901
    arrivals: Arrivals, fields: list[int]
) -> tuple[np.ndarray, np.ndarray]:
    """Fate of each packet under DualPI2, by RFC 9332, appendix A.

    From Linux are the scheduler, the step, which marks the last packet too, and that fewer than two
    packets are exempt from the probability.
    """
    fate, end = ["dropped"] * len(arrivals), [at for at, _, _ in arrivals]
    low: list[int] = []
    classic: list[int] = []
    p = previous = 0.0
    sums = {"classic": 0.0, "marks": 0.0, "drops": 0.0}
    credit = start = 1500 * (10 - 90)
    update = 16_000_000
    busy_until, ready = 0, None

    def recur(which: str, likelihood: float) -> bool:
        sums[which] += likelihood
        if sums[which] > 1:
            sums[which] -= 1
            return True
        return False

    def control(now: int) -> None:
        nonlocal p, previous, update
        while update <= now:
            heads = [(update - arrivals[queue[0]][0]) / 1e9 for queue in (low, classic) if queue]
            delay = max([0.0, *heads])
            p = min(max(p + (0.16 * (delay - 0.015) + 3.2 * (delay - previous)), 0.0), 1.0)
            previous, update = delay, update + 16_000_000

    def take(now: int) -> int | None:
        nonlocal credit
        control(now)
        while low or classic:
            both = bool(low and classic)
            from_low = bool(low) and (not both or credit <= 0)
            packet = (low if from_low else classic).pop(0)
            if both:
                credit += (10 if from_low else -90) * arrivals[packet][2]
            fate[packet] = "delivered"
            now_p = (
                p if sum(arrivals[left][2] for left in (*low[:80], *classic[:80])) >= 3000 else 0.0
            )
            if not from_low:
                if not recur("classic", now_p * now_p):
                    return packet
                if p * p < 0.25 and fields[packet] != NOT_ECT:
                    fate[packet] = "marked"
                    return packet
            elif 2 * now_p >= 1:
                if not recur("drops", p * p):
                    fate[packet] = "marked"
                    return packet
            else:
                step = now - arrivals[packet][0] > 1_000_000
                if recur("marks", 1.0 if step else 2 * now_p):
                    fate[packet] = "marked"
                return packet
            fate[packet], end[packet] = "dropped", now
        credit = start
        return None

    def send(now: int) -> None:
        """The wire is free at `now`: what stands ready leaves, and the next is taken."""
        nonlocal busy_until, ready
        if ready is None:
            ready = take(now)
        if ready is not None:
            busy_until = now + (arrivals[ready][2] * 8 * 1_000_000_000 + RATE // 2) // RATE
            end[ready], ready = busy_until, take(now)

    for packet, (at, _, _) in enumerate(arrivals):
        while busy_until <= at and ready is not None:
            send(busy_until)
        control(at)
        if len(low) + len(classic) < PACKETS:
            (low if fields[packet] in (1, 3) else classic).append(packet)
            fate[packet] = "delivered"
        if busy_until <= at:
            send(at)
        elif ready is None:
            ready = take(at)
    while ready is not None:
        send(busy_until)
    return np.array(fate), np.array(end)


def compare_dualpi2(ours: Path) -> int:
    """Prints the cells of DualPI2; in how many of them every packet has the same fate and time."""
    same_cells = 0
    for name, make in PATTERNS.items():
        for classic in (NOT_ECT, ECT_0):
            arrivals = make()
            fields = [ECT_1 if flow % 2 else classic for _, flow, _ in arrivals]
            mine = fates([str(ours), "dualpi2", f"{RATE} bit/s", str(PACKETS)], arrivals, fields)
            other = dualpi2(arrivals, fields)
            same = float(np.mean((mine[0] == other[0]) & (mine[1] == other[1])))
            same_cells += same == 1
            shares = [float(np.mean(mine[0] == which)) for which in ("dropped", "marked")]
            print(f"dualpi2 {name:9} classic ECN field {classic}: same fate and time {same:.2%},"
                  f" dropped {shares[0]:.3%}, marked {shares[1]:.3%}")  # fmt: skip
    return same_cells


def compare(ours: Path, theirs: Path, field: int) -> tuple[int, int, int]:
    """Prints the cells in which packets have this ECN field.

    Returns:
        In how many queue and drops are near, in how many the marks, and of how many.
    """
    disciplines = DISCIPLINES if field == NOT_ECT else MARKING
    near = near_marks = 0
    print(f"{'queue':24} {'arrivals':9} {'packets':>8} {'same fate':>9}"
          f" {'mean in queue: ours, ns-3':>26} {'dropped: ours, ns-3':>22}"
          f" {'marked: ours, ns-3':>22}")  # fmt: skip
    for aqm, (disc, attributes) in disciplines.items():
        for name, make in PATTERNS.items():
            arrivals = make()
            came, fields = np.array([at for at, _, _ in arrivals]), [field] * len(arrivals)
            mine = fates([str(ours), aqm, f"{RATE} bit/s", str(PACKETS)], arrivals, fields)
            other = fates([str(theirs), disc, str(RATE), *attributes], arrivals, fields)
            same = float(np.mean(mine[0] == other[0]))
            inside = [float(np.sum(at - came) / (SECONDS * 1e9)) for _, at in (mine, other)]
            lost, marked = (
                [float(np.mean(fate == which)) for fate, _ in (mine, other)]
                for which in ("dropped", "marked")
            )
            near += is_near(inside, 1.0) and is_near(lost, 0.001)
            near_marks += is_near(marked, 0.001)
            print(
                f"{aqm:24} {name:9} {len(arrivals):8} {same:9.2%}"
                f" {inside[0]:17.2f} {inside[1]:8.2f} {lost[0]:13.3%} {lost[1]:8.3%}"
                f" {marked[0]:13.3%} {marked[1]:8.3%}"
            )
    return near, near_marks, len(disciplines) * len(PATTERNS)


def is_near(pair: list[float], floor: float) -> bool:
    """Whether ours is within 10 % of theirs, or of `floor` where that is more.

    >>> is_near([0.95, 1.0], 0.001), is_near([0.8, 1.0], 0.001)
    (True, False)
    """
    ours, theirs = pair
    return abs(ours - theirs) <= 0.1 * max(theirs, floor)


def main() -> int:
    """Runs the cells; 0 if queue and drops are within 10 % in nine of ten."""
    root = HERE.parent
    if shutil.which("g++") is None or not Path("/usr/include/ns3/codel-queue-disc.h").exists():
        print("skipped: ns-3's headers or g++ are missing (apt install libns3-dev g++)")
        return 0
    build = ["cargo", "build", "--release", "--quiet", "-p", "clift", "--example", "queue_fates"]
    subprocess.run(build, cwd=root, check=True)
    return run(root / "target/release/examples/queue_fates", root)


def run(ours: Path, root: Path) -> int:
    """Builds the other side and compares; 0 if nine of ten cells are near."""
    with tempfile.TemporaryDirectory() as folder:
        theirs = Path(folder) / "queue_discs"
        libraries = [f"-lns3-{name}" for name in ("traffic-control", "network", "core")]
        source = str(root / "hosts/ns3/queue_discs.cc")
        compiler = ["g++", "-std=c++17", "-O2", source, "-o", str(theirs), *libraries]
        subprocess.run(compiler, check=True)
        passed = True
        for field in (NOT_ECT, ECT_0):
            near, near_marks, cells = compare(ours, theirs, field)
            print(f"{near} of {cells} cells within 10 % in queue and drops, {near_marks} in marks")
            passed &= near >= 0.9 * cells
        same, cells = compare_dualpi2(ours), 2 * len(PATTERNS)
        print(f"dualpi2: {same} of {cells} cells packet by packet")
        passed &= same == cells
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
