"""Live links: link layers that carry the traffic of a run."""

from clift.live.base import AnyLink, Live
from clift.live.links import AdaptiveHarqLink, HybridLink, LiveLink, NtnLink

__all__ = ["AdaptiveHarqLink", "AnyLink", "HybridLink", "Live", "LiveLink", "NtnLink"]
