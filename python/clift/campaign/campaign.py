"""A campaign as one object: its runs, estimates, tables and plots."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

import clift._parse as _parse
from clift._bar import bar
from clift._words import counted
from clift.campaign import record
from clift.campaign.conclusion import Verdict, compared_axes, conclude, verdicts
from clift.campaign.metrics import is_metric
from clift.campaign.record import as_dict
from clift.campaign.results import DRAWN_CELLS, Cell, Results
from clift.campaign.runner import planned, run_campaign
from clift.campaign.statistics import Estimate
from clift.campaign.tables import NAMES, tables
from clift.errors import Interrupted, ScenarioError
from clift.report.text import report
from clift.scenario import Scenario
from clift.simulation import chosen, data_frame

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


class Campaign:
    """The runs of every cell of a scenario, measured and compared. `clift.campaign.run` makes it.

    Example:
        >>> import clift
        >>> phy = clift.channel.bernoulli(slots=20_000, p=0.02, seed=1)
        >>> vary = {"transport.congestion": ["newreno", "cubic"]}
        >>> link = clift.tmt.apply(phy, clift.Arq())
        >>> campaign = clift.campaign.run(link, duration_s=10, vary=vary, progress=False)
        >>> [cell.labels for cell in campaign.cells]
        [{'congestion': 'newreno'}, {'congestion': 'cubic'}]
        >>> campaign.estimates("goodput_kbps")[0].runs
        1
        >>> campaign.table("runs").num_rows
        2
        >>> campaign.conclusion
        'No alternative is called best from a single run; ask for more (--runs).'
    """

    __slots__ = ("_tables", "results", "scenario")

    scenario: Scenario
    results: Results

    def __init__(self, scenario: Scenario, results: Results) -> None:
        self.scenario = scenario
        self.results = results
        self._tables: dict[str, pa.Table] = {}

    @property
    def cells(self) -> Sequence[Cell]:
        """The cells, each with its labels and the numbers of its runs.

        Beyond 10,000 cells, each is created on access.
        """
        return self.results.cells

    @property
    def conclusion(self) -> str:
        """Best alternative per condition, with gain and cost; empty without alternatives."""
        return conclude(self.results)

    @property
    def verdicts(self) -> list[Verdict]:
        """The conclusion as one verdict per condition."""
        return verdicts(self.results)

    def estimates(self, metric: str) -> list[Estimate | None]:
        """Mean, interval, median and 95th percentile of a metric in each cell.

        Args:
            metric: Its name, e.g. `goodput_kbps` or `links.0.share_used`.

        Returns:
            One estimate per cell; None if no run has the metric.

        Raises:
            ScenarioError: If the metric does not exist.
        """
        if not is_metric(metric):
            cure = "no such metric; give e.g. completion_s, goodput_kbps or timeouts"
            raise ScenarioError(f"metric = {metric!r}: {cure}")
        return [cell.estimate(metric) for cell in self.cells]

    def table(self, name: str = "summary") -> pa.Table:
        """A table of the results folder.

        Args:
            name: `summary` (a row a cell and metric), `runs` (a row a run), `series` (over time),
                `delays` (histograms), `sequence` (segments around the loss that mattered most, of
                kinds as in `Run.events`) or `units` (of live links around a loss and its repair, of
                kinds as in `Run.units`); the last four of the first run of each cell.

        Raises:
            ScenarioError: If the table does not exist.
        """
        if name not in NAMES:
            raise ScenarioError(f"name = {name!r}: give one of {', '.join(NAMES)}")
        if name not in self._tables:
            self._tables |= tables(self.results, self.scenario, [name])
        return self._tables[name]

    def to_pandas(self, name: str = "runs") -> pd.DataFrame:
        """The same as a data frame of pandas, which has to be installed.

        Args:
            name: As for `table`.

        Raises:
            ScenarioError: If the table does not exist, or pandas is not installed.
        """
        return data_frame(self.table(name))

    def plot(self, name: str | None = None) -> Figure:
        """A picture.

        Args:
            name: A metric, drawn with its intervals beside what a paper prints; or a picture of
                the results folder, e.g. `cwnd` or `delay-cdf`. What the first cell is judged by
                unless given.

        Raises:
            ScenarioError: If the picture does not exist.
        """
        from clift.report import comparison

        name = self.cells[0].primary if name is None else name
        if is_metric(name):
            return comparison.draw(self.results.shown(DRAWN_CELLS), name)
        names = []
        for title, figure in self.plots():
            if title == name:
                return figure
            names.append(title)
        raise ScenarioError(f"name = {name!r}: give a metric, or one of {', '.join(names)}")

    def plots(self) -> Iterator[tuple[str, Figure]]:
        """Every picture of the results folder with its name, one after the other."""
        from clift.report import figures

        yield from figures.draw(self.results, self.scenario, self.table)

    def save(self, folder: str | os.PathLike[str], plots: bool = True) -> list[Path]:
        """Write tables, a record and plots, as `clift run -o` does.

        Args:
            folder: Output folder; created if missing. Files of an earlier campaign are removed.
            plots: If True, draw the plots.

        Returns:
            The files.

        Raises:
            ScenarioError: If they cannot be written.
        """
        where = Path(folder)
        record.prepare(where)
        files = list(record.write(self.results, self.scenario, where))
        if plots:
            files += record.draw(self.results, self.scenario, where)
        return files

    def report(
        self, path: str | os.PathLike[str], force: bool = False, figures: bool = False
    ) -> list[Path]:
        """Write the report page, as `clift report` does.

        Args:
            path: The page, a self-contained HTML file.
            force: If True, overwrite files that this method did not write.
            figures: If True, write every figure as SVG and PDF beside it, in a folder of the
                page's name without its suffix.

        Returns:
            The files.

        Raises:
            ScenarioError: If there is another file of that name, or it cannot be written.

        Example:
            >>> import pathlib, tempfile
            >>> import clift
            >>> phy = clift.channel.bernoulli(slots=20_000, p=0.02, seed=1)
            >>> link = clift.tmt.apply(phy, clift.Arq())
            >>> campaign = clift.campaign.run(link, duration_s=5, progress=False)
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     [page] = campaign.report(pathlib.Path(folder, "report.html"))
            ...     page.read_text()[:15]
            '<!doctype html>'
        """
        from clift.report.page import study, write

        page, made = Path(path), study.of(self)
        write.check(page, write.is_ours, force)
        drawn: list[Path] = []
        if figures:
            from clift.report import paper

            folder = page.with_suffix("") if page.suffix else Path(f"{page}-figures")
            drawn = paper.write(made, folder, force)
        runs = write.write(made, page, force)
        return [page, *([] if runs is None else [runs]), *drawn]

    def as_dict(self) -> dict[str, Any]:
        """The JSON object of `clift run --json`, as a dict."""
        return as_dict(self.results, self.scenario)

    def __str__(self) -> str:
        return report(self.results)

    def __repr__(self) -> str:
        done, wanted = self.results.done, self.results.wanted
        part = "" if done == wanted else f"{done} of "
        runs = part + counted(wanted, "run")
        return f"Campaign({self.results.title!r}: {counted(len(self.cells), 'cell')}, {runs})"

    def _repr_html_(self) -> str:
        from clift.report.notebook import html

        return html(self.results)


def run(
    scenario: Any,
    threads: int | None = None,
    progress: bool = True,
    margin: float = _parse.MARGIN,
    compare: Sequence[str] = (),
    **options: Any,
) -> Campaign:
    """Run every replication of every cell of a scenario.

    Args:
        scenario: What `clift.simulate` takes: a `clift.Scenario`, the path of a scenario file, a
            dict with its sections and keys, or links.
        threads: Number of parallel runs; default: all cores.
        progress: Whether to show a bar on a terminal.
        margin: Share within which alternatives are called equal.
        compare: Names of the axes whose combinations are compared, e.g. `["scheme"]`, under each
            point of the others. All that somebody can choose unless given.
        options: Keyword arguments of `clift.simulate`, and dotted keys of a scenario file; with
            a scenario they change it: `runs=20`, `**{"link.rtt": "600 ms"}`.

    Returns:
        The campaign.

    Raises:
        ScenarioError: If the scenario is wrong, a trace cannot be read, or an axis does not vary.
        SimulationError: If a run cannot go on.
        Interrupted: On Ctrl-C before a run was done; later ones are kept in the campaign.

    Example:
        >>> import clift
        >>> scenario = clift.Scenario.parse('''
        ... duration = "20 s"
        ... [channel]
        ... model = "bernoulli"
        ... erasures = "2 %"
        ... rate = "263 kbit/s"
        ... ''')
        >>> campaign = clift.campaign.run(scenario, progress=False, runs=8)
        >>> campaign.estimates("goodput_kbps")[0].runs
        8
    """
    if threads is not None:
        threads = _parse.whole("threads", threads, 1, 10_000, ", or None for all cores")
    made = chosen(scenario, dict(options))
    results = planned(made, made.cells())
    results.margin = _parse.number("margin", margin, 0.0, 1.0)
    asked = compare if isinstance(compare, list | tuple) else [compare]
    results.compare = tuple(_parse.text("compare", name, "names of axes") for name in asked)
    compared_axes(results)
    return measured(made, results, progress, threads=threads)


def measured(scenario: Scenario, results: Results, progress: bool, **how: Any) -> Campaign:
    """Run what is planned, with a bar, as `run_campaign` does.

    Raises:
        Interrupted: On Ctrl-C before a run was done.
    """
    with bar(scenario.name or "running", results.wanted if progress else 0) as watch:
        run_campaign(scenario, watch, results=results, **how)
    if not results.done:
        raise Interrupted("stopped before a run had finished", [])
    return Campaign(scenario, results)
