"""Kills a study at random moments, again and again, and looks whether its tables are the same.

A study is run once undisturbed. Then the same study is run in other folders and ended: by SIGKILL,
SIGTERM, Ctrl-C once and twice, by a disk that is full, and with two processes in one folder of
which one is ended. What was finished must stay; the last call must leave the undisturbed tables,
byte by byte.

    python validation/kills.py --kills 200

A full disk is a small tmpfs, for which one has to be root; without, that part is left out and said.
"""

from __future__ import annotations

import argparse
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

STUDY = """
duration = "20 s"
runs = {runs}
[application]
type = "file"
size = "200 kB"
[channel]
model = "bernoulli"
erasures = "5 %"
rate = "263 kbit/s"
lldu = "33 B"
decoding = "36 ms"
[link]
live = true
[vary]
scheme = ["ARQ", "HARQ(10/12)", "none"]
"""
TABLES = ("record.json", "runs.parquet", "summary.parquet", "series.parquet", "delays.parquet")
WAYS = ("KILL", "TERM", "INT", "INT twice", "full disk", "two, KILL", "two, INT")
_PATIENCE_S = 120


@dataclass
class Outcome:
    """What came of it.

    Args:
        kills: How many processes were ended, by the way.
        late: How many were through before.
        faults: What went wrong, a line each.
        left_out: Ways that are not to be had here.
    """

    kills: Counter[str] = field(default_factory=Counter)
    late: int = 0
    faults: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


class Trial:
    """Kills of one study, in folders below `where`."""

    def __init__(self, where: Path, runs: int, seed: int) -> None:
        self.where = where
        self.draw = random.Random(seed)
        self.study = where / "study.toml"
        self.study.write_text(STUDY.format(runs=runs))
        self.outcome = Outcome()
        begun = time.monotonic()
        self.complete(where / "undisturbed")
        self.length_s = time.monotonic() - begun
        self.tables = self.read(where / "undisturbed")

    def start(self, folder: Path) -> subprocess.Popen[str]:
        """A process of the study."""
        code = "from clift.cli import main; main()"
        command = [sys.executable, "-c", code, "sweep", str(self.study), "-o", str(folder)]
        command += ["--no-plots", "--csv", "--quiet"]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def complete(self, folder: Path) -> None:
        """Runs the study to its end."""
        process = self.start(folder)
        _, err = process.communicate(timeout=_PATIENCE_S)
        if process.returncode != 0:
            self.outcome.faults.append(f"{folder.name}: code {process.returncode}: {err[-200:]}")

    def read(self, folder: Path) -> dict[str, bytes]:
        """The tables of a folder."""
        paths = [folder / name for name in TABLES]
        return {path.name: path.read_bytes() for path in paths if path.exists()}

    def finished(self, folder: Path) -> set[str]:
        """The files of finished runs."""
        return {path.name for path in folder.glob("store/runs/*")}

    def end(self, folder: Path, way: str) -> None:
        """Starts a process and ends it at a random moment."""
        process = self.start(folder)
        other = self.start(folder) if way.startswith("two") else None
        time.sleep(self.draw.uniform(0.0, 1.1 * self.length_s))
        kind = way.split()[-1] if other else way.split()[0]
        before = self.finished(folder)
        was_over = process.poll() is not None
        process.send_signal(getattr(signal, f"SIG{kind}"))
        if way == "INT twice":
            time.sleep(self.draw.uniform(0.0, 0.3))
            process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=_PATIENCE_S)
        self.outcome.late += was_over
        self.outcome.kills[way] += not was_over
        # What comes while Python still loads modules is Python's to tell.
        is_early = err.rstrip().endswith("KeyboardInterrupt") and "cli/main.py" not in err
        if ("Traceback" in err and not is_early) or "unexpected" in err:
            self.outcome.faults.append(f"{folder.name}, {way}: {err[-300:]}")
        if before - self.finished(folder):
            self.outcome.faults.append(f"{folder.name}, {way}: finished runs are gone")
        if other is not None:
            _, err = other.communicate(timeout=_PATIENCE_S)
            if other.returncode != 0:
                self.outcome.faults.append(f"{folder.name}, the other of {way}: {err[-300:]}")

    def fill(self, folder: Path) -> None:
        """Runs the study on a disk that is too small, then on one with room."""
        folder.mkdir()
        size = self.draw.randint(16, 400)
        mount = ["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", str(folder)]
        if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
            self.outcome.left_out = ["full disk (no tmpfs to be mounted)"]
            return
        try:
            process = self.start(folder / "out")
            out, err = process.communicate(timeout=_PATIENCE_S)
            if process.returncode == 0:
                self.outcome.late += 1
            else:
                self.outcome.kills["full disk"] += 1
                if process.returncode != 2 or not err.splitlines()[-1].startswith("error: "):
                    self.outcome.faults.append(f"{folder.name}, {size} kB: {err[-300:]}")
                if self.finished(folder / "out") and not out:
                    self.outcome.faults.append(f"{folder.name}, {size} kB: results not shown")
            room = ["mount", "-o", "remount,size=64m", str(folder)]
            subprocess.run(room, capture_output=True, check=True)
            self.compare(folder / "out", f"full disk of {size} kB")
        finally:
            subprocess.run(["umount", "-l", str(folder)], check=True)

    def compare(self, folder: Path, what: str) -> None:
        """Completes a folder and compares its tables with the undisturbed ones."""
        self.complete(folder)
        found = self.read(folder)
        for name in TABLES:
            if found.get(name) != self.tables[name]:
                self.outcome.faults.append(f"{folder.name}: {name} differs after {what}")
        left = [path.name for path in folder.rglob("*.partial")]
        if left:
            self.outcome.faults.append(f"{folder.name}: {left} left after {what}")


def kill(
    where: Path,
    kills: int,
    runs: int,
    seed: int,
    ways: tuple[str, ...] = WAYS,
    told: Callable[[int, Outcome], object] | None = None,
) -> Outcome:
    """Ends processes of a study, up to four in one folder, until there were so many.

    Args:
        where: An empty folder.
        kills: How many.
        runs: Runs of each of three cells.
        seed: Of moments and ways.
        ways: Which ways.
        told: Called after each folder.
    """
    trial = Trial(where, runs, seed)
    turn = folder_number = 0
    told = told or (lambda _turn, _outcome: None)
    while turn < kills:
        folder_number += 1
        folder = where / f"folder-{folder_number}"
        done = []
        for _ in range(trial.draw.randint(1, 4)):
            way = ways[turn % len(ways)]
            turn += 1
            if way == "full disk":
                trial.fill(where / f"disk-{turn}")
            else:
                trial.end(folder, way)
                done.append(way)
            if turn == kills:
                break
        if done:
            trial.compare(folder, ", ".join(done))
            shutil.rmtree(folder)
        told(turn, trial.outcome)
    return trial.outcome


def _tell(turn: int, outcome: Outcome) -> None:
    ended = sum(outcome.kills.values())
    faults = len(outcome.faults)
    print(f"{turn} turns, {ended} ended, {faults} faults", file=sys.stderr, flush=True)


def main() -> None:
    """Prints what came out; ends with 1 if anything was lost, doubled or differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="clift-kills-") as folder:
        where = Path(folder)
        outcome = kill(where, given.kills, given.runs, given.seed, told=_tell)
    for way, count in outcome.kills.items():
        print(f"{way:12} {count:4}")
    print(f"through before they were to be ended: {outcome.late}")
    for what in outcome.left_out:
        print(f"left out: {what}")
    for fault in outcome.faults:
        print(f"FAULT {fault}")
    print(f"{len(outcome.faults)} faults in {time.monotonic() - begun:.0f} s")
    sys.exit(bool(outcome.faults))


if __name__ == "__main__":
    main()
