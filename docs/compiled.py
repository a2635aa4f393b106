"""The compiled part of clift by itself: what it says writes modules that `import clift` needs."""

from __future__ import annotations

from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "python" / "clift"


def scenario_schema() -> str:
    """The JSON Schema of scenario files."""
    found = (FOLDER / f"_clift{suffix}" for suffix in EXTENSION_SUFFIXES)
    path = next(path for path in found if path.exists())
    spec = spec_from_file_location("_clift", path, loader=ExtensionFileLoader("_clift", str(path)))
    assert spec is not None  # a file and a loader are given
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    schema: str = module.scenario_schema()
    return schema
