//! Adaptive HARQ nanosecond by nanosecond, as DESIGN section 5 says it, without any thought of
//! speed.

use std::collections::VecDeque;

use clift::link::{AdaptiveHarqConfig, Propagation, QueueLimit, Sizing};
use clift::seed::{Seed, Stream};
use clift::units::Instant;
use rand::Rng;

/// What became of one packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fate {
    Dropped,
    Pending,
    /// Arrived, departed, attempts.
    Delivered(u64, u64, u32),
    Lost(u64, u64, u32),
}

/// A packet on the air.
struct Word {
    packet: usize,
    start: u64,
    serialisation: u64,
    /// By attempt.
    needed: Vec<f64>,
    received: f64,
    attempts: usize,
}

pub(crate) struct Run {
    pub(crate) fates: Vec<Fate>,
    /// Instant and coded bits of every attempt.
    pub(crate) sent: Vec<(u64, u64)>,
    pub(crate) trace_ended: Option<(usize, u64)>,
}

pub(crate) fn run(
    config: &AdaptiveHarqConfig,
    queue_limit: QueueLimit,
    (offset, wrap): (u64, bool),
    seed: u64,
    end: u64,
    packets: &[(u64, u32)],
) -> Run {
    let mut thresholds = Seed(seed).rng(Stream::Link(0));
    let mut run =
        Run { fates: vec![Fate::Pending; packets.len()], sent: vec![], trace_ended: None };
    let mut queue: VecDeque<usize> = VecDeque::new();
    let mut words: Vec<Word> = vec![];
    // (instant of the last bit, order of admission, packet, departure, attempts, decoded)
    let mut done: Vec<(u64, usize, u64, u32, bool)> = vec![];
    let mut free_at = 0;
    let channel = |at: u64| {
        let mut slot = (at + offset) / config.information.every().as_nanos();
        if wrap {
            slot %= config.information.values().len() as u64;
        }
        config.information.values().get(slot as usize).copied().map(f64::from)
    };
    let last_slot =
        config.information.values().len() as u64 * config.information.every().as_nanos();
    let mut now = 0;
    loop {
        let arriving = || (0..packets.len()).filter(|&packet| packets[packet].0 == now);
        // Departures first; a packet that arrives may still start now.
        for arrival in [None].into_iter().chain(arriving().map(Some)) {
            if let Some(packet) = arrival {
                let bytes: u64 = queue.iter().map(|&other| u64::from(packets[other].1)).sum();
                let fits = match queue_limit {
                    QueueLimit::Unlimited => true,
                    QueueLimit::Packets(limit) => queue.len() < limit as usize,
                    QueueLimit::Bytes(limit) => bytes + u64::from(packets[packet].1) <= limit,
                };
                // A packet that goes at once never waits, but the queue has no room for it either.
                if fits {
                    queue.push_back(packet);
                } else {
                    run.fates[packet] = Fate::Dropped;
                }
            }
            while free_at <= now && !queue.is_empty() {
                let packet = queue.pop_front().unwrap();
                let bits = f64::from(packets[packet].1) * 8.0;
                let first = coded(config, 0, bits, bits);
                let rate = config.rate.bits_per_second() as f64;
                let serialisation = (first as f64 * 1e9 / rate).round() as u64;
                free_at = now + serialisation;
                words.push(Word {
                    packet,
                    start: now,
                    serialisation,
                    needed: needed(config, bits, &mut thresholds),
                    received: 0.0,
                    attempts: 0,
                });
            }
        }
        let step = config.step.as_nanos();
        let mut kept = vec![];
        for mut word in words {
            if now != word.start + word.attempts as u64 * step {
                kept.push(word);
                continue;
            }
            let bits = f64::from(packets[word.packet].1) * 8.0;
            let missing = match word.attempts {
                0 => bits,
                made => word.needed[made - 1] - word.received,
            };
            let coded = coded(config, word.attempts, bits, missing);
            run.sent.push((now, coded));
            let Some(information) = channel(now) else {
                // Without the channel nobody knows what becomes of it.
                let arrived = packets[word.packet].0;
                let at = arrived.max(last_slot.saturating_sub(offset));
                let earlier = run.trace_ended.is_some_and(|(packet, _)| packet < word.packet);
                if at < end && !earlier {
                    run.trace_ended = Some((word.packet, at));
                }
                continue;
            };
            word.received += coded as f64 * information;
            let decoded = word.received >= word.needed[word.attempts];
            word.attempts += 1;
            if decoded || word.attempts > config.max_retransmissions as usize {
                let at = now + word.serialisation;
                done.push((at, word.packet, word.start, word.attempts as u32, decoded));
            } else {
                kept.push(word);
            }
        }
        words = kept;
        now += 1;
        let arrived = packets.iter().all(|&(arrival, _)| arrival < now);
        if arrived && queue.is_empty() && words.is_empty() {
            break;
        }
    }
    done.sort_unstable_by_key(|&(at, packet, ..)| (at, packet));
    let mut last = 0;
    for (at, packet, departed, attempts, decoded) in done {
        let mut arrival = at + config.delay.at(Instant::from_nanos(at)).as_nanos();
        if let Propagation::Varying { keep_order: true, .. } = config.delay {
            arrival = arrival.max(last);
            last = arrival;
        }
        run.fates[packet] = if decoded {
            Fate::Delivered(arrival, departed, attempts)
        } else {
            Fate::Lost(arrival, departed, attempts)
        };
    }
    run
}

fn coded(config: &AdaptiveHarqConfig, attempt: usize, bits: f64, missing: f64) -> u64 {
    let wanted = match &config.sizing {
        Sizing::Fixed { first, .. } if attempt == 0 => bits * first,
        Sizing::Fixed { increment, .. } => bits * increment,
        Sizing::Missing { levels } => missing / levels[attempt],
    };
    (wanted.round() as u64).max(1)
}

/// What each attempt takes: a packet draws a number of its own, then one for each attempt if there is
/// a spread between those.
fn needed(config: &AdaptiveHarqConfig, bits: f64, rng: &mut impl Rng) -> Vec<f64> {
    let spread = config.threshold;
    let common = 1.0 + spread.packet_sigma * normal(rng);
    let attempts = 0..=config.max_retransmissions;
    if spread.attempt_sigma == 0.0 {
        return attempts.map(|_| bits * common).collect();
    }
    attempts.map(|_| bits * (common + spread.attempt_sigma * normal(rng))).collect()
}

fn normal(rng: &mut impl Rng) -> f64 {
    let (u, v) = (uniform(rng), uniform(rng));
    (-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

fn uniform(rng: &mut impl Rng) -> f64 {
    (rng.next_u64() / 2048) as f64 / 2f64.powi(53)
}
