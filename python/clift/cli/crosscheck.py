"""`clift crosscheck`: one scenario in every available host."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from clift._words import counted
from clift.cli.options import changing
from clift.report.text import aligned
from clift.scenario import Scenario


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@changing
@click.option(
    "--hosts",
    default="engine,ns2,ns3,live",
    show_default=True,
    help="Hosts to use, separated by commas.",
)
@click.option("--json", "as_json", is_flag=True, help="JSON on stdout.")
def crosscheck(path: Path, changes: dict[str, str], hosts: str, as_json: bool) -> None:
    """Run the scenario file PATH in CLIFT's engine, ns-2, ns-3 and this machine's kernel.

    The table has one row per host; stderr names the hosts that are not available. The kernel runs
    in real time.
    """
    from clift.hosts.crosscheck import HOSTS
    from clift.hosts.crosscheck import crosscheck as check

    chosen = tuple(name.strip() for name in hosts.split(","))
    if unknown := [name for name in chosen if name not in HOSTS]:
        raise click.UsageError(f"--hosts {unknown[0]}: unknown host; use {', '.join(HOSTS)}")
    scenario = Scenario.read(path, changes)
    found = check(scenario, chosen, lambda line: click.echo(line, err=True))
    click.echo(json.dumps({"hosts": found}, indent=2) if as_json else _table(found))


_COLUMNS = {
    "goodput_kbps": "goodput (kbit/s)",
    "fairness": "fairness",
    "completion_s": "completion (s)",
    "retransmissions": "retransmissions",
    "timeouts": "timeouts",
    "delay_ms": "link delay (ms)",
}


def _table(found: dict[str, dict[str, Any]]) -> str:
    """The table of hosts, and below it the first difference and whether packet fates agree."""
    shown = {name: title for name, title in _COLUMNS.items() if _is_there(found, name)}
    rows = [["host", "TCP", *shown.values()]]
    for host, one in found.items():
        rows.append([host, one["tcp"], *(_number(one[name]) for name in shown)])
    lines = [aligned(rows, left=2)]
    for host, one in found.items():
        if (fates := one["fates"]) is not None:
            agree = "all equal to those of the link alone" if fates["agree"] else fates["first"]
            lines.append(f"{host}: fates of {counted(fates['packets'], 'packet')}: {agree}")
        if (parts := one["parts"]) is not None:
            where = f"data packet {parts['packet']}, {parts['at_s']:.6f} s"
            engine = "engine_papers" if host == "ns2" and "engine_papers" in found else "engine"
            lines.append(f"{host}: first differs from {engine} at {where}: {parts['why']}")
    return "\n".join(lines)


def _is_there(found: dict[str, dict[str, Any]], name: str) -> bool:
    return any(one[name] is not None for one in found.values())


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return str(value) if isinstance(value, int) else f"{value:.4g}"
