"""Timing of whole processes: median of a few runs, peak memory, start-up taken off."""

from __future__ import annotations

import re
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Measured:
    """What a command took."""

    seconds: float
    """Median wall time, start-up taken off where a start-up command was given."""
    peak_mb: float
    """Largest resident set of any run."""
    stdout: str
    """What the last run printed."""


def measure(
    command: list[str],
    start_up: list[str] | None = None,
    runs: int = 5,
    warm_up: bool = True,
) -> Measured:
    """Runs a command ``runs`` times after a warm-up; takes off what ``start_up`` takes."""
    if warm_up:
        _run(command)
    results = [_run(command) for _ in range(runs)]
    seconds = statistics.median(result[0] for result in results)
    if start_up is not None:
        seconds -= statistics.median(_run(start_up)[0] for _ in range(runs))
    return Measured(max(seconds, 1e-6), max(r[1] for r in results), results[-1][2])


def _run(command: list[str]) -> tuple[float, float, str]:
    with tempfile.TemporaryFile() as stdout:
        started = time.perf_counter()
        process = subprocess.Popen(command, stdout=stdout, stderr=subprocess.DEVNULL)
        # The kernel's account of an ended process includes what its parent held before exec, so
        # the high-water mark is read while it runs.
        peak_kb = 0
        while process.poll() is None:
            peak_kb = max(peak_kb, _high_water_kb(process.pid))
            time.sleep(0.0005)
        seconds = time.perf_counter() - started
        stdout.seek(0)
        output = stdout.read().decode()
    if process.returncode != 0:
        message = f"{' '.join(command)} exited with {process.returncode}"
        raise RuntimeError(message)
    return seconds, peak_kb / 1024, output


def _high_water_kb(pid: int) -> int:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found[1]) if found else 0
