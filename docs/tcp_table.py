"""Writes the tables of docs/evidence/tcp-beside-ns2.md from what the tests measured.

`python docs/tcp_table.py` writes them; `--check` only reports whether they are up to date. The
tests `tcp_papers` and `table3` of `core` keep the two CSV files (`CLIFT_UPDATE=1` accepts new
results).
"""

from __future__ import annotations

import csv

from pages import ROOT, markdown, refresh

PAGE = ROOT / "docs" / "evidence" / "tcp-beside-ns2.md"
DATA = ROOT / "core" / "tests" / "data"
VARIANTS = ("newreno", "cubic", "hybla", "westwood", "compound")
SCHEMES = ("ARQ", "HARQ(10/12)", "HARQ(10/15)")


def rows(name: str) -> list[dict[str, str]]:
    """Reads a table of the tests."""
    with (DATA / name).open() as file:
        return list(csv.DictReader(file))


def goodput() -> str:
    """Formats goodput over independent loss: CLIFT's, and ns-2's where it differs."""
    cells = {
        (row["rate"], row["rtt_ms"], row["loss"], row["variant"]): row
        for row in rows("tcp_matrix.csv")
    }
    body = []
    for rate, rtt, loss in dict.fromkeys(key[:3] for key in cells):
        line = [f"{int(rate) / 1e6:g}", rtt, loss]
        for variant in VARIANTS:
            row = cells[rate, rtt, loss, variant]
            ours, theirs = float(row["clift_kbps"]), float(row["ns2_kbps"])
            same = row["runs"] == row["identical"]
            line.append(
                f"{ours:.0f}"
                if same
                else f"{ours:.0f} ({theirs:.0f}; {row['identical']}/{row['runs']})"
            )
        body.append(line)
    return markdown(["Mbit/s", "RTT, ms", "loss", *VARIANTS], body)


def transfers() -> str:
    """Formats table 3 of Kuhn 2014: CLIFT's times beside the printed ones."""
    cells = {(row["variant"], row["scheme"], row["esn0_db"]): row for row in rows("table3.csv")}
    decibels = list(dict.fromkeys(key[2] for key in cells))
    body = []
    for variant in VARIANTS:
        for scheme in SCHEMES:
            line = [variant, scheme]
            for db in decibels:
                row = cells[variant, scheme, db]
                line.append(f"{float(row['clift_s']):.1f} ({row['printed_s']})")
            body.append(line)
    return markdown(["variant", "scheme", *(f"{db} dB" for db in decibels)], body)


def main() -> None:
    """Writes or checks the page."""
    tables = {"goodput": goodput(), "transfers": transfers()}
    refresh(PAGE, {name: f"{table}\n" for name, table in tables.items()})


if __name__ == "__main__":
    main()
