"""Writes docs/reference/scenario.md and schema/clift-scenario.schema.json from the schema.

`python docs/scenario_reference.py` writes both; `--check` only says whether they are up to date.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from compiled import properties, scenario_schema, without_variation
from pages import ROOT, settle

PAGE = ROOT / "docs" / "reference" / "scenario.md"
SCHEMA = ROOT / "schema" / "clift-scenario.schema.json"

HEAD = """\
# Scenario files

<!-- Made from the schema by docs/scenario_reference.py; change the doc comments in
core/src/scenario instead. -->

A scenario is a TOML file. `clift run FILE` runs it, `clift.Scenario.read(FILE)` reads it in Python.
Every key but those marked *needed* may be left out. An error names file, line, key and cure.

**Quantities** are text with a unit and are taken exactly:

| kind | units | example |
|---|---|---|
| time | `ns`, `us`, `ms`, `s`, `min`, `h` | `"500 ms"`, `"1.003802 ms"`, `"1e3 s"` |
| rate | `bit/s`, `kbit/s`, `Mbit/s`, `Gbit/s` | `"2.3 Mbit/s"` |
| size | `B`, `kB` (1000 B), `KiB` (1024 B), `MB`, `MiB`, `GB`, `GiB` | `"100 kB"` |
| queue | packets, a size, or no bound | `"1000 packets"`, `"64 kB"`, `"unlimited"` |
| level, angle, length | `dB`; `deg`; `m`, `km` | `"6 dB"`, `"40 deg"`, `"1.7 m"` |
| speed, frequency | `km/h`, `m/s`; `GHz`, `MHz` | `"60 km/h"`, `"2.2 GHz"` |
| probability | a number, or per cent | `0.02`, `"2 %"` |

An editor that knows JSON Schema completes and checks keys: `clift schema > clift.json`, or
`schema/clift-scenario.schema.json` in the repository.
"""

CAMPAIGN = """
## Campaigns: `[vary]`

Every combination of what `[vary]` lists is a cell. A dotted key of the scenario with a list of
plain values is an axis, named after its last part. A new name is an axis whose points are
tables of the keys that they set:

```toml
[vary]
scheme = ["ARQ", "HARQ(10/12)"]
transport.congestion = ["newreno", "cubic"]
reception.bad = { channel.erasures = "2 %", channel.burst = 2 }
reception.good = { channel.erasures = "0.06 %", channel.burst = 1.5 }
```

Replication *r* has the seed `seed` for r = 0 and one drawn from (`seed`, r) for the others,
in every cell, so that cells are compared under the same draws. `--set KEY=VALUE` takes the
place of a key, and of its variation; `--set AXIS=LABEL`, or a list of labels, keeps only those
points of an axis. If a file fixes a key that all points of an axis set, the fixed value has no
effect, and a note names it.

## Printed values: `[[printed]]`

Printed value of a paper, shown beside the mean and its 95 % interval in every cell whose labels fit
`where`. `metric` is a name in the results: `completion_s`, `goodput_kbps`, `ip_throughput_kbps`,
`share_sent_again`, `segments_sent_twice_share`, `lldus_sent_twice_share`, or any number of
`Run.summary()` by its dotted name, e.g. `links.0.packet_delay_ms.mean`.
"""

ALTERNATIVES = ("anyOf", "oneOf", "allOf")

# The place of a section that has several, where it is not the first of those that are least deep:
# only a carrier has all kinds of schedulers.
PLACES = {"Scheduler": "carrier.scheduler"}


def page(schema: dict[str, Any]) -> str:
    """The reference page of a schema."""
    parts = [HEAD, "## Top level\n", _table(schema, schema)]
    for name, place in _places(schema).items():
        section = schema["$defs"][name]
        # Examples in Rust are for those who read the core.
        about = section.get("description", "").partition("```")[0].rstrip()
        parts.append(f"\n## `[{place}]`\n\n{about}\n")
        parts.append(_table(section, schema))
        parts += [_variant(one, schema) for one in section.get("oneOf", ())]
    return "\n".join(parts) + CAMPAIGN


def _places(schema: dict[str, Any]) -> dict[str, str]:
    """The place of each section, by the name of its type, in the order of the top level."""
    places = dict(PLACES)
    level = [(key, value) for key, value in schema["properties"].items() if key != "vary"]
    while level:
        below = []
        for key, value in level:
            for name, form in _named(value, schema):
                if name not in places:
                    places[name] = form.format(key)
                    inner = properties(schema, schema["$defs"][name]).items()
                    below += [(f"{places[name].strip('[]')}.{one}", value) for one, value in inner]
        level = below
    order = list(schema["properties"])

    def rank(entry: tuple[str, str]) -> tuple[int, int]:
        first, *rest = entry[1].strip("[]").split(".")
        return order.index(first), len(rest)

    return dict(sorted(places.items(), key=rank))


def _named(value: dict[str, Any], schema: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The sections that a key can hold, each with the form of its title."""
    if "$ref" in value:
        name = value["$ref"].rsplit("/", 1)[-1]
        target = schema["$defs"][name]
        if any("properties" in one for one in (target, *target.get("oneOf", ()))):
            yield name, "{}"
        else:
            yield from _named(target, schema)
    for one in (one for kind in ALTERNATIVES for one in value.get(kind, ())):
        yield from _named(one, schema)
    for kind, form in (("items", "[{}]"), ("additionalProperties", "{}.NAME")):
        if isinstance(value.get(kind), dict):
            yield from ((name, form) for name, _ in _named(value[kind], schema))


def _variant(variant: dict[str, Any], schema: dict[str, Any]) -> str:
    """The keys that belong to one value of the key that chooses between several."""
    tag, own = _chosen(variant)
    keys = schema["$defs"][variant["$ref"].rsplit("/", 1)[-1]] if "$ref" in variant else variant
    own_keys = {key: value for key, value in keys.get("properties", {}).items() if key != tag}
    description = variant.get("description", keys.get("description", ""))
    head = f"\nWith `{tag} = {json.dumps(own)}`: {description}\n"
    return head + ("\n" + _table(keys | {"properties": own_keys}, schema) if own_keys else "")


def _chosen(variant: dict[str, Any]) -> tuple[str, str]:
    """The key that chooses a variant, and its value."""
    properties = variant["properties"].items()
    return next((key, value["const"]) for key, value in properties if "const" in value)


def _table(section: dict[str, Any], schema: dict[str, Any]) -> str:
    needed = set(section.get("required", ()))
    rows = ["| key | value | default | meaning |", "|---|---|---|---|"]
    chosen = [_chosen(variant) for variant in section.get("oneOf", ())]
    merged = properties(schema, section)
    for tag in dict.fromkeys(tag for tag, _ in chosen):
        values = ", ".join(f"`{json.dumps(value)}`" for _, value in chosen)
        default = _default(merged[tag].get("default")) or "*needed*"
        rows.append(f"| `{tag}` | {values} | {default} | The kind; each has its own keys. |")
    for key, value in section.get("properties", {}).items():
        default = "*needed*" if key in needed else _default(value.get("default"))
        meaning = " ".join(value.get("description", "").split()).replace("|", "\\|")
        rows.append(f"| `{key}` | {_type(value, schema)} | {default} | {meaning} |")
    return "\n".join(rows) + "\n"


def _default(value: Any) -> str:
    if value is None or value == [] or isinstance(value, dict):
        return ""
    return f"`{json.dumps(value)}`"


def _type(value: dict[str, Any], schema: dict[str, Any]) -> str:
    for alternatives in ALTERNATIVES:
        if alternatives in value:
            inner = [_type(one, schema) for one in value[alternatives] if one != {"type": "null"}]
            return ", ".join(dict.fromkeys(inner))
    if "$ref" in value:
        name = value["$ref"].rsplit("/", 1)[-1]
        target = schema["$defs"][name]
        if place := _places(schema).get(name):
            return f"section `[{place}]`"
        choices = _choices(target)
        return choices or re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()
    if "const" in value:
        return f"`{json.dumps(value['const'])}`"
    if "enum" in value:
        return _choices(value)
    if "prefixItems" in value:
        return f"[{', '.join(_type(one, schema) for one in value['prefixItems'])}]"
    if value.get("type") == "array":
        return f"list of {_type(value['items'], schema)}"
    if isinstance(value.get("additionalProperties"), dict):
        return f"by name: {_type(value['additionalProperties'], schema)}"
    types = value.get("type", "")
    kind = next((one for one in types if one != "null"), "") if isinstance(types, list) else types
    words = {"integer": "whole number", "string": "text", "boolean": "true or false"}
    return (words | {"array": "list"}).get(kind, kind)


def _choices(target: dict[str, Any]) -> str:
    if "enum" in target:
        return ", ".join(f"`{json.dumps(one)}`" for one in target["enum"] if one is not None)
    constants = [one["const"] for one in target.get("oneOf", ()) if "const" in one]
    return ", ".join(f"`{json.dumps(one)}`" for one in constants)


def main() -> None:
    """Writes both files, or says which are out of date."""
    schema = scenario_schema()
    settle({SCHEMA: schema, PAGE: page(without_variation(json.loads(schema)))})


if __name__ == "__main__":
    main()
