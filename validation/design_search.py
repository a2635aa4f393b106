"""Compares `clift design` with a full enumeration, at a tenth of the runs.

Fifty small problems are drawn by seed: a channel, a round trip, a TCP, an application, an
objective, sometimes a limit, and a space of 20 to 40 candidates. Of each, every candidate is run 40
times, and the search has a tenth of that. Its winner is right if it is the enumeration's, or if the
enumeration cannot tell it from its own: by paired differences of 40 runs at 5 % (not corrected for
the number of candidates, which would make it easier), or by less than 0.5 %. Where no candidate
keeps the limits, what is compared is by how much they break them.

    python -m validation.design_search [--problems 50] [--cache FOLDER]

Exit code 1 if fewer than 95 % are right.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import clift
from clift.campaign.metrics import measured_by
from clift.campaign.statistics import difference
from clift.design.objective import constraint, objective, values
from clift.design.race import Race
from clift.design.space import Candidate, candidates
from clift.design.study import capacity

RUNS = 40
PART = 10
LEVEL = 0.05
LEAST = 0.005
SEED = 20141


@dataclass(frozen=True)
class Problem:
    """A search small enough to be enumerated.

    Args:
        number: Which of the draws.
        tree: The scenario.
        goal: Name of the objective.
        limits: Limits.
        tried: The candidates' labels, of the default space.
    """

    number: int
    tree: dict[str, Any]
    goal: str
    limits: tuple[str, ...]
    tried: tuple[Candidate, ...]

    def __str__(self) -> str:
        channel, transport = self.tree["channel"], self.tree["transport"]
        return (
            f"{self.number:2}: {channel.get('erasures', channel.get('esn0'))} {self.tree['link']} "
            f"{transport} {self.tree['application']['type']}, {self.goal} {' '.join(self.limits)}, "
            f"{len(self.tried)} candidates"
        )


_SPACE = {
    "scheme": ["none", "ARQ", "ARQ(max 1)", "FEC", "HARQ"],
    "n_d": [5, 10, 20, 50],
    "n_r": [0, 1, 2, 5, 10],
    "n_s": [0, 1, 2],
    "persistency": ["unlimited", 1],
    "interleave": [1, 8],
    "buffer": ["none", "in order"],
}


def problem(number: int) -> Problem:
    """The problem of a number."""
    draw = random.Random(SEED + number)
    if draw.random() < 0.3:
        channel: dict[str, Any] = {"model": "lms", "preset": "internet"}
        channel["esn0"] = f"{draw.choice([5, 5.5, 6, 6.5, 7, 8])} dB"
    else:
        channel = {"model": "gilbert-elliott", "slot": "1003802 ns", "lldu": "33 B"}
        channel |= {"decoding": "36 ms", "burst": draw.choice([1.2, 2, 4])}
        channel["erasures"] = draw.choice([0.001, 0.003, 0.01, 0.02, 0.04])
    task = draw.choice(["bulk", "file", "constant rate"])
    application: dict[str, Any] = {"type": task}
    duration = "40 s"
    if task == "file":
        application["size"] = draw.choice(["30 kB", "100 kB"])
        duration = "90 s"
    elif task == "constant rate":
        application["rate"] = draw.choice(["40 kbit/s", "100 kbit/s", "150 kbit/s"])
    transport = {
        "profile": draw.choice(["papers", "linux"]),
        "congestion": draw.choice(["newreno", "cubic", "hybla"]),
        "cwnd_max": "1000 packets",
    }
    goal = draw.choice({
        "bulk": ["goodput", "goodput", "p99-delay", "energy"],
        "file": ["completion", "completion", "energy"],
        "constant rate": ["p99-delay", "p99-delay", "energy"],
    }[task])  # fmt: skip
    limits: tuple[str, ...] = ()
    if draw.random() < 0.3:
        limits = (draw.choice(["share_used<0.9", "p99-delay<5s"]),)
    tree = {
        "duration": duration,
        "seed": draw.randrange(2**32),
        "channel": channel,
        "link": {"rtt": draw.choice(["100 ms", "250 ms", "500 ms"]), "queue": "unlimited"},
        "transport": transport,
        "application": application,
        "flows": draw.choice([1, 1, 3]),
    }
    every = candidates(_SPACE)
    chosen = sorted(draw.sample(range(len(every)), draw.randrange(20, 41)))
    return Problem(number, tree, goal, limits, tuple(every[place] for place in chosen))


def enumerate_all(one: Problem, threads: int) -> tuple[np.ndarray, np.ndarray]:
    """Every run of every candidate: value (less is better), and excess over each limit."""
    goal = objective(one.goal)
    limits = [constraint(text) for text in one.limits]
    points = {tried.label: tried.changes for tried in one.tried}
    cells = clift.Scenario(one.tree).replace(vary={"design": points}).cells()
    rate = capacity(cells[0])
    table = np.empty((len(cells), RUNS))
    excess = np.empty((len(cells), RUNS, len(limits)))
    for number in range(RUNS):
        tasks = [cell.replication(number) for cell in cells]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            runs = clift.run_many(tasks, progress=False, threads=threads)
        for cell, run in enumerate(runs):
            found = values(measured_by(run, of_link=False), rate)
            table[cell, number] = goal.sign * found[goal.metric]
            excess[cell, number] = [limit.excess(found[limit.metric]) for limit in limits]
    return table, excess


def search(table: np.ndarray, excess: np.ndarray, part: int = PART) -> tuple[int, int]:
    """The winner of a search over an enumeration that is known, and the runs that it took."""
    count, most = table.shape
    race = Race(count, count * most // part, most)
    while True:
        while wanted := race.wanted():
            for one, run in wanted:
                race.add(one, run, table[one, run], tuple(excess[one, run]))
        if not race.is_open or race.budget - race.done < len(race.alive):
            break
        race.grant(race.budget - race.done)
    return race.order()[0], race.done


def best_of_all(table: np.ndarray, excess: np.ndarray) -> int:
    """The winner of the enumeration: of those that keep the limits, the best mean."""
    over = np.maximum(excess.mean(axis=1).max(axis=1, initial=0.0), 0.0)
    means = table.mean(axis=1)
    return min(range(len(table)), key=lambda one: (over[one], means[one]))


def is_right(table: np.ndarray, excess: np.ndarray, winner: int, best: int) -> tuple[bool, str]:
    """Whether a winner is the best, or is not told apart from it, and in what words."""
    if winner == best:
        return True, "the same"
    mine, its = (dict(enumerate(table[one])) for one in (winner, best))
    worst = np.maximum(excess.max(axis=2, initial=0.0), 0.0)
    if excess.mean(axis=1)[best].max(initial=0.0) > 0:
        # None keeps the limits: who comes closest is what was asked.
        mine, its = (dict(enumerate(worst[one])) for one in (winner, best))
    for limit in range(excess.shape[2]):
        over, its_over = excess[winner, :, limit], excess[best, :, limit]
        if over.mean() <= 0:
            continue
        error = over.std(ddof=1) / np.sqrt(len(over))
        if its_over.mean() <= 0 and over.mean() > 2 * error:
            return False, f"breaks a limit by {over.mean():.1%}"
    found = difference(mine, its)
    assert found is not None
    text = f"{found.share:+.2%} (p {found.p:.3f})"
    return found.p > LEVEL or abs(found.share) < LEAST or found.mean < 0, text


def known(one: Problem, cache: Path | None, threads: int) -> tuple[np.ndarray, np.ndarray]:
    """The enumeration of a problem, from a folder if it is there."""
    path = None if cache is None else cache / f"problem-{one.number}.npz"
    if path is not None and path.exists():
        with np.load(path) as kept:
            return kept["table"], kept["excess"]
    table, excess = enumerate_all(one, threads)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez(path, table=table, excess=excess)
    return table, excess


def main() -> int:
    """Measures, prints a line a problem, and says how many are right."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--problems", type=int, default=50)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--cache", type=Path, help="folder that keeps the enumerations")
    given = parser.parse_args()
    right = same = taken = whole = 0
    begun = time.perf_counter()
    for number in range(given.first, given.first + given.problems):
        one = problem(number)
        table, excess = known(one, given.cache, given.threads)
        winner, runs = search(table, excess)
        best = best_of_all(table, excess)
        good, text = is_right(table, excess, winner, best)
        right, same = right + good, same + (winner == best)
        taken, whole = taken + runs, whole + table.size
        mark = "" if good else "WRONG "
        labels = one.tried[winner].label, one.tried[best].label
        print(
            f"{one}: {runs} of {table.size} runs: {mark}{labels[0]} / {labels[1]}: {text}",
            flush=True,
        )
    print(
        f"{right} of {given.problems} right ({same} the very same), {taken} runs of {whole} "
        f"({taken / whole:.1%}), {time.perf_counter() - begun:.0f} s"
    )
    return 0 if right >= 0.95 * given.problems else 1


if __name__ == "__main__":
    sys.exit(main())
