"""Live links: link layers that run with their traffic (DESIGN section 5)."""

from clift.live.base import AnyLink, Live
from clift.live.hybrid import HybridLink

__all__ = ["AnyLink", "HybridLink", "Live"]
