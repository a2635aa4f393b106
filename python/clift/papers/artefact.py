"""A table or figure of a paper: description, measurement and results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from clift._arrays import Floats
from clift.campaign.statistics import Estimate
from clift.errors import ScenarioError
from clift.papers.verdict import Verdict

Label = str | int | float
PROFILES = ("papers", "linux")
"""TCP stacks: that of ns-2, on which the papers built, and a Linux kernel's."""


@dataclass(frozen=True, slots=True)
class Effort:
    """Amount of simulation.

    Attributes:
        runs: Runs of each cell.
        duration_s: Simulated time of each.
        seed: Seed of the first run.
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
        labels: Labels that identify it, e.g. the scheme.
        metric: Name of the metric, with its unit.
        found: Mean over runs with its 95 % interval.
        printed: Printed value; None for a curve without numbers.
        fitted: True if a fit used the printed value; it then does not count.
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
        """Mean divided by the printed value or the reference; None without either."""
        base = self.beside if self.printed is None else self.printed
        if base is None or base == 0:
            return None
        if self.metric == "success_percent":  # Success rates near 100 % differ by their failures.
            return (100 - self.found.mean) / (100 - base)
        return self.found.mean / base


@dataclass(frozen=True, slots=True)
class Curve:
    """A quantity over time in one run.

    Attributes:
        label: Name of the curve.
        panel: Quantity on the vertical axis, with its unit.
        time_s: Times in s.
        values: Values at them.
    """

    label: str
    panel: str
    time_s: Sequence[float] | Floats
    values: Sequence[float] | Floats


class Rows(list[Row]):
    """The rows of an artefact, found by their labels."""

    def at(self, metric: str, **labels: Label) -> Estimate:
        """The mean of the one row with these labels.

        Raises:
            ScenarioError: Unless exactly one row matches.

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
    """Results of an artefact under one TCP profile.

    Attributes:
        rows: The measured values.
        claims: Verdict on each claim, by its key.
        curves: Curves of an artefact over time.
    """

    rows: Rows
    claims: dict[str, Verdict]
    curves: list[Curve] = field(default_factory=list)


Measure = Callable[[Effort, str], Outcome]


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement of a paper about an artefact.

    Attributes:
        key: Short name.
        says: The statement.
        where: Section of the paper.
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
        title: Description.
        where: Section of the paper.
        claims: Statements of the paper about it.
        full: As many runs as in the paper, or enough for the intervals.
        reduced: Enough runs to see that it works.
        paper_s: Simulated time of the paper's runs. In runs shorter than half of it no claim fails.
        profiles: The TCP profiles to run; only "papers" for an artefact without TCP.
        lines: Labels that identify a line of its plot.
        measure: Module and function that run it.
        fitted: Values that a fit used, in words; empty without a fit.
        gated: True if it must meet the gate on printed cells.
        x: Label on the axis of its plot.
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
    lines: tuple[str, ...]
    measure: str
    fitted: str = ""
    gated: bool = False
    x: str = ""

    @property
    def kind(self) -> str:
        """`table` or `figure`."""
        return self.name.split()[0]

    @property
    def number(self) -> int:
        """Its number in the paper."""
        return int(self.name.split()[1])

    @property
    def is_of_model(self) -> bool:
        """True if a closed form is evaluated at points, rather than TCP run."""
        return self.measure.startswith("kuhn_model.")

    @property
    def reference(self) -> str:
        """Source of the values in `Row.beside`."""
        return "the closed form" if self.is_of_model else "ns-2"

    def function(self) -> Measure:
        """Function that runs it.

        Raises:
            ScenarioError: If the function does not exist.
        """
        module, _, name = self.measure.rpartition(".")
        found = getattr(import_module(f"clift.papers.{module}"), name, None)
        if found is None:
            raise ScenarioError(f"{self.paper}, {self.name}: no function {self.measure}")
        chosen: Measure = found
        return chosen


@dataclass(frozen=True)
class Result:
    """Results of an artefact.

    Attributes:
        artefact: The table or figure.
        effort: Amount of simulation.
        outcomes: Results by TCP profile.
    """

    artefact: Artefact
    effort: Effort
    outcomes: Mapping[str, Outcome]

    @property
    def first(self) -> Outcome:
        """That of the first profile: all of them have the same rows, with other means."""
        return next(iter(self.outcomes.values()))

    @property
    def is_open(self) -> bool:
        """True if more runs could decide a claim."""
        return any(
            verdict.holds is None for one in self.outcomes for _, verdict in self.claims(one)
        )

    def claims(self, profile: str) -> list[tuple[Claim, Verdict]]:
        """Each claim with its verdict.

        Runs shorter than half the paper's have not settled, so no claim fails in them.
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
        about: Summary in a sentence or two.
        artefacts: Tables and figures of its evaluation.
    """

    name: str
    title: str
    source: str
    about: str
    artefacts: tuple[Artefact, ...]
