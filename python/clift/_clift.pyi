"""The compiled part of `clift`; import `clift` instead."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

__version__: str

# `kind` of `Run.events`, then of `Run.units`.
SENT: int
SENT_AGAIN: int
RECEIVED: int
RECEIVED_IN_VAIN: int
GONE: int
ACKNOWLEDGED: int
UNIT_NEW: int
UNIT_AGAIN: int
UNIT_REPAIR: int

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
        format: str | None = None,
        unit: str | None = None,
        opportunity_bytes: int | None = None,
        model: str | None = None,
    ) -> None: ...

def parse_time(text: str) -> int: ...
def parse_rate(text: str) -> int: ...
def format_of(path: str | os.PathLike[str]) -> str: ...
def trace_formats() -> list[tuple[str, list[str], str, bool, bool]]: ...
def read_trace(
    path: str | os.PathLike[str],
    format: str | None = None,
    unit: str | None = None,
    lldu_bytes: int | None = None,
    direction: str | None = None,
    losses: str | os.PathLike[str] | None = None,
    interval_ns: int | None = None,
    rate_bps: int | None = None,
    slot_ns: int | None = None,
    decode_ns: int | None = None,
) -> PhyTrace: ...
def read_delay_table(
    path: str | os.PathLike[str],
) -> tuple[list[float], list[float], list[tuple[str, list[str]]]]: ...
def replace_file(path: str | os.PathLike[str], content: bytes) -> None: ...

_Slots = tuple[int, int, int, int]

def bernoulli(
    p: float, seed: int, slots: _Slots | None = None, on: PhyTrace | None = None
) -> PhyTrace: ...
def gilbert_elliott(
    mean: bool,
    chain: tuple[float, float],
    p_good: float,
    p_bad: float,
    seed: int,
    slots: _Slots | None = None,
    on: PhyTrace | None = None,
) -> PhyTrace: ...

@final
class LandMobile:
    def __new__(
        cls,
        preset: str,
        *,
        esn0_db: float | None = None,
        interleaving_ns: int | None = None,
        branches: int | None = None,
        environment: str | None = None,
        model: str | None = None,
        elevation_deg: float | None = None,
        carrier_ghz: float | None = None,
        loo: tuple[float, float, float, float] | None = None,
        trees: tuple[float, float, float, float, float] | None = None,
        speed_kmh: float | None = None,
        reference: str | None = None,
        modulation: str | None = None,
        code: str | None = None,
        per_table: Sequence[tuple[float, float]] | None = None,
        per_axis: str = "mi",
        threshold: float | None = None,
        offset_db: float | None = None,
        slot_ns: int | None = None,
        lldu_bytes: int | None = None,
    ) -> LandMobile: ...
    @property
    def esn0_db(self) -> float: ...
    @property
    def lldu_bytes(self) -> int: ...
    @property
    def slot_ns(self) -> int: ...
    @property
    def decode_ns(self) -> int: ...
    @property
    def doppler_hz(self) -> float: ...
    def count(self, duration_ns: int) -> int: ...
    def trace(self, duration_ns: int, seed: int) -> PhyTrace: ...
    def of_series(
        self, t_ns: NDArray[np.int64], esn0_db: NDArray[np.float64], seed: int
    ) -> PhyTrace: ...
    def write(
        self, path: str | os.PathLike[str], duration_ns: int, seed: int, information: bool
    ) -> None: ...
    def information(self, duration_ns: int, seed: int) -> NDArray[np.float32]: ...
    def levels(self, count: int, stride: int, seed: int) -> tuple[NDArray[np.float32], float]: ...
    def road(
        self, count: int, seed: int
    ) -> tuple[NDArray[np.int64], list[NDArray[np.float64]]]: ...
    def level_cdf(self, db: list[float]) -> list[float]: ...
    def mean_information(self) -> float: ...
    def awgn_per(self, esn0_db: list[float]) -> list[float]: ...
    def awgn_information(self, esn0_db: list[float]) -> list[float]: ...

def lms_names() -> tuple[list[str], list[str], list[str], list[str]]: ...

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
    def write(self, path: str | os.PathLike[str]) -> None: ...
    def stats(self) -> dict[str, Any]: ...

def apply(phy: PhyTrace, scheme: str, rtt_ns: int, feedback_ns: int | None) -> LinkTrace: ...
def printed_delay_ms(link: LinkTrace, scheme: str) -> float | None: ...

@final
class Reorder:
    def __new__(
        cls, packets: int | None, flush_when_full: bool, flush_on_loss: bool, tcp: bool
    ) -> Reorder: ...

@final
class Medium:
    @staticmethod
    def live(
        phy: PhyTrace,
        scheme: str,
        *,
        rtt_ns: int,
        feedback_ns: int | None = None,
        flush_ns: int = 0,
        feedback_loss: float = 0.0,
        feedback_trace: PhyTrace | None = None,
        feedback_repeat_ns: int | None = None,
        send_buffer: int | None = None,
        receive_buffer: int | None = None,
        reorder: Reorder | None = None,
    ) -> Medium: ...
    @staticmethod
    def hybrid(
        *,
        k: int,
        n: int,
        frames: int,
        persistency: int,
        unit_bytes: int,
        rate_bps: int,
        delay_ns: int,
        p: float,
        losses: PhyTrace | None,
        in_order: bool,
        seed: int,
    ) -> Medium: ...

def ntn_presets() -> list[str]: ...
def ntn_medium(preset: str, rlc: str, changes: dict[str, Any]) -> Medium: ...

@final
class MiTrace:
    def __new__(cls, every_ns: int, values: NDArray[np.float32]) -> MiTrace: ...
    @staticmethod
    def of(channel: LandMobile, duration_ns: int, seed: int) -> MiTrace: ...
    @property
    def every_ns(self) -> int: ...
    def mean(self) -> float: ...
    def values(self) -> NDArray[np.float32]: ...
    def __len__(self) -> int: ...

def adaptive_harq(
    information: MiTrace,
    *,
    rate_bps: int,
    delay: Sequence[tuple[int, int]],
    keep_order: bool,
    first: float,
    increment: float,
    targets: Sequence[float] | None,
    max_retransmissions: int,
    step_ns: int,
    packet_sigma: float,
    attempt_sigma: float,
    compete: bool,
    reorder: Reorder | None,
) -> Medium: ...
def deliver(
    medium: LinkTrace | Medium,
    arrivals_ns: ArrayLike,
    packet_bytes: int,
    queue_packets: int | None = None,
    reorder: Reorder | None = None,
    seed: int = 1,
) -> tuple[NDArray[np.int64], NDArray[np.uint8]]: ...

@final
class Hop:
    @staticmethod
    def varying(steps: Sequence[tuple[int, int]], keep_order: bool) -> Hop: ...
    @staticmethod
    def way_back(there: list[Hop]) -> list[Hop]: ...
    @staticmethod
    def leg(
        *,
        rate_bps: int | None = None,
        delay_ns: int = 0,
        queue_packets: int | None = None,
        queue_bytes: int | None = None,
        loss: float = 0.0,
        lost_packets: list[int] | None = None,
        held_packets: list[tuple[int, int]] | None = None,
    ) -> Hop: ...
    @staticmethod
    def link(
        medium: LinkTrace | Medium,
        *,
        queue_packets: int | None = None,
        queue_bytes: int | None = None,
        start_offset_ns: int = 0,
        wrap: bool = False,
        lldu_header: int = 0,
        packet_header: int = 0,
        extra_lldu: bool = False,
        overlap_papers: bool = False,
        reorder: Reorder | None = None,
    ) -> Hop: ...

@final
class Flow:
    def __new__(
        cls,
        *,
        transport: str,
        profile: str = "papers",
        packet_bytes: int = 1500,
        start_ns: int = 0,
        timestamps: bool = True,
        sack: bool = True,
        linux: Mapping[str, bool | int] | None = None,
        initial_window: int | None = None,
        delayed_ack_ns: int | None = None,
        cwnd_max_packets: int | None = None,
        receive_window_bytes: int | None = None,
        file_bytes: int | None = None,
        message_bytes: int | None = None,
        message_rate_bps: int | None = None,
        deadline_ns: int | None = None,
        source_leg: Hop | None = None,
    ) -> Flow: ...

@final
class Setup:
    def __new__(
        cls,
        *,
        forward: list[Hop],
        backward: list[Hop],
        flows: list[Flow],
        duration_ns: int,
        seed: int,
        stop_when_done: bool = False,
    ) -> Setup: ...

@final
class Outcome:
    @property
    def goodput_kbps(self) -> float: ...
    @property
    def completion_s(self) -> float | None: ...
    def summary(self) -> dict[str, Any]: ...

def metrics() -> list[tuple[list[str], str, str, str, str | None, str]]: ...
def run(setup: Setup, progress: Callable[[int, int], object] | None = None) -> Outcome: ...
def run_many(
    setups: list[Setup], threads: int, progress: Callable[[int], object] | None = None
) -> tuple[list[Outcome | str | None], BaseException | None]: ...
def series(setup: Setup, interval_ns: int) -> dict[str, NDArray[Any]]: ...
def events(setup: Setup) -> dict[str, NDArray[Any]]: ...
def units(setup: Setup, until_ns: int | None = None) -> dict[str, NDArray[Any]]: ...

@final
class ScenarioFile:
    def __new__(cls, file: str, text: str, changes: list[tuple[str, str]]) -> ScenarioFile: ...
    def __len__(self) -> int: ...
    def axes(self) -> list[tuple[str, list[str]]]: ...
    def printed(self) -> str: ...
    def labels(self, cell: int) -> list[tuple[str, str]]: ...
    def config(self, cell: int) -> str: ...
    def runs(self, cell: int) -> int: ...
    def is_transfer(self, cell: int) -> bool: ...
    def seed(self, cell: int, replication: int) -> int: ...
    def links(self, cell: int, replication: int) -> list[str]: ...
    def setup(self, cell: int, replication: int, store: TraceStore) -> Setup: ...
    def link_trace(self, cell: int, replication: int, store: TraceStore) -> LinkTrace | None: ...
    def phy(self, cell: int, replication: int, store: TraceStore) -> PhyTrace | None: ...

@final
class TraceStore:
    def __new__(cls, folder: str | os.PathLike[str]) -> TraceStore: ...

def scenario_schema() -> str: ...

_Floats = NDArray[np.float64]
_Channels = tuple[_Floats, _Floats, _Floats, _Floats]
_Channel = tuple[float, float, float, float]
_Times = tuple[int, int, int, int | None]

def model_predict(
    scheme: str, channels: _Channels, times: _Times, cut_apart: bool
) -> dict[str, _Floats]: ...
def model_printed(scheme: str, channels: _Channels, times: _Times) -> tuple[_Floats, _Floats]: ...
def model_recovery_delays(
    scheme: str, channel: _Channel, times: _Times, cut_apart: bool
) -> tuple[_Floats, _Floats]: ...
def model_erasures(n: int, channel: _Channel) -> _Floats: ...
def model_chain(p: _Floats, burst: _Floats) -> tuple[_Floats, _Floats]: ...
def model_hybrid(
    k: int, n: int, frames: int, persistency: int, p: _Floats
) -> dict[str, _Floats]: ...
