"""`clift trace`: describe, convert and draw traces."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from clift.cli.imports import capture, series
from clift.cli.options import TIME, UNITS, WRITABLE, Picture, busy, check_apart, reading, writes
from clift.cli.synth import synth
from clift.errors import TraceError
from clift.measured import Source, sources
from clift.report import trace_text
from clift.trace import PhyTrace

# Suffixes of lists of delivery opportunities, which hold neither losses nor delays.
_OPPORTUNITIES = ("mahimahi", "up", "down")


@click.group()
def trace() -> None:
    """Describe, convert, draw and make PHY traces."""


for command in (synth, series, capture):
    trace.add_command(command)


@trace.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="JSON on stdout, times in ns.")
@reading
def info(paths: tuple[Path, ...], as_json: bool, **options: Any) -> None:
    """Check traces and describe them.

    PATHS are files or folders. One trace is described in a block, several in a table.
    """
    found = []
    for source in _sources(paths, options):
        with busy(f"reading {source.path}"):
            found.append((source, trace_text.describe(source.read())))
    if as_json:
        rows = [{"trace": source.name, "path": str(source.path), **said} for source, said in found]
        click.echo(json.dumps(rows, indent=2))
        return
    named = [(source.name, said) for source, said in found]
    click.echo(trace_text.block(*named[0]) if len(named) == 1 else trace_text.table(named))


@trace.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.argument("output", type=click.Path(path_type=Path))
@reading
@click.option("--to", type=click.Choice(WRITABLE), help="Format to write, instead of the suffix's.")
@click.option("--to-unit", type=click.Choice(UNITS), help="Write two bare columns in this unit.")
@click.option("--share", type=click.IntRange(1), default=1, help="Keep every n-th slot only.")
@click.option("--offset", type=TIME, default=0, help='Start of the part to use, e.g. "30 s".')
@click.option(
    "--opportunity",
    type=click.IntRange(1, 2**32 - 1),
    metavar="BYTES",
    help="Bytes of a mahimahi opportunity to write: 1500, or 1504 for a trace with such slots.",
)
@click.option(
    "--model",
    type=click.Choice(["bandwidth", "delay", "loss"]),
    help="Property that a netem-trace file describes.",
)
def convert(
    path: Path,
    output: Path,
    to: Any,
    to_unit: Any,
    share: int,
    offset: int,
    opportunity: int | None,
    model: Any,
    **options: Any,
) -> None:
    """Read a trace from PATH and write it to OUTPUT.

    The offset applies before the share. The command replaces OUTPUT as a whole or not at all.
    """
    check_apart([path], output)
    with busy(f"reading {path}"):
        phy = Source(path.name, path, options).read()
    with busy(f"writing {output}"):
        phy = phy.offset(offset).share(share)
        phy.write(output, to, unit=to_unit, opportunity_bytes=opportunity, model=model)
    if (to or output.suffix.lstrip(".")) in _OPPORTUNITIES:
        for lost in _left_out(phy):
            click.echo(f"warning: {output}: {lost}", err=True)


@trace.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@writes(
    "PNG, PDF or SVG to write, or an existing folder. Default: the current folder, with the "
    "trace's name.",
    type=Picture(or_folder=True),
)
@reading
def plot(paths: tuple[Path, ...], output: Path | None, **options: Any) -> None:
    """Draw each trace as a PNG, and print its path to stdout."""
    from clift.report.trace_figure import figure, save

    found = _sources(paths, options)
    if len(found) > 1 and output is not None and not output.is_dir():
        raise TraceError(f"{output}: {len(found)} traces need an existing folder")
    for source in found:
        with busy(f"drawing {source.path}"):
            target = _picture(source, output)
            save(figure(source.read(), source.name), target)
        click.echo(target)


def _left_out(phy: PhyTrace) -> Iterator[str]:
    """Parts of a trace that a list of delivery opportunities omits."""
    delays = phy.d_ns[phy.d_ns > 0]
    if erased := len(phy) - len(delays):
        share = 100 * erased / len(phy)
        yield f"a list of opportunities has no losses: {share:.4g} % of slots, erased, are left out"
    if len(delays) and delays.max() > 1:
        yield "a list of opportunities has no delays: the trace's are left out"


def _picture(source: Source, output: Path | None) -> Path:
    if output is not None and not output.is_dir():
        return output
    return (output or Path()) / f"{source.name.replace(' ', '_')}.png"


def _sources(paths: tuple[Path, ...], options: dict[str, Any]) -> list[Source]:
    return [source for path in paths for source in sources(path, **options)]
