//! Re-sequencing buffer, independent of the link that feeds it.

use std::collections::VecDeque;
use std::num::NonZeroU32;

use crate::link::behind::FarEnd;
use crate::link::{LinkEvent, Transit};
use crate::units::Instant;

/// Rule of a re-sequencing buffer after a link (DESIGN section 5).
///
/// In link order, a packet is missing if the link admitted it before another packet that arrived,
/// and it was neither delivered nor given up. Packets dropped by the queue are never missing.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Resequencing {
    /// A packet is held until no earlier one is missing.
    InOrder,
    /// As `InOrder`, but with at most `packets` - 1 packets held: the packet that fills the buffer
    /// triggers a flush.
    ///
    /// A flush releases all held packets, in order. Missing packets before them are no longer
    /// waited for, and are released as soon as they arrive (Tauran 2017, section 4.1).
    Bounded {
        /// Size of the buffer.
        packets: NonZeroU32,
        /// True to flush a full buffer. Otherwise only the gap before the first held packet is
        /// skipped, and the packets up to the next gap are released.
        flush_when_full: bool,
        /// True to flush whenever the link gives up a packet. Otherwise that packet is merely no
        /// longer missing.
        flush_on_loss: bool,
    },
    /// The buffer of Tauran 2017, section 4.1, which reads TCP sequence numbers; each flow has its
    /// own.
    ///
    /// A packet at or below the expected sequence number is released at once; another is held. A
    /// flush releases all held packets in order of sequence number, and the expected number becomes
    /// the one after the highest released. A packet that the link gave up stays missing until a
    /// flush skips it, because only TCP retransmits it. Packets without stream data pass.
    TcpSequence {
        /// Size of the buffer, as above; `None`: unlimited.
        packets: Option<NonZeroU32>,
        /// True to flush a full buffer. Otherwise only the gap before the first held packet is
        /// skipped.
        flush_when_full: bool,
        /// True to flush whenever the link gives up a packet of the flow.
        flush_on_loss: bool,
    },
}

/// Releases packets in the order in which the link admitted them.
#[derive(Clone, Debug)]
pub(super) struct LinkOrder {
    rule: Resequencing,
    /// All packets before this `order` were released or are no longer waited for.
    expected: u64,
    /// State of the packets from `expected` on.
    window: VecDeque<PacketState>,
    holding: u32,
    held: u64,
    flushes: u64,
}

#[derive(Clone, Copy, Debug)]
enum PacketState {
    Missing,
    GivenUp,
    Held(Transit),
}

impl LinkOrder {
    pub(super) fn new(rule: Resequencing) -> Self {
        Self { rule, expected: 0, window: VecDeque::new(), holding: 0, held: 0, flushes: 0 }
    }

    fn make_room(&mut self, now: Instant, out: &mut VecDeque<LinkEvent>) {
        let Resequencing::Bounded { packets, flush_when_full, .. } = self.rule else { return };
        if self.holding < packets.get() {
            return;
        }
        if flush_when_full {
            self.flush(now, out);
        } else {
            // Without a flush only the first gap is given up, which frees one place.
            while !matches!(self.window.front(), None | Some(PacketState::Held(_))) {
                self.skip();
            }
        }
        self.release_run(now, out);
    }

    fn flush(&mut self, now: Instant, out: &mut VecDeque<LinkEvent>) {
        // A flush of an empty buffer releases no packet and is not counted.
        self.flushes += u64::from(self.holding > 0);
        while self.holding > 0 {
            if let Some(PacketState::Held(transit)) = self.skip() {
                self.release(transit, now, out);
            }
        }
    }

    /// Releases held packets up to the next gap.
    fn release_run(&mut self, now: Instant, out: &mut VecDeque<LinkEvent>) {
        while let Some(PacketState::GivenUp | PacketState::Held(_)) = self.window.front() {
            if let Some(PacketState::Held(transit)) = self.skip() {
                self.release(transit, now, out);
            }
        }
    }

    fn release(&mut self, transit: Transit, now: Instant, out: &mut VecDeque<LinkEvent>) {
        self.holding -= 1;
        out.push_back(LinkEvent::Delivered(Transit { at: now, ..transit }));
    }

    fn skip(&mut self) -> Option<PacketState> {
        self.expected += 1;
        self.window.pop_front()
    }

    fn put(&mut self, order: u64, place: PacketState) {
        let index = (order - self.expected) as usize;
        if self.window.len() <= index {
            self.window.resize(index + 1, PacketState::Missing);
        }
        self.window[index] = place;
    }
}

impl FarEnd for LinkOrder {
    fn delivered(&mut self, transit: Transit, out: &mut VecDeque<LinkEvent>) {
        // A flush went past this packet: holding it now would only add delay.
        if transit.order < self.expected {
            out.push_back(LinkEvent::Delivered(transit));
            return;
        }
        if transit.order == self.expected && self.window.is_empty() {
            self.expected += 1;
            out.push_back(LinkEvent::Delivered(transit));
            return;
        }
        let in_sequence = transit.order == self.expected;
        self.put(transit.order, PacketState::Held(transit));
        self.holding += 1;
        if in_sequence {
            self.release_run(transit.at, out);
            return;
        }
        self.held += 1;
        self.make_room(transit.at, out);
    }

    fn lost(&mut self, transit: Transit, out: &mut VecDeque<LinkEvent>) {
        out.push_back(LinkEvent::Lost(transit));
        // Packets below were skipped by a flush, so their loss ends no gap.
        if transit.order >= self.expected {
            self.put(transit.order, PacketState::GivenUp);
        }
        if matches!(self.rule, Resequencing::Bounded { flush_on_loss: true, .. }) {
            self.flush(transit.at, out);
        }
        self.release_run(transit.at, out);
    }

    fn counts(&self) -> (u64, u64) {
        (self.held, self.flushes)
    }
}
