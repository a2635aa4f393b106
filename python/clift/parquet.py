"""Traces in Parquet: int64 columns `t_ns`, `d_ns`, the keys of the text format as metadata.

Files are read row group by row group into the arrays that the trace then shares, and written from
its arrays without a copy, so that a trace fills memory once.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from clift._atomic import replacing
from clift.errors import TraceError
from clift.trace import PhyTrace

ROW_GROUP = 1 << 20
COLUMNS = ("t_ns", "d_ns")
NUMBERS = ("lldu_bytes", "decode_ns", "period_ns", "rtt_ns")
TEXTS = ("description", "source")


def read_trace(path: str | os.PathLike[str], lldu_bytes: int | None = None) -> PhyTrace:
    """Reads a trace from a Parquet file.

    Args:
        path: The file.
        lldu_bytes: Overrides the payload of a slot that the file gives.

    Returns:
        The trace. Keys of the file's metadata that are not ours are left out.

    Raises:
        TraceError: If it is no Parquet file, is cut, or does not hold a trace.

    Example:
        >>> import pathlib, tempfile
        >>> import clift
        >>> folder = tempfile.TemporaryDirectory()
        >>> path = pathlib.Path(folder.name, "x.parquet")
        >>> clift.PhyTrace([0, 5], [3, 0], lldu_bytes=40, source="lab").write(path)
        >>> phy = clift.read_trace(path)
        >>> phy, phy.source
        (PhyTrace(2 slots of 40 bytes), 'lab')
        >>> folder.cleanup()
    """
    try:
        with Path(path).open("rb") as source, _open(source) as file:
            _check_schema(file.schema_arrow)
            keys = _read_keys(file.schema_arrow.metadata or {})
            t_ns, d_ns = _read_columns(file)
        if lldu_bytes is not None:
            keys["lldu_bytes"] = lldu_bytes
        return PhyTrace(t_ns, d_ns, **keys)
    except (pa.ArrowException, OSError, EOFError) as error:
        raise TraceError(f"{path}: {_reason(error)}") from None
    except TraceError as error:
        raise TraceError(f"{path}: {error}") from None


def write_trace(phy: PhyTrace, path: str | os.PathLike[str]) -> None:
    """Writes a trace to a Parquet file, whole or not at all.

    Args:
        phy: The trace.
        path: Where to.

    Raises:
        TraceError: If it cannot be written. A file that was there before is then unchanged.
    """
    keys = {"clift-trace": "1"}
    for key in NUMBERS + TEXTS:
        value = getattr(phy, key)
        if value is not None:
            keys[key] = str(value)
    write_columns(path, {"t_ns": phy.t_ns, "d_ns": phy.d_ns}, keys)


def write_columns(
    path: str | os.PathLike[str],
    columns: Mapping[str, NDArray[Any]],
    metadata: Mapping[str, str],
) -> None:
    """Writes columns of equal length to a Parquet file, row group by row group.

    Args:
        path: Where to.
        columns: Name and values; numpy arrays, none is copied whole.
        metadata: Key and value pairs of the file.

    Raises:
        TraceError: If it cannot be written. A file that was there before is then unchanged.
    """
    rows = max((len(column) for column in columns.values()), default=0)
    parts = (
        {name: column[start : start + ROW_GROUP] for name, column in columns.items()}
        for start in range(0, max(rows, 1), ROW_GROUP)
    )
    write_parts(Path(path), parts, metadata)


def write_parts(
    path: Path,
    parts: Iterator[Mapping[str, NDArray[Any]]],
    metadata: Mapping[str, str],
) -> None:
    """Writes columns part by part as they are made, each part a row group.

    Args:
        path: Where to.
        parts: Name and values of each column, the same names and types in every part.
        metadata: Key and value pairs of the file.

    Raises:
        TraceError: If it cannot be written. A file that was there before is then unchanged.
    """
    first = next(parts)
    fields = [
        pa.field(name, pa.from_numpy_dtype(column.dtype), nullable=False)
        for name, column in first.items()
    ]
    schema = pa.schema(fields, metadata=dict(metadata))
    try:
        with (
            replacing(path) as out,
            pq.ParquetWriter(
                out,
                schema,
                compression="zstd",
                use_dictionary=False,
                # Times grow by the same few steps: this packs them far tighter than plain values.
                column_encoding={
                    name: "DELTA_BINARY_PACKED"
                    for name, column in first.items()
                    if column.dtype.kind == "i"
                },
            ) as writer,
        ):
            for part in chain([first], parts):
                arrays = [pa.array(column) for column in part.values()]
                batch = pa.record_batch(arrays, schema=schema)
                if batch.num_rows:
                    writer.write_batch(batch, row_group_size=ROW_GROUP)
    except (pa.ArrowException, OSError) as error:
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise TraceError(
            f"{path}: cannot be written: {reason}; what was there before is unchanged"
        ) from None


def _open(source: BinaryIO) -> pq.ParquetFile:
    """Opens a Parquet file to be read piece by piece: nothing is read ahead."""
    return pq.ParquetFile(source, pre_buffer=False, buffer_size=1 << 20)


def _check_schema(schema: pa.Schema) -> None:
    for name in COLUMNS:
        if schema.get_all_field_indices(name) == []:
            found = ", ".join(schema.names[:10]) or "none"
            raise TraceError(f"no column `{name}`; a trace has t_ns and d_ns, this has {found}")
        kind = schema.field(name).type
        if not pa.types.is_integer(kind):
            raise TraceError(f"column `{name}` holds {kind}; give whole nanoseconds as int64")


def _read_keys(metadata: Mapping[bytes, bytes]) -> dict[str, Any]:
    version = metadata.get(b"clift-trace", b"1")
    if version != b"1":
        raise TraceError(f"format version {version!r} is not known; this clift reads version 1")
    keys: dict[str, Any] = {}
    for key in NUMBERS:
        value = metadata.get(key.encode())
        if value is not None:
            if not value.isdigit():
                raise TraceError(f"{value!r} is no value for {key}; write an integer")
            keys[key] = int(value)
    for key in TEXTS:
        if (text := metadata.get(key.encode())) is not None:
            keys[key] = text.decode(errors="replace")
    return keys


def _read_columns(file: pq.ParquetFile) -> list[NDArray[np.int64]]:
    columns = [np.empty(file.metadata.num_rows, np.int64) for _ in COLUMNS]
    start = 0
    for batch in file.iter_batches(batch_size=ROW_GROUP, columns=list(COLUMNS)):
        for name, column in zip(COLUMNS, columns, strict=True):
            values = batch.column(batch.schema.get_field_index(name))
            if values.null_count:
                row = start + values.is_null().index(True).as_py()
                raise TraceError(f"row {row}: `{name}` is null; give 0 for erased, and no gaps")
            column[start : start + len(values)] = values.cast(pa.int64()).to_numpy()
        start += len(batch)
    for column in columns:
        column.flags.writeable = False
    return columns


def _reason(error: BaseException) -> str:
    """The first line of what Arrow or the system says, in words that help."""
    if isinstance(error, OSError) and error.strerror:
        return f"cannot be opened: {error.strerror}"
    message = str(error).splitlines()[0] if str(error) else type(error).__name__
    if "magic bytes" in message or "file size is" in message or "smaller than" in message:
        return "is no Parquet file, or its end is missing; copy it again or give another format"
    return f"is damaged or cannot be read: {message}"
