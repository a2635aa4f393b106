"""`clift trace synth`: make a trace of a land mobile satellite channel, or of measured levels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from clift.cli.options import TIME, Picture, busy
from clift.errors import ScenarioError, TraceError
from clift.trace import PhyTrace


class Unit(click.ParamType):  # type: ignore[type-arg] # older versions take none
    """A number with one of a few units, e.g. `6 dB`."""

    def __init__(self, **scales: float) -> None:
        self.scales = scales
        self.name = "|".join(self.scales)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The number in the first of the units."""
        if isinstance(value, float):
            return value
        number = self._number(value)
        if number is None:
            first = next(iter(self.scales))
            self.fail(f'`{value}` is no number with a unit; write e.g. "6 {first}"', param, ctx)
        return number

    def _number(self, text: str) -> float | None:
        for unit, scale in self.scales.items():
            if text.endswith(unit):
                try:
                    return float(text.removesuffix(unit)) * scale
                except ValueError:
                    return None
        return None


DECIBEL = Unit(dB=1.0)


@click.command()
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="The trace.")
@click.option(
    "--preset",
    default="internet",
    show_default=True,
    help="internet, distribution, distribution-down or its.",
)
@click.option("--esn0", type=DECIBEL, help='Es/N0, e.g. "6 dB"; the preset\'s unless given.')
@click.option("--interleaving", type=TIME, help='Depth of the interleaver, e.g. "36 ms".')
@click.option("--duration", type=TIME, default="600 s", show_default=True, help="Of the trace.")
@click.option("--seed", type=click.IntRange(0, 2**64 - 1), default=1, show_default=True)
@click.option("--environment", help="suburban, rural-wooded, intermediate-tree-shadowed, ...")
@click.option("--model", help="p681 or perez-fontan.")
@click.option("--elevation", type=Unit(deg=1.0), help='Of the satellite, e.g. "40 deg".')
@click.option("--speed", type=Unit(**{"km/h": 1.0, "m/s": 3.6}), help='E.g. "60 km/h".')
@click.option("--carrier", type=Unit(GHz=1.0, MHz=1e-3), help='E.g. "2.2 GHz".')
@click.option("--reference", help="mean (unit mean power) or los (line of sight).")
@click.option("--modulation", help="qpsk or 16qam.")
@click.option("--code", help="turbo-264-1/3, turbo-264-2/3, turbo-12184-1/3 or turbo-12184-2/3.")
@click.option(
    "--per-table",
    type=click.Path(path_type=Path),
    help="A code of your own: a CSV file with columns mi (per coded bit) or esn0_db, and per.",
)
@click.option("--threshold", type=float, help="Hard decision at this mutual information per bit.")
@click.option("--slot", type=TIME, help="Time between slots.")
@click.option("--lldu", type=click.IntRange(1, 2**32 - 1), metavar="BYTES")
@click.option("--mi", is_flag=True, help="A third column: mutual information (Parquet only).")
@click.option(
    "--levels",
    type=click.Path(path_type=Path),
    help="A CSV file of measured levels instead of a model: they go through the same receiver.",
)
@click.option("--time-column", default="time_s", show_default=True, help="Seconds, rising.")
@click.option("--level-column", default="esn0_db", show_default=True, help="Levels in dB.")
@click.option(
    "--where",
    multiple=True,
    metavar="COLUMN=VALUE",
    help="Rows of --levels to use; several must all hold.",
)
@click.option("--shift", type=DECIBEL, default="0 dB", help="Added to measured levels.")
@click.option("--plot", type=Picture(), help="Also draw the channel: PNG, PDF or SVG.")
def synth(output: Path, **given: Any) -> None:
    """Make the PHY trace of a terminal that drives under a satellite.

    A Parquet trace is written as it is made, in constant memory. The same seed gives the same
    fading at every Es/N0, interleaving and code.
    """
    from clift.land_mobile import LandMobile

    interleaving = given["interleaving"]
    channel = LandMobile(
        given["preset"],
        given["esn0"],
        None if interleaving is None else interleaving / 1e6,
        **_options(given),
    )
    measured = None
    if given["levels"] is not None:
        measured = _series(given)
    duration_s, seed = given["duration"] / 1e9, given["seed"]
    with busy(f"making {output}"):
        if measured is not None:
            channel.decode(*measured, seed=seed).write(output)
        elif output.suffix == ".parquet":
            channel.write(output, duration_s, seed, information=given["mi"])
        elif given["mi"]:
            raise TraceError(f"{output}: mutual information goes into .parquet only")
        else:
            channel.trace(duration_s, seed).write(output)
    if given["plot"] is not None:
        from clift.report.channel_figure import figure
        from clift.report.trace_figure import save

        with busy(f"drawing {given['plot']}"):
            title = given["environment"] or given["preset"]
            picture = figure(channel, title, seed, _written(output), measured)
            save(picture, given["plot"])
        click.echo(given["plot"])


def _written(path: Path) -> PhyTrace:
    from clift.trace import read_trace

    return read_trace(path)


def _options(given: dict[str, Any]) -> dict[str, Any]:
    """The options of the command line under the names of `LandMobile`."""
    named = {
        "environment": given["environment"],
        "model": given["model"],
        "elevation_deg": given["elevation"],
        "speed_kmh": given["speed"],
        "carrier_ghz": given["carrier"],
        "reference": given["reference"],
        "modulation": given["modulation"],
        "code": given["code"],
        "threshold": given["threshold"],
        "slot_ns": given["slot"],
        "lldu_bytes": given["lldu"],
    }
    if given["per_table"] is not None:
        columns = _columns(given["per_table"])
        axis = "mi" if "mi" in columns else "esn0_db"
        rows = zip(
            _numbers(given["per_table"], columns, axis),
            _numbers(given["per_table"], columns, "per"),
            strict=True,
        )
        named |= {"per_table": list(rows), "per_axis": axis.removesuffix("_db")}
    return {name: value for name, value in named.items() if value is not None}


def _series(given: dict[str, Any]) -> tuple[list[float], list[float]]:
    path = given["levels"]
    columns = _columns(path)
    for condition in given["where"]:
        name, _, wanted = condition.partition("=")
        if name not in columns:
            raise ScenarioError(f"{path}: no column `{name}`; there are {', '.join(columns)}")
        rows = [row for row, value in enumerate(columns[name]) if value == wanted]
        columns = {name: [values[row] for row in rows] for name, values in columns.items()}
    used = [given["time_column"], given["level_column"]]
    # A row without a level is one in which nothing was measured.
    if all(name in columns for name in used):
        kept = [row for row in zip(*(columns[name] for name in used), strict=True) if all(row)]
        columns = {name: [row[place] for row in kept] for place, name in enumerate(used)}
    times = _numbers(path, columns, used[0])
    levels = [db + given["shift"] for db in _numbers(path, columns, used[1])]
    return times, levels


def _columns(path: Path) -> dict[str, list[str]]:
    import csv

    try:
        with path.open(newline="") as file:
            rows = [row for row in csv.reader(file) if row and not row[0].startswith("#")]
    except UnicodeDecodeError:
        raise ScenarioError(f"{path}: is no text; give a CSV file with a line of names") from None
    if not rows:
        raise ScenarioError(f"{path}: is empty; give a CSV file with a line of names")
    names = [name.strip() for name in rows[0]]
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(names):
            raise ScenarioError(f"{path}: row {number} has {len(row)} values, not {len(names)}")
    return {name: [row[place] for row in rows[1:]] for place, name in enumerate(names)}


def _numbers(path: Path, columns: dict[str, list[str]], name: str) -> list[float]:
    if name not in columns:
        raise ScenarioError(f"{path}: no column `{name}`; there are {', '.join(columns)}")
    try:
        return [float(value) for value in columns[name]]
    except ValueError as error:
        raise ScenarioError(f"{path}: column `{name}`: {error}") from None
