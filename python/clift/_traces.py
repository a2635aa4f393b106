"""What the links of scenarios are made from: each made once, and kept while there is room."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from clift import _clift, channel, tmt
from clift.delays import delay_steps
from clift.errors import ScenarioError, TraceError
from clift.link_trace import LinkTrace
from clift.live import adaptive_harq
from clift.trace import PhyTrace


@dataclass(frozen=True, slots=True)
class Information:
    """What an adaptive-HARQ link lives on.

    Attributes:
        trace: Mutual information per coded bit over time.
        mean: Its mean in closed form.
    """

    trace: _clift.MiTrace
    mean: float

    def __len__(self) -> int:
        return len(self.trace)

    @property
    def _inner(self) -> tuple[_clift.MiTrace, float]:
        return self.trace, self.mean


@dataclass(frozen=True, slots=True)
class PhyTraces:
    """What a live link lives on whose reports a trace loses.

    Attributes:
        phy: The PHY trace of the link.
        back: That of the way back.
    """

    phy: PhyTrace
    back: PhyTrace

    @property
    def _inner(self) -> tuple[_clift.PhyTrace, _clift.PhyTrace]:
        return self.phy._inner, self.back._inner


Made = LinkTrace | PhyTrace | PhyTraces | Information
T = TypeVar("T", PhyTrace, LinkTrace, Information, _clift.DelaySeries)

# Two columns of 8 bytes: 60 million slots are about 1 GB.
_ROOM = 60_000_000


class TraceStore:
    """Makes what scenarios need: traces from the specs of `_clift.ScenarioFile.links`, delays.

    Args:
        folder: What the file names in specs are relative to.

    Example:
        >>> import clift
        >>> store = TraceStore(Path())
        >>> spec = {
        ...     "make": "link-trace",
        ...     "phy": {
        ...         "trace": None,
        ...         "erasures": {"model": "bernoulli", "p": 0.1},
        ...         "slots": {"slots": 100, "slot_ns": 10, "decode_ns": 5, "lldu_bytes": 33},
        ...         "seed": 1,
        ...     },
        ...     "scheme": "ARQ",
        ...     "rtt_ns": 0,
        ...     "feedback_ns": None,
        ... }
        >>> link = store.made(json.dumps(spec))
        >>> store.made(json.dumps(spec)) is link
        True
        >>> store.made('{"make": "nothing"}') is None
        True
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: _Cache[PhyTrace] = _Cache()
        self._phy: _Cache[PhyTrace] = _Cache()
        self._links: _Cache[LinkTrace] = _Cache()
        self._information: _Cache[Information] = _Cache()
        self._delays: _Cache[_clift.DelaySeries] = _Cache()

    def made(self, spec: str) -> Made | None:
        """What a spec asks for: a link trace, one or two PHY traces, information, or nothing."""
        asked = json.loads(spec)
        make = asked["make"]
        if make == "link-trace":
            return self.link(spec)
        if make == "phy-traces":
            return PhyTraces(self._phy_of(asked["phy"]), self._phy_of(asked["back"]))
        if make == "information":
            return self._information.get(spec, lambda: self._make_information(asked))
        return self.phy(spec)

    def link(self, spec: str) -> LinkTrace:
        """The link trace of a spec that asks for one."""
        return self._links.get(spec, lambda: self._make_link(json.loads(spec)))

    def phy(self, spec: str) -> PhyTrace | None:
        """The PHY trace of a spec, be it under a link trace; None if it needs none."""
        phy = json.loads(spec).get("phy")
        return None if phy is None else self._phy_of(phy)

    def delays(self, file: str) -> _clift.DelaySeries:
        """The delays in a file.

        Raises:
            TraceError: If it holds none: file, line, and what is wrong.
        """
        return self._delays.get(file, lambda: self._read_delays(file))

    def _read_delays(self, file: str) -> _clift.DelaySeries:
        path = self._folder / file
        try:
            return _clift.DelaySeries(delay_steps(path))
        except ScenarioError as error:
            raise TraceError(f"{path}: {error}") from None

    def _make_link(self, spec: dict[str, Any]) -> LinkTrace:
        feedback = spec["feedback_ns"]
        return tmt.apply(
            self._phy_of(spec["phy"]),
            spec["scheme"],
            rtt_ms=spec["rtt_ns"] / 1e6,
            feedback_ms=None if feedback is None else feedback / 1e6,
        )

    def _make_information(self, spec: dict[str, Any]) -> Information:
        trace, mean = adaptive_harq.information(
            adaptive_harq.channel(spec["preset"], spec["esn0_db"]),
            spec["duration_ns"],
            spec["seed"],
        )
        return Information(trace, mean)

    def _phy_of(self, spec: dict[str, Any]) -> PhyTrace:
        return self._phy.get(json.dumps(spec), lambda: self._make_phy(spec))

    def _make_phy(self, spec: dict[str, Any]) -> PhyTrace:
        file = spec["trace"]
        base = None
        if file is not None:
            base = self._files.get(json.dumps(file), lambda: _read(self._folder, file))
        if spec["erasures"] is None:
            assert base is not None  # a scenario without a channel has a trace
            return base
        return _erased(spec, base)


_MODELS: dict[str, Callable[..., PhyTrace]] = {
    "bernoulli": channel.bernoulli,
    "gilbert-elliott": channel.gilbert_elliott,
}


def _erased(spec: dict[str, Any], base: PhyTrace | None) -> PhyTrace:
    model = dict(spec["erasures"])
    name = model.pop("model")
    if name == "lms":
        land_mobile = _clift.LandMobile(**model["options"])
        return PhyTrace._from_inner(land_mobile.trace(model["duration_ns"], spec["seed"]))
    make = _MODELS[name]
    if base is not None:
        return make(on=base, seed=spec["seed"], **model)
    return make(seed=spec["seed"], **spec["slots"], **model)


def _read(folder: Path, file: dict[str, Any]) -> PhyTrace:
    return PhyTrace._from_inner(_clift.read_described(folder, json.dumps(file)))


class _Cache(Generic[T]):
    """Keeps what was used last, as long as it fits."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, T] = OrderedDict()

    def get(self, key: str, make: Callable[[], T]) -> T:
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        value = make()
        self._kept[key] = value
        while len(self._kept) > 1 and sum(map(len, self._kept.values())) > _ROOM:
            self._kept.popitem(last=False)
        return value
