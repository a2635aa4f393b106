"""Writes link traces to files: t_ns, d_ns, lost_ns, transmissions."""

from __future__ import annotations

from pathlib import Path

from clift.link_trace import LinkTrace


def write(link: LinkTrace, path: Path) -> None:
    """Write a link trace, as a whole or not at all.

    Args:
        link: The link trace.
        path: A `.parquet` or `.csv` file.

    Raises:
        TraceError: If the file is not writable.

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
    link.core.write(path)
