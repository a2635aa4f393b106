//! Packets of a sender, from their transmission to their fate.

use std::collections::BTreeMap;

use crate::link::{Transit, Transmission, TransmissionKind};
use crate::transport::Packet;
use crate::units::Instant;

/// The fate of a packet.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum PacketFate {
    /// Nothing yet.
    #[default]
    UnderWay,
    /// It reached the other end.
    Arrived,
    /// A hop lost it.
    Lost,
    /// The queue of a hop had no room for it, or dropped it.
    Dropped,
}

/// A data packet: when it was sent, what a link did for it, and its fate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PacketHistory {
    /// Position of its first byte.
    pub start: u64,
    /// Bytes of application data.
    pub len: u32,
    /// Earlier transmissions of these bytes.
    pub retransmission: u16,
    /// When it was sent.
    pub sent: Instant,
    /// Its passage through the link that erased most of its units, or the first one.
    pub transit: Option<Transit>,
    /// When units with a part of it were sent that this link erased.
    pub erased: Vec<Instant>,
    /// Units with a part of it that were sent again.
    pub again: u32,
    /// Repair units that protect it.
    pub repair: u32,
    /// Its fate, when, and at which hop; a packet that arrived has none.
    pub fate: PacketFate,
    /// When it met its fate.
    pub ended: Option<Instant>,
    /// The hop that lost or dropped it.
    pub hop: Option<usize>,
}

/// A packet under way.
#[derive(Debug)]
pub(super) struct Active {
    pub(super) sender: usize,
    /// First byte in the sequence of its sender, which differs from that of the data if there are
    /// several paths.
    pub(super) position: u64,
    pub(super) history: PacketHistory,
    pub(super) size: u64,
    /// The hops that it has crossed, by bits.
    pub(super) crossed: u128,
    /// LLDUs that it used on the last link.
    pub(super) lldus: u32,
    /// The last link, if it sent it.
    pub(super) sent_by: Option<usize>,
    /// Cuts that wait for its fate.
    pub(super) cuts: Vec<usize>,
}

impl Active {
    /// A packet that its sender sends.
    pub(super) fn new(sender: usize, position: u64, history: PacketHistory, size: u64) -> Self {
        let (crossed, lldus, sent_by, cuts) = (0, 0, None, Vec::new());
        Self { sender, position, history, size, crossed, lldus, sent_by, cuts }
    }
}

/// A transmission of the bytes at a position.
#[derive(Debug)]
enum Sent {
    UnderWay { id: u32, sent: Instant },
    Ended(Box<PacketHistory>),
}

impl Sent {
    fn sent(&self) -> Instant {
        match self {
            Self::UnderWay { sent, .. } => *sent,
            Self::Ended(history) => history.sent,
        }
    }

    fn has_arrived(&self) -> bool {
        matches!(self, Self::Ended(history) if history.fate == PacketFate::Arrived)
    }
}

/// What a sender knows to be unacknowledged: the last two transmissions at each position.
#[derive(Debug, Default)]
pub(super) struct Flight {
    sent: BTreeMap<u64, Vec<Sent>>,
    /// Of the last acknowledged bytes that were sent twice, the transmission before the last one.
    repaired: Option<Box<PacketHistory>>,
}

/// Packets under way of all senders, by the numbers that the engine gives them.
#[derive(Debug, Default)]
pub(super) struct Packets(Vec<Option<Active>>);

/// The transmission that a cut is about.
pub(super) enum Found {
    UnderWay(u32),
    Ended(Box<PacketHistory>),
}

impl Flight {
    pub(super) fn send(&mut self, id: u32, position: u64, now: Instant) {
        let sent = self.sent.entry(position).or_default();
        if sent.len() > 1 {
            sent.remove(0);
        }
        sent.push(Sent::UnderWay { id, sent: now });
    }

    /// A packet met its fate.
    pub(super) fn end(&mut self, id: u32, position: u64, history: &PacketHistory) {
        let Some(sent) = self.sent.get_mut(&position) else { return };
        let is_it = |one: &&mut Sent| matches!(one, Sent::UnderWay { id: its, .. } if *its == id);
        if let Some(one) = sent.iter_mut().find(is_it) {
            *one = Sent::Ended(Box::new(history.clone()));
        }
    }

    /// The peer has everything before `acknowledged`.
    pub(super) fn forget(&mut self, acknowledged: u64) {
        while let Some(first) = self.sent.first_entry()
            && *first.key() < acknowledged
        {
            if let [Sent::Ended(history), _] = &first.remove()[..] {
                self.repaired = Some(history.clone());
            }
        }
    }

    /// The packet whose loss a probe repaired, and the number of later packets that it is known to
    /// have missed: none, since its copy was the next one.
    pub(super) fn repaired(&self) -> Option<(Found, u32)> {
        self.repaired.clone().map(|history| (Found::Ended(history), 0))
    }

    /// The position of the last bytes sent that are not acknowledged.
    pub(super) fn last(&self) -> Option<u64> {
        self.sent.last_key_value().map(|(&position, _)| position)
    }

    /// The last transmission of the first bytes that are not acknowledged, before `now`, and the
    /// number of later packets that arrived.
    pub(super) fn first(&self, now: Instant) -> Option<(Found, u32)> {
        let (_, sent) = self.sent.first_key_value()?;
        let one = sent.iter().rev().find(|one| one.sent() < now).or(sent.last())?;
        Some(self.found(one))
    }

    /// The packet that later ones overtook: of those that have not arrived, although a later one has,
    /// the first one sent from `since` on, the last cut, or else the first one. If all such have arrived
    /// meanwhile, the first that is not acknowledged.
    pub(super) fn overtaken(&self, since: Instant, now: Instant) -> Option<(Found, u32)> {
        let newest = self.arrived().max();
        let is_missing = |one: &&Sent| !one.has_arrived() && Some(one.sent()) < newest;
        let missing = self.sent.values().flatten().filter(is_missing);
        let new = missing.clone().filter(|one| one.sent() >= since);
        match new.min_by_key(|one| one.sent()).or(missing.min_by_key(|one| one.sent())) {
            Some(one) => Some(self.found(one)),
            None => self.first(now),
        }
    }

    /// When the packets were sent that arrived.
    fn arrived(&self) -> impl Iterator<Item = Instant> {
        let all = self.sent.values().flatten();
        all.filter(|one| one.has_arrived()).map(Sent::sent)
    }

    fn found(&self, one: &Sent) -> (Found, u32) {
        let overtaking = self.arrived().filter(|&sent| sent > one.sent()).count() as u32;
        let found = match one {
            Sent::UnderWay { id, .. } => Found::UnderWay(*id),
            Sent::Ended(history) => Found::Ended(history.clone()),
        };
        (found, overtaking)
    }
}

impl Packets {
    pub(super) fn insert(&mut self, id: u32, active: Active) {
        let place = id as usize;
        if self.0.len() <= place {
            self.0.resize_with(place + 1, || None);
        }
        self.0[place] = Some(active);
    }

    pub(super) fn get(&mut self, id: u32) -> Option<&mut Active> {
        self.0.get_mut(id as usize)?.as_mut()
    }

    /// Packets that are still under way.
    pub(super) fn left(self) -> impl Iterator<Item = Active> {
        self.0.into_iter().flatten()
    }

    pub(super) fn take(&mut self, id: u32) -> Option<Active> {
        self.0.get_mut(id as usize)?.take()
    }
}

/// Units that a link sent for the packets that are still on it.
#[derive(Debug, Default)]
pub(super) struct Units(BTreeMap<u64, OfPacket>);

#[derive(Clone, Debug, Default)]
pub(super) struct OfPacket {
    erased: Vec<Instant>,
    again: u32,
    repair: u32,
}

impl Units {
    /// The link sent these units. Those of packets before `order` came too late to matter.
    pub(super) fn note(&mut self, sent: &[Transmission]) {
        for unit in sent {
            for order in unit.packets.0..=unit.packets.1 {
                let one = self.0.entry(order).or_default();
                if unit.arrival.is_none() {
                    one.erased.push(unit.at);
                }
                match unit.kind {
                    TransmissionKind::New => {}
                    TransmissionKind::Again => one.again += 1,
                    TransmissionKind::Repair => one.repair += 1,
                }
            }
        }
    }

    /// The units of a packet that leaves the link. Packets far before it have left, too.
    pub(super) fn take(&mut self, order: u64) -> OfPacket {
        let found = self.0.remove(&order).unwrap_or_default();
        while let Some(first) = self.0.first_entry()
            && *first.key() + LONGEST_STAY < order
        {
            first.remove();
        }
        found
    }
}

/// Later packets after which the units of a packet are forgotten.
const LONGEST_STAY: u64 = 1 << 16;

impl PacketHistory {
    pub(super) fn of(packet: &Packet, now: Instant) -> Self {
        let Packet { start, len, retransmission, .. } = *packet;
        Self { start, len, retransmission, sent: now, ..Self::default() }
    }

    /// It left a link.
    pub(super) fn cross(&mut self, transit: Transit, units: OfPacket) {
        if self.transit.is_some() && units.erased.len() <= self.erased.len() {
            return;
        }
        self.transit = Some(transit);
        (self.erased, self.again, self.repair) = (units.erased, units.again, units.repair);
    }
}
