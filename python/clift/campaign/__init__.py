"""Campaigns: the cells of a scenario file, run, measured and compared."""

from clift.campaign.conclusion import conclude
from clift.campaign.results import Cell, Comparison, Results
from clift.campaign.runner import Watcher, run_campaign
from clift.campaign.statistics import Estimate

__all__ = ["Cell", "Comparison", "Estimate", "Results", "Watcher", "conclude", "run_campaign"]
