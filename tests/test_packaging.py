"""What is published: addresses and versions agree, the source distribution is complete."""

import re
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CARGO = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]


def test_addresses_and_versions_agree() -> None:
    urls = PROJECT["urls"]
    assert (urls["Homepage"], urls["Repository"]) == (CARGO["homepage"], CARGO["repository"])
    assert all(url.startswith(urls["Repository"]) for url in urls.values())
    citation = (ROOT / "CITATION.cff").read_text()
    assert f"\nversion: {CARGO['version']}\n" in citation
    assert f"\nrepository-code: {urls['Repository']}\n" in citation
    assert f"\n## [{CARGO['version']}]" in (ROOT / "CHANGELOG.md").read_text()


@pytest.mark.long
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="skipped: not a checkout of git")
def test_the_source_distribution_holds_every_file_and_a_readme_that_leads_somewhere() -> None:
    command = [sys.executable, ROOT / "packaging" / "dist.py", "--sdist"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    name = f"clift-{CARGO['version']}"
    with tarfile.open(ROOT / "dist" / f"{name}.tar.gz") as file:
        names = {one.removeprefix(f"{name}/") for one in file.getnames()}
        about = file.extractfile(f"{name}/PKG-INFO")
        assert about is not None
        text = about.read().decode()
    needed = ["Makefile", "LICENSE", "hosts/ns2/clift.cc", "hosts/ns2/LICENSE"]
    needed += ["hosts/ns3/contrib/clift/CMakeLists.txt", "bindings/c/include/clift.h"]
    assert set(needed) <= names
    readme = text.partition("\n# CLIFT\n")[2]
    links = re.findall(r"\]\(([^)]+)\)", readme)
    assert len(links) > 10
    assert [link for link in links if not link.startswith("https://")] == []
    assert f"({PROJECT['urls']['Repository']}/raw/main/docs/images/chain.svg)" in readme
