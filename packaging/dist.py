"""Builds the source distribution, and the wheel from it: `make wheel`.

The source distribution holds every tracked file, with the adapters for ns-2 and ns-3; maturin's
own holds the Python package only. A package index shows README.md, where links relative to the
repository lead nowhere: they are made absolute, by the address `Repository` in pyproject.toml.

On Linux, Zig (`ziglang` of PyPI) links the wheel against the symbols of glibc 2.28, so that it runs
on every later one; maturin refuses the wheel if a symbol is newer. Without Zig the wheel needs the
glibc of the machine that built it.
"""

import argparse
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COPY = ROOT / "target" / "dist"
#: Options of maturin for a wheel that Linux systems since 2018 can install.
PORTABLE = ["--zig", "--compatibility", "manylinux_2_28"]
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?![a-z]+:|#)([^)\s]+)\)")


def absolute(readme: str, repository: str) -> str:
    """README.md with links that lead somewhere from everywhere."""

    def link(found: re.Match[str]) -> str:
        kind = "raw" if found[1] else "blob"
        return f"{found[1]}[{found[2]}]({repository}/{kind}/main/{found[3]})"

    return LINK.sub(link, readme)


def main() -> None:
    """Builds into dist/."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--sdist", action="store_true", help="the source distribution only")
    arguments.add_argument("maturin", nargs="*", help="options of `maturin build`, after --")
    given = arguments.parse_args()
    shutil.rmtree(COPY, ignore_errors=True)
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (COPY / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, COPY / "tree" / name)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    readme = COPY / "tree" / "README.md"
    readme.write_text(absolute(readme.read_text(), project["urls"]["Repository"]))
    maturin = [sys.executable, "-m", "maturin"]
    dist = ROOT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    subprocess.run([*maturin, "sdist", "--out", dist], cwd=COPY / "tree", check=True)
    [source] = dist.glob("*.tar.gz")
    name = source.name.removesuffix(".tar.gz")
    with tarfile.open(source) as file:
        file.extract(f"{name}/PKG-INFO", COPY, filter="data")
    (COPY / name / "PKG-INFO").rename(COPY / "tree" / "PKG-INFO")
    with tarfile.open(source, "w:gz") as file:
        file.add(COPY / "tree", name)
    if given.sdist:
        return
    with tarfile.open(source) as file:
        file.extractall(COPY / "source", filter="data")
    unpacked = COPY / "source" / name
    # Built by `make wasm`, where its target can be had; without it `clift explore` says what to do.
    module = Path("python", "clift", "explore", "clift.wasm")
    if (ROOT / module).is_file():
        shutil.copy2(ROOT / module, unpacked / module)
    build = ["build", "--release", "--strip", "--locked", "--quiet"]
    build += ["--interpreter", sys.executable]
    if sys.platform == "linux" and importlib.util.find_spec("ziglang"):
        build += PORTABLE
    elif sys.platform == "linux":
        sys.stderr.write("ziglang is not installed: the wheel needs this system's glibc\n")
    # maturin looks for Python, and with it for Zig, in PATH.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = os.environ | {"CARGO_TARGET_DIR": str(ROOT / "target"), "PATH": path}
    subprocess.run(
        [*maturin, *build, "--out", dist, *given.maturin], cwd=unpacked, env=environment, check=True
    )


if __name__ == "__main__":
    main()
