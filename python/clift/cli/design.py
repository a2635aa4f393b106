"""`clift design`: find the best scheme for each condition."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from clift._parse import MARGIN
from clift._words import counted
from clift.cli.options import SHARE, changing, writes
from clift.design.space import parse_space
from clift.design.study import design as search
from clift.errors import Interrupted, ScenarioError
from clift.scenario import Scenario


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "--objective",
    default="goodput",
    show_default=True,
    help="Goal: goodput, p99-delay, completion, energy (coded bits sent per delivered bit), or "
    "another metric with a better direction.",
)
@click.option(
    "--constraint",
    "constraints",
    multiple=True,
    metavar="LIMIT",
    help='Limit that the mean must meet, e.g. "p99-delay<2s" or "share_used<0.8".',
)
@click.option(
    "--space",
    "spaces",
    multiple=True,
    metavar="NAME=VALUES",
    help="Candidates: scheme=ARQ,HARQ(10/12), n_d=10,50, n_r=0,2, n_s=0,1, persistency=1,2, "
    "interleave=1,8, buffer='none,in order', or any key of a scenario.",
)
@click.option("--together", is_flag=True, help="Choose one design for all conditions.")
@click.option(
    "--margin",
    "--tolerance",
    "tolerance",
    type=SHARE,
    default=f"{MARGIN:.0%}",
    show_default=True,
    help="Candidates are equal if their difference is surely within this share.",
)
@click.option(
    "--runs-budget",
    type=click.IntRange(1),
    help="Most runs in all; default: a tenth of a full enumeration, and more for the last ones "
    "until the runs separate them.",
)
@changing
@click.option("--json", "as_json", is_flag=True, help="JSON on stdout.")
@writes(
    "Folder for all results (Parquet, JSON) and charts (PNG, SVG). It keeps every run; "
    "repeat the command to continue.",
    force=True,
)
@click.option("--threads", type=click.IntRange(1), help="Parallel runs; default: all cores.")
@click.option("--quiet", is_flag=True, help="Show no progress bar.")
def design(
    path: Path,
    spaces: tuple[str, ...],
    changes: dict[str, str],
    as_json: bool,
    output: Path | None,
    force: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Search for the best design over the link of the scenario file PATH.

    Axes of the file other than schemes and buffers are conditions. Under each condition all
    candidates meet the same random draws, and most runs go to the best candidates. After Ctrl-C the
    command shows and writes the ranking so far, marked as incomplete.
    """
    from clift.cli.study import further_notes, tell_notes
    from clift.design.record import as_dict, prepare, write

    space: dict[str, list[str]] = {}
    for text in spaces:
        name, values = parse_space(text)
        if name in space:
            raise ScenarioError(f"--space {name}: given twice; list its values in one option")
        space[name] = values
    scenario = Scenario.read(path, changes)
    if output is not None:
        prepare(output, force, [path])
    options |= {"space": space or None, "progress": not quiet, "folder": output, "force": force}
    found = search(scenario, **options)
    tell_notes(scenario.overridden())
    tell_notes(further_notes(found.campaign, told=not as_json))
    # Written before the pictures, which take longer.
    click.echo(json.dumps(as_dict(found), indent=2) if as_json else str(found))
    try:
        for written in write(found, output) if output is not None else ():
            click.echo(f"wrote {written}", err=True)
    except KeyboardInterrupt:
        stopped = f"stopped while writing files: {output} is incomplete"
        raise Interrupted(stopped, []) from None
    if not found.is_complete:
        raise Interrupted(f"stopped after {found.done} of {counted(found.budget, 'run')}", [])
