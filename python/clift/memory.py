"""Memory limit of a piece of work."""

from __future__ import annotations

import clift._clift as _clift
import clift._parse as _parse
from clift.errors import ScenarioError

_NONE = 2**64 - 1


def memory_limit(limit: int | str | None = "") -> int | None:
    """Set or return the memory limit of one piece of work.

    A few bytes of input can ask for any amount of memory: a run of slots in a file, the length of a
    channel. Reading a trace, making a channel, applying a scheme, preparing a run and logging it
    estimate their memory first, and raise `clift.OutOfMemory` if it exceeds the limit.

    Args:
        limit: Bytes, or text with a unit ("16 GB"); None: four fifths of the memory that the
            machine and the process's control groups have free, determined at each use; "unlimited":
            no limit. If omitted, the limit does not change.

    Returns:
        Present limit in bytes; None without a limit, or if it is unknown.

    Raises:
        ScenarioError: If the value is not an amount of memory.

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
    """The limit as the compiled part takes it."""
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
