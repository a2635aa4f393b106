"""`clift constellation`: propagation delay over moving satellites."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import click

import clift.constellation as library
from clift._words import counted
from clift.cli.options import Picture, busy, seconds, until_written, writes
from clift.constellation import Delays, Walker
from clift.errors import ScenarioError


@click.command()
@click.option("--preset", help="leo66 (66 satellites at 800 km).")
@click.option("--planes", type=int, help="Number of orbital planes, instead of a preset.")
@click.option("--per-plane", type=int, help="Satellites per plane.")
@click.option("--altitude", type=float, metavar="KM", help="Altitude of the orbits.")
@click.option("--inclination", type=float, metavar="DEG", help="Inclination of the planes.")
@click.option(
    "--pattern",
    type=click.Choice(["delta", "star"]),
    help="Nodes over 360 (delta) or 180 (star) degrees.",
)
@click.option("--phasing", type=float, metavar="F", help="Walker's F, 0 to the number of planes.")
@click.option("--spacing", type=float, metavar="DEG", help="Angle between neighbouring nodes.")
@click.option(
    "--polar-limit", type=float, metavar="DEG", help="Latitude beyond which planes have no links."
)
@click.option("--from", "start", required=True, metavar="LAT,LON", help='Start, e.g. "43.6,1.44".')
@click.option("--to", "end", required=True, metavar="LAT,LON", help='End, e.g. "34.05,-118.24".')
@click.option(
    "--duration",
    type=seconds(),
    default="600 s",
    show_default=True,
    help="Seconds, or with a unit.",
)
@click.option("--step", type=seconds(), default="1 s", show_default=True, help="Time between rows.")
@click.option(
    "--start",
    "start_time",
    type=seconds(),
    default="0 s",
    show_default=True,
    help="Clock time at the first row.",
)
@click.option(
    "--min-elevation", type=float, metavar="DEG", help="Minimum elevation; the preset's, or 10."
)
@click.option(
    "--highest", is_flag=True, help="Always use the highest satellite; else keep one until it sets."
)
@writes("CSV file for the table.")
@click.option("--detail", is_flag=True, help="Add up link, down link and route to the table.")
@click.option("--plot", type=Picture(), help="Also draw the delay: PNG, PDF or SVG.")
@click.option("--json", "as_json", is_flag=True, help="JSON on stdout.")
def constellation(**given: Any) -> None:
    """One-way delay over time between two places, over a Walker constellation.

    Each row of the table is one step: `time_s,delay_ms`. When the path shortens, later packets
    overtake earlier ones.
    """
    walker = _walker(given)
    with until_written(), busy("flying"):
        table = library.delays(
            walker,
            given["start"],
            given["end"],
            given["duration"] / 1e9,
            step_s=given["step"] / 1e9,
            start_s=given["start_time"] / 1e9,
            min_elevation_deg=given["min_elevation"],
            keep=not given["highest"],
        )
    if given["output"] is not None:
        library.write(table, given["output"], detail=given["detail"])
    if given["plot"] is not None:
        from clift.report.constellation_figure import figure
        from clift.report.trace_figure import save

        with busy(f"drawing {given['plot']}"):
            places = (given["start"], given["end"])
            save(figure(walker, table, places, given["start_time"] / 1e9), given["plot"])
    click.echo(_json(table) if given["as_json"] else _text(table))


def _walker(given: dict[str, Any]) -> Walker:
    own = {
        "altitude_km": given["altitude"],
        "inclination_deg": given["inclination"],
        "pattern": given["pattern"],
        "phasing": given["phasing"],
        "spacing_deg": given["spacing"],
        "polar_limit_deg": given["polar_limit"],
    }
    own = {name: value for name, value in own.items() if value is not None}
    size = (given["planes"], given["per_plane"])
    if given["preset"] is not None:
        if own or size != (None, None):
            raise ScenarioError(
                "--preset defines the whole constellation; omit --planes and the other parts"
            )
        return library.preset(given["preset"])
    if None in size or "altitude_km" not in own or "inclination_deg" not in own:
        raise ScenarioError(
            "no constellation given; use --preset leo66, or --planes, --per-plane, --altitude and "
            "--inclination"
        )
    return library.walker(*size, **own)


def _json(table: Delays) -> str:
    changes = [asdict(change) for change in table.changes()]
    return json.dumps(_numbers(table) | {"changes": changes}, indent=2)


def _text(table: Delays) -> str:
    numbers = _numbers(table)
    lines = [
        f"{counted(int(numbers['rows']), 'row')}, delay {numbers['least_ms']:.1f} to "
        f"{numbers['most_ms']:.1f} ms, mean {numbers['mean_ms']:.1f} ms"
    ]
    lines += [
        f"{change.time_s:8g} s  {change.kind:<8}  {change.step_ms:+7.2f} ms"
        for change in table.changes()
    ]
    return "\n".join(lines)


def _numbers(table: Delays) -> dict[str, float]:
    delay = table.delay_ms
    return {
        "rows": len(table),
        "least_ms": float(delay.min()),
        "most_ms": float(delay.max()),
        "mean_ms": float(delay.mean()),
    }
