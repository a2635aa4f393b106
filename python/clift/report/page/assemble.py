"""Assembles a page from its template: styles, scripts and their hashes, in one file."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from html import escape
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from clift._clift import __version__

GENERATOR = "CLIFT"
"""Program name that pages and figures contain."""

_SPOT = re.compile(r"\{\{([\w-]+)\}\}")
_UPLOT = re.compile(r"uPlot \(v([\d.]+)\)")


def filled(
    template: Traversable,
    script: Traversable,
    parts: Mapping[str, str],
    styles: Mapping[str, Traversable] | None = None,
    early: Mapping[str, Traversable] | None = None,
) -> str:
    """The page of a template, with the style, the plots and the script that all pages share.

    Args:
        template: The page, with names of its parts in double braces.
        script: The script of this page, after the shared one.
        parts: HTML or JSON by name.
        styles: Further styles by name.
        early: Scripts that run before the others, by name.
    """
    shared = files("clift.report.page")
    style = {"uplot-css": shared / "uplot" / "uPlot.min.css", "css": shared / "page.css"}
    looks = {name: text_of(file) for name, file in (style | dict(styles or {})).items()}
    scripts = {name: text_of(file) for name, file in dict(early or {}).items()} | {
        "uplot-js": text_of(shared / "uplot" / "uPlot.iife.min.js"),
        "js": text_of(shared / "front.js") + text_of(script),
    }
    version = _UPLOT.search(scripts["uplot-js"][:200])
    whole = {
        **parts,
        **looks,
        **scripts,
        "style-hashes": " ".join(map(_hash, looks.values())),
        "script-hashes": " ".join(map(_hash, scripts.values())),
        "generator": f"{GENERATOR} {escape(__version__)}",
        "uplot-version": version[1] if version else "",
    }
    # In one pass, so that text of a file is never taken for a placeholder.
    return _SPOT.sub(lambda spot: whole[spot[1]], text_of(template))


def text_of(file: Traversable) -> str:
    """The text of a file of the package."""
    return file.read_text(encoding="utf-8")


def as_json(value: Any) -> str:
    r"""Data as JSON that cannot close its script element.

    Example:
        >>> print(as_json({"a": "</script>"}))
        {"a":"\u003c/script\u003e"}
    """
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _hash(text: str) -> str:
    """Hash that allows an inline script or style in the content security policy."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
