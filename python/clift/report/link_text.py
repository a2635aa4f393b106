"""Link-level statistics as text."""

from __future__ import annotations

from typing import Any

from clift.report.text import aligned


def table(found: list[tuple[str, dict[str, Any]]]) -> str:
    """A table with one column per scheme.

    Args:
        found: Scheme and its `LinkTrace.stats`.

    Example:
        >>> import clift
        >>> phy = clift.PhyTrace([0, 10, 20, 30], [5, 0, 5, 5])
        >>> stats = clift.tmt.apply(phy, "none", rtt_ms=0).stats()
        >>> print(table([("none", stats)]))  # doctest: +ELLIPSIS
        scheme                      none
        data LLDUs                     4
        ...
    """
    rows = [["scheme", *(scheme for scheme, _ in found)]]
    for title, key, scale, digits in _ROWS:
        if any(key in stats for _, stats in found):
            rows.append([title, *(_cell(stats.get(key), scale, digits) for _, stats in found)])
    most = max((int(n) for _, stats in found for n in stats["retransmissions"]), default=0)
    for repeats in range(min(most, 5) + 1):
        shares = (stats["retransmissions"].get(str(repeats), 0.0) for _, stats in found)
        title = f"retransmitted {repeats} times %" if repeats != 1 else "retransmitted once %"
        rows.append([title, *(_cell(share, 100, 6) for share in shares)])
    return aligned(rows, left=1)


_ROWS = (
    ("data LLDUs", "data_units", 1, 0),
    ("delivered", "delivered", 1, 0),
    ("lost", "lost", 1, 0),
    ("censored at the end", "censored", 1, 0),
    ("slots", "slots", 1, 0),
    ("slots used", "slots_used", 1, 0),
    ("efficiency", "efficiency", 1, 6),
    ("residual loss %", "residual_loss", 100, 6),
    ("recovery delay ms", "recovery_delay_ms", 1, 4),
    ("mean delay ms", "mean_delay_ms", 1, 4),
    ("min delay ms", "min_delay_ms", 1, 4),
    ("max delay ms", "max_delay_ms", 1, 4),
)


def _cell(value: float | None, scale: float, digits: int) -> str:
    return "-" if value is None else f"{value * scale:.{digits}f}"
