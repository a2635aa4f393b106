"""The five papers and the 26 tables and figures of their evaluations.

Each paper has a parameter file here, `NAME.toml`. Each `[[artefact]]` of it describes a table or
figure: printed values, claims, and the function that measures it. The list, the commands, the tests
and the docs use these files.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from importlib import resources
from typing import Any

from clift.errors import ScenarioError
from clift.papers import ALIASES
from clift.papers.artefact import PROFILES, Artefact, Claim, Effort, Paper, Result
from clift.papers.cache import clear_other_caches

NAMES = ("ijscn2014", "clift2013", "clift2014", "wiopt2003", "tauran2017")
"""The papers, in the order of docs/evidence/papers.md."""


@cache
def parameters(paper: str) -> dict[str, Any]:
    """Printed values of a paper, from its parameter file.

    Args:
        paper: Its name, or an earlier one.

    Raises:
        ScenarioError: If the paper is unknown.

    Example:
        >>> parameters("ijscn2014")["figure"]["6"]["alpha"]
        0.98
    """
    name = ALIASES.get(paper, paper)
    if name not in NAMES:
        raise ScenarioError(f"{paper}: unknown paper; `clift paper list` shows {', '.join(NAMES)}")
    file = resources.files("clift.papers") / f"{name}.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))


@cache
def paper(name: str) -> Paper:
    """A paper by its name, or an earlier one.

    Raises:
        ScenarioError: If the paper is unknown.

    Example:
        >>> [artefact.name for artefact in paper("leo2014").artefacts]
        ['table 1', 'table 2', 'figure 4', 'figure 5', 'figure 6', 'figure 7']
    """
    found = parameters(name)
    return Paper(
        found["id"],
        found["title"],
        found["source"],
        found["about"],
        tuple(_artefact(found["id"], one) for one in found["artefact"]),
    )


def papers() -> list[Paper]:
    """All papers.

    Example:
        >>> sum(len(paper.artefacts) for paper in papers())
        26
    """
    return [paper(name) for name in NAMES]


def chosen(name: str, tables: Iterable[int] = (), figures: Iterable[int] = ()) -> list[Artefact]:
    """The requested artefacts; default: all of a paper, or of `all` papers.

    Args:
        name: A paper's name, or `all`.
        tables: Numbers of tables.
        figures: Numbers of figures.

    Raises:
        ScenarioError: If a paper does not have the table or figure.

    Example:
        >>> [artefact.name for artefact in chosen("wiopt2003", figures=[8, 3])]
        ['figure 8', 'figure 3']
    """
    asked = [*(f"table {one}" for one in tables), *(f"figure {one}" for one in figures)]
    if name == "all":
        if asked:
            raise ScenarioError(f"{asked[0]} of all papers: name the paper that has it")
        return [artefact for one in papers() for artefact in one.artefacts]
    of = paper(name)
    if not asked:
        return list(of.artefacts)
    known = {artefact.name: artefact for artefact in of.artefacts}
    for wanted in asked:
        if wanted not in known:
            again = parameters(of.name).get("reprinted", {}).get(wanted)
            where = f"; it is {again}'s: clift paper run {again} --{wanted}" if again else ""
            has = ", ".join(known)
            raise ScenarioError(f"{of.name} has no {wanted}{where or f': it has {has}'}")
    return [known[wanted] for wanted in asked]


def effort(
    artefact: Artefact,
    runs: int | None = None,
    duration_s: float | None = None,
    seed: int = 1,
    reduced: bool = False,
) -> Effort:
    """Amount of simulation for an artefact.

    Args:
        artefact: The table or figure.
        runs: Runs of each cell; default: those of the artefact.
        duration_s: Simulated time of each; default: that of the artefact.
        seed: Of the first run.
        reduced: Use the reduced amount of the artefact.

    Example:
        >>> effort(chosen("tauran2017", tables=[1])[0], runs=3)
        Effort(runs=3, duration_s=600, seed=1)
    """
    of = artefact.reduced if reduced else artefact.full
    return replace(
        of,
        runs=of.runs if runs is None else runs,
        duration_s=of.duration_s if duration_s is None else duration_s,
        seed=seed,
    )


def run(
    artefact: Artefact,
    effort: Effort,
    profiles: Iterable[str] = PROFILES,
    tell: Callable[[str], object] | None = None,
    until: int | None = None,
) -> Result:
    """Runs an artefact.

    Args:
        artefact: The table or figure.
        effort: Amount of simulation.
        profiles: The TCP profiles to run, of those that it has.
        tell: Called with the name of each run.
        until: Most runs of each cell. They are doubled until every claim is decided, or to this.

    Example:
        >>> table = chosen("clift2013", tables=[1])[0]
        >>> found = run(table, Effort(2, 20), ["papers"])
        >>> len(found.outcomes["papers"].rows)
        39
    """
    measure = artefact.function()
    clear_other_caches(f"clift.papers.{artefact.measure.rpartition('.')[0]}")
    outcomes = {}
    for profile in artefact.profiles:
        if profile in tuple(profiles) or len(artefact.profiles) == 1:
            if tell:
                tell(f"{artefact.paper}, {artefact.name}, profile {profile}")
            outcomes[profile] = measure(effort, profile)
    result = Result(artefact, effort, outcomes)
    most = effort.runs if until is None else until
    if effort.runs < most and result.is_open:
        effort = replace(effort, runs=min(2 * effort.runs, most))
        return run(artefact, effort, profiles, tell, until)
    return result


def _artefact(name: str, found: dict[str, Any]) -> Artefact:
    plain = ("name", "title", "where", "measure", "fitted", "gated", "x")
    return Artefact(
        paper=name,
        claims=tuple(Claim(**claim) for claim in found.get("claim", [])),
        full=Effort(**found["full"]),
        reduced=Effort(**found["reduced"]),
        paper_s=found.get("paper_s", found["full"]["duration_s"]),
        profiles=PROFILES if found.get("tcp", True) else ("papers",),
        lines=tuple(found.get("lines", ())),
        **{key: found[key] for key in plain if key in found},
    )


def described(paper: str, name: str) -> dict[str, Any]:
    """An artefact as in its parameter file, with its printed values.

    Example:
        >>> described("ijscn2014", "table 3")["columns"]
        ['transport', 'scheme', 5, 6, 7, 8]
    """
    found: dict[str, Any] = next(
        one for one in parameters(paper)["artefact"] if one["name"] == name
    )
    return found
