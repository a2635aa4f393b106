"""Timing of whole processes: median of a few runs, peak memory, start-up taken off."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Measured:
    """What a command took."""

    seconds: float
    """Median wall time, start-up taken off where a start-up command was given."""
    peak_mb: float
    """Largest resident set of any run."""
    stdout: str
    """What the last run printed."""


def measure(command: list[str], start_up: list[str] | None = None, runs: int = 5) -> Measured:
    """Runs a command ``runs`` times after a warm-up; takes off what ``start_up`` takes."""
    _run(command)
    results = [_run(command) for _ in range(runs)]
    seconds = statistics.median(result[0] for result in results)
    if start_up is not None:
        seconds -= statistics.median(_run(start_up)[0] for _ in range(runs))
    return Measured(max(seconds, 1e-6), max(r[1] for r in results), results[-1][2])


def _run(command: list[str]) -> tuple[float, float, str]:
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    stdout = process.stdout.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - started
    if process.returncode != 0:
        message = f"{' '.join(command)} exited with {process.returncode}"
        raise RuntimeError(message)
    return seconds, usage.ru_maxrss / 1024, stdout


def own_peak_mb() -> float:
    """Peak resident memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
