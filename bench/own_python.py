"""What parts in Python cost: CPU time of a run beside the same part of the core.

    python bench/own_python.py

The cost of the binding is what a call costs beyond the same call made from Python.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import clift

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests import test_own as parts  # the core's own in Python

SLOTS = 400_000
PHY = clift.channel.bernoulli(slots=SLOTS, slot_ns=200_000, p=0.0005, lldu_bytes=1500, seed=1)
LINK = clift.tmt.apply(PHY, "none", rtt_ms=40)


def seconds(call: Callable[[], object], times: int = 3) -> float:
    """CPU time of a call, the least of some."""

    def once() -> float:
        begun = process_time()
        call()
        return process_time() - begun

    return min(once() for _ in range(times))


def counting(names: tuple[str, ...], part: type, counted: list[int]) -> type:
    """The part, with its calls counted."""

    def counter(name: str) -> Any:
        usual = getattr(part, name)

        def method(self: Any, *given: Any) -> Any:
            counted[0] += 1
            return usual(self, *given)

        return method

    return type("Counting", (part,), {name: counter(name) for name in names})


class Noop:
    """A congestion control that does next to nothing, so that a call is the binding's cost."""

    def on_ack(self, ack: Any, window: Any) -> None:
        """The window stays."""

    def on_loss(self, window: Any) -> int:  # noqa: ARG002
        """The window stays."""
        return 100


def main() -> None:
    """Prints the costs."""
    counted = [0]
    clift.register_congestion("counted")(counting(("on_ack", "on_loss"), Noop, counted))
    clift.register_congestion("nothing")(Noop)
    # The same window all the time, so that both runs are the same but for the calls.
    same = {"transport": "newreno", "cwnd_max_packets": 10, "initial_window": 10}
    usual = seconds(lambda: clift.simulate(LINK, duration_s=60, **same))
    own = seconds(lambda: clift.simulate(LINK, duration_s=60, **(same | {"transport": "nothing"})))
    clift.simulate(LINK, duration_s=60, **(same | {"transport": "counted"}))
    calls, here = counted[0], Noop()
    of_python = seconds(lambda: [here.on_ack(None, None) for _ in range(calls)])
    print(
        f"binding of a congestion control: {(own - usual) / calls * 1e6:.2f} us a call, of which ",
        end="",
    )
    print(
        f"{of_python / calls * 1e6:.2f} us are Python's own call of an empty method ({calls} calls)"
    )
    print("each beside the same part of the core, CPU time:")
    for what, theirs, mine, part, names, register in (
        (
            *("newreno", {"transport": "newreno"}, {"transport": "py-newreno"}),
            *(parts.PyNewReno, ("on_ack", "on_loss", "on_timeout"), clift.register_congestion),
        ),
        (
            *("drop-tail queue", {"queue_packets": 200}, {"link.aqm": "py-droptail"}),
            *(parts.PyDropTail, ("enqueue", "dequeue"), clift.register_queue),
        ),
    ):
        name = f"counted-{register.__name__}"
        register(name)(counting(names, part, counted))
        key = next(iter(mine))
        usual = seconds(lambda theirs=theirs: clift.simulate(LINK, duration_s=60, **theirs))
        own = seconds(lambda mine=mine: clift.simulate(LINK, duration_s=60, **mine))
        counted[0] = 0
        clift.simulate(LINK, duration_s=60, **(mine | {key: name}))
        a_call = (own - usual) / counted[0] * 1e6
        print(f"- {what}: {usual:.2f} s, in Python {own:.2f} s ({own / usual:.1f} times); ", end="")
        print(f"{counted[0]} calls, {a_call:.2f} us each with what they do")

    phy = clift.channel.bernoulli(slots=100_000, p=0.01, seed=1)
    arq = seconds(lambda: clift.tmt.apply(phy, "ARQ"))
    own = seconds(lambda: clift.tmt.apply(phy, "py-arq"))
    print(f"- ARQ slot by slot over 100000 slots: {own:.2f} s, ", end="")
    print(f"{own * 10:.1f} us a slot with what it does; that of the core {1e3 * arq:.1f} ms")
    fec = seconds(lambda: clift.tmt.apply(PHY, "FEC(10/12)"))
    own = seconds(lambda: clift.tmt.apply(PHY, "py-fec(10, 12)"))
    print(
        f"- FEC(10/12) over {SLOTS} slots as a function over arrays: {1e3 * own:.1f} ms, ", end=""
    )
    print(f"that of the core {1e3 * fec:.1f} ms")


if __name__ == "__main__":
    main()
