"""``make bench``: prints every speed and memory figure, as ratios where there is a yardstick."""

from __future__ import annotations

from bench import engine, instructions, links, memory, scoreboard, tmt, transfers, transports

if __name__ == "__main__":
    tmt.report()
    print()
    engine.report()
    print()
    instructions.report()
    print()
    transfers.report()
    print()
    transports.report()
    print()
    links.report()
    print()
    scoreboard.report()
    print()
    memory.report()
