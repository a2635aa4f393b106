//! Missed grants and misread HARQ feedback: cases computed by hand, and laws.

use clift::link::{Instrument, Link, LinkEvent, Packet, PacketId, TraceLinkConfig, deliver};
use clift::scheme::ntn::{
    ControlErrors, HarqConfig, HarqMode, NtnConfig, NtnLink, PdcpConfig, RlcConfig,
};
use clift::seed::Seed;
use clift::units::{Bytes, Instant, Probability, Timer};
use proptest::prelude::*;
use support::ntn_links::{NS, am, count, feedback, link, n, plain, random, send};

const NEVER: ControlErrors = ControlErrors {
    missed_grant: Probability::ZERO,
    missed_feedback: Probability::ZERO,
    ack_to_nack: Probability::ZERO,
    nack_to_ack: Probability::ZERO,
    dtx_to_ack: Probability::ZERO,
};
const ALWAYS: Probability = Probability::ONE;

/// One packet that fills the first block: all that became of it. Slots every 10 ns, 5 to decode,
/// 50 each way: what is sent at t is there at t + 55, and heard of at t + 105.
fn one(control: ControlErrors, max_transmissions: u32, erased: &[usize]) -> (NtnLink, LinkEvent) {
    let harq = feedback(max_transmissions);
    let mut link = link(&NtnConfig { harq, control, ..plain(erased) });
    link.log_units();
    let _ = link.enqueue(Instant::ZERO, Packet::new(PacketId(0), Bytes(100)));
    let event = link.poll(Instant::MAX).unwrap();
    while link.poll(Instant::MAX).is_some() {}
    (link, event)
}

fn sent_at(link: &mut NtnLink) -> Vec<u64> {
    link.take_units().iter().map(|unit| unit.at.as_nanos()).collect()
}

fn ended(event: &LinkEvent) -> (bool, u64) {
    (matches!(event, LinkEvent::Delivered(_)), event.at().as_nanos())
}

// --- computed by hand ---

#[test]
fn an_ack_read_as_nack_costs_slots_and_nothing_else() {
    let (mut link, event) = one(ControlErrors { ack_to_nack: ALWAYS, ..NEVER }, 3, &[]);
    assert_eq!(ended(&event), (true, 55));
    assert_eq!(sent_at(&mut link), [0, 110, 220]);
    let counts = ["tbs_sent", "tbs_sent_again", "tbs_failed", "acks_read_as_nack"];
    assert_eq!(counts.map(|name| count(&link, name)), [1, 2, 0, 3]);
    assert_eq!(link.counters().delivered, 1);
}

#[test]
fn a_nack_read_as_ack_loses_the_block_when_it_is_read() {
    let errors = ControlErrors { nack_to_ack: ALWAYS, ..NEVER };
    let (mut link, event) = one(errors, 3, &[0]);
    assert_eq!(ended(&event), (false, 105));
    assert_eq!(sent_at(&mut link), [0]);
    assert_eq!(["tbs_failed", "nacks_read_as_ack"].map(|name| count(&link, name)), [1, 1]);
    // RLC AM repairs it: the poll with the packet is repeated after 200 ns.
    let rlc = RlcConfig::Am(am(40, 0, 200));
    let config = NtnConfig { harq: feedback(3), control: errors, rlc, ..plain(&[0]) };
    let (delivered, link) = send(&config, 1, 100);
    assert_eq!((delivered, count(&link, "rlc_pdus_sent_again")), (vec![255], 1));
}

#[test]
fn missed_feedback_is_taken_for_a_nack() {
    let (mut link, event) = one(ControlErrors { missed_feedback: ALWAYS, ..NEVER }, 3, &[0]);
    assert_eq!(ended(&event), (true, 165));
    assert_eq!(sent_at(&mut link), [0, 110, 220]);
    assert_eq!(["tbs_failed", "missed_feedback"].map(|name| count(&link, name)), [0, 3]);
}

#[test]
fn a_missed_grant_is_silence_that_the_sender_takes_for_a_nack_unless_it_reads_an_ack() {
    let errors = ControlErrors { missed_grant: ALWAYS, ..NEVER };
    let (mut link, event) = one(errors, 2, &[]);
    // Given up with the second transmission, which would be there at 165.
    assert_eq!(ended(&event), (false, 165));
    assert_eq!(sent_at(&mut link), [0, 110]);
    assert_eq!(["tbs_failed", "missed_grants"].map(|name| count(&link, name)), [1, 2]);
    let (mut link, event) = one(ControlErrors { dtx_to_ack: ALWAYS, ..errors }, 2, &[]);
    assert_eq!(ended(&event), (false, 105));
    assert_eq!(sent_at(&mut link), [0]);
    assert_eq!(["tbs_failed", "dtx_read_as_ack"].map(|name| count(&link, name)), [1, 1]);
    // Without feedback it costs the block, too; its repetitions share the grant.
    let harq = HarqConfig { mode: HarqMode::NoFeedback, repetitions: n(3) };
    let (delivered, link) = send(&NtnConfig { harq, control: errors, ..plain(&[]) }, 2, 100);
    assert_eq!(delivered, [-1, -1]);
    assert_eq!(["tbs_sent_again", "missed_grants"].map(|name| count(&link, name)), [4, 2]);
}

#[test]
fn a_missed_transmission_is_not_combined() {
    // The second that the receiver uses is decoded, whichever the sender sends.
    let errors = ControlErrors { missed_grant: Probability::new(0.5).unwrap(), ..NEVER };
    let phy = random(&[1.0, 0.0], 10);
    let config = NtnConfig { phy, harq: feedback(200), control: errors, ..plain(&[]) };
    let (delivered, link) = send(&config, 2_000, 100);
    assert!(delivered.iter().all(|&at| at >= 0));
    let again = count(&link, "tbs_sent_again");
    assert_eq!(again, 2_000 + count(&link, "missed_grants"));
}

// --- laws ---

/// Block error rate of every transmission, and errors of control.
#[derive(Clone, Copy)]
struct Law {
    bler: f64,
    errors: ControlErrors,
}

impl Law {
    /// Probability that a grant is given and (`read`) the answer to it is taken for an ACK.
    fn taken_for_ack(&self, decoded: bool) -> (f64, f64) {
        let p = self.errors;
        let [grant, missed, a2n, n2a, dtx] =
            [p.missed_grant, p.missed_feedback, p.ack_to_nack, p.nack_to_ack, p.dtx_to_ack]
                .map(Probability::get);
        let answer = if decoded { 1.0 - a2n } else { n2a };
        ((1.0 - grant) * (1.0 - missed) * answer, grant * dtx)
    }

    /// What HARQ loses of blocks with `left` transmissions to go that are not decoded.
    fn residual(&self, left: u32) -> f64 {
        let (grant, p) = (self.errors.missed_grant.get(), self.bler);
        if left == 1 {
            return grant + (1.0 - grant) * p;
        }
        let (nack, silence) = self.taken_for_ack(false);
        let lost = p * nack + silence;
        let fails = grant + (1.0 - grant) * p;
        lost + (fails - lost) * self.residual(left - 1)
    }

    /// Mean transmissions of blocks with `left` to go, decoded or not.
    fn transmissions(&self, left: u32, decoded: bool) -> f64 {
        if left == 1 {
            return 1.0;
        }
        let grant = self.errors.missed_grant.get();
        let p = if decoded { 0.0 } else { self.bler };
        let (ack, silence) = self.taken_for_ack(true);
        let (nack, _) = self.taken_for_ack(false);
        // Decoded before or now, and yet sent again.
        let now = (1.0 - p) * (1.0 - grant - ack);
        let missed = grant - silence;
        let failed = p * (1.0 - grant - nack);
        let next = |decoded| self.transmissions(left - 1, decoded);
        if decoded {
            return 1.0 + (now + missed) * next(true);
        }
        1.0 + now * next(true) + (missed + failed) * next(false)
    }
}

fn errors(rates: [f64; 5]) -> ControlErrors {
    let [missed_grant, missed_feedback, ack_to_nack, nack_to_ack, dtx_to_ack] =
        rates.map(|p| Probability::new(p).unwrap());
    ControlErrors { missed_grant, missed_feedback, ack_to_nack, nack_to_ack, dtx_to_ack }
}

#[test]
fn what_harq_loses_and_sends_follows_from_the_rates() {
    for (bler, most, rates) in [
        (0.0, 8, [0.0, 0.0, 0.2, 0.0, 0.0]),
        (0.3, 3, [0.0, 0.0, 0.0, 0.1, 0.0]),
        (0.3, 4, [0.0, 0.25, 0.0, 0.3, 0.0]),
        (0.2, 3, [0.15, 0.0, 0.0, 0.0, 0.2]),
        (0.3, 5, [0.1, 0.2, 0.1, 0.15, 0.3]),
    ] {
        let law = Law { bler, errors: errors(rates) };
        let mode = HarqMode::Feedback {
            processes: n(1_000),
            silent: 0,
            max_transmissions: n(most),
            processing: NS(0),
        };
        let harq = HarqConfig { mode, repetitions: n(1) };
        let config =
            NtnConfig { phy: random(&[bler], 10), harq, control: law.errors, ..plain(&[]) };
        let packets = 200_000;
        let (delivered, link) = send(&config, packets, 100);
        let residual = law.residual(most);
        let failed = count(&link, "tbs_failed") as f64;
        let deviation = (residual * (1.0 - residual) * packets as f64).sqrt();
        let expected = residual * packets as f64;
        assert!((failed - expected).abs() <= 4.5 * deviation, "{rates:?}: {failed} {expected}");
        // A packet fills a block: RLC UM loses just those.
        assert_eq!(delivered.iter().filter(|&&at| at < 0).count() as f64, failed);
        let sent = 1.0 + count(&link, "tbs_sent_again") as f64 / packets as f64;
        // Between 1 and `most` transmissions: at most (most - 1) / 2 of standard deviation.
        let margin = 4.5 * f64::from(most - 1) / 2.0 / (packets as f64).sqrt();
        let expected = law.transmissions(most, false);
        assert!((sent - expected).abs() < margin, "{rates:?}: {sent} {expected}");
    }
}

#[test]
fn stop_and_wait_pays_for_each_transmission_with_a_round_trip() {
    // 32 processes, a slot and decoding of 10 ns, 500 ns each way: a round of 1010 ns.
    let (processes, blocks, round) = (32, 64_000, 1_010.0);
    let mode = HarqMode::Feedback {
        processes: n(processes),
        silent: 0,
        max_transmissions: n(8),
        processing: NS(0),
    };
    for rate in [0.0, 0.01, 0.1, 0.5] {
        let law = Law { bler: 0.0, errors: errors([0.0, 0.0, rate, 0.0, 0.0]) };
        let config = NtnConfig {
            phy: random(&[0.0], 10),
            propagation: NS(500).into(),
            way_back: NS(500).into(),
            harq: HarqConfig { mode, repetitions: n(1) },
            control: law.errors,
            ..plain(&[])
        };
        let (delivered, _) = send(&config, blocks, 100);
        let took = *delivered.iter().max().unwrap() as f64;
        let expected = law.transmissions(8, false) * round * blocks as f64 / f64::from(processes);
        // The last blocks do not fill all processes. Transmissions are all but geometric.
        let deviation = rate.sqrt() / (1.0 - rate) * (blocks as f64).sqrt();
        let margin = 9.0 * round + 4.5 * deviation * round / f64::from(processes);
        assert!((took - expected).abs() < margin, "{rate}: {took} {expected}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn variants_meet_the_same_channel(seed: u64, rates: [u8; 4]) {
        let [missed_feedback, ack_to_nack, nack_to_ack, dtx_to_ack] =
            rates.map(|rate| f64::from(rate) / 255.0);
        let control = errors([0.0, missed_feedback, ack_to_nack, nack_to_ack, dtx_to_ack]);
        let config = NtnConfig { phy: random(&[0.4], 10), harq: feedback(4), ..plain(&[]) };
        let fates = |control| {
            let config = NtnConfig { control, ..config.clone() };
            let usage = TraceLinkConfig::default();
            let mut link = NtnLink::new(&config, usage, Seed(seed), 0).unwrap();
            link.log_units();
            deliver(&mut link, &[0; 60], Bytes(100)).unwrap();
            let units = link.take_units();
            units.iter().map(|unit| (unit.at, unit.arrival)).collect::<Vec<_>>()
        };
        let (plain, wrong) = (fates(NEVER), fates(control));
        // A block that was decoded before still says what its slot would have done.
        for (at, arrival) in wrong {
            if let Some((_, same)) = plain.iter().find(|(other, _)| *other == at) {
                prop_assert_eq!(arrival, *same);
            }
        }
    }
}

#[test]
fn am_without_a_limit_delivers_everything_whatever_is_misread() {
    for seed in 0..20 {
        let rlc = RlcConfig::Am(am(30, 60, 150));
        let pdcp = PdcpConfig {
            in_order: true,
            t_reordering: Some(Timer::Infinite),
            discard: Timer::Infinite,
        };
        let control = errors([0.3; 5]);
        let config = NtnConfig {
            phy: random(&[0.3], 10),
            harq: feedback(3),
            control,
            rlc,
            pdcp,
            ..plain(&[])
        };
        let mut link = NtnLink::new(&config, TraceLinkConfig::default(), Seed(seed), 0).unwrap();
        let arrivals: Vec<i64> = (0..500).map(|packet| packet * 13).collect();
        let delivered = deliver(&mut link, &arrivals, Bytes(130)).unwrap().delivered;
        assert!(delivered.iter().all(|&at| at >= 0) && delivered.is_sorted());
        assert_eq!(link.counters().pending(), 0);
        assert!(count(&link, "tbs_failed") > 0);
    }
}
