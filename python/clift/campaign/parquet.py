"""Parquet files, read without threads.

Arrow's threads may still hold pieces of a Python file after the read. If Python ends meanwhile, a
thread that lets go of a piece aborts the process, even after success.
"""

from __future__ import annotations

from typing import IO

import pyarrow as pa
import pyarrow.parquet as pq


def table(content: IO[bytes], last: str = "") -> pa.Table:
    """The table in a file.

    Args:
        content: The file, open to read.
        last: Last column to read; default: all.

    Example:
        >>> import io
        >>> out = io.BytesIO()
        >>> pq.write_table(pa.table({"run": [0], "seed": [1], "mos": [4.0]}), out)
        >>> table(out, last="seed").column_names
        ['run', 'seed']
    """
    # Not through Arrow's data sets, which would take folder names for columns. With `pre_buffer`
    # a thread reads ahead, even where `use_threads` is off.
    file = pq.ParquetFile(content, pre_buffer=False)
    columns = file.schema_arrow.names
    end = columns.index(last) + 1 if last in columns else len(columns)
    return file.read(columns[:end], use_threads=False)
