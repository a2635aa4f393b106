"""The compiled part of `clift`; import `clift` instead."""

import os
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

__version__: str

@final
class PhyTrace:
    def __new__(
        cls,
        t_ns: ArrayLike,
        d_ns: ArrayLike,
        lldu_bytes: int,
        decode_ns: int | None = None,
        period_ns: int | None = None,
        rtt_ns: int | None = None,
        description: str | None = None,
        source: str | None = None,
    ) -> PhyTrace: ...
    @property
    def t_ns(self) -> NDArray[np.int64]: ...
    @property
    def d_ns(self) -> NDArray[np.int64]: ...
    @property
    def lldu_bytes(self) -> int: ...
    @property
    def decode_ns(self) -> int | None: ...
    @property
    def period_ns(self) -> int | None: ...
    @property
    def rtt_ns(self) -> int | None: ...
    @property
    def description(self) -> str | None: ...
    @property
    def source(self) -> str | None: ...
    def __len__(self) -> int: ...
    def nominal_decoding_ns(self) -> int: ...
    def share(self, n: int) -> PhyTrace: ...
    def offset(self, start_ns: int) -> PhyTrace: ...
    def stats(self) -> dict[str, Any]: ...
    def write(
        self,
        path: str | os.PathLike[str],
        format: str,
        unit: str | None = None,
        opportunity_bytes: int | None = None,
        model: str | None = None,
    ) -> None: ...

def format_of(path: str | os.PathLike[str]) -> str: ...
def read_trace(
    path: str | os.PathLike[str],
    format: str,
    unit: str | None = None,
    lldu_bytes: int | None = None,
    direction: str | None = None,
    losses: str | os.PathLike[str] | None = None,
    interval_ns: int | None = None,
    rate_bps: int | None = None,
    slot_ns: int | None = None,
    decode_ns: int | None = None,
) -> PhyTrace: ...

_Slots = tuple[int, int, int, int]

def bernoulli(
    p: float, seed: int, slots: _Slots | None = None, on: PhyTrace | None = None
) -> PhyTrace: ...
def gilbert_elliott(
    alpha: float,
    beta: float,
    p_good: float,
    p_bad: float,
    seed: int,
    slots: _Slots | None = None,
    on: PhyTrace | None = None,
) -> PhyTrace: ...

@final
class LinkTrace:
    @property
    def t_ns(self) -> NDArray[np.int64]: ...
    @property
    def d_ns(self) -> NDArray[np.int64]: ...
    @property
    def lost_ns(self) -> NDArray[np.int64]: ...
    @property
    def transmissions(self) -> NDArray[np.uint32]: ...
    @property
    def rtt_ns(self) -> int: ...
    @property
    def lldu_bytes(self) -> int: ...
    def __len__(self) -> int: ...
    def stats(self) -> dict[str, Any]: ...

def apply(phy: PhyTrace, scheme: str, rtt_ns: int, feedback_ns: int | None) -> LinkTrace: ...
def printed_delay_ms(link: LinkTrace, scheme: str) -> float | None: ...
