//! Idle capacity of a hop, charged to what kept the senders from sending.

use std::collections::BTreeMap;

use crate::diagnosis::blame::{Blame, Cause, Extra, Target};
use crate::diagnosis::found::Sender;
use crate::link::Usage;
use crate::units::Instant;

/// What a sender tells a hop, at the time at which a packet sent then would reach it.
#[derive(Clone, Debug)]
pub(super) struct Update {
    pub(super) sender: usize,
    pub(super) blame: Blame,
    /// What it would send more without each of its cuts alone.
    pub(super) extras: Vec<Extra>,
    /// Whether the sender had heard from its peer: what was charged so far stays.
    pub(super) heard: bool,
    /// A timeout, to which the wait for it is charged: its cut, unless it was one of the handshake, and
    /// the bytes per second that the window before it brought.
    pub(super) timeout: Option<(Option<usize>, f64)>,
}

/// Capacity of a hop over time, in bytes from the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Point {
    pub(super) at: Instant,
    pub(super) capacity: f64,
    pub(super) idle: f64,
    /// Idle although packets waited in the link.
    pub(super) waiting: f64,
    pub(super) erased: f64,
}

/// Idle capacity of a hop, in bytes.
#[derive(Clone, Debug)]
pub(super) struct HopLedger {
    /// What keeps each sender from sending.
    blames: Vec<Blame>,
    /// The senders whose packets cross the hop.
    crossing: Vec<usize>,
    /// Whether each sender gets its data from the one before.
    is_fed: Vec<bool>,
    /// What was charged to each sender since it last heard from its peer.
    open: Vec<Vec<(Target, f64)>>,
    /// When each sender last heard from its peer, or its timer ran out.
    heard: Vec<Instant>,
    due: BTreeMap<(Instant, u64), Update>,
    number: u64,
    last: Point,
    /// Outages of the hop and of those that its packets cross, at the time at which what passes the
    /// hop meets them.
    outages: Outages,
    /// At the last reading, if the hop has a rate.
    usage: Option<Usage>,
    causes: [f64; Cause::ALL.len()],
    cuts: Vec<f64>,
    /// Idle bytes that would not be without a cut alone.
    alone: Vec<f64>,
    /// What each sender would send more without each of its cuts alone.
    extras: Vec<Vec<Extra>>,
    /// Bytes of a cut's extra that have not met an idle slot yet.
    pending: Vec<f64>,
    /// Changes of the main target: when, and of which sender.
    pub(super) changes: Vec<(Instant, usize, Target)>,
    /// Capacity and idle capacity, [`POINTS`] times in a run.
    pub(super) points: Vec<Point>,
    every: u64,
}

/// Beginning and end of each outage in turn, ascending, and how many of them the readings passed.
#[derive(Clone, Debug, Default)]
pub(super) struct Outages {
    edges: Vec<Instant>,
    passed: usize,
    /// Whether the hop itself has them.
    pub(super) own: bool,
}

impl Outages {
    /// Outages that may overlap.
    pub(super) fn of(mut spans: Vec<(Instant, Instant)>, own: bool) -> Self {
        spans.sort_unstable();
        let mut edges: Vec<Instant> = Vec::new();
        for (begin, end) in spans {
            match edges.last_mut() {
                Some(last) if *last >= begin => *last = end.max(*last),
                _ => edges.extend([begin, end]),
            }
        }
        Self { edges, passed: 0, own }
    }

    fn includes(&self, at: Instant) -> bool {
        self.edges.partition_point(|&edge| edge <= at) % 2 == 1
    }
}

/// Points of a run's time line.
const POINTS: u64 = 4000;

impl HopLedger {
    /// A ledger of a shared hop for a run of `duration` ns.
    pub(super) fn new(hop: usize, senders: &[Sender], outages: Outages, duration: u64) -> Self {
        let crosses = |&sender: &usize| senders[sender].delays[hop].is_some();
        Self {
            blames: vec![Blame::Cause(Cause::Application); senders.len()],
            crossing: (0..senders.len()).filter(crosses).collect(),
            is_fed: senders.iter().map(|sender| sender.is_fed).collect(),
            open: vec![Vec::new(); senders.len()],
            heard: vec![Instant::ZERO; senders.len()],
            due: BTreeMap::new(),
            number: 0,
            last: Point::default(),
            outages,
            usage: None,
            causes: [0.0; Cause::ALL.len()],
            cuts: Vec::new(),
            alone: Vec::new(),
            extras: vec![Vec::new(); senders.len()],
            pending: Vec::new(),
            changes: Vec::new(),
            points: vec![Point::default()],
            every: (duration / POINTS).max(1),
        }
    }

    /// Takes an update that reaches the hop at `at`.
    pub(super) fn tell(&mut self, at: Instant, update: Update) {
        self.due.insert((at, self.number), update);
        self.number += 1;
    }

    /// When the next update reaches the hop, or an outage begins or ends.
    pub(super) fn next(&self) -> Option<Instant> {
        let edge = self.outages.edges.get(self.outages.passed).copied();
        self.due.first_key_value().map(|(&(at, _), _)| at).into_iter().chain(edge).min()
    }

    /// Charges the capacity that was idle since the last reading, then takes the updates until `at`.
    pub(super) fn read(&mut self, at: Instant, usage: Option<&Usage>) {
        self.usage = usage.copied();
        if let Some(usage) = usage {
            self.charge(at, usage);
        }
        self.outages.passed = self.outages.edges.partition_point(|&edge| edge <= at);
        while let Some(first) = self.due.first_entry()
            && first.key().0 <= at
        {
            let update = first.remove();
            self.update(at, update);
        }
    }

    fn charge(&mut self, at: Instant, usage: &Usage) {
        let slot = f64::from(usage.slot.0);
        let now = Point {
            at,
            capacity: usage.slots * slot,
            idle: (usage.slots - usage.used.min(usage.slots)) * slot,
            waiting: usage.waiting.unwrap_or(0.0) * slot,
            erased: usage.erased.min(usage.used) * slot,
        };
        // No sender is charged with what the link left idle although packets waited.
        let waiting = now.waiting - self.last.waiting;
        let idle = now.idle - self.last.idle - waiting;
        self.causes[Cause::Link as usize] += waiting;
        let elapsed = now.at.saturating_since(self.last.at).as_secs_f64();
        if now.at.as_nanos() >= self.points[self.points.len() - 1].at.as_nanos() + self.every {
            self.points.push(now);
        }
        self.last = now;
        let holding = self.crossing.iter().filter(|&&it| self.holder(it).is_some()).count();
        if holding == 0 {
            self.causes[Cause::Application as usize] += idle;
            return;
        }
        if self.outages.passed % 2 == 1 {
            self.causes[Cause::Outage as usize] += idle;
            return;
        }
        let share = idle / holding as f64;
        for crossing in 0..self.crossing.len() {
            let Some(sender) = self.holder(self.crossing[crossing]) else { continue };
            let open = &mut self.open[sender];
            for extra in &self.extras[sender] {
                // A window's packets go once in a round-trip time, at any time in it.
                let pending = of_cut(&mut self.pending, extra.cut);
                *pending = (*pending + extra.rate * elapsed).min(extra.window);
                let used = pending.min(share);
                *pending -= used;
                *of_cut(&mut self.alone, extra.cut) += used;
            }
            match &self.blames[sender] {
                Blame::Cause(cause) => add(open, Target::Cause(*cause), share),
                Blame::Cuts(cuts) => {
                    let packets: f64 = cuts.iter().map(|it| it.packets).sum();
                    for it in cuts {
                        let part = match packets > 0.0 {
                            true => it.packets / packets,
                            false => 1.0 / cuts.len() as f64,
                        };
                        add(open, Target::Cut(it.cut), share * part);
                    }
                }
            }
        }
    }

    /// The sender that keeps the data of this one: itself, or the one before its proxy if it has none.
    /// `None`: the application has none.
    fn holder(&self, mut sender: usize) -> Option<usize> {
        while self.blames[sender] == Blame::Cause(Cause::Application) {
            if !self.is_fed[sender] {
                return None;
            }
            sender -= 1;
        }
        Some(sender)
    }

    fn update(&mut self, at: Instant, update: Update) {
        let Update { sender, blame, extras, heard, timeout } = update;
        if let Some((cut, rate)) = timeout {
            let waited: f64 = self.open[sender].drain(..).map(|(_, amount)| amount).sum();
            self.settle(cut.map_or(Target::Cause(Cause::Timeout), Target::Cut), waited);
            if let Some(cut) = cut {
                let wait = at.saturating_since(self.heard[sender]).as_secs_f64();
                *of_cut(&mut self.alone, cut) += waited.min(rate * wait);
            }
        } else if heard {
            self.close(sender);
        }
        if heard || timeout.is_some() {
            self.heard[sender] = at;
        }
        let main = blame.main(&extras);
        let before = self.blames[sender].main(&self.extras[sender]);
        if before != main {
            self.changes.push((at, sender, main));
        }
        self.blames[sender] = blame;
        self.extras[sender] = extras;
    }

    fn close(&mut self, sender: usize) {
        for (target, amount) in std::mem::take(&mut self.open[sender]) {
            self.settle(target, amount);
        }
    }

    fn settle(&mut self, target: Target, amount: f64) {
        match target {
            Target::Cause(cause) => self.causes[cause as usize] += amount,
            Target::Cut(cut) => *of_cut(&mut self.cuts, cut) += amount,
        }
    }

    /// The run has ended, with this last reading.
    pub(super) fn end(&mut self, at: Instant, usage: Option<&Usage>) {
        self.read(at, usage);
        (0..self.blames.len()).for_each(|sender| self.close(sender));
        if self.points.last().is_some_and(|point| point.at < at) {
            self.points.push(self.last);
        }
    }

    /// The capacity at an instant, between its points.
    pub(super) fn at(&self, at: Instant) -> Point {
        let next = self.points.partition_point(|point| point.at < at).min(self.points.len() - 1);
        let (before, after) = (self.points[next.saturating_sub(1)], self.points[next]);
        let span = after.at.saturating_since(before.at).as_nanos();
        if at >= after.at || span == 0 {
            return after;
        }
        let part = at.saturating_since(before.at).as_nanos() as f64 / span as f64;
        let between = |from: f64, to: f64| from + (to - from) * part;
        Point {
            at,
            capacity: between(before.capacity, after.capacity),
            idle: between(before.idle, after.idle),
            waiting: between(before.waiting, after.waiting),
            erased: between(before.erased, after.erased),
        }
    }

    /// Whether most of what was idle at an instant was so although packets waited in the link.
    pub(super) fn waits_at(&self, at: Instant) -> bool {
        let next = self.points.partition_point(|point| point.at <= at).min(self.points.len() - 1);
        let (before, after) = (self.points[next.saturating_sub(1)], self.points[next]);
        2.0 * (after.waiting - before.waiting) > after.idle - before.idle
    }

    /// Bytes of all slots that passed.
    pub(super) fn capacity(&self) -> f64 {
        self.last.capacity
    }

    /// What the link did, at the last reading.
    pub(super) fn usage(&self) -> Usage {
        self.usage.unwrap_or(Usage::NONE)
    }

    /// Whether it loses what it sends in outages.
    pub(super) fn has_outages(&self) -> bool {
        self.outages.own
    }

    /// Whether what passes the hop at an instant meets an outage.
    pub(super) fn is_out(&self, at: Instant) -> bool {
        self.outages.includes(at)
    }

    /// Idle bytes of a cause, without those of cuts.
    pub(super) fn of(&self, cause: Cause) -> f64 {
        self.causes[cause as usize]
    }

    /// Idle bytes that would not be without a cut alone.
    pub(super) fn of_cut_alone(&self, cut: usize) -> f64 {
        self.alone.get(cut).copied().unwrap_or(0.0)
    }

    /// Idle bytes that a cut is charged with, of those of all cuts.
    pub(super) fn of_cut(&self, cut: usize) -> f64 {
        self.cuts.get(cut).copied().unwrap_or(0.0)
    }
}

/// Adds to what a target is charged with.
fn add(charged: &mut Vec<(Target, f64)>, target: Target, amount: f64) {
    match charged.iter_mut().find(|(known, _)| *known == target) {
        Some((_, sum)) => *sum += amount,
        None => charged.push((target, amount)),
    }
}

/// The entry of a cut, which may be a new one.
fn of_cut(charged: &mut Vec<f64>, cut: usize) -> &mut f64 {
    if charged.len() <= cut {
        charged.resize(cut + 1, 0.0);
    }
    &mut charged[cut]
}
