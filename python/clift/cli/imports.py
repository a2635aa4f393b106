"""`clift trace import` and `clift trace capture`: traces from measurements."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import click

import clift._clift as _clift
from clift.cli.options import READABLE, UNITS, busy, check_apart, together, writes
from clift.imports import imported, read_log
from clift.trace import PhyTrace

FILE = click.Path(dir_okay=False, path_type=Path)
OUTPUT = writes("Trace to write: .parquet, .csv or another known suffix.", type=FILE, required=True)


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


def _option(key: str, *more: str, **settings: Any) -> Callable[..., Any]:
    return click.option(f"--{key.replace('_', '-')}", *more, cls=_Key, **settings)


def _order(usual: bool) -> Callable[..., Any]:
    return click.option(
        "--keep-order/--no-keep-order",
        default=usual,
        show_default=True,
        help="Keep the order: a packet never arrives before one sent earlier.",
    )


_COLUMN, _TIME = {"metavar": "COLUMN"}, {"metavar": "TIME"}
_OFFSET = _option("clock_offset", "--offset", **_TIME)
_LLDU = _option("lldu", type=click.IntRange(1, 2**32 - 1), metavar="BYTES")
columns = together(
    # `clift trace capture` reads captures.
    _option("format", type=click.Choice([name for name in READABLE if name != "capture"])),
    _option("time", **_COLUMN),
    _option("direction", type=click.Choice(["up", "down"])),
    _option("rate", **_COLUMN),
    _option("rate_is", type=click.Choice(["sent", "received"])),
    _option("delay", **_COLUMN),
    _option("loss", "--errors", **_COLUMN),
    _option("esn0", **_COLUMN),
    _option("cn0", **_COLUMN),
    _option("symbol_rate", metavar="RATE"),
    _option("modcod", **_COLUMN),
    _option("modcod_table", metavar="TABLE"),
    _option("frame_symbols", type=click.IntRange(1)),
    _option("margin", metavar="LEVEL"),
    _option("acm_delay", **_TIME),
    _option("delay_is", type=click.Choice(["one-way", "rtt"])),
    _LLDU,
    _option("seed", type=click.IntRange(0, 2**64 - 1)),
    _order(usual=True),
    _option("max_hold", **_TIME),
    _OFFSET,
    _option("missing", metavar="TEXT"),
    _option("interval", **_TIME),
    _option("unit", type=click.Choice(UNITS)),
    _option("losses", type=FILE, metavar="FILE"),
    _option("slot", **_TIME),
    _option("decoding", "--decode", **_TIME),
    _option("lost", type=click.IntRange(0, 1)),
)
"""The options that read a log, as of `clift trace import`."""


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
        phy = read_log(path, **options)
    _finish(phy, output)


@click.command()
@click.argument("sender", type=FILE)
@click.argument("receiver", type=FILE)
@OUTPUT
@_OFFSET
@_option("nat", is_flag=True)
@_option("from", metavar="ADDRESS")
@_option("rate", metavar="RATE")
@_LLDU
@_order(usual=False)
def capture(sender: Path, receiver: Path, output: Path, **options: Any) -> None:
    """Make a trace of delay and loss from captures at SENDER and RECEIVER.

    Both files are pcap or pcapng. The command replaces OUTPUT as a whole or not at all.
    """
    check_apart([sender, receiver], output)
    with busy(f"reading {sender} and {receiver}"):
        phy = imported(sender, {"format": "capture", "receiver": receiver, **options})
    _finish(phy, output)


def _finish(phy: PhyTrace, output: Path) -> None:
    with busy(f"writing {output}"):
        phy.write(output)
    for label, notes in phy.notes.items():
        for note in notes:
            click.echo(f"{label.removesuffix('s')}: {note}", err=True)
