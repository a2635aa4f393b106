"""Wrong values for every argument of every public callable: only one-line CliftErrors come back.

    python validation/wrong_calls.py            # every value alone, and 20,000 drawn pairs
    python validation/wrong_calls.py 500 7      # 500 pairs of seed 7; tests/test_wrong_calls.py
                                                # runs few

A value that is taken is as good as one that is refused; what counts is that nothing else is raised,
that the message is one line, and that a refusal of a single value names the argument.
"""

from __future__ import annotations

import decimal
import inspect
import math
import os
import random
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import clift
import clift.constellation
import clift.land_mobile

PHY = clift.channel.bernoulli(slots=5_000, p=0.02, seed=1)
LINK = clift.tmt.apply(PHY, clift.Arq())
SCENARIO = clift.Scenario(LINK, duration_s=0.01)
RUN = clift.simulate(SCENARIO)
LAND_MOBILE = clift.land_mobile.LandMobile()
HERE, THERE = "43.6,1.44", "34.05,-118.2"


class Odd:
    """Compares and converts as nothing does."""

    def __eq__(self, other: object) -> Any:
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "two\nlines"


class Part:
    """What a congestion control, a queue and an application have, doing nothing."""

    def on_ack(self, *_: Any) -> None:
        """Nothing."""

    on_loss = on_timeout = enqueue = dequeue = send = on_ack


WRONG: list[Any] = [
    *(None, True, False, 0, -1, 1, 3, 10**30, -(10**30), 2**63, 2**64, 0.5, -0.5, 1e308, -1e308),
    *(math.nan, math.inf, -math.inf, 1j, "", "x", "1", "1 ms", "two\nlines", "\0", "é" * 500, b"x"),
    *([], ["x"], [1, 2], [[1]], [None], (), (1, 2), (1, "x"), {}, {"x": 1}, {1: 2}, set(), {3}),
    *(range(3), iter(()), object, object(), Odd(), lambda: 3, Ellipsis, NotImplemented, slice(2)),
    *(np.array([1, 2]), np.array([]), np.array("x"), np.array([[1.0]]), np.array([None])),
    *(np.int64(3), np.float32("nan"), np.bool_(True), np.datetime64("2020-01-01")),
    *(np.ma.masked_array([1, 2], [0, 1]), Fraction(1, 3), decimal.Decimal("1.5")),
    *(decimal.Decimal("NaN"), decimal.Decimal("sNaN"), Path("/nowhere"), PHY, LINK, SCENARIO, RUN),
    *(clift.Arq(), clift.HybridLink(), clift.Reorder(), clift, clift.CliftError("x")),
]


def _registering(register: Callable[[str], Callable[[Any], Any]]) -> Callable[..., object]:
    """A decorator with its part as a call."""

    def call(name: str, part: Any) -> object:
        return register(name)(part)

    return call


CALLS: dict[str, tuple[Callable[..., object], dict[str, Any]]] = {
    "PhyTrace": (clift.PhyTrace, {"t_ns": [0, 9], "d_ns": [1, 1]}),
    "PhyTrace.share": (PHY.share, {"n": 2}),
    "PhyTrace.offset": (PHY.offset, {"start_ns": 2}),
    "PhyTrace.write": (PHY.write, {"path": "/nowhere/x.csv"}),
    "LinkTrace": (
        clift.LinkTrace,
        {"t_ns": [0, 9], "d_ns": [1, 1], "lost_ns": [0, 0], "transmissions": [1, 1], "rtt_ms": 1},
    ),
    "read_trace": (clift.read_trace, {"path": "/nowhere/x.csv"}),
    "import_series": (clift.import_series, {"path": "/nowhere/x.csv", "time": "1:s"}),
    "import_modem": (
        clift.import_modem,
        {"path": "/nowhere/x.csv", "time": "1:s", "symbol_rate": "5 MBd", "esn0": "2:dB"},
    ),
    "import_ping": (clift.import_ping, {"path": "/nowhere/x.log"}),
    "read_log": (clift.read_log, {"path": "/nowhere/x.log"}),
    "import_captures": (
        clift.import_captures,
        {"sender": "/nowhere/a.pcap", "receiver": "/nowhere/b.pcap"},
    ),
    "tmt.apply": (clift.tmt.apply, {"phy": PHY, "scheme": "ARQ"}),
    "deliver": (clift.deliver, {"ll": LINK, "arrivals_ns": [0]}),
    "channel.bernoulli": (clift.channel.bernoulli, {"slots": 9}),
    "channel.gilbert_elliott": (clift.channel.gilbert_elliott, {"slots": 9}),
    "channel.lms": (clift.channel.lms, {"duration_s": 1}),
    "LandMobile": (clift.land_mobile.LandMobile, {}),
    "Reorder": (clift.Reorder, {}),
    "NoScheme": (clift.NoScheme, {}),
    "Fec": (clift.Fec, {"k": 1, "n": 2}),
    "Arq": (clift.Arq, {}),
    "Harq2": (clift.Harq2, {"k": 1, "n": 2}),
    "LiveLink": (clift.LiveLink, {"phy": PHY, "scheme": "ARQ"}),
    "HybridLink": (clift.HybridLink, {}),
    "AdaptiveHarqLink": (clift.AdaptiveHarqLink, {"duration_s": 1}),
    "NtnLink": (clift.NtnLink, {}),
    "simulate": (clift.simulate, {"scenario": LINK, "duration_s": 0.01}),
    "Scenario": (clift.Scenario, {"source": LINK, "duration_s": 0.01}),
    "Scenario.read": (clift.Scenario.read, {"path": "/nowhere/x.toml"}),
    "Scenario.parse": (clift.Scenario.parse, {"text": "hybrid = {}"}),
    "Scenario.replace": (SCENARIO.replace, {"seed": 2}),
    "Scenario.replication": (SCENARIO.replication, {"number": 0}),
    "Run.series": (RUN.series, {"interval_ms": 5}),
    "Run.units": (RUN.units, {"until_s": 1}),
    "Run.to_pandas": (RUN.to_pandas, {"name": "series"}),
    "run_many": (clift.run_many, {"scenarios": []}),
    "campaign.run": (clift.campaign.run, {"scenario": SCENARIO, "progress": False}),
    "memory_limit": (clift.memory_limit, {"limit": None}),
    "model.erasures": (clift.model.erasures, {"n": 2, "p": 0.1}),
    "model.predict": (clift.model.predict, {"scheme": "ARQ", "p": 0.1}),
    "model.fec": (clift.model.fec, {"k": 1, "n": 2, "p": 0.1}),
    "model.arq": (clift.model.arq, {"p": 0.1}),
    "model.harq2": (clift.model.harq2, {"k": 1, "n": 2, "p": 0.1}),
    "model.hybrid": (clift.model.hybrid, {"k": 1, "n": 2}),
    "model.fit": (clift.model.fit, {"phy": PHY}),
    "constellation.delays": (
        clift.constellation.delays,
        {"constellation": "leo66", "start": HERE, "end": THERE, "duration_s": 2},
    ),
    "constellation.preset": (clift.constellation.preset, {"name": "leo66"}),
    "constellation.walker": (
        clift.constellation.walker,
        {"planes": 6, "per_plane": 11, "altitude_km": 800, "inclination_deg": 86.4},
    ),
    "constellation.read": (clift.constellation.read, {"path": "/nowhere/x.csv"}),
    "load_plugin": (clift.load_plugin, {"path": "/nowhere/x.py"}),
    "register_scheme": (_registering(clift.register_scheme), {"name": "arq", "part": Odd}),
    "register_congestion": (_registering(clift.register_congestion), {"name": "bbr", "part": Part}),
    "register_carrier_scheduler": (
        _registering(clift.register_carrier_scheduler),
        {"name": "demand", "part": Part},
    ),
    "register_path_scheduler": (
        _registering(clift.register_path_scheduler),
        {"name": "ecf", "part": Part},
    ),
    "register_queue": (_registering(clift.register_queue), {"name": "pie", "part": Part}),
    "register_application": (
        _registering(clift.register_application),
        {"name": "bulk", "part": Part},
    ),
}
# These call what they are given; these take long for what is right.
LEFT_OUT = {
    *(("simulate", "progress"), ("run_many", "progress"), ("campaign.run", "progress")),
    ("simulate", "duration_s"),
    ("Scenario", "duration_s"),
}
LAND_MOBILE_OPTIONS = sorted(clift.land_mobile.Options.__annotations__)
OF_OPTIONS = {"channel.lms", "LandMobile"}
# Public, but nothing that a value of a user goes into.
NO_CALLS = {"CliftError", "Interrupted", "OutOfMemory", "ScenarioError", "SimulationError"}
# What `design` takes beside a scenario is checked by its own tests; a search takes seconds.
NO_CALLS |= {"TraceError", "Run", "advise", "design"}


def missing() -> set[str]:
    """Public callables that are in no row of `CALLS`."""
    named = {name for name in clift.__all__ if callable(getattr(clift, name))}
    return named - CALLS.keys() - NO_CALLS


def arguments(name: str) -> list[str]:
    """The arguments of a callable that are tried."""
    call, usual = CALLS[name]
    kinds = inspect.signature(call).parameters
    found = [
        one
        for one, parameter in kinds.items()
        if parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
    ]
    found += LAND_MOBILE_OPTIONS if name in OF_OPTIONS else []
    found += [one for one in usual if one not in found]
    return [one for one in found if (name, one) not in LEFT_OUT]


def fault(name: str, given: dict[str, Any]) -> str | None:
    """What is wrong with how a callable answers `given` beside the usual, or None."""
    call, usual = CALLS[name]
    try:
        call(**(usual | given))
    except clift.CliftError as error:
        line = str(error)
        if "\n" in line or not line.strip():
            return f"not one line: {line!r}"
        if len(given) == 1 and not _names(line, next(iter(given))):
            return f"does not name it: {line}"
    except Exception as error:  # noqa: BLE001 - any exception is wrong
        return f"{type(error).__name__}: {error}"
    finally:
        clift.memory_limit(None)
    return None


# What a message may call an argument, where it is another word than its name.
_ALSO = (
    "missing key",
    "scenario",
    "trace",
    "slot ",
    "bytes",
    "file",
    "cannot be",
    "time",
    "format",
    "suffix",
    "preset",
    "link: give one or more",
    "not TOML",
    "K of N units",
    "satellites in a plane",
    "is not a place",
    "needs one channel",
    "the method ",
)


def _names(line: str, argument: str) -> bool:
    stem = argument.rsplit("_", 1)[0]
    spelled = (argument, stem, stem.replace("_", " "), stem.replace("_", "-"), *_ALSO)
    return any(one in line for one in spelled)


def alone(every: int = 1) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each `every`-th wrong value for each argument alone."""
    number = 0
    for name in CALLS:
        for argument in arguments(name):
            for value in WRONG:
                number += 1
                if number % every == 0:
                    yield name, {argument: value}


def drawn(count: int, seed: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Two wrong values at a time."""
    draw = random.Random(seed)
    for _ in range(count):
        name = draw.choice(list(CALLS))
        chosen = draw.sample(arguments(name), min(2, len(arguments(name))))
        yield name, {one: draw.choice(WRONG) for one in chosen}


def shown(given: dict[str, Any]) -> str:
    """What was given, on one line."""
    return ", ".join(
        f"{name} = {' '.join(repr(value).split())[:60]}" for name, value in given.items()
    )


def main(pairs: int = 20_000, seed: int = 1) -> int:
    """Tries all; 1 if one is answered wrongly."""
    if lacking := missing():
        print(f"no row of CALLS for {', '.join(sorted(lacking))}")
        return 1
    tried, wrong = 0, []
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        # What is taken for a file to be written stays here.
        warnings.simplefilter("ignore")
        os.chdir(folder)
        for name, given in (*alone(), *drawn(pairs, seed)):
            tried += 1
            if found := fault(name, given):
                wrong.append((name, found))
                print(f"{name}({shown(given)}): {found[:200]}", flush=True)
        os.chdir(here)
    for name, count in Counter(name for name, _ in wrong).most_common():
        print(f"{count:6} {name}")
    print(f"{len(wrong)} of {tried} calls are answered by something else than one line")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:3])))
