"""Writes the page: one HTML file that opens from disk and loads nothing."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

import clift._output as output
from clift._clift import __version__
from clift._words import counted
from clift.campaign.metrics import metric
from clift.campaign.results import DRAWN_CELLS
from clift.errors import ScenarioError
from clift.explore.page import MODULE, is_built, lacking, study_of
from clift.explore.page import page as explorer
from clift.report.network import Edge, svg
from clift.report.page.assemble import GENERATOR, as_json, filled
from clift.report.page.content import asked_for, content, held_fixed, shortened
from clift.report.page.study import Study

# Rows that are visible without the script.
_STATIC_ROWS = 200
# Maximum number of notes; each concerns some cells only.
_MOST_CAVEATS = 20
_MARK = re.compile(rf'<meta name="generator" content="{GENERATOR} [^"]*">'.encode())


def write(study: Study, path: Path, force: bool = False) -> Path | None:
    """Write the page, as a whole or not at all, and beside it the one in which its runs open.

    Args:
        study: The study.
        path: Output file; its folder must exist.
        force: Whether to overwrite a file that is not such a page.

    Returns:
        The page in which the runs open; None if they do not.

    Raises:
        ScenarioError: If another file is in the way, or the path is not writable.
    """
    runs = path.with_name(f"{path.stem}-runs.html") if _closed(study) is None else None
    for one in filter(None, (path, runs)):
        check(one, is_ours, force)
    if runs is not None:
        record, sums = study.record, _sums(study)
        given = study_of(Path(record["scenario"]), record["text"], record["changes"], sums)
        output.write(runs, explorer(given).encode())
    output.write(path, page(study, None if runs is None else runs.name).encode())
    return runs


def _closed(study: Study) -> str | None:
    """Why runs do not open from the page; None if they do."""
    if str(study.record["text"]).lstrip().startswith("{"):
        return "the scenario was built in Python"
    if what := lacking(study.record["text"], study.record["changes"], _sums(study)):
        return f"they need {what}, which the page has not"
    if not is_built():
        return (
            f"this installation has no WebAssembly ({MODULE}), which <code>make wasm</code> builds"
        )
    return None


def _sums(study: Study) -> dict[str, str]:
    return {name: str(found) for name, found in study.record.get("files_read", {}).items()}


def check(path: Path, known: Callable[[bytes], bool], force: bool) -> None:
    """Raise if a foreign file would be overwritten.

    Args:
        path: Output file.
        known: Returns whether an existing file with this content may be replaced.
        force: Whether any file may be replaced.

    Raises:
        ScenarioError: If the file must not be replaced.
    """
    try:
        if path.is_dir():
            raise ScenarioError(f"{path}: is a folder; give a file in it")
        if not force and path.exists() and not known(path.read_bytes()):
            raise ScenarioError(f"{path}: another file exists there; use another name, or --force")
    except OSError as error:
        raise ScenarioError(f"{path}: {error.strerror or error}") from None


def is_ours(content: bytes) -> bool:
    """True if the content is such a page."""
    return _MARK.search(content[:4096]) is not None


def page(study: Study, runs: str | None = None) -> str:
    """The page as HTML.

    Args:
        study: The study.
        runs: Name of the file beside it in which its runs open; None without one.

    Example:
        >>> import clift
        >>> from clift.report.page.study import of
        >>> phy = clift.channel.bernoulli(slots=20_000, p=0.02, seed=1)
        >>> link = clift.tmt.apply(phy, clift.Arq())
        >>> campaign = clift.campaign.run(link, duration_s=5, progress=False, name="<b>5 s</b>")
        >>> "<h1>&lt;b&gt;5 s&lt;/b&gt;</h1>" in page(of(campaign))
        True
    """
    record = study.record
    parts = {
        "title": escape(str(record["title"])),
        "facts": _facts(study),
        "incomplete": _incomplete(study),
        "question": _question(study),
        "conclusion": _conclusion(study) + _caveats(study),
        "table": _table(study),
        "runs-open": _runs_open(study, runs),
        "drawn-cells": f" (of the first {DRAWN_CELLS} cells)" if study.size > DRAWN_CELLS else "",
        "setting": _setting(study),
        "reproduce": _reproduce(study),
        "data": as_json(content(study, None if runs is None else quote(runs))),
    }
    assets = files("clift.report.page")
    return filled(assets / "page.html", script=assets / "page.js", parts=parts)


def _facts(study: Study) -> str:
    record = study.record
    parts = [
        f"{counted(study.size, 'cell')}, {counted(record['runs_done'], 'run')}, "
        f"seed {escape(str(record['seed']))}, CLIFT {escape(str(record['clift']))}"
    ]
    source = record.get("in_effect", {}).get("source")
    if source and source["value"] not in ("", None, "none"):
        parts.append(f"After: {escape(str(source['value']))}")
    return "<br>".join(parts)


def _runs_open(study: Study, runs: str | None) -> str:
    if runs is None:
        why = _closed(study) or "this page stands alone"
        return f'<p class="note" id="runs-open">Runs do not open from this page: {why}.</p>'
    other = "" if study.record["clift"] == __version__ else f", with CLIFT {escape(__version__)}"
    return (
        '<p class="note" id="runs-open">A point opens the first run behind it, to be rerun and '
        f"changed{other}: click on it, or on its name below the plot or in a table. The run opens "
        f"in <code>{escape(runs)}</code>, which must be beside this page.</p>"
    )


def _incomplete(study: Study) -> str:
    done, wanted = int(study.record["runs_done"]), int(study.record["runs_wanted"])
    if done == wanted:
        return ""
    return (
        f'<p class="warning"><strong>Incomplete:</strong> {done} of {counted(wanted, "run")} '
        "are finished. "
        "All results below are from these runs.</p>"
    )


def _question(study: Study) -> str:
    said = opening(str(study.record["text"]))
    parts = [f"<p>{escape(said)}</p>"] if said else []
    given = dict(study.estimates())
    names = asked_for(study, given)
    judged = metric(names[0]).title if names else "the measured metrics"
    lists = {
        axis.name: f"{escape(axis.name)} ({escape(shortened(', '.join(axis.labels), 200))})"
        for axis in (study.axes[number] for number in study.varying)
    }
    if not lists:
        parts.append(f"<p>What is the {escape(judged)} of a single setting?</p>")
        return "".join(parts)
    if study.compared is not None:
        others = study.conditions
        under = f" for each {' and '.join(map(lists.pop, others))}" if others else ""
        compared = " with which ".join(lists.values())
        parts.append(f"<p>Which {compared} is best in {escape(judged)}{under}?</p>")
    else:
        parts.append(f"<p>How does {escape(judged)} depend on {' and '.join(lists.values())}?</p>")
    return "".join(parts)


def opening(text: str) -> str:
    r"""The comment at the beginning of a scenario file.

    Example:
        >>> opening("# Which one\n# serves best?\nseed = 1\n# no\n")
        'Which one serves best?'
    """
    lines = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        lines.append(line.lstrip("#").strip())
    return " ".join(filter(None, lines))


def _conclusion(study: Study) -> str:
    said = str(study.record["conclusion"])
    if not said:
        alone = (
            "Nothing is compared: the study has no alternatives."
            if study.compared is None
            else "The finished runs are too few for a conclusion."
        )
        return f'<p class="conclusion">{alone}</p>'
    note = ""
    if study.record.get("verdicts"):
        note = (
            '<p class="note">The best alternative beats each other one in paired runs with the '
            "same random draws. All such claims are true with a joint probability of 95 % "
            "(Holm 1979).</p>"
        )
    return f'<p class="conclusion">{escape(shortened(said))}</p>{note}'


def _caveats(study: Study) -> str:
    """Notes and caveats, as below the tables of `clift run` and on its stderr."""
    said = [str(one) for one in study.record.get("caveats", [])]
    taken = [f"{key} {one['value']} ({one['from']})" for key, one in study.record["taken"].items()]
    if taken:
        said.append(f"Defaults used: {', '.join(taken)}.")
    read = dict(study.record.get("files_read", {}))
    said += [f"Read {name}, {str(found).replace(':', ' ')}." for name, found in read.items()]
    if not said:
        return ""
    more = len(said) - _MOST_CAVEATS
    listed = [f"<li>{escape(shortened(one))}</li>" for one in said[:_MOST_CAVEATS]]
    listed += [f"<li>{more} more in record.json.</li>"] if more > 0 else []
    return f"<h3>Notes and assumptions</h3><ul>{''.join(listed)}</ul>"


def _table(study: Study) -> str:
    """Judged metric of each cell, readable without the script."""
    given = dict(study.estimates())
    names = asked_for(study, given)
    if not names:
        return ""
    shown, found = metric(names[0]), given[names[0]]
    axes = [study.axes[number] for number in study.varying]
    heads = [*(axis.name for axis in axes), "runs", shown.heading, "95 % from", "to"]
    rows = []
    for cell in range(min(_STATIC_ROWS, study.size)):
        labels = [study.axes[n].labels[study.places[n][cell]] for n in study.varying]
        runs = 0 if np.isnan(found["runs"][cell]) else int(found["runs"][cell])
        values = (found[name][cell] * shown.scale for name in ("mean", "low", "high"))
        texts = ["" if np.isnan(value) else f"{value:.5g}" for value in values]
        rows.append(_row("td", [*labels, str(runs), *texts]))
    more = f"; the first {_STATIC_ROWS} of {study.size} cells" if study.size > _STATIC_ROWS else ""
    return (
        f'<div class="scroll"><table><caption>{escape(shown.title)} of every cell{more}</caption>'
        f"<thead>{_row('th', heads)}</thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _setting(study: Study) -> str:
    record = study.record
    taken = [
        _row("td", [key, str(one["value"]), str(one["from"])])
        for key, one in record["taken"].items()
    ]
    parts = _network(record)
    if taken:
        parts.append(
            "<h3>Defaults used</h3><p>The scenario does not set these keys; the values come from a "
            f"trace, a preset or a default.</p>{_plain(['key', 'value', 'from'], taken)}"
        )
    varying = [
        _row("td", [axis.name, ", ".join(axis.labels[:60]), _role(study, axis.name)])
        for axis in (study.axes[number] for number in study.varying)
    ]
    if varying:
        parts.append(f"<h3>What varied</h3>{_plain(['axis', 'points', 'is'], varying)}")
    held = [_row("td", row) for row in held_fixed(study)]
    if held:
        parts.append(
            "<h3>Every key in effect</h3><p>Keys that are not under <em>What varied</em> were "
            f"fixed.</p>{_plain(['key', 'value', 'from'], held)}"
        )
    given = {str(cell["given"]) for cell in record["cells"] if cell.get("given")}
    if given:
        parts.append(
            f"<p>All runs of a cell share the same {escape(' and '.join(sorted(given)))}, so the "
            "intervals apply to it only.</p>"
        )
    return (
        "".join(parts) or "<p>The folder does not record the setting; see the scenario below.</p>"
    )


def _network(record: Any) -> list[str]:
    """Picture of the network, if the scenario has one."""
    found: dict[str, dict[str, str]] = {}
    for key, one in record.get("in_effect", {}).items():
        match key.split("."):
            case ["network", "links", name, "from" | "to" | "duplex" as field]:
                found.setdefault(name, {})[field] = str(one["value"])
            case ["network", "links", name, "return", *_]:
                found.setdefault(name, {})["return"] = "true"
    links = [
        Edge(name, one["from"], one["to"], "true" in (one.get("duplex"), one.get("return")))
        for name, one in found.items()
        if {"from", "to"} <= one.keys()
    ]
    return [f'<h3>The network</h3><div class="scroll">{svg(links)}</div>'] if links else []


def _role(study: Study, name: str) -> str:
    if name == study.compared:
        return "compared"
    axis = next(axis for axis in study.axes if axis.name == name)
    return "a condition" if axis.is_condition else "varied"


def _reproduce(study: Study) -> str:
    record = study.record
    text, file = str(record["text"]), str(record["scenario"])
    name = Path(file).name or "scenario.toml"
    parts = []
    if text.lstrip().startswith("{"):
        parts.append(
            "<p>This scenario was built in Python; below is its first cell's configuration, with "
            f"CLIFT {escape(str(record['clift']))} and seed {escape(str(record['seed']))}.</p>"
        )
    else:
        words = ["clift", "run", name]
        for key, value in record["changes"].items():
            words += ["--set", f"{key}={value}"]
        command = shlex.join([*words, "-o", "results/"])
        parts.append(
            f"<p>Use CLIFT {escape(str(record['clift']))} and save the text below as "
            f"<code>{escape(name)}</code>, next to the files that it names:</p>"
            f"<pre><code>$ {escape(command)}</code></pre>"
            "<p>The same seed gives the same bytes, on any number of cores.</p>"
        )
    parts.append(
        f"<details open><summary>The scenario</summary><pre><code>{escape(text)}</code></pre>"
        "</details>"
    )
    return "".join(parts)


def _plain(heads: list[str], rows: list[str]) -> str:
    return (
        f'<div class="scroll"><table class="setting"><thead>{_row("th", heads)}</thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _row(tag: str, texts: Any) -> str:
    scope = ' scope="col"' if tag == "th" else ""
    return f"<tr>{''.join(f'<{tag}{scope}>{escape(text)}</{tag}>' for text in texts)}</tr>"
