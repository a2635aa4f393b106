"""TMT: slots per second on one core, beside a plain copy of the same arrays."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).parent.parent


def report() -> None:
    """Runs the Rust benchmark, which prints a table."""
    print("TMT, one core, 5 % independent erasures")
    command = ["cargo", "bench", "--quiet", "-p", "clift", "--bench", "tmt"]
    subprocess.run(command, cwd=ROOT, check=True)
