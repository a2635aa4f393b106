"""QUIC from Python, in files and in campaigns."""

from pathlib import Path
from typing import Any

import pytest

import clift
from clift.campaign import run_campaign

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def link() -> clift.LinkTrace:
    """ARQ over a channel with short bursts, 264 kbit/s and 500 ms."""
    phy = clift.channel.gilbert_elliott(slots=100_000, alpha=0.99, beta=0.5, seed=1)
    return clift.tmt.apply(phy, "ARQ", rtt_ms=500)


@pytest.mark.parametrize("congestion", ["newreno", "cubic", "bbr", "clift-cubic", "hybla"])
def test_a_file_arrives_whole(link: clift.LinkTrace, congestion: str) -> None:
    run = clift.simulate(link, transport="quic", congestion=congestion, file_bytes=30_000)
    flow = run.summary()["flows"][0]
    assert flow["bytes_in_order"] == 30_000
    assert run.completion_s is not None
    # A handshake, half a round trip and the time of the bytes at least.
    assert 0.75 < run.completion_s < 20


def test_the_congestion_control_is_heard(link: clift.LinkTrace) -> None:
    def summary(**options: Any) -> Any:
        return clift.simulate(link, duration_s=30, **options).summary()

    cubic = summary(transport="quic")
    assert summary(transport="quic", congestion="cubic") == cubic
    assert summary(transport="quic", congestion="bbr") != cubic
    assert summary(transport="cubic") != cubic
    assert summary(transport="tcp", congestion="newreno") == summary(transport="newreno")
    assert summary(transport="quic", **{"transport.quic.initial_mtu": "1400 B"}) != cubic


def test_a_file_says_the_same() -> None:
    text = """
    duration = "20 s"
    scheme = "ARQ"
    link = { rtt = "500 ms" }
    [channel]
    model = "bernoulli"
    erasures = 0.01
    slot = "1 ms"
    lldu = "33 B"
    decoding = "1 ms"
    [transport]
    protocol = "quic"
    congestion = "newreno"
    [transport.quic]
    packet_threshold = 5
    """
    scenario = clift.Scenario.parse(text)
    first = clift.simulate(scenario).summary()
    assert clift.simulate(scenario).summary() == first
    many = clift.run_many([scenario, scenario.replace(seed=2)], threads=2)
    assert [run.summary() == first for run in many] == [True, False]


def test_protocols_vary_in_a_campaign(link: clift.LinkTrace) -> None:
    vary = {"transport.protocol": ["tcp", "quic"], "transport.congestion": ["newreno", "cubic"]}
    scenario = clift.Scenario(link, duration_s=10, vary=vary)
    results = run_campaign(scenario)
    assert len(results.cells) == 4
    goodputs = [cell.values[0]["goodput_kbps"] for cell in results.cells]
    assert len(set(goodputs)) > 2
    assert all(goodput > 0 for goodput in goodputs)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"transport": "newreno", "congestion": "bbr"}, "congestion"),
        (
            {"transport": "tcp", "congestion": "clift-cubic"},
            'is for protocol = "quic"; TCP has cubic',
        ),
        ({"transport": "quic", "congestion": "vegas"}, "unknown value `vegas`"),
        ({"transport": "quic", "packet_bytes": 900}, "900 bytes are not a QUIC packet"),
        ({"transport": "quic", "transport.quic.certificate": "9 B"}, "9 bytes of certificates"),
        ({"transport": "quic", "transport.quic.mtu": "9 B"}, "unknown key"),
    ],
)
def test_what_is_wrong_is_told(
    link: clift.LinkTrace, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(clift.ScenarioError) as error:
        clift.simulate(link, duration_s=1, **options)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_the_example_runs() -> None:
    scenario = clift.Scenario.read(ROOT / "examples" / "quic_geo.toml")
    assert scenario.size == 120
    few = [cell for cell in scenario.cells() if cell.labels["congestion"] == "cubic"]
    times = {}
    for cell in few:
        run = clift.simulate(cell.replications()[0])
        times[cell.labels["scheme"], cell.labels["protocol"]] = run.completion_s
    assert None not in times.values()
    # Over a link that repairs, both need rounds of slow start and little more.
    for protocol in ("tcp", "quic"):
        assert times["ARQ", protocol] < times["none", protocol]
