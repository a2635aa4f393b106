"""The compiled part of clift alone; scripts use it to write modules that `import clift` needs."""

from __future__ import annotations

from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

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


def properties(schema: dict[str, Any], section: dict[str, Any]) -> dict[str, Any]:
    """The keys of a section; of one with a choice those of each variant, the choice first."""
    found: dict[str, Any] = dict(section.get("properties", {}))
    for variant in section.get("oneOf", ()):
        name = variant.get("$ref", "").rpartition("/")[2]
        inner = schema["$defs"].get(name, {}) | variant
        keys = {**schema["$defs"].get(name, {}).get("properties", {}), **variant["properties"]}
        for key, value in keys.items():
            if "const" not in value:
                found.setdefault(key, value)
                continue
            choice = found.setdefault(key, {"enum": [], "description": ""})
            if not choice["enum"] and key not in variant.get("required", ()):
                choice["default"] = value["const"]
            choice["enum"].append(value["const"])
            meaning = " ".join(inner.get("description", "").split())
            choice["description"] += f"`{value['const']}`: {meaning} "
    return found


def without_variation(schema: dict[str, Any]) -> dict[str, Any]:
    """Schema of a file without axes, with its required keys."""
    strict = schema.get("then", {}).get("properties", {})
    definitions = {
        name: one for name, one in schema["$defs"].items() if not name.endswith("Varied")
    }
    return schema | {"properties": schema["properties"] | strict, "$defs": definitions}
