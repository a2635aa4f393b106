"""`clift tmt`: link-layer schemes over a PHY trace."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

import clift.tmt as manager
from clift.cli.model import finite
from clift.cli.options import TIME, busy, check_apart, reading, writes
from clift.model_check import Departure, depart
from clift.trace import PhyTrace, read_trace

USUAL_RTT_NS = 500_000_000


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "--scheme",
    "schemes",
    multiple=True,
    default=("ARQ",),
    show_default=True,
    help='none, "FEC(10/12)", "FEC(10/12, interleave 8)", ARQ, "ARQ(max 3)", "HARQ(10/12)" or '
    '"HARQ(10/12, extra 1, rounds 2)"; repeatable.',
)
@click.option(
    "--rtt",
    type=TIME,
    help="Round-trip time; default: the trace's, or 500 ms if it has none.",
)
@click.option(
    "--feedback",
    type=TIME,
    help="Time from a slot until the sender can react to its loss; default: RTT + decoding time.",
)
@click.option("--share", type=click.IntRange(1), default=1, help="Keep every n-th slot only.")
@click.option("--offset", type=TIME, default=0, help='Start of the part to use, e.g. "30 s".')
@writes(
    "Write the link trace (one scheme only): .parquet, or .csv.",
    type=click.Path(path_type=Path, dir_okay=False),
)
@click.option(
    "--check",
    is_flag=True,
    help="Fit a two-state chain to the trace, and compare the trace with the model.",
)
@click.option("--json", "as_json", is_flag=True, help="JSON on stdout.")
@reading
def tmt(
    path: Path,
    schemes: tuple[str, ...],
    rtt: int | None,
    feedback: int | None,
    share: int,
    offset: int,
    output: Path | None,
    check: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Apply schemes to the PHY trace in PATH, with every slot in use."""
    from clift.report.link_text import table
    from clift.report.model_text import departed

    if output is not None and len(schemes) > 1:
        raise click.UsageError("--output needs exactly one --scheme")
    if output is not None and output.suffix not in (".parquet", ".csv"):
        raise click.UsageError(f"{output}: unknown suffix; use .parquet or .csv")
    check_apart([path], output)
    with busy(f"reading {path}"):
        phy = read_trace(path, **options)
        phy = phy.offset(offset) if offset else phy
        phy = phy.share(share) if share > 1 else phy
    rtt_ns = _rtt(phy) if rtt is None else rtt
    if phy.rtt_ns == 0 and 0 < rtt_ns <= 4 * phy.nominal_decoding_ns:
        click.echo(
            f"warning: --rtt {rtt_ns / 1e6:g} ms is added to the one-way delays in the trace "
            f"(median {phy.nominal_decoding_ns / 1e6:g} ms): if they are of the same path, the "
            "delay counts twice, so omit --rtt",
            err=True,
        )
    times: dict[str, Any] = {
        "rtt_ms": rtt_ns / 1e6,
        "feedback_ms": None if feedback is None else feedback / 1e6,
    }
    found: list[tuple[str, dict[str, Any]]] = []
    departures = []
    for scheme in schemes:
        with busy(f"applying {scheme}"):
            link = manager.apply(phy, scheme, **times)
            found.append((scheme, link.stats()))
            if check:
                departures.append(depart(phy, scheme, **times))
            if output is not None:
                link.core.write(output)
    if as_json:
        said = [{"scheme": scheme, **stats} for scheme, stats in found]
        for one, departure in zip(said, departures, strict=False):
            one["check"] = _departure_json(departure)
        click.echo(json.dumps(said, indent=2))
        return
    click.echo(table(found))
    if departures:
        click.echo("\n" + departed(schemes, departures, phy.slot_bytes is not None))


def _rtt(phy: PhyTrace) -> int:
    """Default round-trip time in ns, which is also printed to stderr."""
    measured = phy.rtt_ns
    rtt = USUAL_RTT_NS if measured is None else measured
    why = "default" if measured is None else "from the trace"
    click.echo(f"taken: --rtt {rtt / 1e6:g} ms ({why})", err=True)
    return rtt


def _departure_json(departure: Departure) -> dict[str, Any]:
    return {
        "alpha": departure.fit.alpha,
        "beta": departure.fit.beta,
        "shape": {
            name: {"chain": finite(chain), "trace": finite(trace)}
            for name, chain, trace in departure.shape
        },
        "metrics": {
            row.metric: {
                "model": finite(row.model),
                "trace": finite(row.simulated),
                "within": finite(row.within),
                "verdict": row.verdict,
            }
            for row in departure.rows
        },
    }
