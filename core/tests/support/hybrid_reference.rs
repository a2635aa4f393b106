//! Hybrid FEC/ARQ-SR, instant by instant, from its definition: slow and obvious.

use std::collections::VecDeque;

use clift::link::QueueLimit;
use clift::trace::PhyTrace;

/// A link, its losses and what is sent into it; times in ns.
#[derive(Clone, Debug)]
pub struct Case {
    pub data: u32,
    pub total: u32,
    /// Units of a frame's first transmission.
    pub first: u32,
    pub frames: u32,
    pub persistency: u32,
    pub unit: u32,
    /// bit/s.
    pub rate: u64,
    pub delay: i64,
    pub trace: PhyTrace,
    pub offset: i64,
    pub wrap: bool,
    pub end: Option<i64>,
    pub queue: QueueLimit,
    pub header: u32,
    pub arrivals: Vec<i64>,
    pub sizes: Vec<u32>,
}

/// The fate of a packet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fate {
    Delivered(i64),
    Lost(i64),
    Dropped,
    Pending,
}

/// A frame on the air.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    pub start: i64,
    pub packet: usize,
    pub times: u32,
    pub decoded: bool,
}

#[derive(Debug, Default)]
pub struct Outcome {
    pub fates: Vec<Option<Fate>>,
    pub departed: Vec<Option<i64>>,
    /// Packets in the queue right after each arrival.
    pub waiting: Vec<usize>,
    pub air: Vec<Sent>,
    pub ended: Option<(usize, i64)>,
}

struct Sender<'a> {
    case: &'a Case,
    /// Packet and frames still to send of it for the first time.
    queue: VecDeque<(usize, u64)>,
    current: Option<(usize, u64)>,
    /// NACKs under way or there: (at the sender, packet, times sent again).
    nacks: Vec<(i64, usize, u32)>,
    busy_until: i64,
    stopped: bool,
    /// Frames of each packet that are not decoded yet.
    missing: Vec<u64>,
    out: Outcome,
}

pub fn run(case: &Case) -> Outcome {
    let packets = case.arrivals.len();
    let mut sender = Sender {
        case,
        queue: VecDeque::new(),
        current: None,
        nacks: vec![],
        busy_until: (case.trace.t()[0] - offset(case)).max(0),
        stopped: false,
        missing: case.sizes.iter().map(|&size| frames_of(case, size)).collect(),
        out: Outcome {
            fates: vec![None; packets],
            departed: vec![None; packets],
            ..Outcome::default()
        },
    };
    let mut now = 0;
    let mut next = 0;
    loop {
        sender.choose(now);
        while next < packets && case.arrivals[next] == now {
            sender.arrives(next);
            sender.choose(now);
            sender.out.waiting.push(sender.queue.len());
            next += 1;
        }
        let mut instants: Vec<i64> = sender.nacks.iter().map(|nack| nack.0).collect();
        instants.push(sender.busy_until);
        instants.extend(case.arrivals.get(next));
        match instants.into_iter().filter(|&at| at > now).min() {
            Some(at) => now = at,
            None => break,
        }
    }
    sender.out
}

impl Sender<'_> {
    fn arrives(&mut self, packet: usize) {
        let size = self.case.sizes[packet];
        let frames = frames_of(self.case, size);
        let bytes: u64 = self.queue.iter().map(|&(p, _)| u64::from(self.case.sizes[p])).sum();
        let room = match self.case.queue {
            QueueLimit::Unlimited => true,
            QueueLimit::Packets(most) => self.queue.len() < most as usize,
            QueueLimit::Bytes(most) => bytes + u64::from(size) <= most,
        };
        if frames > u64::from(self.case.frames) || !room {
            self.out.fates[packet] = Some(Fate::Dropped);
        } else {
            self.queue.push_back((packet, frames));
        }
    }

    /// What an idle transmitter does at `now`.
    fn choose(&mut self, now: i64) {
        if self.stopped || self.busy_until > now {
            return;
        }
        let nack = self.nacks.iter().position(|nack| nack.0 <= now);
        if let Some(nack) = nack {
            let (_, packet, times) = self.nacks[nack];
            if self.send(now, packet, times + 1) {
                self.nacks.remove(nack);
            }
            return;
        }
        let Some((packet, left)) = self.current.or(self.queue.front().copied()) else { return };
        if !self.send(now, packet, 0) {
            return;
        }
        if self.current.is_none() {
            self.queue.pop_front();
            self.out.departed[packet] = Some(now);
        }
        self.current = (left > 1).then_some((packet, left - 1));
    }

    /// False: there is no trace left, or the run is over.
    fn send(&mut self, now: i64, packet: usize, times: u32) -> bool {
        let case = self.case;
        let begins: Vec<i64> =
            (0..case.total).map(|unit| now + time_to_send(case, unit * case.unit)).collect();
        // A first transmission starts only where a repeated one would have time too.
        let traced = begins.iter().all(|&begin| slot_at(case, begin).is_some());
        let over = case.end.is_some_and(|end| now > end);
        if !traced || over {
            self.stopped = true;
            if !over {
                self.out.ended = Some((packet, now));
            }
            return false;
        }
        let units = units_of(case, times);
        let arrived = begins[..units as usize]
            .iter()
            .filter(|&&at| slot_at(case, at).is_some_and(|s| case.trace.d()[s] > 0));
        let decoded = arrived.count() >= case.data as usize;
        let last_bit = now + time_to_send(case, units * case.unit);
        self.busy_until = last_bit;
        self.out.air.push(Sent { start: now, packet, times, decoded });
        if decoded {
            self.missing[packet] -= 1;
            if self.missing[packet] == 0 {
                self.out.fates[packet].get_or_insert(Fate::Delivered(last_bit + case.delay));
            }
        } else if times < case.persistency {
            self.nacks.push((last_bit + 2 * case.delay, packet, times));
        } else {
            self.out.fates[packet].get_or_insert(Fate::Lost(last_bit + case.delay));
        }
        true
    }
}

/// Units of a frame that was sent `times` times before.
pub fn units_of(case: &Case, times: u32) -> u32 {
    if times == 0 { case.first } else { case.total }
}

pub fn frames_of(case: &Case, size: u32) -> u64 {
    let (bytes, frame) = (u64::from(size + case.header), u64::from(case.data * case.unit));
    (1..).find(|frames| frames * frame >= bytes).unwrap()
}

/// Rounded to the nearest nanosecond.
pub fn time_to_send(case: &Case, bytes: u32) -> i64 {
    let (bits, rate) = (u128::from(bytes) * 8_000_000_000, u128::from(case.rate));
    ((bits + rate / 2) / rate) as i64
}

/// Trace time at run time 0, less whole cycles.
fn offset(case: &Case) -> i64 {
    let first = case.trace.t()[0];
    if case.wrap && case.offset > first {
        (case.offset - first) % period(case) + first
    } else {
        case.offset
    }
}

fn period(case: &Case) -> i64 {
    case.trace.period().as_nanos() as i64
}

/// The last slot that begins at run time `at` or before; `None` once the trace is over, a gap
/// after its last slot.
fn slot_at(case: &Case, at: i64) -> Option<usize> {
    let t = case.trace.t();
    let gap = (case.trace.median_gap().as_nanos() as i64).max(1);
    let mut time = at + offset(case);
    if case.wrap {
        time = (time - t[0]) % period(case) + t[0];
    }
    if !case.wrap && time >= t[t.len() - 1] + gap {
        return None;
    }
    (0..t.len()).rev().find(|&slot| t[slot] <= time)
}
