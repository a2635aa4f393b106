"""Options that several commands share: quantities with units, reading a trace, progress."""

from __future__ import annotations

import functools
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from os.path import realpath
from pathlib import Path
from typing import Any, TypeVar

import click

import clift._clift as _clift
from clift._parse import MARGIN
from clift.errors import CliftError, Interrupted, ScenarioError
from clift.memory import memory_limit
from clift.own import load_plugin

Command = TypeVar("Command", bound=Callable[..., Any])

READABLE = [name for name, _, _, read, *_ in _clift.trace_formats() if read]
WRITABLE = [name for name, _, _, _, written, _ in _clift.trace_formats() if written]
UNITS = ("s", "ms", "us", "ns")
DRAWABLE = (".png", ".pdf", ".svg")


class Group(click.Group):
    """Commands, some of which have further names that the help omits.

    Args:
        aliases: The words that each further name stands for.
    """

    def __init__(self, *args: Any, aliases: Mapping[str, list[str]], **more: Any) -> None:
        super().__init__(*args, **more)
        self.aliases = aliases

    def expand(self, words: list[str]) -> list[str]:
        """The words of a call, with the command's main name."""
        return [*self.aliases.get(words[0], words[:1]), *words[1:]] if words else []

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command by any of its names."""
        return super().resolve_command(ctx, self.expand(args))


class Quantity(click.ParamType):  # type: ignore[type-arg] # older versions take none
    """Text that a function converts, such as a number with a unit: `36 ms`.

    Args:
        name: What it is, in the help.
        parse: The function; it raises a `CliftError` for text that is wrong.
    """

    def __init__(self, name: str, parse: Callable[[str], Any]) -> None:
        self.name = name
        self.parse = parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Convert text; other values are converted already."""
        if not isinstance(value, str):
            return value
        try:
            return self.parse(value)
        except CliftError as error:
            self.fail(str(error), param, ctx)


def _share(value: str) -> float:
    text = value.strip()
    try:
        share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = 0.0
    if not 0 < share < 1:
        raise click.BadParameter(f"{value}: give a share above 0 and below 1, e.g. 2%")
    return share


def seconds(least_s: float = 0, most_s: float = 1e9) -> Quantity:
    """A time with a unit or in seconds, converted to nanoseconds.

    Args:
        least_s: Minimum.
        most_s: Maximum.

    Example:
        >>> [seconds().parse(text) for text in ("1.5", "1500 ms", "2e1")]
        [1500000000, 1500000000, 20000000000]
    """

    def parse(text: str) -> int:
        try:
            time = int(min(max(Decimal(text), Decimal(-1)), Decimal(10**10)) * 10**9)
        except (ArithmeticError, ValueError):  # has a unit, or is not a number
            time = _clift.parse_time(text)
        if not least_s <= time / 1e9 <= most_s:
            raise click.BadParameter(f"{text} must be between {least_s:g} and {most_s:g} s")
        return time

    return Quantity("time", parse)


class Picture(click.Path):
    """An output file for a picture; its suffix gives the format.

    Args:
        or_folder: Whether an existing folder is accepted as well.
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
        """Check that the path has a suffix of a picture, in a folder that exists."""
        path = Path(value)
        if not (self.or_folder and path.is_dir()) and path.suffix.lower() not in DRAWABLE:
            self.fail(f"{path}: unknown picture format; use {', '.join(DRAWABLE)}", param, ctx)
        if not path.parent.is_dir():
            self.fail(f"{path}: folder {path.parent} does not exist", param, ctx)
        super().convert(value, param, ctx)
        return path


SHARE = Quantity("share", _share)
TIME = Quantity("time", _clift.parse_time)
MILLISECONDS = Quantity("time", lambda text: _clift.parse_time(text) / 1e6)
KILOBITS = Quantity("rate", lambda text: _clift.parse_rate(text) / 1e3)


def together(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Several options as one decorator, in the order of the help."""

    def add(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


# The options for reading a trace: the arguments of `clift.read_trace`.
reading = together(
    click.option("--format", type=click.Choice(READABLE), help="Format, instead of the suffix's."),
    click.option("--unit", type=click.Choice(UNITS), help="Unit of two bare columns."),
    click.option(
        "--lldu",
        "lldu_bytes",
        type=click.IntRange(1, 2**32 - 1),
        metavar="BYTES",
        help="Payload of a slot in bytes, instead of the file's (else 33; 1504 for mahimahi, "
        "1500 for measured delays).",
    ),
    click.option(
        "--direction",
        type=click.Choice(["up", "down"]),
        help="Direction of the probes to read.",
    ),
    click.option(
        "--losses",
        type=click.Path(dir_okay=False),
        metavar="FILE",
        help="File of loss flags (1 = lost) for a file of delays.",
    ),
    click.option(
        "--interval",
        "interval_ms",
        type=MILLISECONDS,
        help='Time between such delays, e.g. "10 ms".',
    ),
    click.option(
        "--rate",
        "rate_kbps",
        type=KILOBITS,
        help='Make slots at this rate from probes, e.g. "2.3 Mbit/s"; each takes the delay and '
        "fate of the nearest probe.",
    ),
    click.option("--slot", "slot_ns", type=TIME, help="Time between slots of a loss pattern."),
    click.option(
        "--decode",
        "decode_ns",
        type=TIME,
        help="Decoding time of received slots of a loss pattern.",
    ),
    click.option(
        "--lost",
        type=click.IntRange(0, 1),
        help="Symbol of a lost slot in a string of 0 and 1.  [default: 0]",
    ),
)


snap = click.option(
    "--snap",
    type=click.IntRange(20, 65_535),
    default=80,
    show_default=True,
    metavar="BYTES",
    help="With --capture: bytes kept per packet.",
)


def writes(what: str, force: bool = False, **settings: Any) -> Callable[[Command], Command]:
    """The option of what a command writes: a path, unless `type` says otherwise; and `force`."""
    kind = settings.pop("type", click.Path(path_type=Path))
    output = click.option("-o", "--output", type=kind, help=what, **settings)
    return (lambda command: output(_FORCE(command))) if force else output


_FORCE = click.option(
    "--force",
    is_flag=True,
    help="Remove runs of another study from the folder, and overwrite files that CLIFT did not "
    "write.",
)


# The options for what a command shows.
shown = together(
    click.option("--brief", is_flag=True, help="Only the first table and the conclusion."),
    click.option("--json", "as_json", is_flag=True, help="JSON on stdout."),
    click.option("--csv", "as_csv", is_flag=True, help="One row per run on stdout, sorted."),
)


def show_as(as_json: bool, as_csv: bool, brief: bool) -> str:
    """Output format of a campaign.

    Raises:
        UsageError: If several formats are asked for.

    Example:
        >>> show_as(as_json=False, as_csv=True, brief=False)
        'csv'
    """
    given = [name for name, on in (("json", as_json), ("csv", as_csv), ("brief", brief)) if on]
    if len(given) > 1:
        raise click.UsageError(f"use --{given[0]} or --{given[1]}, not both")
    return given[0] if given else "text"


def check_apart(inputs: Sequence[Path], *outputs: Path | None) -> None:
    """Raise if a file to write is an input, or is to be written twice.

    Example:
        >>> check_apart([Path("a.csv")], Path("b.parquet"), None)
    """
    # Path.resolve() raises an error at a loop of links, which the reader of the file names.
    taken = {realpath(path): "is also an input" for path in inputs}
    for output in outputs:
        if output is not None:
            if fault := taken.get(realpath(output)):
                raise click.UsageError(f"{output} {fault}; give another output file")
            taken[realpath(output)] = "is given for two outputs"


@contextmanager
def busy(what: str) -> Iterator[None]:
    """Show on stderr, on a terminal only, that a step takes time."""
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield


@contextmanager
def until_written() -> Iterator[None]:
    """Turn Ctrl-C into the message that nothing was written, while one file is made.

    Raises:
        Interrupted: Instead of KeyboardInterrupt.
    """
    try:
        yield
    except (KeyboardInterrupt, Interrupted):
        raise Interrupted("stopped; nothing was written", []) from None


def with_memory(command: click.Command) -> None:
    """Give every command of a group the option that limits its memory."""
    if isinstance(command, click.Group):
        for one in command.commands.values():
            with_memory(one)
        return
    option = click.Option(
        ["--memory"],
        metavar="SIZE",
        expose_value=False,
        callback=_allow,
        help='Memory limit, e.g. "16 GB"; default: four fifths of the free memory.',
    )
    command.params.append(option)


def with_plugins(command: click.Command) -> None:
    """Give a command the option that loads user-written parts first."""
    option = click.Option(
        ["--plugin"],
        multiple=True,
        metavar="FILE",
        type=click.Path(path_type=Path),
        expose_value=False,
        is_eager=True,
        callback=_load,
        help="Python file that registers your own parts (clift.register_scheme and others).",
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


def change(text: str, option: str = "--set") -> tuple[str, str]:
    """Key and value of `--set KEY=VALUE`, or of another option.

    Example:
        >>> change("link.rtt = 600 ms")
        ('link.rtt', '600 ms')
    """
    key, _, value = text.partition("=")
    if not key.strip() or not value.strip():
        raise ScenarioError(f"{option} {text}: give KEY=VALUE, e.g. transport.congestion=bbr")
    return key.strip(), value.strip()


def changing(command: Callable[..., None]) -> Callable[..., None]:
    """Add `--seed` and `--set`; the command gets both as `changes` of its scenario."""

    @click.option("--seed", type=click.IntRange(0, 2**64 - 1), help="Seed, instead of the file's.")
    @click.option(
        "--set",
        "sets",
        multiple=True,
        metavar="KEY=VALUE",
        help='Change a key, e.g. --set link.rtt="600 ms" or --set scheme=ARQ; a varied key is '
        "fixed. The name of an axis selects one of its points.",
    )
    @functools.wraps(command)
    def changed(*args: Any, sets: tuple[str, ...], seed: int | None, **more: Any) -> None:
        given = [change(text) for text in sets]
        given += [] if seed is None else [("seed", str(seed))]
        for key, count in Counter(key for key, _ in given).items():
            if count > 1:
                raise click.UsageError(f"{key} is set {count} times; set it once")
        command(*args, changes=dict(given), **more)

    return changed


# The options for the verdicts.
compared = together(
    click.option(
        "--margin",
        type=SHARE,
        default=f"{MARGIN:.0%}",
        show_default=True,
        help="Where none is best, those whose difference is surely within this are equal.",
    ),
    click.option(
        "--compare",
        "compare",
        callback=lambda _ctx, _param, text: tuple(
            name.strip() for name in (text or "").split(",") if name.strip()
        ),
        metavar="AXES",
        help="Axes to choose from, e.g. scheme or scheme,congestion; the others are conditions. "
        "Default: all that somebody can choose.",
    ),
)
