"""Link traces: the fate of every data LLDU."""

from __future__ import annotations

import json
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

import clift._clift as _clift
import clift._parse as _parse
from clift.errors import TraceError
from clift.trace import Slots, sizes


class LinkTrace(Slots):
    """Result of a scheme over a PHY trace; ``clift.tmt.apply`` returns one.

    Columns have one value per data LLDU, in order of first transmission; times in ns. A trace made
    elsewhere is built from its columns, which are copied (views of ``bytes`` and of other traces
    are shared). Returned arrays are read-only.

    Args:
        t_ns: First transmission time of each data LLDU, strictly increasing.
        d_ns: Recovery time d': delivered at ``t + d' + RTT/2``; 0: not delivered.
        lost_ns: Time from ``t`` until the LLDU was given up; 0 if it was delivered or is pending at
            the end. Default: none was given up.
        transmissions: Number of transmissions of each. Default: 1.
        rtt_ms: Round-trip time of the link.
        lldu_bytes: Payload of an LLDU, or of each, in bytes.
        period_ns: Period after which the trace repeats; default: last ``t`` - first ``t`` + median
            gap.
        slots: Number of slots of the link, all of them used; default: one per transmission. With a
            code, include its repair LLDUs.
        packing: "packet": each packet starts a new LLDU; "bytes": packets share LLDUs. A link can
            override it.

    Attributes:
        core: Object of the compiled part.

    Raises:
        TraceError: If the columns are not a valid link trace; the message names the first wrong
            LLDU.

    >>> import clift
    >>> phy = clift.PhyTrace([0, 10, 20, 30], [5, 0, 5, 5])
    >>> ll = clift.tmt.apply(phy, clift.Arq(), rtt_ms=0, feedback_ms=20e-6)
    >>> ll.t_ns.tolist(), ll.d_ns.tolist(), ll.transmissions.tolist()
    ([0, 10, 20], [5, 25, 5], [1, 2, 1])
    >>> same = clift.LinkTrace([0, 10, 20], [5, 25, 5], transmissions=[1, 2, 1], rtt_ms=0)
    >>> same.stats() == ll.stats()
    True
    """

    __slots__ = ()

    core: _clift.LinkTrace
    unit = "data LLDU"

    def __init__(
        self,
        t_ns: npt.ArrayLike,
        d_ns: npt.ArrayLike,
        lost_ns: npt.ArrayLike | None = None,
        transmissions: npt.ArrayLike | None = None,
        *,
        rtt_ms: float,
        lldu_bytes: int | npt.ArrayLike = 33,
        period_ns: int | None = None,
        slots: int | None = None,
        packing: Literal["packet", "bytes"] | None = None,
    ) -> None:
        def usual(given: npt.ArrayLike | None, value: int) -> npt.ArrayLike:
            return np.full(np.size(t_ns), value, np.int64) if given is None else given

        self.core = _clift.link_of_columns(
            t_ns,
            d_ns,
            usual(lost_ns, 0),
            usual(transmissions, 1),
            _parse.nanoseconds("rtt_ms", rtt_ms, "ms"),
            sizes(lldu_bytes),
            period_ns=_whole("period_ns", period_ns),
            slots=_whole("slots", slots),
            packing=packing if packing is None else _packing(packing),
        )

    @property
    def t_ns(self) -> npt.NDArray[np.int64]:
        """First transmission time of each data LLDU (read-only, no copy)."""
        return self.core.t_ns

    @property
    def d_ns(self) -> npt.NDArray[np.int64]:
        """Recovery time d': delivery at ``t + d' + RTT/2``; 0: not delivered; read-only view."""
        return self.core.d_ns

    @property
    def lost_ns(self) -> npt.NDArray[np.int64]:
        """Time from ``t`` until it was given up; 0 if delivered or pending at the end."""
        return self.core.lost_ns

    @property
    def transmissions(self) -> npt.NDArray[np.uint32]:
        """Number of transmissions of each data LLDU."""
        return self.core.transmissions

    @property
    def rtt_ns(self) -> int:
        """Round-trip time of the link."""
        return self.core.rtt_ns

    def stats(self) -> dict[str, Any]:
        """Link-level statistics (DESIGN section 4).

        Returns:
            A JSON-serialisable dict: ``data_units``, ``delivered``, ``lost``, ``censored``,
            ``slots``, ``slots_used``, ``efficiency``, ``residual_loss``, ``recovery_delay_ms``,
            ``mean_delay_ms`` and more; None if nothing can be averaged.
        """
        stats: dict[str, Any] = json.loads(self.core.stats())
        return stats


def _whole(name: str, value: int | None) -> int | None:
    if value is None or (isinstance(value, int | np.integer) and 0 < value < 2**61):
        return None if value is None else int(value)
    raise TraceError(f"{name} = {value!r}: give a whole number from 1 to 2^61")


def _packing(value: Any) -> str:
    if isinstance(value, str):
        return value
    raise TraceError(f"packing = {_parse.shown(value)}: give packet or bytes")
