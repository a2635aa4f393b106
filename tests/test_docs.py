"""The docs: links, generated parts, and every command and example that README shows."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from clift.cli.main import run

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()

SCENARIO = """
duration = "60 s"
scheme = "ARQ"
trace.file = "my.csv"
link.wrap = true
link.rtt = "500 ms"
"""


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def test_links_lead_somewhere_and_generated_parts_are_up_to_date() -> None:
    command = [sys.executable, str(ROOT / "docs" / "build.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_make_targets_of_the_readme_exist() -> None:
    shown = set(re.findall(r"\$ make ([a-z-]+)", README))
    assert {"demo", "test"} <= shown
    makefile = (ROOT / "Makefile").read_text()
    for target in shown:
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    import clift

    phy = clift.channel.gilbert_elliott(slots=120_000, alpha=0.99, beta=0.5, seed=1)
    phy.write(tmp_path / "my.csv")
    log = [f"{second},{4 + second % 3},{20 + second % 5},{second % 2}" for second in range(20)]
    (tmp_path / "my-log.csv").write_text("s,mbps,ms,lost\n" + "\n".join(log))
    (tmp_path / "my-scenario.toml").write_text(SCENARIO)
    (tmp_path / "my-study.toml").write_text(SCENARIO)
    return tmp_path


def commands() -> list[str]:
    lines = [line for block in blocks("console") for line in block.splitlines()]
    return [line[2:] for line in lines if line.startswith("$ .venv/bin/clift ")]


@pytest.mark.parametrize("command", commands())
def test_the_commands_of_the_readme_run(command: str, folder: Path) -> None:
    arguments = shlex.split(command, comments=True)[1:]
    if arguments[0] == "report":
        assert run(["run", str(folder / "my-scenario.toml"), "-o", str(folder / "results")]) == 0
    done = subprocess.run(
        [sys.executable, "-m", "clift", *arguments],
        cwd=folder,
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    # An import says what it took, and no more.
    assert done.stderr if arguments[:2] == ["trace", "import"] else done.stdout


@pytest.mark.parametrize("block", blocks("python"))
def test_the_python_of_the_readme_runs(block: str, folder: Path) -> None:
    subprocess.run([sys.executable, "-c", block], cwd=folder, check=True, capture_output=True)
