"""`clift explore`: a page in which settings can be changed and run."""

from __future__ import annotations

import tempfile
import webbrowser
from pathlib import Path

import click

from clift._output import write
from clift.campaign.identity import file_hashes
from clift.errors import ScenarioError
from clift.scenario import Scenario


@click.command()
@click.argument("scenario", required=False, type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--save",
    type=click.Path(path_type=Path),
    help="Write the page to this file instead of opening it.",
)
@click.option("--force", is_flag=True, help="Replace a file that this command did not write.")
def explore(scenario: Path | None, save: Path | None, force: bool) -> None:
    """Open a page that runs CLIFT in the browser, with two settings side by side.

    The page begins with the first two cells of SCENARIO, or with a guide. It is one file, loads
    nothing from the network and sends nothing.
    """
    from clift.explore.page import lacking, page, study_of
    from clift.report.page.write import check, is_ours

    if save is not None:
        check(save, is_ours, force)
    study = None
    if scenario is not None:
        given = Scenario.read(scenario)
        sums = file_hashes(given)
        if what := lacking(given.text, {}, sums):
            raise ScenarioError(f"{scenario}: the page has no {what}; use clift run")
        study = study_of(scenario, given.text, {}, sums)
    content = page(study).encode()
    path = save or Path(tempfile.mkdtemp(prefix="clift-")) / "explorer.html"
    write(path, content)
    click.echo(path)
    if save is None:
        webbrowser.open(path.resolve().as_uri())
