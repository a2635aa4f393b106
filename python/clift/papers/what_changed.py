"""Kuhn 2014's link under ns-2's TCP and a Linux kernel's: which kernel parts reverse its advice."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources

from clift._words import counted
from clift.campaign.results import Cell, Results
from clift.campaign.runner import Watcher, run_campaign
from clift.campaign.statistics import Estimate
from clift.errors import Interrupted, ScenarioError
from clift.scenario import Scenario

NS2, LINUX = "ns-2", "Linux"
LINUX_2011, NO_SACK = "Linux of 2011", "without SACK"
STUDY = "what_changed.toml"


@dataclass(frozen=True)
class Effect:
    """Effect of a TCP stack on a scheme.

    Attributes:
        stack: Name of the stack in the study.
        mean: Goodput with it, in kbit/s.
        share: Lost share of the kernel's gain over ns-2's TCP: 0 is as good as the whole kernel, 1
            as bad as ns-2's TCP.
    """

    stack: str
    mean: float
    share: float


@dataclass(frozen=True)
class StackComparison:
    """Results of the study, and the conclusions from them.

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
        """Goodput in kbit/s (`bulk`) or load time of the page in s (`page`)."""
        cell = self.cell(task, scheme, stack)
        found = cell.estimate(cell.primary)
        if found is None:
            raise ScenarioError(f"{scheme} {stack}: no {task} finished; give more runs")
        return found

    def printed(self, task: str, scheme: str) -> float | None:
        """Printed value of a scheme: rate of IP packets received in kbit/s, or load time in s."""
        wanted = {"task": task, "scheme": scheme}
        found = (one for one in self.results.printed if wanted.items() <= one["where"].items())
        return next((one["value"] for one in found), None)

    def best(self, task: str, stack: str) -> str:
        """The scheme with the best mean under a stack."""
        sign = 1 if task == "bulk" else -1
        return max(self.schemes, key=lambda scheme: sign * self.value(task, scheme, stack).mean)

    def effects(self, scheme: str) -> list[Effect]:
        """Effect of switching off parts of the kernel, the most harmful first.

        The last entry switches off all of them.
        """
        ns2, linux = (self.value("bulk", scheme, stack).mean for stack in (NS2, LINUX))
        found = []
        for stack in self.stacks:
            if stack not in (NS2, LINUX, LINUX_2011, NO_SACK):
                mean = self.value("bulk", scheme, stack).mean
                found.append(Effect(stack, mean, (linux - mean) / (linux - ns2)))
        *parts, everything = found
        return [*sorted(parts, key=lambda effect: -effect.share), everything]

    def sentences(self) -> tuple[str, str]:
        """The best scheme under each stack, and the kernel parts that decide."""
        before, after = self.best("bulk", NS2), self.best("bulk", LINUX)

        def goodput(scheme: str, stack: str) -> str:
            return f"{self.value('bulk', scheme, stack).mean:.0f}"

        what = (
            f"Under ns-2's TCP {before} serves bulk data best in bad reception "
            f"({goodput(before, NS2)} kbit/s, {after} {goodput(after, NS2)}); under a Linux "
            f"kernel {after} does ({goodput(after, LINUX)} kbit/s, {before} "
            f"{goodput(before, LINUX)})."
        )
        if before == after:
            what = (
                f"{after} serves bulk data best in bad reception under ns-2's TCP "
                f"({goodput(after, NS2)} kbit/s) and under a Linux kernel "
                f"({goodput(after, LINUX)} kbit/s)."
            )
        then, unsacked = (
            f"{self.best('bulk', stack)} ({goodput(self.best('bulk', stack), stack)} kbit/s)"
            for stack in (LINUX_2011, NO_SACK)
        )
        what += (
            f" With the rules of Linux 3.0 (2011) the best is {then}, with SACK off (tcp_sack = 0) "
            f"{unsacked}."
        )
        *parts, everything = self.effects(after)
        listed = ", ".join(
            f"{part.mean:.0f} {_NAMES.get(part.stack, part.stack)}" for part in parts
        )
        why = (
            f"Switching off parts of that kernel shows the cause: {after} then reaches {listed}; "
            f"without all of these {everything.mean:.0f}, against "
            f"{goodput(after, NS2)} under ns-2's TCP."
        )
        return what, why

    def pages(self) -> str:
        """A sentence on the load time of a page, over the best bulk schemes of both stacks."""
        schemes = dict.fromkeys((self.best("bulk", LINUX), self.best("bulk", NS2)))

        def seconds(scheme: str, stack: str) -> str:
            return f"{self.value('page', scheme, stack).mean:.1f} s"

        times = ", ".join(
            f"{seconds(scheme, LINUX)} over {scheme} instead of {seconds(scheme, NS2)}"
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
    """Scenario of the study: link, schemes and TCP stacks.

    Args:
        seed: Seed of the random draws.
        runs: Runs per cell; default: 8 of bulk data and 40 of a page.

    Example:
        >>> study(runs=1).size
        54
    """
    changes: dict[str, int] = {"seed": seed}
    if runs is not None:
        changes |= {f"vary.task.{task}.runs": runs for task in ("bulk", "page")}
    file = resources.files("clift.papers") / STUDY
    return Scenario.parse(file.read_text(encoding="utf-8"), STUDY, changes)


def what_changed(campaign: Scenario, watch: Watcher | None = None) -> StackComparison:
    """Run the study.

    Args:
        campaign: Scenario that `study` returns.
        watch: Called with the finished runs, all runs and the latest estimate as text.

    Returns:
        The runs and the conclusions from them.

    Raises:
        Interrupted: On Ctrl-C.

    Example:
        >>> change = what_changed(study(runs=1))
        >>> change.best("bulk", "ns-2"), change.best("bulk", "Linux")
        ('HARQ(10/15)', 'ARQ')
    """
    results = run_campaign(campaign, watch)
    if not results.is_complete:
        raise Interrupted(f"stopped after {results.done} of {counted(results.wanted, 'run')}", [])
    return StackComparison(results)
