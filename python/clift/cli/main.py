"""The command `clift`. Only this module turns errors into messages and exit codes."""

from __future__ import annotations

import logging
import os
import re
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from itertools import pairwise, takewhile
from types import FrameType
from typing import Any

import click

import clift._clift as _clift
import clift._starting as _starting
from clift._clift import __version__
from clift._words import printable
from clift.cli.options import Group, with_memory, with_plugins
from clift.errors import CliftError, Interrupted
from clift.own import explained

BAD_INPUT = 2
OUR_FAULT = 1
INTERRUPTED = 130
BROKEN_PIPE = 141

# Suffixes of Python keywords, and the units that option values have instead.
_UNITS = {"ms": "ms", "ns": "ns", "s": "s", "deg": "deg", "db": "dB", "kbps": "kbit/s"}
_UNITS |= {"kmh": "km/h", "ghz": "GHz", "bytes": "B"}
# A keyword, with the value it equals or the value in brackets after it.
_KEYWORD = re.compile(
    rf"(?<![-\w.])(?P<name>[a-z]\w*?)(?:_(?P<unit>{'|'.join(_UNITS)}))?"
    r"""(?: = (?P<given>'[^']*'|"[^"]*"|[-+.\w]*\w)|(?: \((?P<aside>[-+.\d]+)\))|\b(?![-.=]))"""
)


@click.group(
    cls=Group,
    aliases={"sweep": ["run"]},
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="clift")
def cli() -> None:
    """Simulate TCP and QUIC over a satellite channel with link-layer repair."""


# The commands, each in a module of its name; the first ones take plugins.
_TAKE_PLUGINS = ("run", "results", "report", "why", "attack", "design", "live", "tmt")
_OTHERS = ("explore", "advise", "crosscheck", "trace", "model", "paper", "constellation", "schema")
for name in (*_TAKE_PLUGINS, *_OTHERS):
    cli.add_command(getattr(import_module(f"clift.cli.{name}"), name))
with_memory(cli)
for name in _TAKE_PLUGINS:
    with_plugins(cli.commands[name])


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and end the process.

    Exit codes: 0 done; 2 bad input, with one line on stderr; 1 an internal error; 130 interrupted;
    141 the reader of the output has closed it.

    Args:
        arguments: Words after `clift`; the process's arguments if omitted.
    """
    _open_closed_streams()
    _clift.set_teller(lambda line: click.echo(f"{line}; Ctrl-C stops", err=True))
    notes = logging.StreamHandler()
    notes.setFormatter(_Note())
    logging.getLogger("clift").addHandler(notes)
    if signal.getsignal(signal.SIGINT) in (signal.default_int_handler, _starting.stop):
        signal.signal(signal.SIGINT, _press)
    code = run(sys.argv[1:] if arguments is None else arguments)
    # Its stream may be closed when the next command of this process has a note.
    logging.getLogger("clift").removeHandler(notes)
    if code == INTERRUPTED:
        # A normal exit would wait for threads that still compute.
        with suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def _check_given(arguments: Sequence[str]) -> None:
    """Raise if an option has an empty value, which a variable of a shell that is not set leaves."""
    own = takewhile(lambda word: word != "--", arguments)
    for flag, value in pairwise(own):
        if flag.startswith("-") and not value:
            raise click.UsageError(f"{flag} has an empty value; give one, or leave {flag} out")


def _open_closed_streams() -> None:
    """Let a closed stdout or stderr take what is said, unseen, so that no file gets its number."""
    for number, name in ((1, "stdout"), (2, "stderr")):
        if getattr(sys, name) is None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), number)
            setattr(sys, name, os.fdopen(number, "w"))


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code.

    Example:
        >>> run(["trace", "info", "missing.csv"])
        2
    """
    try:
        _check_given(arguments)
        with _notes(), cli.make_context("clift", list(arguments)) as context:
            cli.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as done:
        return done.exit_code
    except (KeyboardInterrupt, click.Abort, Interrupted) as stopped:
        click.echo(str(stopped) if isinstance(stopped, Interrupted) else "stopped", err=True)
        return INTERRUPTED
    except BrokenPipeError:
        # Python flushes stdout again at exit: redirect that to the null device.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return BAD_INPUT
    except CliftError as error:
        named = _flags(arguments, _ALLOWED.sub(r"--memory \1\2", str(error)))
        return _fail(in_its_words(named, _options(list(arguments))))
    except UnicodeEncodeError as error:  # bytes of the command line or of a name on the disk
        return _fail(f"{error.object}: not UTF-8; use a name or value that is")
    except (click.ClickException, OSError, MemoryError) as error:
        return _fail(_flags(arguments, _message(error)))
    except BaseException as error:  # noqa: BLE001 - a panic of the core is not an Exception
        if isinstance(error, Exception) and (line := explained(error)):
            return _fail(line)
        return _unexpected(error)
    return 0


class _Note(logging.Formatter):
    """A note on a separate line."""

    def format(self, record: logging.LogRecord) -> str:
        return f"note: {printable(record.getMessage())}"


@contextmanager
def _notes() -> Iterator[None]:
    """Turns the warnings of the Python package into notes, each once."""
    seen: set[str] = set()

    def note(message: Warning | str, *_place: Any, **_more: Any) -> None:
        if str(message) not in seen:
            seen.add(str(message))
            logging.getLogger("clift").warning("%s", message)

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = note
        yield


def _unexpected(error: BaseException) -> int:
    """The exit code of an error that the input did not cause."""
    # A library that is interrupted may raise its own error, as matplotlib does.
    if _pressed:
        click.echo("stopped", err=True)
        return INTERRUPTED
    if os.environ.get("CLIFT_TRACEBACK"):
        traceback.print_exception(error)
    what = f"{type(error).__name__}: {error}"
    _fail(f"unexpected {what}; please report this with the command line that led to it")
    return OUR_FAULT


# Times of the presses of Ctrl-C.
_pressed: list[float] = []


def _press(number: int, frame: FrameType | None) -> None:
    _pressed.append(time.monotonic())
    signal.default_int_handler(number, frame)


def _options(arguments: list[str]) -> set[str]:
    """Option names of the called command, without dashes."""
    command: click.Command = cli
    for word in cli.expand(arguments):
        if not isinstance(command, click.Group) or word not in command.commands:
            break
        command = command.commands[word]
    found = (flag for one in command.params for flag in (*one.opts, *one.secondary_opts))
    return {flag[2:] for flag in found if flag.startswith("--")}


def in_its_words(message: str, options: set[str]) -> str:
    """Return the message with options instead of the Python keywords they stand for.

    Args:
        message: Text for users of the Python package.
        options: Options of the command, without dashes.

    Example:
        >>> in_its_words("feedback_ms = 1.0: too short; give rtt_ms (500)", {"rtt", "feedback"})
        '--feedback 1.0 ms: too short; give --rtt (500 ms)'
        >>> in_its_words('preset = 4: give preset = "its"', {"preset"})
        '--preset 4: give --preset "its"'
        >>> in_its_words("x.toml, set link.rtt = 5: no unit", {"set"})
        'x.toml, --set link.rtt=5: no unit'
        >>> in_its_words("x.csv: the rate of line 3 is not a number", {"rate"})
        'x.csv: the rate of line 3 is not a number'
    """
    if "set" in options:
        message = re.sub(r", set ([\w.]+) = ", r", --set \1=", message)

    def option(found: re.Match[str]) -> str:
        name, unit = found["name"].replace("_", "-"), _UNITS.get(found["unit"] or "", "")
        given, aside = found["given"], found["aside"]
        # Columns and headers of files have the same names.
        told = given or (unit and message[: found.start()].endswith("give "))
        if name not in options or not told:
            return found[0]
        if given:
            return f"--{name} {given} {unit}".rstrip()
        return f"--{name} ({aside} {unit})" if aside else f"--{name}"

    return _KEYWORD.sub(option, message)


def _message(error: BaseException) -> str:
    match error:
        case click.UsageError():
            command = error.ctx.command_path if error.ctx else "clift"
            return f"{error.format_message().rstrip('.')}; see `{command} --help`"
        case click.ClickException():
            return error.format_message()
        case OSError():
            where = f"{error.filename}: " if error.filename else ""
            return f"{where}{error.strerror or error}"
        case MemoryError():
            return "not enough memory; use a part of the trace, or fewer parallel runs"
        case _:
            return str(error)


# How a message tells users of the Python package to allow more memory.
_ALLOWED = re.compile(r'clift\.memory_limit\("([\d.]+) (\w+)"\)')

# Flags whose names differ from their keywords by more than dashes.
_FLAGS = {"interval_ms": "interval", "rate_kbps": "rate", "slot_ns": "slot", "decode_ns": "decode"}
_FLAGS |= {"decoding": "decode"}
# A keyword that a message asks for or calls wrong.
_GIVEN = re.compile(
    r"(?<=give )`?(time(?= |`|$)|interval_ms|slot_ns|decode_ns|losses|clock_offset|symbol_rate"
    r"|frame_symbols|from|nat|missing|modcod_table|rate_is|max_hold|direction(?=`|$))(?:`|\b)"
    r"|(?<= with )`(missing)`|(?<=slot_ns and )(decode_ns)"
    r"|(?<=; give )(slot|decoding|interval)(?= and decoding$|$)|(?<=; give slot and )(decoding)$"
    r"|(?<=: )(rate_is|max_hold)(?=: )"
    r"|(?<=: )(clock_offset|delay_is|modcod_table|acm_delay|frame_symbols|symbol_rate|margin"
    r"|interval|direction)(?=: )"
    r"|\b(rate_kbps|interval_ms)(?= = )|(?<= as )(modcod_table|missing|modcod)\b"
)


def _flags(arguments: Sequence[str], message: str) -> str:
    """Return the message with flags instead of keywords, for commands that have these flags.

    Example:
        >>> _flags(["trace", "info", "x"], "x: give interval_ms"), _flags(["run"], "give slot_ns")
        ('x: give --interval', 'give slot_ns')
    """
    if list(arguments[:1]) not in (["trace"], ["tmt"], ["advise"]):
        return message

    def flag(found: re.Match[str]) -> str:
        keyword = str(next(filter(None, found.groups())))
        return "--" + _FLAGS.get(keyword, keyword).replace("_", "-")

    return _GIVEN.sub(flag, message)


def _fail(message: str) -> int:
    line = printable(" ".join(message.split()))
    color = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    click.echo(f"{click.style('error:', fg='red', bold=True)} {line}", err=True, color=color)
    return BAD_INPUT
