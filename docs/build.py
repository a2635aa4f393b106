"""Regenerates the generated parts of the docs and checks every link: ``make docs``.

``--check`` changes nothing and exits with 1 if a page is out of date or a link leads nowhere.
"""

from __future__ import annotations

import contextlib
import io
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from pages import ROOT, put

from clift.cli.main import run


def main() -> int:
    """Writes (or, with ``--check``, compares) the generated parts; returns the exit code."""
    check = "--check" in sys.argv[1:]
    faults = 0
    scripts = ["scenario_reference.py", "python_front.py", "binding_stub.py"]
    scripts += ["summary_types.py", "metrics_table.py", "tcp_table.py", "hybrid_table.py"]
    scripts += ["cli_reference.py"]
    for script in scripts:
        faults += _checked(script) if check else _written(script)
    faults += examples(check)
    if not check:
        for script in ("start_pages.py", "figures.py"):
            subprocess.run([sys.executable, str(ROOT / "docs" / script)], check=True)
        put(ROOT / "README.md", "demo", f"```text\n{demo()}```\n")
        put(ROOT / "README.md", "own", f"```text\n{own()}```\n")
    for fault in dead_links():
        print(fault, file=sys.stderr)
        faults += 1
    return min(faults, 1)


def _written(script: str) -> int:
    """Runs a script in its own process, which imports what the scripts before it have written."""
    command = [sys.executable, str(ROOT / "docs" / script)]
    return subprocess.run(command, check=False).returncode


def _checked(script: str) -> int:
    """Runs a script in this process, which has imported the package; `sys.argv` has --check."""
    try:
        runpy.run_path(str(ROOT / "docs" / script), run_name="__main__")
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        return int(end.code not in (None, 0))
    return 0


def examples(check: bool) -> int:
    """Quotes the examples in the guide on extensions; returns how many are out of date."""
    page = ROOT / "docs" / "guides" / "extend.md"
    faults = 0
    for name in ("own_scheme.rs", "own_congestion_control.rs"):
        code = (ROOT / "core" / "examples" / name).read_text()
        block = f"```rust\n{code}```\n"
        if f"<!-- {name} -->\n{block}<!-- /{name} -->" in page.read_text():
            continue
        if check:
            print(f"{page.relative_to(ROOT)}: {name} is out of date: make docs", file=sys.stderr)
            faults += 1
        else:
            put(page, name, block)
    return faults + python_examples(check)


def python_examples(check: bool) -> int:
    """Quotes the examples in the guides on parts in Python, and their output."""
    guides = ROOT / "docs" / "guides"
    own, queue = guides / "extend-in-python.md", guides / "queue-in-python.md"
    pages = {"scheme": own, "congestion": own, "path_scheduler": own, "carrier_scheduler": own}
    pages |= {"handover_control": own, "queue": queue, "application": queue}
    faults = 0
    for name, page in pages.items():
        path = ROOT / "examples" / f"own_{name}.py"
        block = f"```python\n{path.read_text()}```\n"
        if check and block not in page.read_text():
            print(f"{page.relative_to(ROOT)}: {path.name} is out of date", file=sys.stderr)
            faults += 1
        if not check:
            command = [sys.executable, str(path)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            put(page, path.name, f"{block}\nIt prints:\n\n```text\n{done.stdout}```\n")
    return faults


def demo() -> str:
    """Output of `make demo`."""
    return _printed(ROOT, ["run", str(ROOT / "examples" / "demo.toml"), "--brief"])


def own() -> str:
    """First table and verdict of the README's own log, by the commands and the file it shows."""
    page = (ROOT / "README.md").read_text()
    [scenario] = re.findall(r"```toml\n(.*?)```", page, flags=re.DOTALL)
    [line] = [one for one in page.splitlines() if "clift trace import" in one]
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        shutil.copy(ROOT / "examples" / "link_log.csv", folder / "my-log.csv")
        (folder / "my.toml").write_text(scenario)
        _printed(folder, shlex.split(line)[2:])
        printed = _printed(folder, ["run", "my.toml"]).split("\n\n")
        return "\n\n".join([*printed[:2], printed[-2]]) + "\n"


def _printed(folder: Path, words: list[str]) -> str:
    output = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(output):
        code = run(words)
    if code != 0:
        raise SystemExit(f"error: `clift {shlex.join(words)}` ended with exit code {code}")
    return "\n".join(line.rstrip() for line in output.getvalue().splitlines()) + "\n"


def dead_links() -> list[str]:
    """Relative links whose file does not exist."""
    faults = []
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("bench/**/*.md")]
    for page in pages:
        text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
            if "://" not in target and not (page.parent / target).exists():
                faults.append(f"{page.relative_to(ROOT)}: no such file: {target}")
    return faults


if __name__ == "__main__":
    sys.exit(main())
