"""Extension of griffe: examples (``>>>``) in docstrings become code blocks of the site."""

from __future__ import annotations

import re
from typing import Any

import griffe

# From the first prompt to the next empty line, with its indentation.
EXAMPLE = re.compile(r"^( *)>>> .*(?:\n(?! *$).*)*", re.MULTILINE)


class DoctestFences(griffe.Extension):
    """Puts a fence of the same indentation around each example."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrites the docstring of an object."""
        if obj.docstring is not None:
            obj.docstring.value = EXAMPLE.sub(r"\1```pycon\n\g<0>\n\1```", obj.docstring.value)

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Rewrites the docstring of the package, which `on_object` does not get."""
        self.on_object(obj=pkg)
