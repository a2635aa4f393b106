"""`clift results`: show and compare results folders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clift._words import counted
from clift.campaign.metrics import metric
from clift.campaign.statistics import Estimate
from clift.errors import ScenarioError
from clift.report.text import aligned, with_interval

if TYPE_CHECKING:
    from clift.campaign.saved import Saved


@click.command()
@click.argument("folders", metavar="DIR [OTHER]", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--where",
    "wheres",
    multiple=True,
    metavar="AXIS=LABEL",
    help="Use only these cells; repeat an axis to add a label.",
)
@click.option("--metric", "name", help="Metric, e.g. goodput_kbps; default: completion or goodput.")
@click.option("--metrics", is_flag=True, help="List the measured metrics.")
@click.option("--rows", metavar="AXIS", help="Axis of the rows of a two-axis table.")
@click.option("--columns", metavar="AXIS", help="Axis of the columns.")
@click.option(
    "--verify",
    is_flag=True,
    help="Check every file of the folder against its hash, and name those that are damaged.",
)
@click.option("--json", "as_json", is_flag=True, help="JSON on stdout.")
@click.option("--csv", "as_csv", is_flag=True, help="One row per run on stdout, sorted.")
def results(
    folders: tuple[Path, ...],
    wheres: tuple[str, ...],
    name: str | None,
    metrics: bool,
    rows: str | None,
    columns: str | None,
    verify: bool,
    as_json: bool,
    as_csv: bool,
) -> None:
    """List the cells of the results folder DIR, or compare it with OTHER run by run."""
    from clift.campaign.comma import text
    from clift.campaign.saved import read

    _are_folders(folders[1:], wheres)
    if not 1 <= len(folders) <= 2:
        raise click.UsageError("give one results folder, or two to compare")
    if verify:
        if len(folders) > 1 or wheres or name or metrics or rows or columns or as_csv:
            raise click.UsageError("--verify takes one folder, and only --json with it")
        _verify(folders[0], as_json)
        return
    if (rows is None) != (columns is None):
        raise click.UsageError("--rows and --columns must be given together")
    if sum((as_json, as_csv)) > 1 or (len(folders) == 2 and (as_csv or rows is not None)):
        raise click.UsageError("use only one of --json, --csv, --rows and a second folder")
    wanted = _wanted(wheres)
    saved = [read(folder).where(wanted) for folder in folders]
    if as_csv:
        click.echo(text(saved[0].runs), nl=False)
    elif metrics:
        _print(saved[0].metrics, [[name] for name in saved[0].metrics], as_json, left=1)
    else:
        name = saved[0].check(name) if name else saved[0].primary
        if len(saved) == 2:
            _compared(saved[0], saved[1], name, as_json)
        elif rows is not None and columns is not None:
            _pivot(saved[0], name, rows, columns, as_json)
        else:
            _listed(saved[0], name, as_json)


def _wanted(wheres: tuple[str, ...]) -> dict[str, list[str]]:
    """Labels of the wanted cells, by axis."""
    wanted: dict[str, list[str]] = {}
    for where in wheres:
        axis, equals, label = where.partition("=")
        if not equals:
            raise ScenarioError(f"--where {where}: give AXIS=LABEL, e.g. --where scheme=ARQ")
        wanted.setdefault(axis.strip(), []).append(label.strip())
    return wanted


def _verify(folder: Path, as_json: bool) -> None:
    from clift.campaign.saved import verify

    checked, found = verify(folder)
    if as_json:
        told = {"files": checked, "damaged": {str(path): what for path, what in found.items()}}
        click.echo(json.dumps(told, indent=2))
    else:
        for path, what in found.items():
            click.echo(f"{path}: {what}")
    if found:
        cure = "run the command that wrote the folder again; it repairs damaged files"
        raise ScenarioError(f"{folder}: {len(found)} of {counted(checked, 'file')} damaged; {cure}")
    if not as_json:
        click.echo(f"{folder}: {counted(checked, 'file')} checked, none damaged")


def _are_folders(others: tuple[Path, ...], wheres: tuple[str, ...]) -> None:
    """Check that the folders exist; with `--where`, a missing one may be the rest of a label."""
    for folder in others:
        if not folder.is_dir():
            cure = f"--where needs quotes around {wheres[-1]} {folder}" if wheres else ""
            raise ScenarioError(f"{folder}: no such folder{f'; {cure}' if cure else ''}")


def _listed(saved: Saved, name: str, as_json: bool) -> None:
    found = saved.estimates(name)
    told = [
        {**dict(zip(saved.axes, cell, strict=True)), **_figures(found.get(cell), name)}
        for cell in saved.cells
    ]
    table = [[*saved.axes, "runs", metric(name).heading]]
    for cell in saved.cells:
        one = found.get(cell)
        table.append([*cell, str(one.runs if one else 0), _shown(one, name)])
    _print(told, table, as_json, len(saved.axes))


def _pivot(saved: Saved, name: str, rows: str, columns: str, as_json: bool) -> None:
    down, across, found = saved.pivot(name, rows, columns)
    told = [
        {rows: row, columns: column, **_figures(found.get((row, column)), name)}
        for row in down
        for column in across
    ]
    table = [[f"{metric(name).heading}: {rows} \\ {columns}", *across]]
    table += [[row, *(_shown(found.get((row, column)), name) for column in across)] for row in down]
    _print(told, table, as_json, 1)


def _compared(ours: Saved, other: Saved, name: str, as_json: bool) -> None:
    from clift.campaign.saved import compare

    other.check(name)
    found = compare(ours, other, name)
    first, second = ours.estimates_beside(other, name), other.estimates_beside(ours, name)
    told: list[dict[str, Any]] = []
    table = [[*ours.axes, str(ours.folder), str(other.folder), "difference (%)", "95 % interval"]]
    for cell, apart in found.items():
        told.append(dict(zip(ours.axes, cell, strict=True)))
        told[-1] |= {
            "metric": name,
            "mean": first[cell].mean if cell in first else None,
            "other_mean": second[cell].mean if cell in second else None,
            "difference": None if apart is None else apart.share,
            "low": None if apart is None else apart.low,
            "high": None if apart is None else apart.high,
            "p": None if apart is None else apart.p,
        }
        share, interval = "-", "-"
        if apart is not None:
            share = f"{100 * apart.share:+.1f}"
            if apart.low is not None and apart.high is not None:
                interval = f"{100 * apart.low:+.1f} to {100 * apart.high:+.1f}"
        shown = (_shown(first.get(cell), name), _shown(second.get(cell), name))
        table.append([*cell, *shown, share, interval])
    if not as_json:
        heading = metric(name).heading
        click.echo(
            f"{heading} of the runs that both have; "
            f"difference of {ours.folder} relative to {other.folder}"
        )
    _print(told, table, as_json, len(ours.axes))


def _figures(one: Estimate | None, name: str) -> dict[str, Any]:
    names = ("mean", "low", "high", "half_width", "median", "p95", "runs")
    return {} if one is None else {"metric": name} | {key: getattr(one, key) for key in names}


def _shown(one: Estimate | None, name: str) -> str:
    return with_interval(one, metric(name).scale)


def _print(told: Any, table: list[list[str]], as_json: bool, left: int) -> None:
    click.echo(json.dumps(told, indent=2) if as_json else aligned(table, left))
