"""Campaigns: the cells of a scenario file, run, measured and compared."""

from clift.campaign.campaign import Campaign, run
from clift.campaign.conclusion import Verdict, conclude, verdicts
from clift.campaign.results import Cell, Comparison, Results
from clift.campaign.runner import Watcher, run_campaign
from clift.campaign.statistics import Estimate
from clift.campaign.studies import sweep

__all__ = [
    "Campaign",
    "Cell",
    "Comparison",
    "Estimate",
    "Results",
    "Verdict",
    "Watcher",
    "conclude",
    "run",
    "run_campaign",
    "sweep",
    "verdicts",
]
