"""`clift trace synth`: a trace from a land mobile satellite model or from measured levels."""

from __future__ import annotations

import csv
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from clift.cli.options import MILLISECONDS, TIME, Picture, Quantity, busy, writes
from clift.errors import ScenarioError, TraceError
from clift.land_mobile import LandMobile
from clift.trace import read_trace


def _unit(**scales: float) -> Quantity:
    """A number with one of these units, in the first of them: `6 dB`."""

    def parse(text: str) -> float:
        for unit, scale in scales.items():
            with suppress(ValueError):
                if text.endswith(unit):
                    return float(text.removesuffix(unit)) * scale
        first = next(iter(scales))
        cure = f'write e.g. "6 {first}"'
        raise click.BadParameter(f"`{text}` is not a number with a unit; {cure}")

    return Quantity("|".join(scales), parse)


DECIBEL = _unit(dB=1.0)


@click.command()
@writes("Output trace.", required=True)
@click.option(
    "--preset",
    default="internet",
    show_default=True,
    help="internet, distribution, distribution-down, its or aeronautical.",
)
@click.option("--esn0", "esn0_db", type=DECIBEL, help='Es/N0, e.g. "6 dB"; default: the preset\'s.')
@click.option(
    "--interleaving",
    "interleaving_ms",
    type=MILLISECONDS,
    help='Depth of the interleaver, e.g. "36 ms".',
)
@click.option(
    "--duration", type=TIME, default="600 s", show_default=True, help="Duration of the trace."
)
@click.option("--seed", type=click.IntRange(0, 2**64 - 1), default=1, show_default=True)
@click.option("--environment", help="suburban, rural-wooded, intermediate-tree-shadowed, ...")
@click.option("--model", help="p681 or perez-fontan.")
@click.option(
    "--elevation",
    "elevation_deg",
    type=_unit(deg=1.0),
    help='Elevation of the satellite, e.g. "40 deg".',
)
@click.option(
    "--speed",
    "speed_kmh",
    type=_unit(**{"km/h": 1.0, "m/s": 3.6}),
    help='Speed of the terminal, e.g. "60 km/h".',
)
@click.option(
    "--carrier",
    "carrier_ghz",
    type=_unit(GHz=1.0, MHz=1e-3),
    help='Carrier frequency, e.g. "2.2 GHz".',
)
@click.option("--reference", help="Reference level: mean (unit mean power) or los (line of sight).")
@click.option("--modulation", help="qpsk or 16qam.")
@click.option("--code", help="turbo-264-1/3, turbo-264-2/3, turbo-12184-1/3 or turbo-12184-2/3.")
@click.option(
    "--per-table",
    type=click.Path(path_type=Path),
    help="Your own code: a CSV file with columns mi (per coded bit) or esn0_db, and per.",
)
@click.option("--threshold", type=float, help="Hard decision at this mutual information per bit.")
@click.option("--slot", "slot_ns", type=TIME, help="Time between slots.")
@click.option("--lldu", "lldu_bytes", type=click.IntRange(1, 2**32 - 1), metavar="BYTES")
@click.option(
    "--mi", is_flag=True, help="Write mutual information as a third column (Parquet only)."
)
@click.option(
    "--levels",
    type=click.Path(path_type=Path),
    help="CSV file of measured levels instead of a model, decoded by the same receiver.",
)
@click.option(
    "--time-column", default="time_s", show_default=True, help="Column of times, in s, increasing."
)
@click.option(
    "--level-column", default="esn0_db", show_default=True, help="Column of levels, in dB."
)
@click.option(
    "--where",
    multiple=True,
    metavar="COLUMN=VALUE",
    help="Use only these rows of --levels; all given conditions must hold.",
)
@click.option("--shift", type=DECIBEL, default="0 dB", help="Level added to measured levels.")
@click.option("--plot", type=Picture(), help="Also draw the channel: PNG, PDF or SVG.")
def synth(output: Path, **given: Any) -> None:
    """Make the PHY trace of a terminal that moves under a satellite.

    A Parquet trace is written in constant memory. The same seed gives the same fading at every
    Es/N0, interleaving and code.
    """
    named = {name: value for name, value in given.items() if name in LandMobile.keywords}
    channel = LandMobile(**named | _own_code(given["per_table"]))
    measured = None if given["levels"] is None else _series(given)
    duration_s, seed = given["duration"] / 1e9, given["seed"]
    with busy(f"making {output}"):
        if measured is not None:
            channel.decode(*measured, seed=seed).write(output)
        elif output.suffix == ".parquet":
            channel.write(output, duration_s, seed, information=given["mi"])
        elif given["mi"]:
            raise TraceError(f"{output}: mutual information needs a .parquet file")
        else:
            channel.trace(duration_s, seed).write(output)
    if given["plot"] is not None:
        from clift.report.channel_figure import figure
        from clift.report.trace_figure import save

        with busy(f"drawing {given['plot']}"):
            title = given["environment"] or given["preset"]
            picture = figure(channel, title, seed, read_trace(output), measured)
            save(picture, given["plot"])
        click.echo(given["plot"])


def _own_code(path: Path | None) -> dict[str, Any]:
    """The arguments of a code whose packet error rates are in a file."""
    if path is None:
        return {}
    columns = _columns(path)
    axis = "mi" if "mi" in columns else "esn0_db"
    rows = zip(*(_numbers(path, columns, name) for name in (axis, "per")), strict=True)
    return {"per_table": list(rows), "per_axis": axis.removesuffix("_db")}


def _series(given: dict[str, Any]) -> tuple[list[float], list[float]]:
    path = given["levels"]
    columns = _columns(path)
    for condition in given["where"]:
        name, _, wanted = condition.partition("=")
        if name not in columns:
            raise ScenarioError(f"{path}: no column `{name}`; columns: {', '.join(columns)}")
        rows = [row for row, value in enumerate(columns[name]) if value == wanted]
        columns = {name: [values[row] for row in rows] for name, values in columns.items()}
    used = [given["time_column"], given["level_column"]]
    # A row without a level has no measurement.
    if all(name in columns for name in used):
        kept = [row for row in zip(*(columns[name] for name in used), strict=True) if all(row)]
        columns = {name: [row[place] for row in kept] for place, name in enumerate(used)}
    times = _numbers(path, columns, used[0])
    levels = [db + given["shift"] for db in _numbers(path, columns, used[1])]
    return times, levels


def _columns(path: Path) -> dict[str, list[str]]:
    try:
        with path.open(newline="") as file:
            rows = [row for row in csv.reader(file) if row and not row[0].startswith("#")]
    except UnicodeDecodeError:
        raise ScenarioError(
            f"{path}: not a text file; give a CSV file with a header line"
        ) from None
    if not rows:
        raise ScenarioError(f"{path}: empty; give a CSV file with a header line")
    names = [name.strip() for name in rows[0]]
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(names):
            raise ScenarioError(
                f"{path}: row {number} has {len(row)} values instead of {len(names)}"
            )
    return {name: [row[place] for row in rows[1:]] for place, name in enumerate(names)}


def _numbers(path: Path, columns: dict[str, list[str]], name: str) -> list[float]:
    if name not in columns:
        raise ScenarioError(f"{path}: no column `{name}`; columns: {', '.join(columns)}")
    try:
        return [float(value) for value in columns[name]]
    except ValueError as error:
        raise ScenarioError(f"{path}: column `{name}`: {error}") from None
