"""`clift trace import` and `clift trace capture`: traces from what others measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from clift.cli.options import busy
from clift.imports import import_captures, import_series
from clift.trace import PhyTrace

FILE = click.Path(dir_okay=False, path_type=Path)
OUTPUT = click.option(
    "-o",
    "--output",
    type=FILE,
    required=True,
    help="Trace to write: .parquet, .csv or another format by its suffix.",
)
OFFSET = click.option(
    "--clock-offset",
    "--offset",
    metavar="TIME",
    help='Added to every delay, e.g. "-3 ms": by how much the receiver\'s clock is behind.',
)
LLDU = click.IntRange(1, 2**32 - 1)


@click.command("import")
@click.argument("path", type=FILE)
@OUTPUT
@click.option(
    "--time",
    required=True,
    metavar="COLUMN",
    help="Column of times: 7:ms (or s, us, ns), when:date for ISO 8601, or with a pattern, "
    '"1:%Y-%m-%d %H:%M:%S".',
)
@click.option(
    "--rate", metavar="COLUMN", help='2:Mbit/s, or a rate, "5 Mbit/s". Without: a slot a row.'
)
@click.option("--delay", metavar="COLUMN", help='4:ms, or a time, "20 ms".')
@click.option("--loss", metavar="COLUMN", help='6 (shares), 6:%, 6:packets, or a share, "2 %".')
@click.option(
    "--delay-is",
    type=click.Choice(["one-way", "rtt"]),
    default="one-way",
    show_default=True,
    help="Of a round-trip time half is taken.",
)
@click.option("--lldu", "lldu_bytes", type=LLDU, default=1500, show_default=True, metavar="BYTES")
@click.option("--seed", type=click.IntRange(0, 2**64 - 1), default=1, show_default=True)
@click.option(
    "--keep-order/--no-keep-order",
    default=True,
    show_default=True,
    help="What left earlier never arrives later.",
)
@OFFSET
@click.option("--missing", metavar="TEXT", help="What stands for a missing value, e.g. -1.")
def series(path: Path, output: Path, **options: Any) -> None:
    """Make a trace from rate, delay and loss over time in PATH.

    A COLUMN is its number from 1 or its name in the header, then its unit. Rows hold until the
    next; a row without rate or delay is an outage. OUTPUT is replaced whole or not at all.
    """
    _check_apart(output, path)
    with busy(f"reading {path}"):
        phy = import_series(path, **options)
    _finish(phy, output)


@click.command()
@click.argument("sender", type=FILE)
@click.argument("receiver", type=FILE)
@OUTPUT
@OFFSET
@click.option("--nat", is_flag=True, help="Addresses and ports change on the way.")
@click.option(
    "--rate",
    metavar="RATE",
    help='Make slots at this rate, e.g. "5 Mbit/s". Without: a slot a packet.',
)
@click.option(
    "--lldu",
    "lldu_bytes",
    type=LLDU,
    metavar="BYTES",
    help="Payload of a slot, instead of the longest packet.",
)
@click.option(
    "--keep-order/--no-keep-order",
    default=False,
    show_default=True,
    help="What left earlier never arrives later, instead of as measured.",
)
def capture(sender: Path, receiver: Path, output: Path, **options: Any) -> None:
    """Make a trace of delay and loss from captures at SENDER and RECEIVER.

    Both are pcap or pcapng. OUTPUT is replaced whole or not at all.
    """
    _check_apart(output, sender, receiver)
    with busy(f"reading {sender} and {receiver}"):
        phy = import_captures(sender, receiver, **options)
    _finish(phy, output)


def _check_apart(output: Path, *inputs: Path) -> None:
    if output.resolve() in [one.resolve() for one in inputs]:
        raise click.UsageError(f"{output} is what is read; give another file to write")


def _finish(phy: PhyTrace, output: Path) -> None:
    with busy(f"writing {output}"):
        phy.write(output)
    for label, notes in phy.notes.items():
        for note in notes:
            click.echo(f"{label.removesuffix('s')}: {note}", err=True)
