"""Shared by the scripts of the studies: their results, and the figure of the page."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pyarrow.parquet as parquet

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.figure import Figure

# The same study gives the same bytes.
mpl.rcParams["svg.hashsalt"] = "clift"


def folder() -> Path:
    """The results folder that the command line names."""
    if len(sys.argv) != 2:
        raise SystemExit(sys.modules["__main__"].__doc__)
    return Path(sys.argv[1])


def rows(results: Path, table: str = "runs") -> list[dict[str, Any]]:
    """The rows of a table of a results folder."""
    found: list[dict[str, Any]] = parquet.read_table(results / f"{table}.parquet").to_pylist()
    return found


def save(figure: Figure, path: Path) -> None:
    """Writes a figure, without the date."""
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
