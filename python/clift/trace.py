"""PHY traces: fate and timing of every slot of the physical layer."""

from __future__ import annotations

import operator
import os
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

import clift._clift as _clift
from clift._parse import Fixed, real, shown
from clift._words import counted
from clift.errors import TraceError

Path = str | os.PathLike[str]
Format = str
"""The name of a format; `clift trace --help` lists them."""
Unit = Literal["s", "ms", "us", "ns"]


class Slots(Fixed):
    """Columns over slots, in an object of the compiled part."""

    __slots__ = ("core",)

    core: Any
    unit: ClassVar[str]

    @classmethod
    def of(cls, core: Any) -> Self:
        """Wrap an object of the compiled part."""
        trace = cls.__new__(cls)
        trace.core = core
        return trace

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return self.core is other.core or bool(self.core == other.core)

    def __hash__(self) -> int:
        return hash(self.core)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).of, (self.core,)

    def __len__(self) -> int:
        return len(self.core)

    def __repr__(self) -> str:
        most = "" if self.slot_bytes is None else "up to "
        of = f"{counted(len(self), self.unit)} of {most}{self.lldu_bytes} bytes"
        return f"{type(self).__name__}({of})"

    @property
    def lldu_bytes(self) -> int:
        """Payload of a slot in bytes; of the largest slot if they differ."""
        return int(self.core.lldu_bytes)

    @property
    def slot_bytes(self) -> NDArray[np.int64] | None:
        """Payload of each slot if they differ, a read-only view; otherwise None."""
        sizes: NDArray[np.int64] | None = self.core.slot_bytes
        return sizes


class PhyTrace(Slots):
    """Transmission time `t` and decoding time `d` of every slot; `d` = 0 means erased.

    Times are integer nanoseconds; `t` is strictly increasing. Arrays are copied unless they are
    immutable (int64 views of `bytes` or of another trace). Returned arrays are read-only.

    Args:
        t_ns: Transmission times, one per slot.
        d_ns: Decoding times, one per slot; 0: erased.
        lldu_bytes: Payload of a slot in bytes, or of each slot, as with adaptive coding.
        decode_ns: Nominal decoding time; default: the lower median of the non-zero `d`.
        period_ns: Period after which the trace repeats, if known.
        rtt_ns: Round-trip time of the measured link, if known.
        packing: "packet": each packet starts a new slot; "bytes": packets share slots. A link can
            override it.
        description: Free text.
        source: Origin of the trace.

    Attributes:
        core: Object of the compiled part.

    Raises:
        TraceError: If the arrays are not a valid trace; the message names the first wrong slot.

    Example:
        >>> import clift
        >>> phy = clift.PhyTrace([0, 1_000, 2_000], [36_000, 0, 36_000], lldu_bytes=33)
        >>> len(phy), phy.lldu_bytes
        (3, 33)
        >>> phy.d_ns
        array([36000,     0, 36000])
        >>> adaptive = clift.PhyTrace([0, 1_000], [36_000, 36_000], lldu_bytes=[33, 50])
        >>> adaptive.lldu_bytes, adaptive.slot_bytes
        (50, array([33, 50]))
    """

    __slots__ = ()

    core: _clift.PhyTrace
    unit = "slot"

    def __init__(
        self,
        t_ns: ArrayLike,
        d_ns: ArrayLike,
        lldu_bytes: int | ArrayLike = 33,
        *,
        decode_ns: int | None = None,
        period_ns: int | None = None,
        rtt_ns: int | None = None,
        description: str | None = None,
        source: str | None = None,
        packing: Literal["packet", "bytes"] | None = None,
    ) -> None:
        self.core = _clift.PhyTrace(
            t_ns,
            d_ns,
            sizes(lldu_bytes),
            decode_ns=_time("decode_ns", decode_ns),
            period_ns=_time("period_ns", period_ns),
            rtt_ns=_time("rtt_ns", rtt_ns, least=0),
            description=_text("description", description),
            source=_text("source", source),
            packing=_text("packing", packing),
        )

    @property
    def t_ns(self) -> NDArray[np.int64]:
        """Transmission times in ns, a read-only view."""
        return self.core.t_ns

    @property
    def d_ns(self) -> NDArray[np.int64]:
        """Decoding times in ns, 0 where erased, a read-only view."""
        return self.core.d_ns

    @property
    def decode_ns(self) -> int | None:
        """Nominal decoding time, if given."""
        return self.core.decode_ns

    @property
    def nominal_decoding_ns(self) -> int:
        """`decode_ns`, else the lower median of the non-zero `d`, else 1."""
        return self.core.nominal_decoding_ns()

    @property
    def period_ns(self) -> int | None:
        """Period after which the trace repeats, if known."""
        return self.core.period_ns

    @property
    def rtt_ns(self) -> int | None:
        """Round-trip time of the measured link, if known."""
        return self.core.rtt_ns

    @property
    def packing(self) -> str | None:
        """How packets share slots, "packet" or "bytes", if known."""
        return self.core.packing

    @property
    def description(self) -> str | None:
        """Free text."""
        return self.core.description

    @property
    def source(self) -> str | None:
        """Origin of the trace."""
        return self.core.source

    @property
    def notes(self) -> dict[str, list[str]]:
        """Remarks on how far to trust the trace, one sentence each.

        `understood` and `assumed` come from the import of a foreign file. `warnings` come from the
        import and from the trace itself: no erasures, gaps, a coarse clock.

        Example:
            >>> import clift
            >>> clift.PhyTrace([0, 10], [5, 5]).notes["warnings"]
            ['no slot is erased: a scheme can only cost here']
        """
        understood, assumed, warnings = self.core.notes()
        return {"understood": understood, "assumed": assumed, "warnings": warnings}

    def share(self, n: int) -> PhyTrace:
        """The trace of a user with every `n`-th slot: slots 0, n, 2n, ...

        Args:
            n: 1 keeps every slot.

        Raises:
            TraceError: If `n` is not from 1 to 2^32 - 1.

        Example:
            >>> import clift
            >>> clift.PhyTrace([0, 10, 20, 30], [5, 0, 6, 5]).share(2).t_ns
            array([ 0, 20])
        """
        return PhyTrace.of(self.core.share(_integer("n", n, 2**32 - 1, "slots")))

    def offset(self, start_ns: int) -> PhyTrace:
        """The trace from `start_ns` on, with `start_ns` as time 0.

        Args:
            start_ns: Start, 0 or more.

        Raises:
            TraceError: If no slot is left.

        Example:
            >>> import clift
            >>> clift.PhyTrace([0, 10, 20, 30], [5, 0, 6, 5]).offset(15).t_ns
            array([ 5, 15])
        """
        start = _integer("start_ns", start_ns, 2**61, "nanoseconds", least=0)
        return PhyTrace.of(self.core.offset(start))

    def stats(self) -> dict[str, Any]:
        """Statistics of the trace, as a JSON-serialisable dict.

        Returns:
            `slots`, `erased`, `erasure_rate`, `duration_ns` (one period of the trace), `rate_bps`
            (of all slots; None for a single slot), `median_gap_ns` and `longest_gap_ns` between
            slots, `bursts` and `good_runs` (runs of erased and of received slots: `runs`, `mean`,
            `longest`, `counts` as (length, number) pairs), `alpha` and `beta` (a fitted Gilbert
            chain's probabilities of staying received and erased; None if not determined). If slots
            differ in size, also `least_bytes` and `mean_bytes` of a slot, and `received_rate_bps`
            of received slots.

        Example:
            >>> import clift
            >>> stats = clift.PhyTrace(range(0, 80, 10), [5, 0, 0, 5, 5, 0, 5, 5]).stats()
            >>> stats["erasure_rate"], stats["bursts"]["counts"]
            (0.375, [(1, 1), (2, 1)])
        """
        return self.core.stats()

    def write(
        self,
        path: Path,
        format: Format | None = None,
        *,
        unit: Unit | None = None,
        opportunity_bytes: int | None = None,
        model: Literal["bandwidth", "delay", "loss"] | None = None,
    ) -> None:
        """Write the trace, as a whole or not at all.

        Args:
            path: Output file. Its suffix gives the format (`.csv` and `.txt`, `.parquet`,
                `.mahimahi`, `.up` and `.down`, `.loss`, `.runs`, `.json`) unless `format` does.
            format: `text`, `columns`, `parquet`, `mahimahi`, `loss`, `runs` or `netem`. Only `text`
                and `parquet` keep everything.
            unit: Unit of `columns`; makes a `.csv` or `.txt` such a file.
            opportunity_bytes: Bytes of an opportunity of `mahimahi`; default: those of a trace read
                from mahimahi, else 1504.
            model: What `netem` describes.

        Raises:
            TraceError: If the file is not writable. An existing file is then unchanged.

        Example:
            >>> import pathlib, tempfile
            >>> import clift
            >>> phy = clift.PhyTrace([0, 1_000], [36_000, 0])
            >>> folder = tempfile.TemporaryDirectory()
            >>> path = pathlib.Path(folder.name, "y.csv")
            >>> phy.write(path)
            >>> print(path.read_text(), end="")
            # clift-trace: 1
            # lldu_bytes: 33
            # checksum: 70c50c4c 8d666f1c ac0b8483
            t_ns,d_ns
            0,36000
            1000,0
            >>> folder.cleanup()
        """
        size = (
            None
            if opportunity_bytes is None
            else whole_bytes("opportunity_bytes", opportunity_bytes)
        )
        self.core.write(
            file_name("path", path),
            _text("format", format),
            unit=_text("unit", unit),
            opportunity_bytes=size,
            model=_text("model", model),
        )


def read_trace(
    path: Path,
    format: Format | None = None,
    unit: Unit | None = None,
    *,
    lldu_bytes: int | None = None,
    direction: Literal["up", "down"] | None = None,
    losses: Path | None = None,
    interval_ms: float | None = None,
    rate_kbps: float | None = None,
    slot_ns: int | None = None,
    decode_ns: int | None = None,
    lost: Literal[0, 1] | None = None,
    keep_order: bool | None = None,
) -> PhyTrace:
    r"""Read a trace file.

    Args:
        path: The file. Its suffix gives the format unless `format` does.
        format: `text` (native), `columns` (two bare columns), `parquet`, `mahimahi`, `probes`
            (per-packet delay and loss with a header), `delay-loss` (a file of delays with one of
            loss flags), `loss` (0/1 strings) or `runs` (ns-2 run lengths).
        unit: Unit of `columns`; makes a `.csv` or `.txt` such a file.
        lldu_bytes: Payload of a slot in bytes. Default: from the file, else 33; 1504 for
            `mahimahi`, 1500 for `probes` and `delay-loss`.
        direction: Direction of `probes`.
        losses: File of loss flags for `delay-loss`.
        interval_ms: Time between the packets of `delay-loss`.
        rate_kbps: Make slots of `lldu_bytes` at this rate from `probes` and `delay-loss`, each with
            the delay and fate of the nearest probe. Default: one slot per probe.
        slot_ns: Time between the slots of `loss` and `runs`.
        decode_ns: Decoding time of received slots of `loss` and `runs`.
        lost: Symbol of a lost slot in `loss`; default: 0.
        keep_order: Whether a packet never arrives before one sent earlier; default: only for
            `probes` and `delay-loss`.

    Raises:
        TraceError: If the file is not readable or not a trace: file, line, fault and cure.

    Example:
        >>> import pathlib, tempfile
        >>> import clift
        >>> folder = tempfile.TemporaryDirectory()
        >>> path = pathlib.Path(folder.name, "x.txt")
        >>> _ = path.write_text("0.000 0.036\n0.001 0\n")
        >>> clift.read_trace(path, unit="s").t_ns
        array([      0, 1000000])
        >>> folder.cleanup()
    """
    quantities = {
        "lldu": (None if lldu_bytes is None else whole_bytes("lldu_bytes", lldu_bytes), "B"),
        "interval": (_scaled("interval_ms", interval_ms, 1_000_000), "ns"),
        "rate": (_scaled("rate_kbps", rate_kbps, 1_000), "bit/s"),
        "slot": (_time("slot_ns", slot_ns), "ns"),
        "decoding": (_time("decode_ns", decode_ns), "ns"),
    }
    described = {
        "file": file_name("path", path),
        "format": _text("format", format),
        "unit": _text("unit", unit),
        "direction": _text("direction", direction),
        "losses": None if losses is None else file_name("losses", losses),
        "lost": None if lost is None else _integer("lost", lost, 1, "", 0),
        "keep_order": _flag("keep_order", keep_order),
    }
    given = {key: value for key, value in described.items() if value is not None}
    given |= {key: f"{n} {unit}" for key, (n, unit) in quantities.items() if n is not None}
    try:
        return PhyTrace.of(_clift.import_trace(given))
    except TraceError as error:
        text, give, missing = str(error).rpartition("; give ")
        if missing in _ARGUMENTS:
            raise TraceError(f"{text}{give}{_ARGUMENTS[missing]}") from None
        raise


_ARGUMENTS = {"slot": "slot_ns", "decoding": "decode_ns", "interval": "interval_ms"}
_ARGUMENTS |= {"slot and decoding": "slot_ns and decode_ns"}
"""Keys of `[trace]` that a message asks for, as arguments of `read_trace`."""


def sizes(value: Any) -> Any:
    """Bytes of slots: a checked integer, or an array for the compiled part."""
    return value if np.ndim(value) == 1 else whole_bytes("lldu_bytes", value)


def whole_bytes(name: str, value: Any) -> int:
    """A number of bytes, 1 or more."""
    return _integer(name, value, 2**32 - 1, "bytes")


def _time(name: str, value: Any, least: int = 1) -> int | None:
    return None if value is None else _integer(name, value, 2**61, "nanoseconds", least)


def _integer(name: str, value: Any, most: int, unit: str, least: int = 1) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        of_them = f" of {unit}" if unit else ""
        raise TraceError(f"{name} = {shown(value)} is not a whole number{of_them}") from None
    if not least <= number <= most:
        cure = f"give {least} to {most} {unit}".rstrip()
        raise TraceError(f"{name} = {number} is out of range; {cure}")
    return number


def _scaled(name: str, value: float | None, scale: int) -> int | None:
    if value is None:
        return None
    number = real(value)
    if number is None or not 0.5 <= number * scale < 2**61:
        raise TraceError(f"{name} = {shown(value)} is out of range; give a number above 0")
    return round(number * scale)


def _text(name: str, value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise TraceError(f"{name} = {shown(value)} is not text")


def _flag(name: str, value: Any) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    raise TraceError(f"{name} = {shown(value)}: give True, False or None")


def file_name(name: str, value: Any) -> str:
    """A path as text."""
    if isinstance(value, str | os.PathLike) and isinstance(path := os.fspath(value), str):
        return path
    raise TraceError(f"{name} = {shown(value)} is not a file path")
