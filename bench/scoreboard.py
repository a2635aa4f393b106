"""What the scoreboard costs with up to 10,000 segments in flight and every tenth a hole."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).parent.parent


def report() -> None:
    """Prints nanoseconds a segment for both profiles, the same for any number in flight."""
    print("TCP's scoreboard, every tenth segment lost", flush=True)
    command = ["cargo", "bench", "--quiet", "-p", "clift", "--bench", "scoreboard"]
    subprocess.run(command, check=True, cwd=ROOT)
