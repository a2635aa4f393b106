"""`clift report`: a results folder as one HTML page."""

from __future__ import annotations

from pathlib import Path

import click

from clift.cli.options import writes


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@writes("Output page; default: report.html in the folder.")
@click.option(
    "--figures",
    type=click.Path(path_type=Path),
    help="Folder for every figure as SVG and PDF, in a paper's column or page width.",
)
@click.option("--force", is_flag=True, help="Replace files that this command did not write.")
def report(folder: Path, output: Path | None, figures: Path | None, force: bool) -> None:
    """Make one HTML page from the results that `clift run -o` wrote to FOLDER.

    The page is self-contained: it loads nothing from the network. A second page beside it, named
    after it, runs the cells of the study again, to be changed; points of the plots open there.
    """
    from clift.report.page.study import read
    from clift.report.page.write import check, is_ours, write

    study = read(folder)
    page = folder / "report.html" if output is None else output
    check(page, is_ours, force)
    drawn: list[Path] = []
    if figures is not None:
        from clift.report.paper import write as draw

        drawn = draw(study, figures, force)
    runs = write(study, page, force)
    if runs is not None:
        click.echo(f"its runs open in {runs}", err=True)
    for file in (page, *drawn):
        click.echo(file)
