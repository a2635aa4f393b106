"""CLIFT: TCP and QUIC over a physical-layer trace and a link-layer scheme.

>>> import clift
>>> phy = clift.channel.gilbert_elliott(slots=100_000, alpha=0.99, beta=0.5, seed=1)
>>> link = clift.tmt.apply(phy, clift.Arq(), rtt_ms=500)
>>> run = clift.simulate(link, transport="cubic", duration_s=60)
>>> run.goodput_kbps > 0
True
"""

import clift._starting as _starting  # noqa: F401 - first, so that Ctrl-C works during the imports
import clift.campaign as campaign
import clift.channel as channel
import clift.constellation as constellation
import clift.model as model
import clift.tmt as tmt
from clift._clift import __version__
from clift.advise.study import advise
from clift.design.study import design
from clift.errors import (
    CliftError,
    Interrupted,
    OutOfMemory,
    ScenarioError,
    SimulationError,
    TraceError,
)
from clift.imports import read_log
from clift.link import deliver
from clift.link_trace import LinkTrace
from clift.live import AdaptiveHarqLink, HybridLink, LiveLink, NtnLink
from clift.logs import import_captures, import_modem, import_ping, import_series
from clift.memory import memory_limit
from clift.own import (
    load_plugin,
    register_application,
    register_carrier_scheduler,
    register_congestion,
    register_path_scheduler,
    register_queue,
    register_scheme,
)
from clift.reorder import Reorder
from clift.scenario import Scenario
from clift.scheme import Arq, Fec, Harq2, NoScheme
from clift.simulation import Run, run_many, simulate
from clift.trace import PhyTrace, read_trace

__all__ = [
    "AdaptiveHarqLink",
    "Arq",
    "CliftError",
    "Fec",
    "Harq2",
    "HybridLink",
    "Interrupted",
    "LinkTrace",
    "LiveLink",
    "NoScheme",
    "NtnLink",
    "OutOfMemory",
    "PhyTrace",
    "Reorder",
    "Run",
    "Scenario",
    "ScenarioError",
    "SimulationError",
    "TraceError",
    "__version__",
    "advise",
    "campaign",
    "channel",
    "constellation",
    "deliver",
    "design",
    "import_captures",
    "import_modem",
    "import_ping",
    "import_series",
    "load_plugin",
    "memory_limit",
    "model",
    "read_log",
    "read_trace",
    "register_application",
    "register_carrier_scheduler",
    "register_congestion",
    "register_path_scheduler",
    "register_queue",
    "register_scheme",
    "run_many",
    "simulate",
    "tmt",
]
