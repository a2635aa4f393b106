"""CLIFT: what the physical layer of a satellite link did, and what TCP and QUIC feel."""

from clift._clift import __version__
from clift.errors import CliftError, ScenarioError, TraceError
from clift.trace import PhyTrace, read_trace

__all__ = [
    "CliftError",
    "PhyTrace",
    "ScenarioError",
    "TraceError",
    "__version__",
    "read_trace",
]
