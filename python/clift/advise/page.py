"""The report of an advice: one HTML file whose first screen is the answer and the trace."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path

import clift._output as output
from clift._clift import __version__
from clift.advise.answer import Advice
from clift.advise.folder import PAGE, TRACES, check
from clift.campaign.folder import ADVICE, SEARCH, note, noted, remove, write_record
from clift.campaign.record import prepare as writable
from clift.design import record
from clift.design.text import report
from clift.report.page.assemble import GENERATOR
from clift.report.style import png
from clift.report.trace_figure import over_time


def write(advice: Advice, folder: Path, force: bool = False) -> Iterator[Path]:
    """Write the report, the picture of the trace, the files of the search and `advice.json`.

    Args:
        advice: The advice.
        folder: Its folder.
        force: Whether files of another origin are replaced.

    Yields:
        The files, as they are written; each whole or not at all.

    Raises:
        ScenarioError: If a file cannot be written, or is of another origin.
    """
    check(folder, force)
    writable(folder)
    note(folder, [*PAGE])
    remove(folder, [ADVICE])
    drawn = png(over_time(advice.trace))
    contents = zip(PAGE, (page(advice, drawn).encode(), drawn), strict=True)
    for name, content in contents:
        yield output.write(folder / name, content)
    listed = [*PAGE, *(name for name in TRACES if name in noted(folder))]
    if advice.found is not None:
        yield from record.write(advice.found, folder)
        listed.append(SEARCH)
    there = [path for name in listed if (path := folder / name).exists()]
    yield write_record(advice.as_dict(), folder, ADVICE, there)


def page(advice: Advice, picture: bytes) -> str:
    """The report as HTML, which loads nothing.

    Args:
        advice: The advice.
        picture: PNG of the trace.
    """
    css = (files("clift.report.page") / "page.css").read_text(encoding="utf-8")
    css += "img { max-width: 100%; }"
    digest = b64encode(hashlib.sha256(css.encode()).digest()).decode()
    image = b64encode(picture).decode()
    rows = advice.table()
    changes = [[what, pair] for what, pair in advice.changes.items()]
    sections = [
        f'<p class="conclusion">{escape(advice.answer)}</p>',
        f'<figure><img alt="Rate, erasures and delay over time" '
        f'src="data:image/png;base64,{image}"></figure>',
        f"<h2>The link</h2>{_table(advice.link.rows)}",
        f"<h2>Alternatives, over the runs of the first</h2>{_table(rows[1:], rows[0])}"
        if rows
        else "",
        f"<h2>{escape(advice.changes_title)}</h2>{_table(changes)}" if changes else "",
        f"<h2>How the log was read</h2>{_table(advice.said)}",
        f'<p class="note">{escape(advice.log)}, SHA-256 {advice.sha256 or "not known"}</p>',
        ""
        if advice.found is None
        else "<h2>All pairs, each over its runs</h2>"
        # The answer stands above; a second one, by another rule, would differ from it.
        f"<pre>{escape(report(advice.found, has_advice=False))}</pre>",
    ]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src '
        f"'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'\">\n"
        f'<meta name="generator" content="{GENERATOR} {escape(__version__)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(advice.log)}</title>\n<style>{css}</style>\n</head>\n<body>\n"
        f'<header><p class="kind">CLIFT advice</p><h1>{escape(advice.log)}</h1></header>\n'
        f"<main>{''.join(sections)}</main>\n</body>\n</html>\n"
    )


def _table(rows: Sequence[Sequence[str]], heads: Sequence[str] = ()) -> str:
    head = "".join(f"<th>{escape(one)}</th>" for one in heads)
    lines = ("".join(f"<td>{escape(one)}</td>" for one in row) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    head = f"<thead><tr>{head}</tr></thead>" if heads else ""
    return f'<div class="scroll"><table>{head}<tbody>{body}</tbody></table></div>'
