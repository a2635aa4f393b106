"""Random satellite links in ns-2 with the plugin and in the engine's profile `papers`, run by run.

    python validation/ns2_links.py          # 1,000 links; 1 if under 99 % are alike
    python validation/ns2_links.py 40 7    # 40 links of seed 7

Every scheme, five TCPs, queues from 2 packets on. A run is alike if both hosts send the same
packets at the same nanoseconds, and as many again, have as many timeouts and deliver as much.
Prints those that are not, with the first packet at which they part. Westwood+ that never ends is
left out: ns-2's counts from memory that was never set if its first packet is lost.
"""

from __future__ import annotations

import math
import random
import signal
import sys
import tempfile
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import clift
from clift.hosts.crosscheck import crosscheck

TCPS = ("newreno", "cubic", "hybla", "westwood", "compound")
SCHEMES = ("none", "FEC(10/12)", "FEC(10/12, interleave 4)", "ARQ", "HARQ(10/12)", "HARQ(10/15)")
COMPARED = ("goodput_kbps", "retransmissions", "timeouts")


LONGEST_S = 15
ENDLESS = "ns-2 does not end"


class Outcome(NamedTuple):
    """One link in both hosts."""

    number: int
    kind: str
    text: str
    fault: str


def drawn(number: int, seed: int) -> tuple[str, str]:
    """The kind and the text of a link."""
    rng = random.Random(f"{seed} {number}")
    tcp = rng.choice(TCPS)
    rtt = rng.choice((40, 100, 250, 500, 600))
    rate = round(rng.choice((100, 263, 1000, 2300)) * rng.uniform(0.7, 1.3))
    queue = round(2 * 100 ** rng.random())
    pipe = rate * rtt / 12_000  # packets
    window = min(400, round(pipe + queue * rng.uniform(0.5, 2)) + 4)
    head = f'duration = "60 s"\nseed = {rng.randrange(10**6)}\n'
    tail = f"""
[transport]
profile = "papers"
congestion = "{tcp}"
cwnd_max = "{window} packets"
[transport.papers]
cube_root = "table"
"""
    kind = rng.choice((*SCHEMES, "live ARQ", "live HARQ(10/12)", "hybrid"))
    if kind == "hybrid":
        link = f"""
[hybrid]
k = 10
n = {rng.choice((10, 11, 12))}
frames = 6
unit = "25 B"
rate = "{rate} kbit/s"
delay = "{rtt // 2} ms"
loss = "{rng.choice((0.1, 1, 3))} %"
persistency = {rng.choice((0, 1, 3))}
[link]
queue = "{queue} packets"
"""
        return kind, head + link + tail
    lldu = rng.choice((33, 100, 500, 1500))
    live = "live = true\n" if kind.startswith("live") else ""
    scheme = kind.removeprefix("live ")
    link = f"""scheme = "{scheme}"
[channel]
model = "gilbert-elliott"
erasures = "{rng.choice((0.1, 0.5, 2, 5))} %"
burst = {rng.choice((1.5, 2, 5, 20))}
rate = "{rate} kbit/s"
lldu = "{lldu} B"
[link]
rtt = "{rtt} ms"
queue = "{queue} packets"
{live}"""
    return kind, head + link + tail


def compared(number: int, seed: int) -> Outcome:
    """A link in both hosts; `fault` says how they differ, and is empty if they do not."""
    kind, text = drawn(number, seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "link.toml")
        path.write_text(text)
        told: list[str] = []
        signal.signal(signal.SIGALRM, _too_long)
        signal.alarm(LONGEST_S)
        try:
            found: dict[str, Any] = crosscheck(
                clift.Scenario.read(path), ("engine", "ns2"), told.append
            )
        except TimeoutError:
            return Outcome(number, kind, text, ENDLESS)
        finally:
            signal.alarm(0)
    if "ns2" not in found:
        return Outcome(number, kind, text, f"no ns-2: {told}")
    ours, theirs = found["engine"], found["ns2"]
    faults = [
        f"{name} {ours[name]} and {theirs[name]}"
        for name in COMPARED
        if not math.isclose(ours[name], theirs[name], rel_tol=1e-12)
    ]
    if theirs["parts"]:
        faults.append(f"part at {theirs['parts']}")
    if not theirs["fates"]["agree"]:
        faults.append(f"fates: {theirs['fates']['first']}")
    return Outcome(number, kind, text, "; ".join(faults))


def _too_long(*_: object) -> None:
    raise TimeoutError


def main() -> int:
    """Compares the links and prints what is not alike."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    with ProcessPoolExecutor() as pool:
        outcomes = list(pool.map(compared, range(count), [seed] * count, chunksize=4))
    left_out = [one for one in outcomes if one.fault == ENDLESS and "westwood" in one.text]
    outcomes = [one for one in outcomes if one not in left_out]
    wrong = [one for one in outcomes if one.fault]
    for one in wrong:
        print(f"{one.number}: {one.kind}: {one.fault}")
    alike, count = len(outcomes) - len(wrong), len(outcomes)
    kinds = Counter(one.kind for one in outcomes)
    of_kind = Counter(one.kind for one in wrong)
    for kind in sorted(kinds):
        print(f"{kind:26} {kinds[kind] - of_kind[kind]:4} of {kinds[kind]:4} alike")
    print(f"{alike} of {count} links are alike in ns-2 and in the engine; {len(left_out)} left out")
    return int(alike < 0.99 * count)


if __name__ == "__main__":
    sys.exit(main())
