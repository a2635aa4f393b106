"""What several commands share: quantities with units, how to read a trace, a sign of life."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import click

from clift import _clift
from clift.errors import CliftError

Command = TypeVar("Command", bound=Callable[..., Any])

READABLE = ("text", "columns", "parquet", "mahimahi", "probes", "delay-loss", "loss", "runs")
WRITABLE = ("text", "columns", "parquet", "mahimahi", "loss", "runs", "netem")
UNITS = ("s", "ms", "us", "ns")


class Quantity(click.ParamType):  # type: ignore[type-arg] # older versions take none
    """A number with a unit, e.g. `36 ms`, that becomes an integer of the base unit."""

    def __init__(self, name: str, parse: Callable[[str], int]) -> None:
        self.name = name
        self.parse = parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The integer that the text stands for."""
        if isinstance(value, int):
            return value
        try:
            return self.parse(value)
        except CliftError as error:
            self.fail(str(error), param, ctx)


TIME = Quantity("time", _clift.parse_time)
RATE = Quantity("rate", _clift.parse_rate)


def reading(command: Command) -> Command:
    """Adds the options that say how to read a trace; see `clift.read_trace`."""
    options = [
        click.option("--format", type=click.Choice(READABLE), help="Format, if not the suffix's."),
        click.option("--unit", type=click.Choice(UNITS), help="Unit of two bare columns."),
        click.option(
            "--lldu",
            type=click.IntRange(1, 2**32 - 1),
            metavar="BYTES",
            help="Payload of a slot, instead of what the file says (else 33; 1500 for mahimahi "
            "and measured delays).",
        ),
        click.option("--direction", type=click.Choice(["up", "down"]), help="Which way of probes."),
        click.option(
            "--losses",
            type=click.Path(dir_okay=False),
            metavar="FILE",
            help="Loss flags (1 = lost) of a file of delays.",
        ),
        click.option("--interval", type=TIME, help='Between such delays, e.g. "10 ms".'),
        click.option(
            "--rate",
            type=RATE,
            help='Make slots at this rate from probes, e.g. "2.3 Mbit/s"; each takes delay and '
            "fate of the nearest probe.",
        ),
        click.option("--slot", type=TIME, help="Between the slots of a loss pattern."),
        click.option("--decode", type=TIME, help="Decoding time of its received slots."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


@contextmanager
def busy(what: str) -> Iterator[None]:
    """Shows on stderr that something takes its time, on a terminal only."""
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield
