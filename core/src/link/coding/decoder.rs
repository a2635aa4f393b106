//! The receiving end of a code: what it knows, waits for, rebuilds and gives up.

use std::collections::VecDeque;

use crate::link::coding::encoder::{Coefficients, Repair, Report};
use crate::link::coding::system::System;
use crate::link::{LinkEvent, Packet, PacketId, Transit};
use crate::units::{Bytes, Duration, Instant};

/// A source packet, from its encoding until its fate is reported and no equation needs it.
#[derive(Clone, Copy, Debug)]
struct Source {
    packet: PacketId,
    size: Bytes,
    entered: Instant,
    departed: Option<Instant>,
    /// LLDUs that carried it: its own, or those of the packet that rebuilt it until its own are known.
    lldus: u32,
    on_link: OnLink,
    state: State,
    /// When the decoder noticed that it is missing.
    noticed: Option<Instant>,
    /// Whether its delivery or loss was reported.
    is_told: bool,
    /// Whether a queue dropped it.
    is_dropped: bool,
}

/// Fate of the packet on the link.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum OnLink {
    Open,
    Arrived,
    Lost,
}

impl Source {
    /// Its own LLDUs are known: none if it did not reach the link. Returns what a report of before
    /// lacks.
    fn took(&mut self, lldus: u32) -> i64 {
        let before = match lldus {
            0 => return 0,
            own => std::mem::replace(&mut self.lldus, own),
        };
        if self.is_told { i64::from(lldus) - i64::from(before) } else { 0 }
    }
}

/// State of the packet in the decoder.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    Missing,
    Known,
    /// No longer waited for. Equations may still hold it.
    GivenUp,
}

/// An event for the host, and whether it counts as a drop by a queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Told {
    pub(super) event: LinkEvent,
    pub(super) is_drop: bool,
}

/// Counters of a decoder, in packets.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DecoderCounts {
    /// Rebuilt and released.
    pub(super) recovered: u64,
    /// Lost and not rebuilt in time.
    pub(super) undecodable: u64,
    /// Repair packets that added no equation.
    pub(super) useless: u64,
    /// Put into the buffer that restores the order.
    pub(super) held: u64,
    /// Sum of the decoding delays of rebuilt packets, ns.
    pub(super) delay: u64,
    /// LLDUs of rebuilt packets that are known only after these were reported, less those reported.
    pub(super) late_lldus: i64,
}

/// The receiving end.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    coefficients: Coefficients,
    in_order: bool,
    hold: Duration,
    window: u64,
    system: System,
    /// Source packets from the number `first` on.
    sources: VecDeque<Source>,
    first: u64,
    /// One more than the highest source packet that the decoder has heard of.
    seen: u64,
    /// Repair packets sent later cover no packet below.
    edge: u64,
    /// No equation holds a packet below.
    forgotten: u64,
    /// One more than the highest packet that was forgotten while unknown.
    unknown: u64,
    /// Next packet to be released in order.
    release: u64,
    /// When missing packets are given up.
    deadlines: VecDeque<(Instant, u64)>,
    report: Report,
    /// Events for the host.
    pub(super) out: VecDeque<Told>,
    pub(super) counts: DecoderCounts,
    solved: Vec<u64>,
}

impl Decoder {
    pub(super) fn new(
        coefficients: Coefficients,
        window: u32,
        in_order: bool,
        hold: Duration,
    ) -> Self {
        Self { coefficients, in_order, hold, window: u64::from(window), ..Self::default() }
    }

    fn source(&mut self, number: u64) -> Option<&mut Source> {
        let place = number.checked_sub(self.first)?;
        self.sources.get_mut(usize::try_from(place).ok()?)
    }

    fn state(&self, number: u64) -> Option<State> {
        let place = number.checked_sub(self.first)?;
        Some(self.sources.get(usize::try_from(place).ok()?)?.state)
    }

    // --- the sending end ---

    /// The next source packet enters the link, or is dropped before it.
    pub(super) fn sent(&mut self, now: Instant, packet: &Packet, is_dropped: bool) {
        self.sources.push_back(Source {
            packet: packet.id,
            size: packet.size,
            entered: now,
            departed: is_dropped.then_some(now),
            lldus: 0,
            on_link: OnLink::Open,
            state: State::Missing,
            noticed: None,
            is_told: false,
            is_dropped,
        });
        if is_dropped {
            self.lost(self.first + self.sources.len() as u64 - 1, 0, now);
        }
    }

    /// The packet leaves the queue.
    pub(super) fn departed(&mut self, number: u64, at: Instant) {
        if let Some(source) = self.source(number) {
            source.departed.get_or_insert(at);
        }
    }

    /// The host's name of a packet whose fate was not reported; `None` for others.
    pub(super) fn untold(&mut self, number: u64) -> Option<PacketId> {
        self.source(number).filter(|source| !source.is_told).map(|source| source.packet)
    }

    // --- packets arrive, or do not ---

    /// A source packet arrives. `first`: no packet below is covered by what is sent later; `sent`:
    /// its number among all packets.
    pub(super) fn arrived(&mut self, number: u64, transit: &Transit, first: u64, sent: u64) {
        let now = transit.at;
        self.heard(sent);
        let Some(source) = self.source(number) else { return };
        source.on_link = OnLink::Arrived;
        source.departed = Some(transit.departed);
        let (state, late) = (source.state, source.took(transit.lldus));
        source.state = State::Known;
        self.counts.late_lldus += late;
        if state != State::Known {
            let mut solved = std::mem::take(&mut self.solved);
            self.system.know(number, &mut solved);
            self.known(number, now);
            self.rebuild(solved, transit.lldus, now);
        }
        self.advance(number + 1, first, now);
    }

    /// A repair packet arrives, which took `lldus` LLDUs.
    pub(super) fn repaired(&mut self, repair: &Repair, lldus: u32, now: Instant, sent: u64) {
        self.heard(sent);
        if repair.first < self.unknown {
            self.counts.useless += 1;
        } else {
            let missing = (repair.first.max(self.first)..=repair.last)
                .filter(|&packet| self.state(packet) != Some(State::Known));
            let coefficients = self.coefficients;
            let terms: Vec<_> =
                missing.map(|packet| (packet, coefficients.of(repair, packet))).collect();
            let mut solved = std::mem::take(&mut self.solved);
            let is_new = self.system.add(terms, &mut solved);
            self.counts.useless += u64::from(!is_new);
            self.notice(repair.last + 1, now);
            self.rebuild(solved, lldus, now);
        }
        self.advance(repair.last + 1, repair.first, now);
    }

    /// The link, or a queue, lost a source packet, which took `lldus` LLDUs.
    pub(super) fn lost(&mut self, number: u64, lldus: u32, now: Instant) {
        let deadline = now + self.hold;
        let Some(source) = self.source(number) else { return };
        source.on_link = OnLink::Lost;
        let (state, is_noticed) = (source.state, source.noticed.is_some());
        let late = source.took(lldus);
        self.counts.late_lldus += late;
        if state == State::GivenUp {
            self.tell_loss(number, now);
        } else if state == State::Missing && !is_noticed {
            // The decoder may never hear of the last packets of a transfer.
            self.deadlines.push_back((deadline, number));
        }
        self.drop_settled();
    }

    /// The number of a packet that arrives, for reports.
    fn heard(&mut self, sent: u64) {
        self.report.heard = self.report.heard.max(sent + 1);
        self.report.received += 1;
    }

    /// Packets up to `seen` have been sent: those that are not known are missing.
    fn notice(&mut self, seen: u64, now: Instant) {
        for number in self.seen..seen {
            let deadline = now + self.hold;
            if let Some(source) = self.source(number).filter(|one| one.state == State::Missing) {
                source.noticed = Some(now);
                self.deadlines.push_back((deadline, number));
            }
        }
        self.seen = self.seen.max(seen);
    }

    /// After an arrival: packets below `first` will not be covered any more.
    fn advance(&mut self, seen: u64, first: u64, now: Instant) {
        self.notice(seen, now);
        for number in self.edge..first {
            self.give_up(number, now);
        }
        self.edge = self.edge.max(first);
        // Repair packets that others overtook are of use for another window.
        for number in self.forgotten..self.edge.saturating_sub(self.window) {
            if self.state(number).is_some_and(|state| state != State::Known) {
                self.system.forget(number);
                self.unknown = number + 1;
            }
        }
        self.forgotten = self.forgotten.max(self.edge.saturating_sub(self.window));
        self.release_run(now);
        self.drop_settled();
    }

    // --- waiting ---

    /// When the decoder gives up a packet that it waits for.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.deadlines.front().map(|&(at, _)| at)
    }

    /// Gives up the packets that it waited for until `now`. `is_more`: other packets are on their
    /// way, from which the decoder will notice that one is missing.
    pub(super) fn expire(&mut self, now: Instant, is_more: bool) {
        while let Some(&(at, number)) = self.deadlines.front()
            && at <= now
        {
            self.deadlines.pop_front();
            let hold = self.hold;
            match self.source(number).and_then(|source| source.noticed) {
                // The time counts from then, and its end follows.
                Some(noticed) if noticed + hold > now => {}
                None if is_more => self.deadlines.push_back((now + hold, number)),
                _ => self.give_up(number, now),
            }
        }
        self.release_run(now);
        self.drop_settled();
    }

    fn give_up(&mut self, number: u64, now: Instant) {
        let Some(source) = self.source(number).filter(|one| one.state == State::Missing) else {
            return;
        };
        source.state = State::GivenUp;
        // Otherwise it still arrives, or the link says that it is lost.
        if source.on_link == OnLink::Lost {
            self.tell_loss(number, now);
        }
    }

    // --- releasing ---

    /// Handles packets rebuilt by the arrival of a packet of `lldus` LLDUs; `solved` is the reused
    /// buffer.
    fn rebuild(&mut self, mut solved: Vec<u64>, lldus: u32, now: Instant) {
        solved.sort_unstable();
        for number in solved.drain(..) {
            let Some(source) = self.source(number) else { continue };
            source.state = State::Known;
            if source.is_told {
                continue;
            }
            if source.lldus == 0 {
                source.lldus = lldus;
            }
            let delay = now.saturating_since(source.noticed.unwrap_or(now));
            self.counts.recovered += 1;
            self.counts.delay += delay.as_nanos();
            self.known(number, now);
        }
        self.solved = solved;
    }

    /// Releases a packet that is known now, or holds it.
    fn known(&mut self, number: u64, now: Instant) {
        if self.in_order && number >= self.release {
            self.counts.held += u64::from(number > self.release);
            self.release_run(now);
            return;
        }
        self.tell_delivery(number, now);
    }

    fn release_run(&mut self, now: Instant) {
        while self.in_order {
            match self.state(self.release) {
                Some(State::Known) => self.tell_delivery(self.release, now),
                Some(State::GivenUp) => {}
                _ => return,
            }
            self.release += 1;
        }
    }

    fn tell_delivery(&mut self, number: u64, now: Instant) {
        if let Some(transit) = self.told(number, now) {
            self.out.push_back(Told { event: LinkEvent::Delivered(transit), is_drop: false });
        }
    }

    fn tell_loss(&mut self, number: u64, now: Instant) {
        let is_drop = self.source(number).is_some_and(|source| source.is_dropped);
        if let Some(transit) = self.told(number, now) {
            self.counts.undecodable += 1;
            self.out.push_back(Told { event: LinkEvent::Lost(transit), is_drop });
        }
    }

    /// The passage of a packet whose fate is reported now, for the first time.
    fn told(&mut self, number: u64, at: Instant) -> Option<Transit> {
        let source = self.source(number).filter(|source| !source.is_told)?;
        source.is_told = true;
        let Source { packet, size, lldus, entered, departed, .. } = *source;
        let departed = departed.unwrap_or(entered);
        Some(Transit { packet, size, lldus, order: number, entered, departed, at })
    }

    /// Drops packets from the front of which nothing is open.
    fn drop_settled(&mut self) {
        while let Some(source) = self.sources.front()
            && source.is_told
            && source.on_link != OnLink::Open
            && (source.state == State::Known || self.first < self.forgotten)
            && (!self.in_order || self.first < self.release)
        {
            self.sources.pop_front();
            self.first += 1;
        }
    }

    /// The report of now. Repair packets also cover what was given up, so it counts as well.
    pub(super) fn report(&self) -> Report {
        let first = self.first.max(self.edge);
        let covered = first..self.seen.max(first);
        let unknown = covered.filter(|&one| self.state(one) != Some(State::Known)).count() as u64;
        let deficit = unknown.saturating_sub(self.system.rank_from(first));
        Report { deficit, ..self.report }
    }
}
