//! Watches a run for its diagnosis.

use std::ops::ControlFlow;

use crate::diagnosis::blame::{Blame, Cause, Ledger};
use crate::diagnosis::budget::{Budget, Carried, budget};
use crate::diagnosis::cut::{Cut, Trigger};
use crate::diagnosis::flight::{Active, Flight, Found, PacketFate, PacketHistory, Packets, Units};
use crate::diagnosis::found::{Diagnosis, Sender, places};
use crate::diagnosis::hop::{HopLedger, Outages, Update};
use crate::link::{Transit, Transmission, Usage};
use crate::metrics::Outcome;
use crate::simulation::{
    Flow, Hop, LegConfig, Loss, Observer, SenderState, Setup, Step, Wants, Ways,
};
use crate::transport::End;
use crate::units::{Duration, Instant};

/// What is known of a sender.
#[derive(Default)]
struct Known {
    ledger: Ledger,
    flight: Flight,
    /// Duplicate ACKs counted when the acknowledgement advanced last.
    duplicates_before: u64,
    /// The last cut.
    cut: Option<usize>,
    /// Whether a reduction has set the threshold, to which the window then falls. That of a control
    /// with a model stays.
    sets_threshold: bool,
}

pub(super) struct Watch<'a> {
    goes_on: &'a dyn Fn() -> bool,
    /// Senders by flow: number of the first connection of each.
    first: Vec<usize>,
    senders: Vec<Sender>,
    known: Vec<Known>,
    /// Whether a flow has several paths, by flow.
    several: Vec<bool>,
    packets: Packets,
    units: Vec<Units>,
    hops: Vec<HopLedger>,
    carried: Vec<Carried>,
    cuts: Vec<Cut>,
    handshake_timeouts: u64,
}

impl<'a> Watch<'a> {
    pub(super) fn new(setup: &Setup, goes_on: &'a dyn Fn() -> bool) -> Self {
        let mut senders = Vec::new();
        let (mut first, mut several) = (Vec::new(), Vec::new());
        for (number, flow) in setup.flows.iter().enumerate() {
            let ways = ways(setup, number, flow);
            for _ in 0..flow.members() {
                first.push(senders.len());
                several.push(flow.transport.paths() > 1);
                let number = first.len() as u32 - 1;
                senders.extend(ways.iter().zip(0u32..).map(|((delays, reach), connection)| {
                    Sender {
                        flow: number,
                        connection,
                        delays: delays.clone(),
                        reach: reach.clone(),
                        is_fed: connection > 0 && flow.transport.paths() == 1,
                    }
                }));
            }
        }
        let hops = setup.forward.len() + setup.backward.len();
        let ledger = |hop: usize| {
            let outages = outages(setup, &senders, hop);
            HopLedger::new(hop, &senders, outages, setup.duration.as_nanos())
        };
        Self {
            goes_on,
            known: senders.iter().map(|_| Known::default()).collect(),
            packets: Packets::default(),
            units: (0..hops).map(|_| Units::default()).collect(),
            hops: (0..hops).map(ledger).collect(),
            carried: vec![Carried::default(); hops],
            cuts: Vec::new(),
            handshake_timeouts: 0,
            first,
            several,
            senders,
        }
    }

    /// The number of a sender.
    fn number(&self, flow: u32, connection: u32) -> Option<usize> {
        let first = *self.first.get(flow as usize)?;
        let sender = first + connection as usize;
        self.senders.get(sender).filter(|it| it.flow == flow).map(|_| sender)
    }

    /// The sender reduced its window.
    fn cut(&mut self, now: Instant, sender: usize, trigger: Trigger, state: &SenderState) -> usize {
        let number = self.cuts.len();
        let known = &mut self.known[sender];
        let was = known.ledger.last().window;
        let before = was.cwnd;
        let suspect = match trigger {
            Trigger::DuplicateAcks => {
                let since = known.cut.map_or(Instant::ZERO, |last| self.cuts[last].at);
                known.flight.overtaken(since, now)
            }
            Trigger::Probe => known.flight.repaired(),
            Trigger::Timeout => known.flight.first(now),
            Trigger::Mark => None,
        };
        let (mut packet, mut overtaken_by) = (None, 0);
        if let Some((found, later)) = suspect {
            overtaken_by = later;
            packet = match found {
                Found::Ended(history) => Some(*history),
                Found::UnderWay(id) => self.packets.get(id).map(|active| {
                    active.cuts.push(number);
                    active.history.clone()
                }),
            };
        }
        let target = state.window.ssthresh;
        let after = if target.is_finite() { target } else { state.window.cwnd };
        known.sets_threshold |= target != was.ssthresh;
        // A window that stays costs nothing. It may fall with later acknowledgements.
        let will_fall = known.sets_threshold && after < before;
        let falls = state.window.cwnd < before || target < was.ssthresh || will_fall;
        if falls || trigger == Trigger::Timeout {
            let is_queue_full = packet.as_ref().is_some_and(|it| it.fate == PacketFate::Dropped);
            let until = known.flight.last().unwrap_or(state.acknowledged);
            known.ledger.cut(number, now, before, after, is_queue_full, until);
        }
        known.cut = Some(number);
        let Sender { flow, connection, .. } = self.senders[sender];
        self.cuts.push(Cut {
            at: now,
            flow,
            connection,
            trigger,
            before,
            after: state.window.cwnd,
            packet,
            overtaken_by,
            duplicate_acks: state.counters.duplicate_acks - known.duplicates_before,
            undone: None,
            cost_bits: 0,
        });
        number
    }

    /// A packet met its fate.
    fn end(
        &mut self,
        id: u32,
        now: Instant,
        fate: PacketFate,
        hop: Option<usize>,
    ) -> Option<Active> {
        let mut active = self.packets.take(id)?;
        let history = &mut active.history;
        (history.fate, history.ended, history.hop) = (fate, Some(now), hop);
        for &cut in &active.cuts {
            self.cuts[cut].packet = Some(history.clone());
        }
        self.known[active.sender].flight.end(id, active.position, history);
        Some(active)
    }

    fn over_link(&mut self, id: u32, hop: usize, transit: Transit, sent: &[Transmission]) {
        let Some(units) = self.units.get_mut(hop) else { return };
        units.note(sent);
        let units = units.take(transit.order);
        if let Some(active) = self.packets.get(id) {
            active.lldus = transit.lldus;
            let is_sent = transit.lldus > 0 || transit.at > transit.departed;
            active.sent_by = is_sent.then_some(hop);
            active.history.cross(transit, units);
        }
    }

    /// The hops that a packet has crossed.
    fn crossed(&mut self, active: &Active) -> impl Iterator<Item = &mut Carried> + use<'_, 'a> {
        let bits = active.crossed;
        self.carried
            .iter_mut()
            .enumerate()
            .filter_map(move |(hop, carried)| (bits >> hop & 1 == 1).then_some(carried))
    }

    /// A hop lost or dropped a packet.
    fn lost(&mut self, id: u32, now: Instant, hop: usize, fate: PacketFate) {
        let Some(active) = self.end(id, now, fate, Some(hop)) else { return };
        let size = active.size as f64;
        // A leg tells that it takes a packet, or that it loses it, never both.
        self.crossed(&active).for_each(|carried| carried.lost_later += size);
        if fate == PacketFate::Lost
            && let Some(carried) = self.carried.get_mut(hop)
        {
            carried.lost += size;
            carried.lost_packets += 1;
            carried.lost_units += u64::from(active.lldus);
        }
    }

    fn arrived(&mut self, id: u32, now: Instant, discarded: bool) {
        let Some(active) = self.end(id, now, PacketFate::Arrived, None) else { return };
        let (size, len) = (active.size as f64, f64::from(active.history.len));
        self.crossed(&active).for_each(|carried| {
            if discarded {
                carried.duplicate += size;
            } else {
                carried.headers += size - len;
                carried.payload += len;
            }
        });
    }

    /// The diagnosis of a run with this outcome; `None` without a hop that has a rate.
    pub(super) fn finish(mut self, outcome: &Outcome) -> Option<Diagnosis> {
        for active in std::mem::take(&mut self.packets).left() {
            let size = active.size as f64;
            self.crossed(&active).for_each(|carried| carried.under_way += size);
        }
        let limiting = self.limiting()?;
        let hops: Vec<HopLedger> = limiting.iter().map(|&hop| self.hops[hop].clone()).collect();
        for (number, cut) in self.cuts.iter_mut().enumerate() {
            let alone: f64 = hops.iter().map(|hop| hop.of_cut_alone(number)).sum();
            cut.cost_bits = (alone * 8.0).max(0.0).round() as u64;
        }
        let crosses = |flow: usize| {
            let own = self.senders.iter().filter(|it| it.flow as usize == flow);
            own.flat_map(|it| limiting.iter().map(|&hop| it.delays[hop]))
                .any(|delay| delay.is_some())
        };
        let flows = outcome.flows.iter().enumerate().filter(|(flow, _)| crosses(*flow));
        // Which hop carried a byte of the goodput is not known of each; all of them are shared out.
        let mut left: u64 = flows.map(|(_, flow)| flow.bytes_in_order).sum();
        let mut payload: f64 = limiting.iter().map(|&hop| self.carried[hop].payload).sum();
        let mut shares = Vec::new();
        for (hop, &number) in hops.iter().zip(&limiting) {
            let carried = &self.carried[number];
            let part = if payload > 0.0 { carried.payload / payload } else { 1.0 };
            let goodput =
                if shares.len() + 1 == hops.len() { left } else { (left as f64 * part) as u64 };
            (left, payload) = (left - goodput, payload - carried.payload);
            let metrics = outcome.hop(number);
            shares.push(budget(number, hop, carried, &self.cuts, goodput, metrics));
        }
        Some(Diagnosis {
            budget: Budget::of_all(&shares),
            shares,
            cuts: self.cuts,
            handshake_timeouts: self.handshake_timeouts,
            ended: outcome.ended,
            places: places(outcome),
            with_outages: self.hops.iter().map(HopLedger::has_outages).collect(),
            flows: outcome.flows.iter().map(|flow| flow.name.clone()).collect(),
            names: limiting.iter().map(|&hop| outcome.hop_names.get(hop).cloned()).collect(),
            hops,
            senders: self.senders,
            several: self.several,
        })
    }

    /// The hops whose capacity limits the run: of those that packets cross, the one with the least
    /// capacity; with flows over several paths, the set with the least capacity of which each of
    /// these paths crosses one.
    fn limiting(&self) -> Option<Vec<usize>> {
        let capacity = |hop: usize| self.hops[hop].capacity();
        let crossed = |it: &Sender| -> Vec<usize> {
            let crossed = (0..self.hops.len()).filter(|&hop| it.delays[hop].is_some());
            crossed.filter(|&hop| capacity(hop) > 0.0).collect()
        };
        let is_path = |it: &&Sender| self.several[it.flow as usize];
        let mut paths: Vec<Vec<usize>> = self.senders.iter().filter(is_path).map(crossed).collect();
        if paths.is_empty() {
            let mut all: Vec<usize> = self.senders.iter().flat_map(crossed).collect();
            all.sort_unstable();
            return all
                .into_iter()
                .min_by(|&a, &b| capacity(a).total_cmp(&capacity(b)))
                .map(|hop| vec![hop]);
        }
        paths.sort_unstable();
        paths.dedup();
        paths
            .iter_mut()
            .for_each(|path| path.sort_by(|&a, &b| capacity(a).total_cmp(&capacity(b))));
        let mut best = (f64::INFINITY, None);
        choose(&paths, &capacity, &mut Vec::new(), &mut best);
        best.1
    }
}

/// Adds hops to `chosen` until each path crosses exactly one, and keeps the set in `best` if its
/// capacity is the least so far.
fn choose(
    paths: &[Vec<usize>],
    capacity: &impl Fn(usize) -> f64,
    chosen: &mut Vec<usize>,
    best: &mut (f64, Option<Vec<usize>>),
) {
    let sum: f64 = chosen.iter().map(|&hop| capacity(hop)).sum();
    let crossings = |path: &Vec<usize>| path.iter().filter(|hop| chosen.contains(hop)).count();
    if sum >= best.0 || paths.iter().any(|path| crossings(path) > 1) {
        return;
    }
    let Some(next) = paths.iter().find(|path| crossings(path) == 0) else {
        let mut set = chosen.clone();
        set.sort_unstable();
        *best = (sum, Some(set));
        return;
    };
    for &hop in next {
        chosen.push(hop);
        choose(paths, capacity, chosen, best);
        chosen.pop();
    }
}

/// The outages that packets meet after they pass a hop, or met before, at the time at which they pass
/// it.
fn outages(setup: &Setup, senders: &[Sender], hop: usize) -> Outages {
    let shared: Vec<&Hop> = setup.forward.iter().chain(&setup.backward).collect();
    let spans_of = |hop: usize| match shared[hop] {
        Hop::Leg(LegConfig { loss: Loss::Outages(spans), .. }) => &spans[..],
        _ => &[],
    };
    let mut spans = Vec::new();
    for sender in senders {
        let Some(here) = sender.delays[hop] else { continue };
        for (other, delay) in sender.delays.iter().enumerate() {
            let Some(there) = *delay else { continue };
            let shifted =
                |at: Instant| Instant::ZERO + (at + here).saturating_since(Instant::ZERO + there);
            spans
                .extend(spans_of(other).iter().map(|&(begin, end)| (shifted(begin), shifted(end))));
        }
    }
    Outages::of(spans, !spans_of(hop).is_empty())
}

/// The time to each shared hop; `None`: it is not crossed.
type Delays = Vec<Option<Duration>>;

/// For each connection of a flow between proxies, or each of its paths, the time to each shared
/// hop that it crosses, and to each that its data cross.
fn ways(setup: &Setup, number: usize, flow: &Flow) -> Vec<(Delays, Delays)> {
    let shared: Vec<&Hop> = setup.forward.iter().chain(&setup.backward).collect();
    let source = flow.source_leg.as_ref().map_or(Duration::ZERO, |leg| leg.delay.longest());
    let along = |first: Duration, way: &mut dyn Iterator<Item = usize>| {
        let (mut delay, mut delays) = (first, vec![None; shared.len()]);
        for hop in way.filter(|&hop| hop < shared.len()) {
            delays[hop] = Some(delay);
            delay += shared[hop].delay().longest();
        }
        delays
    };
    if let Some(own) = setup.routing.ways.get(number) {
        let further = setup.routing.further.get(&number).into_iter().flatten();
        let ways = std::iter::once(own).chain(further);
        let hops = |way: &Ways| along(source, &mut way.to_receiver.iter().map(|&hop| hop as usize));
        return ways.map(hops).map(|delays| (delays.clone(), delays)).collect();
    }
    let splits = flow.transport.splits();
    let proxies = setup.proxies.iter().map(|proxy| proxy.forward).filter(|_| splits);
    let begins: Vec<usize> = std::iter::once(0).chain(proxies).collect();
    let ends = begins[1..].iter().copied().chain([setup.forward.len()]);
    let ways = begins.iter().zip(ends).enumerate();
    ways.map(|(connection, (&begin, end))| {
        let first = if connection == 0 { source } else { Duration::ZERO };
        (along(first, &mut (begin..end)), along(first, &mut (begin..setup.forward.len())))
    })
    .collect()
}

impl Observer for Watch<'_> {
    fn wants(&self) -> Wants {
        Wants { packets: true, senders: true, ..Wants::default() }
    }

    fn checkpoint(&mut self, _: Instant, _: u64) -> ControlFlow<()> {
        if (self.goes_on)() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    fn packet(&mut self, now: Instant, flow: u32, id: u32, step: Step<'_>) {
        match step {
            Step::Sent { from: End::Sender, connection, packet, .. } => {
                let Some(sender) = self.number(flow, connection) else { return };
                let position = match self.several[flow as usize] {
                    true => packet.segment.seq,
                    false => packet.start,
                };
                if packet.len > 0 {
                    self.known[sender].flight.send(id, position, now);
                }
                let largest = &mut self.known[sender].ledger.packet;
                *largest = packet.size.0.max(*largest);
                let history = PacketHistory::of(packet, now);
                let size = u64::from(packet.size.0);
                self.packets.insert(id, Active::new(sender, position, history, size));
            }
            // What the other end sends crosses other hops.
            Step::Sent { .. } => drop(self.packets.take(id)),
            Step::OnLeg { hop, .. } => self.cross(id, hop),
            Step::OverLink { hop, transit, units } => {
                self.over_link(id, hop, transit, &units);
                self.cross(id, hop);
            }
            Step::Lost { hop, begins } => {
                let mut is_sent = begins.is_some();
                if let Some(active) = self.packets.get(id) {
                    active.crossed &= !(1u128.checked_shl(hop as u32).unwrap_or(0));
                    is_sent |= active.sent_by == Some(hop);
                }
                // A queue that drops at its head has taken the packet, and its hop never sends it.
                let fate = if is_sent { PacketFate::Lost } else { PacketFate::Dropped };
                self.lost(id, now, hop, fate);
            }
            Step::Dropped { hop, .. } => self.lost(id, now, hop, PacketFate::Dropped),
            Step::Marked { .. } => {}
            Step::Arrived { discarded } => self.arrived(id, now, discarded.is_some()),
        }
    }

    fn sender(&mut self, now: Instant, flow: u32, connection: u32, state: &SenderState) {
        let Some(sender) = self.number(flow, connection) else { return };
        let before = *self.known[sender].ledger.last();
        // What the same acknowledgement confirms is not what the sender takes for lost.
        let advanced = state.acknowledged > before.acknowledged;
        if advanced {
            self.known[sender].flight.forget(state.acknowledged);
        }
        let trigger = Trigger::between(&before, state);
        let waited = trigger == Some(Trigger::Timeout);
        // A timeout of the handshake cuts no window.
        let in_handshake = waited && !before.is_open;
        self.handshake_timeouts += u64::from(in_handshake);
        let trigger = trigger.filter(|_| !in_handshake);
        let cut = trigger.map(|trigger| self.cut(now, sender, trigger, state));
        let known = &mut self.known[sender];
        let rate = known.ledger.last_rate();
        let blame = known.ledger.note(now, state, cut.is_some());
        if let Some(number) = known.cut {
            let cut = &mut self.cuts[number];
            if known.ledger.is_below(number) {
                cut.after = cut.after.min(state.window.cwnd);
            }
            if state.counters.undo_events > before.counters.undo_events {
                cut.undone.get_or_insert(now);
            }
        }
        if advanced {
            known.duplicates_before = state.counters.duplicate_acks;
        }
        let duplicates = state.counters.duplicate_acks > before.counters.duplicate_acks;
        let update = Update {
            sender,
            heard: advanced || duplicates || blame == Blame::Cause(Cause::Application),
            blame,
            extras: known.ledger.extras(),
            timeout: waited.then_some((cut, rate)),
        };
        for (hop, delay) in self.senders[sender].reach.iter().enumerate() {
            if let Some(delay) = *delay {
                self.hops[hop].tell(now + delay, update.clone());
            }
        }
    }

    fn reading_due(&self) -> Option<Instant> {
        self.hops.iter().filter_map(HopLedger::next).min()
    }

    fn reading(&mut self, at: Instant, hop: usize, usage: Option<&Usage>) {
        if self.hops[hop].next().is_some_and(|next| next <= at) {
            self.hops[hop].read(at, usage);
        }
    }

    fn ended(&mut self, at: Instant, hop: usize, usage: Option<&Usage>) {
        self.hops[hop].end(at, usage);
    }
}

impl Watch<'_> {
    /// A hop took a packet to its far end.
    fn cross(&mut self, id: u32, hop: usize) {
        if let Some(active) = self.packets.get(id)
            && hop < self.carried.len()
        {
            active.crossed |= 1u128.checked_shl(hop as u32).unwrap_or(0);
        }
    }
}
