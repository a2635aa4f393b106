"""`clift paper list`, `show` and `run`: tables and figures of the five papers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

import clift._clift as _clift
from clift.cli.options import Seconds, busy
from clift.errors import Interrupted, ScenarioError
from clift.papers.artefact import PROFILES, Artefact
from clift.papers.registry import chosen, effort, paper, papers, run

if TYPE_CHECKING:
    from clift.papers.artefact import Result


@click.command("list")
@click.option("--json", "as_json", is_flag=True, help="JSON on stdout instead of the list.")
def list_papers(as_json: bool) -> None:
    """List the papers with their tables and figures."""
    known = papers()
    if as_json:
        found = [
            {"name": one.name, "artefacts": [artefact.name for artefact in one.artefacts]}
            for one in known
        ]
        click.echo(json.dumps({"papers": found}))
        return
    from clift.report.paper_text import list_text

    click.echo(list_text(known))


@click.command("show")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="JSON on stdout instead of the text.")
def show_paper(name: str, as_json: bool) -> None:
    """Describe the paper NAME, its printed values and its claims."""
    from clift.report.paper_text import show_json, show_text

    one = paper(name)
    click.echo(json.dumps(show_json(one)) if as_json else show_text(one))


@click.command("run")
@click.argument("name")
@click.option("--table", "tables", type=int, multiple=True, help="Number of a table; repeatable.")
@click.option(
    "--figure", "figures", type=int, multiple=True, help="Number of a figure; repeatable."
)
@click.option("--runs", type=click.IntRange(1, 100_000), help="Runs per cell.")
@click.option(
    "--until-decided",
    "until",
    type=click.IntRange(1, 100_000),
    metavar="RUNS",
    help="Double the runs until every claim is decided, up to RUNS per cell.",
)
@click.option(
    "--duration",
    type=Seconds(1, 1e6),
    metavar="TIME",
    help="Simulated time of each run, in seconds or with a unit; default: the paper's.",
)
@click.option("--reduced", is_flag=True, help="Run the smallest possible version, in seconds.")
@click.option(
    "--profile",
    "profiles",
    type=click.Choice(PROFILES),
    multiple=True,
    help="TCP model: ns-2's (papers) or a Linux kernel's (linux); default: both.",
)
@click.option("--seed", type=click.IntRange(0, 2**32), default=1, help="Seed of the first run.")
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for text, JSON and picture of each.",
)
@click.option("--json", "as_json", is_flag=True, help="JSON on stdout instead of the tables.")
def run_paper(
    name: str,
    tables: tuple[int, ...],
    figures: tuple[int, ...],
    runs: int | None,
    until: int | None,
    duration: int | None,
    reduced: bool,
    profiles: tuple[str, ...],
    seed: int,
    output: Path | None,
    as_json: bool,
) -> None:
    """Run tables and figures of the paper NAME, or of `all`, and compare them with the paper.

    Each number stands beside the printed one, with its mean, 95 % interval and ratio. Each claim
    holds, does not hold, or is not decidable.
    """
    from clift.report.paper_text import paper_json, paper_text

    wanted = chosen(name, tables, figures)
    seconds = None if duration is None else duration / 1e9
    found = []
    for place, artefact in enumerate(wanted):
        much = effort(artefact, runs, seconds, seed, reduced)
        with busy(f"{artefact.paper}, {artefact.name} ({place + 1} of {len(wanted)})"):
            try:
                result = run(artefact, much, profiles or PROFILES, until=until)
            except (KeyboardInterrupt, Interrupted):
                kept = f"; {place} written to {output}" if output else ""
                raise Interrupted(
                    f"stopped in {artefact.paper}, {artefact.name}{kept}", []
                ) from None
            if output:
                _write(result, output / artefact.paper)
        if as_json:
            found.append(paper_json(result))
        else:
            click.echo(paper_text(result) + "\n")
    if as_json:
        click.echo(json.dumps({"artefacts": found}))


def _write(result: Result, folder: Path) -> None:
    """Write text, JSON and picture of an artefact, each as a whole or not at all."""
    from clift.report.paper_plot import paper_plot
    from clift.report.paper_text import paper_json, paper_text
    from clift.report.trace_figure import save

    stem = _stem(result.artefact)
    made: list[tuple[str, Callable[[], str]]] = [
        ("txt", lambda: paper_text(result) + "\n"),
        ("json", lambda: json.dumps(paper_json(result), indent=1) + "\n"),
    ]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for suffix, text in made:
            _clift.replace_file(folder / f"{stem}.{suffix}", text().encode())
    except OSError as error:
        raise ScenarioError(f"{folder}: not writable: {error.strerror or error}") from None
    save(paper_plot(result), folder / f"{stem}.png")


def _stem(artefact: Artefact) -> str:
    return artefact.name.replace(" ", "-")
