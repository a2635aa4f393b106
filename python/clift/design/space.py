"""What may be chosen: schemes with their parameters, and buffers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any

from clift._parse import fault
from clift.errors import ScenarioError
from clift.scenario import Scenario
from clift.scheme import Arq, Fec, Harq2, Scheme, scheme_text

Space = Mapping[str, Sequence[Any]]
"""Values by name: `scheme`, its parameters, `buffer`, or any key of a scenario."""

MOST = 10_000
"""The most candidates."""

# What a family is tried with if the space does not say it: the papers' blocks, and a longer one.
_USUAL: dict[str, tuple[Any, ...]] = {
    "n_d": (10, 50),
    "n_r": (0, 1, 2, 5),
    "n_s": (0, 1),
    "persistency": ("unlimited",),
    "interleave": (1, 8),
}
_LINK: Space = {"scheme": ("none", "ARQ", "FEC", "HARQ"), **_USUAL, "buffer": ("none", "in order")}
_HYBRID_N = (0, 1, 2, 5)
_ADAPTIVE: Space = {
    "adaptive_harq.first": (0.9, 1.0, 1.2),
    "adaptive_harq.increment": (0.3, 0.47),
    "adaptive_harq.max_retx": (1, 3),
    "buffer": ("none", 125, "in order"),
}
# Sections and keys of a scenario that somebody who builds a link chooses.
_CHOSEN = (
    *("scheme", "link.reorder", "link.live", "link.flush", "link.send_buffer"),
    *("link.receive_buffer", "hybrid.k", "hybrid.n", "hybrid.frames", "hybrid.persistency"),
    *("hybrid.in_order", "adaptive_harq.first", "adaptive_harq.increment"),
    *("adaptive_harq.targets", "adaptive_harq.max_retx", "ntn.rlc", "ntn.max_transmissions"),
    *("ntn.harq_feedback", "ntn.repetitions", "ntn.in_order", "ntn.t_reordering"),
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One design.

    Args:
        label: What it is called.
        parameters: Its values by name, those of a scheme taken apart.
        changes: Keys of a scenario and what it sets them to.
    """

    label: str
    parameters: dict[str, Any]
    changes: dict[str, Any] = field(repr=False)


def is_chosen(keys: Sequence[str]) -> bool:
    """Whether an axis that sets these keys is a choice of the link, not a condition.

    Example:
        >>> is_chosen(["scheme"]), is_chosen(["link.reorder.packets"]), is_chosen(["flows"])
        (True, True, False)
    """
    return bool(keys) and all(
        any(key == chosen or key.startswith(f"{chosen}.") for chosen in _CHOSEN) for key in keys
    )


def default_space(scenario: Scenario) -> Space:
    """What is tried if nothing is said: by the kind of the first link.

    Args:
        scenario: A cell, whose kind of link decides.

    Raises:
        ScenarioError: If there is no default for the kind.
    """
    config = scenario.config
    if config.get("hybrid"):
        k = int(config["hybrid"]["k"])
        return {
            "hybrid.n": [k + more for more in _HYBRID_N],
            "hybrid.persistency": [0, 1, 3],
            "hybrid.in_order": [True, False],
        }
    if config.get("adaptive_harq"):
        return _ADAPTIVE
    if config.get("trace") or config.get("channel"):
        return _LINK
    raise ScenarioError(
        f"{scenario.file or 'the scenario'}: no default space for this kind of link; say what to "
        "try, e.g. --space ntn.rlc=am,um (in Python: space={'ntn.rlc': ['am', 'um']})"
    )


def parse_space(text: str) -> tuple[str, list[str]]:
    """Name and values of a `--space NAME=VALUE,VALUE`; commas within brackets do not divide.

    Raises:
        ScenarioError: If it is not written so.

    Example:
        >>> parse_space("scheme=ARQ, HARQ(10/12, extra 1)")
        ('scheme', ['ARQ', 'HARQ(10/12, extra 1)'])
    """
    name, equals, rest = text.partition("=")
    found = [one.strip() for one in re.split(r",(?![^(]*\))", rest)]
    if not equals or not name.strip() or not all(found):
        example = "--space 'scheme=ARQ,HARQ(10/12)'"
        raise ScenarioError(f"--space {text}: give NAME=VALUE,VALUE, e.g. {example}")
    return name.strip(), found


def candidates(space: Space, axes: Sequence[Sequence[Candidate]] = ()) -> list[Candidate]:
    """Every candidate of a space, each once, in its order.

    Args:
        space: Values by name. `scheme` takes schemes; `FEC` and `HARQ` alone stand for all that
            `n_d` (N_D), `n_r` (N_R), `n_s` (N_S), `persistency` and `interleave` make of them, and
            `ARQ` for all of `persistency` where that is given. `buffer` is `none`, `in order` or a
            number of packets. `transport` takes a protocol and its congestion control, such as
            `TCP cubic` and `QUIC bbr`. Any other name is a key of a scenario.
        axes: Further axes, point by point.

    Raises:
        ScenarioError: If a value is of another kind, or there are too many.

    Example:
        >>> [one.label for one in candidates({"scheme": ["ARQ", "HARQ"], "n_d": [10],
        ...                                   "n_r": [0, 2], "n_s": [1], "buffer": ["none", 9]})]
        ['ARQ', 'ARQ, buffer 9', 'HARQ(10/10, extra 1)', 'HARQ(10/10, extra 1), buffer 9',
        'HARQ(10/12, extra 1)', 'HARQ(10/12, extra 1), buffer 9']
    """
    given = {_known(name): _listed(name, values) for name, values in space.items()}
    parts: list[list[Candidate]] = []
    if "scheme" in given:
        parts.append([_scheme(one) for one in _schemes(given)])
    elif not _USUAL.keys().isdisjoint(given):
        named = next(name for name in given if name in _USUAL)
        cure = "goes with schemes; give them too, e.g. scheme=FEC,HARQ"
        raise ScenarioError(f"space: {named}: {cure}")
    if "buffer" in given:
        parts.append([_buffer(value) for value in given["buffer"]])
    for key, values in given.items():
        if key == "transport":
            parts.append([_transport(str(value)) for value in values])
        elif key not in ("scheme", "buffer", *_USUAL):
            parts.append([_key(key, value) for value in values])
    parts += [list(axis) for axis in axes]
    size = prod(map(len, parts))
    if not parts or size > MOST:
        raise ScenarioError(f"space: {size if parts else 'no'} candidates; give 2 to {MOST}")
    found: dict[str, Candidate] = {}
    for chosen in product(*parts):
        one = _together(chosen)
        found.setdefault(one.label, one)
    return list(found.values())


def _known(name: str) -> str:
    low = name.lower().replace("-", "_")
    return low if low in _USUAL or low in ("scheme", "buffer") else name


def _listed(name: str, values: Any) -> list[Any]:
    if isinstance(values, str) or not isinstance(values, Sequence) or not len(values):
        raise fault(f"space[{name!r}]", values, "give a list of values")
    return list(values)


def _schemes(given: Mapping[str, list[Any]]) -> Iterator[str]:
    of = {name: given.get(name, list(usual)) for name, usual in _USUAL.items()}
    numbers = {
        name: [_whole(name, value) for value in values]
        for name, values in of.items()
        if name != "persistency"
    }
    rounds = [_limit(value) for value in of["persistency"]]
    for scheme in given["scheme"]:
        text = scheme_text(scheme)
        family: Iterator[Scheme | str]
        match text.upper():
            case "FEC":
                family = (
                    Fec(k, k + more, depth)
                    for k, more, depth in product(
                        numbers["n_d"], numbers["n_r"], numbers["interleave"]
                    )
                    if more  # without repair units it is none
                )
            case "HARQ":
                family = (
                    Harq2(k, k + more, extra, limit)
                    for k, more, extra, limit in product(
                        numbers["n_d"], numbers["n_r"], numbers["n_s"], rounds
                    )
                )
            case "ARQ" if "persistency" in given:
                family = (Arq(limit) for limit in rounds)
            case _:
                family = iter([text])
        yield from map(str, family)


def _whole(name: str, value: Any) -> int:
    try:
        return int(str(value))
    except ValueError:
        raise fault(f"space[{name!r}]", value, "give whole numbers") from None


def _limit(value: Any) -> int | None:
    return None if value is None or value == "unlimited" else _whole("persistency", value)


_PARTS = re.compile(r"(?P<family>\w+)(?:\((?:(?P<k>\d+)/(?P<n>\d+))?(?P<rest>.*)\))?")


def _scheme(text: str) -> Candidate:
    """A scheme with its parameters as a table has them."""
    parameters: dict[str, Any] = {"scheme": text}
    if found := _PARTS.fullmatch(text):
        parameters["family"] = found["family"]
        if found["k"]:
            parameters |= {"n_d": int(found["k"]), "n_r": int(found["n"]) - int(found["k"])}
        for word, name in (
            ("extra", "n_s"),
            ("rounds", "persistency"),
            ("max", "persistency"),
            ("interleave", "interleave"),
        ):
            if there := re.search(rf"\b{word} (\d+)", found["rest"] or ""):
                parameters[name] = int(there[1])
    return Candidate(text, parameters, {"scheme": text})


def _buffer(value: Any) -> Candidate:
    text = str(value).replace("-", " ").replace("_", " ").lower()
    if text == "none":
        return Candidate("", {"buffer": "none"}, {})
    if text == "in order":
        return Candidate(text, {"buffer": text}, {"link.reorder.packets": "unlimited"})
    if not text.isdigit():
        raise fault("space['buffer']", value, "give none, in order, or a number of packets")
    return Candidate(f"buffer {text}", {"buffer": text}, {"link.reorder.packets": int(text)})


def _transport(text: str) -> Candidate:
    protocol, _, congestion = text.strip().partition(" ")
    if protocol.lower() not in ("tcp", "quic") or not congestion:
        cure = "give TCP or QUIC and a congestion control, such as TCP cubic"
        raise fault("transport", text, cure)
    keys = {"protocol": protocol.lower(), "congestion": congestion.strip().lower()}
    changes: dict[str, Any] = {f"transport.{key}": value for key, value in keys.items()}
    label = f"{protocol.upper()} {keys['congestion']}"
    return Candidate(label, {"transport": label}, changes)


def _key(key: str, value: Any) -> Candidate:
    found = _value(value)
    short = key.rpartition(".")[2]
    shown = str(found).lower() if isinstance(found, bool) else str(found)
    return Candidate(f"{short} {shown}", {key: shown}, {key: found})


def _value(value: Any) -> Any:
    """What text of a command line stands for in a scenario."""
    if not isinstance(value, str):
        return value
    if value in ("true", "false"):
        return value == "true"
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return value


def _together(parts: Sequence[Candidate]) -> Candidate:
    parameters: dict[str, Any] = {}
    changes: dict[str, Any] = {}
    for part in parts:
        parameters |= part.parameters
        changes |= part.changes
    label = ", ".join(part.label for part in parts if part.label) or "as it is"
    return Candidate(label, parameters, changes)
