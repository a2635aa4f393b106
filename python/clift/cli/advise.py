"""`clift advise`: from a log to the scheme and transport to take."""

from __future__ import annotations

import json
from pathlib import Path

import click

from clift.errors import Interrupted


@click.command()
@click.argument("log", type=click.Path(path_type=Path))
@click.option("--rtt", metavar="TIME", help="Round-trip time, for a log without delays: 600 ms.")
@click.option("--task", default="bulk", show_default=True, help="bulk, or a file: file=1MB.")
@click.option("--schemes", metavar="LIST", help="Schemes to try, the simplest first.")
@click.option("--transports", metavar="LIST", help="Transports to try: 'TCP cubic,QUIC bbr'.")
@click.option(
    "--margin",
    type=click.FloatRange(0.001, 0.5),
    default=0.05,
    show_default=True,
    help="Pairs are equal if their difference surely lies within this share.",
)
@click.option("--json", "as_json", is_flag=True, help="JSON on stdout.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Folder for the trace, every run, tables and charts.",
)
@click.option("--threads", type=click.IntRange(1), help="Parallel runs; default: all cores.")
@click.option("--force", is_flag=True, help="Remove runs of another study from the folder.")
@click.option("--quiet", is_flag=True, help="Show no progress bar.")
def advise(
    log: Path,
    rtt: str | None,
    task: str,
    schemes: str | None,
    transports: str | None,
    margin: float,
    as_json: bool,
    output: Path | None,
    threads: int | None,
    force: bool,
    quiet: bool,
) -> None:
    """Say which link-layer scheme and which transport serve the link of LOG best.

    LOG is a trace, a mahimahi file or output of ping. After Ctrl-C the command answers from the
    runs that are done.
    """
    from clift.advise import SCHEMES, TRANSPORTS
    from clift.advise import advise as ask
    from clift.design.record import prepare, write
    from clift.design.space import parse_space

    if output is not None:
        prepare(output, force)
    tried = parse_space(f"scheme={schemes}")[1] if schemes else SCHEMES
    over = parse_space(f"transport={transports}")[1] if transports else TRANSPORTS
    told = ask(log, rtt, task, tried, over, margin, threads, not quiet, output, force)
    click.echo(json.dumps(told.as_dict(), indent=2) if as_json else str(told))
    if told.found is not None:
        if output is not None:
            for written in write(told.found, output):
                click.echo(f"wrote {written}", err=True)
        if not told.found.is_complete:
            raise Interrupted(f"stopped after {told.found.done} of {told.found.budget} runs", [])
