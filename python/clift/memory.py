"""How much memory a piece of work may take before it is refused."""

from __future__ import annotations

import clift._clift as _clift
import clift._parse as _parse
from clift.errors import ScenarioError

_NONE = 2**64 - 1


def memory_limit(limit: int | str | None = "") -> int | None:
    """Sets or tells how much memory one piece of work may take.

    A few bytes can ask for any amount: a run of slots in a file, the length of a channel. Reading a
    trace, making a channel, applying a scheme, making a run ready and logging it count what they
    are going to take, and raise `clift.OutOfMemory` before they take more than this.

    Args:
        limit: Bytes, or text with a unit ("16 GB"); None: four fifths of what the machine and the
            process's control groups have free, looked up each time; "unlimited": any amount. Left
            out, nothing is set.

    Returns:
        Bytes that may be taken now; None where there is no limit, or it cannot be known.

    Raises:
        ScenarioError: If it is no amount of memory.

    Example:
        >>> memory_limit("16 GB")
        16000000000
        >>> memory_limit(3)
        3
        >>> memory_limit(None) == memory_limit()  # doctest: +SKIP
        True
        >>> memory_limit("much")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        clift.errors.ScenarioError: limit = 'much': give bytes, text such as "16 GB", ...
        >>> _ = memory_limit(None)
    """
    if not (isinstance(limit, str) and limit == ""):
        _clift.set_memory_limit(_bytes(limit))
    before = _clift.set_memory_limit(0)
    _clift.set_memory_limit(before)
    if before == _NONE:
        return None
    free = _clift.free_memory()
    return before or (None if free is None else free // 5 * 4)


def _bytes(limit: int | str | None) -> int:
    """What the compiled part takes for a limit."""
    cure = 'give bytes, text such as "16 GB", "unlimited", or None for the default'
    if limit is None:
        return 0
    if isinstance(limit, str):
        if limit == "unlimited":
            return _NONE
        try:
            limit = _clift.parse_size(limit)
        except ScenarioError:
            raise _parse.fault("limit", limit, cure) from None
    number = _parse.real(limit)
    if number is None or not 1 <= number < _NONE or number != int(number):
        raise _parse.fault("limit", limit, cure)
    return int(number)
