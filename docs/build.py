"""Regenerates the generated parts of the docs and checks every link: ``make docs``.

``--check`` changes nothing and exits with 1 if a page is out of date or a link leads nowhere.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def main() -> int:
    """Writes (or, with ``--check``, compares) the generated parts; returns the exit code."""
    check = "--check" in sys.argv[1:]
    faults = 0
    scripts = ["scenario_reference.py", "python_front.py", "binding_stub.py"]
    scripts += ["summary_types.py", "metrics_table.py", "tcp_table.py", "hybrid_table.py"]
    for script in scripts:
        command = [sys.executable, str(ROOT / "docs" / script)]
        faults += subprocess.run(command + ["--check"] * check, check=False).returncode
    faults += examples(check)
    if not check:
        put(ROOT / "README.md", "demo", demo())
    for fault in dead_links():
        print(fault, file=sys.stderr)
        faults += 1
    return min(faults, 1)


def put(page: Path, name: str, text: str) -> None:
    """Puts text between ``<!-- name -->`` and ``<!-- /name -->``."""
    pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
    page.write_text(pattern.sub(lambda match: match[1] + text + match[2], page.read_text()))


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
    """Quotes the examples in the guide on parts in Python, and what they print."""
    page = ROOT / "docs" / "guides" / "extend-in-python.md"
    faults = 0
    for name in ("scheme", "congestion", "queue", "application"):
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
    """Output of the main job."""
    clift = [sys.executable, "-m", "clift"]
    picture = ROOT / "docs" / "images" / "what_changed.png"
    commands = (
        [*clift, "run", str(ROOT / "examples" / "geo_mobile.toml")],
        [*clift, "paper", "ijscn2014", "--what-changed", "-o", str(picture)],
    )
    output = "\n".join(
        subprocess.run(command, check=True, capture_output=True, text=True).stdout
        for command in commands
    ).replace(f"{picture}", "results/what_changed.png")
    narrow = "\n".join(line.rstrip() for line in output.splitlines())
    return f"```text\n{narrow}\n```\n"


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
