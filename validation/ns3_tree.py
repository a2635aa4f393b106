"""The module in a source tree of ns-3: left out without the C library, built and tested with it.

    python validation/ns3_tree.py TREE [further options of ./ns3 configure]

TREE is a release of ns-3, 3.37 or newer, as its archive or a checkout has it. The script copies
the module to contrib/clift there, and ns-3 configures and builds what it needs by `./ns3`: more
than 300 files. `make c` builds the C library before.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MODULE = ROOT / "hosts" / "ns3" / "contrib" / "clift"
LIBRARY = ROOT / "target" / "c"
# The second and third are for the examples; tests of 3.37 itself do not link without the last.
# Names are divided by semicolons in every version.
MODULES = "clift;applications;point-to-point;csma"


def call(tree: Path, log: Path, library: Path, *words: str) -> str:
    """Runs a command of ns-3 with the C library in a folder; returns what it prints."""
    environment = os.environ | {"CLIFT_DIR": str(library)}
    done = subprocess.run(
        [sys.executable, *words],
        cwd=tree,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    with log.open("a") as file:
        file.write(f"$ {' '.join(words)}\n{done.stdout}")
    if done.returncode != 0:
        tail = "\n".join(done.stdout.splitlines()[-20:])
        sys.exit(f"{tail}\nerror: {' '.join(words)} fails; all of it is in {log}")
    return done.stdout


def built(said: str) -> set[str]:
    """The modules that ns-3 is going to build."""
    found = re.search(r"Modules configured to be built:\n(.*?)\n\n", said, re.DOTALL)
    return set(found[1].split()) if found else set()


def main() -> int:
    """Does what the command line says; returns the exit code."""
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    tree = Path(sys.argv[1]).resolve()
    if not (tree / "ns3").is_file() or not (tree / "VERSION").is_file():
        sys.exit(f"error: {tree} is no source tree of ns-3: it has no ns3 or no VERSION")
    if not (LIBRARY / "libclift.a").exists():
        sys.exit(f"error: {LIBRARY} has no libclift.a; make c builds it")
    place = tree / "contrib" / "clift"
    if place.is_symlink():
        place.unlink()
    shutil.copytree(MODULE, place, dirs_exist_ok=True)
    log = tree / "clift.log"
    log.unlink(missing_ok=True)
    version = (tree / "VERSION").read_text().strip()

    configure = ["ns3", "configure", "--enable-tests", "--enable-examples"]
    configure += [f"--enable-modules={MODULES}", "--filter-module-examples-and-tests=clift"]
    configure += sys.argv[2:]
    with tempfile.TemporaryDirectory() as empty:
        said = call(tree, log, Path(empty), *configure)
    modules = built(said)
    if (
        "clift: left out, since" not in said
        or "clift" in modules
        or "point-to-point" not in modules
    ):
        sys.exit(f"error: without the library ns-3 {version} configures {sorted(modules)}: {log}")
    print(f"ns-3 {version}: without the library configured, the module left out", flush=True)

    said = call(tree, log, LIBRARY, *configure)
    if "clift" not in built(said):
        sys.exit(f"error: ns-3 {version} does not configure the module with its library: {log}")
    call(tree, log, LIBRARY, "ns3", "build")
    print(f"ns-3 {version}: built", flush=True)
    text = tree / "clift-tests"
    words = ["--no-build", "--nocolor", "--suite=clift", "--fullness=EXTENSIVE", f"--text={text}"]
    call(tree, log, LIBRARY, "test.py", *words)
    cases = re.findall(r"^(\w+): Test Case", text.with_suffix(".txt").read_text(), re.MULTILINE)
    if set(cases) != {"PASS"}:
        sys.exit(f"error: ns-3 {version}: tests fail or none ran; they are in {text}.txt")
    print(f"ns-3 {version}: {len(cases)} tests pass", flush=True)
    scenario = place / "examples" / "geo.toml"
    for program in (f"clift-first {scenario}", f"clift-bulk --scenario={scenario} --json"):
        said = call(tree, log, LIBRARY, "ns3", "run", "--no-build", program)
        print(f"ns-3 {version}: {program.split()[0]}: {said.splitlines()[0]}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
