"""`clift live`: a link in real time between real applications."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from clift._words import counted, printable
from clift.cli.options import changing, check_apart, snap
from clift.errors import ScenarioError
from clift.scenario import Scenario

if TYPE_CHECKING:
    from clift.hosts.live import LiveRun


@click.command(context_settings={"allow_interspersed_args": True})
@click.argument("path", required=False, type=click.Path(path_type=Path))
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@click.option("--serve", metavar="COMMAND", help="Server command, run on the receiving host.")
@click.option("--congestion", help="Congestion control of the kernel, e.g. cubic, reno or bbr.")
@changing
@click.option(
    "--late",
    type=float,
    default=2.0,
    show_default=True,
    metavar="MS",
    help="Limit of the 99th percentile of lateness; above it the run is not valid.",
)
@click.option(
    "--log", type=click.Path(path_type=Path), help="Write arrival times and fates, in ns."
)
@click.option(
    "--capture", type=click.Path(path_type=Path), help="Write the packets and fates as pcapng."
)
@snap
@click.option("--report", type=click.Path(path_type=Path), help="Write the lateness as JSON.")
@click.option("--check", is_flag=True, help="Only report whether this machine can run it.")
def live(
    path: Path | None,
    command: tuple[str, ...],
    serve: str | None,
    congestion: str | None,
    changes: dict[str, str],
    late: float,
    log: Path | None,
    capture: Path | None,
    snap: int,
    report: Path | None,
    check: bool,
) -> None:
    """Run COMMAND over the link of the scenario file PATH, in real time.

    COMMAND runs on one host, a network namespace. `--serve` starts a server on a second host at the
    other end. `{peer}` in a command becomes the other host's address. The file's link connects the
    two hosts in both directions. Write `--` before COMMAND.

    The exit code is COMMAND's. The command prints to stderr how late it delivered packets, and
    whether the lateness makes the run invalid.
    """
    from clift.hosts.live import hindrances, run_live

    if check:
        lines = hindrances()
        click.echo("\n".join(lines) if lines else "this machine can run live links")
        raise click.exceptions.Exit(2 if lines else 0)
    if path is None:
        raise click.UsageError("Missing argument 'PATH'.")
    if not late >= 0:
        raise click.UsageError("--late: give 0 or more milliseconds")
    cell = _only(path, changes)
    check_apart([path], log, capture, report)
    if os.geteuid() == 0 and (user := os.environ.get("SUDO_USER")):
        click.echo(
            f"note: running as root (sudo of {printable(user)}): commands, plugins and the files "
            "written have root's rights",
            err=True,
        )
    served = None if serve is None else shlex.split(serve)
    run = run_live(cell, command, served, congestion, log, capture, snap)
    click.echo(_told(run), err=True)
    for fault in run.faults(late):
        click.echo(f"this run is not valid: {fault}", err=True)
    if capture is not None:
        click.echo(f"wrote {capture}: {counted(run.captured or 0, 'packet')}", err=True)
    if run.left_out:
        click.echo(f"{capture} is missing packets at its end: {run.left_out}", err=True)
    if report is not None:
        found = vars(run) | {"counts": not run.faults(late)}
        report.write_text(json.dumps(found, indent=2) + "\n")
    raise click.exceptions.Exit(run.code)


def _only(path: Path, changes: dict[str, str]) -> Scenario:
    """The only cell of the file, of one run."""
    cells = Scenario.read(path, changes).cells()
    if len(cells) != 1:
        axes = ", ".join(cells[0].labels)
        raise ScenarioError(
            f"{path}: has {len(cells)} cells, but a live run takes one; choose by --set: {axes}"
        )
    if (count := len(cells[0].replications())) > 1:
        raise ScenarioError(f"{path}: asks for {count} runs, but a live run is one; --set runs=1")
    return cells[0]


def _told(run: LiveRun) -> str:
    """Text of the lateness and of the packet counts."""
    late = run.late_ns
    scheduling = (
        "real-time scheduling" if run.real_time else "no real-time scheduling (not allowed)"
    )
    lines = [f"{run.seconds:.1f} s, {counted(run.packets, 'packet')} delivered; {scheduling}"]
    if run.packets:
        lines.append(
            f"late: median {_time(late['p50'])}, 99 % {_time(late['p99'])}, 99.9 % "
            f"{_time(late['p999'])}, max {_time(late['max'])}"
        )
    most = max((count for _, count in run.late_steps), default=0)
    for bound, count in run.late_steps:
        if count:
            bar = "#" * max(1, round(40 * count / most))
            lines.append(f"  up to {_time(bound):>8} {count:>10} {bar}")
    for name, counts in (("there", run.there), ("back", run.back)):
        told = ", ".join(f"{counts[key]} {key}" for key in ("offered", "dropped", "lost"))
        lines.append(f"{name}: {told} packets")
    return "\n".join(lines)


def _time(nanoseconds: int) -> str:
    if nanoseconds < 1_000_000:
        return f"{nanoseconds / 1e3:.3g} us"
    return f"{nanoseconds / 1e6:.3g} ms" if nanoseconds < 10**9 else f"{nanoseconds / 1e9:.3g} s"
