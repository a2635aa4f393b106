"""Tables 1 and 2 of Tauran 2017 as text and as a picture, with the printed values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from clift.papers.leo import PAPER, Cell
from clift.papers.registry import parameters
from clift.report.style import COLOURS, Picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from clift.campaign.statistics import Estimate

_COLUMNS = {
    "goodput_kbps": ("goodput kbit/s", "goodput (kbit/s)", 0),
    "success_percent": ("success %", "failures of A-HARQ (% of packets)", 2),
    "rto_percent": ("RTO %", "timeouts (% of packets)", 2),
    "dupack_percent": ("DUPACK %", "entries into recovery (% of packets)", 2),
    "spurious_percent": ("spurious %", "received twice (% of packets)", 2),
}
_NAMES = {"newreno": "NewReno", "cubic": "CUBIC"}


def leo_text(cells: list[Cell]) -> str:
    """One line per cell: mean, half of the 95 % interval, and the printed value in brackets."""
    header = ["dB", "TCP", *(short for short, _, _ in _COLUMNS.values()), "Mbit/s", "events/s"]
    lines = [header]
    for cell in cells:
        line = [str(cell.snr_db), _NAMES[cell.transport]]
        for name, (_, _, digits) in _COLUMNS.items():
            found = _number(cell.estimate(name), digits)
            line.append(f"{found} ({cell.printed[name]:.{digits}f})")
        line += [_number(cell.estimate(name), 2) for name in ("load_mbps", "events_per_s")]
        lines.append(line)
    widths = [max(len(line[place]) for line in lines) for place in range(len(header))]
    texts = [
        "  ".join(part.rjust(width) for part, width in zip(line, widths, strict=True))
        for line in lines
    ]
    return "\n".join([_title(cells), "", *texts, *_notes(cells)])


def leo_figure(cells: list[Cell]) -> Figure:
    """Each column over the SNR: measured with 95 % interval, printed dashed."""
    figure = Picture(figsize=(14, 7.2), layout="constrained")
    figure.suptitle(_title(cells).replace("(printed)", "print dashed"))
    panels = figure.subplots(2, 3).ravel()
    for axes, (name, (_, label, _)) in zip(panels, _COLUMNS.items(), strict=False):
        for place, transport in enumerate(_NAMES):
            own = [cell for cell in cells if cell.transport == transport]
            _curve(axes, own, name, COLOURS[place], _NAMES[transport])
        axes.set(xlabel="mean Es/N0 (dB)", ylabel=label)
        axes.set_ylim(bottom=0)
        axes.grid(visible=True, alpha=0.3)
    last = panels[len(_COLUMNS)]
    last.axis("off")
    last.legend(*panels[0].get_legend_handles_labels(), loc="center", frameon=False, fontsize=12)
    return figure


def _curve(axes: Axes, cells: list[Cell], name: str, colour: str, label: str) -> None:
    def shown(value: float) -> float:
        return 100 - value if name == "success_percent" else value

    at = [cell.snr_db for cell in cells]
    means = [cell.estimate(name) for cell in cells]
    axes.errorbar(
        at,
        [shown(found.mean) for found in means],
        yerr=[found.half_width or 0 for found in means],
        fmt="o-",
        markersize=4,
        color=colour,
        capsize=3,
        label=f"{label}, simulated",
    )
    printed = [shown(cell.printed[name]) for cell in cells]
    axes.plot(at, printed, "D--", markersize=4, color=colour, alpha=0.55, label=f"{label}, printed")


def _title(cells: list[Cell]) -> str:
    table = cells[0].table
    title = parameters(PAPER)["table"][table - 1]["title"]
    runs = cells[0].estimate("goodput_kbps").runs
    mean = "A single run" if runs == 1 else f"Mean of {runs} runs, 95 % interval"
    return f"Tauran 2017, table {table}: {title}. {mean}, (printed)"


def _notes(cells: list[Cell]) -> list[str]:
    load = parameters(PAPER)["load"]
    found = [
        cell
        for cell in cells
        if (cell.table, cell.snr_db, cell.transport) == (2, load["snr_db"], "cubic")
    ]
    return [
        "\nMbit/s: coded bits on the air; events/s: entries into recovery and timeouts. Neither is "
        "printed.",
    ] + [
        f"\nLoad of the link with CUBIC at {cell.snr_db} dB: "
        f"{_number(cell.estimate('load_mbps'), 2)} Mbit/s; the paper prints {load['mbps']}."
        for cell in found
    ]


def _number(found: Estimate, digits: int) -> str:
    if found.half_width is None:
        return f"{found.mean:.{digits}f}"
    return f"{found.mean:.{digits}f} ± {found.half_width:.{digits}f}"
