"""The link in real time between two network namespaces of this machine's Linux kernel."""

from __future__ import annotations

import json
import os
import pwd
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import clift._clift as _clift
from clift._words import counted
from clift.errors import ScenarioError
from clift.scenario import Scenario
from clift.simulation import snap

CAPTURED = 3_000_000
"""Maximum number of packets in a capture of a live run: about a gigabyte of memory."""
LATE_MS = 2.0
"""A run in which one packet in a hundred is later than this does not count, unless another bound is
given."""


@dataclass(frozen=True)
class LiveRun:
    """Result of a live run.

    Attributes:
        code: Exit code of the command; 128 + the number of the signal that ended it.
        seconds: Duration of the run.
        packets: Delivered packets of both directions.
        late_ns: Lateness of the packets against the instants at which the link delivered them, ns:
            ``p50``, ``p99``, ``p999``, ``max``.
        late_steps: Packets by lateness: (up to ns, packets).
        real_time: Whether the emulator had real-time scheduling.
        processor_s: Processor time of the emulator, seconds.
        there: Forward packets ``offered``, ``dropped``, ``delivered``, ``lost``, and those
            ``refused`` by the receiving host's device.
        back: The same for the return path.
        trace_ended_s: When the trace of a link ended while packets waited, seconds; None: it did
            not.
        captured: Packets in the capture, once for each interface; None: none was asked for.
        left_out: Packets that the capture lacks because there were more than it keeps.
        began_ns: Time zero of the link, ns of ``CLOCK_MONOTONIC``: when it took the run's first
            packet, in either direction. The engine's link has the same draw at the same time after
            its own zero, so that a flow which begins at 0 there meets what this one met. None: no
            packet was sent.
        first_ns: When the first packet ``there`` and the first ``back`` were offered to the link,
            ns after `began_ns`; None: none was.
    """

    code: int
    seconds: float
    packets: int
    late_ns: dict[str, int]
    real_time: bool
    processor_s: float
    there: dict[str, int]
    back: dict[str, int]
    trace_ended_s: float | None
    late_steps: list[tuple[int, int]] = field(repr=False)
    captured: int | None = None
    left_out: int = 0
    began_ns: int | None = None
    first_ns: dict[str, int | None] = field(default_factory=dict)

    def faults(self, late_ms: float = LATE_MS) -> list[str]:
        """Reasons why the run is not valid, one per line; empty if it is."""
        faults = []
        p99 = self.late_ns["p99"] / 1e6
        if p99 > late_ms:
            faults.append(
                f"one packet in a hundred was more than {p99:.3g} ms late; at most {late_ms:g} ms "
                "is allowed"
            )
        refused = self.there["refused"] + self.back["refused"]
        if refused:
            faults.append(
                f"{counted(refused, 'packet was', 'packets were')} not taken by the host "
                "that each was for"
            )
        if self.trace_ended_s is not None:
            faults.append(
                f"the trace or channel of a link ended at {self.trace_ended_s:.3f} s while packets "
                "waited; set a longer duration, or link.wrap"
            )
        return faults


def hindrances() -> list[str]:
    """Reasons why this machine cannot run live links, one per line; empty if it can.

    Example:
        >>> all(isinstance(line, str) for line in hindrances())
        True
    """
    return _clift.live_hindrances()


def caller() -> tuple[int, int]:
    """User and group that run commands: those behind `sudo`, else those of this process."""
    name = os.environ.get("SUDO_UID")
    if os.geteuid() != 0 or name is None:
        return os.geteuid(), os.getegid()
    user = int(name)
    group = os.environ.get("SUDO_GID")
    return user, int(group) if group is not None else pwd.getpwuid(user).pw_gid


def run_live(
    scenario: Scenario,
    command: Sequence[str],
    serve: Sequence[str] | None = None,
    congestion: str | None = None,
    log: str | os.PathLike[str] | None = None,
    capture: str | os.PathLike[str] | None = None,
    snap_bytes: int = 80,
) -> LiveRun:
    r"""Runs a command on a host that reaches another host over the scenario's link, in real time.

    Args:
        scenario: One cell of a scenario; its applications and transports are not used. A channel
            lasts as long as its `duration`.
        command: Command on the sending host; the run ends with it. `{peer}` in it is the
            receiving host's address.
        serve: Command on the receiving host, started first.
        congestion: The kernel's congestion control on both hosts, e.g. ``"cubic"``; None: the
            system's own.
        log: A file for arrivals and fates on the way there, and with `.back` behind its name one
            for the way back: lines `arrival PACKET NS BYTES TAKEN FLOW FIRST END` and
            `departed|delivered|lost|ended PACKET NS`.
        capture: A file for the packets themselves, whose name ends in `.pcapng`, as
            `clift.simulation.Run.capture` writes it. It is written after the run, from memory: some
            300 bytes a packet, and of more than `CAPTURED` packets the first ones.
        snap_bytes: Bytes that the capture keeps of each packet.

    Returns:
        Result of the run, with the exit code of the command.

    Raises:
        ScenarioError: If the scenario has several cells or no such link, or the kernel gives no
            namespaces: the message says which call it refused.

    Example:
        >>> import clift
        >>> scenario = clift.Scenario.parse('[[path]]\nleg = { delay = "5 ms" }')
        >>> run = run_live(scenario, ["true"])  # doctest: +SKIP
        >>> run.code  # doctest: +SKIP
        0
    """
    if not command:
        raise ScenarioError("give a command to run, behind `--`")
    served = None if serve is None else list(serve)
    to = None if capture is None else (os.fspath(capture), snap(snap_bytes), CAPTURED)
    report: dict[str, Any] = json.loads(
        _clift.live(scenario.setup(), list(command), served, caller(), congestion, log, to)
    )
    steps = [(bound, count) for bound, count in report.pop("late_steps")]
    return LiveRun(**report, late_steps=steps)
