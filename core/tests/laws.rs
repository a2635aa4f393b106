//! The open-loop schemes against closed forms over independent erasures (Kuhn 2014, section 3.5).
//! Bounds are 4.5 standard errors: a right program fails one check in 10^5.

use clift::channel::{Bernoulli, ErasureChannel, GilbertElliott, RegularSlots};
use clift::scheme::{LinkStats, Scheme, Timing};
use clift::seed::Seed;
use clift::trace::PhyTrace;
use clift::units::{Bytes, Duration};

const SLOTS: RegularSlots = RegularSlots {
    count: 1_200_000,
    every: Duration::from_nanos(114_783),
    decode: Duration::from_millis(36),
    lldu: Bytes(33),
};

fn stats(scheme: &str, phy: &PhyTrace) -> LinkStats {
    let timing = Timing { rtt: Duration::from_millis(500), feedback: None };
    scheme.parse::<Scheme>().unwrap().apply(phy, timing).stats()
}

fn bernoulli(p: f64, seed: u64) -> PhyTrace {
    Bernoulli::new(p).unwrap().trace(&SLOTS, Seed(seed), 0).unwrap()
}

#[track_caller]
fn assert_close(measured: f64, expected: f64, variance: f64, samples: f64) {
    let bound = 4.5 * (variance / samples).sqrt();
    assert!((measured - expected).abs() <= bound, "{measured} is not {expected} +- {bound}");
}

/// P(`m` of `n` erased).
fn binomial(n: u32, m: u32, p: f64) -> f64 {
    let ways: f64 = (0..m).map(|i| f64::from(n - i) / f64::from(i + 1)).product();
    ways * p.powi(m as i32) * (1.0 - p).powi((n - m) as i32)
}

#[test]
fn arq_delivers_one_lldu_a_slot_that_arrives() {
    for (p, seed) in [(0.01, 1), (0.05, 2), (0.3, 3)] {
        let stats = stats("ARQ", &bernoulli(p, seed));
        assert_close(stats.efficiency, 1.0 - p, p * (1.0 - p), stats.slots as f64);
        // LLDUs that were sent again are as many as take i retransmissions or more: p^i. Those of
        // the last round trips are not finished, and left out of the bound (0.4 % of the slots).
        let resent = |i: u32| {
            let more = stats.retransmissions.iter().filter(|&&(times, _)| times >= i);
            more.map(|&(_, units)| units).sum::<u64>() as f64 / stats.data_units as f64
        };
        for i in 1..3 {
            let expected = p.powi(i);
            let cut = expected * f64::from(i) * 4700.0 / stats.slots as f64;
            let bound = 4.5 * (expected / stats.data_units as f64).sqrt() + cut;
            assert!((resent(i as u32) - expected).abs() <= bound, "{p} {i}");
        }
    }
}

#[test]
fn arq_transmits_an_lldu_one_over_one_minus_p_times() {
    for (p, seed) in [(0.05, 4), (0.3, 5)] {
        let stats = stats("ARQ", &bernoulli(p, seed));
        // Every slot is a transmission; what is still pending took some, too.
        let finished = (stats.data_units - stats.censored) as f64;
        let mean = stats.slots as f64 / finished;
        let pending = 2.0 * stats.censored as f64 / finished;
        let variance = p / (1.0 - p).powi(2);
        let bound = 4.5 * (variance / finished).sqrt() + pending;
        assert!((mean - 1.0 / (1.0 - p)).abs() <= bound, "{mean}");
    }
}

#[test]
fn limited_arq_loses_p_to_the_transmissions() {
    let p: f64 = 0.2;
    for limit in 0..3 {
        let stats = stats(&format!("ARQ(max {limit})"), &bernoulli(p, 6));
        let expected = p.powi(limit + 1);
        let finished = (stats.data_units - stats.censored) as f64;
        assert_close(stats.lost as f64 / finished, expected, expected, finished);
    }
}

/// A data LLDU is lost if it is erased and at least n - k of the others are: p P(>= n-k of n-1).
#[test]
fn fec_loses_what_the_binomial_law_says() {
    for (scheme, k, n) in [
        ("FEC(10/12)", 10, 12),
        ("FEC(10/12, interleave 5)", 10, 12),
        ("FEC(38/51)", 38, 51),
        ("FEC(1/3)", 1, 3),
        ("FEC(7/7)", 7, 7),
    ] {
        for (p, seed) in [(0.05, 7), (0.2, 8)] {
            let stats = stats(scheme, &bernoulli(p, seed));
            let beyond: f64 = (n - k..n).map(|m| binomial(n - 1, m, p)).sum();
            let expected = p * beyond;
            // LLDUs of a block are lost together: at most k times the variance of one.
            let variance = expected * f64::from(k);
            assert_close(stats.residual_loss, expected, variance, stats.data_units as f64);
            let efficiency = f64::from(k) / f64::from(n) * (1.0 - expected);
            assert_close(stats.efficiency, efficiency, variance, stats.data_units as f64);
        }
    }
}

/// Interleaving deeper than a burst spreads it: with depth I, a code word sees the chain with
/// rho^I (Kuhn 2014, equation 4), here next to independent erasures.
#[test]
fn interleaving_makes_bursts_independent() {
    let channel = GilbertElliott::from_mean(0.05, 4.0, 0.0, 1.0).unwrap();
    let phy = channel.trace(&SLOTS, Seed(9), 0).unwrap();
    let p = 0.05;
    let expected: f64 = p * (2..12).map(|m| binomial(11, m, p)).sum::<f64>();
    let deep = stats("FEC(10/12, interleave 40)", &phy);
    let plain = stats("FEC(10/12)", &phy);
    // rho^40 = 0.737^40 = 5e-6; code words of a super-block share bursts of 4 on the average.
    assert_close(deep.residual_loss, expected, 40.0 * expected, deep.data_units as f64);
    assert!(plain.residual_loss > 2.0 * expected, "{}", plain.residual_loss);
}

/// HARQ-II with one round: of a block with m > n - k erasures, m - (n - k) + N_S repair LLDUs are
/// asked for, and it is lost if more than N_S of them are erased too. A block takes n slots and
/// those of its round.
#[test]
fn harq_with_one_round_follows_its_closed_form() {
    let (k, n) = (10, 12);
    for (p, extra, seed) in [(0.05, 0, 10), (0.2, 0, 11), (0.2, 2, 12)] {
        let stats = stats(&format!("HARQ(10/12, extra {extra}, rounds 1)"), &bernoulli(p, seed));
        let (mut undecoded, mut lost) = (0.0, 0.0);
        let (mut repair, mut repair_squared) = (0.0, 0.0);
        for m in n - k + 1..=n {
            let round = m - (n - k) + extra;
            let fails: f64 = (extra + 1..=round).map(|l| binomial(round, l, p)).sum();
            undecoded += binomial(n, m, p) * fails;
            lost += binomial(n, m, p) * fails * f64::from(m) / f64::from(n);
            repair += binomial(n, m, p) * f64::from(round);
            repair_squared += binomial(n, m, p) * f64::from(round).powi(2);
        }
        // Rounds that the end of the trace cuts (those of its last 0.4 %) are left out.
        let finished = (stats.data_units - stats.censored) as f64;
        let blocks = finished / f64::from(k);
        assert_close(stats.lost as f64 / finished, lost, undecoded, blocks);
        let cut = 0.005 * repair;
        let per_block = stats.slots_used as f64 / (stats.data_units as f64 / f64::from(k));
        let bound = 4.5 * (repair_squared / blocks).sqrt() + cut;
        assert!((per_block - f64::from(n) - repair).abs() < bound, "{p} {extra}: {per_block}");
    }
}

/// The recovery delay of ARQ is that of d_ARQ, RTT/2 + RTT / (1 - p), with feedback RTT + d and
/// decoding d at the end of each attempt, and a wait for the slot of less than one gap and for
/// those ahead in the queue.
#[test]
fn arq_recovers_after_round_trips() {
    let p = 0.05;
    let stats = stats("ARQ", &bernoulli(p, 13));
    let round_trip = 536.0;
    let expected = 250.0 + round_trip / (1.0 - p) + 36.0;
    let bound = 4.5 * round_trip * p.sqrt() / (stats.recovered as f64).sqrt() + 2.0;
    let measured = stats.recovery_delay_ms.unwrap();
    assert!((measured - expected).abs() < bound, "{measured} is not {expected} +- {bound}");
}
