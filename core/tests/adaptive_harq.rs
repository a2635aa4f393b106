//! Adaptive HARQ against a slow reference and against the arithmetic of its decoding.

use std::collections::BTreeMap;
use std::sync::Arc;

use clift::link::{
    Admission, DelaySeries, Fragmentation, Instrument, InstrumentedLink, Link, LinkEvent, Packet,
    PacketId, Propagation, QueueLimit, Transit,
};
use clift::scheme::{AdaptiveHarqConfig, AdaptiveHarqOptions, LinkConfig, Repairs, Sizing};
use clift::seed::Seed;
use clift::trace::MiTrace;
use clift::units::{BitRate, Bytes, Duration, Instant, Probability};
use proptest::prelude::*;
use support::adaptive_harq_reference::{self, Fate};

/// A link and what is sent over it.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    config: AdaptiveHarqConfig,
    queue: QueueLimit,
    header: u32,
    start: (u64, bool),
    seed: u64,
    end: u64,
    pub(crate) packets: Vec<(u64, u32)>,
}

impl Case {
    pub(crate) fn link(&self, number: u32) -> Box<dyn InstrumentedLink + Send> {
        let (offset, wrap) = self.start;
        let link = LinkConfig {
            queue: self.queue,
            start_offset: Duration::from_nanos(offset),
            wrap,
            fragmentation: Fragmentation {
                packet_header: Bytes(self.header),
                ..Fragmentation::default()
            },
            ..usual(&self.config)
        };
        link.build(Seed(self.seed), number, Some(Instant::from_nanos(self.end))).unwrap()
    }

    fn reference(&self) -> adaptive_harq_reference::Run {
        adaptive_harq_reference::run(
            &self.config,
            (self.queue, self.header),
            self.start,
            self.seed,
            self.end,
            &self.packets,
        )
    }
}

proptest! {
    #[test]
    fn every_packet_meets_the_fate_that_the_reference_gives_it(case in case(), look in 0u64..3_000) {
        let reference = case.reference();
        let mut link = case.link(0);
        let run = drive(&mut *link, &case.packets, look);
        for (packet, &expected) in reference.fates.iter().enumerate() {
            prop_assert_eq!(run.fates[packet], expected, "packet {}", packet);
        }
        prop_assert_eq!(run.trace_ended, reference.trace_ended);
        // The load on the air, attempt by attempt.
        let until = look.max(case.packets.last().unwrap().0);
        let bits = |until| -> u64 {
            reference.sent.iter().filter(|&&(at, _)| at <= until).map(|&(_, bits)| bits).sum()
        };
        prop_assert_eq!(run.bits_at_look, bits(until) as f64);
        let details: BTreeMap<_, _> = link.details().into_iter().collect();
        let ends = |fate: &&Fate| matches!(fate, Fate::Delivered(..));
        let decoded: u64 = (0..=7)
            .filter_map(|n| details.get(format!("harq_decoded_after_{n}").as_str()))
            .sum();
        prop_assert_eq!(decoded as usize, reference.fates.iter().filter(ends).count());
        prop_assert_eq!(details["harq_failures"], link.counters().lost);
    }

    #[test]
    fn the_log_has_every_attempt_once_in_order_of_time(case in case(), look in 0u64..3_000) {
        let reference = case.reference();
        prop_assume!(reference.trace_ended.is_none());
        let mut link = case.link(0);
        link.log_units();
        drive(&mut *link, &case.packets, 0);
        let mut units = link.take_units();
        let early = units.len();
        link.catch_up(Instant::from_nanos(look.max(case.packets.last().unwrap().0)));
        link.catch_up(Instant::from_nanos(1 << 40));
        units.extend(link.take_units());
        prop_assert!(early <= units.len() && units.is_sorted_by_key(|unit| unit.at));
        let mut sent: Vec<u64> = reference.sent.iter().map(|&(at, _)| at).collect();
        sent.sort_unstable();
        let unknown = reference.fates.contains(&Fate::Pending);
        prop_assert!(unknown || units.iter().map(|unit| unit.at.as_nanos()).eq(sent));
        let decoded = units.iter().filter(|unit| unit.arrival.is_some()).count() as u64;
        prop_assert_eq!(decoded, link.counters().delivered);
    }

    #[test]
    fn packets_are_conserved_and_nothing_comes_before_its_time(case in case()) {
        let mut link = case.link(0);
        let run = drive(&mut *link, &case.packets, 0);
        let counters = link.counters();
        let count = |wanted: fn(&Fate) -> bool| run.fates.iter().filter(|fate| wanted(fate)).count();
        prop_assert_eq!(counters.offered as usize, case.packets.len());
        prop_assert_eq!(counters.dropped as usize, count(|fate| *fate == Fate::Dropped));
        prop_assert_eq!(counters.lost as usize, count(|fate| matches!(fate, Fate::Lost(..))));
        prop_assert_eq!(counters.pending() as usize, count(|fate| *fate == Fate::Pending));
        for (fate, &(arrival, _)) in run.fates.iter().zip(&case.packets) {
            let &(Fate::Delivered(at, departed, attempts) | Fate::Lost(at, departed, attempts)) = fate
            else { continue };
            let repairs = u64::from(attempts - 1) * case.config.options.step.as_nanos();
            prop_assert!(departed >= arrival && at >= departed + repairs);
        }
    }

    #[test]
    fn a_better_channel_never_costs_an_attempt(case in case(), better in 0f32..1.0) {
        // The same seed draws the same thresholds over any channel.
        let mut case = Case { queue: QueueLimit::Unlimited, ..case };
        case.config.options.repairs = Repairs::Beside;
        case.config.sizing = Sizing::Fixed { first: 1.2, increment: 0.5 };
        let worse = drive(&mut *case.link(0), &case.packets, 0);
        let values = case.config.information.values().iter().map(|mi| mi + (1.0 - mi) * better);
        let information = MiTrace::new(case.config.information.every(), values.collect()).unwrap();
        case.config.information = Arc::new(information);
        let better = drive(&mut *case.link(0), &case.packets, 0);
        for (worse, better) in worse.fates.iter().zip(&better.fates) {
            match (worse, better) {
                (Fate::Delivered(_, _, more), Fate::Delivered(_, _, fewer)) => {
                    prop_assert!(fewer <= more);
                }
                (Fate::Delivered(..), other) => prop_assert!(false, "{other:?}"),
                _ => {}
            }
        }
    }
}

/// Over a steady channel the n-th attempt decodes with P(1 + sigma g <= bits so far x MI).
#[test]
fn attempts_decode_as_the_normal_law_says() {
    let (mi, first, increment, sigma) = (0.75, 1.3, 0.2, 0.25);
    let mut config = config(vec![mi; 1000]);
    config.sizing = Sizing::Fixed { first, increment };
    (config.options.packet_sigma, config.options.attempt_sigma) = (sigma, 0.0);
    let packets = 200_000;
    let counts = decoded_after(&config, packets);
    let by = |attempt: f64| phi(((first + attempt * increment) * f64::from(mi) - 1.0) / sigma);
    let mut before = 0.0;
    for (attempt, &count) in counts.iter().enumerate() {
        let expected = by(attempt as f64) - before;
        before += expected;
        let error = (expected * (1.0 - expected) / packets as f64).sqrt();
        let share = count as f64 / packets as f64;
        assert!((share - expected).abs() < 4.5 * error, "attempt {attempt}: {share} {expected}");
    }
}

/// With a separate threshold for each attempt, the share decoded after the n-th is a product.
#[test]
fn attempts_that_differ_decode_as_the_product_says() {
    let (mi, first, increment, sigma) = (0.75, 1.2, 0.1, 0.25);
    let mut config = config(vec![mi; 1000]);
    config.sizing = Sizing::Fixed { first, increment };
    (config.options.packet_sigma, config.options.attempt_sigma) = (0.0, sigma);
    let packets = 200_000;
    let mut missing = 1.0;
    for (attempt, &count) in decoded_after(&config, packets).iter().enumerate() {
        let bits = (first + attempt as f64 * increment) * f64::from(mi);
        let expected = missing * phi((bits - 1.0) / sigma);
        missing -= expected;
        let error = (expected * (1.0 - expected) / packets as f64).sqrt();
        let share = count as f64 / packets as f64;
        assert!((share - expected).abs() < 4.5 * error, "attempt {attempt}: {share} {expected}");
    }
}

/// Over a channel of two levels in turn at random, every pattern of attempts can be counted.
#[test]
fn attempts_decode_as_all_patterns_of_the_channel_say() {
    let mut random = proptest::test_runner::TestRng::deterministic_rng(
        proptest::test_runner::RngAlgorithm::ChaCha,
    );
    let bad = 0.4;
    let values = (0..400_000).map(|_| if random.random_bool(bad) { 0.3 } else { 0.9 }).collect();
    let mut config = config(values);
    config.sizing = Sizing::Fixed { first: 1.0, increment: 0.5 };
    let packets = 90_000;
    let counts = decoded_after(&config, packets);
    let mut expected = [0.0; 4];
    for pattern in 0..16u32 {
        let is_bad = |attempt: usize| pattern >> attempt & 1 == 1;
        let p: f64 = (0..4).map(|a| if is_bad(a) { bad } else { 1.0 - bad }).product();
        let mut sum = 0.0;
        let decoded = (0..4).find(|&attempt| {
            sum += [1.0, 0.5, 0.5, 0.5][attempt] * if is_bad(attempt) { 0.3 } else { 0.9 };
            sum >= 1.0
        });
        if let Some(attempt) = decoded {
            expected[attempt] += p;
        }
    }
    for (attempt, (&count, expected)) in counts.iter().zip(expected).enumerate() {
        let error = (expected * (1.0 - expected) / packets as f64).sqrt();
        let share = count as f64 / packets as f64;
        assert!((share - expected).abs() <= 4.5 * error, "attempt {attempt}: {share} {expected}");
    }
}

/// With more to send than it can, the air is never idle and never carries two things at once;
/// retransmissions beside it would carry more than there is room for.
#[test]
fn retransmissions_that_compete_share_the_air() {
    let mut config = config(vec![0.6; 100]);
    config.sizing = Sizing::Fixed { first: 1.0, increment: 0.5 };
    // 600 of 1000 bits at first, 300 more each time: every packet takes three attempts.
    let (bits, attempts) = (10_000, 3);
    let share = |repairs| {
        let mut config = config.clone();
        config.options.repairs = repairs;
        let wrapped = LinkConfig { wrap: true, ..usual(&config) };
        let mut link = wrapped.build(Seed(1), 0, None).unwrap();
        for packet in 0..50_000 {
            let admitted = link.enqueue(Instant::ZERO, Packet::new(PacketId(packet), Bytes(1250)));
            assert_eq!(admitted, Admission::Queued);
        }
        let until = Instant::from_nanos(200_000);
        while link.poll(until).is_some() {}
        link.catch_up(until);
        (link.usage(until), link.counters())
    };
    let (compete, counters) = share(Repairs::Compete);
    let (compete, delivered) = (compete.share(), counters.delivered);
    assert!((compete - 1.0).abs() < 1e-3, "{compete}");
    // A Tbit/s, 20,000 bits a packet in all, less those that wait for a step.
    let most = 200_000 * 1000 / (2 * bits);
    let waiting = 2 * 100 * 1000 / bits;
    assert!((most - waiting * attempts..=most).contains(&delivered), "{delivered} of {most}");
    // Beside it the link is full of first attempts, and the repairs are counted apart. What is
    // planned for the packets that wait is in no coding ratio: of 10,000 bits in three attempts of
    // 10,000, 5,000 and 5,000 arrive one in two, less for what is on its way.
    let (beside, counters) = share(Repairs::Beside);
    assert!((beside.share() - 1.0).abs() < 1e-3 && (beside.share_beside() - 1.0).abs() < 0.02);
    let ratio = beside.coding_ratio(&counters).unwrap();
    assert!((0.48..=0.5).contains(&ratio), "{ratio}");
}

/// Sizing by the missing information meets its target at each attempt.
#[test]
fn what_is_missing_comes_with_the_target_probability() {
    let mut random = proptest::test_runner::TestRng::deterministic_rng(
        proptest::test_runner::RngAlgorithm::ChaCha,
    );
    let values = (0..400_000).map(|_| random.random_range(0.2f32..1.0)).collect();
    let mut config = config(values);
    let targets = [0.6, 0.5, 0.8, 0.9];
    let probability = |p: f64| Probability::new(p).unwrap();
    config.sizing = Sizing::for_targets(&config.information, &targets.map(probability)).unwrap();
    let packets = 90_000;
    let mut left = packets as f64;
    for (target, count) in targets.into_iter().zip(decoded_after(&config, packets)) {
        let error = (target * (1.0 - target) / left).sqrt();
        let share = count as f64 / left;
        assert!((share - target).abs() < 4.5 * error, "{share} for {target}");
        left -= count as f64;
    }
}

#[test]
fn the_links_of_a_run_draw_different_thresholds() {
    let mut config = config(vec![0.8; 100]);
    config.options.attempt_sigma = 0.25;
    let case = Case {
        config,
        queue: QueueLimit::Unlimited,
        header: 0,
        start: (0, true),
        seed: 3,
        end: u64::MAX,
        packets: (0..200).map(|n| (n * 1000, 100)).collect(),
    };
    let run = |number| drive(&mut *case.link(number), &case.packets, 0).fates;
    assert_eq!(run(0), run(0));
    assert_ne!(run(0), run(1));
}

#[test]
fn what_cannot_be_says_why() {
    let fault = |change: fn(&mut AdaptiveHarqConfig)| {
        let mut config = config(vec![0.5]);
        change(&mut config);
        let Err(fault) = usual(&config).build(Seed(1), 0, None) else { panic!("no fault") };
        fault.to_string()
    };
    let half = Probability::new(0.5).unwrap();
    assert!(fault(|c| c.options.packet_sigma = f64::NAN).contains("packet_sigma"));
    assert!(fault(|c| c.options.attempt_sigma = -0.1).contains("attempt_sigma"));
    assert!(fault(|c| c.options.max_retx = 8).contains("give 0 to 7"));
    assert!(fault(|c| c.options.step = Duration::ZERO).contains("step"));
    assert!(fault(|c| c.sizing = Sizing::Fixed { first: 0.0, increment: 1.0 }).contains("first"));
    assert!(
        fault(|c| c.sizing = Sizing::Fixed { first: 1.0, increment: f64::INFINITY })
            .contains("increment")
    );
    assert!(
        fault(|c| c.sizing = Sizing::Missing { levels: [0.5, 0.5, 0.5, 0.0].into() })
            .contains("lower")
    );
    let dead = MiTrace::new(Duration::from_nanos(1), vec![0.0; 9]).unwrap();
    let hopeless = Sizing::for_targets(&dead, &[half]).unwrap_err();
    assert!(hopeless.to_string().starts_with("targets: the channel lets next to nothing"));
    let mut two = config(vec![0.5]);
    two.sizing = Sizing::for_targets(&two.information, &[half; 2]).unwrap();
    let Err(fault) = usual(&two).build(Seed(1), 0, None) else { panic!("no fault") };
    assert!(fault.to_string().contains("targets: 2 for 4 attempts"));
}

// --- random links and traffic, small enough that every corner is met often ---

pub(crate) fn case() -> impl Strategy<Value = Case> {
    let packets = prop::collection::vec((gap(), 1u32..60), 1..30).prop_map(|packets| {
        let mut now = 0;
        packets
            .into_iter()
            .map(|(gap, size)| {
                now += gap;
                (now, size)
            })
            .collect()
    });
    let queue = prop_oneof![
        Just(QueueLimit::Unlimited),
        (0u32..5).prop_map(QueueLimit::Packets),
        (0u64..200).prop_map(QueueLimit::Bytes),
    ];
    let start = (prop_oneof![Just(0u64), 0u64..2_000], any::<bool>());
    let header = prop_oneof![Just(0u32), 0u32..20];
    (config_strategy(), (queue, header), start, any::<u64>(), 0u64..6_000, packets).prop_map(
        |(config, (queue, header), start, seed, end, packets)| Case {
            config,
            queue,
            header,
            start,
            seed,
            end,
            packets,
        },
    )
}

fn gap() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0u64), 0u64..60, 0u64..600]
}

fn config_strategy() -> impl Strategy<Value = AdaptiveHarqConfig> {
    let information = (prop::collection::vec(0.05f32..1.0, 1..60), 1u64..120)
        .prop_map(|(values, every)| MiTrace::new(Duration::from_nanos(every), values).unwrap());
    let repairs = prop_oneof![Just(Repairs::Beside), Just(Repairs::Compete)];
    let rules = (0u32..5, 1u64..400, threshold(), repairs);
    (information, 1u64..20, delay(), rules).prop_flat_map(
        |(information, rate, delay, (max_retx, step, (packet_sigma, attempt_sigma), repairs))| {
            let probability = (0.05f64..0.99).prop_map(|p| Probability::new(p).unwrap());
            let attempts = max_retx as usize + 1;
            let channel = information.clone();
            let sizing = prop_oneof![
                (0.3f64..2.0, 0.1f64..1.0)
                    .prop_map(|(first, increment)| Sizing::Fixed { first, increment }),
                prop::collection::vec(probability, attempts)
                    .prop_map(move |targets| Sizing::for_targets(&channel, &targets).unwrap()),
            ];
            sizing.prop_map(move |sizing| AdaptiveHarqConfig {
                options: AdaptiveHarqOptions {
                    // A coded bit takes up to 10 ns.
                    rate: BitRate::from_bits_per_second(rate * 100_000_000).unwrap(),
                    max_retx,
                    step: Duration::from_nanos(step),
                    packet_sigma,
                    attempt_sigma,
                    repairs,
                    ..AdaptiveHarqOptions::default()
                },
                information: Arc::new(information.clone()),
                delay: delay.clone(),
                sizing,
            })
        },
    )
}

/// Spread from packet to packet, and from attempt to attempt.
fn threshold() -> impl Strategy<Value = (f64, f64)> {
    let sigma = || prop_oneof![Just(0.0), 0.0..0.5];
    (sigma(), sigma())
}

fn delay() -> impl Strategy<Value = Propagation> {
    let ns = Duration::from_nanos;
    let steps = prop::collection::vec((1u64..900, 0u64..700), 1..6).prop_map(move |steps| {
        let mut at = 0;
        let steps = steps.into_iter().map(|(gap, delay)| {
            at += gap;
            (Instant::from_nanos(at), ns(delay))
        });
        Arc::new(DelaySeries::new(steps.collect()).unwrap())
    });
    prop_oneof![
        (0u64..700).prop_map(move |delay| Propagation::Fixed(ns(delay))),
        (steps, any::<bool>())
            .prop_map(|(series, keep_order)| Propagation::Varying { series, keep_order }),
    ]
}

/// A link with default use.
fn usual(config: &AdaptiveHarqConfig) -> LinkConfig {
    LinkConfig::new(Arc::new(config.clone()))
}

/// 1 Gbit/s, three retransmissions every 100 ns, one value a nanosecond.
fn config(values: Vec<f32>) -> AdaptiveHarqConfig {
    AdaptiveHarqConfig {
        options: AdaptiveHarqOptions {
            rate: BitRate::from_bits_per_second(1_000_000_000_000).unwrap(),
            step: Duration::from_nanos(100),
            packet_sigma: 0.0,
            ..AdaptiveHarqOptions::default()
        },
        information: Arc::new(MiTrace::new(Duration::from_nanos(1), values).unwrap()),
        delay: Propagation::Fixed(Duration::ZERO),
        sizing: Sizing::Fixed { first: 1.0, increment: 0.5 },
    }
}

/// The normal law.
fn phi(x: f64) -> f64 {
    0.5 * libm::erfc(-x / std::f64::consts::SQRT_2)
}

/// Packets decoded by each attempt, of 1250 bytes every 4 ns over a channel that repeats.
fn decoded_after(config: &AdaptiveHarqConfig, packets: u64) -> Vec<u64> {
    let wrapped = LinkConfig { wrap: true, ..usual(config) };
    let mut link = wrapped.build(Seed(1), 0, None).unwrap();
    let packets: Vec<_> = (0..packets).map(|n| (n * 4, 1250)).collect();
    drive(&mut *link, &packets, 0);
    link.details()
        .into_iter()
        .filter_map(|(name, count)| name.starts_with("harq_decoded").then_some(count))
        .take(4)
        .collect()
}

struct Outcome {
    fates: Vec<Fate>,
    trace_ended: Option<(usize, u64)>,
    bits_at_look: f64,
}

/// Drives a link as a host does, and takes the load on the air at `look` if that is not over.
fn drive(link: &mut dyn InstrumentedLink, packets: &[(u64, u32)], look: u64) -> Outcome {
    let mut outcome =
        Outcome { fates: vec![Fate::Pending; packets.len()], trace_ended: None, bits_at_look: 0.0 };
    let mut now = Instant::ZERO;
    for (number, &(arrival, size)) in packets.iter().enumerate() {
        now = Instant::from_nanos(arrival);
        poll(link, now, &mut outcome);
        let packet = Packet::new(PacketId(number as u64), Bytes(size));
        if let Admission::Dropped(_) = link.enqueue(now, packet) {
            outcome.fates[number] = Fate::Dropped;
        }
    }
    let look = Instant::from_nanos(look).max(now);
    link.catch_up(look);
    let usage = link.usage(look);
    outcome.bits_at_look = (usage.used + usage.beside) * f64::from(usage.slot.0) * 8.0;
    while let Some(due) = link.poll_timeout() {
        poll(link, due, &mut outcome);
    }
    outcome
}

fn poll(link: &mut dyn Link, now: Instant, outcome: &mut Outcome) {
    let mut due = link.poll_timeout();
    while let Some(event) = link.poll(now) {
        assert!(due.is_some_and(|due| due <= event.at()) && event.at() <= now, "unannounced");
        let parts = |t: Transit| (t.at.as_nanos(), t.departed.as_nanos(), t.lldus);
        match event {
            LinkEvent::Delivered(transit) => {
                let (at, departed, attempts) = parts(transit);
                outcome.fates[transit.packet.0 as usize] = Fate::Delivered(at, departed, attempts);
            }
            LinkEvent::Lost(transit) => {
                let (at, departed, attempts) = parts(transit);
                outcome.fates[transit.packet.0 as usize] = Fate::Lost(at, departed, attempts);
            }
            LinkEvent::TraceEnded { packet, at } => {
                outcome.trace_ended = Some((packet.0 as usize, at.as_nanos()));
            }
            _ => {}
        }
        due = link.poll_timeout();
    }
    assert!(link.poll_timeout().is_none_or(|due| due > now));
}
