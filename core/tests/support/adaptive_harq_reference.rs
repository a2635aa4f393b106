//! Adaptive HARQ nanosecond by nanosecond, as DESIGN section 5 says it, without any thought of
//! speed.

use std::collections::VecDeque;

use clift::link::{Propagation, QueueLimit};
use clift::scheme::{AdaptiveHarqConfig, Repairs, Sizing};
use clift::seed::{Seed, Stream};
use clift::units::Instant;
use rand::Rng;

/// The fate of one packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fate {
    Dropped,
    Pending,
    /// Arrived, departed, attempts.
    Delivered(u64, u64, u32),
    Lost(u64, u64, u32),
}

/// A packet on the air.
struct Word {
    packet: usize,
    departed: u64,
    bits: f64,
    /// By attempt.
    needed: Vec<f64>,
    received: f64,
    attempts: usize,
    /// When the next attempt is due.
    due: u64,
}

pub struct Run {
    pub fates: Vec<Fate>,
    /// Instant and coded bits of every attempt.
    pub sent: Vec<(u64, u64)>,
    pub trace_ended: Option<(usize, u64)>,
}

pub fn run(
    config: &AdaptiveHarqConfig,
    (queue_limit, header): (QueueLimit, u32),
    (offset, wrap): (u64, bool),
    seed: u64,
    end: u64,
    packets: &[(u64, u32)],
) -> Run {
    let run = Run { fates: vec![Fate::Pending; packets.len()], sent: vec![], trace_ended: None };
    let mut air = Air { config, offset, wrap, end, packets, words: vec![], done: vec![], run };
    let mut thresholds = Seed(seed).rng(Stream::Link(0));
    let mut queue: VecDeque<usize> = VecDeque::new();
    let mut free_at = 0;
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
                    air.run.fates[packet] = Fate::Dropped;
                }
            }
            while free_at <= now {
                let repair =
                    air.longest_due(now).filter(|_| config.options.repairs == Repairs::Compete);
                let word = match repair {
                    Some(place) => air.words.remove(place),
                    None => {
                        let Some(packet) = queue.pop_front() else { break };
                        let bits = f64::from(packets[packet].1 + header) * 8.0;
                        let needed = needed(config, bits, &mut thresholds);
                        Word {
                            packet,
                            departed: now,
                            bits,
                            needed,
                            received: 0.0,
                            attempts: 0,
                            due: now,
                        }
                    }
                };
                free_at = now + air.attempt(word, now);
            }
        }
        while let Some(place) =
            air.longest_due(now).filter(|_| config.options.repairs == Repairs::Beside)
        {
            let word = air.words.remove(place);
            air.attempt(word, now);
        }
        now += 1;
        let arrived = packets.iter().all(|&(arrival, _)| arrival < now);
        if arrived && queue.is_empty() && air.words.is_empty() {
            break;
        }
    }
    air.arrive()
}

struct Air<'a> {
    config: &'a AdaptiveHarqConfig,
    offset: u64,
    wrap: bool,
    end: u64,
    packets: &'a [(u64, u32)],
    /// Packets that will be sent again.
    words: Vec<Word>,
    /// (instant of the last bit, packet, departure, attempts, decoded)
    done: Vec<(u64, usize, u64, u32, bool)>,
    run: Run,
}

impl Air<'_> {
    fn longest_due(&self, now: u64) -> Option<usize> {
        let due = (0..self.words.len()).filter(|&place| self.words[place].due <= now);
        due.min_by_key(|&place| self.words[place].due)
    }

    /// Sends the next attempt at a packet; returns how long that takes.
    fn attempt(&mut self, mut word: Word, now: u64) -> u64 {
        let missing = match word.attempts {
            0 => word.bits,
            made => word.needed[made - 1] - word.received,
        };
        let bits = coded(self.config, word.attempts, word.bits, missing);
        self.run.sent.push((now, bits));
        let taken = |bits: u64| {
            (bits as f64 * 1e9 / self.config.options.rate.bits_per_second() as f64).round() as u64
        };
        let compete = self.config.options.repairs == Repairs::Compete;
        let first = coded(self.config, 0, word.bits, word.bits);
        let serialisation = taken(if compete { bits } else { first });
        let Some(information) = self.channel(now) else {
            // Without the channel nobody knows what becomes of it.
            let arrived = self.packets[word.packet].0;
            let at = if compete { now } else { arrived.max(self.known_until()) };
            let earlier =
                self.run.trace_ended.is_some_and(|(packet, _)| compete || packet < word.packet);
            if at < self.end && !earlier {
                self.run.trace_ended = Some((word.packet, at));
            }
            return serialisation;
        };
        word.received += bits as f64 * information;
        let decoded = word.received >= word.needed[word.attempts];
        word.attempts += 1;
        if decoded || word.attempts > self.config.options.max_retx as usize {
            let Word { packet, departed, attempts, .. } = word;
            let last_bit = now + serialisation;
            self.done.push((last_bit, packet, departed, attempts as u32, decoded));
        } else {
            word.due = now + self.config.options.step.as_nanos();
            self.words.push(word);
        }
        serialisation
    }

    fn channel(&self, at: u64) -> Option<f64> {
        let information = &self.config.information;
        let mut slot = (at + self.offset) / information.every().as_nanos();
        if self.wrap {
            slot %= information.values().len() as u64;
        }
        information.values().get(slot as usize).copied().map(f64::from)
    }

    fn known_until(&self) -> u64 {
        let information = &self.config.information;
        let length = information.values().len() as u64 * information.every().as_nanos();
        length.saturating_sub(self.offset)
    }

    /// Takes what was sent to the far end.
    fn arrive(mut self) -> Run {
        self.done.sort_unstable_by_key(|&(at, packet, ..)| (at, packet));
        let mut last = 0;
        for (at, packet, departed, attempts, decoded) in self.done {
            let mut arrival = at + self.config.delay.at(Instant::from_nanos(at)).as_nanos();
            if let Propagation::Varying { keep_order: true, .. } = self.config.delay {
                arrival = arrival.max(last);
                last = arrival;
            }
            self.run.fates[packet] = if decoded {
                Fate::Delivered(arrival, departed, attempts)
            } else {
                Fate::Lost(arrival, departed, attempts)
            };
        }
        self.run
    }
}

fn coded(config: &AdaptiveHarqConfig, attempt: usize, bits: f64, missing: f64) -> u64 {
    let wanted = match &config.sizing {
        Sizing::Fixed { first, .. } if attempt == 0 => bits * first,
        Sizing::Fixed { increment, .. } => bits * increment,
        Sizing::Missing { levels } => missing / levels[attempt],
    };
    (wanted.round() as u64).max(1)
}

/// Draws of each attempt: a packet draws one number, then one for each attempt if there is
/// a spread between those.
fn needed(config: &AdaptiveHarqConfig, bits: f64, rng: &mut impl Rng) -> Vec<f64> {
    let spread = &config.options;
    let common = 1.0 + spread.packet_sigma * normal(rng);
    let attempts = 0..=config.options.max_retx;
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
