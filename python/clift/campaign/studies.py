"""Studies in results folders, from Python."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import clift._parse as _parse
from clift.campaign.campaign import Campaign, measured
from clift.campaign.folder import refuse_foreign
from clift.campaign.runner import planned
from clift.campaign.store import open_store
from clift.simulation import chosen


def sweep(
    scenario: Any,
    folder: str | os.PathLike[str],
    threads: int | None = None,
    progress: bool = True,
    until_halfwidth: float | None = None,
    scheduler: str | None = None,
    force: bool = False,
    **options: Any,
) -> Campaign:
    """Run the missing runs of a study, and save every batch of runs when it ends.

    A repeated call continues an interrupted study; with more runs or further points of an axis, it
    runs the new ones. Several processes may work in one folder at a time.

    Args:
        scenario: What `clift.simulate` takes: a `clift.Scenario`, the path of a scenario file, a
            dict with its sections and keys, or links.
        folder: The results folder. `Campaign.save` writes tables and plots into it.
        threads: Number of parallel runs; default: all cores.
        progress: Whether to show a bar on a terminal.
        until_halfwidth: A cell stops when half its 95 % interval is within this share of its mean,
            e.g. 0.02, corrected for repeated looks; `runs` is the maximum.
        scheduler: Address of a Dask scheduler whose workers do the runs, e.g. `tcp://host:8786`.
        force: Whether runs of another study are removed from the folder.
        options: Keyword arguments of `clift.simulate`, and dotted keys of a scenario file.

    Returns:
        The campaign.

    Raises:
        ScenarioError: If the scenario is wrong, a trace cannot be read, or the folder holds another
            study or cannot be written.
        SimulationError: If a run cannot go on; the runs before are kept.
        Interrupted: On Ctrl-C before a run was done; later ones are kept in folder and campaign.

    Example:
        >>> import tempfile
        >>> import clift
        >>> phy = clift.channel.bernoulli(slots=20_000, p=0.02, seed=1)
        >>> link = clift.tmt.apply(phy, clift.Arq())
        >>> # One trace from its start: nothing is drawn, so that one run a cell is all there is.
        >>> vary = {"transport.congestion": ["newreno", "cubic"]}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     study = clift.campaign.sweep(link, folder, duration_s=5, vary=vary, runs=2)
        ...     more = clift.campaign.sweep(link, folder, duration_s=5, vary=vary, runs=3)
        >>> [len(cell.values) for cell in more.cells]
        [1, 1]
    """
    made = chosen(scenario, dict(options))
    where = Path(folder)
    if until_halfwidth is not None:
        until_halfwidth = _parse.number(
            "until_halfwidth", until_halfwidth, 1e-6, 1.0, "a share of the mean"
        )
    results = planned(made, made.cells())
    with open_store(where, made, force) as store:
        if not force:
            refuse_foreign(where)
        how = {"threads": threads, "until": until_halfwidth, "scheduler": scheduler}
        return measured(made, results, progress, store=store, **how)
