"""`clift model`: schemes over a channel model, in closed form."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import numpy as np

from clift._words import counted
from clift.cli.options import TIME, Picture, Quantity, busy
from clift.errors import ScenarioError
from clift.model import hybrid, predict
from clift.report.text import aligned

_MOST_POINTS = 1_000_000


def _numbers(text: str) -> Any:
    """Numbers: `0.02`, `0.01,0.02,0.05`, or `0.1:0.93:200` for 200 numbers from 0.1 to 0.93."""
    try:
        if ":" in text:
            first, last, count = text.split(":")
            if not 1 <= int(count) <= _MOST_POINTS:
                raise click.BadParameter(f"{text}: give 1 to {_MOST_POINTS} points")
            return np.linspace(float(first), float(last), int(count))
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        cure = "give 0.02, or 0.01,0.02,0.05, or 0.1:0.93:200"
        raise click.BadParameter(f"{text}: {cure}") from None
    return numbers[0] if len(numbers) == 1 else np.array(numbers)


VALUES = Quantity("numbers", _numbers)


@click.command()
@click.option(
    "--scheme",
    "schemes",
    multiple=True,
    default=("FEC(38/51)", "ARQ", "HARQ(38/51, rounds 2)"),
    show_default=True,
    help='Scheme as for `clift tmt`, e.g. "FEC(10/12, interleave 8)"; repeatable.',
)
@click.option(
    "--p", type=VALUES, help="Erasure probability; without --burst, erasures are independent."
)
@click.option("--burst", type=VALUES, help="Mean burst in slots, with --p.")
@click.option("--alpha", type=VALUES, help="Probability of staying good, instead of --p.")
@click.option("--beta", type=VALUES, help="Probability of staying bad, instead of --p.")
@click.option("--p-good", type=VALUES, default="0", help="Erasure probability in the good state.")
@click.option("--p-bad", type=VALUES, default="1", help="Erasure probability in the bad state.")
@click.option("--rtt", type=TIME, default="500 ms", show_default=True, help="Round-trip time.")
@click.option(
    "--slot",
    type=TIME,
    default="114783 ns",
    show_default=True,
    help="Time between slots; 0 ns: negligible against the RTT.",
)
@click.option(
    "--decode", type=TIME, default="36 ms", show_default=True, help="Decoding time of a slot."
)
@click.option("--feedback", type=TIME, help="Feedback time; default: RTT + decoding time.")
@click.option(
    "--cut-apart", is_flag=True, help="HARQ: repair rounds interrupt other blocks, as in TMT."
)
@click.option("--delays", is_flag=True, help="Also print quantiles of the recovery delay.")
@click.option("--plot", type=Picture(), help="Draw a sweep: PNG, PDF or SVG.")
@click.option("--check", is_flag=True, help="Also simulate the channel, and compare.")
@click.option("--slots", type=click.IntRange(1), default=4_000_000, help="Slots of --check.")
@click.option("--seed", type=click.IntRange(0), default=1, help="Seed of --check.")
@click.option(
    "--hybrid",
    metavar="K/N",
    help="Evaluate hybrid FEC/ARQ-SR with K of N units per frame and unit loss --p instead.",
)
@click.option(
    "--first",
    type=int,
    help="Units of a frame's first transmission, K to N; N unless given (--hybrid).",
)
@click.option("--frames", type=click.IntRange(1), default=6, help="Frames per packet (--hybrid).")
@click.option(
    "--persistency",
    type=click.IntRange(0),
    default=5,
    help="Times that a frame is resent (--hybrid).",
)
@click.option("--json", "as_json", is_flag=True, help="JSON on stdout.")
def model(schemes: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Evaluate schemes over a Gilbert-Elliott channel in closed form.

    Describe the channel by --p with --burst, by --p alone, or by --alpha with --beta. Each option
    also takes a sweep: 0.01,0.02,0.05 or 0.1:0.93:200.
    """
    if options["hybrid"] is not None:
        _hybrid(options, as_json)
    elif options["check"]:
        _check(schemes, options, as_json)
    else:
        _predict(schemes, options, as_json)


def _predict(schemes: tuple[str, ...], options: dict[str, Any], as_json: bool) -> None:
    from clift.report.model_text import sweep, table

    swept = _swept(options)
    found = [(scheme, predict(scheme, **_arguments(options))) for scheme in schemes]
    if options["delays"] and swept:
        raise click.UsageError("--delays needs one channel, not a sweep")
    if options["plot"] is not None:
        _plot(found, swept, options["plot"])
    if as_json:
        said = []
        for scheme, one in found:
            values = {name: finite(value) for name, value in (swept | one.values()).items()}
            said.append({"scheme": scheme, **values})
        click.echo(json.dumps(said, indent=2))
    elif swept:
        columns = np.broadcast_arrays(*swept.values())
        points = [[float(column[place]) for column in columns] for place in range(len(columns[0]))]
        click.echo(sweep(list(swept), points, found))
    else:
        click.echo(table(found))
    if options["delays"] and not as_json:
        click.echo(_quantiles(found))


def _check(schemes: tuple[str, ...], options: dict[str, Any], as_json: bool) -> None:
    from clift.model_check import check
    from clift.report.model_text import checked

    if _swept(options):
        raise click.UsageError("--check needs one channel, not a sweep")
    arguments = _arguments(options)
    del arguments["cut_apart"]
    slots, seed = options["slots"], options["seed"]
    found = []
    for scheme in schemes:
        with busy(f"simulating {scheme}"):
            found.append((scheme, check(scheme, slots=slots, seed=seed, **arguments)))
    if as_json:
        said = [
            {"scheme": scheme, "metrics": [_row_json(row) for row in rows]}
            for scheme, rows in found
        ]
        click.echo(json.dumps(said, indent=2))
    else:
        click.echo("\n\n".join(checked(scheme, rows) for scheme, rows in found))
        share = "all intervals of a scheme hold jointly with 99 % probability"
        click.echo(f"\n{counted(slots, 'slot')}, seed {seed}; {share}")
        if any(scheme.upper().startswith("HARQ") for scheme in schemes):
            click.echo("HARQ: model in which repair rounds interrupt other blocks")
    if not all(row.agrees for _, rows in found for row in rows):
        raise click.exceptions.Exit(1)


def _hybrid(options: dict[str, Any], as_json: bool) -> None:
    try:
        k, n = (int(part) for part in options["hybrid"].split("/"))
    except ValueError:
        raise ScenarioError(f"--hybrid {options['hybrid']}: write K/N, e.g. 10/12") from None
    if options["p"] is None:
        raise click.UsageError("--hybrid needs --p, the probability that a unit is lost")
    counts = (k, n, options["frames"], options["persistency"])
    try:
        values = asdict(hybrid(*counts, options["p"], n_first=options["first"]))
    except ScenarioError as error:
        raise ScenarioError(f"--hybrid {options['hybrid']}: {error}") from None
    if as_json:
        p = finite(options["p"])
        click.echo(json.dumps({"p": p, **{key: finite(v) for key, v in values.items()}}, indent=2))
        return
    rows = [["p", *(name.replace("_", " ") for name in values)]]
    columns = [np.ravel(options["p"]), *(np.ravel(value) for value in values.values())]
    rows += [[f"{value:.6g}" for value in row] for row in zip(*columns, strict=True)]
    click.echo(aligned(rows, left=0))


def _arguments(options: dict[str, Any]) -> dict[str, Any]:
    """The options as keyword arguments of `clift.model.predict`."""
    feedback = options["feedback"]
    names = ("alpha", "beta", "p_good", "p_bad", "p", "burst", "cut_apart")
    return {
        **{name: options[name] for name in names},
        "rtt_ms": options["rtt"] / 1e6,
        "slot_ns": options["slot"],
        "decode_ns": options["decode"],
        "feedback_ms": None if feedback is None else feedback / 1e6,
    }


def _swept(options: dict[str, Any]) -> dict[str, Any]:
    names = ("p", "burst", "alpha", "beta", "p_good", "p_bad")
    swept = {name: options[name] for name in names if np.ndim(options[name])}
    if len({len(values) for values in swept.values()}) > 1:
        raise click.UsageError("combined sweeps need the same number of points")
    return swept


def _plot(found: list[tuple[str, Any]], swept: dict[str, Any], path: Path) -> None:
    from clift.report.model_figure import sweep_figure
    from clift.report.trace_figure import save

    if not swept:
        raise click.UsageError('--plot draws a sweep, e.g. --alpha 0.98 --beta "0.1:0.93:200"')
    name, values = next(iter(swept.items()))
    save(sweep_figure(name, values, found), path)
    click.echo(path, err=True)


def _quantiles(found: list[tuple[str, Any]]) -> str:
    from clift.report.model_text import number

    shares = (0.05, 0.5, 0.85, 0.95, 0.99)
    rows = [["recovery delay ms", *(f"p{100 * share:.0f}" for share in shares)]]
    for scheme, one in found:
        law = one.recovery_delays()
        rows.append([scheme, *(number(float(law.quantile_ms(q)), 3) for q in shares)])
    return "\n" + aligned(rows, left=1)


def finite(values: Any) -> Any:
    """Numbers for JSON: null instead of NaN or infinity."""
    flat = [None if not np.isfinite(value) else float(value) for value in np.ravel(values)]
    return flat if np.ndim(values) else flat[0]


def _row_json(row: Any) -> dict[str, Any]:
    numbers = {name: finite(getattr(row, name)) for name in ("model", "simulated", "within")}
    return {"metric": row.metric, **numbers, "verdict": row.verdict}
