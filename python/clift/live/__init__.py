"""Live links: link layers that run with their traffic (DESIGN section 5)."""

from clift.live.base import AnyLink, Live
from clift.live.scheme import LiveLink

__all__ = ["AnyLink", "Live", "LiveLink"]
