"""Numbers kept in little memory: in blocks, each in the smallest type that holds them exactly."""

from __future__ import annotations

from typing import Any

import numpy as np

from clift._arrays import Floats

_AnyArray = np.ndarray[Any, Any]

# Most counts of a study are small, and many figures are the same in all of its runs.
_COUNTS = (np.uint8, np.uint16, np.uint32)
_BLOCK = 1 << 16


def packed(numbers: Floats) -> _AnyArray:
    """Numbers in the smallest type that holds them exactly; one number if all are the same.

    Args:
        numbers: One or more; NaN where there is none.

    Example:
        >>> packed(np.array([1.0, 200.0])).dtype, packed(np.array([0.1, np.nan])).dtype
        (dtype('uint8'), dtype('float64'))
        >>> packed(np.array([0.5, np.nan])).dtype, packed(np.full(999, 0.1)).strides
        (dtype('float32'), (0,))
    """
    bits = numbers.view(np.int64)
    if (bits == bits[0]).all():
        return np.broadcast_to(numbers[:1].copy(), numbers.shape)
    low, high = numbers.min(), numbers.max()  # NaN if any is, which is in no range
    if low >= 0 and high < 1 << 32 and not np.signbit(numbers).any():
        kind = next(one for one in _COUNTS if high <= np.iinfo(one).max)
        counts: _AnyArray = numbers.astype(kind)
        if (counts == numbers).all():
            return counts
    with np.errstate(over="ignore"):
        halves = numbers.astype(np.float32)
    return halves if np.array_equal(halves, numbers, equal_nan=True) else numbers.copy()


class Column:
    """One number of each of many runs.

    Args:
        numbers: The numbers; NaN where there is none.

    Example:
        >>> column = Column(np.array([0.0, 3.0, 7.0]))
        >>> column.part(1, 3), column.is_whole
        (array([3., 7.]), True)
    """

    __slots__ = ("_blocks", "is_whole")

    def __init__(self, numbers: Floats) -> None:
        self._blocks = [
            packed(numbers[first : first + _BLOCK]) for first in range(0, len(numbers), _BLOCK)
        ]
        self.is_whole = not np.isnan(numbers).any()

    def part(self, first: int, end: int) -> Floats:
        """The numbers from one place to another, as a separate array."""
        number, last = first // _BLOCK, max(first, end - 1) // _BLOCK
        base = number * _BLOCK
        if number == last:
            return self._blocks[number][first - base : end - base].astype(np.float64)
        whole = np.concatenate(
            [block.astype(np.float64) for block in self._blocks[number : last + 1]]
        )
        return whole[first - base : end - base]
