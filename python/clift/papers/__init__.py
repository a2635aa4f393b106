"""Printed results of the papers, as parameter files, and the code that repeats them."""

ALIASES = {"leo2014": "tauran2017"}
"""Earlier names of papers. They remain valid; the help omits them."""
