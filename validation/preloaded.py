"""Loads what commands load, in a process from which `validation/kills.py` forks them."""

import clift.cli.main
import clift.cli.study
import clift.design.record
import clift.report.figures
import clift.report.page.write
import clift.report.paper  # noqa: F401
