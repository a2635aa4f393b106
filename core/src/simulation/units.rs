//! Units that the links of a path send for each packet.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::link::clock::SlotClock;
use crate::link::{Transit, Transmission, TransmissionKind};
use crate::simulation::Hop;
use crate::trace::LinkTrace;
use crate::units::{Duration, Instant};

/// Units that links sent for a packet until its fate was known.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Units {
    /// Data LLDUs used.
    pub data: u64,
    /// Units with a part of it that were sent again; `None`: the link keeps no account of units.
    pub again: Option<u64>,
    /// Repair units that protect the packet, among others.
    pub repair: Option<u64>,
}

impl Units {
    /// Those of two hops together.
    pub(crate) fn and(self, other: Self) -> Self {
        let sum = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (Some(a), Some(b)) => Some(a + b),
            (a, b) => a.or(b),
        };
        Self {
            data: self.data + other.data,
            again: sum(self.again, other.again),
            repair: sum(self.repair, other.repair),
        }
    }
}

/// Source of the number of units that a hop sent for a packet.
#[derive(Debug)]
pub(crate) enum UnitCounts {
    /// None: a leg has no units.
    Nowhere,
    /// The link, which logs each unit.
    ByLink(Account),
    /// The link trace and its clock.
    InTrace(Arc<LinkTrace>, SlotClock),
}

impl UnitCounts {
    pub(crate) fn of(hop: &Hop) -> Self {
        let Hop::Link(link) = hop else { return Self::Nowhere };
        // Repair packets are no packets of the host, and a packet may be rebuilt from others.
        if link.coding.is_some() {
            return Self::Nowhere;
        }
        let Some(trace) = link.medium.get::<LinkTrace>() else {
            return Self::ByLink(Account::default());
        };
        let parts = trace.parts();
        let period = (parts.span.1 - parts.span.0 + parts.gap).max(0) as u64;
        let period = link.wrap.then_some(Duration::from_nanos(period));
        match SlotClock::new(parts.span.0, link.start_offset, period) {
            Ok(clock) => Self::InTrace(trace, clock),
            Err(_) => Self::Nowhere,
        }
    }

    /// The units of a packet that the hop delivered or lost. `sent`: what the hop logged since the
    /// last call.
    pub(crate) fn count(&mut self, transit: &Transit, sent: &[Transmission]) -> Units {
        let mut units = Units { data: u64::from(transit.lldus), ..Units::default() };
        match self {
            Self::Nowhere => {}
            Self::ByLink(account) => {
                account.note(sent);
                let (again, repair) = account.take(transit.order);
                (units.again, units.repair) = (Some(again), Some(repair));
            }
            Self::InTrace(trace, clock) => {
                units.again = Some(sent_again(trace, clock, transit.departed, transit.lldus));
            }
        }
        units
    }
}

/// Retransmissions of the LLDUs of a packet, the first of which was sent at `departed`.
fn sent_again(trace: &LinkTrace, clock: &SlotClock, departed: Instant, lldus: u32) -> u64 {
    let t = &trace.parts().t[..];
    if t.is_empty() {
        return 0;
    }
    let at = clock.trace_time(departed.as_nanos() as i64);
    let first = t.partition_point(|&t| t < at);
    let again = |place: usize| u64::from(trace.transmissions(place % t.len()).saturating_sub(1));
    (first..first + lldus as usize).map(again).sum()
}

/// Retransmitted units and repair units, by the packet that they carry or protect.
#[derive(Debug, Default)]
pub(crate) struct Account {
    /// Packets from the order `base` on; the first is in flight, and `true` marks those whose fate
    /// is known.
    packets: VecDeque<(u64, u64, bool)>,
    base: u64,
}

impl Account {
    fn note(&mut self, sent: &[Transmission]) {
        for unit in sent {
            let (first, last) = unit.packets;
            if unit.kind == TransmissionKind::New || last < self.base {
                continue;
            }
            for order in first.max(self.base)..=last {
                let Some((again, repair, _)) = self.place(order) else { continue };
                match unit.kind {
                    TransmissionKind::Again => *again += 1,
                    TransmissionKind::Repair => *repair += 1,
                    TransmissionKind::New => {}
                }
            }
        }
    }

    /// Units sent for the packet of this order, which left the link.
    fn take(&mut self, order: u64) -> (u64, u64) {
        let Some((again, repair, gone)) = self.place(order) else { return (0, 0) };
        *gone = true;
        let found = (*again, *repair);
        while self.packets.front().is_some_and(|(_, _, gone)| *gone) {
            self.packets.pop_front();
            self.base += 1;
        }
        found
    }

    fn place(&mut self, order: u64) -> Option<&mut (u64, u64, bool)> {
        let place = usize::try_from(order.checked_sub(self.base)?).ok()?;
        if place >= self.packets.len() {
            self.packets.resize(place + 1, (0, 0, false));
        }
        self.packets.get_mut(place)
    }
}
