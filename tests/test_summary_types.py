"""The types of a summary against the summaries of runs of every kind."""

from collections.abc import Iterator
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

import pytest

import clift
from clift.summary import Link, Summary

ROOT = Path(__file__).parent.parent
# Further counters of a kind of link have other names.
OPEN = (Link,)


def faults(value: Any, kind: Any, path: str) -> Iterator[str]:
    """Where a value is not what its type says."""
    if is_typeddict(kind) and isinstance(value, dict):
        hints = get_type_hints(kind)
        missing = kind.__required_keys__ - value.keys()
        beyond = value.keys() - hints.keys()
        yield from (f"{path}.{key} is missing" for key in missing)
        yield from (f"{path}.{key} is not in {kind.__name__}" for key in beyond if kind not in OPEN)
        for key in value.keys() & hints.keys():
            yield from faults(value[key], hints[key], f"{path}.{key}")
    elif get_origin(kind) in (Union, UnionType):
        found = [list(faults(value, one, path)) for one in get_args(kind)]
        yield from min(found, key=len)
    elif get_origin(kind) is Literal:
        if value not in get_args(kind):
            yield f"{path} = {value!r} is none of {get_args(kind)}"
    elif get_origin(kind) is list:
        for place, one in enumerate(value):
            yield from faults(one, get_args(kind)[0], f"{path}.{place}")
    elif type(value) is not kind:
        yield f"{path} = {value!r} is no {NoneType if kind is None else kind.__name__}"


def test_wrong_types_are_found() -> None:
    run = clift.simulate({"ntn": {}}, duration_s=1).summary()
    assert list(faults(run, Summary, "")) == []
    wrong = {**run, "timeouts": 1.5, "links": [{**run["links"][0], "kind": "cable"}], "more": 1}
    assert {fault.split()[0] for fault in faults(wrong, Summary, "")} == {
        ".timeouts",
        ".links.0.kind",
        ".more",
    }


# An example may have notes on its trace.
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.toml")), ids=lambda p: p.stem)
def test_summaries_of_the_examples_are_as_typed(path: Path) -> None:
    cells = clift.Scenario.read(path).cells()
    for cell in cells[:: max(1, len(cells) // 3)]:
        run = clift.simulate(cell.replication(0).replace(duration_s=5))
        assert list(faults(run.summary(), Summary, "")) == []


def test_summaries_of_messages_legs_and_silence_are_as_typed() -> None:
    link = clift.tmt.apply(clift.channel.bernoulli(slots=20_000, p=0.02, seed=1), "ARQ")
    talk = {"transport": "udp", "message_kbps": 16, "message_bytes": 200, "duration_s": 5}
    runs = [
        clift.simulate(link, **talk, access_kbps=100, flows=2),
        clift.simulate(link, **talk, start_offset_s=1, deadline_ms=10),
        clift.simulate(link, duration_s=0.1),  # nothing comes through
    ]
    for run in runs:
        assert list(faults(run.summary(), Summary, "")) == []
