//! Explicit congestion notification at both ends: RFC 3168 as Linux has it, the exact echo of DCTCP (RFC
//! 8257, section 3.2), and counts of marks (accurate ECN, RFC 9768, the ACE field without its option).
//! Both ends are taken to agree on it, whatever the handshake says.

use crate::transport::tcp::config::EcnMode;
use crate::transport::{EcnFlags, Segment};
use crate::units::Ecn;

/// What an ACE field counts from (RFC 9768, section 3.2.1).
const ACE_START: u64 = 5;
/// More segments than an ACE field can count.
const ACE_WRAP: u64 = 8;
/// Marks after which an ACK leaves at once (RFC 9768, section 3.2.2.5.1: n).
const ACE_PATIENCE: u64 = 2;

impl EcnMode {
    /// The ECN field of what may be marked.
    fn field(self) -> Ecn {
        match self {
            Self::Off => Ecn::NotEct,
            Self::Classic | Self::Exact => Ecn::Ect0,
            Self::Accurate => Ecn::Ect1,
        }
    }

    /// The field of what is neither new data nor, with RFC 3168, allowed to be marked (section 6.1.4
    /// on): a congestion control that needs ECN has all of its packets marked.
    fn field_of_control(self) -> Ecn {
        match self {
            Self::Off | Self::Classic => Ecn::NotEct,
            Self::Exact | Self::Accurate => self.field(),
        }
    }
}

/// The field of a packet of the handshake as the ACE field of its answer tells it (RFC 9768, tables 2
/// and 3).
fn told(field: Ecn) -> EcnFlags {
    EcnFlags::ace(match field {
        Ecn::NotEct => 2,
        Ecn::Ect1 => 3,
        Ecn::Ect0 => 4,
        Ecn::Ce => 6,
    })
}

/// What the sender says and hears.
#[derive(Clone, Copy, Debug)]
pub(super) struct SenderEcn {
    mode: EcnMode,
    /// Marked packets at the other end, and those that arrived here.
    there: u64,
    here: u64,
    /// The field of the answer to the SYN.
    answer: Ecn,
}

impl SenderEcn {
    pub(super) fn new(mode: EcnMode) -> Self {
        Self { mode, there: ACE_START, here: ACE_START, answer: Ecn::NotEct }
    }

    /// A SYN leaves (`tcp_ecn_send_syn`; RFC 9768, section 3.1.1).
    pub(super) fn stamp_syn(&self, segment: &mut Segment) {
        segment.ecn = self.mode.field_of_control();
        segment.flags = match self.mode {
            EcnMode::Off => EcnFlags::default(),
            EcnMode::Classic | EcnMode::Exact => EcnFlags::ECE.and(EcnFlags::CWR),
            EcnMode::Accurate => EcnFlags::ace(7),
        };
    }

    /// The ACK of the handshake leaves.
    pub(super) fn stamp_answer(&self, segment: &mut Segment) {
        segment.ecn = self.mode.field_of_control();
        if self.mode == EcnMode::Accurate {
            segment.flags = told(self.answer);
        }
    }

    /// Data leave, `new` or again; `reduced`: the window was, and the other end is to hear of it
    /// (`tcp_ecn_send`).
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

    /// The SYN was answered.
    pub(super) fn on_established(&mut self, segment: &Segment) {
        self.answer = segment.ecn;
    }

    /// An ACK of `delivered` segments: how many of them were marked, as far as it tells; `None`: it tells
    /// of no mark. `new`: it says anything new.
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

    /// Of more segments than the field can count, as many were marked as is possible (RFC 9768,
    /// appendix A.2.1).
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

/// What the receiver hears and echoes.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReceiverEcn {
    mode: EcnMode,
    /// ACKs carry ECN-Echo.
    echoes: bool,
    /// The data packet before had the mark, or any ECN field at all.
    was_marked: bool,
    seen: bool,
    /// Packets that arrived marked; at the ACK sent last.
    count: u64,
    told: u64,
    /// The field of the SYN.
    syn: Ecn,
    /// What the data packet before left to be expected.
    prior_next: u64,
    /// An ACK that leaves first, for what came before the state changed.
    first: Option<(u64, EcnFlags)>,
}

/// What a data packet asks of the acknowledgements.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Asks {
    /// One that leaves at once.
    pub(super) now: bool,
    /// The next ones not to wait.
    pub(super) hurry: bool,
}

impl ReceiverEcn {
    pub(super) fn new(mode: EcnMode) -> Self {
        Self {
            mode,
            echoes: false,
            was_marked: false,
            seen: false,
            count: ACE_START,
            told: ACE_START,
            syn: Ecn::NotEct,
            prior_next: 0,
            first: None,
        }
    }

    pub(super) fn on_syn(&mut self, segment: &Segment) {
        self.syn = segment.ecn;
    }

    /// A data packet arrived, duplicates included: whether its ACK leaves at once, since the sender says
    /// that it has reduced its window (`tcp_ecn_accept_cwr`).
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

    /// It brought something new, and `next` is what is expected now; `waits`: an ACK does
    /// (`__tcp_ecn_check_ce`, `dctcp_ece_ack_update`).
    #[inline]
    pub(super) fn on_new(&mut self, field: Ecn, next: u64, waits: bool) -> Asks {
        let mark = field == Ecn::Ce;
        match self.mode {
            EcnMode::Off => Asks::default(),
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
                Asks { now: changed, hurry: false }
            }
            EcnMode::Accurate => {
                let first = mark && !self.was_marked;
                self.was_marked = mark;
                let many = mark && self.count - self.told >= ACE_PATIENCE;
                Asks { now: first || many, hurry: false }
            }
        }
    }

    fn on_new_classic(&mut self, field: Ecn) -> Asks {
        let hurry = match field {
            // Most likely sent again, since those go without.
            Ecn::NotEct => self.seen,
            Ecn::Ce => !std::mem::replace(&mut self.echoes, true),
            Ecn::Ect0 | Ecn::Ect1 => false,
        };
        self.seen |= field != Ecn::NotEct;
        Asks { now: false, hurry }
    }

    fn echo(&self) -> EcnFlags {
        if self.echoes { EcnFlags::ECE } else { EcnFlags::default() }
    }

    /// The ACK that leaves before what else is due: what it acknowledges.
    #[inline]
    pub(super) fn take_first(&mut self, segment: &mut Segment) -> Option<u64> {
        let (ack, flags) = self.first.take()?;
        (segment.flags, segment.ecn) = (flags, self.mode.field_of_control());
        Some(ack)
    }

    /// An ACK leaves, or the answer to the SYN.
    #[inline]
    pub(super) fn stamp(&mut self, segment: &mut Segment) {
        if self.mode == EcnMode::Off {
            return;
        }
        segment.ecn = self.mode.field_of_control();
        segment.flags = match (self.mode, segment.syn) {
            (EcnMode::Accurate, true) => told(self.syn),
            (EcnMode::Accurate, false) => {
                self.told = self.count;
                EcnFlags::ace(self.count)
            }
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

    /// RFC 9768, appendix A.2.1: of up to 7 segments the field tells the number; of more, the most that
    /// fits.
    #[test]
    fn marks_are_counted_by_three_bits() {
        let mut ecn = SenderEcn::new(EcnMode::Accurate);
        assert_eq!(ecn.heard(&ack(EcnFlags::ace(5)), 2, true), None);
        assert_eq!(ecn.heard(&ack(EcnFlags::ace(7)), 2, true), Some(2));
        assert_eq!(ecn.heard(&ack(EcnFlags::ace(10)), 7, true), Some(3));
        assert_eq!(ecn.heard(&ack(EcnFlags::ace(11)), 1, false), None, "nothing new");
        assert_eq!(ecn.heard(&ack(EcnFlags::ace(11)), 20, true), Some(17));
    }

    /// RFC 8257, section 3.2: whenever the mark comes or goes, what waits is acknowledged as it was.
    #[test]
    fn the_exact_echo_follows_each_change() {
        let mut ecn = ReceiverEcn::new(EcnMode::Exact);
        let (mut segment, now) = (Segment::default(), Asks { now: true, hurry: false });
        assert_eq!(ecn.on_new(Ecn::Ect0, 10, false), Asks::default());
        assert_eq!(ecn.on_new(Ecn::Ce, 20, true), now);
        assert_eq!(ecn.take_first(&mut segment), Some(10));
        assert!(!segment.flags.has(EcnFlags::ECE));
        ecn.stamp(&mut segment);
        assert!(segment.flags.has(EcnFlags::ECE));
        assert_eq!(ecn.on_new(Ecn::Ce, 30, true), Asks::default());
        assert_eq!(ecn.on_new(Ecn::Ect0, 40, true), now);
        assert_eq!(ecn.take_first(&mut segment), Some(30));
        assert!(segment.flags.has(EcnFlags::ECE));
        assert_eq!(ecn.on_new(Ecn::Ce, 50, false), now);
        assert_eq!(ecn.take_first(&mut segment), None, "no ACK waited");
    }

    /// RFC 3168, section 6.1.3: ECN-Echo on every ACK until the sender says that it has reduced.
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
