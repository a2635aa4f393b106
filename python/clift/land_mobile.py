"""Land mobile satellite channels: a terminal that drives under a satellite."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

import clift._clift as _clift
import clift._parse as _parse
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


class Options(TypedDict, total=False):
    """What `LandMobile` takes besides preset, Es/N0 and interleaving."""

    environment: str | None
    model: str | None
    elevation_deg: float
    carrier_ghz: float
    loo: tuple[float, float, float, float] | None
    trees: tuple[float, float, float, float, float] | None
    speed_kmh: float
    reference: str | None
    modulation: str | None
    code: str | None
    per_table: Sequence[tuple[float, float]] | None
    per_axis: str
    threshold: float | None
    offset_db: float | None
    branches: int | None
    slot_ns: int | None
    lldu_bytes: int | None


class LandMobile:
    """A land mobile satellite channel at an Es/N0, and what can be made of it.

    A preset gives everything; what else is named takes its place in it.

    Args:
        preset: `internet`, `distribution`, `distribution-down` or `its`, channels of the papers.
        esn0_db: Es/N0 in dB, for the level that `reference` names; the preset's unless given
            (internet 6, distribution 14, its 10).
        interleaving_ms: Depth of the interleaver, which is the decoding time; 0: none. The
            preset's unless given (36 ms; its: 1 ms).
        environment: States along the road: open, suburban, intermediate-tree-shadowed,
            heavy-tree-shadowed, rural-wooded, village, residential or urban. Naming one drops the
            preset's calibration (`offset_db` 0, even spreading).
        model: `p681` or `perez-fontan`; the one that has the environment unless given, P.681 if
            both have it.
        elevation_deg: Of the satellite, with an environment; 40 unless given.
        carrier_ghz: Carrier frequency; 2.2 unless given.
        loo: Instead of an environment, one Loo state: mean and standard deviation of the direct
            path in dB, multipath power in dB, correlation length of shadowing in m.
        trees: Instead of an environment, a clear road past single trees: mean gap and length of
            the fades in m, mean and standard deviation of their depth in dB, multipath power in dB.
        speed_kmh: Of the terminal; 60 unless given.
        reference: `mean`: Es/N0 is that of the mean power over fading (unit mean power); `los`: of
            the unshadowed line of sight.
        modulation: `qpsk` or `16qam`.
        code: `turbo-264-1/3`, `turbo-264-2/3`, `turbo-12184-1/3` or `turbo-12184-2/3`.
        per_table: A code of your own: rows of (x, PER), x rising.
        per_axis: What x is: `mi`, mutual information per coded bit, or `esn0`, Es/N0 in dB over
            the Gaussian channel.
        threshold: A hard decision instead: decoded from this mutual information per coded bit on.
        offset_db: Added to Es/N0.
        branches: The interleaver spreads a code word to so many instants over its depth; 0:
            evenly.
        slot_ns: Time between slots.
        lldu_bytes: Payload of a slot.

    Raises:
        ScenarioError: If a parameter cannot be; the message names what exists.

    Example:
        >>> from clift.land_mobile import LandMobile
        >>> channel = LandMobile("internet", 6)
        >>> channel.trace(60, seed=1)
        PhyTrace(59772 slots of 33 bytes)
        >>> wood = LandMobile("internet", 12, environment="rural-wooded", elevation_deg=45)
        >>> mi = wood.information(10, seed=1)
        >>> mi.shape, bool(0 <= mi.min() and mi.max() <= 1)
        ((9962,), True)
    """

    def __init__(
        self,
        preset: str = "internet",
        esn0_db: float | None = None,
        interleaving_ms: float | None = None,
        **options: Any,
    ) -> None:
        known = Options.__annotations__
        for name in options:
            if name not in known:
                raise ScenarioError(f"no parameter `{name}`; there are {', '.join(known)}")
        given = {name: value for name, value in options.items() if value is not None}
        self._made_of = (preset, esn0_db, interleaving_ms, given)
        level = depth = None
        if esn0_db is not None:
            level = _parse.number("esn0_db", esn0_db, -100, 100, "a level in dB")
        if interleaving_ms is not None:
            depth = _parse.nanoseconds("interleaving_ms", interleaving_ms, "ms")
        try:
            self._inner = _clift.LandMobile(
                _parse.text("preset", preset, "the name of a channel such as 'internet'"),
                esn0_db=level,
                interleaving_ns=depth,
                **given,
            )
        except (TypeError, OverflowError) as error:
            raise ScenarioError(str(error)) from None

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
        """What it was made of, by name; what was not given is left out."""
        preset, esn0_db, interleaving_ms, options = self._made_of
        named = {"preset": preset, "esn0_db": esn0_db, "interleaving_ms": interleaving_ms}
        return {name: value for name, value in named.items() if value is not None} | options

    def at(self, esn0_db: float, interleaving_ms: float | None = None) -> LandMobile:
        """The same channel at another Es/N0, and with another interleaving if one is given."""
        preset, _, own, options = self._made_of
        depth = own if interleaving_ms is None else interleaving_ms
        return LandMobile(preset, esn0_db, depth, **options)

    def trace(self, duration_s: float = 600, seed: int = 1) -> PhyTrace:
        """The PHY trace.

        Args:
            duration_s: Its length in seconds.
            seed: Names the draws: the same seed gives the same fading at every Es/N0, interleaving
                and code.
        """
        return PhyTrace.of(self._inner.trace(_duration(duration_s), _seed(seed)))

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
            >>> LandMobile("its").awgn_information([-3, 0, 5]).round(3).tolist()  # QPSK
            [0.291, 0.486, 0.859]
        """
        levels = _parse.floats("esn0_db", esn0_db, "levels in dB")
        if np.isnan(levels).any():
            raise ScenarioError("esn0_db: a level is no number; leave those rows out")
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
            ScenarioError: If it is no such series.
        """
        times = _parse.floats("time_s", time_s, "instants in seconds")
        if not np.isfinite(times).all() or (np.abs(times) > 9e9).any():
            raise ScenarioError("the series of levels has a time that is no number of seconds")
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
            TraceError: If it cannot be written.
        """
        self._inner.write(path, _duration(duration_s), _seed(seed), information)


def _duration(seconds: float) -> int:
    return _parse.nanoseconds("duration_s", seconds, "s")


def _seed(seed: int) -> int:
    return _parse.whole("seed", seed, 0, _parse.SEED)
