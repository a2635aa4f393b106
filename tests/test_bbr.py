"""BBR from Python and from scenario files."""

import pytest

import clift


@pytest.fixture
def link():
    phy = clift.channel.bernoulli(slots=400_000, p=0.0, seed=1)
    return clift.tmt.apply(phy, clift.Arq(), rtt_ms=100)


def test_bbr_is_in_profile_linux_only(link):
    run = clift.simulate(link, transport="bbr", profile="linux", duration_s=10)
    assert run.goodput_kbps > 0
    with pytest.raises(clift.ScenarioError, match="profile `papers` supports newreno"):
        clift.simulate(link, transport="bbr", profile="papers", duration_s=10)


def test_the_seed_draws_the_phase_of_the_gain_cycle(link):
    def windows(seed):
        run = clift.simulate(link, transport="bbr", profile="linux", duration_s=10, seed=seed)
        return run.series(interval_ms=50)["cwnd_packets"].to_pylist()

    assert windows(1) == windows(1)
    assert len({tuple(windows(seed)) for seed in range(1, 7)}) > 1
