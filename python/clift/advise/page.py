"""The report of an advice: one HTML file whose first screen is the answer and the trace."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator, Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import clift._output as output
from clift._clift import __version__
from clift.report.page.assemble import GENERATOR
from clift.report.page.write import check, is_ours
from clift.report.style import png
from clift.report.trace_figure import over_time

if TYPE_CHECKING:
    from clift.advise.answer import Advice


def write(advice: Advice, folder: Path, force: bool = False) -> Iterator[Path]:
    """Write `report.html`, the picture of the trace and `advice.json`; each whole or not at all.

    Args:
        advice: The advice.
        folder: An existing folder.
        force: Whether a report of another origin is replaced.

    Yields:
        The files, as they are written.

    Raises:
        ScenarioError: If a file cannot be written, or is not such a report.
    """
    report = folder / "report.html"
    check(report, is_ours, force)
    drawn = png(over_time(advice.trace))
    parts = {
        "report.html": page(advice, drawn).encode(),
        "trace.png": drawn,
        "advice.json": (json.dumps(advice.as_dict(), indent=2) + "\n").encode(),
    }
    for name, content in parts.items():
        yield output.write(folder / name, content)


def page(advice: Advice, picture: bytes) -> str:
    """The report as HTML, which loads nothing.

    Args:
        advice: The advice.
        picture: PNG of the trace.
    """
    css = (files("clift.report.page") / "page.css").read_text(encoding="utf-8")
    css += "img { max-width: 100%; }"
    digest = b64encode(sha256(css.encode()).digest()).decode()
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
        f"<h2>What would change the answer</h2>{_table(changes)}" if changes else "",
        f"<h2>How the log was read</h2>{_table(advice.said)}",
        f'<p class="note">{escape(advice.log)}, SHA-256 {advice.sha256 or "not known"}</p>',
        ""
        if advice.found is None
        else f"<h2>All pairs, each over its runs</h2><pre>{escape(str(advice.found))}</pre>",
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
