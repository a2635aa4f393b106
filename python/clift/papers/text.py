"""A table or figure of a paper as text and JSON: printed, measured, ratio, claims."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from functools import partial
from math import floor, log10
from typing import Any

from clift._words import counted
from clift.campaign.statistics import Estimate
from clift.papers.artefact import Artefact, Paper, Result, Row
from clift.papers.gates import Gate, gate
from clift.papers.registry import described
from clift.report.text import aligned, filled

RULE = (
    "holds: the joint 95 % interval is on the claim's side; not decidable: it contains both sides. "
    "*: used in a fit, does not count."
)
NAMES = {"papers": "ns-2's TCP", "linux": "kernel's TCP"}
_filled = partial(filled, indent="  ")
_WORDS = {True: "met", False: "NOT MET", None: "nothing to count"}


def heading(result: Result) -> str:
    """One-line heading of a result.

    Args:
        result: Results of the artefact.
    """
    artefact, effort = result.artefact, result.effort
    metrics = _metrics(result.first.rows)
    metric = f"; {metrics[0]}" if len(metrics) == 1 else ""
    what = "points" if artefact.is_of_model else "runs"
    return (
        f"{artefact.paper}, {artefact.name}: {artefact.title} ({artefact.where}); "
        f"{effort.runs} {what} of {effort.duration_s:g} s, seed {effort.seed}{metric}"
    )


def paper_text(result: Result) -> str:
    """Text of an artefact: its rows, claims and gates."""
    parts = [_filled(heading(result)), aligned(table(result), left=_labels(result))]
    for place, claim in enumerate(result.artefact.claims):
        lines = [_filled(f"The paper says: {claim.says} ({claim.where}).")]
        for profile in result.outcomes:
            _, verdict = result.claims(profile)[place]
            who = f"{NAMES[profile]}: " if len(result.outcomes) > 1 else ""
            lines.append(_filled(f"  {who}{verdict.word}; {verdict.found}", indent="    "))
        parts.append("\n".join(lines))
    parts += [_filled(line) for line in gate_lines(result)]
    if result.artefact.fitted:
        parts.append(_filled(f"Used in a fit: {result.artefact.fitted}."))
    return "\n\n".join([*parts, _filled(RULE)])


def paper_json(result: Result) -> dict[str, Any]:
    """The result as JSON."""
    artefact, effort = result.artefact, result.effort
    found = gates(result)
    return {
        "paper": artefact.paper,
        "artefact": artefact.name,
        **{key: getattr(artefact, key) for key in ("title", "where", "fitted")},
        **asdict(effort),
        "profiles": {
            profile: {
                "rows": [_row(row) for row in outcome.rows],
                "claims": [
                    asdict(claim) | {"verdict": verdict.word, "found": verdict.found}
                    for claim, verdict in result.claims(profile)
                ],
                "gate": _gate(found[profile]) if profile in found else None,
            }
            for profile, outcome in result.outcomes.items()
        },
    }


def gates(result: Result) -> dict[str, Gate]:
    """Gates of an artefact that has reference values, for the paper's TCP only."""
    outcome = result.outcomes.get("papers")
    if outcome is None or not any(row.ratio for row in outcome.rows):
        return {}
    return {"papers": gate(result.artefact, outcome.rows)}


def list_text(papers: Iterable[Paper]) -> str:
    """The papers with their artefacts, one per line."""
    lines = []
    for paper in papers:
        lines.append(_filled(f"{paper.name}: {paper.title}"))
        lines += [f"  {artefact.name:<10} {artefact.title}" for artefact in paper.artefacts]
    return "\n".join(lines)


def show_text(paper: Paper) -> str:
    """Description of a paper, its artefacts and its claims."""
    first = [f"{paper.name}: {paper.title}", paper.source, paper.about]
    parts = ["\n".join(map(_filled, first))]
    for artefact in paper.artefacts:
        full = artefact.full
        lines = [
            f"{artefact.name}: {artefact.title} ({artefact.where})",
            *(f"  says: {claim.says} ({claim.where})" for claim in artefact.claims),
            f"  printed: {_printed(artefact)}",
        ]
        if artefact.fitted:
            lines.append(f"  used in a fit: {artefact.fitted}")
        lines.append(
            f"  clift paper run {paper.name} --{artefact.kind} {artefact.number}    "
            f"# {counted(full.runs, 'run')} of {full.duration_s:g} s"
        )
        parts.append("\n".join(_filled(line, indent="    ") for line in lines))
    return "\n\n".join(parts)


def show_json(paper: Paper) -> dict[str, Any]:
    """The same as JSON."""
    return {
        **{key: getattr(paper, key) for key in ("name", "title", "source", "about")},
        "artefacts": [
            {
                **{key: getattr(artefact, key) for key in ("name", "title", "where", "fitted")},
                "profiles": list(artefact.profiles),
                "runs": artefact.full.runs,
                "duration_s": artefact.full.duration_s,
                "columns": described(paper.name, artefact.name).get("columns", []),
                "printed": described(paper.name, artefact.name).get("rows", []),
                "claims": [asdict(claim) for claim in artefact.claims],
            }
            for artefact in paper.artefacts
        ],
    }


def _printed(artefact: Artefact) -> str:
    rows = described(artefact.paper, artefact.name).get("rows")
    if rows:
        return f"{counted(len(rows), 'line')} of numbers"
    if artefact.paper == "tauran2017":
        return "the values in tables 1 and 2" if artefact.kind == "figure" else "all its numbers"
    return "a curve without numbers, except in the text"


def _labels(result: Result) -> int:
    rows = result.first.rows
    return len(rows[0].labels) + (len(_metrics(rows)) > 1)


def _metrics(rows: Iterable[Row]) -> list[str]:
    return list(dict.fromkeys(row.metric for row in rows))


def table(result: Result) -> list[list[str]]:
    """Header and one line per row: labels, metric, printed value, each profile with its ratio."""
    first = result.first.rows
    has_print = any(row.printed is not None for row in first)
    has_beside = any(row.beside is not None for row in first)
    several = len(_metrics(first)) > 1
    head = [*first[0].labels, *(["metric"] if several else [])]
    head += ["printed"] * has_print + [result.artefact.reference.removeprefix("the ")] * has_beside
    for profile in result.outcomes:
        head.append(NAMES[profile] if len(result.outcomes) > 1 else "measured")
        head += ["ratio"] * (has_print or has_beside)
    lines = [head]
    for place, row in enumerate(first):
        line = [*map(str, row.labels.values()), *([row.metric] if several else [])]
        if has_print:
            mark = "*" if row.fitted else ""
            line.append("" if row.printed is None else f"{row.printed:.4g}{mark}")
        if has_beside:
            line.append("" if row.beside is None else f"{row.beside:.4g}")
        for outcome in result.outcomes.values():
            own = outcome.rows[place]
            line.append(number(own.found))
            if has_print or has_beside:
                line.append("" if own.ratio is None else f"{own.ratio:.2f}")
        lines.append(line)
    return lines


def gate_lines(result: Result) -> Iterable[str]:
    """How many values are close to the print or another reference, a line each profile."""
    for profile, found in gates(result).items():
        counts = "; ".join(
            f"{count.what}: {count.close} of {count.of} ({_WORDS[count.passes]})"
            for count in found.counts
            if count.of
        )
        left = f"; {found.left_out} left out, used in a fit" if found.left_out else ""
        who = f", {NAMES[profile]}" if len(result.outcomes) > 1 else ""
        yield f"Beside {found.against}{who}: {counts or 'nothing to count'}{left}"


def _gate(found: Gate) -> dict[str, Any]:
    return {
        "against": found.against,
        "passes": found.passes,
        "left_out": found.left_out,
        "counts": [asdict(count) | {"passes": count.passes} for count in found.counts],
    }


def _row(row: Row) -> dict[str, Any]:
    return {
        **row.labels,
        "metric": row.metric,
        "printed": row.printed,
        "beside": row.beside,
        **row.found.as_dict(),
        "ratio": row.ratio,
        "fitted": row.fitted,
    }


def number(found: Estimate) -> str:
    """A mean with the digits that its interval justifies.

    Example:
        >>> number(Estimate(12.3456, 0.123, 9)), number(Estimate(5.0, None, 1))
        ('12.35 ± 0.12', '5')
        >>> number(Estimate(1786.5, 43.0, 9)), number(Estimate(0.7142115, 0.0000026, 9))
        ('1786 ± 43', '0.7142')
    """
    half = found.half_width
    if half is None or half <= 0:
        return f"{found.mean:.4g}"
    # Digits that the interval leaves, at most four significant ones.
    most = 3 - floor(log10(abs(found.mean))) if found.mean else 4
    digits = max(0, min(1 - floor(log10(half)), most))
    if round(half, digits) == 0:
        return f"{found.mean:.{digits}f}"
    return f"{found.mean:.{digits}f} ± {half:.{digits}f}"
