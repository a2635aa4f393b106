"""`clift trace import` and `clift trace capture`: traces from measurements."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from clift.cli.options import busy
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


COLUMNS = (
    click.option(
        "--time",
        metavar="COLUMN",
        help="Column of times: 7:ms (or s, us, ns), when:date for ISO 8601, or with a pattern, "
        '"1:%Y-%m-%d %H:%M:%S". Omit it for files of ping, irtt, iperf3, Starlink and RINEX.',
    ),
    click.option(
        "--direction",
        type=click.Choice(["up", "down"]),
        help="Direction of irtt's file: up is from its client to its server.",
    ),
    click.option(
        "--rate",
        metavar="COLUMN",
        help='2:Mbit/s, or a rate, "5 Mbit/s". Default: one slot per row.',
    ),
    click.option(
        "--rate-is",
        type=click.Choice(["sent", "received"]),
        help="Data that the rate counts. With received, the lost data is added. Default: sent.",
    ),
    click.option("--delay", metavar="COLUMN", help='Column of delays, 4:ms, or a time, "20 ms".'),
    click.option(
        "--loss",
        "--errors",
        metavar="COLUMN",
        help='Losses: 6 (shares), 6:%, 6:packets, or a share, "2 %"; for a modem: frame errors.',
    ),
    click.option("--esn0", metavar="COLUMN", help='Es/N0 of a modem: 4:dB, or a value, "7.5 dB".'),
    click.option("--cn0", metavar="COLUMN", help="C/N0 instead of Es/N0: 4:dBHz."),
    click.option("--symbol-rate", metavar="RATE", help='Symbol rate, e.g. "5 MBd".'),
    click.option(
        "--modcod",
        metavar="COLUMN",
        help='MODCOD column (variable coding) or one MODCOD, "QPSK 3/4". Default: adaptive coding.',
    ),
    click.option(
        "--modcod-table",
        metavar="TABLE",
        help="dvb-s2, dvb-s2x [default], or a file: .toml or .csv.",
    ),
    click.option(
        "--frame-symbols", type=click.IntRange(1), help="Symbols per frame, instead of the table's."
    ),
    click.option("--margin", metavar="LEVEL", help='Margin of adaptive coding, e.g. "1 dB".'),
    click.option(
        "--acm-delay", metavar="TIME", help='Age of the Es/N0 that adaptive coding uses, "500 ms".'
    ),
    click.option(
        "--delay-is",
        type=click.Choice(["one-way", "rtt"]),
        help="one-way (the default), or rtt: the delays are round-trip times; half of each is "
        "used.",
    ),
    click.option(
        "--lldu",
        "lldu_bytes",
        type=LLDU,
        metavar="BYTES",
        help="Payload of a slot in bytes; default: 1500, or the MODCOD's for a modem.",
    ),
    click.option(
        "--seed", type=click.IntRange(0, 2**64 - 1), help="Seed of the losses.  [default: 1]"
    ),
    click.option(
        "--keep-order/--no-keep-order",
        default=True,
        show_default=True,
        help="Keep the order: a packet never arrives before one sent earlier.",
    ),
    click.option(
        "--max-hold",
        metavar="TIME",
        help='Longest time for which a row holds, e.g. "5 s"; then an outage begins.',
    ),
    OFFSET,
    click.option("--missing", metavar="TEXT", help="Text that marks a missing value, e.g. -1."),
    click.option(
        "--interval",
        metavar="TIME",
        help='Time between probes of ping, e.g. "200 ms", if its lines have no times. Default: '
        "from its summary, else 1 s.",
    ),
)
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
    _check_apart(output, path)
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
    _check_apart(output, sender, receiver)
    with busy(f"reading {sender} and {receiver}"):
        phy = import_captures(sender, receiver, **options)
    _finish(phy, output)


def _check_apart(output: Path, *inputs: Path) -> None:
    if output.resolve() in [one.resolve() for one in inputs]:
        raise click.UsageError(f"{output} is also an input; give another output file")


def _finish(phy: PhyTrace, output: Path) -> None:
    with busy(f"writing {output}"):
        phy.write(output)
    for label, notes in phy.notes.items():
        for note in notes:
            click.echo(f"{label.removesuffix('s')}: {note}", err=True)
