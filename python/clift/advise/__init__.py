"""Advice: from a log of a link to the scheme and the transport to take.

The function is `clift.advise`; its parts are imported by their modules.
"""
