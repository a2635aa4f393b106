"""`clift trace import` and `clift trace capture`: traces from measurements."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import click

import clift._clift as _clift
from clift.cli.options import busy, check_apart
from clift.imports import import_captures, read_log
from clift.trace import PhyTrace

FILE = click.Path(dir_okay=False, path_type=Path)
OUTPUT = click.option(
    "-o",
    "--output",
    type=FILE,
    required=True,
    help="Trace to write: .parquet, .csv or another known suffix.",
)
OFFSET = click.option(
    "--clock-offset",
    "--offset",
    metavar="TIME",
    help='Time added to every delay, e.g. "-3 ms": how far the receiver\'s clock is behind.',
)
LLDU = click.IntRange(1, 2**32 - 1)


class _Key(click.Option):
    """An option for a key of `[trace]`, with the schema's words, read when help is shown."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        key = "lldu" if self.name == "lldu_bytes" else str(self.name)
        self.help = " ".join(_described()[key]["description"].split())
        return super().get_help_record(ctx)


@cache
def _described() -> dict[str, Any]:
    described: dict[str, Any] = json.loads(_clift.scenario_schema())["$defs"]["Trace"]["properties"]
    return described


def _columns() -> list[Callable[..., Any]]:
    """Options for the keys of `[trace]` that say how a log is read."""

    def option(key: str, *more: str, **settings: Any) -> Callable[..., Any]:
        return click.option(f"--{key.replace('_', '-')}", *more, cls=_Key, **settings)

    column, time = {"metavar": "COLUMN"}, {"metavar": "TIME"}
    return [
        option("time", **column),
        option("direction", type=click.Choice(["up", "down"])),
        option("rate", **column),
        option("rate_is", type=click.Choice(["sent", "received"])),
        option("delay", **column),
        option("loss", "--errors", **column),
        option("esn0", **column),
        option("cn0", **column),
        option("symbol_rate", metavar="RATE"),
        option("modcod", **column),
        option("modcod_table", metavar="TABLE"),
        option("frame_symbols", type=click.IntRange(1)),
        option("margin", metavar="LEVEL"),
        option("acm_delay", **time),
        option("delay_is", type=click.Choice(["one-way", "rtt"])),
        option("lldu", "lldu_bytes", type=LLDU, metavar="BYTES"),
        option("seed", type=click.IntRange(0, 2**64 - 1)),
        click.option(
            "--keep-order/--no-keep-order",
            default=True,
            show_default=True,
            help="Keep the order: a packet never arrives before one sent earlier.",
        ),
        option("max_hold", **time),
        OFFSET,
        option("missing", metavar="TEXT"),
        option("interval", **time),
    ]


COLUMNS = _columns()
"""Options that read a log, as of `clift trace import`."""


def columns(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that read a log."""
    for option in reversed(COLUMNS):
        command = option(command)
    return command


@click.command("import")
@click.argument("path", type=FILE)
@OUTPUT
@columns
def series(path: Path, output: Path, **options: Any) -> None:
    """Make a trace from rate, delay and loss over time, a modem's log, or a tool's file, in PATH.

    A COLUMN is a number from 1 or a name in the header, then a unit. A row holds until the next; a
    row without rate or delay is an outage. In a modem's log (--esn0, --cn0 or --modcod) each slot
    is one frame. Output of ping, JSON of irtt, iperf3 and Starlink's get_history, and RINEX are
    recognised: omit --time. Each probe becomes a slot, or use --rate. The command replaces OUTPUT
    as a whole or not at all.
    """
    check_apart([path], output)
    with busy(f"reading {path}"):
        phy = read_log(path, **keys(options))
    _finish(phy, output)


def keys(options: Mapping[str, Any]) -> dict[str, Any]:
    """Keys of `[trace]` in a scenario file, of options that are given."""
    found = {key: value for key, value in options.items() if value is not None}
    size = found.pop("lldu_bytes", None)
    return found if size is None else found | {"lldu": f"{size} B"}


@click.command()
@click.argument("sender", type=FILE)
@click.argument("receiver", type=FILE)
@OUTPUT
@OFFSET
@click.option("--nat", is_flag=True, help="Match packets whose addresses and ports change.")
@click.option(
    "--from", "from_address", metavar="ADDRESS", help="Use only packets from this address."
)
@click.option(
    "--rate",
    metavar="RATE",
    help='Make slots at this rate, e.g. "5 Mbit/s". Default: one slot per packet.',
)
@click.option(
    "--lldu",
    "lldu_bytes",
    type=LLDU,
    metavar="BYTES",
    help="Payload of a slot in bytes; default: 1500, or the longest packet.",
)
@click.option(
    "--keep-order/--no-keep-order",
    default=False,
    show_default=True,
    help="Keep the order: a packet never arrives before one sent earlier.",
)
def capture(sender: Path, receiver: Path, output: Path, **options: Any) -> None:
    """Make a trace of delay and loss from captures at SENDER and RECEIVER.

    Both files are pcap or pcapng. The command replaces OUTPUT as a whole or not at all.
    """
    check_apart([sender, receiver], output)
    with busy(f"reading {sender} and {receiver}"):
        phy = import_captures(sender, receiver, **options)
    _finish(phy, output)


def _finish(phy: PhyTrace, output: Path) -> None:
    with busy(f"writing {output}"):
        phy.write(output)
    for label, notes in phy.notes.items():
        for note in notes:
            click.echo(f"{label.removesuffix('s')}: {note}", err=True)
