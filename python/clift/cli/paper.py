"""`clift paper`: tables and figures of the five papers."""

from __future__ import annotations

import json
from pathlib import Path

import click

from clift._bar import bar
from clift._output import write, written
from clift.cli.options import DRAWABLE, Group, Picture, busy, seconds, until_written, writes
from clift.errors import Interrupted
from clift.papers import ALIASES, registry
from clift.papers.artefact import PROFILES, Result


@click.group(cls=Group, aliases={name: ["run", name] for name in (*registry.NAMES, *ALIASES)})
def paper() -> None:
    """Reproduce the tables and figures of the papers.

    `list` lists the papers, `show` describes one, and `run` reproduces its tables and figures:
    `clift paper NAME` is short for `clift paper run NAME`.
    """


@paper.command("list")
@click.option("--json", "as_json", is_flag=True, help="JSON on stdout instead of the list.")
def list_papers(as_json: bool) -> None:
    """List the papers with their tables and figures."""
    known = registry.papers()
    if as_json:
        found = [
            {"name": one.name, "artefacts": [artefact.name for artefact in one.artefacts]}
            for one in known
        ]
        click.echo(json.dumps({"papers": found}))
        return
    from clift.papers.text import list_text

    click.echo(list_text(known))


@paper.command("show")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="JSON on stdout instead of the text.")
def show_paper(name: str, as_json: bool) -> None:
    """Describe the paper NAME, its printed values and its claims."""
    from clift.papers.text import show_json, show_text

    one = registry.paper(name)
    click.echo(json.dumps(show_json(one)) if as_json else show_text(one))


@paper.command("run")
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
    type=seconds(1, 1e6),
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
@writes("Folder for text, JSON and picture of each; or the picture of one, by its suffix.")
@click.option("--what-changed", "stacks", is_flag=True, hidden=True)
@click.option("--json", "as_json", is_flag=True, help="JSON on stdout instead of the tables.")
@click.pass_context
def run_paper(
    context: click.Context,
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
    stacks: bool,
    as_json: bool,
) -> None:
    """Run tables and figures of the paper NAME, or of `all`, and compare them with the paper.

    Each number stands beside the printed one, with its mean, 95 % interval and ratio. Each claim
    holds, does not hold, or is not decidable.
    """
    from clift.papers.text import paper_json, paper_text

    if stacks:
        # The name of `clift paper what-changed` in 0.1.0.
        picture = output or Path("what_changed.png")
        context.invoke(what_changed, output=picture, runs=runs, seed=seed, as_json=as_json)
        return
    wanted = registry.chosen(name, tables, figures)
    is_picture = output is not None and output.suffix.lower() in DRAWABLE
    if is_picture and len(wanted) != 1:
        raise click.UsageError(f"-o {output}: choose one table or figure, or give a folder")
    seconds = None if duration is None else duration / 1e9
    found = []
    for place, artefact in enumerate(wanted):
        much = registry.effort(artefact, runs, seconds, seed, reduced)
        with busy(f"{artefact.paper}, {artefact.name} ({place + 1} of {len(wanted)})"):
            try:
                result = registry.run(artefact, much, profiles or PROFILES, until=until)
            except (KeyboardInterrupt, Interrupted):
                kept = f"; {place} written to {output}" if output else ""
                raise Interrupted(
                    f"stopped in {artefact.paper}, {artefact.name}{kept}", []
                ) from None
            if output and is_picture:
                _draw(result, output)
            elif output:
                _write(result, output / artefact.paper)
        if as_json:
            found.append(paper_json(result))
        else:
            click.echo(paper_text(result) + "\n")
    if as_json:
        click.echo(json.dumps({"artefacts": found}))


@paper.command("what-changed")
@writes("PNG, PDF or SVG to write.", type=Picture(), default="what_changed.png", show_default=True)
@click.option("--runs", type=click.IntRange(1), help="Runs per cell; default: 8 and 40.")
@click.option("--seed", type=click.IntRange(0), default=1, help="Seed of the random draws.")
@click.option("--json", "as_json", is_flag=True, help="JSON on stdout instead of the table.")
def what_changed(output: Path, runs: int | None, seed: int, as_json: bool) -> None:
    """Kuhn 2014's link in bad reception under ns-2's TCP and under a Linux kernel's.

    The papers built on ns-2's TCP (profile papers). A kernel's (profile linux) is also run with
    parts of it switched off.
    """
    import clift.papers.what_changed as study
    import clift.papers.what_changed_report as report
    from clift.report.trace_figure import save

    with until_written():
        campaign = study.study(seed, runs)
        with bar(study.STUDY, campaign.size) as watch:
            change = study.what_changed(campaign, watch)
        save(report.what_changed_figure(change), output)
    if as_json:
        what, why = change.sentences()
        found = {"figure": str(output), "cells": report.what_changed_json(change)}
        click.echo(json.dumps(found | {"what": what, "pages": change.pages(), "why": why}))
        return
    click.echo(f"{report.what_changed_text(change)}\n\n{output}")


def _write(result: Result, folder: Path) -> None:
    """Write text, JSON and picture of an artefact, each as a whole or not at all."""
    from clift.papers.text import paper_json, paper_text

    stem = result.artefact.name.replace(" ", "-")
    with written(folder):
        folder.mkdir(parents=True, exist_ok=True)
    write(folder / f"{stem}.txt", f"{paper_text(result)}\n".encode())
    write(folder / f"{stem}.json", f"{json.dumps(paper_json(result), indent=1)}\n".encode())
    _draw(result, folder / f"{stem}.png")


def _draw(result: Result, picture: Path) -> None:
    from clift.papers.plot import paper_plot
    from clift.report.trace_figure import save

    save(paper_plot(result), picture)
