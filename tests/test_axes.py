"""Axes of a study: ranges, keys that move together, samples, and a million cells."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy
from command import clift as clift_command

import clift
from clift.cli.main import run

LIVE = """
duration = "1 s"
[channel]
model = "bernoulli"
rate = "263 kbit/s"
[link]
live = true
"""
BITS = 6


def sample(method: str, keys: int, seed: int = 1) -> np.ndarray:
    """The points of a sample, each coordinate from 0 to 2^BITS."""
    ranges = {f"path.{n}.leg.loss": {"from": 0, "to": 1} for n in range(keys)}
    path = [{"leg": {"delay": "1 ms", "rate": "1 Mbit/s"}} for _ in range(keys)]
    vary = {"sample": {"method": method, "points": 1 << BITS, "seed": seed} | ranges}
    scenario = clift.Scenario({"path": path, "vary": vary})
    [(name, labels)] = scenario.axes
    assert name == "sample"
    found = np.array([[float(part) for part in label.split(", ")] for label in labels])
    losses = [[hop["leg"]["loss"] for hop in cell.config["path"]] for cell in scenario.cells()]
    assert (found == np.array(losses)).all()  # the label is what runs
    return found * (1 << BITS)


@pytest.mark.parametrize("keys", [1, 3, 21])
def test_sobol_is_scipys_but_for_the_shift_of_the_seed(keys: int) -> None:
    expected = scipy.stats.qmc.Sobol(keys, scramble=False).random(1 << BITS) * (1 << BITS)
    for seed in (1, 7):
        # Six digits: a value at the edge of an interval may be rounded out of it.
        found = np.floor(sample("sobol", keys, seed) + 1e-3)
        shift = found.astype(int) ^ expected.astype(int)
        assert (shift == shift[0]).all()


def test_a_latin_hypercube_has_a_point_in_each_interval() -> None:
    found = np.floor(sample("lhs", 5))
    for column in found.T:
        assert sorted(column) == list(range(1 << BITS))
    assert (sample("lhs", 5) == sample("lhs", 5)).all()
    assert not (sample("lhs", 5, 2) == sample("lhs", 5)).all()


def test_a_dict_and_a_file_mean_the_same() -> None:
    rates = {"from": "100 kbit/s", "to": "10 Mbit/s", "points": 7, "scale": "log"}
    text = f"""{LIVE}
        [vary]
        channel.rate = {{ from = "100 kbit/s", to = "10 Mbit/s", points = 7, scale = "log" }}
        channel.erasures = {{ from = 0, to = 0.3, step = 0.1 }}
    """
    of_file = clift.Scenario.parse(text)
    link = {"live": True}
    channel = {"model": "bernoulli", "rate": "263 kbit/s"}
    losses = {"from": 0, "to": 0.3, "step": 0.1}
    vary = {"channel.rate": rates, "channel.erasures": losses}
    of_dict = clift.Scenario({"link": link, "channel": channel, "duration": "1 s", "vary": vary})
    assert of_file.axes == of_dict.axes
    assert of_file.axes[0][1][:2] == ["100 kbit/s", "215.443 kbit/s"]
    assert of_file.axes[1][1] == ["0", "0.1", "0.2", "0.3"]
    for one, other in zip(of_file.cells(), of_dict.cells(), strict=True):
        assert one.config["channel"] == other.config["channel"]
    chosen = clift.Scenario.parse(text, changes={"rate": '["1 Mbit/s", "10 Mbit/s"]'})
    assert chosen.axes[0][1] == ["1 Mbit/s", "10 Mbit/s"]


def test_a_dry_run_lists_the_axes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "axes.toml"
    path.write_text(LIVE + "[vary.zip.sky]\nchannel.erasures = [0.1, 0.2]\nseed = [1, 2]\n")
    assert run(["sweep", str(path), "-o", str(tmp_path / "out"), "--dry-run"]) == 0
    assert "axis     sky: 0.1, 1 | 0.2, 2\n" in capsys.readouterr().out
    path.write_text(LIVE + "[vary]\nlink.rtt = { from = 1, to = 2 }\n")
    assert run(["sweep", str(path), "-o", str(tmp_path / "out"), "--dry-run"]) == 2
    told = "axes.toml line 9: vary.link.rtt: a range needs `step` or `points`"
    assert told in capsys.readouterr().err


@pytest.mark.long
def test_a_million_cells_are_counted_in_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "many.toml"
    path.write_text(f"{LIVE}[vary]\nseed = {{ from = 1, to = 1000, step = 1 }}\n"
                    "channel.erasures = { from = 0, to = 0.999, step = 0.001 }\n")  # fmt: skip
    command = ["sweep", str(path), "-o", str(tmp_path), "--dry-run"]
    # The program tells its own peak: what the system tells of a child may be its parent's.
    program = (
        "import re, sys; from clift.cli.main import run; code = run(sys.argv[1:]);"
        "status = open('/proc/self/status').read();"
        "print(re.search(r'VmHWM:\\s+(\\d+) kB', status)[1], file=sys.stderr); sys.exit(code)"
    )
    counted = subprocess.run([sys.executable, "-c", program, *command, "--json"], check=True,
                             capture_output=True)  # fmt: skip
    found = json.loads(counted.stdout)
    assert (found["cells"], found["missing"]) == (10**6, 10**6)
    assert int(counted.stderr.split()[-1]) < 400_000  # kB
    path.write_text(path.read_text().replace("0.999", "1"))
    refused = clift_command(*command)
    assert refused.returncode == 2
    assert "vary: more than 1000000 cells" in refused.stderr


def test_a_searched_key_is_not_a_range() -> None:
    channel = {"model": "bernoulli", "rate": "263 kbit/s", "erasures": 0.1}
    base = {"channel": channel, "duration": "1 s"}
    for vary in (
        {"zip": {"both": {"scheme": ["ARQ", "none"], "seed": [1, 2]}}},
        {"sample": {"points": 2, "scheme": ["ARQ", "none"]}},
    ):
        with pytest.raises(clift.ScenarioError, match="a search takes lists of `scheme`"):
            clift.design(base | {"vary": vary}, progress=False)
