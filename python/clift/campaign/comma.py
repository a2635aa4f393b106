"""The runs of a campaign as text that other programs read."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.csv

from clift.campaign.results import Results
from clift.campaign.tables import tables
from clift.scenario import Scenario


def rows_text(results: Results, scenario: Scenario) -> str:
    """A row a run, cell by cell and by number; nothing in it is of the time of day.

    Args:
        results: What was measured.
        scenario: What of.
    """
    return text(tables(results, scenario, ["runs"])["runs"])


def text(table: pa.Table) -> str:
    """A table as comma-separated text, with a first line of names.

    Example:
        >>> text(pa.table({"scheme": ["a, b"], "run": [0], "goodput_kbps": [None]})).splitlines()
        ['scheme,run,goodput_kbps', '"a, b",0,']
    """
    sink = pa.BufferOutputStream()
    options = pyarrow.csv.WriteOptions(include_header=False, quoting_style="needed")
    pyarrow.csv.write_csv(table, sink, options)
    names = ",".join(_quoted(name) for name in table.column_names)
    rows: bytes = sink.getvalue().to_pybytes()
    return f"{names}\n{rows.decode()}"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if set(name) & set(',"\r\n') else name
