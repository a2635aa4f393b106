"""The command line: argument parsing and messages only."""

from clift.cli.main import main

__all__ = ["main"]
