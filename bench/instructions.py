"""Instructions of the engine for a packet of bulk data and its ACK.

Unlike times they do not depend on the machine and its load; they do on compiler and options.
"""

from __future__ import annotations

import re
import shutil
import subprocess

from bench.engine import CASES, LLDU, Case, build_ours

LINKS: tuple[tuple[str, list[str]], ...] = (("wired link", []), ("link trace", [LLDU]))
PROFILES = ("papers", "linux")


def report() -> None:
    """Prints instructions a packet for both profiles, over a wired link and over a link trace."""
    if not shutil.which("valgrind"):
        print("instructions a packet: valgrind is not installed: apt install valgrind")
        return
    ours = build_ours()
    print("instructions a packet of bulk data, with its ACK (start-up taken off)")
    print(f"{'case':42}" + "".join(f"{profile:>8}" for profile in PROFILES))
    for case in CASES[:2]:
        for link, lldu in LINKS:
            counts = [
                _per_packet(ours, case, [*lldu, "--profile", profile]) for profile in PROFILES
            ]
            row = "".join(f"{count:8.0f}" for count in counts)
            print(f"{f'{case.name}, {link}':42}{row}")


def _per_packet(ours: str, case: Case, options: list[str]) -> float:
    run, packets = _count([ours, *case.arguments(case.seconds, "cubic"), *options])
    start_up, _ = _count([ours, *case.arguments(1e-3, "cubic"), *options])
    return (run - start_up) / packets


def _count(command: list[str]) -> tuple[int, int]:
    """Instructions of a command, and the packets that it prints."""
    cachegrind = ["valgrind", "--tool=cachegrind", "--cache-sim=no"]
    done = subprocess.run(
        [*cachegrind, "--cachegrind-out-file=/dev/null", *command],
        check=True,
        capture_output=True,
        text=True,
    )
    found = re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)
    if not found:
        message = f"valgrind printed no count: {done.stderr}"
        raise RuntimeError(message)
    return int(found[1].replace(",", "")), int(done.stdout.split()[0])
