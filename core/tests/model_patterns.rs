//! The closed forms against all 2^n patterns, and against each other.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use clift::scheme::law::{Blocks, Chain, Setting};
use clift::scheme::{Arq, BlockCode, Fec, Harq2, Scheme, Timing};
use clift::trace::{Header, PhyTrace};
use clift::units::{Bytes, Duration, Limit};
use proptest::prelude::*;

const SLOT: i64 = 1_000;
const DECODE: i64 = 300;
const RTT: u64 = 400;

fn setting(feedback_slots: u64) -> Setting {
    Setting {
        timing: Timing {
            rtt: Duration::from_nanos(RTT),
            feedback: Some(Duration::from_nanos(feedback_slots * SLOT as u64 - 1)),
        },
        slot: Duration::from_nanos(SLOT as u64),
        decode: Duration::from_nanos(DECODE as u64),
        blocks: Blocks::Consecutive,
    }
}

/// Probability of a pattern of erasures, by the forward recursion over states.
fn probability(chain: &Chain, pattern: &[bool]) -> f64 {
    let [alpha, beta] = chain.staying();
    let mut law = chain.stationary();
    for (slot, &erased) in pattern.iter().enumerate() {
        if slot > 0 {
            let [good, bad] = law;
            law = [good * alpha + bad * (1.0 - beta), good * (1.0 - alpha) + bad * beta];
        }
        for (share, erasing) in law.iter_mut().zip(chain.erasing()) {
            *share *= if erased { erasing } else { 1.0 - erasing };
        }
    }
    law[0] + law[1]
}

fn patterns(slots: usize) -> impl Iterator<Item = Vec<bool>> {
    (0..1u32 << slots).map(move |bits| (0..slots).map(|slot| bits >> slot & 1 == 1).collect())
}

/// What the scheme itself makes of the first block of every pattern of `slots` slots, weighed by
/// the patterns' probabilities: the meaning of every word is that of the simulation.
#[derive(Default)]
struct Enumerated {
    delivered: Sum,
    recovered: Sum,
    recovered_ns: Sum,
    delivered_ns: Sum,
    transmissions: Sum,
    /// Share of the patterns' weight by recovery delay in ns.
    law: BTreeMap<i64, Sum>,
}

/// A sum of 10^6 small terms to full precision (Neumaier).
#[derive(Clone, Copy, Default)]
struct Sum {
    sum: f64,
    rest: f64,
}

impl Sum {
    fn add(&mut self, term: f64) {
        let sum = self.sum + term;
        let (large, small) = if self.sum >= term { (self.sum, term) } else { (term, self.sum) };
        self.rest += (large - sum) + small;
        self.sum = sum;
    }

    fn get(self) -> f64 {
        self.sum + self.rest
    }
}

fn enumerate(
    scheme: &Scheme,
    data: usize,
    slots: usize,
    chain: &Chain,
    setting: &Setting,
) -> Enumerated {
    let mut sums = Enumerated::default();
    let t: Vec<i64> = (0..slots as i64).map(|slot| slot * SLOT).collect();
    for pattern in patterns(slots) {
        let weight = probability(chain, &pattern);
        if weight == 0.0 {
            continue;
        }
        let d: Vec<i64> = pattern.iter().map(|&erased| if erased { 0 } else { DECODE }).collect();
        let header = Header { decode: Some(setting.decode), ..Default::default() };
        let phy = PhyTrace::with_header(t.clone().into(), d.into(), Bytes(33), header).unwrap();
        let link = scheme.apply(&phy, setting.timing);
        assert!(link.len() >= data, "the first block is complete");
        for index in 0..data {
            let delay = link.parts().d[index];
            sums.transmissions.add(weight * f64::from(link.transmissions(index)));
            assert!(delay > 0 || link.lost_ns(index) > 0, "nothing is cut by the end: {pattern:?}");
            if delay == 0 {
                continue;
            }
            sums.delivered.add(weight);
            sums.delivered_ns.add(weight * delay as f64);
            if delay > DECODE {
                sums.recovered.add(weight);
                sums.recovered_ns.add(weight * delay as f64);
                sums.law.entry(delay).or_default().add(weight);
            }
        }
    }
    sums
}

#[track_caller]
fn assert_same(scheme: &str, slots: usize, chain: &Chain, setting: &Setting) {
    let scheme: Scheme = scheme.parse().unwrap();
    let data = match scheme {
        Scheme::Fec(Fec { code, interleave }) => code.data() * interleave.get() as usize,
        Scheme::Harq2(Harq2 { code, .. }) => code.data(),
        _ => unreachable!("only block codes have blocks"),
    };
    let sums = enumerate(&scheme, data, slots, chain, setting);
    let model = scheme.predict(chain, setting).unwrap();
    let k = data as f64;
    let close = |what: &str, model: f64, brute: f64| {
        let error = (model - brute).abs() / brute.abs().max(1.0);
        assert!(error < 1e-12, "{scheme} {chain:?}: {what} {model} is not {brute}");
    };
    close("residual loss", model.residual_loss, 1.0 - sums.delivered.get() / k);
    close("recovered", model.recovered, sums.recovered.get() / k);
    close("transmissions", model.transmissions, sums.transmissions.get() / k);
    let half_rtt = RTT as f64 / 2.0;
    let ms = |sum: Sum, count: Sum| (sum.get() / count.get() + half_rtt) / 1e6;
    close("mean", model.mean_delay_ms.unwrap(), ms(sums.delivered_ns, sums.delivered));
    if sums.recovered.get() == 0.0 {
        assert_eq!(model.recovery_delay_ms, None);
        return;
    }
    let recovery = ms(sums.recovered_ns, sums.recovered);
    close("recovery", model.recovery_delay_ms.unwrap(), recovery);
    let law = scheme.recovery_delays(chain, setting).unwrap();
    assert_eq!(law.delay_ms.len(), sums.law.len());
    for ((delay, share), (&ns, &weight)) in law.delay_ms.iter().zip(&law.probability).zip(&sums.law)
    {
        close("delay", *delay, (ns as f64 + half_rtt) / 1e6);
        close("share", *share, weight.get() / sums.recovered.get());
    }
}

fn chains() -> [Chain; 4] {
    [
        Chain::new(0.9, 0.6, 0.02, 0.9).unwrap(),
        Chain::new(0.97, 0.3, 0.0, 1.0).unwrap(),
        Chain::new(0.2, 0.1, 0.3, 0.8).unwrap(), // states that alternate: rho below 0
        Chain::bernoulli(0.3).unwrap(),
    ]
}

#[test]
fn erasures_are_those_of_all_patterns() {
    for chain in chains() {
        for n in [0, 1, 5, 16] {
            let mut brute = vec![0.0; n + 1];
            for pattern in patterns(n) {
                let erased = pattern.iter().filter(|&&erased| erased).count();
                brute[erased] += if n == 0 { 1.0 } else { probability(&chain, &pattern) };
            }
            for (m, (model, brute)) in chain.erasures(n).iter().zip(brute).enumerate() {
                assert!((model - brute).abs() < 1e-12, "{m} of {n}");
            }
        }
    }
}

#[test]
fn fec_is_that_of_all_patterns() {
    for chain in chains() {
        for (scheme, slots) in [
            ("FEC(1/1)", 1),
            ("FEC(1/4)", 4),
            ("FEC(5/5)", 5),
            ("FEC(11/16)", 16),
            ("FEC(2/3, interleave 5)", 15),
            ("FEC(3/7, interleave 2)", 14),
        ] {
            assert_same(scheme, slots, &chain, &setting(1));
        }
    }
}

/// The trace is long enough for all rounds of the first block, and another block is not complete
/// before them, so nothing comes between them.
#[test]
fn harq_is_that_of_all_patterns() {
    for chain in chains() {
        for (scheme, slots, feedback) in [
            ("HARQ(2/3, rounds 0)", 3, 1),
            ("HARQ(3/5, rounds 1)", 5 + 3 + 1, 2),
            ("HARQ(3/4, rounds 2)", 4 + 2 * 4, 2),
            ("HARQ(2/6, rounds 2)", 6 + 2 * 5, 4),
            ("HARQ(2/3, extra 1, rounds 2)", 3 + 2 * (3 + 1), 2),
            ("HARQ(2/4, extra 2, rounds 2)", 4 + 2 * (4 + 1), 2),
            ("HARQ(1/2, extra 1, rounds 3)", 2 + 3 * 2, 1),
            ("HARQ(1/3, rounds 4)", 3 + 4 * 2, 2),
            ("HARQ(1/1, rounds 5)", 6, 1),
        ] {
            assert_same(scheme, slots, &chain, &setting(feedback));
        }
    }
}

#[test]
fn many_rounds_come_to_those_without_limit() {
    for chain in chains() {
        for scheme in ["HARQ(4/6", "HARQ(3/3, extra 2"] {
            let limited: Scheme = format!("{scheme}, rounds 400)").parse().unwrap();
            let unlimited: Scheme = format!("{scheme})").parse().unwrap();
            let a = limited.predict(&chain, &setting(7)).unwrap();
            let b = unlimited.predict(&chain, &setting(7)).unwrap();
            assert!((a.efficiency - b.efficiency).abs() < 1e-12);
            assert!((a.transmissions - b.transmissions).abs() < 1e-11);
            let (a, b) = (a.recovery_delay_ms.unwrap(), b.recovery_delay_ms.unwrap());
            assert!((a / b - 1.0).abs() < 1e-11);
            assert_eq!(unlimited.predict(&chain, &setting(7)).unwrap().residual_loss, 0.0);
            let law = unlimited.recovery_delays(&chain, &setting(7)).unwrap();
            let mean: f64 = law.delay_ms.iter().zip(&law.probability).map(|(d, p)| d * p).sum();
            assert!((mean / b - 1.0).abs() < 1e-11);
        }
    }
}

proptest! {
    /// HARQ-II of one LLDU is ARQ but for the state that an LLDU is first sent in: alike without
    /// memory over a feedback time.
    #[test]
    fn harq_of_single_lldus_is_arq(p in 0.0..0.99, burst in 1.0..50.0f64, limit in 0u32..5) {
        prop_assume!(p <= burst * (1.0 - p));
        let chain = Chain::from_erasures(p, burst).unwrap();
        let setting = Setting { slot: Duration::ZERO, ..setting(9) };
        let arq = (Scheme::Arq(Arq { max_retx: Limit::AtMost(limit) })).predict(&chain, &setting);
        let code = BlockCode::new(1, 1).unwrap();
        let max_rounds = Limit::AtMost(limit);
        let harq = (Scheme::Harq2(Harq2 { code, extra: 0, max_rounds })).predict(&chain, &setting);
        let (arq, harq) = (arq.unwrap(), harq.unwrap());
        prop_assert!((arq.efficiency - harq.efficiency).abs() < 1e-12);
        prop_assert!((arq.residual_loss - harq.residual_loss).abs() < 1e-12);
        prop_assert!((arq.transmissions - harq.transmissions).abs() < 1e-12);
        prop_assert_eq!(arq.recovery_delay_ms.is_some(), harq.recovery_delay_ms.is_some());
        if let (Some(arq), Some(harq)) = (arq.recovery_delay_ms, harq.recovery_delay_ms) {
            prop_assert!((arq - harq).abs() < 1e-12 * arq);
        }
    }

    /// What is printed is exact where nothing has memory, but for the wait within a block.
    #[test]
    fn printed_efficiencies_are_exact_without_memory(
        p in 0.0..0.6, (data, total) in (1u32..30).prop_flat_map(|n| (1..=n, Just(n))),
        extra in 0u32..3, rounds in prop::option::of(0u32..4),
    ) {
        let chain = Chain::bernoulli(p).unwrap();
        let code = BlockCode::new(data, total).unwrap();
        let max_rounds = Limit::from(rounds);
        let scheme = Scheme::Harq2(Harq2 { code, extra, max_rounds });
        let exact = scheme.predict(&chain, &setting(9)).unwrap().efficiency;
        let printed = scheme.printed(&chain, &setting(9)).unwrap().unwrap().efficiency;
        prop_assert!((exact - printed).abs() < 1e-11, "{exact} {printed}");
    }
}

#[test]
fn blocks_cut_apart_forget() {
    let chain = Chain::from_erasures(0.2, 10.0).unwrap();
    let whole = Setting { ..Setting::default() };
    let cut = Setting { blocks: Blocks::CutApart, ..whole };
    let scheme: Scheme = "HARQ(10/12, rounds 2)".parse().unwrap();
    let efficiency = |setting| scheme.predict(&chain, setting).unwrap().efficiency;
    assert!(efficiency(&cut) > efficiency(&whole));
    assert!(efficiency(&cut) < efficiency(&whole) * 1.01);
    // Nothing to forget, nothing changed.
    let chain = Chain::bernoulli(0.2).unwrap();
    let efficiency = |setting| scheme.predict(&chain, setting).unwrap().efficiency;
    assert!((efficiency(&cut) - efficiency(&whole)).abs() < 1e-12);
}

#[test]
fn a_dead_channel_delivers_nothing() {
    let dead = Chain::bernoulli(1.0).unwrap();
    for scheme in ["none", "FEC(3/5)", "ARQ", "ARQ(max 2)", "HARQ(3/5)", "HARQ(3/5, rounds 2)"] {
        let model = scheme.parse::<Scheme>().unwrap().predict(&dead, &setting(5)).unwrap();
        assert_eq!((model.efficiency, model.residual_loss), (0.0, 1.0), "{scheme}");
        assert_eq!((model.mean_delay_ms, model.recovery_delay_ms), (None, None), "{scheme}");
        let law = scheme.parse::<Scheme>().unwrap().recovery_delays(&dead, &setting(5)).unwrap();
        assert!(law.delay_ms.is_empty(), "{scheme}");
    }
}

#[test]
fn what_is_too_much_is_refused() {
    let chain = Chain::bernoulli(0.1).unwrap();
    let fault = |scheme: &str, setting: Setting| {
        scheme.parse::<Scheme>().unwrap().predict(&chain, &setting).unwrap_err().to_string()
    };
    assert!(fault("HARQ(100/120, rounds 100000)", setting(5)).contains("give no limit"));
    assert!(fault("HARQ(1000/1200, extra 100000)", setting(5)).contains("2^22"));
    let cut = Setting { blocks: Blocks::CutApart, slot: Duration::ZERO, ..setting(5) };
    assert!(fault("HARQ(10/12)", cut).contains("slot_ns"));
    let cut = Setting { blocks: Blocks::CutApart, ..setting(5) };
    assert!("HARQ(10/12)".parse::<Scheme>().unwrap().recovery_delays(&chain, &cut).is_err());
    let deep = Scheme::Fec(Fec {
        code: BlockCode::new(10, 12).unwrap(),
        interleave: NonZeroU32::new(u32::MAX).unwrap(),
    });
    let model = deep.predict(&chain, &setting(5)).unwrap();
    assert!(model.efficiency > 0.7 && model.recovery_delay_ms.unwrap().is_finite());
}
