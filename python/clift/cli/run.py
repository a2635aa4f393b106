"""`clift run`: a scenario file from a to z."""

from __future__ import annotations

import json
from pathlib import Path

import click

from clift.errors import Interrupted, ScenarioError
from clift.scenario import Scenario


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--seed", type=click.IntRange(0, 2**64 - 1), help="Another seed than the file's.")
@click.option("--runs", type=click.IntRange(1), help="Another number of runs for every cell.")
@click.option(
    "--set",
    "sets",
    multiple=True,
    metavar="KEY=VALUE",
    help='Change a key, e.g. --set link.rtt="600 ms" or --set scheme=ARQ; ends its variation.',
)
@click.option("--json", "as_json", is_flag=True, help="JSON on stdout.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Folder for tables (Parquet), plots (PNG) and a record of the campaign.",
)
@click.option("--threads", type=click.IntRange(1), help="Runs at a time; all cores unless given.")
@click.option("--no-plots", is_flag=True, help="Only tables in the folder.")
@click.option("--quiet", is_flag=True, help="No progress bar.")
def run(
    path: Path,
    seed: int | None,
    runs: int | None,
    sets: tuple[str, ...],
    as_json: bool,
    output: Path | None,
    threads: int | None,
    no_plots: bool,
    quiet: bool,
) -> None:
    """Run the scenario file PATH and print what came out.

    After Ctrl-C what is done is shown and written, marked as incomplete.
    """
    from clift._bar import bar
    from clift.campaign import Results, run_campaign
    from clift.campaign.record import as_dict, prepare, write
    from clift.report.text import report

    changes = dict(_change(text) for text in sets)
    changes |= {} if seed is None else {"seed": str(seed)}
    changes |= {} if runs is None else {"runs": str(runs)}
    scenario = Scenario.read(path, changes)
    if output is not None:
        prepare(output)
    with bar(path.stem, 0 if quiet else scenario.size) as watch:
        results: Results = run_campaign(scenario, watch, threads)
    if output is not None:
        with bar(f"writing {output}", 0):
            for written in write(results, scenario, output, plots=not no_plots):
                click.echo(f"wrote {written}", err=True)
    click.echo(json.dumps(as_dict(results, scenario), indent=2) if as_json else report(results))
    if not results.is_complete:
        raise Interrupted(f"interrupted after {results.done} of {results.wanted} runs", [])


def _change(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise ScenarioError(f"--set {text}: give KEY=VALUE, e.g. --set link.rtt=600ms")
    return key.strip(), value.strip()
