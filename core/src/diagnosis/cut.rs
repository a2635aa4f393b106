//! Reductions of a congestion window.

use crate::diagnosis::blame::Cause;
use crate::diagnosis::flight::{PacketFate, PacketHistory};
use crate::simulation::SenderState;
use crate::units::Instant;

/// What made a sender reduce its window.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Trigger {
    /// Acknowledgements of later packets.
    DuplicateAcks,
    /// The ACK of a tail loss probe: the last packet had been lost, and the probe, a copy, repaired it.
    Probe,
    /// The retransmission timer.
    Timeout,
    /// An ECN mark.
    Mark,
}

/// Whether the packet that a cut is about was lost.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Why {
    /// A hop lost or dropped it.
    Lost,
    /// It arrived, before the cut or after it.
    Arrived,
    /// It was under way when the run ended, or is not known.
    Unknown,
}

/// A reduction of a sender's congestion window.
#[derive(Clone, Debug, PartialEq)]
pub struct Cut {
    /// When.
    pub at: Instant,
    /// Number of the flow.
    pub flow: u32,
    /// Number of its connection between proxies, or of its path.
    pub connection: u32,
    /// What made the sender do it.
    pub trigger: Trigger,
    /// Window before it, in packets.
    pub before: f64,
    /// Smallest window until the next cut or until it was regained, in packets.
    pub after: f64,
    /// The packet that the sender missed.
    pub packet: Option<PacketHistory>,
    /// Packets sent after it that had arrived.
    pub overtaken_by: u32,
    /// Duplicate ACKs that the sender had received for it.
    pub duplicate_acks: u64,
    /// When the sender undid it.
    pub undone: Option<Instant>,
    /// Idle capacity that the run would have used without this cut alone, in bits: an estimate. The
    /// window without it would be larger by the packets that it took, and that difference goes once in
    /// a round-trip time. Each later cut shrinks it as it shrinks the window, and once more for the
    /// losses that the larger window would meet. It ends where a queue is full or the window is at its
    /// upper limit.
    pub cost_bits: u64,
}

impl Cut {
    /// Whether the packet was lost.
    pub fn why(&self) -> Why {
        match self.packet.as_ref().map(|packet| packet.fate) {
            Some(PacketFate::Lost | PacketFate::Dropped) => Why::Lost,
            Some(PacketFate::Arrived) => Why::Arrived,
            Some(PacketFate::UnderWay) | None => Why::Unknown,
        }
    }

    /// The cause to which a budget charges it. A cut whose packet's fate is not known counts as a
    /// cut by a loss.
    pub fn cause(&self) -> Cause {
        match (self.trigger, self.why()) {
            (Trigger::Timeout, _) => Cause::Timeout,
            (Trigger::Mark, _) => Cause::Mark,
            (Trigger::DuplicateAcks | Trigger::Probe, Why::Arrived) => Cause::FalseLoss,
            (Trigger::DuplicateAcks | Trigger::Probe, Why::Lost | Why::Unknown) => {
                let dropped = |packet: &PacketHistory| packet.fate == PacketFate::Dropped;
                match self.packet.as_ref().is_some_and(dropped) {
                    true => Cause::QueueFull,
                    false => Cause::TrueLoss,
                }
            }
        }
    }
}

impl Trigger {
    /// What made a sender reduce its window between two states; `None`: it did not. The window itself
    /// tells less: after marks it falls with later acknowledgements (PRR), and its threshold may rise.
    pub(super) fn between(before: &SenderState, now: &SenderState) -> Option<Self> {
        let (was, is) = (&before.counters, &now.counters);
        if is.timeouts > was.timeouts {
            return Some(Self::Timeout);
        }
        (is.cwnd_reductions > was.cwnd_reductions).then_some(
            if is.ecn_reductions > was.ecn_reductions {
                Self::Mark
            } else if is.recovery_entries_by_dupacks > was.recovery_entries_by_dupacks {
                Self::DuplicateAcks
            } else {
                // Only a probe reduces the window without a recovery: there is nothing to repair.
                Self::Probe
            },
        )
    }
}
