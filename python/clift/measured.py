"""Traces at a path: in a file, in both directions of a probe file, or in a folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import clift._clift as _clift
from clift.errors import TraceError
from clift.trace import PhyTrace, read_trace

PROBE_COLUMNS = ("uplink", "downlink", "up_delay_ms", "down_delay_ms")


@dataclass(frozen=True)
class Source:
    """A trace to read.

    Attributes:
        name: Display name.
        path: The file.
        options: Keyword arguments of `clift.read_trace`.
    """

    name: str
    path: Path
    options: dict[str, Any] = field(default_factory=dict)

    def read(self) -> PhyTrace:
        """Read the trace."""
        return read_trace(self.path, **self.options)


def sources(path: Path, **options: Any) -> list[Source]:
    """List the traces at `path`.

    A file of probes or irtt without a direction holds two traces. In a folder, the function lists
    native files, Parquet, mahimahi, probes (by header), and, if `interval_ms` is given,
    pairs of files whose names differ in `_delay` and `_loss`. It skips other files.

    Args:
        path: A file or a folder.
        options: Keyword arguments of `clift.read_trace`; in a folder, each file uses those that
            fit.

    Raises:
        TraceError: If a folder holds no trace, or a suffix does not determine the format.
    """
    if not path.exists():
        raise TraceError(f"{path}: no such file or folder")
    if not path.is_dir():
        return list(_both_ways(path.name, path, options))
    found = [source for file in sorted(path.iterdir()) for source in _sniffed(file, options)]
    if not found:
        raise TraceError(
            f"{path}: no trace found in this folder; "
            "give a file, and its format if the suffix does not determine it"
        )
    return found


def _both_ways(name: str, path: Path, options: dict[str, Any]) -> Iterator[Source]:
    if options.get("direction") is not None or not _is_two_way(path, options.get("format")):
        yield Source(name, path, options)
        return
    for direction in ("up", "down"):
        yield Source(f"{name} {direction}", path, options | {"direction": direction})


def _is_two_way(path: Path, given: str | None) -> bool:
    """Whether a file holds a trace for each direction."""
    if given is None and path.suffix == ".json":
        with suppress(TraceError):
            given = _clift.format_of(path)
    return given in ("probes", "irtt")


def _sniffed(path: Path, options: dict[str, Any]) -> Iterator[Source]:
    if not path.is_file() or path.name.startswith("."):
        return
    losses = path.with_name(path.name.replace("_delay", "_loss"))
    common = {key: options[key] for key in ("lldu_bytes",) if key in options}
    probing = common | {key: options[key] for key in ("direction", "rate_kbps") if key in options}
    if losses != path and losses.is_file():
        if options.get("interval_ms") is not None:
            pair = {"format": "delay-loss", "losses": losses, "interval_ms": options["interval_ms"]}
            probing.pop("direction", None)
            yield Source(path.name, path, probing | pair)
        return
    match _kind(path):
        case "probes":
            yield from _both_ways(path.name, path, probing | {"format": "probes"})
        case None:
            return
        case format:
            yield Source(path.name, path, common | {"format": format})


def _kind(path: Path) -> str | None:
    try:
        named = _clift.format_of(path)
    except TraceError:
        named = None
    if named in ("parquet", "mahimahi"):
        return named
    if named != "text":
        return None
    with path.open("rb") as file:
        start = file.read(1 << 14).decode(errors="replace")
    header = next((line for line in start.splitlines() if not line.startswith("#")), "")
    names = [name.strip() for name in header.split(",")]
    if names[0] == "t_ns":
        return "text"
    return "probes" if any(name in PROBE_COLUMNS for name in names) else None
