"""Coding above the link, as a scenario gives it and a summary shows it."""

from pathlib import Path
from typing import Any

import pytest

import clift
from clift.errors import ScenarioError

ROOT = Path(__file__).parent.parent


def scenario(**coding: Any) -> dict[str, Any]:
    """Datagrams of 1000 bytes over 5 % losses, 125 a second."""
    return {
        "seed": 3,
        "duration": "8 s",
        "transport": {"protocol": "udp", "packet": "1000 B"},
        "application": {"type": "constant rate", "message": "972 B", "rate": "972 kbit/s"},
        "path": [{"leg": {"rate": "2 Mbit/s", "delay": "20 ms", "loss": "5 %"}, **coding}],
    }


def first_link(**coding: Any) -> dict[str, Any]:
    """Counters of the hop, those of the code included."""
    return dict(clift.simulate(scenario(**coding)).summary()["links"][0])


@pytest.mark.parametrize("code", ["rlc", "block"])
def test_a_code_delivers_what_the_path_loses(code: str) -> None:
    plain = first_link()
    link = first_link(coding={"code": code, "window": 20, "rate": 0.8})
    offered = link["packets_offered"]
    assert offered == plain["packets_offered"] >= 1000
    assert plain["packets_lost"] > 30
    assert link["packets_lost"] == link["packets_undecodable"] <= 2
    assert link["packets_recovered"] > 30
    assert link["packets_delivered"] >= offered - link["packets_lost"] - link["packets_pending"]
    assert link["repair_packets_sent"] == offered // 20 * 5 if code == "block" else offered // 4
    assert link["repair_packets_dropped"] == link["coding_reports"] == 0


def test_a_wrong_key_is_named() -> None:
    with pytest.raises(ScenarioError, match=r"coding.rate: below 0.1"):
        clift.simulate(scenario(coding={"rate": 0.01}))
    with pytest.raises(ScenarioError, match=r"coding.windo: unknown key.*did you mean window"):
        clift.simulate(scenario(coding={"windo": 3}))


def test_the_example_has_its_cells() -> None:
    assert len(clift.Scenario.read(ROOT / "examples" / "coding_above.toml").cells()) == 168
