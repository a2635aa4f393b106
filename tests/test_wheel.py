"""The wheel: built, installed into a new environment, and used without a Rust toolchain."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from email import message_from_bytes
from email.message import Message
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parent.parent

pytestmark = [
    pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo builds the wheel"),
    # A release build takes minutes.
    pytest.mark.long,
    pytest.mark.timeout(1800),
]


@pytest.fixture(scope="module")
def wheel() -> Path:
    """The wheel, built from the source distribution."""
    subprocess.run([sys.executable, ROOT / "packaging" / "dist.py"], check=True)
    [found] = (ROOT / "dist").glob("*.whl")
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="glibc is Linux's")
@pytest.mark.skipif(find_spec("ziglang") is None, reason="skipped: no ziglang (`make wheel`)")
def test_it_needs_no_newer_glibc_than_its_name_says(wheel: Path) -> None:
    assert "-manylinux_2_28_" in wheel.name
    with ZipFile(wheel) as files:
        [library] = [files.read(one) for one in files.namelist() if one.endswith(".so")]
    needed = {(int(one), int(two)) for one, two in re.findall(rb"GLIBC_(\d+)\.(\d+)", library)}
    assert max(needed) <= (2, 28)


def metadata(wheel: Path) -> Message:
    with ZipFile(wheel) as files:
        [name] = [one for one in files.namelist() if one.endswith(".dist-info/METADATA")]
        return message_from_bytes(files.read(name))


def test_it_serves_every_python_from_the_oldest_on_and_says_what_it_is(wheel: Path) -> None:
    assert "-cp311-abi3-" in wheel.name
    said = metadata(wheel)
    assert said["License-Expression"] == "MIT"
    assert said["License-File"] == "LICENSE"
    assert said["Requires-Python"] == ">=3.11"
    assert {"pandas", "notebook", "cluster"} <= set(said.get_all("Provides-Extra", []))
    assert "Typing :: Typed" in said.get_all("Classifier", [])
    assert said["Description-Content-Type"].startswith("text/markdown")
    assert said.get_payload().startswith("# CLIFT")


def test_it_runs_an_example_without_rust(wheel: Path, tmp_path: Path) -> None:
    home = tmp_path / "venv"
    venv.create(home, with_pip=False, symlinks=True)
    python = home / "bin" / "python"
    install = ["pip", "--python", str(python), "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([sys.executable, "-m", *install, str(wheel)], check=True)
    # What it depends on is lent by the environment of the tests, without its own clift.
    where = sysconfig.get_path("purelib", vars={"base": str(home), "platbase": str(home)})
    lent = {sysconfig.get_path(kind) for kind in ("purelib", "platlib")}
    Path(where, "lent.pth").write_text("\n".join(lent))
    example = tmp_path / "example.toml"
    shutil.copy(ROOT / "examples" / "limited_window.toml", example)
    words = [home / "bin" / "clift", "run", example, "--runs", "1", "--json", "-o", "out"]
    path = os.pathsep.join([str(home / "bin"), "/usr/bin", "/bin"])
    assert shutil.which("cargo", path=path) is None
    done = subprocess.run(
        words, cwd=tmp_path, env={"PATH": path}, capture_output=True, check=False, text=True
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["complete"]
    assert (tmp_path / "out" / "cwnd.png").stat().st_size > 1000
    # What a page is made of is no Python, and has to be in the wheel all the same.
    page = [home / "bin" / "clift", "report", "out"]
    subprocess.run(page, cwd=tmp_path, env={"PATH": path}, capture_output=True, check=True)
    assert "uPlot" in (tmp_path / "out" / "report.html").read_text()
    if (ROOT / "python" / "clift" / "explore" / "clift.wasm").exists():
        explore = [home / "bin" / "clift", "explore", "--save", "explorer.html"]
        subprocess.run(explore, cwd=tmp_path, env={"PATH": path}, capture_output=True, check=True)
    asked = "import clift; print(clift.__file__)"
    file = subprocess.run([python, "-c", asked], capture_output=True, check=True, text=True).stdout
    assert Path(file.strip()).is_relative_to(home)
