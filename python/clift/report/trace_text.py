"""Description of a PHY trace as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from clift._words import counted
from clift.report.text import aligned, filled
from clift.trace import PhyTrace


def describe(phy: PhyTrace) -> dict[str, Any]:
    """Description of a trace, as a JSON-serialisable dict.

    Args:
        phy: The trace.

    Returns:
        `PhyTrace.stats()`, the keys of the trace's header, `decoding_ns`: `min`, `p50`, `p99`
        and `max` of the non-zero `d` (None if every slot is erased), and `PhyTrace.notes`: lists
        `understood`, `assumed` and `warnings`.

    Example:
        >>> import clift
        >>> describe(clift.PhyTrace([0, 10, 20], [5, 0, 7]))["decoding_ns"]
        {'min': 5, 'p50': 5, 'p99': 7, 'max': 7}
    """
    decoding = phy.d_ns[phy.d_ns > 0]
    quantiles = None
    if len(decoding):
        values = np.percentile(
            decoding, [0, 50, 99, 100], method="inverted_cdf", overwrite_input=True
        )
        names = ("min", "p50", "p99", "max")
        quantiles = {name: int(value) for name, value in zip(names, values, strict=True)}
    header = ("lldu_bytes", "decode_ns", "period_ns", "rtt_ns", "description", "source")
    return {
        **{key: getattr(phy, key) for key in header},
        "nominal_decoding_ns": phy.nominal_decoding_ns,
        **phy.stats(),
        "decoding_ns": quantiles,
        **phy.notes,
    }


def block(name: str, info: dict[str, Any]) -> str:
    """Description of one trace as a block of lines.

    Args:
        name: Name of the trace.
        info: Result of `describe`.
    """
    bursts, good = info["bursts"], info["good_runs"]
    rows = [
        ("slots", f"{info['slots']} of {sizes(info)} bytes"),
        ("duration", span(info["duration_ns"])),
        ("rate", _rate(info)),
        ("erased", f"{counted(info['erased'], 'slot')}, {info['erasure_rate']:.4%}"),
        ("bursts", _runs(bursts)),
        ("good runs", _runs(good)),
        (
            "slot gap",
            f"median {span(info['median_gap_ns'])}, longest {span(info['longest_gap_ns'])}",
        ),
        ("decoding time", _decoding(info["decoding_ns"])),
        ("d_nom", span(info["nominal_decoding_ns"])),
        (
            "Gilbert fit",
            f"alpha {_share(info['alpha'])} (stays received), "
            f"beta {_share(info['beta'])} (stays erased)",
        ),
    ]
    if info["period_ns"] is not None:
        rows.append(("repeats after", span(info["period_ns"])))
    if info["rtt_ns"] is not None:
        rows.append(("RTT", span(info["rtt_ns"])))
    rows += [(key, info[key]) for key in ("description", "source") if info[key] is not None]
    rows += [(label, note) for label in ("understood", "assumed") for note in info[label]]
    rows += [("warning", note) for note in info["warnings"]]
    return "\n".join([name, *(filled(f"  {key:<15}{value}", 17 * " ") for key, value in rows)])


def table(infos: Sequence[tuple[str, dict[str, Any]]]) -> str:
    """Description of several traces as a table, one line per trace.

    Args:
        infos: Name and result of `describe` per trace.
    """
    head = (
        "trace", "slots", "seconds", "kbit/s", "erased %", "bursts", "mean", "longest",
        "gap ms", "max gap ms", "d p50 ms", "d p99 ms", "d max ms", "alpha", "beta",
    )  # fmt: skip
    return aligned([list(head), *(_cells(name, info) for name, info in infos)], left=1)


def _cells(name: str, info: dict[str, Any]) -> list[str]:
    bursts, decoding = info["bursts"], info["decoding_ns"] or {}
    return [
        name,
        str(info["slots"]),
        f"{info['duration_ns'] / 1e9:.3f}",
        "-" if info["rate_bps"] is None else f"{info['rate_bps'] / 1e3:.1f}",
        f"{100 * info['erasure_rate']:.4f}",
        str(bursts["runs"]),
        "-" if bursts["mean"] is None else f"{bursts['mean']:.2f}",
        str(bursts["longest"]),
        f"{info['median_gap_ns'] / 1e6:.6g}",
        f"{info['longest_gap_ns'] / 1e6:.6g}",
        *(f"{decoding[key] / 1e6:.4g}" if decoding else "-" for key in ("p50", "p99", "max")),
        _share(info["alpha"]),
        _share(info["beta"]),
    ]


def span(nanoseconds: int) -> str:
    """A time in a suitable unit.

    Example:
        >>> span(1_003_802), span(400_000_000_000), span(5)
        ('1.003802 ms', '400 s', '5 ns')
    """
    for unit, scale in (("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000)):
        if nanoseconds >= scale:
            return f"{nanoseconds / scale:.9g} {unit}"
    return f"{nanoseconds} ns"


def rate(bits_per_second: float) -> str:
    """A rate in a suitable unit.

    Example:
        >>> rate(263_000.2), rate(2_340_000)
        ('263 kbit/s', '2.34 Mbit/s')
    """
    for unit, scale in (("Gbit/s", 1e9), ("Mbit/s", 1e6), ("kbit/s", 1e3)):
        if bits_per_second >= scale:
            return f"{bits_per_second / scale:.5g} {unit}"
    return f"{bits_per_second:.5g} bit/s"


def _rate(info: dict[str, Any]) -> str:
    if info["rate_bps"] is None:
        return "unknown"
    received = info.get("received_rate_bps")
    return rate(info["rate_bps"]) + (f", {rate(received)} received" if received else "")


def sizes(info: dict[str, Any]) -> str:
    """Bytes of a slot; minimum, maximum and mean if slots differ."""
    if "mean_bytes" not in info:
        return str(info["lldu_bytes"])
    return f"{info['least_bytes']} to {info['lldu_bytes']} (mean {info['mean_bytes']:.5g})"


def _runs(runs: dict[str, Any]) -> str:
    if not runs["runs"]:
        return "none"
    return f"{runs['runs']}, mean {runs['mean']:.4g}, longest {counted(runs['longest'], 'slot')}"


def _decoding(quantiles: dict[str, int] | None) -> str:
    if quantiles is None:
        return "no slot was received"
    return ", ".join(
        f"{'median' if name == 'p50' else name} {span(value)}" for name, value in quantiles.items()
    )


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.5f}"
