"""What the papers print, as parameter files, and what regenerates it."""

ALIASES = {"leo2014": "tauran2017"}
"""Earlier names of a paper; they stay valid, and the help leaves them out."""
