"""The JSON Schema and the program say the same of a scenario file."""

import json
import tomllib
from pathlib import Path

import jsonschema  # type: ignore[import-untyped]
import pytest

import clift
from clift import _clift

ROOT = Path(__file__).parent.parent
VALIDATOR = jsonschema.Draft202012Validator(json.loads(_clift.scenario_schema()))
EVEN = 'model = "bernoulli"\nerasures = "2 %"\nrate = "1 Mbit/s"\n'

RIGHT = {
    "a model that varies": 'channel.rate = "1 Mbit/s"\nchannel.erasures = "2 %"\n'
    '[vary]\nchannel.model = ["bernoulli"]\n',
    "erasures that vary": 'channel.rate = "1 Mbit/s"\nchannel.model = "bernoulli"\n'
    '[vary]\nchannel.erasures = ["1 %", "2 %"]\n',
    "an axis that sets both": '[channel]\nrate = "1 Mbit/s"\n'
    '[vary.a]\nx = { "channel.model" = "bernoulli", "channel.erasures" = 0.1 }\n',
    "a size of a file that varies": 'hybrid = {}\napplication.type = "file"\n'
    '[vary]\napplication.size = ["9 kB"]\n',
    "a share of all": f"[channel]\n{EVEN}".replace("2 %", "100 %"),
    "a share without a unit": f"[channel]\n{EVEN}".replace("2 %", " 0.02 "),
    "a preset": '[ntn]\npreset = "nr-ntn-leo600"\n',
    "a small LLDU": f'[channel]\n{EVEN}lldu = "0.1 kB"\n',
    "leading zeros": f"[channel]\n{EVEN}".replace("2 %", "002.50 %"),
}
WRONG = {
    "an unknown preset": '[ntn]\npreset = "nr-ntn-moon"\n',
    "more than all": f"[channel]\n{EVEN}".replace("2 %", "200 %"),
    "a little more than all": f"[channel]\n{EVEN}".replace("2 %", "100.1 %"),
    "more than all without a unit": f"[channel]\n{EVEN}".replace("2 %", "1.5"),
    "per cent without its sign": f"[channel]\n{EVEN}".replace('"2 %"', "2"),
    "an LLDU of nothing": f'[channel]\n{EVEN}lldu = "0 B"\n',
    "an LLDU of 0.0 kB": f'[channel]\n{EVEN}lldu = "0.0 kB"\n',
    "no size of a trace": '[trace]\nfile = "x.csv"\nlldu = "0 B"\n',
    "no model": '[channel]\nrate = "1 Mbit/s"\nerasures = 0.1\n',
    "no erasures": '[channel]\nrate = "1 Mbit/s"\nmodel = "bernoulli"\n',
    "no size of a file": 'hybrid = {}\napplication.type = "file"\n',
    "an unknown key": "[hybrid]\nm = 3\n",
    "an unknown key beside what varies": "[hybrid]\nm = 3\n[vary]\nhybrid.k = [9, 10]\n",
    "text for a number beside what varies": '[hybrid]\nn = "x"\n[vary]\nhybrid.k = [9, 10]\n',
}


@pytest.mark.parametrize("name", RIGHT)
def test_the_schema_accepts_what_the_program_accepts(name: str) -> None:
    assert clift.Scenario.parse(RIGHT[name]).cells()
    VALIDATOR.validate(tomllib.loads(RIGHT[name]))


@pytest.mark.parametrize("name", WRONG)
def test_the_schema_refuses_what_the_program_refuses(name: str) -> None:
    with pytest.raises(clift.CliftError):
        clift.Scenario.parse(WRONG[name]).cells()
    assert not VALIDATOR.is_valid(tomllib.loads(WRONG[name]))


@pytest.mark.parametrize(
    "path", sorted((ROOT / "examples").glob("*.toml")), ids=lambda one: one.stem
)
def test_examples_are_right_for_both(path: Path) -> None:
    assert clift.Scenario.read(path).cells()
    VALIDATOR.validate(tomllib.loads(path.read_text()))
