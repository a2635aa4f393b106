//! Live links a second time: slot by slot, over every slot there is, without the library
//! but for the names of the parameters. The fate of a unit is computed at the very end.

use std::collections::VecDeque;

use clift::link::QueueLimit;
use clift::scheme::{Arq, Fec, Harq2, Scheme};
use clift::units::Limit;

use super::tmt_reference::Slot;

/// A link and what is sent over it.
pub struct Input<'a> {
    pub scheme: Scheme,
    /// Slots in trace time, and the period with which they repeat.
    pub slots: &'a [Slot],
    pub period: Option<i64>,
    /// When the last slot is over, in trace time: it lasts as long as the others.
    pub over: i64,
    /// Trace time at time zero of the run; slots before and after the run do not exist.
    pub offset: i64,
    pub end: i64,
    pub nominal: i64,
    pub feedback: i64,
    pub one_way: i64,
    pub flush: i64,
    /// The way back with its period, and after how long a lost report is repeated.
    pub back: Option<(&'a [Slot], i64)>,
    pub repeat: i64,
    pub send_buffer: Option<u32>,
    pub receive_buffer: Option<u32>,
    pub queue: QueueLimit,
    /// Arrival, bytes and units of every packet.
    pub packets: &'a [(i64, u32, usize)],
}

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fate {
    Delivered(i64),
    Lost(i64),
    Dropped,
    Pending,
}

/// What must come of it.
#[derive(Debug, Default)]
pub struct Expected {
    pub fates: Vec<Fate>,
    pub departed: Vec<Option<i64>>,
    /// Time, kind (0 new, 1 again, 2 repair), unit or block, attempt.
    pub sent: Vec<(i64, u8, u64, u32)>,
    pub flushed: u64,
    pub failed: u64,
    pub feedback_lost: u64,
    pub trace_ended: Option<i64>,
}

/// A code word: of FEC, a block of HARQ, or a single unit.
#[derive(Debug, Default)]
struct Word {
    data: Vec<usize>,
    sent: Vec<Slot>,
    rounds: u32,
    lost_at: Option<i64>,
}

/// Something that the sender will hear of.
#[derive(Debug)]
struct Report {
    heard: i64,
    /// The word that it is about, and the repair units that it asks for; 0: it has ended.
    word: usize,
    asks: usize,
}

struct Link<'a> {
    input: &'a Input<'a>,
    expected: Expected,
    queue: VecDeque<(usize, usize)>,
    /// Packet and first slot of each data unit.
    units: Vec<(usize, Slot)>,
    words: Vec<Word>,
    reports: Vec<Report>,
    /// The round under way: word and units left.
    round: Option<(usize, usize)>,
    /// First word of the current block (super-block), when it was begun, repair slots to come.
    block: usize,
    begun: i64,
    repair: Option<VecDeque<usize>>,
}

pub fn run(input: &Input<'_>) -> Expected {
    let mut link = Link {
        input,
        expected: Expected::default(),
        queue: VecDeque::new(),
        units: Vec::new(),
        words: Vec::new(),
        reports: Vec::new(),
        round: None,
        block: 0,
        begun: 0,
        repair: None,
    };
    link.expected.departed = vec![None; input.packets.len()];
    let mut dropped = vec![false; input.packets.len()];
    let mut next = 0;
    for slot in input.all_slots() {
        while next < input.packets.len() && input.packets[next].0 < slot.0 {
            dropped[next] = !link.admit(next);
            next += 1;
        }
        let mut used = link.offer(slot);
        while !used && next < input.packets.len() && input.packets[next].0 == slot.0 {
            dropped[next] = !link.admit(next);
            next += 1;
            used = link.offer(slot);
        }
    }
    while next < input.packets.len() {
        dropped[next] = !link.admit(next);
        next += 1;
    }
    link.outcome(&dropped)
}

impl Input<'_> {
    fn all_slots(&self) -> Vec<Slot> {
        let mut all = Vec::new();
        for cycle in 0.. {
            let shift = cycle * self.period.unwrap_or(0) - self.offset;
            all.extend(self.slots.iter().map(|&(t, d)| (t + shift, d)));
            if self.period.is_none() || all[all.len() - 1].0 > self.end {
                break;
            }
        }
        all.retain(|&(t, _)| (0..=self.end).contains(&t));
        all
    }

    /// Data units of a block, blocks of a super-block, repair units of a block.
    fn shape(&self) -> (usize, usize, usize) {
        match self.scheme {
            Scheme::Fec(Fec { code, interleave }) => {
                (code.data(), interleave.get() as usize, code.total() - code.data())
            }
            Scheme::Harq2(Harq2 { code, .. }) => (code.data(), 1, code.total() - code.data()),
            _ => (1, 1, 0),
        }
    }

    /// How often repair may be asked for, and the units beyond those missing.
    fn rounds(&self) -> (Limit, usize) {
        match self.scheme {
            Scheme::Arq(Arq { max_retx }) => (max_retx, 0),
            Scheme::Harq2(Harq2 { max_rounds, extra, .. }) => (max_rounds, extra as usize),
            _ => (Limit::AtMost(0), 0),
        }
    }
}

impl Link<'_> {
    fn admit(&mut self, packet: usize) -> bool {
        let (_, size, units) = self.input.packets[packet];
        // The packet being sent is not counted.
        let waiting = self.queue.iter().filter(|&&(p, left)| left == self.input.packets[p].2);
        let room = match self.input.queue {
            QueueLimit::Unlimited => true,
            QueueLimit::Packets(limit) => waiting.count() < limit as usize,
            QueueLimit::Bytes(limit) => {
                let bytes: u64 = waiting.map(|&(p, _)| u64::from(self.input.packets[p].1)).sum();
                bytes + u64::from(size) <= limit
            }
        };
        if room {
            self.queue.push_back((packet, units));
        }
        room
    }

    /// Gives the link a slot; says whether it used it.
    fn offer(&mut self, slot: Slot) -> bool {
        if self.round.is_none() {
            self.round = self.hear(slot.0);
        }
        if let Some((word, left)) = self.round {
            self.send_round(word, left, slot);
            return true;
        }
        if self.repair.is_none() && self.may_send_new(slot.0) {
            self.send_data(slot);
            return true;
        }
        let open = self.words.len() > self.block;
        if self.repair.is_none() && open && self.begun + self.input.flush <= slot.0 {
            let words = self.block..self.words.len();
            self.expected.flushed += words.len() as u64;
            let rows = (0..self.input.shape().2).flat_map(|_| words.clone());
            self.repair = Some(rows.collect());
            if self.input.shape().2 == 0 {
                self.close(slot.0);
                return self.offer(slot);
            }
        }
        if self.repair.is_none() {
            return false;
        }
        self.send_repair(slot);
        true
    }

    /// The round that is due, if the sender has heard of one.
    fn hear(&mut self, now: i64) -> Option<(usize, usize)> {
        let asked = self.reports.iter().enumerate().filter(|(_, r)| r.asks > 0 && r.heard <= now);
        let first = asked.min_by_key(|&(place, report)| (report.heard, place))?.0;
        let report = self.reports.remove(first);
        Some((report.word, report.asks))
    }

    fn send_round(&mut self, word: usize, left: usize, slot: Slot) {
        let (kind, number) = match self.input.scheme {
            Scheme::Arq(Arq { .. }) => (1, self.words[word].data[0]),
            _ => (2, word),
        };
        self.expected.sent.push((slot.0, kind, number as u64, self.words[word].rounds));
        self.words[word].sent.push(slot);
        self.round = (left > 1).then_some((word, left - 1));
        if left == 1 {
            self.ask(word, slot.0);
        }
    }

    fn may_send_new(&self, now: i64) -> bool {
        if self.queue.is_empty() {
            return false;
        }
        let feedback =
            matches!(self.input.scheme, Scheme::Arq(Arq { .. }) | Scheme::Harq2(Harq2 { .. }));
        if !feedback || self.words.len() > self.block {
            return true;
        }
        let heard = |word: usize| {
            self.reports.iter().any(|r| r.word == word && r.asks == 0 && r.heard <= now)
        };
        let kept: Vec<usize> = (0..self.words.len()).filter(|&word| !heard(word)).collect();
        let run = kept.first().map_or(0, |oldest| self.words.len() - oldest);
        self.input.send_buffer.is_none_or(|limit| kept.len() < limit as usize)
            && self.input.receive_buffer.is_none_or(|limit| run < limit as usize)
    }

    fn send_data(&mut self, slot: Slot) {
        let (k, depth, _) = self.input.shape();
        let data: usize = self.words[self.block..].iter().map(|word| word.data.len()).sum();
        if data == 0 {
            self.begun = slot.0;
        }
        if data < depth {
            self.words.push(Word::default());
        }
        let (packet, left) = self.queue.pop_front().unwrap();
        self.expected.departed[packet].get_or_insert(slot.0);
        if left > 1 {
            self.queue.push_front((packet, left - 1));
        }
        let word = &mut self.words[self.block + data % depth];
        word.data.push(self.units.len());
        word.sent.push(slot);
        self.expected.sent.push((slot.0, 0, self.units.len() as u64, 0));
        self.units.push((packet, slot));
        if data + 1 == k * depth {
            let words = self.block..self.words.len();
            self.repair = Some((0..self.input.shape().2).flat_map(|_| words.clone()).collect());
        }
        if self.input.shape().2 > 0 {
            return;
        }
        // Nothing follows: a word ends with its last data unit.
        if self.words[self.block + data % depth].data.len() == k {
            self.ask(self.block + data % depth, slot.0);
        }
        if data + 1 == k * depth {
            (self.block, self.repair) = (self.words.len(), None);
        }
    }

    fn send_repair(&mut self, slot: Slot) {
        let repair = self.repair.as_mut().unwrap();
        let word = repair.pop_front().unwrap();
        let (word_done, block_done) = (!repair.contains(&word), repair.is_empty());
        self.expected.sent.push((slot.0, 2, word as u64, 0));
        self.words[word].sent.push(slot);
        if word_done {
            self.ask(word, slot.0);
        }
        if block_done {
            (self.block, self.repair) = (self.words.len(), None);
        }
    }

    /// The timer closes a block without repair at `now`.
    fn close(&mut self, now: i64) {
        self.repair = None;
        for word in std::mem::replace(&mut self.block, self.words.len())..self.words.len() {
            if self.words[word].data.len() < self.input.shape().0 {
                self.ask(word, now);
            }
        }
    }

    /// After the last slot of a word or of a round, at `now`.
    fn ask(&mut self, word: usize, now: i64) {
        let (limit, extra) = self.input.rounds();
        let needed = self.words[word].data.len();
        let missing = needed.saturating_sub(arrivals(&self.words[word]).len());
        let allowed = limit.get().is_none_or(|rounds| self.words[word].rounds < rounds);
        let mut asks = 0;
        if missing > 0 && allowed {
            self.words[word].rounds += 1;
            asks = missing + extra;
        } else if missing > 0 {
            self.words[word].lost_at = Some(now + self.input.nominal);
            self.expected.failed += 1;
        }
        let window = self.input.send_buffer.is_some() || self.input.receive_buffer.is_some();
        let feedback =
            matches!(self.input.scheme, Scheme::Arq(Arq { .. }) | Scheme::Harq2(Harq2 { .. }));
        if feedback && (asks > 0 || window) {
            let heard = self.report(now);
            self.reports.push(Report { heard, word, asks });
        }
    }

    /// When the sender hears of the slot at `t`.
    fn report(&mut self, t: i64) -> i64 {
        let Some((back, period)) = self.input.back else { return t + self.input.feedback };
        let last = back[back.len() - 1].0;
        for copy in 0..1000 {
            let later = copy * self.input.repeat;
            let mut at = t + self.input.nominal + self.input.one_way + later + self.input.offset;
            // Its clock is that of the link, which starts again at every seam.
            let first = self.input.slots[0].0;
            let seam = self.input.period.map_or(i64::MAX, |cycle| first + cycle);
            while at >= seam {
                at -= seam - first;
            }
            let next = |at: i64| {
                let cycles = if at > last { (at - last + period - 1) / period } else { 0 };
                let slot = back.iter().find(|slot| slot.0 + cycles * period >= at).unwrap();
                (slot.0 + cycles * period, slot.1)
            };
            let (start, fate) = next(at);
            let comes = t + self.input.feedback + later;
            if (if start < seam { fate } else { next(first).1 }) > 0 {
                return comes;
            }
            self.expected.feedback_lost += u64::from(comes <= self.input.end);
        }
        i64::MAX
    }

    fn outcome(mut self, dropped: &[bool]) -> Expected {
        let mut ends: Vec<Vec<(i64, bool)>> = vec![Vec::new(); self.input.packets.len()];
        for word in &self.words {
            let mut times = arrivals(word);
            times.sort_unstable();
            // Without all its data sent, a word has fewer arrivals than data wherever that matters.
            let decoded = times.get(word.data.len() - 1).copied();
            for &unit in &word.data {
                let (packet, (t, d)) = self.units[unit];
                let own = (d > 0).then_some(t + d);
                match (own.or(decoded), word.lost_at) {
                    (Some(at), _) => ends[packet].push((at, false)),
                    (None, Some(at)) => ends[packet].push((at, true)),
                    (None, None) => {}
                }
            }
        }
        for (packet, ends) in ends.iter().enumerate() {
            let last = ends.iter().map(|end| end.0).max().map(|at| at + self.input.one_way);
            self.expected.fates.push(match last {
                _ if dropped[packet] => Fate::Dropped,
                Some(at) if ends.len() == self.input.packets[packet].2 => {
                    if ends.iter().any(|end| end.1) { Fate::Lost(at) } else { Fate::Delivered(at) }
                }
                _ => Fate::Pending,
            });
        }
        let last = self.input.slots[self.input.slots.len() - 1].0 - self.input.offset;
        if let (Some(&(packet, _)), None) = (self.queue.front(), self.input.period)
            && (self.input.over - self.input.offset).max(self.input.packets[packet].0)
                < self.input.end
        {
            self.expected.trace_ended = Some((last + 1).max(self.input.packets[packet].0));
        }
        self.expected
    }
}

fn arrivals(word: &Word) -> Vec<i64> {
    word.sent.iter().filter(|slot| slot.1 > 0).map(|&(t, d)| t + d).collect()
}
