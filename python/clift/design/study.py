"""Searching a space of designs."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import clift._clift as _clift
from clift._bar import bar
from clift._parse import COUNT, MARGIN, number, whole
from clift.campaign.parts import Row
from clift.campaign.statistics import LEVEL
from clift.campaign.values import Window
from clift.design.axes import split
from clift.design.cache import RunCache
from clift.design.objective import (
    ENERGY,
    IN_ORDER_DELAY,
    P99_DELAY,
    Constraint,
    Objective,
    constraint,
    objective,
    values,
)
from clift.design.race import Race
from clift.design.result import Contest, Design
from clift.design.space import Candidate, Space, candidates, default_space
from clift.errors import Interrupted, ScenarioError
from clift.scenario import Scenario
from clift.simulation import Run, chosen, run_many

Watcher = Callable[..., object]

# The axis that the candidates are; no key of a scenario is called so.
_AXIS = "design"
# Runs of a candidate that stand for all, where the scenario asks for fewer.
_ENUMERATED = 40
# What tells candidates apart that reach the same.
_BESIDE = (P99_DELAY, IN_ORDER_DELAY, "links.0.share_used")
# Of a full enumeration the search takes this part, if nothing else is said,
_PART = 10
# and at least this number of runs a candidate.
_LEAST = 3
# Runs between two signs of life, for each thread.
_RUNS = 16
_MOST_CELLS = 1_000_000


def design(
    scenario: Any,
    objective: str = "goodput",
    constraints: Iterable[str] = (),
    space: Space | None = None,
    together: bool = False,
    tolerance: float = MARGIN,
    runs_budget: int | None = None,
    threads: int | None = None,
    progress: bool = True,
    folder: str | os.PathLike[str] | None = None,
    force: bool = False,
    **options: Any,
) -> Design:
    """Searches the link-layer design that serves best, under each condition of a scenario.

    What the scenario varies besides schemes and buffers are its conditions: channels, loads, the
    TCP of the users. Under each of them all candidates meet the same draws of the channel, and
    successive halving spends the runs on those that could be best.

    Args:
        scenario: What `clift.simulate` takes: a `clift.Scenario`, the path of a scenario file, a
            dict with its sections and keys, or a live link.
        objective: `goodput`, `p99-delay`, `completion`, `energy` (coded bits sent per bit
            delivered), or any metric that is better less or more.
        constraints: Limits that the mean over the runs has to keep: `"p99-delay<2s"`,
            `"share_used<0.8"`.
        space: Values to try by name: `scheme` (`FEC` and `HARQ` alone stand for all blocks of
            `n_d`, `n_r`, `n_s`, `persistency`, `interleave`), `buffer` (`none`, `in order`, or a
            number of packets), or any key of a scenario. What is not named does not vary.
            Unless given, the schemes and buffers that the scenario varies; and if it varies none,
            the default space of the kind of its link (docs/guides/design.md).
        together: Whether one design is to serve all conditions: it is judged by the mean over them.
        tolerance: Share of the objective within which candidates are equal: less than that does
            not matter to you.
        runs_budget: Most runs in all. Unless given, a tenth of a full enumeration, three a
            candidate and condition at least, and then more for the last candidates of a condition,
            until they differ clearly or have as many as an enumeration would give them.
        threads: How many runs at a time; all cores unless given.
        progress: Whether to show a bar on a terminal.
        folder: Keeps every run, so that the same search called again continues, and one
            with another objective, limit or budget takes the runs that are there.
        force: Whether runs of another scenario or space are removed from the folder.
        options: Keyword arguments of `clift.simulate`, and dotted keys of a scenario file, that
            change the scenario. `runs` is how many runs a full enumeration would make of each
            candidate, the most that any gets; 40 if that is more.

    Returns:
        The ranking under each condition; of an interrupted search what was done, marked so.

    Raises:
        ScenarioError: If scenario, objective, constraints or space are wrong.
        SimulationError: If a run cannot go on.
        Interrupted: On Ctrl-C before anything was done.

    Example:
        >>> import clift
        >>> channel = {"model": "gilbert-elliott", "erasures": "2 %", "burst": 2,
        ...            "rate": "263 kbit/s", "lldu": "33 B"}
        >>> found = clift.design(
        ...     {"channel": channel, "link": {"rtt": "500 ms"}}, objective="goodput",
        ...     space={"scheme": ["none", "ARQ", "HARQ(10/12)"]}, duration_s=20, progress=False)
        >>> found.ranking()[0].label, found.ranking()[-1].label
        ('ARQ', 'none')
    """
    goal = _objective(objective)
    if isinstance(constraints, str):
        raise ScenarioError(f"constraints = {constraints!r}: give a list of texts")
    limits = [constraint(text) for text in constraints]
    margin = number("tolerance", tolerance, 0, 1)
    search = _Search(
        chosen(scenario, dict(options)), goal, limits, space, together, margin, runs_budget
    )
    shown = search.found.budget if progress else 0
    with warnings.catch_warnings():
        # The notes of runs are printed with the findings.
        warnings.simplefilter("ignore", UserWarning)
        with search.kept(folder, force), bar(search.found.title, shown) as watch:
            search.run(watch, threads)
    if not search.found.done:
        raise Interrupted("stopped before a run had finished", [])
    return search.found


# The argument of the same name hides it.
_objective = objective


class _Search:
    """A search under way."""

    def __init__(
        self,
        scenario: Scenario,
        goal: Objective,
        limits: list[Constraint],
        space: Space | None,
        together: bool,
        tolerance: float,
        budget: int | None,
    ) -> None:
        met, keys, axes = split(scenario.varied)
        self._kept: RunCache | None = None
        self.tried = _candidates(scenario, space, keys, axes)
        self.cells = self._cells(scenario, met)
        labels = [(name, names) for name, names in self.cells[0].axes if name != _AXIS]
        conditions: list[tuple[str | None, ...]] = list(product(*(names for _, names in labels)))
        if len(conditions) * len(self.tried) != len(self.cells):
            raise ScenarioError(f"{scenario.file or 'the scenario'}: its axes do not multiply")
        if together:
            conditions = [tuple(None for _ in labels)]
        self.met = 1 if not together else len(self.cells) // len(self.tried)
        self.capacities: dict[int, float | None] = {}
        self.is_bounded = budget is not None
        count = len(self.tried)
        most = max(_ENUMERATED, *(cell.size for cell in self.cells[::count]))
        enumeration = most * len(self.cells)
        if budget is None:
            budget = max(enumeration // _PART, _LEAST * len(self.cells))
        budget = whole("runs_budget", budget, len(self.cells), COUNT)
        part = budget * count // len(self.cells)
        level = LEVEL / len(conditions)
        given = all(cell.shared for cell in self.cells[::count])
        contests = [
            Contest(one, Race(count, part, most, level, tolerance, given=given))
            for one in conditions
        ]
        title = scenario.name or Path(scenario.file).stem or "design"
        seed = scenario.config["seed"]
        self.found = Design(
            *(title, seed, goal, limits, self.tried, labels, contests, budget, enumeration),
            tolerance=tolerance,
            text=scenario.text,
            cells=self.cells,
        )

    def _cells(self, scenario: Scenario, met: dict[str, Any]) -> Sequence[Scenario]:
        """A cell for each condition and candidate; those of a condition together."""
        labels = [one.label for one in self.tried]
        points = {one.label: one.changes for one in self.tried}
        keys = {key for one in self.tried for key in one.changes}
        base, link = scenario, scenario.config.get("link") or {}
        if link.get("reorder") and any(key.startswith("link.reorder.") for key in keys):
            base = base.replace(**{"link.reorder": None})
        try:
            # What a paper prints is of schemes that may not be among these.
            self._campaign = base.replace(printed=[], vary={**met, _AXIS: points})
            cells = self._campaign.cells()
        except ScenarioError as error:
            raise ScenarioError(str(error).replace(f"vary.{_AXIS}.", "space: ")) from None
        if len(cells) > _MOST_CELLS:
            raise ScenarioError(f"{len(cells)} cells; a search has a million at most")
        assert [cell.labels[_AXIS] for cell in cells[: len(labels)]] == labels
        return cells

    def kept(
        self, folder: str | os.PathLike[str] | None, force: bool
    ) -> AbstractContextManager[object]:
        """Has a folder keep the runs, if there is one."""
        if folder is None:
            return nullcontext()
        self._kept = RunCache(Path(folder), self._campaign, self.cells, force)
        return self._kept

    def run(self, watch: Watcher, threads: int | None) -> None:
        """Runs until every race is over, or Ctrl-C."""
        found = self.found
        at_a_time = _RUNS * (threads or len(os.sched_getaffinity(0)))
        try:
            watch(0, found.budget, "")
            while wanted := self._wanted() or self._granted():
                for first in range(0, len(wanted), at_a_time):
                    if self._some(wanted[first : first + at_a_time], threads):
                        found.is_complete = False
                        return
                    watch(found.done, max(found.done, found.budget), self._note())
        except KeyboardInterrupt:
            found.is_complete = False

    def _granted(self) -> list[tuple[int, int, int, int]]:
        """What races that were soon over left goes to those that are not decided.

        Without a bound from outside, these get as many runs again as they have.
        """
        races = [contest.race for contest in self.found.contests]
        left = sum(race.budget - race.done for race in races)
        going = [race for race in races if race.is_open]
        if not self.is_bounded:
            left = max(left, sum(race.last_runs() for race in going))
        if left < sum(len(race.alive) for race in going):
            return []
        for place, race in enumerate(going):
            part = left // (len(going) - place)
            left -= part - race.grant(part)
        return self._wanted()

    def _note(self) -> str:
        winners = [one for one in self.found.contests if one.race.done]
        if not winners:
            return ""
        first = winners[0].race.order()[0]
        return f"so far: {self.tried[first].label}"

    def _wanted(self) -> list[tuple[int, int, int, int]]:
        """Runs of every race: number, contest, condition, candidate.

        Those of one number and condition come together, since they share the channel.
        """
        wanted = [contest.race.wanted() for contest in self.found.contests]
        for contest in self.found.contests:
            if contest.race.is_exact:
                contest.runs = {key: values for key, values in contest.runs.items() if not key[1]}
        return sorted(
            (run, place, condition, one)
            for place, tasks in enumerate(wanted)
            for one, run in tasks
            for condition in range(self.met)
        )

    def _some(self, wanted: Sequence[tuple[int, int, int, int]], threads: int | None) -> bool:
        """Runs some, hands in what is whole, and says whether it was interrupted."""
        numbers = [self._cell(place, condition, one) for _, place, condition, one in wanted]
        tasks = [(cell, run) for cell, (run, *_) in zip(numbers, wanted, strict=True)]
        there = {task: self._kept.get(*task) for task in tasks} if self._kept else {}
        missing = [task for task in tasks if there.get(task) is None]
        interrupted = False
        try:
            scenarios = [self.cells[cell].replication(run) for cell, run in missing]
            runs: list[Run | None] = list(run_many(scenarios, progress=False, threads=threads))
        except Interrupted as stopped:
            runs, interrupted = stopped.runs, True
        done = [
            Row.of(*task, run, self.cells[task[0]].shared is not None, of_link=False)
            for task, run in zip(missing, runs, strict=True)
            if run is not None
        ]
        if self._kept is not None:
            self._kept.keep(done)
        there |= {(row.cell, row.run): row for row in done}
        for task, (_, place, condition, one) in zip(tasks, wanted, strict=True):
            if (row := there.get(task)) is not None:
                self._keep(row, place, condition, one)
        return interrupted

    def _keep(self, row: Row, place: int, condition: int, one: int) -> None:
        contest, number = self.found.contests[place], row.run
        found = values(row.values, self._capacity(row.cell))
        contest.runs[one, number, condition] = {
            name: value for name, value in found.items() if not name.startswith("flows.")
        } | {name: found[name] for name in self._names() if name in found}
        race = contest.race
        if number not in race.windows and row.window is not None:
            race.windows[number] = Window(*row.window, row.values["duration_s"])
        # After Ctrl-C a run may lack those before it.
        while number == len(race.values[one]):
            keys = [(one, number, part) for part in range(self.met)]
            if not contest.runs.keys() >= {*keys}:
                break
            there = [contest.runs[key] for key in keys]
            beside = tuple(part.get(name) for part in there for name in _BESIDE)
            race.add(one, number, self._value(there), self._excess(there), beside)
            number += 1

    def _names(self) -> list[str]:
        return [self.found.objective.metric, *(limit.metric for limit in self.found.constraints)]

    def _value(self, parts: list[dict[str, float]]) -> float:
        goal = self.found.objective
        return goal.sign * float(np.mean([_of(part, goal.metric) for part in parts]))

    def _excess(self, parts: list[dict[str, float]]) -> tuple[float, ...]:
        return tuple(
            limit.excess(float(np.mean([_of(part, limit.metric) for part in parts])))
            for limit in self.found.constraints
        )

    def _cell(self, place: int, condition: int, one: int) -> int:
        return (place * self.met + condition) * len(self.tried) + one

    def _capacity(self, cell: int) -> float | None:
        """Bits in a millisecond that the link of a condition can put on the air; None: unknown."""
        condition = cell // len(self.tried)
        if condition not in self.capacities:
            self.capacities[condition] = capacity(self.cells[cell])
        return self.capacities[condition]


def _of(measured: dict[str, float], name: str) -> float:
    if name not in measured:
        lacks = "this kind of link has no known rate" if name == ENERGY else "its runs have none"
        raise ScenarioError(f"{name}: {lacks}; choose another objective or limit")
    return measured[name]


def _candidates(
    scenario: Scenario,
    space: Space | None,
    keys: dict[str, list[Any]],
    axes: list[list[Candidate]],
) -> list[Candidate]:
    if space is None and not keys and not axes:
        space = default_space(scenario.cells()[0])
    found = candidates(space if space is not None else keys, () if space is not None else axes)
    if len(found) < 2:
        raise ScenarioError(f"space: {len(found)} candidate; give two or more to choose among")
    return found


def capacity(cell: Scenario) -> float | None:
    """Bits in a millisecond that the first link can put on the air.

    Args:
        cell: A cell of a campaign.

    Returns:
        In kbit/s; None of a link whose rate is not known here.

    Example:
        >>> channel = {"model": "bernoulli", "erasures": 0, "slot": "1 ms", "lldu": "125 B"}
        >>> round(capacity(Scenario({"channel": channel})))
        1000
    """
    config = cell.config
    for section in ("hybrid", "adaptive_harq"):
        if config.get(section):
            return _clift.parse_rate(config[section]["rate"]) / 1000
    phy = cell.replication(0).phy_trace()
    if phy is None or len(phy) < 2:
        return None
    t_ns = phy.t_ns
    lasts = (int(t_ns[-1]) - int(t_ns[0])) * len(phy) / (len(phy) - 1)
    sizes = np.broadcast_to(np.asarray(phy.lldu_bytes, np.float64), t_ns.shape)
    return float(sizes.sum()) * 8e6 / lasts
