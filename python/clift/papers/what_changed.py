"""Kuhn 2014's link under TCP of 2014 and of today: which parts of a kernel turned its advice."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources

from clift._words import counted
from clift.campaign.results import Cell, Results
from clift.campaign.runner import Watcher, run_campaign
from clift.campaign.statistics import Estimate
from clift.errors import Interrupted, ScenarioError
from clift.scenario import Scenario

THEN, NOW = "of 2014", "of today"
STUDY = "what_changed.toml"


@dataclass(frozen=True)
class Effect:
    """What a stack does to a scheme.

    Attributes:
        stack: The stack, as the study calls it.
        mean: Goodput with it, kbit/s.
        share: Part of what separates the kernel of today from the TCP of 2014 that it gives up: 0
            does as well as the whole kernel, 1 as badly as the TCP of 2014.
    """

    stack: str
    mean: float
    share: float


@dataclass(frozen=True)
class Change:
    """The study, and what follows from it.

    Attributes:
        results: The campaign.
    """

    results: Results

    @property
    def stacks(self) -> list[str]:
        """The stacks in the order of the study."""
        return self._labels("tcp")

    @property
    def schemes(self) -> list[str]:
        """The schemes in the order of the study."""
        return self._labels("scheme")

    def cell(self, task: str, scheme: str, stack: str) -> Cell:
        """The runs of a scheme under a stack, for the task `bulk` or `page`."""
        wanted = {"task": task, "scheme": scheme, "tcp": stack}
        return next(cell for cell in self.results.cells if wanted.items() <= cell.labels.items())

    def value(self, task: str, scheme: str, stack: str) -> Estimate:
        """Goodput in kbit/s (`bulk`) or seconds until the page is there (`page`)."""
        cell = self.cell(task, scheme, stack)
        found = cell.estimate(cell.primary)
        if found is None:
            raise ScenarioError(f"{scheme} {stack}: no {task} was finished; give more runs")
        return found

    def printed(self, task: str, scheme: str) -> float | None:
        """What the paper prints of a scheme: IP packets received in kbit/s, or seconds."""
        wanted = {"task": task, "scheme": scheme}
        found = (one for one in self.results.printed if wanted.items() <= one["where"].items())
        return next((one["value"] for one in found), None)

    def best(self, task: str, stack: str) -> str:
        """The scheme with the best mean under a stack."""
        sign = 1 if task == "bulk" else -1
        return max(self.schemes, key=lambda scheme: sign * self.value(task, scheme, stack).mean)

    def effects(self, scheme: str) -> list[Effect]:
        """What the kernel loses without some of its parts, the most harmful first.

        Without all of them comes last.
        """
        then, now = (self.value("bulk", scheme, stack).mean for stack in (THEN, NOW))
        found = []
        for stack in self.stacks:
            if stack not in (THEN, NOW):
                mean = self.value("bulk", scheme, stack).mean
                found.append(Effect(stack, mean, (now - mean) / (now - then)))
        *parts, everything = found
        return [*sorted(parts, key=lambda effect: -effect.share), everything]

    def sentences(self) -> tuple[str, str]:
        """What changed, and which mechanisms did it: a sentence each, from the runs alone."""
        before, after = self.best("bulk", THEN), self.best("bulk", NOW)

        def goodput(scheme: str, stack: str) -> str:
            return f"{self.value('bulk', scheme, stack).mean:.0f}"

        what = (
            f"Under the TCP of 2014 {before} serves bulk data best in bad reception "
            f"({goodput(before, THEN)} kbit/s, {after} {goodput(after, THEN)}); under a Linux "
            f"kernel of today {after} does ({goodput(after, NOW)} kbit/s, {before} "
            f"{goodput(before, NOW)})."
        )
        if before == after:
            what = (
                f"{after} serves bulk data best in bad reception under the TCP of 2014 "
                f"({goodput(after, THEN)} kbit/s) and under a Linux kernel of today "
                f"({goodput(after, NOW)} kbit/s)."
            )
        *parts, everything = self.effects(after)
        listed = ", ".join(
            f"{part.mean:.0f} {_NAMES.get(part.stack, part.stack)}" for part in parts
        )
        why = (
            f"Switching off parts of that kernel shows what did it: {after} then reaches {listed}; "
            f"without all of these {everything.mean:.0f}, where the TCP of 2014 has "
            f"{goodput(after, THEN)}."
        )
        return what, why

    def pages(self) -> str:
        """What became of the time that a page takes, over what was best for bulk data and what is.

        A sentence, from the runs alone.
        """
        schemes = dict.fromkeys((self.best("bulk", NOW), self.best("bulk", THEN)))

        def seconds(scheme: str, stack: str) -> str:
            return f"{self.value('page', scheme, stack).mean:.1f} s"

        times = ", ".join(
            f"{seconds(scheme, NOW)} over {scheme} instead of {seconds(scheme, THEN)}"
            for scheme in schemes
        )
        return f"A page of 100 kB takes {times}."

    def _labels(self, axis: str) -> list[str]:
        return next(labels for name, labels in self.results.axes if name == axis)


_NAMES = {
    "without undo": "if needless reductions are not undone",
    "without D-SACK": "without reports of duplicates (D-SACK)",
    "three duplicates": "if three duplicate ACKs mean a loss (no RACK, no adaptive reordering)",
    "initial window 2": "with an initial window of 2",
}


def study(seed: int = 1, runs: int | None = None) -> Scenario:
    """The campaign: link, schemes, stacks.

    Args:
        seed: Names the draws.
        runs: Runs of each cell; 8 of bulk data and 40 of a page unless given.

    Example:
        >>> study(runs=1).size
        42
    """
    changes: dict[str, int] = {"seed": seed}
    if runs is not None:
        changes |= {f"vary.task.{task}.runs": runs for task in ("bulk", "page")}
    file = resources.files("clift.papers") / STUDY
    return Scenario.parse(file.read_text(encoding="utf-8"), STUDY, changes)


def what_changed(campaign: Scenario, watch: Watcher | None = None) -> Change:
    """Runs the study.

    Args:
        campaign: What `study` gives.
        watch: Called with the runs done, the runs to do and the latest estimate as text.

    Returns:
        The runs with what follows from them.

    Raises:
        Interrupted: On Ctrl-C.

    Example:
        >>> change = what_changed(study(runs=1))
        >>> change.best("bulk", "of 2014"), change.best("bulk", "of today")
        ('HARQ(10/15)', 'ARQ')
    """
    results = run_campaign(campaign, watch)
    if not results.is_complete:
        raise Interrupted(f"stopped after {results.done} of {counted(results.wanted, 'run')}", [])
    return Change(results)
