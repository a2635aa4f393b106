//! Terminals that share the slots of a 3GPP link: each has its own HARQ, RLC and PDCP, its own queue
//! and its own block errors; a scheduler gives each slot to one of them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::num::NonZeroU32;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::config::{NtnConfig, NtnPhy};
use super::link::NtnLink;
use crate::config::Fault;
use crate::link::{
    Admission, BuiltLink, Instrument, Link, LinkCounters, LinkEvent, Packet, PacketId, Passed,
    Propagation, STALLED, TraceClock, TraceLinkConfig, Transit, Usage, Waits, instant, nanos,
};
use crate::queue::Aqm;
use crate::scheme::carrier::{CarrierOptions, Scheduler, SchedulerConfig, Terminals};
use crate::scheme::{Building, Medium};
use crate::seed::{Seed, Stream};
use crate::units::{BitRate, Bytes, Duration, Instant, Probability};

/// The terminals of a cell.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct CellOptions {
    /// Number of terminals that share the slots. Each has its own block errors, HARQ processes, RLC,
    /// PDCP and queue. Flow number i of an entry of `[[flow]]` belongs to terminal number i; after
    /// the last terminal the first one follows.
    pub terminals: NonZeroU32,
    /// Who has a slot that several terminals could use, e.g. `{ type = "proportional fair" }`; any
    /// of a carrier but "demand". Default: round robin.
    pub scheduler: SchedulerConfig,
}

impl Default for CellOptions {
    fn default() -> Self {
        Self { terminals: NonZeroU32::MIN, scheduler: SchedulerConfig::default() }
    }
}

/// Most terminals of a cell: each slot looks at all that have data.
const MOST_TERMINALS: u32 = 1000;

impl CellOptions {
    /// The link as a scheduler sees it, and the length of a slot to the nanosecond.
    ///
    /// # Errors
    /// The key that is wrong, and what to do.
    pub(super) fn carrier(&self, link: &NtnConfig) -> Result<(CarrierOptions, Duration), Fault> {
        link.check()?;
        if self.terminals.get() > MOST_TERMINALS {
            let cure = format!("{}; give 1 to {MOST_TERMINALS}", self.terminals);
            return Err(Fault::new("terminals", cure));
        }
        let NtnPhy::Random { slot, tb, .. } = link.phy else { return Err(Self::traced()) };
        if matches!(self.scheduler, SchedulerConfig::Demand(_)) {
            let cure = "\"demand\" is of a [carrier]; leave it out: here `grants` says how a terminal asks for slots";
            return Err(Fault::new("scheduler", cure));
        }
        let rate = u128::from(tb.0) * 8_000_000_000 / u128::from(slot.as_nanos());
        let rate = u64::try_from(rate).unwrap_or(u64::MAX);
        let rate = BitRate::from_bits_per_second(rate)
            .ok_or_else(|| Fault::new("slot", "less than 1 bit/s; give shorter slots"))?;
        let carrier = CarrierOptions {
            terminals: self.terminals.get(),
            rate,
            slot: tb,
            delay: link.propagation.longest(),
            scheduler: self.scheduler.clone(),
            loss: Probability::ZERO,
            retransmissions: 0,
            fades: None,
        };
        let check = self.scheduler.parameters().check(&carrier);
        check.map_err(|fault| fault.within("scheduler"))?;
        Ok((carrier, slot))
    }

    /// The fault of several terminals over one trace.
    pub(super) fn traced() -> Fault {
        let cure = "each terminal has its own random block errors; give 1, or leave the trace or channel beside it out";
        Fault::new("terminals", cure)
    }
}

/// A cell to be built.
#[derive(Clone, Debug)]
pub struct CellConfig {
    /// What each terminal has.
    pub link: NtnConfig,
    /// The terminals.
    pub options: CellOptions,
    /// The terminal of each flow of the run, by the flow's number. Other flows belong to the terminal
    /// of their number modulo the number of terminals.
    pub flows: Arc<[u32]>,
}

impl Medium for CellConfig {
    fn build(self: Arc<Self>, with: Building<'_>) -> Result<BuiltLink, Fault> {
        let Building { link, usage, seed, number } = with;
        link.check_own(true)?;
        if link.aqm != Aqm::None || link.reorder.is_some() {
            let cure = "a cell has a queue for each terminal; leave `aqm` and `reorder` out";
            return Err(Fault::at(cure));
        }
        Ok(Box::new(Cell::new(&self, usage, seed, number)?))
    }

    fn way_back(&self) -> Propagation {
        self.link.way_back.clone()
    }

    fn on_clock(&self, clock: TraceClock) -> Option<Arc<dyn Medium>> {
        Some(Arc::new(Self { link: self.link.at_clock(clock), ..self.clone() }))
    }
}

/// The links of the terminals. Their slots begin at the same instants; a link that could use a slot
/// and does not get it looks at the next one.
#[derive(Debug)]
struct Cell {
    terminals: Vec<NtnLink>,
    flows: Arc<[u32]>,
    scheduler: Box<dyn Scheduler>,
    view: Terminals,
    /// The slots of a frame of the scheduler, and the number of the frame.
    plan: Vec<Option<u32>>,
    planned: Option<u64>,
    /// Numbers of the packets in the cell among all that it admitted.
    orders: BTreeMap<PacketId, u64>,
    admitted: u64,
    out: VecDeque<LinkEvent>,
    /// Length of a slot.
    slot: Duration,
    /// Slots that nobody used while data waited at some terminal.
    waits: Waits,
    /// All slots before this one have passed.
    next: u64,
    /// What terminals do before their next slot: when, and which terminal.
    tasks: BTreeSet<(i64, usize)>,
    /// Terminals by the slot that they look at next. Those with data move from slot to slot together.
    slots: BTreeMap<i64, Vec<usize>>,
    known: Vec<Known>,
    /// Slots used, and terminals at which data waits.
    used: u64,
    backlogged: usize,
    /// Terminals with data for the last slot, as the scheduler knows.
    waiting: Vec<usize>,
}

/// A terminal after its last change.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    task: Option<i64>,
    slot: Option<i64>,
    used: u64,
    has_waiting: bool,
}

impl Cell {
    fn new(
        config: &CellConfig,
        usage: TraceLinkConfig,
        seed: Seed,
        number: u32,
    ) -> Result<Self, Fault> {
        let CellConfig { link, options, flows } = config;
        let (carrier, slot) = options.carrier(link)?;
        let rng = seed.rng(Stream::OwnScheduler(number));
        let scheduler = options.scheduler.parameters().build(&carrier, rng);
        let terminals = (0..carrier.terminals).map(|terminal| {
            // The first draws what it would draw as the only one.
            let own = || Seed::drawn(seed.rng(Stream::Terminal(number, terminal)));
            NtnLink::new(link, usage, if terminal == 0 { seed } else { own() }, number)
        });
        let mut cell = Self {
            known: vec![Known::default(); carrier.terminals as usize],
            terminals: terminals.collect::<Result<_, _>>()?,
            flows: Arc::clone(flows),
            view: Terminals::new(carrier.terminals as usize, carrier.slot.0),
            plan: vec![None; scheduler.slots()],
            scheduler,
            planned: None,
            orders: BTreeMap::new(),
            admitted: 0,
            out: VecDeque::new(),
            slot,
            waits: Waits::default(),
            next: 0,
            tasks: BTreeSet::new(),
            slots: BTreeMap::new(),
            used: 0,
            backlogged: 0,
            waiting: Vec::new(),
        };
        (0..cell.terminals.len()).for_each(|terminal| cell.note(terminal));
        Ok(cell)
    }

    fn terminal(&self, flow: u32) -> usize {
        let own = self.flows.get(flow as usize).copied().unwrap_or(flow);
        own as usize % self.terminals.len()
    }

    /// What is due next: when, and at which terminal, unless it is a slot. At one instant slots come
    /// last.
    fn due(&self) -> Option<(i64, Option<usize>)> {
        let slot = self.slots.keys().next().map(|&at| (at, None));
        let task = self.tasks.first().map(|&(at, terminal)| (at, Some(terminal)));
        match (task, slot) {
            (Some(task), Some(slot)) => Some(if task.0 <= slot.0 { task } else { slot }),
            (task, slot) => task.or(slot),
        }
    }

    /// Takes the events of a terminal that changed, and what it does next.
    fn note(&mut self, terminal: usize) {
        self.collect(terminal);
        let link = &self.terminals[terminal];
        let now = Known {
            task: link.due().and_then(|(at, is_slot)| (!is_slot).then_some(at)),
            slot: link.slot(),
            used: link.used(),
            has_waiting: link.has_waiting(),
        };
        let before = std::mem::replace(&mut self.known[terminal], now);
        self.used += now.used - before.used;
        self.backlogged += usize::from(now.has_waiting);
        self.backlogged -= usize::from(before.has_waiting);
        if now.task != before.task {
            if let Some(at) = before.task {
                self.tasks.remove(&(at, terminal));
            }
            self.tasks.extend(now.task.map(|at| (at, terminal)));
        }
        if now.slot != before.slot {
            if let Some(at) = before.slot {
                self.leave_slot(at, terminal);
            }
            if let Some(at) = now.slot {
                self.slots.entry(at).or_default().push(terminal);
            }
        }
    }

    /// A terminal does not look at a slot any longer, because of a handover.
    fn leave_slot(&mut self, at: i64, terminal: usize) {
        if let Some(others) = self.slots.get_mut(&at) {
            others.retain(|&other| other != terminal);
            if others.is_empty() {
                self.slots.remove(&at);
            }
        }
    }

    /// Does what is due next, up to `now`; whether there was something. A slot at `now` waits, since
    /// it may still take a packet that is enqueued at `now`.
    fn step(&mut self, now: i64) -> bool {
        match self.due() {
            Some((at, None)) if at < now => self.use_slot(at),
            Some((at, Some(terminal))) if at <= now => {
                self.terminals[terminal].step(at);
                self.note(terminal);
                self.note_wait(at);
            }
            _ => return false,
        }
        true
    }

    /// Gives the slot at this instant to one of the terminals that could use it.
    fn use_slot(&mut self, at: i64) {
        self.waiting.drain(..).for_each(|terminal| self.view.set_waiting(terminal, 0));
        let mut scheduled = self.slots.remove(&at).unwrap_or_default();
        scheduled.sort_unstable();
        let mut chosen = None;
        for &terminal in &scheduled {
            self.known[terminal].slot = None;
            let link = &mut self.terminals[terminal];
            if let Some(claim) = link.claim(at) {
                self.view.set_waiting(terminal, claim);
                self.waiting.push(terminal);
                chosen = chosen.or_else(|| link.is_repeating().then_some(terminal));
            }
        }
        let index = at as u64 / self.slot.as_nanos();
        if !self.waiting.is_empty() {
            chosen = chosen.or_else(|| self.assigned(index));
        }
        for &terminal in &self.waiting {
            match chosen == Some(terminal) {
                true => {
                    self.terminals[terminal].take_slot();
                    self.scheduler.served(terminal, self.view.room(terminal));
                }
                false => self.terminals[terminal].pass_slot(),
            }
        }
        scheduled.into_iter().for_each(|terminal| self.note(terminal));
        self.next = index + 1;
        self.note_wait(at);
    }

    /// The terminal that the scheduler gives a slot.
    fn assigned(&mut self, slot: u64) -> Option<usize> {
        let slots = self.plan.len() as u64;
        let frame = slot / slots;
        if self.planned != Some(frame) {
            self.planned = Some(frame);
            self.plan.fill(None);
            self.scheduler.assign(frame, &self.view, &mut self.plan);
        }
        self.plan[(slot % slots) as usize].map(|terminal| terminal as usize)
    }

    /// Takes the events of a terminal.
    fn collect(&mut self, terminal: usize) {
        while let Some(event) = self.terminals[terminal].next_event() {
            let mut place = |transit: Transit| {
                let order = self.orders.remove(&transit.packet).unwrap_or(transit.order);
                Transit { order, ..transit }
            };
            self.out.push_back(match event {
                LinkEvent::Delivered(transit) => LinkEvent::Delivered(place(transit)),
                LinkEvent::Lost(transit) => LinkEvent::Lost(place(transit)),
                other => other,
            });
        }
    }

    #[inline]
    fn note_wait(&mut self, now: i64) {
        let wait = self.backlogged > 0;
        if wait != self.waits.wait() {
            self.waits.note(wait, self.passed(now));
        }
    }

    /// Slots before `now`, and one at `now` that was given to a terminal or to none.
    fn passed(&self, now: i64) -> Passed {
        let before = now.max(0).unsigned_abs().div_ceil(self.slot.as_nanos());
        Passed { slots: self.next.max(before), used: self.used }
    }
}

impl Link for Cell {
    fn enqueue(&mut self, now: Instant, packet: Packet) -> Admission {
        let at = nanos(now);
        while self.step(at) {}
        let terminal = self.terminal(packet.flow);
        let slot_now = self.due() == Some((at, None));
        if slot_now && !self.terminals[terminal].has_room(now, packet.size) {
            // A slot at this very instant empties a full queue first.
            self.use_slot(at);
        }
        let admission = self.terminals[terminal].enqueue(now, packet);
        if admission == Admission::Queued {
            self.orders.insert(packet.id, self.admitted);
            self.admitted += 1;
        }
        self.note(terminal);
        self.note_wait(at);
        admission
    }

    fn poll_timeout(&self) -> Option<Instant> {
        if let Some(event) = self.out.front() {
            return Some(event.at());
        }
        // A slot is used when its instant is over.
        self.due().map(|(at, task)| instant(at + i64::from(task.is_none())))
    }

    fn poll(&mut self, now: Instant) -> Option<LinkEvent> {
        let at = nanos(now);
        while self.out.is_empty() && self.step(at) {}
        self.out.pop_front()
    }

    fn has_room(&mut self, now: Instant, size: Bytes) -> bool {
        while self.step(nanos(now)) {}
        self.terminals.iter_mut().all(|link| link.has_room(now, size))
    }

    fn notify_departures(&mut self) {
        self.terminals.iter_mut().for_each(Link::notify_departures);
    }
}

impl Instrument for Cell {
    fn queue_len(&self, now: Instant) -> usize {
        self.terminals.iter().map(|link| link.queue_len(now)).sum()
    }

    fn counters(&self) -> LinkCounters {
        let each = self.terminals.iter().map(Instrument::counters);
        each.fold(LinkCounters::default(), LinkCounters::plus)
    }

    fn usage(&self, until: Instant) -> Usage {
        let each: Vec<Usage> = self.terminals.iter().map(|link| link.usage(until)).collect();
        let sum = |of: fn(&Usage) -> f64| each.iter().map(of).sum::<f64>();
        let (used, taken) = (sum(|it| it.used), self.counters().lldus_taken as f64);
        Usage {
            used,
            erased: sum(|it| it.erased),
            waiting: Some(self.waits.unused(self.passed(nanos(until))) as f64),
            per_lldu: if taken > 0.0 { used / taken } else { 0.0 },
            padding: sum(|it| it.padding),
            repairs: each.iter().any(|it| it.repairs),
            ..each[0]
        }
    }

    fn details(&self) -> Vec<(&'static str, u64)> {
        let mut all = self.terminals[0].details();
        for link in &self.terminals[1..] {
            for (sum, (_, own)) in all.iter_mut().zip(link.details()) {
                sum.1 += own;
            }
        }
        let stalled = all.iter_mut().find(|(name, _)| *name == STALLED);
        stalled.into_iter().for_each(|entry| entry.1 = self.waits.counted());
        all
    }

    fn catch_up(&mut self, until: Instant) {
        let until = nanos(until);
        while self.step(until) {}
        let now = self.passed(until);
        self.waits.settle(now);
    }
}
