"""The two-state channel of the analytical model, built from any of its parameter sets."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

import clift._clift as _clift
from clift._arrays import Floats
from clift._parse import fault
from clift.errors import ScenarioError

Value = float | Floats


class Chain(NamedTuple):
    """Probabilities of staying good and bad, and of an erasure in each state.

    Each field is an array; the shapes must broadcast.
    """

    alpha: Floats
    beta: Floats
    p_good: Floats
    p_bad: Floats

    @classmethod
    def given(
        cls,
        alpha: ArrayLike | None,
        beta: ArrayLike | None,
        p_good: ArrayLike,
        p_bad: ArrayLike,
        p: ArrayLike | None,
        burst: ArrayLike | None,
    ) -> Chain:
        """Build the chain from ``alpha`` and ``beta``, ``p`` and ``burst``, or ``p`` alone.

        Raises:
            ScenarioError: if the parameters form none of these sets, or are out of range.

        >>> chain = Chain.given(None, None, 0.0, 1.0, 0.02, 4.0)
        >>> round(float(chain.alpha), 6), float(chain.beta)
        (0.994898, 0.75)
        """
        if p is None:
            if alpha is None or beta is None or burst is not None:
                raise ScenarioError("the channel: give alpha and beta, or p and burst, or p alone")
            return cls(
                _floats("alpha", alpha),
                _floats("beta", beta),
                _floats("p_good", p_good),
                _floats("p_bad", p_bad),
            )
        if alpha is not None or beta is not None:
            raise ScenarioError("the channel: give either alpha and beta, or p and burst")
        if np.any(_floats("p_good", p_good) != 0) or np.any(_floats("p_bad", p_bad) != 1):
            raise ScenarioError("p needs p_good = 0 and p_bad = 1; give alpha and beta instead")
        given = _floats("p", p), _floats("burst", np.nan if burst is None else burst)
        try:
            shares, bursts = np.broadcast_arrays(*given)
        except ValueError:
            raise ScenarioError("p and burst: shapes do not broadcast") from None
        if burst is not None and np.any(np.isnan(bursts)):
            raise ScenarioError("burst = nan: give a number of at least 1")
        flat = [np.ascontiguousarray(values).ravel() for values in (shares, bursts)]
        staying = (values.reshape(shares.shape) for values in _clift.model_chain(*flat))
        good, bad = staying
        if np.any((good == 1) & (bad == 1)):
            raise fault("burst", burst, "such bursts never end; give numbers below 1e15")
        return cls(good, bad, np.asarray(0.0), np.asarray(1.0))

    def single(self, what: str) -> tuple[float, float, float, float]:
        """The four numbers of a single chain; ``what`` names the caller in the error.

        Raises:
            ScenarioError: if the parameters are arrays.

        >>> Chain.given(0.9, 0.5, 0.0, 1.0, None, None).single("the law")
        (0.9, 0.5, 0.0, 1.0)
        """
        if any(np.ndim(values) for values in self):
            raise ScenarioError(f"{what} needs one channel, not arrays")
        return float(self.alpha), float(self.beta), float(self.p_good), float(self.p_bad)

    def columns(self) -> tuple[tuple[Floats, Floats, Floats, Floats], tuple[int, ...]]:
        """The four numbers of every chain, in columns, and their broadcast shape.

        Raises:
            ScenarioError: if the shapes do not broadcast.

        >>> chains = Chain.given([0.9, 0.8], [[0.5], [0.4]], 0.0, 1.0, None, None)
        >>> columns, shape = chains.columns()
        >>> columns[0].tolist(), shape
        ([0.9, 0.8, 0.9, 0.8], (2, 2))
        """
        try:
            good, bad, p_good, p_bad = np.broadcast_arrays(*self)
        except ValueError:
            shapes = ", ".join(str(values.shape) for values in self)
            raise ScenarioError(f"the channel: shapes {shapes} do not broadcast") from None
        columns = (np.ascontiguousarray(values).ravel() for values in (good, bad, p_good, p_bad))
        alpha, beta, p_good, p_bad = columns
        return (alpha, beta, p_good, p_bad), good.shape


def scalar(values: Floats) -> Value:
    """A float if the array has no dimension, else the array.

    >>> scalar(np.array(0.5))
    0.5
    """
    return values if np.ndim(values) else float(values)


def _floats(name: str, values: ArrayLike) -> Floats:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ScenarioError(f"{name} = {values!r} is not a number") from None
