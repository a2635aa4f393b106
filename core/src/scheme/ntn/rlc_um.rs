//! RLC unacknowledged mode (TS 38.322 sections 5.2.2.1, 5.2.2.2).

use crate::scheme::ntn::backlog::Backlog;
use crate::scheme::ntn::config::UmConfig;
use crate::scheme::ntn::pdu::Pdu;
use crate::scheme::ntn::preset::Timers;
use crate::scheme::ntn::reassembly::Reassembly;

/// Cuts packets into PDUs. A packet that fits whole has no sequence number (section 5.2.2.1.2).
#[derive(Clone, Debug, Default)]
pub(super) struct UmSender {
    /// `TX_Next`.
    pub(super) next: u64,
    /// The packet that is partly sent.
    cut: Option<Cut>,
}

/// A packet the rest of which waits: bytes from `sent` on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    pub(super) order: u64,
    pub(super) sn: u64,
    pub(super) sent: u32,
    pub(super) bytes: u32,
}

impl Cut {
    pub(super) fn left(&self) -> u64 {
        u64::from(self.bytes - self.sent)
    }

    /// The next piece of at most `room` bytes.
    pub(super) fn piece(&mut self, room: u32) -> Pdu {
        let (start, end) = (self.sent, self.bytes.min(self.sent.saturating_add(room)));
        self.sent = end;
        let last = end == self.bytes;
        Pdu { order: self.order, sn: Some(self.sn), start, end, last, again: false, poll: false }
    }
}

impl UmSender {
    /// Bytes that wait to be sent (TS 38.322 section 5.5).
    pub(super) fn volume(&self, backlog: &Backlog) -> u64 {
        self.cut.map_or(0, |cut| cut.left()) + backlog.waiting_bytes()
    }

    /// Re-established (section 5.1.2): the rest of a packet that is partly sent is discarded;
    /// which.
    pub(super) fn reestablish(&mut self) -> Option<u64> {
        self.cut.take().map(|cut| {
            self.next = cut.sn + 1;
            cut.order
        })
    }

    #[inline]
    pub(super) fn wants(&self, backlog: &Backlog) -> bool {
        self.cut.is_some() || backlog.front().is_some()
    }

    /// The next PDU, with at most `room` bytes of data.
    pub(super) fn next_pdu(&mut self, room: u32, backlog: &mut Backlog, now: i64) -> Option<Pdu> {
        let mut cut = match self.cut.take() {
            Some(cut) => cut,
            None => {
                let order = backlog.leave(now)?;
                let bytes = backlog.get_mut(order).bytes;
                Cut { order, sn: self.next, sent: 0, bytes }
            }
        };
        let mut pdu = cut.piece(room);
        let sdu = backlog.ride(cut.order, true);
        if !pdu.last {
            self.cut = Some(cut);
        } else {
            sdu.open = false;
            match pdu.start {
                // TS 38.322 section 5.2.2: only packets that were cut carry a number.
                0 => pdu.sn = None,
                _ => self.next += 1,
            }
        }
        Some(pdu)
    }
}

/// Puts packets together again and gives up those that stay incomplete.
#[derive(Clone, Debug)]
pub(super) struct UmReceiver(Reassembly);

impl UmReceiver {
    pub(super) fn new(config: UmConfig, timers: Timers) -> Self {
        Self(Reassembly::new(config.window.get(), timers.reassembly))
    }

    pub(super) fn reassembly(&self) -> &Reassembly {
        &self.0
    }

    /// Re-establishment: incomplete packets are discarded; `next`: the sender's next number.
    pub(super) fn reestablish(&mut self, next: u64) {
        self.0.reestablish(next);
    }

    /// A PDU arrived; whether that completes its packet (section 5.2.2.2.2).
    pub(super) fn receive(&mut self, pdu: &Pdu, now: i64) -> bool {
        let Some(sn) = pdu.sn else { return true };
        let packets = &mut self.0;
        if sn < packets.next || packets.entry(sn).complete {
            return false;
        }
        let complete = packets.insert(sn, pdu);
        packets.entry(sn).complete = complete;
        if complete {
            packets.drop_complete();
        } else if sn >= packets.highest {
            packets.highest = sn + 1;
            self.move_to((sn + 1).saturating_sub(self.0.window));
        }
        self.update_timer(now);
        complete
    }

    /// `t-Reassembly` expired (section 5.2.2.2.4).
    pub(super) fn expire(&mut self, now: i64) {
        self.0.expires = None;
        self.0.timeouts += 1;
        self.move_to(self.0.trigger);
        if self.0.waits(self.0.next) {
            self.0.start(now);
        }
    }

    /// Gives up packets below `sn`, and passes complete ones that follow.
    fn move_to(&mut self, sn: u64) {
        while self.0.next < sn {
            self.0.buffer.pop_front();
            self.0.next += 1;
        }
        self.0.drop_complete();
    }

    /// Section 5.2.2.2.3, the part on `t-Reassembly`.
    fn update_timer(&mut self, now: i64) {
        let Reassembly { window, next, highest, trigger, .. } = self.0;
        let left_window = trigger + window < highest;
        let is_alone = highest == next + 1 && !self.0.has_hole(next);
        self.0.update_timer(trigger <= next || left_window || is_alone, now);
    }
}
