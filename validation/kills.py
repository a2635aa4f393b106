"""Kills commands at random moments, again and again, and compares what they leave.

A study is run once undisturbed. Then the same study is run in other folders and ended: by SIGKILL,
SIGTERM, Ctrl-C once and twice, by a disk that is full, and with two processes in one folder of
which one is ended. What was finished must stay; the last call must leave the undisturbed tables,
byte by byte.

Then each command that fills a folder is killed in every phase, drawing included: at a random one of
its calls that open, rename or remove files of the folder, take locks or fork, and after a random
part of its CPU time. No process may be left, nothing may be locked, and the same command must leave
the files of an undisturbed one. These moments do not depend on how busy the machine is.

    python validation/kills.py --kills 100 --phases 200

A full disk is a small tmpfs, for which one has to be root; without, that part is left out and said.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import resource
import select
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
from typing import Any

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
# Commands take seconds; on a machine with other work many times that.
_PATIENCE_S = 900
# Words of each command; `{out}` is the folder that it fills, `{where}` that of its input.
_SMALL = "--quiet --threads 1"
COMMANDS = {
    "run": f"run {{where}}/small.toml -o {{out}} {_SMALL}",
    "sweep": f"sweep {{where}}/small.toml -o {{out}} {_SMALL} --no-plots",
    "design": f"design {{where}}/plain.toml -o {{out}} {_SMALL} --runs-budget 12 "
    "--space scheme=ARQ,FEC(10/12)",
    "report": "report {out} --figures {out}/figures",
    "paper run": "paper run clift2013 --table 1 --reduced --profile linux -o {out}",
    "advise": f"advise {{where}}/trace.csv -o {{out}} {_SMALL} --rtt 100ms --task file=20kB "
    "--schemes none,ARQ --transports TCP\N{NO-BREAK SPACE}cubic",
}
_SCENARIO = """
duration = "5 s"
runs = 3
[application]
type = "file"
size = "10 kB"
[channel]
model = "bernoulli"
erasures = "2 %"
rate = "263 kbit/s"
[link]
live = true
"""
# Python's audit events at which a process is killed; `open` counts below the folder alone.
_EVENTS = {"open", "os.fork", "os.mkdir", "os.rename", "os.remove", "os.scandir", "fcntl.flock"}
_EVENTS |= {"fcntl.fcntl", "os.listdir"}


@dataclass
class Outcome:
    """Result of the kills.

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
        is_early = err.rstrip().endswith("KeyboardInterrupt") and ", in run\n" not in err
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


def execute(words: list[str], out: str, event: int, cpu_s: float, note: Path) -> None:
    """Body of a process that runs a command and is killed in it.

    Args:
        words: Words after `clift`.
        out: The folder that the command fills.
        event: Number of the audit event at which to kill; 0: none.
        cpu_s: CPU time after which to kill; 0: never.
        note: Takes the children at the kill, or the events and the CPU time of the whole command.
    """
    from clift.cli.main import run

    own, count = os.getpid(), 0

    def hook(name: str, arguments: tuple[Any, ...]) -> None:
        nonlocal count
        if name not in _EVENTS or os.getpid() != own:
            return
        if name == "open" and not str(arguments[0]).startswith(out):
            return
        count += 1
        if count == event:
            kill()

    def kill() -> None:
        children = Path(f"/proc/{own}/task/{own}/children").read_text().split()
        note.write_text(json.dumps({"children": [int(child) for child in children]}))
        os.kill(own, signal.SIGKILL)

    said = os.open(note.with_suffix(".err"), os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(said, 2)
    sys.addaudithook(hook)
    begun = resource.getrusage(resource.RUSAGE_SELF)
    if cpu_s:
        # Its usual effect ends the process at once, as SIGKILL does, also in compiled code.
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, cpu_s)
    code = run(words)
    if not code:
        used = resource.getrusage(resource.RUSAGE_SELF)
        used_s = used.ru_utime + used.ru_stime - begun.ru_utime - begun.ru_stime
        note.write_text(json.dumps({"events": count, "cpu_s": used_s}))
    os._exit(code)


class Phases:
    """Kills of each command in all its phases, in folders below `where`."""

    def __init__(self, where: Path, seed: int) -> None:
        self.where = where
        self.draw = random.Random(seed)
        self.outcome = Outcome()
        # Forks from a process that has loaded what the commands load, which takes seconds.
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(["validation.preloaded"])
        (where / "plain.toml").write_text(_SCENARIO)
        (where / "small.toml").write_text(_SCENARIO + '[vary]\nscheme = ["ARQ", "none"]\n')
        rows = "".join(f"{slot * 45_000_000},{slot % 50 and 1_000_000}\n" for slot in range(2000))
        (where / "trace.csv").write_text("# lldu_bytes: 1500\nt_ns,d_ns\n" + rows)
        self.note = where / "note.json"

    def start(self, command: str, out: Path, event: int = 0, cpu_s: float = 0) -> Any:
        """Runs a command to its end or its kill, and returns its exit code."""
        places = {"where": self.where, "out": out}
        words = [word.format(**places) for word in COMMANDS[command].split(" ")]
        words = [word.replace("\N{NO-BREAK SPACE}", " ") for word in words]
        self.note.unlink(missing_ok=True)
        process = self._context.Process(
            target=execute, args=(words, str(out), event, cpu_s, self.note)
        )
        process.start()
        process.join()
        return process.exitcode

    def fill(self, command: str, out: Path) -> None:
        """Makes what the command works on: once, since a copy costs a fraction of the CPU time."""
        if command == "report":
            filled = self.where / "filled"
            if not filled.exists():
                self.complete("run", out)
                out.rename(filled)
            shutil.copytree(filled, out)

    def complete(self, command: str, out: Path) -> dict[str, Any]:
        """Runs a command to its end, and returns its events and CPU time."""
        code = self.start(command, out)
        if code != 0:
            said = self.note.with_suffix(".err").read_text()
            self.outcome.faults.append(f"{command}: code {code}: {said[-300:]}")
            return {"events": 1, "cpu_s": 0.1}
        found: dict[str, Any] = json.loads(self.note.read_text())
        return found

    def kill(self, command: str, out: Path, length: dict[str, Any], by_event: bool) -> None:
        """Kills a command, and looks for processes and locks that it leaves."""
        event = self.draw.randint(1, length["events"]) if by_event else 0
        cpu_s = 0.0 if by_event else self.draw.uniform(0.001, length["cpu_s"])
        code = self.start(command, out, event, cpu_s)
        if code == 0:
            self.outcome.late += 1
            return
        self.outcome.kills[f"{command}, {phase(out)}"] += 1
        if code not in (-signal.SIGKILL, -signal.SIGPROF):
            said = self.note.with_suffix(".err").read_text()
            self.outcome.faults.append(f"{command}: code {code} at {event}: {said[-300:]}")
        for child in json.loads(self.note.read_text())["children"] if self.note.exists() else ():
            if not has_ended(child):
                self.outcome.faults.append(f"{command}: process {child} is left at {event}")
        if (out / "store" / "lock").exists():
            from clift.campaign.locks import Locks

            with Locks(out / "store" / "lock") as locks:
                # A process that was forked a moment before ends a moment later.
                until = time.monotonic() + _PATIENCE_S
                while not locks.take(0, 1 << 40) and time.monotonic() < until:
                    time.sleep(0.01)
                if not locks.take(0, 1 << 40):
                    holders = locks.holders(0, 1 << 40)
                    self.outcome.faults.append(f"{command}: {holders} lock the folder at {event}")

    def read(self, out: Path) -> dict[str, bytes]:
        """What a command leaves, but for the batches, whose lengths depend on the machine.

        Files of a killed writer of the core stay for an hour, after which the next one removes
        them.
        """
        paths = (path for path in out.rglob("*") if path.is_file() and path.suffix != ".partial")
        return {
            str(path.relative_to(out)): path.read_bytes()
            for path in paths
            if path.relative_to(out).parts[0] != "store"
        }

    def compare(self, command: str, out: Path, whole: dict[str, bytes]) -> None:
        """Runs a command to its end and compares what it leaves with the undisturbed files."""
        self.complete(command, out)
        found = self.read(out)
        for name in sorted(whole.keys() | found.keys()):
            if whole.get(name) != found.get(name):
                self.outcome.faults.append(f"{command}: {name} differs")


def phase(out: Path) -> str:
    """How far a command came, by what its folder holds."""
    there = {path.suffix for path in out.glob("*")} | {path.suffix for path in out.glob("*/*.svg")}
    if there & {".png", ".svg", ".html"}:
        return "drawing"
    if there & {".parquet", ".json"}:
        return "tables"
    return "runs" if any(out.glob("store/runs/*")) else "start"


def has_ended(process: int) -> bool:
    """Waits for the end of a process that was a child of a killed one."""
    try:
        handle = os.pidfd_open(process)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], _PATIENCE_S)[0])
    finally:
        os.close(handle)


def kill_phases(
    where: Path,
    kills: int,
    seed: int,
    told: Callable[[int, Outcome], object] = lambda _turn, _outcome: None,
) -> Outcome:
    """Kills commands in all their phases, up to three times in one folder.

    Args:
        where: An empty folder.
        kills: How many times.
        seed: Of the moments.
        told: Called after each folder.
    """
    trial, turn = Phases(where, seed), 0
    lengths: dict[str, tuple[dict[str, Any], dict[str, bytes]]] = {}
    out = where / "out"  # the same name each time, since records have it
    while turn < kills:
        command = list(COMMANDS)[turn % len(COMMANDS)]
        if command not in lengths:
            trial.fill(command, out)
            lengths[command] = trial.complete(command, out), trial.read(out)
            shutil.rmtree(out)
        length, whole = lengths[command]
        trial.fill(command, out)
        for _ in range(trial.draw.randint(1, 3)):
            trial.kill(command, out, length, by_event=bool(turn // len(COMMANDS) % 2))
            turn += 1
        trial.compare(command, out, whole)
        shutil.rmtree(out)
        told(turn, trial.outcome)
    return trial.outcome


def _tell(turn: int, outcome: Outcome) -> None:
    ended = sum(outcome.kills.values())
    faults = len(outcome.faults)
    print(f"{turn} turns, {ended} ended, {faults} faults", file=sys.stderr, flush=True)


def main() -> None:
    """Prints what came out; ends with 1 if anything was lost, doubled or differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--phases", type=int, default=200)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="clift-kills-") as folder:
        where = Path(folder)
        outcome = kill(where, given.kills, given.runs, given.seed, told=_tell)
    with tempfile.TemporaryDirectory(prefix="clift-kills-") as folder:
        phases = kill_phases(Path(folder), given.phases, given.seed, told=_tell)
    outcome.kills += phases.kills
    outcome.late += phases.late
    outcome.faults += phases.faults
    for way, count in sorted(outcome.kills.items()):
        print(f"{way:20} {count:4}")
    print(f"through before they were to be ended: {outcome.late}")
    for what in outcome.left_out:
        print(f"left out: {what}")
    for fault in outcome.faults:
        print(f"FAULT {fault}")
    print(f"{len(outcome.faults)} faults in {time.monotonic() - begun:.0f} s")
    sys.exit(bool(outcome.faults))


if __name__ == "__main__":
    main()
