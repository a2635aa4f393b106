"""Picture of a land mobile satellite channel."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from clift.land_mobile import LandMobile
from clift.report.style import Picture
from clift.report.trace_figure import draw_bursts
from clift.trace import PhyTrace

Floats = NDArray[np.floating]
Series = tuple[Sequence[float], Sequence[float]]
"""Times in s, and levels in dB."""

SYNTHETIC = "#1f6fb4"
CLOSED = "0.25"
MEASURED = "#d1762c"
SAMPLES = 4_000_000
SHOWN_S = 20.0


def figure(
    channel: LandMobile,
    title: str,
    seed: int = 1,
    phy: PhyTrace | None = None,
    measured: Series | None = None,
) -> Figure:
    """Draw the statistics of a channel.

    Level over time; its distribution and the model's closed form; PER against Es/N0 with and
    without interleaving; level crossing rate and mean fade duration; burst lengths.

    Args:
        channel: The channel.
        title: Name of the channel.
        seed: Seed of the draws.
        phy: A trace of the channel; default: one of 600 s.
        measured: Times in s and levels in dB to compare; each distribution is relative to its
            median.
    """
    levels, step_s = channel.levels(SAMPLES, seed=seed)
    picture = Picture(figsize=(13, 8), layout="constrained")
    picture.suptitle(
        f"{title}: Es/N0 {channel.esn0_db:g} dB, largest Doppler shift {channel.doppler_hz:.0f} Hz"
    )
    axes = picture.subplots(2, 3)
    _draw_levels(axes[0, 0], levels, step_s)
    _draw_distribution(axes[0, 1], channel, levels, measured)
    _draw_per(axes[0, 2], channel, seed)
    _draw_crossings(axes[1, 0], axes[1, 1], levels, step_s, measured)
    trace = channel.trace(600, seed) if phy is None else phy
    draw_bursts(axes[1, 2], trace.stats()["bursts"]["counts"])
    for axis in axes.flat:
        axis.grid(visible=True, alpha=0.3)
    return picture


def crossings(levels: Floats, step_s: float, thresholds: Floats) -> tuple[Floats, Floats]:
    """Downward crossings per second and mean fade duration in s, at each threshold."""
    rates, durations = [], []
    seconds = (len(levels) - 1) * step_s
    for threshold in thresholds:
        below = levels < threshold
        count = int(np.count_nonzero(below[1:] & ~below[:-1]))
        rates.append(count / seconds)
        durations.append(np.count_nonzero(below) * step_s / count if count else np.nan)
    return np.array(rates), np.array(durations)


def _draw_levels(axis: Axes, levels: Floats, step_s: float) -> None:
    shown = levels[: int(SHOWN_S / step_s)]
    axis.plot(np.arange(len(shown)) * step_s, shown, color=SYNTHETIC, linewidth=0.5)
    axis.set(title="Level", xlabel="time (s)", ylabel="dB rel. to reference")


def _draw_distribution(
    axis: Axes,
    channel: LandMobile,
    levels: Floats,
    measured: Series | None,
) -> None:
    shares = np.geomspace(1e-4, 1, 400)
    median = 0.0
    if measured is not None:
        series = np.asarray(measured[1], float)
        axis.plot(
            np.quantile(series, shares, method="inverted_cdf") - np.median(series),
            shares,
            color=MEASURED,
            label="measured",
        )
        median = float(np.median(levels))
    drawn = np.quantile(levels, shares, method="inverted_cdf")
    axis.plot(drawn - median, shares, color=SYNTHETIC, label="signal")
    low, high = float(levels.min()), float(levels.max())
    points = np.linspace(low, high, 80)
    axis.plot(points - median, channel.level_cdf(points), "--", color=CLOSED, label="closed form")
    axis.set_yscale("log")
    axis.set_ylim(1e-4, 1.1)
    axis.set_xlim(float(np.quantile(levels, 1e-4)) - median - 3, high - median + 1)
    relative = "its median" if measured is not None else "reference"
    axis.set(title="Distribution", xlabel=f"level (dB rel. to {relative})", ylabel="P(below)")
    axis.legend()


def _draw_per(axis: Axes, channel: LandMobile, seed: int) -> None:
    points = np.arange(channel.esn0_db - 4, channel.esn0_db + 7, 1.0)
    for label, interleaving, marker in (
        ("with interleaving", None, "o"),
        ("no interleaving", 0.0, "s"),
    ):
        rates = [
            channel.at(float(db), interleaving).trace(300, seed).stats()["erasure_rate"]
            for db in points
        ]
        axis.plot(points, np.where(np.array(rates) > 0, rates, np.nan), marker + "-", label=label)
    fine = np.linspace(points[0] - 8, points[-1], 200)
    axis.plot(fine, channel.awgn_per(fine), "--", color=CLOSED, label="Gaussian channel")
    axis.set_yscale("log")
    axis.set_ylim(1e-5, 1.5)
    axis.set(title="Packet error rate", xlabel="Es/N0 (dB)", ylabel="PER")
    axis.legend(loc="lower left")


def _draw_crossings(
    rate_axis: Axes,
    duration_axis: Axes,
    levels: Floats,
    step_s: float,
    measured: Series | None,
) -> None:
    thresholds = np.linspace(-30, 5, 71)
    median = float(np.median(levels))
    rates, durations = crossings(levels - median, step_s, thresholds)
    rate_axis.plot(thresholds, _positive(rates), color=SYNTHETIC, label="signal")
    duration_axis.plot(thresholds, durations * 1e3, color=SYNTHETIC, label="signal")
    if measured is not None:
        times, series = (np.asarray(column, float) for column in measured)
        step = float(np.median(np.diff(times)))
        rates, durations = crossings(series - np.median(series), step, thresholds)
        rate_axis.plot(thresholds, _positive(rates), color=MEASURED, label="measured")
        duration_axis.plot(thresholds, durations * 1e3, color=MEASURED, label="measured")
        rate_axis.legend()
    for axis in (rate_axis, duration_axis):
        axis.set_yscale("log")
        axis.set_xlabel("level (dB rel. to the median)")
    rate_axis.set(title="Level crossings", ylabel="crossings per second")
    duration_axis.set(title="Fades", ylabel="mean duration (ms)")


def _positive(values: Floats) -> Floats:
    return np.where(values > 0, values, np.nan)
