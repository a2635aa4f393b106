"""The keyword arguments of `clift.simulate`, and what the engine makes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from inspect import Parameter, Signature
from typing import Literal, TypedDict, cast

from clift import _clift, _parse
from clift.delays import Delay, delay_steps
from clift.errors import ScenarioError
from clift.link import Reorder, buffer_of
from clift.live.base import AnyLink, a_link

_USUAL_QUEUE = 1000
_OVERLAPS = ("free", "papers")


class LinuxParts(TypedDict, total=False):
    """The parts of the profile linux; what is left out is on, except pacing."""

    handshake: bool
    rack: bool
    tail_loss_probe: bool
    prr: bool
    dsack: bool
    undo: bool
    frto: bool
    max_reordering: int
    hystart: bool
    quick_ack: bool
    slow_start_after_idle: bool
    pacing: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Everything about a run but its link; the names and defaults of `clift.simulate`."""

    transport: str = "cubic"
    profile: str = "papers"
    duration_s: float = 400
    packet_bytes: int = 1500
    queue_packets: int | None = _USUAL_QUEUE
    queue_bytes: int | None = None
    delayed_ack: bool | float | None = None
    initial_window: int | None = None
    cwnd_max_packets: int | None = None
    receive_window_bytes: int | None = None
    timestamps: bool = True
    sack: bool = True
    linux: LinuxParts | None = None
    file_bytes: int | None = None
    message_bytes: int | None = None
    message_kbps: float | None = None
    deadline_ms: float | None = None
    start_offset_s: float = 0
    wrap: bool = False
    seed: int = 1
    flows: int = 1
    access_kbps: float | None = None
    access_ms: float = 0
    path_ms: Delay = 0
    path_in_order: bool = False
    overlap: Literal["free", "papers"] = "free"
    extra_lldu: bool = False
    lldu_header_bytes: int = 0
    packet_header_bytes: int = 0
    reorder: Reorder | None = None
    return_link: AnyLink | None = None
    stop_when_done: bool | None = None

    def setup(self, links: Sequence[AnyLink]) -> _clift.Setup:
        """What the engine runs over links in series.

        Raises:
            ScenarioError: If a value is out of range; the message names it.
        """
        path, access = self._path(), self._access()
        forward = [*map(self._hop, links), *path]
        if self.return_link is None:
            backward = _clift.Hop.way_back(forward)
        else:
            backward = [self._hop(a_link("return_link", self.return_link)), *path]
        if access is not None:
            forward = [*forward, access]
            backward = [access, *backward]
        count = _parse.whole("flows", self.flows, 1, 100_000)
        ends = self.file_bytes is not None
        if self.stop_when_done is not None:
            ends = _parse.flag("stop_when_done", self.stop_when_done)
        return _clift.Setup(
            forward=forward,
            backward=backward,
            flows=[self._flow(access)] * count,
            duration_ns=_parse.nanoseconds("duration_s", self.duration_s, "s"),
            seed=_parse.whole("seed", self.seed, 0, _parse.SEED),
            stop_when_done=ends,
        )

    def _hop(self, link: AnyLink) -> _clift.Hop:
        packets = _optional("queue_packets", self.queue_packets, 0, _parse.COUNT)
        size = _optional("queue_bytes", self.queue_bytes, 0, 2**63)
        if size is not None:
            other = packets not in (None, _USUAL_QUEUE)
            cure = "`queue_bytes` bounds the queue; leave one of them out"
            _parse.only_with(other, [("queue_packets", True)], cure)
            packets = None
        return _clift.Hop.link(
            link._inner,
            queue_packets=packets,
            queue_bytes=size,
            start_offset_ns=_parse.nanoseconds("start_offset_s", self.start_offset_s, "s"),
            wrap=_parse.flag("wrap", self.wrap),
            lldu_header=_parse.whole("lldu_header_bytes", self.lldu_header_bytes, 0, 2**16),
            packet_header=_parse.whole("packet_header_bytes", self.packet_header_bytes, 0, 2**16),
            extra_lldu=_parse.flag("extra_lldu", self.extra_lldu),
            overlap_papers=_parse.choice("overlap", self.overlap, _OVERLAPS) == "papers",
            reorder=buffer_of("reorder", self.reorder),
        )

    def _path(self) -> list[_clift.Hop]:
        """A leg that only delays, as satellites move; none where there is no delay."""
        steps = delay_steps(self.path_ms, "path_ms")
        in_order = _parse.flag("path_in_order", self.path_in_order)
        if all(delay == 0 for _, delay in steps):
            return []
        return [_clift.Hop.varying(steps, in_order)]

    def _access(self) -> _clift.Hop | None:
        if self.access_kbps is None and self.access_ms == 0:
            return None
        return _clift.Hop.leg(
            rate_bps=_rate("access_kbps", self.access_kbps),
            delay_ns=_parse.nanoseconds("access_ms", self.access_ms, "ms"),
        )

    def _flow(self, access: _clift.Hop | None) -> _clift.Flow:
        deadline = self.deadline_ms
        no_messages = self.message_kbps is None
        _parse.only_with(
            no_messages,
            [
                ("message_bytes", self.message_bytes is not None),
                ("deadline_ms", deadline is not None),
            ],
            "is for messages at a constant rate; give message_kbps beside it, or leave it out",
        )
        return _clift.Flow(
            transport=_parse.text("transport", self.transport, "a name such as 'cubic'"),
            profile=_parse.choice("profile", self.profile, ("papers", "linux")),
            packet_bytes=_parse.whole("packet_bytes", self.packet_bytes, 1, 65_535),
            timestamps=_parse.flag("timestamps", self.timestamps),
            sack=_parse.flag("sack", self.sack),
            linux=self._linux(),
            initial_window=_optional("initial_window", self.initial_window, 1, _parse.COUNT),
            delayed_ack_ns=self._delayed_ack(),
            cwnd_max_packets=_optional("cwnd_max_packets", self.cwnd_max_packets, 1, _parse.COUNT),
            receive_window_bytes=_optional(
                "receive_window_bytes", self.receive_window_bytes, 1, _parse.COUNT
            ),
            file_bytes=_optional("file_bytes", self.file_bytes, 1, 2**62),
            message_bytes=_optional("message_bytes", self.message_bytes, 1, _parse.COUNT),
            message_rate_bps=_rate("message_kbps", self.message_kbps),
            deadline_ns=(
                None if deadline is None else _parse.nanoseconds("deadline_ms", deadline, "ms")
            ),
            source_leg=access,
        )

    def _linux(self) -> dict[str, bool | int] | None:
        if self.linux is None:
            return None
        if not isinstance(self.linux, Mapping):
            raise ScenarioError(f"linux = {self.linux!r}: give a dict of its parts")
        return {str(name): cast("bool | int", part) for name, part in self.linux.items()}

    def _delayed_ack(self) -> int | None:
        """`None` is what the profile does, `False` none, `True` 40 ms, a number milliseconds."""
        if self.delayed_ack is None:
            return None
        if isinstance(self.delayed_ack, bool):
            return 40_000_000 if self.delayed_ack else 0
        return _parse.nanoseconds("delayed_ack", self.delayed_ack, "ms")


class Keywords(TypedDict, total=False):
    """The same as keyword arguments, for type checkers."""

    transport: str
    profile: str
    duration_s: float
    packet_bytes: int
    queue_packets: int | None
    queue_bytes: int | None
    delayed_ack: bool | float | None
    initial_window: int | None
    cwnd_max_packets: int | None
    receive_window_bytes: int | None
    timestamps: bool
    sack: bool
    linux: LinuxParts | None
    file_bytes: int | None
    message_bytes: int | None
    message_kbps: float | None
    deadline_ms: float | None
    start_offset_s: float
    wrap: bool
    seed: int
    flows: int
    access_kbps: float | None
    access_ms: float
    path_ms: Delay
    path_in_order: bool
    overlap: Literal["free", "papers"]
    extra_lldu: bool
    lldu_header_bytes: int
    packet_header_bytes: int
    reorder: Reorder | None
    return_link: AnyLink | None
    stop_when_done: bool | None


def spelled_out(signature: Signature) -> Signature:
    """The signature with the options in place of its `**options`, for `help()`."""
    named = [p for p in signature.parameters.values() if p.kind is not Parameter.VAR_KEYWORD]
    options = [
        Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default)
        for field in fields(Options)
    ]
    return signature.replace(parameters=[*named, *options])


NAMES = frozenset(field.name for field in fields(Options))


def _optional(name: str, value: int | None, low: int, high: int) -> int | None:
    return None if value is None else _parse.whole(name, value, low, high, ", or None")


def _rate(name: str, kbps: float | None) -> int | None:
    return None if kbps is None else _parse.bits_per_second(name, kbps)
