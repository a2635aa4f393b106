"""Makes the explorer's page."""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from importlib.resources import files
from pathlib import Path
from typing import Any

from clift.errors import ScenarioError
from clift.explore.controls import controls
from clift.report.page.assemble import as_json, filled, text_of
from clift.scenario import Scenario

MODULE = "clift.wasm"
"""File of the package with the core as WebAssembly; `make wasm` builds it."""


def page(scenario: Path | None = None) -> str:
    """The page as HTML: one file that works offline and loads nothing.

    Args:
        scenario: Scenario file that the page begins with; its first two cells are the settings.

    Raises:
        ScenarioError: If the scenario is not valid, or the module is not built.
    """
    assets = files("clift.explore")
    module = assets / MODULE
    if not module.is_file():
        raise ScenarioError(f"the explorer needs {MODULE}, which is not built; run `make wasm`")
    data: dict[str, Any] = {
        "controls": controls(),
        "start": json.loads(text_of(assets / "start.json")),
        "stops": json.loads(text_of(assets / "stops.json")),
    }
    if scenario is not None:
        given = Scenario.read(scenario)
        data["scenario"] = {"name": scenario.name, "text": given.text}
    parts = {
        "data": as_json(data),
        "worker": text_of(assets / "worker.js"),
        # The time in its header would make every page another one.
        "module": b64encode(gzip.compress(module.read_bytes(), 9, mtime=0)).decode(),
    }
    return filled(
        assets / "explore.html",
        script=assets / "explore.js",
        parts=parts,
        styles={"explore-css": assets / "explore.css"},
    )
