"""Live links: link layers that run with their traffic (DESIGN section 5)."""

from clift.live.adaptive_harq import AdaptiveHarqLink
from clift.live.base import AnyLink, Live
from clift.live.hybrid import HybridLink
from clift.live.ntn import NtnLink
from clift.live.scheme import LiveLink

__all__ = ["AdaptiveHarqLink", "AnyLink", "HybridLink", "Live", "LiveLink", "NtnLink"]
