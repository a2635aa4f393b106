//! SR-ARQ: an LLDU is sent again, a feedback time later each time, until it gets through.
//!
//! On regular slots at most one LLDU becomes ready for each, so none waits for another: the slots
//! that are a feedback time apart form a lane in which LLDUs follow each other, each sent until it
//! gets through or is given up. A lane sees the chain of every D-th slot.

use crate::scheme::law::{Chain, Prediction, RecoveryDelays, Setting};
use crate::scheme::law::{Transient, times};
use crate::units::Limit;

/// Share of the LLDUs at which the series of an unlimited ARQ is cut.
const REST: f64 = 1e-16;
/// Maximum number of terms of the recovery-delay law of an unlimited ARQ.
const TERMS: u32 = 1 << 20;

pub(crate) fn predict(limit: Limit, chain: &Chain, setting: &Setting) -> Prediction {
    let lane = Lane::new(chain, setting);
    let totals = lane.totals(limit);
    let delivered = 1.0 - totals.lost;
    let waits = setting.feedback_ns();
    let mean = |of: f64| (of > 0.0).then(|| setting.delay_ms(totals.repeats / of * waits));
    Prediction {
        efficiency: chain.arrival_probability(), // with any limit: each arrival delivers one LLDU
        residual_loss: totals.lost,
        coding_ratio: 1.0 / totals.transmissions,
        transmissions: totals.transmissions,
        recovered: totals.recovered,
        recovery_delay_ms: mean(totals.recovered),
        mean_delay_ms: mean(delivered),
    }
}

pub(crate) fn delays(limit: Limit, chain: &Chain, setting: &Setting) -> RecoveryDelays {
    let lane = Lane::new(chain, setting);
    let mut sending = lane.first_law(limit);
    let mut shares = Vec::new();
    let most = limit.get().map_or(TERMS, |limit| limit.min(TERMS));
    for repeat in 1..=most {
        sending = lane.again(sending);
        if sending[0] + sending[1] < REST {
            break;
        }
        let delay = setting.delay_ms(f64::from(repeat) * setting.feedback_ns());
        shares.push((delay, lane.arriving(sending)));
    }
    RecoveryDelays::new(shares.into_iter())
}

/// The slots that one LLDU after the other is sent in.
struct Lane {
    erasing: [f64; 2],
    stationary: [f64; 2],
    /// From one slot of the lane to the next.
    transition: [[f64; 2]; 2],
}

/// Expectations per LLDU.
struct Totals {
    lost: f64,
    transmissions: f64,
    /// Share erased at first and recovered later.
    recovered: f64,
    /// Retransmissions of those that are recovered.
    repeats: f64,
}

impl Lane {
    fn new(chain: &Chain, setting: &Setting) -> Self {
        Self {
            erasing: chain.erasing(),
            stationary: chain.stationary(),
            transition: chain.transition_over(setting.feedback_slots()),
        }
    }

    fn totals(&self, limit: Limit) -> Totals {
        let first = self.first_law(limit);
        match limit {
            Limit::Unlimited => self.unlimited(first),
            Limit::AtMost(limit) => self.limited(first, limit),
        }
    }

    fn limited(&self, mut sending: [f64; 2], limit: u32) -> Totals {
        let mut totals = Totals { lost: 0.0, transmissions: 0.0, recovered: 0.0, repeats: 0.0 };
        for repeat in 0..=limit {
            totals.transmissions += sending[0] + sending[1];
            if repeat > 0 {
                totals.recovered += self.arriving(sending);
                totals.repeats += f64::from(repeat) * self.arriving(sending);
            }
            if repeat == limit {
                totals.lost = self.erased(sending);
            }
            sending = self.again(sending);
            if sending == [0.0, 0.0] {
                break;
            }
        }
        totals
    }

    fn unlimited(&self, first: [f64; 2]) -> Totals {
        let trying = self.trying();
        let dot =
            |law: [f64; 2], value: [f64; 2]| times(law[0], value[0]) + times(law[1], value[1]);
        let arrives = trying.leave;
        // By the state of a transmission: transmissions from it on, and whether it is delivered.
        let transmissions = trying.sum([1.0, 1.0]);
        let delivered = trying.sum(arrives);
        let again = self.again(first);
        // A delivered LLDU gains 1 with every transmission from the second on.
        let repeats = trying.sum(delivered);
        Totals {
            lost: if dot(first, delivered) == 0.0 { 1.0 } else { 0.0 },
            transmissions: dot(first, transmissions),
            recovered: dot(again, delivered),
            repeats: dot(again, repeats),
        }
    }

    /// Law of the state in which an LLDU is sent first, with the LLDUs counted equally.
    fn first_law(&self, limit: Limit) -> [f64; 2] {
        match limit {
            // A slot carries a new LLDU if the one before it in the lane arrived.
            Limit::Unlimited => {
                let arrived = [0, 1].map(|s| self.stationary[s] * (1.0 - self.erasing[s]));
                let sum = arrived[0] + arrived[1];
                if sum == 0.0 {
                    return self.stationary;
                }
                self.moved(arrived.map(|share| share / sum))
            }
            Limit::AtMost(limit) => {
                let [good, bad] = [[1.0, 0.0], [0.0, 1.0]].map(|first| self.next(first, limit));
                let (to_bad, to_good) = (good.1[1], bad.1[0]);
                if to_bad + to_good > 0.0 {
                    return [to_good / (to_bad + to_good), to_bad / (to_bad + to_good)];
                }
                // Lanes that never leave their state: each sends LLDUs at its own rate.
                let rates = [self.stationary[0] / good.0, self.stationary[1] / bad.0];
                rates.map(|rate| rate / (rates[0] + rates[1]))
            }
        }
    }

    /// An LLDU first sent in a state of law `first`: its transmissions, and the law of the state in
    /// which the next one is sent first.
    fn next(&self, mut first: [f64; 2], limit: u32) -> (f64, [f64; 2]) {
        let (mut transmissions, mut last) = (0.0, [0.0, 0.0]);
        for repeat in 0..=limit {
            transmissions += first[0] + first[1];
            for state in 0..2 {
                let ends = if repeat == limit { 1.0 } else { 1.0 - self.erasing[state] };
                last[state] += first[state] * ends;
            }
            first = self.again(first);
            if first == [0.0, 0.0] {
                break;
            }
        }
        (transmissions, self.moved(last))
    }

    /// The law of the next transmission of what is erased.
    fn again(&self, sending: [f64; 2]) -> [f64; 2] {
        self.moved([sending[0] * self.erasing[0], sending[1] * self.erasing[1]])
    }

    fn moved(&self, law: [f64; 2]) -> [f64; 2] {
        [0, 1].map(|to| law[0] * self.transition[0][to] + law[1] * self.transition[1][to])
    }

    fn arriving(&self, sending: [f64; 2]) -> f64 {
        sending[0] * (1.0 - self.erasing[0]) + sending[1] * (1.0 - self.erasing[1])
    }

    fn erased(&self, sending: [f64; 2]) -> f64 {
        sending[0] * self.erasing[0] + sending[1] * self.erasing[1]
    }

    fn trying(&self) -> Transient {
        let stay =
            [0, 1].map(|from| [0, 1].map(|to| self.erasing[from] * self.transition[from][to]));
        Transient { stay, leave: self.erasing.map(|erasing| 1.0 - erasing) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Duration;
    use proptest::prelude::*;

    fn setting(feedback: u64) -> Setting {
        let mut setting = Setting { slot: Duration::from_nanos(10), ..Setting::default() };
        setting.timing.feedback = Some(Duration::from_nanos(feedback));
        setting
    }

    #[test]
    fn without_memory_retransmissions_are_geometric() {
        let p = 0.2;
        let chain = Chain::bernoulli(p).unwrap();
        let setting = Setting { slot: Duration::ZERO, ..Setting::default() };
        let arq = predict(Limit::Unlimited, &chain, &setting);
        assert!((arq.recovery_delay_ms.unwrap() - (250.0 + 500.0 / (1.0 - p))).abs() < 1e-9);
        assert!((arq.mean_delay_ms.unwrap() - (250.0 + 500.0 * p / (1.0 - p))).abs() < 1e-9);
        assert!((arq.transmissions - 1.0 / (1.0 - p)).abs() < 1e-12);
        assert_eq!((arq.residual_loss, arq.efficiency), (0.0, 1.0 - p));
        for limit in 0..4 {
            let arq = predict(Limit::AtMost(limit), &chain, &setting);
            assert!((arq.residual_loss - p.powi(limit as i32 + 1)).abs() < 1e-15);
        }
    }

    proptest! {
        /// With any memory, feedback and limit each received slot delivers one LLDU: the
        /// delivered share over the transmissions is 1 - p.
        #[test]
        fn every_arrival_delivers(
            alpha in 0.0..1.0, beta in 0.0..1.0, p_good in 0.0..0.9, p_bad in 0.0..1.0,
            feedback in 1u64..60, limit in prop::option::of(0u32..6),
        ) {
            let chain = Chain::new(alpha, beta, p_good, p_bad).unwrap();
            let limit = Limit::from(limit);
            let arq = predict(limit, &chain, &setting(feedback));
            let delivered = (1.0 - arq.residual_loss) * arq.coding_ratio;
            prop_assert!((delivered - arq.efficiency).abs() < 1e-12, "{arq:?}");
        }

        #[test]
        fn the_law_has_the_mean(
            alpha in 0.0..1.0, beta in 0.0..1.0, feedback in 1u64..60,
            limit in prop::option::of(1u32..6),
        ) {
            let chain = Chain::new(alpha, beta, 0.05, 0.9).unwrap();
            let limit = Limit::from(limit);
            let law = delays(limit, &chain, &setting(feedback));
            let mean = predict(limit, &chain, &setting(feedback)).recovery_delay_ms.unwrap();
            let of_law = law.delay_ms.iter().zip(&law.probability).map(|(d, p)| d * p);
            prop_assert!((of_law.sum::<f64>() - mean).abs() < 1e-9);
        }
    }

    #[test]
    fn nothing_gets_through_a_dead_channel() {
        let arq = predict(Limit::Unlimited, &Chain::bernoulli(1.0).unwrap(), &setting(10));
        assert_eq!((arq.efficiency, arq.residual_loss, arq.mean_delay_ms), (0.0, 1.0, None));
        assert_eq!((arq.coding_ratio, arq.recovered, arq.recovery_delay_ms), (0.0, 0.0, None));
    }

    #[test]
    fn lanes_that_never_leave_their_state_are_no_error() {
        // States alternate and feedback takes two slots: half the lanes always erase.
        let chain = Chain::new(0.0, 0.0, 0.0, 1.0).unwrap();
        let arq = predict(Limit::Unlimited, &chain, &setting(20));
        assert_eq!((arq.efficiency, arq.residual_loss, arq.transmissions), (0.5, 0.0, 1.0));
        assert_eq!(arq.recovery_delay_ms, None);
        // Given up after two transmissions: a third of the LLDUs.
        let arq = predict(Limit::AtMost(1), &chain, &setting(20));
        assert!((arq.residual_loss - 1.0 / 3.0).abs() < 1e-15);
    }
}
