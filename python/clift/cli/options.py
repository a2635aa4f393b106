"""What several commands share: quantities with units, how to read a trace, a sign of life."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

import click

import clift._clift as _clift
from clift.errors import CliftError, Interrupted, ScenarioError
from clift.memory import memory_limit
from clift.own import load_plugin

Command = TypeVar("Command", bound=Callable[..., Any])

READABLE = [name for name, _, _, read, _ in _clift.trace_formats() if read]
WRITABLE = [name for name, _, _, _, written in _clift.trace_formats() if written]
UNITS = ("s", "ms", "us", "ns")
DRAWABLE = (".png", ".pdf", ".svg")


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


class Seconds(Quantity):
    """A time with a unit, or a bare number of seconds; becomes nanoseconds.

    Args:
        least_s: The shortest that is taken.
        most_s: The longest.

    Example:
        >>> [Seconds().convert(text, None, None) for text in ("1.5", "1500 ms", "2e1")]
        [1500000000, 1500000000, 20000000000]
    """

    def __init__(self, least_s: float = 0, most_s: float = 1e9) -> None:
        super().__init__("time", _clift.parse_time)
        self.least_s = least_s
        self.most_s = most_s

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The nanoseconds that the text stands for."""
        try:
            seconds = min(max(Decimal(value), Decimal(-1)), Decimal(10**10))
            time = int(seconds * 10**9)
        except (ArithmeticError, TypeError, ValueError):  # a unit, or no number at all
            time = super().convert(value, param, ctx)
        if not self.least_s <= time / 1e9 <= self.most_s:
            self.fail(f"{value} is not from {self.least_s:g} to {self.most_s:g} s", param, ctx)
        return time


class Picture(click.Path):
    """A file to draw into; its suffix says in which format.

    Args:
        or_folder: Whether a folder that exists is taken as well.
    """

    def __init__(self, or_folder: bool = False) -> None:
        super().__init__(path_type=Path, dir_okay=or_folder)
        self.or_folder = or_folder

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Path:
        """The path, if it can be drawn into."""
        path = Path(value)
        if not (self.or_folder and path.is_dir()) and path.suffix.lower() not in DRAWABLE:
            self.fail(f"{path}: plots are {', '.join(DRAWABLE)}; end the name so", param, ctx)
        super().convert(value, param, ctx)
        return path


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
            help="Payload of a slot, instead of what the file says (else 33; 1504 for mahimahi, "
            "1500 for measured delays).",
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


def shown(command: Command) -> Command:
    """Adds the options that say what a campaign prints; see `show_as`."""
    as_csv = click.option("--csv", "as_csv", is_flag=True, help="A row a run on stdout, sorted.")
    as_json = click.option("--json", "as_json", is_flag=True, help="JSON on stdout.")
    return as_json(as_csv(command))


def show_as(as_json: bool, as_csv: bool) -> str:
    """What a campaign prints.

    Raises:
        UsageError: If that would be two things.

    Example:
        >>> show_as(as_json=False, as_csv=True)
        'csv'
    """
    if as_json and as_csv:
        raise click.UsageError("--json and --csv: leave one of them out")
    return "json" if as_json else "csv" if as_csv else "text"


@contextmanager
def busy(what: str) -> Iterator[None]:
    """Shows on stderr that something takes its time, on a terminal only."""
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield


@contextmanager
def until_written() -> Iterator[None]:
    """Ctrl-C in the block, which writes one file at its end and whole, says that nothing is there.

    Raises:
        Interrupted: In the place of Ctrl-C.
    """
    try:
        yield
    except (KeyboardInterrupt, Interrupted):
        raise Interrupted("stopped; nothing was written", []) from None


def with_memory(command: click.Command) -> None:
    """Gives every command in a group the option that says how much memory it may take."""
    if isinstance(command, click.Group):
        for one in command.commands.values():
            with_memory(one)
        return
    option = click.Option(
        ["--memory"],
        metavar="SIZE",
        expose_value=False,
        callback=_allow,
        help='Memory that may be taken, e.g. "16 GB"; four fifths of what is free unless given.',
    )
    command.params.append(option)


def with_plugins(command: click.Command) -> None:
    """Gives a command the option that loads parts of one's own before anything else."""
    option = click.Option(
        ["--plugin"],
        multiple=True,
        metavar="FILE",
        type=click.Path(path_type=Path),
        expose_value=False,
        is_eager=True,
        callback=_load,
        help="Python file that registers parts of one's own (clift.register_scheme and the like).",
    )
    command.params.append(option)


def _load(_ctx: click.Context, _param: click.Parameter, value: tuple[Path, ...]) -> None:
    for path in value:
        load_plugin(path)


def _allow(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    try:
        memory_limit(value)
    except ScenarioError:
        fault = f'{value!r}: give a size such as "16 GB", or "unlimited"'
        raise click.BadParameter(fault, ctx, param) from None


def change(text: str) -> tuple[str, str]:
    """Key and value of a `--set KEY=VALUE`.

    Example:
        >>> change("link.rtt = 600 ms")
        ('link.rtt', '600 ms')
    """
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise ScenarioError(f"--set {text}: give KEY=VALUE, e.g. --set link.rtt=600ms")
    return key.strip(), value.strip()
