//! Explicit congestion notification at both ends: RFC 3168 as in Linux, the exact echo of DCTCP
//! (RFC 8257, section 3.2), and counted marks (accurate ECN, RFC 9768, the ACE field without its
//! option). Both ends always agree on the scheme; the handshake does not negotiate it.

use crate::transport::tcp::config::EcnMode;
use crate::transport::{EcnFlags, Segment};
use crate::units::Ecn;

/// Initial value of the ACE counter (RFC 9768, section 3.2.1).
const ACE_START: u64 = 5;
/// Modulus of the ACE counter.
const ACE_WRAP: u64 = 8;

impl EcnMode {
    /// The ECN field of packets that may be marked.
    fn field(self) -> Ecn {
        match self {
            Self::Off => Ecn::NotEct,
            Self::Classic | Self::Exact => Ecn::Ect0,
            Self::Accurate => Ecn::Ect1,
        }
    }

    /// The ECN field of packets other than new data. RFC 3168 does not allow marks on them (section
    /// 6.1.4 on); a congestion control that needs ECN sends all packets as markable.
    fn field_of_control(self) -> Ecn {
        match self {
            Self::Off | Self::Classic => Ecn::NotEct,
            Self::Exact | Self::Accurate => self.field(),
        }
    }
}

/// ACE field that reports the ECN field of a handshake packet (RFC 9768, tables 2 and 3).
fn told(field: Ecn) -> EcnFlags {
    EcnFlags::ace(match field {
        Ecn::NotEct => 2,
        Ecn::Ect1 => 3,
        Ecn::Ect0 => 4,
        Ecn::Ce => 6,
    })
}

/// ECN state of the sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct SenderEcn {
    mode: EcnMode,
    /// Marked packets reported by the receiver, and marked packets that arrived here.
    there: u64,
    here: u64,
    /// ECN field of the SYN-ACK.
    answer: Ecn,
}

impl SenderEcn {
    pub(super) fn new(mode: EcnMode) -> Self {
        Self { mode, there: ACE_START, here: ACE_START, answer: Ecn::NotEct }
    }

    /// Sets the flags of a SYN (`tcp_ecn_send_syn`; RFC 9768, section 3.1.1).
    pub(super) fn stamp_syn(&self, segment: &mut Segment) {
        segment.ecn = self.mode.field_of_control();
        segment.flags = match self.mode {
            EcnMode::Off => EcnFlags::default(),
            EcnMode::Classic | EcnMode::Exact => EcnFlags::ECE.and(EcnFlags::CWR),
            EcnMode::Accurate => EcnFlags::ace(7),
        };
    }

    /// Sets the flags of the ACK that completes the handshake.
    pub(super) fn stamp_answer(&self, segment: &mut Segment) {
        segment.ecn = self.mode.field_of_control();
        if self.mode == EcnMode::Accurate {
            segment.flags = told(self.answer);
        }
    }

    /// Sets the flags of a data segment; `new` is false for a retransmission. `reduced` is true if
    /// the window was reduced and the receiver must hear of it (`tcp_ecn_send`).
    #[inline]
    pub(super) fn stamp(&self, new: bool, reduced: &mut bool, segment: &mut Segment) {
        match self.mode {
            EcnMode::Off => {}
            EcnMode::Accurate => {
                segment.ecn = Ecn::Ect1;
                segment.flags = EcnFlags::ace(self.here);
            }
            _ if new => {
                segment.ecn = Ecn::Ect0;
                if std::mem::take(reduced) {
                    segment.flags = EcnFlags::CWR;
                }
            }
            mode => segment.ecn = mode.field_of_control(),
        }
    }

    /// True if every ACK counts (accurate ECN).
    pub(super) fn counts(&self) -> bool {
        self.mode == EcnMode::Accurate
    }

    /// Handles the SYN-ACK.
    pub(super) fn on_established(&mut self, segment: &Segment) {
        self.answer = segment.ecn;
    }

    /// Handles an ACK of `delivered` segments. Returns the number of marked segments it reports, or
    /// `None` without any. `new` is true if the ACK has news.
    #[inline]
    pub(super) fn heard(&mut self, segment: &Segment, delivered: u64, new: bool) -> Option<u64> {
        match self.mode {
            EcnMode::Off => None,
            EcnMode::Classic | EcnMode::Exact => {
                segment.flags.has(EcnFlags::ECE).then_some(delivered)
            }
            EcnMode::Accurate => {
                self.here += u64::from(segment.ecn == Ecn::Ce);
                if !new {
                    return None;
                }
                let marked = self.count(segment.flags, delivered);
                (marked > 0).then_some(marked)
            }
        }
    }

    /// If there are more segments than the field can count, assumes the largest possible number of
    /// marks (RFC 9768, appendix A.2.1).
    fn count(&mut self, flags: EcnFlags, delivered: u64) -> u64 {
        let least = u64::from(flags.count()).wrapping_sub(self.there) % ACE_WRAP;
        let marked = match delivered.checked_sub(ACE_WRAP) {
            None => least,
            Some(_) => delivered - (delivered - least) % ACE_WRAP,
        };
        self.there += marked;
        marked
    }
}

/// ECN state of the receiver.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReceiverEcn {
    mode: EcnMode,
    /// True while ACKs carry ECN-Echo.
    echoes: bool,
    /// Whether the previous data packet was marked, and whether it had any ECN field.
    was_marked: bool,
    seen: bool,
    /// Marked packets received.
    count: u64,
    /// ECN field of the SYN.
    syn: Ecn,
    /// Next byte expected after the previous data packet.
    prior_next: u64,
    /// An ACK to send first, for the data before a change of the state.
    first: Option<(u64, EcnFlags)>,
}

/// Effect of a data packet on acknowledgements.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct AckDemand {
    /// An ACK must leave at once.
    pub(super) now: bool,
    /// The next ACKs must not be delayed.
    pub(super) hurry: bool,
}

impl ReceiverEcn {
    pub(super) fn new(mode: EcnMode) -> Self {
        Self { mode, count: ACE_START, ..Self::default() }
    }

    pub(super) fn on_syn(&mut self, segment: &Segment) {
        self.syn = segment.ecn;
    }

    /// Handles a data packet, duplicates included. Returns true if its ACK must leave at once
    /// because the sender reports a window reduction (`tcp_ecn_accept_cwr`).
    #[inline]
    pub(super) fn hears_reduction(&mut self, segment: &Segment) -> bool {
        if self.mode == EcnMode::Off {
            return false;
        }
        self.count += u64::from(segment.ecn == Ecn::Ce);
        let reduced = self.mode != EcnMode::Accurate && segment.flags.has(EcnFlags::CWR);
        self.echoes &= !reduced;
        reduced
    }

    /// Handles new data; `next` is the next byte expected and `waits` is true if an ACK is delayed
    /// (`__tcp_ecn_check_ce`, `dctcp_ece_ack_update`).
    #[inline]
    pub(super) fn on_new(&mut self, field: Ecn, next: u64, waits: bool) -> AckDemand {
        let mark = field == Ecn::Ce;
        match self.mode {
            EcnMode::Off => AckDemand::default(),
            EcnMode::Classic => self.on_new_classic(field),
            EcnMode::Exact => {
                if field == Ecn::NotEct {
                    return self.on_new_classic(field);
                }
                let changed = mark != self.was_marked;
                if changed && waits {
                    self.first = Some((self.prior_next, self.echo()));
                }
                (self.was_marked, self.echoes, self.seen) = (mark, mark, true);
                self.prior_next = next;
                AckDemand { now: changed, hurry: false }
            }
            EcnMode::Accurate => {
                let changed = mark != self.was_marked;
                self.was_marked = mark;
                AckDemand { now: changed, hurry: false }
            }
        }
    }

    fn on_new_classic(&mut self, field: Ecn) -> AckDemand {
        let hurry = match field {
            // Probably a retransmission, because retransmissions are not ECN-capable.
            Ecn::NotEct => self.seen,
            Ecn::Ce => !std::mem::replace(&mut self.echoes, true),
            Ecn::Ect0 | Ecn::Ect1 => false,
        };
        self.seen |= field != Ecn::NotEct;
        AckDemand { now: false, hurry }
    }

    fn echo(&self) -> EcnFlags {
        if self.echoes { EcnFlags::ECE } else { EcnFlags::default() }
    }

    /// True if explicit congestion notification is not in use.
    pub(super) fn is_off(&self) -> bool {
        self.mode == EcnMode::Off
    }

    /// The ACK to send before any other: the byte it acknowledges, its flags and its ECN field.
    #[inline]
    pub(super) fn take_first(&mut self) -> Option<(u64, EcnFlags, Ecn)> {
        let (ack, flags) = self.first.take()?;
        Some((ack, flags, self.mode.field_of_control()))
    }

    /// Sets the flags of an ACK or a SYN-ACK.
    #[inline]
    pub(super) fn stamp(&mut self, segment: &mut Segment) {
        if self.mode == EcnMode::Off {
            return;
        }
        segment.ecn = self.mode.field_of_control();
        segment.flags = match (self.mode, segment.syn) {
            (EcnMode::Accurate, true) => told(self.syn),
            (EcnMode::Accurate, false) => EcnFlags::ace(self.count),
            (_, true) => EcnFlags::ECE,
            (_, false) => self.echo(),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(flags: EcnFlags) -> Segment {
        Segment { flags, ..Segment::default() }
    }

    /// RFC 9768, appendix A.2.1: for up to 7 segments the field gives the exact number; for more,
    /// the largest number that fits.
    #[test]
    fn marks_are_counted_by_three_bits() {
        let mut ecn = SenderEcn::new(EcnMode::Accurate);
        assert_eq!(ecn.heard(&ack(EcnFlags::ace(5)), 2, true), None);
        assert_eq!(ecn.heard(&ack(EcnFlags::ace(7)), 2, true), Some(2));
        assert_eq!(ecn.heard(&ack(EcnFlags::ace(10)), 7, true), Some(3));
        assert_eq!(ecn.heard(&ack(EcnFlags::ace(11)), 1, false), None, "nothing new");
        assert_eq!(ecn.heard(&ack(EcnFlags::ace(11)), 20, true), Some(17));
    }

    /// RFC 8257, section 3.2: when the mark state changes, the receiver acknowledges waiting data
    /// with the old state.
    #[test]
    fn the_exact_echo_follows_each_change() {
        let mut ecn = ReceiverEcn::new(EcnMode::Exact);
        let (mut segment, now) = (Segment::default(), AckDemand { now: true, hurry: false });
        assert_eq!(ecn.on_new(Ecn::Ect0, 10, false), AckDemand::default());
        assert_eq!(ecn.on_new(Ecn::Ce, 20, true), now);
        assert_eq!(ecn.take_first(), Some((10, EcnFlags::default(), Ecn::Ect0)));
        ecn.stamp(&mut segment);
        assert!(segment.flags.has(EcnFlags::ECE));
        assert_eq!(ecn.on_new(Ecn::Ce, 30, true), AckDemand::default());
        assert_eq!(ecn.on_new(Ecn::Ect0, 40, true), now);
        assert_eq!(ecn.take_first(), Some((30, EcnFlags::ECE, Ecn::Ect0)));
        assert_eq!(ecn.on_new(Ecn::Ce, 50, false), now);
        assert_eq!(ecn.take_first(), None, "no ACK waited");
    }

    /// RFC 9768, section 3.2.2.5.1: an ACK leaves at once when marks begin and when they end
    /// (`tcp_ecn_received_counters`).
    #[test]
    fn counted_marks_are_told_when_they_begin_and_end() {
        let mut ecn = ReceiverEcn::new(EcnMode::Accurate);
        let fields = [Ecn::Ect1, Ecn::Ce, Ecn::Ce, Ecn::Ect1, Ecn::Ect1];
        let at_once = fields.map(|field| ecn.on_new(field, 10, false).now);
        assert_eq!(at_once, [false, true, false, true, false]);
    }

    /// RFC 3168, section 6.1.3: ECN-Echo on every ACK until the sender reports its reduction.
    #[test]
    fn the_echo_lasts_until_the_window_was_reduced() {
        let mut ecn = ReceiverEcn::new(EcnMode::Classic);
        let mut segment = Segment::default();
        assert!(ecn.on_new(Ecn::Ce, 10, false).hurry);
        assert!(!ecn.on_new(Ecn::Ce, 20, false).hurry);
        ecn.on_new(Ecn::Ect0, 30, false);
        ecn.stamp(&mut segment);
        assert!(segment.flags.has(EcnFlags::ECE));
        assert!(ecn.hears_reduction(&ack(EcnFlags::CWR)));
        ecn.stamp(&mut segment);
        assert_eq!(segment.flags, EcnFlags::default());
    }
}
