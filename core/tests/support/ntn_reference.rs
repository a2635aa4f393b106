//! The 3GPP link a second time, nanosecond by nanosecond and byte by byte, from the wording of
//! TS 38.321, 38.322 and 38.323 alone. Slow and obvious.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use clift::link::ntn::{HarqMode, NtnConfig, NtnPhy, RlcConfig};
use clift::link::{Propagation, QueueLimit};
use clift::seed::{Seed, Stream};
use clift::units::Instant;
use rand::Rng;

pub(crate) struct Case {
    pub(crate) config: NtnConfig,
    pub(crate) queue: QueueLimit,
    pub(crate) wrap: bool,
    pub(crate) arrivals: Vec<(i64, u32)>,
    pub(crate) seed: Seed,
    /// The last nanosecond; its slot is not used any more.
    pub(crate) end: i64,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct End {
    pub(crate) packet: usize,
    pub(crate) delivered: bool,
    pub(crate) at: i64,
    pub(crate) departed: i64,
    pub(crate) blocks: u32,
}

#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) ends: Vec<End>,
    pub(crate) dropped: Vec<usize>,
    pub(crate) counts: BTreeMap<&'static str, u64>,
    pub(crate) trace_ended: bool,
}

#[derive(Clone, Debug)]
struct Pdu {
    order: usize,
    sn: Option<u64>,
    bytes: Vec<usize>,
    poll: bool,
}

#[derive(Clone, Debug)]
struct Block {
    pdus: Vec<Pdu>,
    attempts: usize,
    rounds: u32,
    decoded: Option<i64>,
    /// Waits for its turn to be sent again since the n-th negative feedback.
    again: Option<u64>,
    left: u32,
}

struct Packet {
    id: usize,
    size: u32,
    bytes: usize,
    entered: i64,
    departed: i64,
    sent: usize,
    sn: Option<u64>,
    ended: bool,
    complete: bool,
    closed: bool,
    blocks: u32,
    riding: usize,
}

#[derive(Default)]
struct SentSdu {
    order: usize,
    done: bool,
    pending: BTreeSet<usize>,
    since: Option<u64>,
    retx: Option<u32>,
}

struct Status {
    ack: u64,
    nacks: BTreeMap<u64, Vec<usize>>,
}

struct World<'a> {
    case: &'a Case,
    now: i64,
    packets: Vec<Packet>,
    waiting: VecDeque<usize>,
    processes: Vec<Option<Block>>,
    repeating: Option<usize>,
    negative: u64,
    last_arrival: i64,
    // under way: time, number of entry
    landings: BTreeMap<(i64, u64), (Vec<Pdu>, bool)>,
    feedback: BTreeMap<(i64, u64), usize>,
    statuses: BTreeMap<(i64, u64), Status>,
    given_up: BTreeMap<(i64, u64), u64>,
    entries: u64,
    // RLC sender
    tx_next: u64,
    sent: BTreeMap<u64, SentSdu>,
    considered: u64,
    pdu_without_poll: u32,
    byte_without_poll: u64,
    poll_next: bool,
    poll_sn: u64,
    poll_timer: Option<i64>,
    // RLC receiver
    got: BTreeMap<u64, BTreeSet<usize>>,
    done: BTreeSet<u64>,
    order_of: BTreeMap<u64, usize>,
    rx_next: u64,
    rx_highest: u64,
    rx_highest_status: u64,
    trigger: u64,
    reassembly: Option<i64>,
    polled: Vec<u64>,
    report: bool,
    prohibited: Option<i64>,
    held: bool,
    // PDCP
    rx_deliv: u64,
    pdcp_next: u64,
    rx_reord: u64,
    pdcp_got: BTreeSet<u64>,
    reordering: Option<i64>,
    losses: rand_chacha::ChaCha8Rng,
    uniforms: Vec<f64>,
    stall: u64,
    out: Outcome,
}

pub(crate) fn run(case: &Case) -> Outcome {
    let mut channel = case.seed.rng(Stream::Link(0));
    let uniform = |rng: &mut rand_chacha::ChaCha8Rng| (rng.next_u64() >> 11) as f64 / 2f64.powi(53);
    let uniforms = (0..=case.end).map(|_| uniform(&mut channel)).collect();
    let mut world = World {
        case,
        now: 0,
        packets: vec![],
        waiting: VecDeque::new(),
        processes: vec![],
        repeating: None,
        negative: 0,
        last_arrival: 0,
        landings: BTreeMap::new(),
        feedback: BTreeMap::new(),
        statuses: BTreeMap::new(),
        given_up: BTreeMap::new(),
        entries: 0,
        tx_next: 0,
        sent: BTreeMap::new(),
        considered: 0,
        pdu_without_poll: 0,
        byte_without_poll: 0,
        poll_next: false,
        poll_sn: 0,
        poll_timer: None,
        got: BTreeMap::new(),
        done: BTreeSet::new(),
        order_of: BTreeMap::new(),
        rx_next: 0,
        rx_highest: 0,
        rx_highest_status: 0,
        trigger: 0,
        reassembly: None,
        polled: vec![],
        report: false,
        prohibited: None,
        held: false,
        rx_deliv: 0,
        pdcp_next: 0,
        rx_reord: 0,
        pdcp_got: BTreeSet::new(),
        reordering: None,
        losses: case.seed.rng(Stream::Feedback(0)),
        uniforms,
        stall: 0,
        out: Outcome::default(),
    };
    for now in 0..=case.end {
        world.now = now;
        world.tick();
    }
    world.out
}

impl World<'_> {
    fn tick(&mut self) {
        self.events();
        let mut slot = self.slot_now();
        for (id, &(at, size)) in self.case.arrivals.iter().enumerate() {
            if at != self.now {
                continue;
            }
            if !self.room(size) && self.wanted() && slot.is_some() {
                self.use_slot(slot.take().unwrap());
                self.events();
            }
            if !self.room(size) {
                self.out.dropped.push(id);
                continue;
            }
            let bytes = (size + self.case.config.headers.sdu.0) as usize;
            self.waiting.push_back(self.packets.len());
            self.packets.push(Packet {
                id,
                size,
                bytes,
                entered: self.now,
                departed: 0,
                sent: 0,
                sn: None,
                ended: false,
                complete: false,
                closed: false,
                blocks: 0,
                riding: 0,
            });
            self.events();
        }
        if self.now < self.case.end
            && let Some(slot) = slot
        {
            self.use_slot(slot);
            self.events();
        }
        if self.wanted() && self.no_more_slots() && self.packets.iter().any(|p| !p.ended) {
            self.out.trace_ended = true;
        }
    }

    fn events(&mut self) {
        while self.event() {
            self.after_event();
        }
    }

    /// One event of the first kind that has one now.
    fn event(&mut self) -> bool {
        let now = self.now;
        let due = |at: Option<i64>| at.is_some_and(|at| at <= now);
        if due(self.landings.keys().next().map(|k| k.0)) {
            let (_, (pdus, decoded)) = self.landings.pop_first().unwrap();
            self.land(&pdus, decoded);
        } else if due(self.given_up.keys().next().map(|k| k.0)) {
            let (_, sn) = self.given_up.pop_first().unwrap();
            if sn >= self.rx_next && !self.done.contains(&sn) {
                self.done.insert(sn);
                self.am_placed(sn, true);
                self.answer();
                let order = self.order_of[&sn];
                self.end(order, false);
            }
        } else if due(self.reassembly) {
            self.reassembly = None;
            self.count("reassembly_timeouts");
            self.reassembly_expired();
        } else if self.held && due(self.prohibited) {
            self.send_status();
        } else if due(self.reordering) {
            self.reordering = None;
            self.count("reordering_timeouts");
            self.reordering_expired();
        } else if due(self.feedback.keys().next().map(|k| k.0)) {
            let (_, process) = self.feedback.pop_first().unwrap();
            self.heard(process);
        } else if due(self.statuses.keys().next().map(|k| k.0)) {
            let (_, status) = self.statuses.pop_first().unwrap();
            self.status(&status);
        } else if due(self.poll_timer) {
            self.poll_timer = None;
            self.poll_next = true;
            if self.buffers_empty() || self.stalled() {
                let last = self.sent.iter().rev().find(|(_, sdu)| !sdu.done).map(|(sn, _)| *sn);
                if let Some(sn) = last {
                    let all = (0..self.packets[self.sent[&sn].order].bytes).collect();
                    self.consider(sn, all);
                }
            }
        } else if self.discard_due() {
            let order = self.waiting.pop_front().unwrap();
            self.packets[order].departed = now;
            self.packets[order].closed = true;
            self.count("sdus_discarded");
            self.end(order, false);
        } else {
            return false;
        }
        true
    }

    /// A status report that is due goes at once or waits for t-StatusProhibit.
    fn after_event(&mut self) {
        if self.report {
            if self.prohibited.is_some_and(|until| self.now <= until) {
                self.held = true;
            } else {
                self.send_status();
            }
        }
        self.end_of_stall();
    }

    fn count(&mut self, name: &'static str) {
        *self.out.counts.entry(name).or_default() += 1;
    }

    fn end(&mut self, order: usize, delivered: bool) {
        let packet = &mut self.packets[order];
        assert!(!packet.ended);
        packet.ended = true;
        self.out.ends.push(End {
            packet: packet.id,
            delivered,
            at: self.now,
            departed: packet.departed,
            blocks: packet.blocks,
        });
    }

    fn room(&self, size: u32) -> bool {
        match self.case.queue {
            QueueLimit::Unlimited => true,
            QueueLimit::Packets(limit) => self.waiting.len() < limit as usize,
            QueueLimit::Bytes(limit) => {
                let waiting: u64 =
                    self.waiting.iter().map(|&order| u64::from(self.packets[order].size)).sum();
                waiting + u64::from(size) <= limit
            }
        }
    }

    fn discard_due(&self) -> bool {
        let Some(timer) = self.case.config.pdcp.discard else { return false };
        let first = self.waiting.front();
        first.is_some_and(|&o| self.packets[o].entered + timer.as_nanos() as i64 <= self.now)
    }

    // --- slots and HARQ ---

    /// Number of the slot at this very instant, its error, and its decoding time.
    fn slot_now(&self) -> Option<(u64, Option<i64>)> {
        match &self.case.config.phy {
            NtnPhy::Random { slot, .. } => {
                let every = slot.as_nanos() as i64;
                (self.now % every == 0).then_some(((self.now / every) as u64, None))
            }
            NtnPhy::Trace(trace) => {
                let t = trace.t();
                let period = t[t.len() - 1] - t[0] + trace.median_gap().as_nanos() as i64;
                let cycles = if self.case.wrap { self.now / period + 1 } else { 1 };
                (0..cycles).find_map(|cycle| {
                    let place = (0..t.len()).find(|&i| t[i] + cycle * period == self.now)?;
                    Some((0, Some(trace.d()[place])))
                })
            }
        }
    }

    fn no_more_slots(&self) -> bool {
        match &self.case.config.phy {
            NtnPhy::Random { .. } => false,
            NtnPhy::Trace(trace) => !self.case.wrap && self.now > trace.t()[trace.len() - 1],
        }
    }

    fn nominal(&self) -> i64 {
        match &self.case.config.phy {
            NtnPhy::Random { decode, .. } => decode.as_nanos() as i64,
            NtnPhy::Trace(trace) => trace.nominal_decoding().as_nanos() as i64,
        }
    }

    fn has_again(&self) -> bool {
        self.repeating.is_some()
            || self.processes.iter().flatten().any(|block| block.again.is_some())
    }

    fn process_free(&self) -> bool {
        match self.case.config.harq.mode {
            HarqMode::NoFeedback => true,
            HarqMode::Feedback { processes, .. } => {
                (self.processes.iter().flatten().count() as u32) < processes.get()
            }
        }
    }

    fn wanted(&self) -> bool {
        self.has_again() || self.rlc_wants()
    }

    fn end_of_stall(&mut self) {
        if self.stall > 0 && !(self.wanted() && !self.has_again() && !self.process_free()) {
            *self.out.counts.entry("stalled_slots").or_default() += self.stall;
            self.stall = 0;
        }
    }

    fn use_slot(&mut self, (number, d): (u64, Option<i64>)) {
        let repetitions = self.case.config.harq.repetitions.get();
        let process = if let Some(process) = self.repeating {
            self.count("tbs_sent_again");
            process
        } else if let Some(process) = self.first_again() {
            self.count("tbs_sent_again");
            let block = self.processes[process].as_mut().unwrap();
            block.again = None;
            block.left = repetitions;
            process
        } else if !self.rlc_wants() {
            return;
        } else if !self.process_free() {
            self.stall += 1;
            return;
        } else {
            self.count("tbs_sent");
            let pdus = self.fill();
            let block = Block {
                pdus,
                attempts: 0,
                rounds: 0,
                decoded: None,
                again: None,
                left: repetitions,
            };
            let free = self.processes.iter().position(Option::is_none);
            let process = free.unwrap_or_else(|| {
                self.processes.push(None);
                self.processes.len() - 1
            });
            self.processes[process] = Some(block);
            process
        };
        self.send(process, number, d);
    }

    fn first_again(&self) -> Option<usize> {
        let again = |process: &usize| self.processes[*process].as_ref()?.again;
        (0..self.processes.len()).filter(|p| again(p).is_some()).min_by_key(again)
    }

    fn send(&mut self, process: usize, number: u64, d: Option<i64>) {
        let mut block = self.processes[process].take().unwrap();
        block.attempts += 1;
        block.left -= 1;
        let mut signal = self.now + delay(&self.case.config.propagation, self.now);
        if let Propagation::Varying { keep_order: true, .. } = self.case.config.propagation {
            signal = signal.max(self.last_arrival);
            self.last_arrival = signal;
        }
        let d = match &self.case.config.phy {
            NtnPhy::Trace(_) => d.unwrap(),
            NtnPhy::Random { bler, decode, .. } => {
                let p = bler[(block.attempts - 1).min(bler.len() - 1)].get();
                if self.uniforms[number as usize] < p { 0 } else { decode.as_nanos() as i64 }
            }
        };
        let known = signal + self.nominal();
        if d > 0 && block.decoded.is_none() {
            block.decoded = Some(signal + d);
            self.entries += 1;
            self.landings.insert((signal + d, self.entries), (block.pdus.clone(), true));
        }
        self.repeating = (block.left > 0).then_some(process);
        if block.left > 0 {
            self.processes[process] = Some(block);
            return;
        }
        block.rounds += 1;
        let (most, wait) = match self.case.config.harq.mode {
            HarqMode::NoFeedback => (1, None),
            HarqMode::Feedback { max_transmissions, processing, .. } => {
                (max_transmissions.get(), Some(processing.as_nanos() as i64))
            }
        };
        if block.decoded.is_none() && block.rounds >= most {
            self.count("tbs_failed");
            self.entries += 1;
            self.landings.insert((known, self.entries), (block.pdus.clone(), false));
        }
        if let Some(wait) = wait {
            let leaves = known.max(block.decoded.unwrap_or(known)) + wait;
            self.entries += 1;
            let arrives = leaves + delay(&self.case.config.way_back, leaves);
            self.feedback.insert((arrives, self.entries), process);
            self.processes[process] = Some(block);
        }
    }

    fn heard(&mut self, process: usize) {
        let HarqMode::Feedback { max_transmissions, .. } = self.case.config.harq.mode else {
            return;
        };
        let block = self.processes[process].as_mut().unwrap();
        if block.decoded.is_none() && block.rounds < max_transmissions.get() {
            self.negative += 1;
            block.again = Some(self.negative);
        } else {
            self.processes[process] = None;
        }
    }

    // --- RLC, sender ---

    fn am(&self) -> Option<clift::link::ntn::AmConfig> {
        match self.case.config.rlc {
            RlcConfig::Am(am) => Some(am),
            RlcConfig::Um(_) => None,
        }
    }

    /// The packet that is partly sent.
    fn cut(&self) -> Option<usize> {
        self.packets.iter().position(|p| p.sent > 0 && p.sent < p.bytes && !p.closed)
    }

    fn window_full(&self) -> bool {
        let Some(am) = self.am() else { return false };
        let tx_next_ack =
            self.sent.iter().find(|(_, sdu)| !sdu.done).map_or(self.tx_next, |(sn, _)| *sn);
        self.tx_next >= tx_next_ack + u64::from(am.window.get())
    }

    fn has_retransmissions(&self) -> bool {
        self.sent.values().any(|sdu| !sdu.pending.is_empty())
    }

    fn rlc_wants(&self) -> bool {
        self.has_retransmissions()
            || self.cut().is_some()
            || (!self.waiting.is_empty() && !self.window_full())
    }

    fn buffers_empty(&self) -> bool {
        !self.has_retransmissions() && self.cut().is_none() && self.waiting.is_empty()
    }

    fn stalled(&self) -> bool {
        self.cut().is_none() && self.window_full()
    }

    fn fill(&mut self) -> Vec<Pdu> {
        let header = self.case.config.headers.pdu.0 as usize;
        let mut room = self.case.config.tb().0 as usize;
        let mut pdus = vec![];
        while room > header {
            let Some(mut pdu) = self.next_pdu(room - header) else { break };
            room -= header + pdu.bytes.len();
            self.packets[pdu.order].riding += 1;
            if let Some(am) = self.am() {
                let most = |limit: Option<std::num::NonZeroU32>| limit.map(|n| n.get());
                pdu.poll = self.poll_next
                    || most(am.poll_pdu).is_some_and(|n| self.pdu_without_poll >= n)
                    || most(am.poll_byte).is_some_and(|n| self.byte_without_poll >= u64::from(n))
                    || self.buffers_empty()
                    || self.stalled();
                if pdu.poll {
                    self.count("polls");
                    self.poll_next = false;
                    self.pdu_without_poll = 0;
                    self.byte_without_poll = 0;
                    self.poll_sn = self.tx_next - 1;
                    self.poll_timer = Some(self.now + am.t_poll_retransmit.as_nanos() as i64);
                }
            }
            pdus.push(pdu);
        }
        pdus
    }

    fn next_pdu(&mut self, room: usize) -> Option<Pdu> {
        let first = self.sent.iter_mut().filter(|(_, sdu)| !sdu.pending.is_empty());
        if let Some((&sn, sdu)) = first.min_by_key(|(_, sdu)| sdu.since) {
            let start = *sdu.pending.first().unwrap();
            let bytes: Vec<usize> =
                (start..).take_while(|b| sdu.pending.contains(b)).take(room).collect();
            sdu.pending.retain(|b| !bytes.contains(b));
            if sdu.pending.is_empty() {
                sdu.since = None;
            }
            let order = sdu.order;
            self.count("rlc_pdus_sent_again");
            return Some(Pdu { order, sn: Some(sn), bytes, poll: false });
        }
        let order = match self.cut() {
            Some(order) => order,
            None if self.waiting.is_empty() || self.window_full() => return None,
            None => {
                let order = self.waiting.pop_front().unwrap();
                self.packets[order].departed = self.now;
                order
            }
        };
        let am = self.am().is_some();
        let packet = &mut self.packets[order];
        let bytes: Vec<usize> = (packet.sent..packet.bytes).take(room).collect();
        let whole = bytes.len() == packet.bytes;
        if packet.sent == 0 && (am || !whole) {
            packet.sn = Some(self.tx_next);
            self.order_of.insert(self.tx_next, order);
            if am {
                self.sent.insert(self.tx_next, SentSdu { order, ..SentSdu::default() });
            }
            self.tx_next += 1;
        }
        packet.sent += bytes.len();
        packet.blocks += 1;
        self.pdu_without_poll += 1;
        self.byte_without_poll += bytes.len() as u64;
        Some(Pdu { order, sn: packet.sn, bytes, poll: false })
    }

    fn status(&mut self, status: &Status) {
        if self.poll_timer.is_some() && self.poll_sn < status.ack {
            self.poll_timer = None;
        }
        let known: Vec<u64> = self.sent.keys().copied().filter(|&sn| sn < status.ack).collect();
        for sn in known {
            match status.nacks.get(&sn) {
                None => self.finish(sn),
                Some(missing) => self.consider(sn, missing.clone()),
            }
        }
    }

    fn finish(&mut self, sn: u64) {
        let sdu = self.sent.get_mut(&sn).unwrap();
        sdu.done = true;
        sdu.pending.clear();
        sdu.since = None;
        self.packets[sdu.order].closed = true;
    }

    fn consider(&mut self, sn: u64, missing: Vec<usize>) {
        let sdu = self.sent.get_mut(&sn).unwrap();
        if sdu.done {
            return;
        }
        let sent = self.packets[sdu.order].sent;
        let missing: Vec<usize> = missing.into_iter().filter(|&b| b < sent).collect();
        if missing.is_empty() {
            return;
        }
        if missing.iter().any(|b| !sdu.pending.contains(b)) {
            sdu.retx = Some(sdu.retx.map_or(0, |count| count + 1));
        }
        if sdu.since.is_none() {
            self.considered += 1;
            sdu.since = Some(self.considered);
        }
        sdu.pending.extend(missing);
        let most = self.am().unwrap().max_retx;
        if let (Some(count), Some(most)) = (self.sent[&sn].retx, most)
            && count >= most.get()
        {
            self.finish(sn);
            self.count("sdus_given_up");
            self.entries += 1;
            let told = self.now + delay(&self.case.config.propagation, self.now);
            self.given_up.insert((told, self.entries), sn);
        }
    }

    // --- RLC, receiver ---

    fn land(&mut self, pdus: &[Pdu], decoded: bool) {
        for pdu in pdus {
            let completes = decoded && self.receive(pdu);
            self.packets[pdu.order].riding -= 1;
            let packet = &mut self.packets[pdu.order];
            if completes {
                packet.complete = true;
                self.pdcp_receive(pdu.order);
            } else if self.am().is_none() {
                let packet = &self.packets[pdu.order];
                let over = packet.sent == packet.bytes && packet.riding == 0;
                if over && !packet.complete && !packet.ended {
                    self.count("sdus_incomplete");
                    self.end(pdu.order, false);
                }
            }
        }
    }

    fn receive(&mut self, pdu: &Pdu) -> bool {
        match self.case.config.rlc {
            RlcConfig::Um(um) => self.um_receive(pdu, u64::from(um.window.get())),
            RlcConfig::Am(am) => self.am_receive(pdu, u64::from(am.window.get())),
        }
    }

    fn place(&mut self, pdu: &Pdu, sn: u64) -> bool {
        let got = self.got.entry(sn).or_default();
        got.extend(&pdu.bytes);
        got.len() == self.packets[pdu.order].bytes
    }

    fn hole(&self, sn: u64) -> bool {
        let Some(got) = self.got.get(&sn) else { return false };
        !self.done.contains(&sn) && got.last().is_some_and(|&last| got.len() <= last)
    }

    fn first_missing(&self, from: u64) -> u64 {
        (from..).find(|sn| !self.done.contains(sn)).unwrap()
    }

    fn um_receive(&mut self, pdu: &Pdu, window: u64) -> bool {
        let Some(sn) = pdu.sn else { return true };
        if sn < self.rx_next || self.done.contains(&sn) {
            return false;
        }
        let complete = self.place(pdu, sn);
        if complete {
            self.done.insert(sn);
            if sn == self.rx_next {
                self.rx_next = self.first_missing(sn);
            }
        } else if sn >= self.rx_highest {
            self.rx_highest = sn + 1;
            if self.rx_next + window < self.rx_highest {
                self.rx_next = self.first_missing(self.rx_highest - window);
            }
        }
        if self.reassembly.is_some()
            && (self.trigger <= self.rx_next
                || (self.trigger + window < self.rx_highest)
                || (self.rx_highest == self.rx_next + 1 && !self.hole(self.rx_next)))
        {
            self.reassembly = None;
        }
        self.maybe_start_reassembly(self.rx_next);
        complete
    }

    fn maybe_start_reassembly(&mut self, from: u64) {
        let gap = self.rx_highest > from + 1 || (self.rx_highest == from + 1 && self.hole(from));
        if self.reassembly.is_none() && gap {
            let timer = self.case.config.t_reassembly().as_nanos() as i64;
            self.reassembly = Some(self.now + timer);
            self.trigger = self.rx_highest;
        }
    }

    fn reassembly_expired(&mut self) {
        if self.am().is_none() {
            self.rx_next = self.first_missing(self.trigger);
            self.maybe_start_reassembly(self.rx_next);
            return;
        }
        self.rx_highest_status = self.first_missing(self.trigger);
        self.maybe_start_reassembly(self.rx_highest_status);
        self.report = true;
        self.answer();
    }

    fn am_receive(&mut self, pdu: &Pdu, window: u64) -> bool {
        let sn = pdu.sn.unwrap();
        let known = self.got.get(&sn).is_some_and(|got| pdu.bytes.iter().all(|b| got.contains(b)));
        if sn < self.rx_next || sn >= self.rx_next + window || known || self.done.contains(&sn) {
            self.report |= pdu.poll;
            return false;
        }
        let complete = self.place(pdu, sn);
        if complete {
            self.done.insert(sn);
        }
        self.am_placed(sn, complete);
        if pdu.poll {
            self.polled.push(sn);
        }
        self.answer();
        complete
    }

    fn am_placed(&mut self, sn: u64, complete: bool) {
        let window = u64::from(self.am().unwrap().window.get());
        self.rx_highest = self.rx_highest.max(sn + 1);
        if complete && sn == self.rx_highest_status {
            self.rx_highest_status = self.first_missing(sn);
        }
        if complete && sn == self.rx_next {
            self.rx_next = self.first_missing(sn);
        }
        let (next, trigger) = (self.rx_next, self.trigger);
        if self.reassembly.is_some()
            && (trigger == next
                || (trigger == next + 1 && !self.hole(next))
                || trigger < next
                || trigger > next + window)
        {
            self.reassembly = None;
        }
        self.maybe_start_reassembly(next);
    }

    fn answer(&mut self) {
        let window = u64::from(self.am().unwrap().window.get());
        let ready = |&sn: &u64| sn < self.rx_highest_status || sn >= self.rx_next + window;
        if self.polled.iter().any(ready) {
            self.report = true;
        }
        let waiting = self.polled.iter().copied().filter(|sn| !ready(sn)).collect();
        self.polled = waiting;
    }

    fn send_status(&mut self) {
        let am = self.am().unwrap();
        self.report = false;
        self.held = false;
        self.prohibited = Some(self.now + am.t_status_prohibit.as_nanos() as i64);
        self.count("status_reports");
        if am.status_loss.get() > 0.0 {
            let uniform = (self.losses.next_u64() >> 11) as f64 / 2f64.powi(53);
            if uniform < am.status_loss.get() {
                self.count("status_reports_lost");
                return;
            }
        }
        let mut nacks = BTreeMap::new();
        for sn in (self.rx_next..self.rx_highest_status).filter(|sn| !self.done.contains(sn)) {
            // The receiver does not know how long a packet is: bytes without end.
            let got = self.got.get(&sn).cloned().unwrap_or_default();
            nacks.insert(sn, (0..1000).filter(|b| !got.contains(b)).collect());
        }
        let leaves = self.now + am.status_delay.as_nanos() as i64;
        self.entries += 1;
        let arrives = leaves + delay(&self.case.config.way_back, leaves);
        let status = Status { ack: self.rx_highest_status, nacks };
        self.statuses.insert((arrives, self.entries), status);
    }

    // --- PDCP ---

    fn pdcp_receive(&mut self, order: usize) {
        let count = order as u64;
        if count < self.rx_deliv {
            self.count("sdus_late");
            self.end(order, false);
            return;
        }
        self.pdcp_got.insert(count);
        self.pdcp_next = self.pdcp_next.max(count + 1);
        if !self.case.config.pdcp.in_order {
            self.end(order, true);
        }
        self.release_from(self.rx_deliv);
        if self.reordering.is_some() && self.rx_deliv >= self.rx_reord {
            self.reordering = None;
        }
        if self.reordering.is_none() {
            self.wait_for_order();
        }
    }

    fn reordering_expired(&mut self) {
        for count in self.rx_deliv..self.rx_reord {
            if self.pdcp_got.contains(&count) && self.case.config.pdcp.in_order {
                self.end(count as usize, true);
            }
        }
        self.release_from(self.rx_reord);
        self.wait_for_order();
    }

    /// Delivers the run of packets from `count` on.
    fn release_from(&mut self, count: u64) {
        self.rx_deliv = count;
        while self.pdcp_got.contains(&self.rx_deliv) {
            if self.case.config.pdcp.in_order {
                self.end(self.rx_deliv as usize, true);
            }
            self.rx_deliv += 1;
        }
    }

    fn wait_for_order(&mut self) {
        if self.rx_deliv < self.pdcp_next {
            self.rx_reord = self.pdcp_next;
            self.reordering =
                self.case.config.pdcp.t_reordering.map(|timer| self.now + timer.as_nanos() as i64);
        }
    }
}

fn delay(propagation: &Propagation, at: i64) -> i64 {
    propagation.at(Instant::from_nanos(at as u64)).as_nanos() as i64
}
