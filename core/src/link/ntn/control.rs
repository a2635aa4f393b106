//! Errors of the control channels: grants that are missed, and HARQ feedback that is misread.

use rand_chacha::ChaCha8Rng;

use crate::link::ntn::draws::Draws;
use crate::units::Probability;

/// How often control goes wrong; never, unless set.
///
/// A transmission starts with a grant (DCI on the PDCCH) and, with HARQ feedback, ends with an ACK
/// or a NACK (on the PUCCH) or, if its grant was missed, with nothing (DTX). Each grant and each
/// feedback is in error by itself; repetitions of a transmission share both. What base stations and
/// terminals must reach at their reference SNR: 1 % of grants missed (TS 38.101-4 section 5.3), 1 %
/// of DTX read as ACK and of ACKs missed, 0.1 % of NACKs read as ACK (TS 38.104 sections 8.3.1 to
/// 8.3.3).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ControlErrors {
    /// The receiver misses a grant: it neither uses the transmission nor sends feedback.
    pub missed_grant: Probability,
    /// The sender does not find the feedback: DTX, which it takes for a NACK.
    pub missed_feedback: Probability,
    /// An ACK that is found is read as NACK: the TB is sent again in vain.
    pub ack_to_nack: Probability,
    /// A NACK that is found is read as ACK: HARQ loses the TB.
    pub nack_to_ack: Probability,
    /// No feedback was sent and an ACK is read: HARQ loses the TB, unless it was decoded before.
    pub dtx_to_ack: Probability,
}

impl ControlErrors {
    /// Whether nothing ever goes wrong.
    pub fn are_off(&self) -> bool {
        *self == Self::default()
    }
}

/// What HARQ feedback says; DTX: nothing.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Feedback {
    Ack,
    Nack,
    Dtx,
}

/// The control channels of a link.
#[derive(Clone, Debug)]
pub(super) struct Control {
    errors: ControlErrors,
    draws: Draws,
    counts: Counts,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    missed_grants: u64,
    missed_feedback: u64,
    acks_as_nack: u64,
    nacks_as_ack: u64,
    dtx_as_ack: u64,
}

/// What is drawn for each slot.
#[derive(Clone, Copy)]
enum Draw {
    Grant,
    Detection,
    Reading,
}

impl Control {
    pub(super) fn new(errors: ControlErrors, rng: ChaCha8Rng) -> Self {
        Self { errors, draws: Draws::new(rng), counts: Counts::default() }
    }

    /// Whether the receiver has the grant of the transmission that begins in a slot.
    pub(super) fn granted(&mut self, slot: u64) -> bool {
        let missed = self.happens(self.errors.missed_grant, slot, Draw::Grant);
        self.counts.missed_grants += u64::from(missed);
        !missed
    }

    /// What the sender will read of the feedback on the transmission that ends in a slot.
    pub(super) fn reading(&mut self, slot: u64, sent: Feedback) -> Feedback {
        let ControlErrors { missed_feedback, ack_to_nack, nack_to_ack, dtx_to_ack, .. } =
            self.errors;
        if sent != Feedback::Dtx && self.happens(missed_feedback, slot, Draw::Detection) {
            return Feedback::Dtx;
        }
        let (wrong, p) = match sent {
            Feedback::Ack => (Feedback::Nack, ack_to_nack),
            Feedback::Nack => (Feedback::Ack, nack_to_ack),
            Feedback::Dtx => (Feedback::Ack, dtx_to_ack),
        };
        if self.happens(p, slot, Draw::Reading) { wrong } else { sent }
    }

    /// The sender read a feedback.
    pub(super) fn count(&mut self, sent: Feedback, read: Feedback) {
        match (sent, read) {
            (Feedback::Ack, Feedback::Nack) => self.counts.acks_as_nack += 1,
            (Feedback::Nack, Feedback::Ack) => self.counts.nacks_as_ack += 1,
            (Feedback::Dtx, Feedback::Ack) => self.counts.dtx_as_ack += 1,
            (Feedback::Ack | Feedback::Nack, Feedback::Dtx) => self.counts.missed_feedback += 1,
            _ => {}
        }
    }

    /// Names and counts of what went wrong, if anything can.
    pub(super) fn details(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let counts = self.counts;
        let details = [
            ("missed_grants", counts.missed_grants),
            ("missed_feedback", counts.missed_feedback),
            ("acks_read_as_nack", counts.acks_as_nack),
            ("nacks_read_as_ack", counts.nacks_as_ack),
            ("dtx_read_as_ack", counts.dtx_as_ack),
        ];
        let shown = if self.errors.are_off() { 0 } else { details.len() };
        details.into_iter().take(shown)
    }

    fn happens(&mut self, p: Probability, slot: u64, draw: Draw) -> bool {
        p > Probability::ZERO && self.draws.uniform(3 * slot + draw as u64) < p.get()
    }
}
