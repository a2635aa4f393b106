"""What queues are given: arrivals, ECN fields, and the queue by our name and by the kernel's."""

from __future__ import annotations

from dataclasses import dataclass

from validation.queues import ECT_0, ECT_1, NOT_ECT, PACKETS, PATTERNS, Arrivals

_LIMIT = f"limit {PACKETS}"
# A kernel reckons PIE's 15 ms in its ticks, 4 of 4 ms with `CONFIG_HZ=250`, and its timer wheel
# fires one tick later than it is set to, so that it never is early.
PIE = "pie(update 20 ms)"
# By ours: the kernel's name and arguments, without those that let it mark.
QUEUES = {
    "codel": ("codel", _LIMIT),
    "codel(ce_threshold 1 ms)": ("codel", f"{_LIMIT} ce_threshold 1ms"),
    "fq-codel": ("fq_codel", f"{_LIMIT} quantum 1514"),
    PIE: ("pie", _LIMIT),
    "dualpi2": ("dualpi2", _LIMIT),
}
# Marks by the threshold remain with `tc`'s "noecn".
_THRESHOLD = "codel(ce_threshold 1 ms)"


@dataclass(frozen=True)
class QueueCell:
    """A queue, a pattern of arrivals, and the ECN field of its packets.

    In a cell of DualPI2 flows of odd numbers have ECT(1); the others have the field.
    """

    queue: str
    pattern: str
    field: int

    @property
    def label(self) -> str:
        """The cell in a line.

        >>> QueueCell("codel", "waves", ECT_0).label
        'codel, waves, ECT(0)'
        """
        return f"{self.queue}, {self.pattern}, {'ECT(0)' if self.field else 'not ECT'}"

    @property
    def kernel_kind(self) -> str:
        """The kernel's name of the queue."""
        return QUEUES[self.queue][0]

    @property
    def kernel_arguments(self) -> list[str]:
        """What `tc` is given behind the name.

        >>> QueueCell(PIE, "waves", ECT_0).kernel_arguments
        ['limit', '1000', 'ecn']
        """
        marks = "ecn" if self.field else "noecn"
        words = QUEUES[self.queue][1].split()
        return words if self.kernel_kind == "dualpi2" else [*words, marks]

    def arrivals(self) -> Arrivals:
        """When each packet comes in whole microseconds, but in ns, its flow and bytes."""
        return [(at // 1000 * 1000, flow, size) for at, flow, size in PATTERNS[self.pattern]()]

    def fields(self, arrivals: Arrivals) -> list[int]:
        """The ECN field of each packet."""
        if self.queue != "dualpi2":
            return [self.field] * len(arrivals)
        return [ECT_1 if flow % 2 else self.field for _, flow, _ in arrivals]


def cells() -> list[QueueCell]:
    """Every queue under every pattern, where nothing may be marked and where all may.

    >>> len(cells())
    36
    """
    return [
        QueueCell(queue, pattern, field)
        for queue in QUEUES
        for field in (NOT_ECT, ECT_0)
        if field or queue != _THRESHOLD
        for pattern in PATTERNS
    ]
