"""What CLIFT is built from: licences that allow its own, and one registry."""

import json
import re
import shutil
import subprocess
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ALLOWED = frozenset(tomllib.loads((ROOT / "deny.toml").read_text())["licenses"]["allow"])
# What Python packages have beside those: attribution, no copyleft.
OF_PYTHON = ALLOWED | {"MIT-CMU", "PSF-2.0", "Python-2.0"}
# Older packages say it in words or by a classifier.
IN_WORDS = {
    "MIT": "MIT",
    "MIT License": "MIT",
    "BSD License": "BSD-3-Clause",
    "Apache Software License": "Apache-2.0",
    "Python Software Foundation License": "PSF-2.0",
}


def allows(expression: str, allowed: frozenset[str]) -> bool:
    """Whether an SPDX expression can be met by licences that are allowed."""
    text = expression.replace("/", " OR ")
    tokens = re.findall(r"[()]|[^\s()]+(?:\s+WITH\s+\S+)?", text)

    def either(at: int) -> tuple[bool, int]:
        met, at = both(at)
        while at < len(tokens) and tokens[at] == "OR":
            other, at = both(at + 1)
            met = met or other
        return met, at

    def both(at: int) -> tuple[bool, int]:
        met, at = one(at)
        while at < len(tokens) and tokens[at] == "AND":
            other, at = one(at + 1)
            met = met and other
        return met, at

    def one(at: int) -> tuple[bool, int]:
        if tokens[at] == "(":
            met, at = either(at + 1)
            return met, at + 1
        return tokens[at] in allowed, at + 1

    if not tokens:
        return False
    met, end = either(0)
    return met and end == len(tokens)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("MIT", True),
        ("", False),
        ("GPL-3.0-only", False),
        ("MIT OR GPL-3.0-only", True),
        ("MIT AND GPL-3.0-only", False),
        ("MIT/Apache-2.0", True),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", True),
        ("(MIT OR Apache-2.0) AND GPL-2.0-only", False),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("GPL-2.0-only WITH Classpath-exception-2.0 OR LGPL-2.1-or-later", False),
    ],
)
def test_an_expression_is_met_or_not(expression: str, expected: bool) -> None:
    assert allows(expression, ALLOWED) is expected


def test_crates_have_licences_that_allow_ours_and_come_from_one_registry() -> None:
    if shutil.which("cargo") is None:
        pytest.skip("cargo is not installed")
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--offline"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"cargo has not fetched every crate: {done.stderr.strip()[:100]}")
    crates = json.loads(done.stdout)["packages"]
    assert len(crates) > 50
    refused = [
        (one["name"], one["license"])
        for one in crates
        if not one["license"] or not allows(one["license"], ALLOWED)
    ]
    assert refused == []
    sources = {one["source"] for one in crates} - {None}
    assert sources == {"registry+https://github.com/rust-lang/crates.io-index"}


def test_what_the_gpl_adapters_link_has_licences_that_the_gpl_2_allows() -> None:
    if shutil.which("cargo") is None:
        pytest.skip("cargo is not installed")
    command = ["cargo", "tree", "--package", "clift-c", "--edges", "normal", "--prefix", "none"]
    command += ["--locked", "--offline", "--no-dedupe", "--format", "{p}\t{l}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"cargo has not fetched every crate: {done.stderr.strip()[:100]}")
    rows = {tuple(line.split("\t")) for line in done.stdout.splitlines()}
    assert len(rows) > 20
    deny = tomllib.loads((ROOT / "bindings" / "c" / "deny.toml").read_text())
    allowed = frozenset(deny["licenses"]["allow"])
    assert not {"Apache-2.0", "MPL-2.0"} & allowed
    assert [row for row in rows if not allows(row[1], allowed)] == []


@pytest.mark.parametrize("pattern", ["ns2/clift.so", "ns3/*/libns3-clift.so"])
def test_the_gpl_adapters_have_no_code_of_parquet(pattern: str) -> None:
    """`make` builds the C library with the Python extension, which has Parquet.

    The adapters have what they reach of it.
    """
    found = list((ROOT / "target").glob(pattern))
    if not found or shutil.which("nm") is None:
        pytest.skip(f"target/{pattern} is not built (`make c ns2 ns3`), or there is no nm")
    for file in found:
        command = ["nm", "--print-size", str(file)]
        symbols = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        # To demangle every name would take seconds.
        rust = "\n".join(one for one in symbols.splitlines() if "parquet" in one or "toml" in one)
        command = ["c++filt"]
        symbols = subprocess.run(
            command, input=rust, capture_output=True, text=True, check=True
        ).stdout
        assert re.search(r"[ <]toml_parser::", symbols)
        # LLVM merges equal functions under one name: a getter or a drop of a few lines may
        # have the name of one of Parquet's. What reads or writes a file takes kilobytes.
        sizes = re.findall(r"^\w+ (\w+) \w ((?:.*[ <])?parquet::.*)$", symbols, re.MULTILINE)
        assert [(size, name) for size, name in sizes if int(size, 16) > 512] == [], file


def needed(name: str, found: dict[str, str]) -> dict[str, str]:
    """The licences of an installed package and of what it needs to run."""
    try:
        about = distribution(name)
    except PackageNotFoundError:
        return found  # needed on another system only
    told = about.metadata.get("License-Expression")
    classifiers = about.metadata.get_all("Classifier") or []
    words = [one.split(" :: ")[-1] for one in classifiers if one.startswith("License ::")]
    words.append((about.metadata.get("License") or "").strip())
    spoken = [IN_WORDS.get(one, one) for one in words]
    found[name] = told or next((one for one in spoken if one in OF_PYTHON), "")
    for line in about.requires or []:
        requirement, _, marker = line.partition(";")
        other = re.split(r"[^\w.-]", requirement.strip())[0].lower()
        if "extra" not in marker and other not in found:
            needed(other, found)
    return found


def test_python_packages_have_licences_that_allow_ours() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    licences: dict[str, str] = {}
    for one in project["dependencies"]:
        needed(re.split(r"[^\w.-]", one)[0].lower(), licences)
    assert {"numpy", "pyarrow", "matplotlib", "click", "rich"} <= licences.keys()
    refused = {name: told for name, told in licences.items() if not allows(told, OF_PYTHON)}
    assert refused == {}
