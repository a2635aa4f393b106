"""`clift advise`: from a log to the scheme and transport to take."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from clift.advise.link import Link
from clift.advise.study import SCHEMES
from clift.advise.study import advise as ask
from clift.cli.imports import columns
from clift.cli.options import writes
from clift.design.space import parse_space
from clift.errors import Interrupted


@click.command()
@click.argument("log", type=click.Path(path_type=Path))
@click.option("--rtt", metavar="TIME", help="Round-trip time, for a log without delays: 600 ms.")
@click.option(
    "--task",
    default="bulk",
    show_default=True,
    help="bulk, a file with its size (file=1MB), page or call.",
)
@click.option("--schemes", metavar="LIST", help="Schemes to try, the simplest first.")
@click.option("--transports", metavar="LIST", help="Transports to try: 'TCP cubic,QUIC bbr'.")
@click.option(
    "--queue",
    type=click.IntRange(1, 2**31),
    metavar="PACKETS",
    help="Packets that the queue before the link holds. Default: those of one round trip, at "
    "least 50.",
)
@click.option(
    "--tolerance",
    type=click.FloatRange(0.001, 0.5),
    default=0.05,
    show_default=True,
    help="Pairs are equal if their difference surely lies within this share.",
)
@columns
@click.option("--json", "as_json", is_flag=True, help="JSON on stdout.")
@writes("Folder for the report, the trace, every run, tables and charts.", force=True)
@click.option("--threads", type=click.IntRange(1), help="Parallel runs; default: all cores.")
@click.option("--quiet", is_flag=True, help="Show no progress on stderr.")
def advise(
    log: Path,
    schemes: str | None,
    transports: str | None,
    as_json: bool,
    output: Path | None,
    force: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Say which link-layer scheme and which transport serve the link of LOG best.

    LOG is a log or trace of any known kind: mahimahi, output of ping, JSON of irtt, iperf3 or a
    Starlink dish, RINEX, a trace of CLIFT, or a table whose columns are named as for clift trace
    import. After Ctrl-C the command answers from the runs that are done.
    """

    def tell(found: Link | str) -> None:
        if isinstance(found, Link):
            # What is known at once need not wait for the runs.
            if not as_json:
                click.echo(f"The link of {log.name}\n{found}\n")
        elif not quiet:
            click.echo(f"{found}\n", err=True)

    tried = parse_space(f"scheme={schemes}")[1] if schemes else SCHEMES
    over = parse_space(f"transport={transports}")[1] if transports else None
    options |= {"progress": not quiet, "folder": output, "force": force, "told": tell}
    found = ask(log, schemes=tried, transports=over, **options)
    click.echo(json.dumps(found.as_dict(), indent=2) if as_json else found.verdict)
    if output is not None:
        for written in found.save(output, force):
            click.echo(f"wrote {written}", err=True)
    if found.found is not None and not found.found.is_complete:
        raise Interrupted(f"stopped after {found.found.done} of {found.found.budget} runs", [])
