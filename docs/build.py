"""Regenerates what the docs take from elsewhere, and checks every link: ``make docs``.

``--check`` changes nothing and exits with 1 if a page is out of date or a link leads nowhere.
"""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parent.parent
MATRIX = ROOT / "core" / "tests" / "data" / "tcp_matrix.csv"
NAMES = {"newreno": "NewReno", "cubic": "CUBIC"}


def main() -> int:
    """Writes (or, with ``--check``, compares) the generated parts; returns the exit code."""
    check = "--check" in sys.argv[1:]
    command = [sys.executable, str(ROOT / "docs" / "scenario_reference.py")]
    faults = subprocess.run(command + ["--check"] * check, check=False).returncode
    faults += not put(ROOT / "docs" / "validation.md", "matrix", matrix(), check)
    if not check:
        faults += not put(ROOT / "README.md", "demo", demo(), check)
    for fault in dead_links():
        print(fault, file=sys.stderr)
        faults += 1
    return min(faults, 1)


def put(page: Path, name: str, text: str, check: bool) -> bool:
    """Puts text between ``<!-- name -->`` and ``<!-- /name -->``; False: it was not there."""
    before = page.read_text()
    pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
    after = pattern.sub(lambda match: match[1] + text + match[2], before)
    if check and after != before:
        print(f"{page.relative_to(ROOT)} is out of date; run make docs", file=sys.stderr)
        return False
    if not check:
        page.write_text(after)
    return True


def matrix() -> str:
    """The table of goodputs beside ns-2's, from the snapshot that a test compares."""
    cells: dict[tuple[float, float, float], dict[str, str]] = defaultdict(dict)
    with MATRIX.open() as file:
        for row in csv.DictReader(file):
            key = (float(row["rate"]), float(row["rtt_ms"]), float(row["loss"]))
            ours = f"{float(row['clift_kbps']):.1f} ± {float(row['clift_error']):.1f}"
            theirs = f"{float(row['ns2_kbps']):.1f} ± {float(row['ns2_error']):.1f}"
            cells[key][row["variant"]] = f"{ours} | {theirs}"
    variants = [name for name in NAMES if any(name in cell for cell in cells.values())]
    heads = " | ".join(f"{NAMES[name]}, CLIFT | ns-2" for name in variants)
    lines = [f"| kbit/s, RTT, loss | {heads} |", "|---" * (1 + 2 * len(variants)) + "|"]
    for (rate, rtt, loss), cell in sorted(cells.items()):
        values = " | ".join(cell.get(name, "| ") for name in variants)
        lines.append(f"| {rate / 1e3:g}, {rtt:g} ms, {loss:g} | {values} |")
    return "\n".join(lines) + "\n"


def demo() -> str:
    """What the main job prints."""
    command = [sys.executable, "-m", "clift", "run", str(ROOT / "examples" / "geo_mobile.toml")]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    narrow = "\n".join(line.rstrip() for line in output.splitlines())
    return f"```text\n{narrow}\n```\n"


def dead_links() -> list[str]:
    """Relative links of every page that lead to no file."""
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
