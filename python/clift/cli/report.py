"""`clift report`: a folder of results as one page."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="The page; report.html in the folder unless given.",
)
@click.option(
    "--figures",
    type=click.Path(path_type=Path),
    help="Folder for every figure as SVG and PDF, as wide as a paper's column or page.",
)
@click.option("--force", is_flag=True, help="Replace files that are not of this command.")
def report(folder: Path, output: Path | None, figures: Path | None, force: bool) -> None:
    """Make one page of the results that `clift run -o` left in FOLDER.

    The page holds everything that it shows and asks for nothing from anywhere: it can be opened
    from disk, sent by mail, printed.
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
    write(study, page, force)
    for file in (page, *drawn):
        click.echo(file)
