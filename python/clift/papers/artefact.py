"""A table or figure of a paper: what describes it, what it measures, what came out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np

from clift.campaign.statistics import Estimate
from clift.errors import ScenarioError
from clift.papers.verdict import Verdict

Label = str | int | float
_Floats = np.ndarray[Any, np.dtype[np.float64]]
PROFILES = ("papers", "linux")
"""TCP stacks: that of ns-2, on which the papers built, and a Linux kernel's."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is simulated.

    Attributes:
        runs: Runs of each cell.
        duration_s: Simulated time of each.
        seed: Of the first run.
    """

    runs: int
    duration_s: float
    seed: int = 1

    @property
    def seeds(self) -> range:
        """The seeds of the runs.

        >>> list(Effort(2, 10, seed=5).seeds)
        [5, 6]
        """
        return range(self.seed, self.seed + self.runs)


@dataclass(frozen=True, slots=True)
class Row:
    """A number of a table, or a point of a figure.

    Attributes:
        labels: What tells it apart, e.g. the scheme.
        metric: What it is, its unit in the name.
        found: Mean over runs with its 95 % interval.
        printed: What the paper prints; None of a curve without numbers.
        fitted: Whether that was used in a fit, so that it counts for nothing.
        beside: Reference value in place of a printed one (`Artefact.reference`).
    """

    labels: dict[str, Label]
    metric: str
    found: Estimate
    printed: float | None = None
    fitted: bool = False
    beside: float | None = None

    @property
    def ratio(self) -> float | None:
        """Mean over the print, or over what stands in its place; None without either."""
        base = self.beside if self.printed is None else self.printed
        if base is None or base == 0:
            return None
        if self.metric == "success_percent":  # what matters is what fails
            return (100 - self.found.mean) / (100 - base)
        return self.found.mean / base


@dataclass(frozen=True, slots=True)
class Curve:
    """Something over time, of one run.

    Attributes:
        label: Which.
        panel: What is upwards, with its unit.
        time_s: Times in s.
        values: Values at them.
    """

    label: str
    panel: str
    time_s: Sequence[float] | _Floats
    values: Sequence[float] | _Floats


class Rows(list[Row]):
    """The rows of an artefact, found by their labels."""

    def at(self, metric: str, **labels: Label) -> Estimate:
        """The mean of the one row with these labels.

        Raises:
            ScenarioError: If there is none, or more than one.

        Example:
            >>> rows = Rows([Row({"scheme": "ARQ"}, "completion_s", Estimate(5.0, 0.1, 9))])
            >>> rows.at("completion_s", scheme="ARQ").mean
            5.0
        """
        found = list(self.select(metric, **labels))
        if len(found) != 1:
            where = ", ".join(f"{name} = {value}" for name, value in labels.items())
            raise ScenarioError(f"{metric} at {where}: {len(found)} rows, not one")
        return found[0].found

    def select(self, metric: str, **labels: Label) -> Iterable[Row]:
        """The rows of a metric with these labels."""
        for row in self:
            if row.metric == metric and labels.items() <= row.labels.items():
                yield row

    def values(self, label: str, metric: str | None = None) -> list[Any]:
        """The values of a label, each once, in their order."""
        rows = (row for row in self if metric in (None, row.metric))
        return list(dict.fromkeys(row.labels[label] for row in rows if label in row.labels))


@dataclass(frozen=True)
class Outcome:
    """What an artefact's function gives, for one TCP profile.

    Attributes:
        rows: What was measured.
        claims: What became of each claim, by its key.
        curves: Of an artefact over time.
    """

    rows: Rows
    claims: dict[str, Verdict]
    curves: list[Curve] = field(default_factory=list)


Measure = Callable[[Effort, str], Outcome]


@dataclass(frozen=True, slots=True)
class Claim:
    """What a paper says of an artefact.

    Attributes:
        key: Its name.
        says: What it says.
        where: Where the paper says so.
    """

    key: str
    says: str
    where: str


@dataclass(frozen=True)
class Artefact:
    """A table or figure of an evaluation.

    Attributes:
        paper: Name of the paper.
        name: `table 3`, `figure 5`.
        title: What it shows.
        where: Where the paper has it.
        claims: What the paper says of it.
        full: As much as the paper did, or enough for the intervals.
        reduced: Enough to see that it works.
        paper_s: Simulated time of the paper's runs; claims that fail in runs of less than half of
            it stay open.
        profiles: The TCP profiles it is run with; one, "papers", where there is no TCP.
        fitted: What of it was used in a fit, in words; empty if nothing was.
        gated: Whether it has to meet the gate on printed cells.
        x: Label on the axis of its plot.
        lines: Labels that tell lines of its plot apart.
        measure: Module and function that run it.
    """

    paper: str
    name: str
    title: str
    where: str
    claims: tuple[Claim, ...]
    full: Effort
    reduced: Effort
    paper_s: float
    profiles: tuple[str, ...]
    fitted: str
    gated: bool
    x: str
    lines: tuple[str, ...]
    measure: str

    @property
    def kind(self) -> str:
        """`table` or `figure`."""
        return self.name.split()[0]

    @property
    def number(self) -> int:
        """Its number in the paper."""
        return int(self.name.split()[1])

    @property
    def reference(self) -> str:
        """Source of the values in `Row.beside`."""
        return "the closed form" if self.measure.startswith("kuhn_model.") else "ns-2"

    def function(self) -> Measure:
        """Function that runs it.

        Raises:
            ScenarioError: If there is no such function.
        """
        module, _, name = self.measure.rpartition(".")
        found = getattr(import_module(f"clift.papers.{module}"), name, None)
        if found is None:
            raise ScenarioError(f"{self.paper}, {self.name}: no function {self.measure}")
        chosen: Measure = found
        return chosen


@dataclass(frozen=True)
class Result:
    """An artefact, run.

    Attributes:
        artefact: Which.
        effort: How much was simulated.
        outcomes: What came out, by TCP profile.
    """

    artefact: Artefact
    effort: Effort
    outcomes: Mapping[str, Outcome]

    def claims(self, profile: str) -> list[tuple[Claim, Verdict]]:
        """Each claim and what became of it.

        In runs of less than half the paper's length, which have not settled, a claim is not said to
        fail.
        """
        found = []
        settled = 2 * self.effort.duration_s >= self.artefact.paper_s
        for claim in self.artefact.claims:
            verdict = self.outcomes[profile].claims[claim.key]
            if not settled and verdict.holds is False:
                verdict = Verdict(None, f"{verdict.found} (short runs)")
            found.append((claim, verdict))
        return found


@dataclass(frozen=True)
class Paper:
    """A paper with its artefacts.

    Attributes:
        name: Its name on the command line.
        title: Its title.
        source: Authors, where it was published, and where to find it.
        about: What it is about, in a sentence or two.
        artefacts: Tables and figures of its evaluation.
    """

    name: str
    title: str
    source: str
    about: str
    artefacts: tuple[Artefact, ...]
