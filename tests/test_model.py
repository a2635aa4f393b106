"""The model in Python and on the command line."""

import itertools
import json
import math

import numpy as np
import pytest

import clift
from clift import model
from clift.cli.main import run
from clift.model_check import check, depart


def brute_force(n, alpha, beta, p_good, p_bad):
    """P(m, n) over all patterns of states and erasures."""
    bad = (1 - alpha) / (2 - alpha - beta)
    stay = [[alpha, 1 - alpha], [1 - beta, beta]]
    law = [0.0] * (n + 1)
    for states in itertools.product((0, 1), repeat=n):
        weight = [1 - bad, bad][states[0]]
        for a, b in itertools.pairwise(states):
            weight *= stay[a][b]
        erasures = [weight]
        for state in states:
            p = (p_good, p_bad)[state]
            erasures = [
                (erasures[m] * (1 - p) if m < len(erasures) else 0.0)
                + (erasures[m - 1] * p if m else 0.0)
                for m in range(len(erasures) + 1)
            ]
        law = [x + y for x, y in zip(law, erasures, strict=True)]
    return law


@pytest.mark.parametrize("n", [1, 2, 9])
def test_erasures_are_those_of_all_patterns(n):
    law = model.erasures(n, 0.9, 0.6, 0.05, 0.8)
    assert np.abs(law - brute_force(n, 0.9, 0.6, 0.05, 0.8)).max() < 1e-13


def test_arrays_give_what_single_channels_give():
    beta = np.linspace(0.1, 0.93, 12)
    alpha = np.array([[0.98], [0.99]])
    many = model.harq2(38, 51, alpha, beta, extra=1, max_rounds=3)
    assert many.efficiency.shape == (2, 12)
    for row, column in [(0, 0), (1, 5), (1, 11)]:
        one = model.harq2(38, 51, alpha[row, 0], beta[column], extra=1, max_rounds=3)
        for name, value in one.values().items():
            assert value == many.values()[name][row, column]


def test_channels_can_be_given_by_rate_and_burst():
    a = model.fec(10, 12, p=0.05, burst=4.0)
    b = model.fec(10, 12, alpha=1 - 0.05 / 0.95 / 4, beta=0.75)
    assert a.efficiency == pytest.approx(b.efficiency, abs=1e-14)
    independent = model.fec(10, 12, p=0.05)
    lost = sum(math.comb(11, m) * 0.05**m * 0.95 ** (11 - m) for m in range(2, 12))
    assert independent.residual_loss == pytest.approx(0.05 * lost, rel=1e-12)


def test_arq_without_slots_is_the_textbook():
    found = model.arq([0.01, 0.3], rtt_ms=500)
    p = np.array([0.01, 0.3])
    np.testing.assert_allclose(found.efficiency, 1 - p)
    np.testing.assert_allclose(found.recovery_delay_ms, 250 + 500 / (1 - p))
    np.testing.assert_allclose(found.printed_delay_ms, 250 + 500 / (1 - p))
    np.testing.assert_allclose(found.mean_delay_ms, 250 + 500 * p / (1 - p))


def test_the_law_of_the_delay_has_its_mean_and_quantiles():
    for found in (
        model.fec(10, 14, p=0.1, burst=3, interleave=2),
        model.arq(0.2, slot_ns=100_000),
        model.harq2(10, 12, p=0.1, burst=3, max_rounds=3),
        model.harq2(10, 12, p=0.1, burst=3, max_rounds=None),
    ):
        law = found.recovery_delays()
        assert law.mean_ms() == pytest.approx(found.recovery_delay_ms, rel=1e-12)
        assert law.probability.sum() == pytest.approx(1)
        median = law.quantile_ms(0.5)
        assert law.probability[law.delay_ms <= median].sum() >= 0.5
        assert law.probability[law.delay_ms < median].sum() < 0.5


def test_the_law_is_that_of_the_simulation():
    """Shares of the recovery delays of TMT, beside the model's."""
    channel = {"alpha": 0.98, "beta": 0.6}
    phy = clift.channel.gilbert_elliott(
        slots=3_000_000, slot_ns=114_783, decode_ns=1, seed=3, **channel
    )
    link = clift.tmt.apply(phy, "FEC(10/14)")
    law = model.fec(10, 14, **channel, decode_ns=1).recovery_delays()
    waits = (link.d_ns[link.d_ns > 1] - 1) // 114_783
    shares = np.bincount(waits, minlength=15) / len(waits)
    slots = np.rint((law.delay_ms - 250) * 1e6 / 114_783).astype(int)
    found = np.zeros(15)
    found[slots] = law.probability
    assert np.abs(shares - found).max() < 0.006


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: model.fec(13, 12, 0.9, 0.5), "k of n"),
        (lambda: model.fec(10, 12, 1.5, 0.5), "alpha = 1.5"),
        (lambda: model.fec(10, 12, 0.9, float("nan")), "beta = NaN"),
        (lambda: model.fec(10, 12, 1, 1), "never changes state"),
        (lambda: model.fec(10, 12, 0.9), "give alpha and beta"),
        (lambda: model.fec(10, 12, 0.9, 0.5, p=0.1), "either"),
        (lambda: model.arq(1.01), "p = 1.01"),
        (lambda: model.harq2(10, 12, p=0.9, burst=2.0), "longer bursts"),
        (lambda: model.harq2(10, 12, p=0.1, max_rounds=10**6), "too many"),
        (lambda: model.harq2(10, 12, p=0.1, rtt_ms=-1), "rtt_ms"),
        (lambda: model.fec(10, 12, [0.9, 0.8], [0.1, 0.2, 0.3]), "do not broadcast"),
        (lambda: model.fec(10, 12, p=[0.1, 0.2]).recovery_delays(), "one channel"),
        (lambda: model.erasures(-1, 0.9, 0.5), "n = -1"),
        (lambda: model.hybrid(12, 10), "K <= N"),
        (lambda: model.fit(clift.PhyTrace([0, 1], [1, 1])), "no chain fits a trace"),
        (lambda: check("ARQ", p=0.1, slots=1000), "too few"),
    ],
)
def test_bad_parameters_get_a_clear_error(call, says):
    with pytest.raises(clift.ScenarioError, match=says):
        call()


def test_the_hybrid_of_seed_002_decays_with_its_code():
    loss = model.hybrid(10, 10, frames=6, p=[1e-5, 1e-2])
    np.testing.assert_allclose(loss.packet, (1 - np.array([1e-5, 1e-2])) ** 60, rtol=1e-12)
    for n in range(14, 20):
        found = model.hybrid(10, n, frames=6, p=0.01)
        assert found.useful_share == pytest.approx(10 / n, rel=1e-3)


@pytest.mark.parametrize("scheme", ["FEC(10/12, interleave 4)", "ARQ(max 3)", "HARQ(10/15)"])
def test_a_check_agrees(scheme):
    rows = check(scheme, p=0.05, burst=3.0, slots=4_000_000)
    assert all(row.agrees for row in rows), rows


def test_a_check_notices_another_channel(monkeypatch):
    made = clift.channel.gilbert_elliott

    def other(*slots, beta, **more):
        return made(*slots, beta=beta - 0.1, **more)

    monkeypatch.setattr("clift.model_check.channel.gilbert_elliott", other)
    rows = check("FEC(10/12)", p=0.05, burst=3.0, slots=2_000_000)
    assert [row.metric for row in rows if not row.agrees]


def test_a_trace_that_is_not_a_chain_differs_from_the_model():
    # Bursts of exactly four slots: no chain's geometric law.
    d = np.ones(600_000, dtype=np.int64)
    starts = np.flatnonzero(np.random.default_rng(1).random(len(d) // 20) < 0.5) * 20
    for k in range(4):
        d[starts + k] = 0
    phy = clift.PhyTrace(np.arange(len(d), dtype=np.int64) * 1_000_000, d)
    found = depart(phy, "FEC(10/13)")
    shape = {name: (chain, trace) for name, chain, trace in found.shape}
    assert shape["bursts over 4 slots"][0] > 0.2
    assert shape["bursts over 4 slots"][1] == 0
    assert [row.metric for row in found.rows if not row.agrees]


def test_the_command_prints_tables_and_json(capsys, tmp_path):
    assert run(["model", "--p", "0.1", "--burst", "5"]) == 0
    text = capsys.readouterr().out
    assert "HARQ(38/51, rounds 2)" in text
    assert "printed delay ms" in text
    picture = tmp_path / "sweep.png"
    sweep = ["model", "--alpha", "0.98", "--beta", "0.1:0.93:5", "--json", "--plot", str(picture)]
    assert run(sweep) == 0
    said = json.loads(capsys.readouterr().out)
    assert [one["scheme"] for one in said] == ["FEC(38/51)", "ARQ", "HARQ(38/51, rounds 2)"]
    assert len(said[2]["efficiency"]) == 5
    assert picture.stat().st_size > 10_000
    assert run(["model", "--hybrid", "10/12", "--p", "0.001,0.01", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["packet"]) == 2
    assert run(["model", "--p", "0.1", "--delays"]) == 0
    assert "p99" in capsys.readouterr().out


def test_the_command_checks(capsys):
    arguments = ["model", "--check", "--p", "0.05", "--scheme", "FEC(10/12)", "--slots", "400000"]
    assert run(arguments) == 0
    assert "agrees" in capsys.readouterr().out
    assert run([*arguments, "--json"]) == 0
    metrics = json.loads(capsys.readouterr().out)[0]["metrics"]
    assert metrics[0]["metric"] == "efficiency"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--p", "2"],
        ["--p", "x"],
        ["--p", "0.1:0.2:0"],
        ["--alpha", "1", "--beta", "1"],
        ["--scheme", "FEC(12/10)", "--p", "0.1"],
        ["--p", "0.1,0.2", "--check"],
        ["--p", "0.1", "--plot", "x.png"],
        ["--p", "0.1,0.2", "--burst", "1,2,3"],
        ["--hybrid", "10-12", "--p", "0.1"],
        ["--hybrid", "10/12"],
        [],
    ],
)
def test_bad_input_gives_one_line(arguments, capsys):
    assert run(["model", *arguments]) == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1
    assert "error:" in lines[0]


def test_a_fault_of_the_hybrid_names_the_option(capsys):
    assert run(["model", "--hybrid", "10/5", "--p", "0.1"]) == 2
    assert "--hybrid 10/5: a frame carries K of N units" in capsys.readouterr().err


def test_tmt_offers_the_check(capsys, tmp_path):
    phy = clift.channel.gilbert_elliott(slots=300_000, alpha=0.99, beta=0.6, seed=1)
    path = tmp_path / "trace.csv"
    phy.write(path)
    assert run(["tmt", str(path), "--scheme", "FEC(10/12)", "--check"]) == 0
    text = capsys.readouterr().out
    assert "fitted chain: alpha = 0.9" in text
    assert "clumping over 100 slots" in text
    # Which of two values of one thing is which.
    assert [line for line in text.splitlines() if line.split()[1:3] == ["model", "counted"]]
    assert "model: closed form over the fitted chain; counted: the scheme over the trace" in text
    assert run(["tmt", str(path), "--scheme", "FEC(10/12)", "--check", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)[0]["check"]
    assert said["alpha"] == pytest.approx(0.99, abs=0.001)


def test_a_check_over_measured_delays_counts_as_the_table_does():
    """Delays that differ are no repairs, and the way back takes what the way there does."""
    made = clift.channel.gilbert_elliott(slots=300_000, slot_ns=10**6, alpha=0.98, beta=0.3, seed=3)
    delays = 40_000_000 + np.random.default_rng(2).integers(-9_000_000, 9_000_000, len(made))
    phy = clift.PhyTrace(made.t_ns, np.where(made.d_ns > 0, delays, 0), rtt_ns=0)
    for scheme in ("ARQ", "FEC(10/12)"):
        told = clift.tmt.apply(phy, scheme, rtt_ms=0).stats()
        rows = {row.metric: row for row in depart(phy, scheme, rtt_ms=0).rows}
        assert rows["recovery delay ms"].simulated == pytest.approx(
            told["recovery_delay_ms"], rel=0.01
        )
        assert rows["recovered"].agrees, scheme
        # The model knows no delays that differ, for which a block has to wait.
        assert rows["recovery delay ms"].agrees == (scheme == "ARQ")
