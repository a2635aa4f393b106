"""What was measured once and is kept: a CSV file for each comparison, beside its module."""

from __future__ import annotations

import csv
import platform
from collections.abc import Iterable, Mapping
from pathlib import Path

SATELLITE = """
scheme = "{scheme}"
[link]
rtt = "{rtt}"
queue = "{queue} packets"
[channel]
model = "gilbert-elliott"
erasures = "1.5 %"
burst = 4
rate = "{rate}"
lldu = "250 B"
decoding = "1 ms"
"""
"""The satellite link of several comparisons."""


def read(path: Path) -> list[dict[str, str]]:
    """The rows of a file, without its comments; none if nothing was measured."""
    if not path.exists():
        return []
    lines = path.read_text().splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def write(path: Path, rows: Iterable[Mapping[str, object]], about: str = "") -> None:
    """Write rows of the same keys, below a comment.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(Path(folder, "x.csv"), [{"seed": 1, "goodput_kbps": 2.5}], "on this machine")
    ...     read(Path(folder, "x.csv"))
    [{'seed': '1', 'goodput_kbps': '2.5'}]
    """
    rows = list(rows)
    with path.open("w", newline="") as file:
        if about:
            file.write(f"# {about}\n")
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def release() -> str:
    """Version of this machine's kernel, e.g. `6.18.5`."""
    return platform.release().split("-")[0]
