"""`clift run`: a scenario file from a to z."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clift.cli.options import change
from clift.errors import Interrupted, ScenarioError
from clift.scenario import Scenario

if TYPE_CHECKING:
    from clift.campaign import Results


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--seed", type=click.IntRange(0, 2**64 - 1), help="Another seed than the file's.")
@click.option("--runs", type=click.IntRange(1), help="Another number of runs for every cell.")
@click.option(
    "--set",
    "sets",
    multiple=True,
    metavar="KEY=VALUE",
    help='Change a key, e.g. --set link.rtt="600 ms" or --set scheme=ARQ; ends its '
    "variation. The name of an axis chooses among its points.",
)
@click.option("--json", "as_json", is_flag=True, help="JSON on stdout.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Folder for tables (Parquet), plots (PNG) and a record of the campaign.",
)
@click.option(
    "--capture",
    type=click.Path(path_type=Path),
    help="Write what was seen of the first cell's first run as pcapng; --set chooses another cell.",
)
@click.option(
    "--snap",
    type=click.IntRange(20, 65_535),
    default=80,
    show_default=True,
    metavar="BYTES",
    help="With --capture: bytes kept of each packet.",
)
@click.option("--threads", type=click.IntRange(1), help="Runs at a time; all cores unless given.")
@click.option("--no-plots", is_flag=True, help="Only tables in the folder.")
@click.option(
    "--explain", is_flag=True, help="Print every key in effect and where it is from; run nothing."
)
@click.option("--quiet", is_flag=True, help="No progress bar.")
def run(
    path: Path,
    seed: int | None,
    runs: int | None,
    sets: tuple[str, ...],
    as_json: bool,
    output: Path | None,
    capture: Path | None,
    snap: int,
    threads: int | None,
    no_plots: bool,
    explain: bool,
    quiet: bool,
) -> None:
    """Run the scenario file PATH and print what came out.

    After Ctrl-C what is done is shown and written, marked as incomplete; if no run is done, nothing
    is written. A folder that holds another campaign's results is made to hold this one's only.
    """
    from clift._bar import bar
    from clift.campaign import run_campaign
    from clift.campaign.record import as_dict, draw, write
    from clift.report.text import report

    changes = dict(change(text) for text in sets)
    changes |= {} if seed is None else {"seed": str(seed)}
    changes |= {} if runs is None else {"runs": str(runs)}
    scenario = Scenario.read(path, changes)
    if explain:
        for key, (value, of) in scenario.explain().items():
            click.echo(f"{key} = {value}  ({of})")
        return
    _prepare(output, capture)
    with bar(path.stem, 0 if quiet else scenario.size) as watch, warnings.catch_warnings():
        # What runs say of themselves is told below, without the place in the code.
        warnings.simplefilter("ignore", UserWarning)
        results = run_campaign(scenario, watch, threads)
    if not results.done:
        raise Interrupted("stopped before a run had finished; nothing was written", [])
    record = as_dict(results, scenario)
    _tell(record, _notes(results, told=not as_json))
    missing = ""
    if output is not None:
        missing = _fill(output, write(results, scenario, output, record), "tables")
    click.echo(json.dumps(record, indent=2) if as_json else report(results))
    if output is not None and not no_plots and not missing:
        missing = _fill(output, draw(results, scenario, output), "plots")
    if missing:
        raise Interrupted(missing, [])
    _capture(results, capture, snap)
    if not results.is_complete:
        raise Interrupted(f"stopped after {results.done} of {results.wanted} runs", [])


def _prepare(output: Path | None, capture: Path | None) -> None:
    """Makes the folder, and refuses a wrong capture before anything is run.

    Raises:
        ScenarioError: If its name does not end in .pcapng, or its folder is not there.
    """
    from clift.campaign.record import prepare

    if capture is not None:
        _is_capture(capture)
    if output is not None:
        prepare(output)


def _is_capture(path: Path) -> None:
    if path.suffix.lower() != ".pcapng":
        raise ScenarioError(
            f"{path}: captures are written as pcapng; give a name that ends in .pcapng"
        )
    if not path.parent.is_dir():
        raise ScenarioError(f"{path}: there is no folder {path.parent}")


def _capture(results: Results, path: Path | None, snap: int) -> None:
    """Writes the first run that there is, and says which."""
    for cell in results.cells:
        if path is not None and cell.first is not None:
            packets = cell.first.capture(path, snap)
            point = ", ".join(f"{name} {value}" for name, value in cell.labels.items())
            told = f" of {point}" if point else ""
            click.echo(f"wrote {path}: {packets} packets, run 1{told}", err=True)
            return


def _notes(results: Results, told: bool) -> list[str]:
    """What runs say of themselves, each once, without what the report has `told`."""
    noted = [cell.first.notes() for cell in results.cells if cell.first]
    found = list(dict.fromkeys(note for notes in noted for note in notes))
    shown = next((notes[0] for notes in noted if notes), None) if told else None
    return [note for note in found if note != shown and not note.endswith("as the trace says")]


def _tell(record: dict[str, Any], notes: list[str]) -> None:
    """What was taken because the file does not say it, and what runs say of themselves."""
    if record["taken"]:
        told = (f"{key} {one['value']} ({one['from']})" for key, one in record["taken"].items())
        click.echo(f"taken: {', '.join(told)}", err=True)
    for note in notes:
        click.echo(f"note: {note}", err=True)


def _fill(folder: Path, files: Iterator[Path], what: str) -> str:
    """Writes files and names each on stderr; what is missing after Ctrl-C."""
    try:
        for written in files:
            click.echo(f"wrote {written}", err=True)
    except KeyboardInterrupt:
        return f"stopped while {what} were written: {folder} lacks some"
    return ""
