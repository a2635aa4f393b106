"""Traces of a land mobile satellite channel; its arguments are in a generated file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

import clift._clift as _clift
import clift._parse as _parse
from clift._values import Keyword, entries, nested, respelled
from clift.errors import ScenarioError
from clift.trace import PhyTrace

_ROAD = (
    "length_m",
    "direct_db",
    "psi_db",
    "multipath_db",
    "direct_end_db",
    "psi_end_db",
    "multipath_end_db",
)


class Described(_parse.Fixed):
    """A land mobile satellite channel at an Es/N0, and what can be made of it.

    Attributes:
        tree: The section of a scenario that the channel is, with its keys as in a file.
        keywords: Where each argument goes in it.
    """

    keywords: ClassVar[dict[str, Keyword]]
    tree: dict[str, Any]

    def __init__(self, **given: Any) -> None:
        for name in given:
            if name not in self.keywords:
                raise ScenarioError(f"no parameter `{name}`; there are {', '.join(self.keywords)}")
        self._given = {name: value for name, value in given.items() if value is not None}
        tree = nested({"channel": {"model": "lms"}}, entries(self.keywords, self._given))
        self.tree = tree["channel"]
        try:
            self._inner = _clift.LandMobile(self.tree)
        except ScenarioError as error:
            raise respelled(error, self.keywords, self._given) from None

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), **self._given), ()

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.tree == other.tree

    def __hash__(self) -> int:
        return hash(str(self.tree))

    @property
    def esn0_db(self) -> float:
        """Es/N0 in dB."""
        return self._inner.esn0_db

    @property
    def doppler_hz(self) -> float:
        """Largest Doppler shift in Hz."""
        return self._inner.doppler_hz

    def mean_information(self) -> float:
        """Mean mutual information per coded bit, in closed form."""
        return self._inner.mean_information()

    @property
    def arguments(self) -> dict[str, Any]:
        """Arguments by name, without those left at their default."""
        return dict(self._given)

    def at(self, esn0_db: float, interleaving_ms: float | None = None) -> Self:
        """The same channel at another Es/N0, and with another interleaving if one is given."""
        changes: dict[str, Any] = {"esn0_db": esn0_db}
        if interleaving_ms is not None:
            changes["interleaving_ms"] = interleaving_ms
        return type(self)(**(self._given | changes))

    def trace(self, duration_s: float = 600, seed: int = 1) -> PhyTrace:
        """The PHY trace.

        Args:
            duration_s: Its length in seconds.
            seed: Names the draws: the same seed gives the same fading at every Es/N0, interleaving
                and code.
        """
        return PhyTrace.of(self._inner.trace(_duration(duration_s), _seed(seed)))

    def traces(
        self, esn0_db: Sequence[float], duration_s: float = 600, seed: int = 1
    ) -> list[PhyTrace]:
        """The PHY traces of one drive at several Es/N0.

        Args:
            esn0_db: Es/N0 in dB of each.
            duration_s: Their length in seconds.
            seed: Names the draws.

        Returns:
            For each Es/N0 what `at(esn0_db).trace()` gives; the fading, which is most of the work,
            is drawn once.

        Raises:
            ScenarioError: If an Es/N0 is not a number from -100 to 100.

        Example:
            >>> import clift
            >>> channel = clift.land_mobile.LandMobile("internet")
            >>> low, high = channel.traces([5, 8], duration_s=20)
            >>> low.d_ns.tolist() == channel.at(5).trace(20).d_ns.tolist()
            True
            >>> bool((low.d_ns == 0).sum() > (high.d_ns == 0).sum())
            True
        """
        levels = _parse.floats("esn0_db", esn0_db, "levels in dB").ravel().tolist()
        made = self._inner.traces(levels, _duration(duration_s), _seed(seed))
        return [PhyTrace.of(one) for one in made]

    def information(self, duration_s: float = 600, seed: int = 1) -> NDArray[np.float32]:
        """Mutual information per coded bit, 0 to 1, of each slot of that trace."""
        return self._inner.information(_duration(duration_s), _seed(seed))

    def levels(
        self, count: int, stride: int = 1, seed: int = 1
    ) -> tuple[NDArray[np.float32], float]:
        """The level over time, without noise.

        Args:
            count: How many samples.
            stride: Every so manieth; samples are a 32nd of a wavelength apart.
            seed: That of the trace.

        Returns:
            Levels in dB relative to the reference, and the seconds between them.
        """
        samples = _parse.whole("count", count, 1, 2**31)
        return self._inner.levels(samples, _parse.whole("stride", stride, 1, 2**31), _seed(seed))

    def road(self, count: int, seed: int = 1) -> dict[str, NDArray[Any]]:
        """The road under `levels`: states and the transitions between them, from its start on.

        Args:
            count: How many stretches.
            seed: That of the trace.

        Returns:
            Columns: `state` (of a transition, the one it leads to), `length_m` (infinite for a
            state that never ends), and the Loo parameters in dB at the start of a stretch and at
            its end, linear in between: `direct_db`, `psi_db`, `multipath_db`, `direct_end_db`,
            `psi_end_db`, `multipath_end_db`.
        """
        stretches = _parse.whole("count", count, 1, 2**31 - 1)
        state, columns = self._inner.road(stretches, _seed(seed))
        return {"state": state} | dict(zip(_ROAD, columns, strict=True))

    def level_cdf(self, level_db: ArrayLike) -> NDArray[np.float64]:
        """The closed form of P(level <= `level_db`), levels relative to the reference."""
        levels = _parse.floats("level_db", level_db, "levels in dB")
        return np.array(self._inner.level_cdf(levels.ravel().tolist()))

    def awgn_per(self, esn0_db: ArrayLike) -> NDArray[np.float64]:
        """PER over the Gaussian channel at each Es/N0 in dB: the code's own curve."""
        levels = _parse.floats("esn0_db", esn0_db, "levels in dB")
        return np.array(self._inner.awgn_per(levels.ravel().tolist()))

    def awgn_information(self, esn0_db: ArrayLike) -> NDArray[np.float64]:
        """Mutual information per coded bit, 0 to 1, at each Es/N0 in dB over the Gaussian channel.

        Example:
            >>> import clift
            >>> clift.land_mobile.LandMobile("its").awgn_information([-3, 0, 5]).round(3).tolist()
            [0.291, 0.486, 0.859]
        """
        levels = _parse.floats("esn0_db", esn0_db, "levels in dB")
        if np.isnan(levels).any():
            raise ScenarioError("esn0_db: a level is not a number; leave those rows out")
        return np.array(self._inner.awgn_information(levels.ravel().tolist()))

    def decode(self, time_s: ArrayLike, esn0_db: ArrayLike, seed: int = 1) -> PhyTrace:
        """A measured series of Es/N0 through the receiver (modulation, interleaver, code).

        Between rows the level goes linearly in dB. The trace ends an interleaver's depth before
        the series does.

        Args:
            time_s: Instants in seconds, rising; the first becomes time 0.
            esn0_db: Es/N0 at them, in dB.
            seed: Names the draws.

        Raises:
            ScenarioError: If it is not a valid series.
        """
        times = _parse.floats("time_s", time_s, "instants in seconds")
        if not np.isfinite(times).all() or (np.abs(times) > 9e9).any():
            raise ScenarioError("the series of levels has a time that is not in seconds")
        t_ns = np.rint(times * 1e9).astype(np.int64)
        levels = np.ascontiguousarray(_parse.floats("esn0_db", esn0_db, "levels in dB"))
        return PhyTrace.of(self._inner.of_series(t_ns, levels, _seed(seed)))

    def write(
        self,
        path: str | os.PathLike[str],
        duration_s: float = 600,
        seed: int = 1,
        information: bool = False,
    ) -> None:
        """Writes the PHY trace to a Parquet file as it is made, in constant memory.

        Args:
            path: The file, replaced whole or not at all.
            duration_s: Length of the trace in seconds.
            seed: Names the draws.
            information: A third column `mi`: mutual information per coded bit.

        Raises:
            TraceError: If the file is not writable.
        """
        self._inner.write(path, _duration(duration_s), _seed(seed), information)


def _duration(seconds: float) -> int:
    return _parse.nanoseconds("duration_s", seconds, "s")


def _seed(seed: int) -> int:
    return _parse.whole("seed", seed, 0, _parse.SEED)
