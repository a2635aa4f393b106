"""Live links: link layers that run with their traffic (DESIGN section 5)."""

from clift.live.base import AnyLink, Live
from clift.live.ntn import NtnLink

__all__ = ["AnyLink", "Live", "NtnLink"]
