"""Columns of numbers in a page: base64 of their bytes, thinned if they are many."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clift._arrays import Floats


def column(values: ArrayLike, kind: str = "f4") -> dict[str, str]:
    """Numbers as a JSON object.

    Args:
        values: The numbers.
        kind: `f8`, `f4`, `u1`, `u2`, `u4` or `u8`: type and bytes per number.

    Example:
        >>> column([1, 2], "u1")
        {'t': 'u1', 'd': 'AQI='}
    """
    return {"t": kind, "d": b64encode(np.asarray(values, f"<{kind}").tobytes()).decode()}


def numbers(values: NDArray[Any]) -> dict[str, str]:
    """Unsigned whole numbers, in the smallest type that fits.

    Example:
        >>> numbers(np.array([0, 300]))["t"]
        'u2'
    """
    most = int(values.max(initial=0))
    return column(values, "u1" if most < 2**8 else "u2" if most < 2**16 else "u4")


def thinned(x: Floats, y: Floats, most: int) -> tuple[Floats, Floats]:
    """Minimum and maximum per interval, so that no peak is lost.

    Args:
        x: Increasing values.
        y: Values at x.
        most: Approximate number of points to keep.

    Example:
        >>> x = np.arange(1000.0)
        >>> y = np.where(x == 777, 5.0, 0.0)
        >>> [part.size <= 102 for part in thinned(x, y, 100)], thinned(x, y, 100)[1].max()
        ([True, True], np.float64(5.0))
    """
    per = int(np.ceil(2 * x.size / max(2, most)))
    if x.size <= most or per < 3:
        return x, y
    whole = x.size // per * per
    starts = np.arange(0, whole, per)
    known = np.nan_to_num(y[:whole].reshape(-1, per))
    picked = np.concatenate([starts + known.argmin(1), starts + known.argmax(1), [0, x.size - 1]])
    picked = np.unique(picked)
    return x[picked], y[picked]


def averaged(x: Floats, y: Floats, intervals: int) -> tuple[Floats, Floats]:
    """Means over equal intervals, at their middles; each sample describes the time before it.

    Example:
        >>> averaged(np.arange(5.0), np.array([0.0, 1, 3, 5, 7]), 2)
        (array([1., 3.]), array([2., 6.]))
    """
    per = max(1, (x.size - 1) // intervals)
    count = (x.size - 1) // per
    if count < 1:
        return x, y
    ends = x[per : 1 + count * per : per]
    return ends - (x[per] - x[0]) / 2, y[1 : 1 + count * per].reshape(count, per).mean(axis=1)
