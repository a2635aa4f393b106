"""CLIFT: from a physical-layer trace, through a link-layer scheme, to what TCP feels."""

from clift import channel, tmt
from clift._clift import __version__
from clift.errors import CliftError, Interrupted, ScenarioError, SimulationError, TraceError
from clift.link_trace import LinkTrace
from clift.scheme import Arq, Fec, Harq2, NoScheme
from clift.trace import PhyTrace, read_trace

__all__ = [
    "Arq",
    "CliftError",
    "Fec",
    "Harq2",
    "Interrupted",
    "LinkTrace",
    "NoScheme",
    "PhyTrace",
    "ScenarioError",
    "SimulationError",
    "TraceError",
    "__version__",
    "channel",
    "read_trace",
    "tmt",
]
