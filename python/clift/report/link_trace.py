"""Link traces as files: t_ns, d_ns, lost_ns, transmissions."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pa_csv

from clift._atomic import replacing
from clift.errors import TraceError
from clift.link_trace import LinkTrace
from clift.parquet import write_columns


def write(link: LinkTrace, path: Path) -> None:
    """Writes a link trace, whole or not at all.

    Args:
        link: The link trace.
        path: A `.parquet` or `.csv` file.

    Raises:
        TraceError: If it cannot be written.

    Example:
        >>> import pathlib, tempfile
        >>> import clift
        >>> phy = clift.PhyTrace([0, 10, 20], [5, 0, 5])
        >>> folder = tempfile.TemporaryDirectory()
        >>> path = pathlib.Path(folder.name, "link.csv")
        >>> write(clift.tmt.apply(phy, "ARQ", rtt_ms=0), path)
        >>> print(path.read_text(), end="")
        t_ns,d_ns,lost_ns,transmissions
        0,5,0,1
        10,15,0,2
        >>> folder.cleanup()
    """
    names = ("t_ns", "d_ns", "lost_ns", "transmissions")
    columns = {name: getattr(link, name) for name in names}
    if path.suffix != ".csv":
        keys = {
            "clift-link-trace": "1",
            "lldu_bytes": str(link.lldu_bytes),
            "rtt_ns": str(link.rtt_ns),
        }
        write_columns(path, columns, keys)
        return
    try:
        with replacing(path) as out:
            out.write((",".join(names) + "\n").encode())
            pa_csv.write_csv(pa.table(columns), out, pa_csv.WriteOptions(include_header=False))
    except (OSError, pa.ArrowException) as error:
        reason = getattr(error, "strerror", None) or error
        raise TraceError(f"{path}: cannot be written: {reason}; choose another place") from None
