"""Link traces: what became of every data LLDU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clift._parse import Fixed

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    import clift._clift as _clift


class LinkTrace(Fixed):
    """What a scheme made of a PHY trace; ``clift.tmt.apply`` returns one.

    Columns have one value for each data LLDU, in order of first transmission; times in ns.
    `core` is what the compiled part holds of it.

    >>> import clift
    >>> phy = clift.PhyTrace([0, 10, 20, 30], [5, 0, 5, 5])
    >>> ll = clift.tmt.apply(phy, clift.Arq(), rtt_ms=0, feedback_ms=20e-6)
    >>> ll.t_ns.tolist(), ll.d_ns.tolist(), ll.transmissions.tolist()
    ([0, 10, 20], [5, 25, 5], [1, 2, 1])
    """

    __slots__ = ("core",)

    def __init__(self, core: _clift.LinkTrace) -> None:
        self.core = core

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LinkTrace):
            return NotImplemented
        return self.core is other.core or self.core == other.core

    def __hash__(self) -> int:
        return hash(self.core)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.core,)

    def __len__(self) -> int:
        return len(self.core)

    def __repr__(self) -> str:
        return f"LinkTrace({len(self)} data LLDUs of {self.lldu_bytes} bytes)"

    @property
    def t_ns(self) -> npt.NDArray[np.int64]:
        """First transmission time of each data LLDU (read-only, no copy)."""
        return self.core.t_ns

    @property
    def d_ns(self) -> npt.NDArray[np.int64]:
        """Recovery time d': delivered at ``t + d' + RTT/2``; 0: not (read-only, no copy)."""
        return self.core.d_ns

    @property
    def lost_ns(self) -> npt.NDArray[np.int64]:
        """From ``t`` until it was given up; 0 where delivered or still pending at the end."""
        return self.core.lost_ns

    @property
    def transmissions(self) -> npt.NDArray[np.uint32]:
        """How often each data LLDU was sent."""
        return self.core.transmissions

    @property
    def rtt_ns(self) -> int:
        """Round-trip time of the link."""
        return self.core.rtt_ns

    @property
    def lldu_bytes(self) -> int:
        """Payload of an LLDU."""
        return self.core.lldu_bytes

    def stats(self) -> dict[str, Any]:
        """Link-level statistics (DESIGN section 4).

        Returns:
            A dict that JSON can hold: ``data_units``, ``delivered``, ``lost``, ``censored``,
            ``slots``, ``slots_used``, ``efficiency``, ``residual_loss``, ``recovery_delay_ms``,
            ``mean_delay_ms`` and more; None where there is nothing to average.
        """
        return self.core.stats()
